//! The fields of a template: their kinds, names and bounds.
//!
//! **Invariant: each kind has one lexical form**, so that matching needs no backtracking. The
//! parser makes fields, the matcher reads them, and pages ask for them by name.

use std::fmt;

use super::expr::Expr;
use crate::decimal::Decimal;
use crate::device::DeviceFacts;

/// The position of a field in [`super::Template::fields`].
pub(super) type FieldId = usize;

/// One field of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name; device facts and `{= EXPR}` have none.
    pub name: Option<String>,
    /// What it holds.
    pub kind: FieldKind,
    /// The inclusive bounds that its value must keep.
    pub bounds: Option<Bounds>,
    /// The columns that its number is right-aligned to, by blanks on its left.
    pub width: Option<u32>,
    /// Whether its number is printed without its unit.
    pub bare: bool,
    /// Whether it stands in a `repeat` block, and so is a list.
    pub repeated: bool,
    /// Whether its value (or how many it has) follows from device facts, so that models may differ
    /// in it.
    pub device_dependent: bool,
    /// The field as the template has it, without its braces: `a:ms.3`.
    pub source: String,
}

impl Field {
    /// How many decimals it prints; 0 for integers, `None` for text.
    pub fn decimals(&self) -> Option<u32> {
        match &self.kind {
            FieldKind::Fact(Fact::Device | Fact::Driver | Fact::Cc) => None,
            FieldKind::Fact(_) | FieldKind::Derived(_) | FieldKind::Count => Some(0),
            FieldKind::Duration { decimals, .. } => Some(*decimals),
            FieldKind::Ratio { decimals, .. } | FieldKind::Rate { decimals, .. } => Some(*decimals),
        }
    }

    /// The unit that stands after the number, for durations and rates.
    pub fn unit(&self) -> Option<&'static str> {
        match &self.kind {
            FieldKind::Duration { unit, .. } => Some(unit.name()),
            FieldKind::Rate { .. } => Some("GB/s"),
            _ => None,
        }
    }

    /// Whether it is a measurement: a duration, ratio or rate, which differs from run to run.
    pub fn is_measured(&self) -> bool {
        !self.is_exact()
    }

    /// Whether it must print the same in every run.
    pub fn is_exact(&self) -> bool {
        matches!(self.kind, FieldKind::Fact(_) | FieldKind::Derived(_) | FieldKind::Count)
    }

    /// Whether comparing the numbers of both says something: both integers, both durations of one
    /// unit, both ratios, or both rates.
    pub fn is_comparable_with(&self, other: &Field) -> bool {
        match (&self.kind, &other.kind) {
            (FieldKind::Duration { unit, .. }, FieldKind::Duration { unit: others, .. }) => {
                unit == others
            }
            (one, another) => one.dimension().is_some() && one.dimension() == another.dimension(),
        }
    }

    /// What it is, in words, for messages.
    pub fn describe(&self) -> String {
        let mut text = match &self.kind {
            FieldKind::Fact(fact) => format!("the device's {}", fact.describe()),
            FieldKind::Derived(_) => "a derived integer".to_owned(),
            FieldKind::Count => "a count: a non-negative integer".to_owned(),
            FieldKind::Duration { unit, decimals } => {
                format!("a duration in {unit} with {}", plural(*decimals, "decimal"))
            }
            FieldKind::Ratio { decimals, .. } => {
                format!("a ratio with {}", plural(*decimals, "decimal"))
            }
            FieldKind::Rate { decimals, .. } => {
                format!("a rate in GB/s with {}", plural(*decimals, "decimal"))
            }
        };
        if let Some(unit) = self.unit().filter(|_| !self.bare) {
            text.push_str(&format!(", then ` {unit}`"));
        }
        if let Some(width) = self.width {
            text.push_str(&format!(", right-aligned to {}", plural(width, "column")));
        }
        if let Some(bounds) = &self.bounds {
            text.push_str(&format!(", from {} to {}", bounds.low, bounds.high));
        }
        text
    }
}

