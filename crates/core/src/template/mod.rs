//! The typed template of a program's output: parsing it, matching a run, and agreeing across runs.
//!
//! **Invariant: a verdict is never a substring of the output.** Each line of output is one line of
//! the template, byte for byte, but for its typed fields; what a field printed is read as an exact
//! decimal and checked: device facts and arithmetic on them exactly, bounds exactly, ratios and
//! rates within the rounding of the numbers as printed. NaN, a wrong number of decimals, a line too
//! many or too few, CRLF and a missing final newline are each a mismatch of their own, and all of
//! them are reported.
//!
//! It comes after the run and before the record: `lesson.toml` gives a [`Template`],
//! [`Template::matches`] makes a [`Matched`] of each run's bytes, [`agree`] compares the runs.
//!
//! ```
//! use proofrun_core::template::{Reason, Template, agree, median_run};
//! use proofrun_core::{Capability, DeviceFacts};
//!
//! let template = Template::parse(
//!     "GPU: {device} (compute capability {cc})\n\
//!      {blocks = min(2 * sm_count, 4097)} blocks\n\
//!      one: {a:ms.3}\n\
//!      two: {b:ms.3}\n\
//!      two/one: {r:ratio.3 = b / a in 0.8..1.5}\n",
//! )
//! .expect("it is well-formed");
//! assert_eq!(template.field("r").and_then(|field| field.decimals()), Some(3));
//!
//! let device = DeviceFacts {
//!     name: "NVIDIA H200".to_owned(),
//!     compute_capability: Capability { major: 9, minor: 0 },
//!     sm_count: 132,
//!     l2_bytes: 62_914_560,
//!     memory_bytes: 150_109_880_320,
//!     driver: "580.159.04".to_owned(),
//! };
//! let output = "GPU: NVIDIA H200 (compute capability 9.0)\n264 blocks\n\
//!               one: 0.027 ms\ntwo: 0.031 ms\ntwo/one: 1.131\n";
//! let run = template.matches(output.as_bytes(), &device).expect("it fits");
//! assert_eq!(run.one("a").map(|a| a.text.as_str()), Some("0.027"));
//! assert_eq!((agree(&[run.clone(), run.clone()]), median_run(&[run], "r")), (vec![], Some(0)));
//!
//! let wrong = output.replace("1.131", "1.231");
//! let mismatches = template.matches(wrong.as_bytes(), &device).expect_err("the ratio is wrong");
//! assert_eq!((mismatches[0].line, mismatches[0].reason), (5, Reason::Ratio));
//! ```
//!
//! # What a field matches
//! A number. A duration or rate has its unit after one blank: `{a:ms.3}` matches `0.027 ms`, and a
//! template may spell the unit out (`{a:ms.3} ms`) or say that none is printed (`{a:ms.3 bare}`).
//! `width N` in a numeric field allows for `%8.3f` and its like: `{a:ms.3 width 8}` is
//! right-aligned to at least 8 columns with blanks. Numbers have no sign, exponent or needless
//! leading zero; derived integers may be negative.

mod agree;
mod arithmetic;
mod body;
mod checks;
mod error;
mod expr;
mod field;
mod line;
mod matched;
mod matching;
mod mismatch;
mod names;
mod number;
mod output;
mod parse;
mod reader;
mod rounding;
mod token;
mod unordered;

#[cfg(test)]
mod tests;

use crate::device::DeviceFacts;
use crate::digest::Digest;

pub use agree::{Disagreement, agree, median_run};
pub use error::TemplateError;
pub use expr::{EvalError, Expr, Op};
pub use field::{Bounds, Fact, Field, FieldKind, Unit};
pub use line::Line;
pub use matched::{Matched, Reading, Readings};
pub use mismatch::{Mismatch, Reason, findings};
pub use output::expect_nothing;
pub use reader::{Reader, Unchecked};

