//! What a device check found, case by case: the reply of the process that ran it, and what a record
//! keeps.
//!
//! **Invariant: zero executed is never a pass, and neither is a report with cases that were not
//! executed.** The verdict is computed from the records each time, never stored. Values are kept as
//! bits: JSON has no NaN.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Mismatch, NotEqual, Stray};
use crate::device::DeviceFacts;
use crate::reference::Input;

/// The version of the report's format.
pub const REPORT_SCHEMA: u32 = 1;

/// All cases of one harness on one device.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckReport {
    /// [`REPORT_SCHEMA`].
    pub schema: u32,
    /// The harness's name.
    pub harness: String,
    /// The seed from which inputs were drawn.
    pub seed: u64,
    /// The device.
    pub device: DeviceFacts,
    /// One record a case, in the order of the cases.
    pub records: Vec<CheckRecord>,
}

/// One case and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckRecord {
    /// What was launched.
    pub case: CheckCase,
    /// What came of it.
    pub outcome: Outcome,
}

/// One launch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CheckCase {
    /// The kernel's name in the source.
    pub kernel: String,
    /// Elements.
    pub n: usize,
    /// Blocks.
    pub grid: u32,
    /// Where the elements come from.
    pub input: Input,
}

/// What came of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Outcome {
    /// It ran, and every comparison held.
    Passed,
    /// It ran, or was to run, and something is wrong; never empty.
    Failed {
        /// All that is wrong.
        faults: Vec<Fault>,
    },
    /// It was not run.
    NotExecuted {
        /// Why.
        reason: String,
    },
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// The output differs from the CPU reference, or in `against`, from that kernel's output.
    Values {
        /// The kernel that was compared with; the CPU reference where there is none.
        against: Option<String>,
        /// The first element that differs.
        index: usize,
        /// The bits there.
        got: u32,
        /// The bits wanted.
        want: u32,
        /// How many elements differ.
        count: usize,
    },
    /// Elements still hold the poison: nobody wrote them.
    Unwritten {
        /// The first of them.
        index: usize,
        /// How many.
        count: usize,
    },
    /// A guard band was touched.
    StrayWrite {
        /// Around which parameter: `input` or `output`.
        buffer: String,
        /// In bytes from the body's start.
        offset: i64,
        /// The word found.
        got: u32,
        /// The pattern word.
        want: u32,
        /// Touched words.
        count: usize,
    },
    /// The input, which the kernel takes as `const`, is not what was uploaded.
    InputChanged {
        /// The first changed element.
        index: usize,
        /// How many.
        count: usize,
    },
    /// A call of the device failed, or nothing could be compared.
    Device {
        /// The call, and what it answered.
        text: String,
    },
}

impl Fault {
    /// A comparison's failure as a fault.
    pub fn of_comparison(error: NotEqual, against: Option<&str>) -> Self {
        match error {
            NotEqual::Values(Mismatch { index, got, want, count }) => Self::Values {
                against: against.map(str::to_owned),
                index,
                got: got.to_bits(),
                want: want.to_bits(),
                count,
            },
            other => Self::Device { text: other.to_string() },
        }
    }

    /// A touched guard band as a fault.
    pub fn of_stray(stray: Stray, buffer: &str) -> Self {
        let Stray { offset, got, want, count } = stray;
        Self::StrayWrite { buffer: buffer.to_owned(), offset, got, want, count }
    }
}

/// How many cases came to what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Passed or failed.
    pub executed: usize,
    /// Failed.
    pub failed: usize,
    /// Not executed.
    pub not_executed: usize,
}

/// The verdict on a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportVerdict {
    /// Cases were executed, all of them, and none failed.
    Passed,
    /// A case failed.
    Failed,
    /// No case failed, and some or all were not executed.
    NotExecuted,
}