/// `1 decimal`, `3 decimals`.
pub(super) fn plural(count: u32, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The kinds of field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// `{device}`: a device fact, exact.
    Fact(Fact),
    /// `{n = EXPR}`: an integer that follows from others, exact.
    Derived(Expr),
    /// `{n:count}`: an integer read from the output, the same in every run.
    Count,
    /// `{a:ms.3}`: a duration.
    Duration {
        /// The unit of the printed number.
        unit: Unit,
        /// The decimals that it is printed with.
        decimals: u32,
    },
    /// `{r:ratio.3 = b / a}`: the quotient of two printed fields.
    Ratio {
        /// The decimals that it is printed with.
        decimals: u32,
        /// The field above the line, as an index into the template's fields.
        numerator: usize,
        /// The field below the line, as an index into the template's fields.
        denominator: usize,
    },
    /// `{bw:gbps.1 = bytes / t}`: 1e9 bytes a second.
    Rate {
        /// The decimals that it is printed with.
        decimals: u32,
        /// The bytes moved.
        bytes: Expr,
        /// The field that holds the duration, as an index into the template's fields.
        duration: usize,
    },
}

/// What a number measures; only equals are divided by each other or compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Dimension {
    Integer,
    Time,
    Ratio,
    Rate,
}

impl FieldKind {
    /// `None` for text.
    pub(super) fn dimension(&self) -> Option<Dimension> {
        match self {
            Self::Fact(fact) => fact.is_integer().then_some(Dimension::Integer),
            Self::Derived(_) | Self::Count => Some(Dimension::Integer),
            Self::Duration { .. } => Some(Dimension::Time),
            Self::Ratio { .. } => Some(Dimension::Ratio),
            Self::Rate { .. } => Some(Dimension::Rate),
        }
    }
}

/// The units of a duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

impl Unit {
    pub(super) fn parse(text: &str) -> Option<Self> {
        [Self::Ns, Self::Us, Self::Ms, Self::S].into_iter().find(|unit| unit.name() == text)
    }

    fn name(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
            Self::S => "s",
        }
    }

    /// The power of ten of these in a second.
    pub fn exponent(self) -> u32 {
        match self {
            Self::Ns => 9,
            Self::Us => 6,
            Self::Ms => 3,
            Self::S => 0,
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Inclusive bounds of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// The least value.
    pub low: Decimal,
    /// The greatest value.
    pub high: Decimal,
}

impl Bounds {
    /// Whether the value is within them.
    pub fn contain(&self, value: Decimal) -> bool {
        self.low <= value && value <= self.high
    }
}

/// The device facts that a template can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// `{device}`
    Device,
    /// `{cc}`
    Cc,
    /// `{sm_count}`
    SmCount,
    /// `{l2_bytes}`
    L2Bytes,
    /// `{memory_bytes}`
    MemoryBytes,
    /// `{driver}`
    Driver,
}

impl Fact {
    /// Every fact there is.
    pub const ALL: [Self; 6] =
        [Self::Device, Self::Cc, Self::SmCount, Self::L2Bytes, Self::MemoryBytes, Self::Driver];

    pub(super) fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fact| fact.name() == text)
    }

    /// The word that names it in a template.
    pub fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Cc => "cc",
            Self::SmCount => "sm_count",
            Self::L2Bytes => "l2_bytes",
            Self::MemoryBytes => "memory_bytes",
            Self::Driver => "driver",
        }
    }

    fn describe(self) -> &'static str {
        match self {
            Self::Device => "name",
            Self::Cc => "compute capability",
            Self::SmCount => "number of SMs",
            Self::L2Bytes => "L2 size in bytes",
            Self::MemoryBytes => "memory size in bytes",
            Self::Driver => "driver version",
        }
    }

    /// The text that a program prints for it.
    pub fn text(self, device: &DeviceFacts) -> String {
        match self {
            Self::Device => device.name.clone(),
            Self::Cc => device.compute_capability.to_string(),
            Self::SmCount => device.sm_count.to_string(),
            Self::L2Bytes => device.l2_bytes.to_string(),
            Self::MemoryBytes => device.memory_bytes.to_string(),
            Self::Driver => device.driver.clone(),
        }
    }

    /// Its value, for those that are integers.
    pub fn integer(self, device: &DeviceFacts) -> Option<u64> {
        match self {
            Self::SmCount => Some(u64::from(device.sm_count)),
            Self::L2Bytes => Some(device.l2_bytes),
            Self::MemoryBytes => Some(device.memory_bytes),
            Self::Device | Self::Cc | Self::Driver => None,
        }
    }

    /// Whether expressions can use it.
    pub fn is_integer(self) -> bool {
        matches!(self, Self::SmCount | Self::L2Bytes | Self::MemoryBytes)
    }
}