/// The longest template, in bytes.
pub const MAX_TEMPLATE_BYTES: usize = 64 * 1024;
/// The longest field of a template, in bytes.
pub const MAX_FIELD_BYTES: usize = 1024;
/// The most blocks of a template.
pub const MAX_BLOCKS: usize = 256;
/// The most rounds of a `repeat` block.
pub const MAX_REPEAT: u64 = 100_000;
/// The most lines of an `unordered` block.
pub const MAX_UNORDERED_LINES: usize = 256;
/// The longest output, in bytes.
pub const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// The longest line of an output, in bytes.
pub const MAX_LINE_BYTES: usize = 64 * 1024;
/// The most mismatches that are reported of one output.
pub const MAX_MISMATCHES: usize = 50;

/// A template that parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    items: Vec<Item>,
    fields: Vec<Field>,
    digest: Digest,
}

/// A line or a block of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Item {
    Line(Line),
    /// Not empty, and at least `low` times.
    Repeat {
        low: Expr,
        high: Expr,
        lines: Vec<Line>,
        number: u32,
    },
    /// Not empty, in any order.
    Unordered {
        lines: Vec<Line>,
        number: u32,
    },
}

impl Template {
    /// Parses the text of a template; all errors, in the order of their places.
    pub fn parse(text: &str) -> Result<Self, Vec<TemplateError>> {
        let parse::Parsed { items, fields } = parse::parse(text)?;
        Ok(Self { items, fields, digest: Digest::of(text) })
    }

    /// Matches the output of a run on `device`. All mismatches, up to [`MAX_MISMATCHES`], in the
    /// order of lines.
    pub fn matches(&self, output: &[u8], device: &DeviceFacts) -> Result<Matched, Vec<Mismatch>> {
        matching::matches(self, output, matching::Known::all(device))
    }

    /// The same for an output whose durations are no measurements: of them, and of ratios and
    /// rates, only the form is compared.
    pub fn matches_unmeasured(
        &self,
        output: &[u8],
        device: &DeviceFacts,
    ) -> Result<Matched, Vec<Mismatch>> {
        matching::matches(self, output, matching::Known::unmeasured(device))
    }

    /// Matches what somebody printed on a card of his own: device facts are read from the output,
    /// and what depends on a fact that it doesn't tell is said to be unchecked.
    pub fn read(&self, output: &[u8]) -> Reader {
        self.read_beside(output, &[])
    }

    /// The same, where facts of some cards are known: what the output doesn't tell is taken from
    /// those of its card's name, as far as they agree.
    pub fn read_beside(&self, output: &[u8], cards: &[&DeviceFacts]) -> Reader {
        matching::read(self, output, cards)
    }

    /// The fields, in the order of the template.
    pub fn fields(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter()
    }

    /// The field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name.as_deref() == Some(name))
    }

    /// The lines, in the order of the template, those of blocks once.
    pub fn lines(&self) -> impl Iterator<Item = &Line> {
        self.items.iter().flat_map(Item::lines)
    }

    /// The literal text of a line between the start, or the exact field before, and its first
    /// measured field; `None` where it measures nothing.
    pub fn text_before_measured(&self, line: &Line) -> Option<String> {
        let measures = |piece: &line::Piece| match piece {
            line::Piece::Field { id: Some(id), .. } => self.fields[*id].is_measured(),
            _ => false,
        };
        let at = line.pieces.iter().position(measures)?;
        match at.checked_sub(1).map(|before| &line.pieces[before]) {
            Some(line::Piece::Text(text)) => Some(text.clone()),
            _ => Some(String::new()),
        }
    }

    /// How many things it checks: each line's text, and each field. Never zero.
    pub fn assertions(&self) -> usize {
        self.lines().count() + self.fields.len()
    }
}

impl Item {
    fn lines(&self) -> &[Line] {
        match self {
            Self::Line(line) => std::slice::from_ref(line),
            Self::Repeat { lines, .. } | Self::Unordered { lines, .. } => lines,
        }
    }

    /// Whether it asks for nothing but empty lines.
    fn is_blank(&self) -> bool {
        self.lines().iter().all(|line| line.pieces.is_empty())
    }

    /// The lines that it may begin with.
    fn entries(&self) -> &[Line] {
        match self {
            Self::Repeat { lines, .. } => lines.get(..1).unwrap_or_default(),
            _ => self.lines(),
        }
    }

    fn first_line(&self) -> &Line {
        self.lines().first().expect("a block that parsed is not empty")
    }
}