impl CheckReport {
    /// How many cases came to what.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for record in &self.records {
            match record.outcome {
                Outcome::Passed => counts.executed += 1,
                Outcome::Failed { .. } => {
                    counts.executed += 1;
                    counts.failed += 1;
                }
                Outcome::NotExecuted { .. } => counts.not_executed += 1,
            }
        }
        counts
    }

    /// The verdict.
    pub fn verdict(&self) -> ReportVerdict {
        match self.counts() {
            Counts { failed: 1.., .. } => ReportVerdict::Failed,
            Counts { executed: 1.., not_executed: 0, .. } => ReportVerdict::Passed,
            Counts { .. } => ReportVerdict::NotExecuted,
        }
    }
}

impl fmt::Display for CheckCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, n = {}, grid = {}, ", self.kernel, self.n, self.grid)?;
        match self.input {
            Input::Lesson => f.write_str("lesson input"),
            Input::Finite { seed } => write!(f, "finite input of seed {seed}"),
            Input::Special { seed } => write!(f, "input with infinities and NaN of seed {seed}"),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Values { against, index, got, want, count } => {
                let (g, w) = (f32::from_bits(*got), f32::from_bits(*want));
                write!(
                    f,
                    "wrong at {index}: got `{g:?}` (0x{got:08x}), want `{w:?}` (0x{want:08x})"
                )?;
                write!(
                    f,
                    " of {}; {count} differ",
                    against.as_deref().unwrap_or("the CPU reference")
                )
            }
            Self::Unwritten { index, count } => {
                write!(f, "{count} elements never written, the first at {index}")
            }
            Self::StrayWrite { buffer, offset, got, want, count } => write!(
                f,
                "stray write around the {buffer}, {offset} bytes from its start: got 0x{got:08x}, \
                 want 0x{want:08x}; {count} guard words touched"
            ),
            Self::InputChanged { index, count } => {
                write!(f, "{count} elements of the input changed, the first at {index}")
            }
            Self::Device { text } => f.write_str(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Capability;

    fn report(outcomes: &[Outcome]) -> CheckReport {
        let case =
            CheckCase { kernel: "k".into(), n: 1, grid: 1, input: Input::Special { seed: 9 } };
        let records =
            outcomes.iter().cloned().map(|outcome| CheckRecord { case: case.clone(), outcome });
        CheckReport {
            schema: REPORT_SCHEMA,
            harness: "h".into(),
            seed: 9,
            device: DeviceFacts {
                name: "d".into(),
                compute_capability: Capability { major: 8, minor: 0 },
                sm_count: 1,
                l2_bytes: 2,
                memory_bytes: 3,
                driver: "4".into(),
            },
            records: records.collect(),
        }
    }

    #[test]
    fn only_a_whole_executed_report_passes() {
        let failed = Outcome::Failed { faults: vec![Fault::Unwritten { index: 0, count: 1 }] };
        let skipped = Outcome::NotExecuted { reason: "r".into() };
        for (outcomes, expect) in [
            (vec![], ReportVerdict::NotExecuted),
            (vec![skipped.clone()], ReportVerdict::NotExecuted),
            (vec![Outcome::Passed, skipped.clone()], ReportVerdict::NotExecuted),
            (vec![Outcome::Passed, failed.clone(), skipped], ReportVerdict::Failed),
            (vec![failed], ReportVerdict::Failed),
            (vec![Outcome::Passed; 2], ReportVerdict::Passed),
        ] {
            assert_eq!(report(&outcomes).verdict(), expect, "{outcomes:?}");
        }
    }

    #[test]
    fn values_are_kept_bit_for_bit_and_read_as_text() {
        let mismatch = Mismatch { index: 3, got: f32::from_bits(0x7FFF_FFFF), want: 1.0, count: 2 };
        let fault = Fault::of_comparison(NotEqual::Values(mismatch), None);
        assert_eq!(
            fault.to_string(),
            "wrong at 3: got `NaN` (0x7fffffff), want `1.0` (0x3f800000) of the CPU reference; \
             2 differ"
        );
        let empty = Fault::of_comparison(NotEqual::Empty, Some("a"));
        assert_eq!(empty.to_string(), "nothing to compare: both sides are empty");
        let before = report(&[Outcome::Failed { faults: vec![fault, empty] }, Outcome::Passed]);
        let text = toml::to_string(&before).unwrap();
        assert_eq!(toml::from_str::<CheckReport>(&text).unwrap(), before);
    }
}
