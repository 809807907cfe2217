//! Exit codes: documented in README.md, and the first that applies wins.

use proofrun_core::{Class, Finding, Severity};

/// How a command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All that was asked holds.
    Holds,
    /// Something unexpected: a file that can't be written, a cancelled command.
    Unexpected,
    /// The command line can't be understood.
    Usage,
    /// What findings say.
    Found(Class),
}

impl Exit {
    /// Every way to end, in the order in which they win.
    pub const ALL: [Self; 13] = [
        Self::Found(Class::Tampered),
        Self::Found(Class::Failed),
        Self::Found(Class::Mismatch),
        Self::Found(Class::Emulated),
        Self::Found(Class::Drift),
        Self::Unexpected,
        Self::Usage,
        Self::Found(Class::Stale),
        Self::Found(Class::Unreviewed),
        Self::Found(Class::Unverified),
        Self::Found(Class::Absent),
        Self::Found(Class::Nothing),
        Self::Holds,
    ];

    /// The process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Holds => 0,
            Self::Unexpected => 1,
            Self::Usage => 2,
            Self::Found(class) => match class {
                Class::Tampered => 24,
                Class::Failed => 27,
                Class::Mismatch => 23,
                Class::Emulated => 26,
                Class::Drift => 28,
                Class::Stale => 22,
                Class::Unreviewed => 21,
                Class::Unverified => 20,
                Class::Absent => 25,
                Class::Nothing => 4,
            },
        }
    }

    /// What a set of findings comes to: the first class, in the order of precedence, of which there
    /// is an error.
    pub fn of<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Self {
        let errors = findings.into_iter().filter(|finding| finding.severity == Severity::Error);
        errors.map(|finding| finding.rule.class()).min().map_or(Self::Holds, Self::Found)
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}

#[cfg(test)]
mod tests {
    use proofrun_core::{Place, Rule};

    use super::*;

    fn finding(rule: Rule, severity: Severity) -> Finding {
        Finding { severity, ..Finding::error(rule, Place::file("f"), "fact", "next") }
    }

    #[test]
    fn the_first_class_in_the_documented_order_wins() {
        let order = Exit::ALL.map(Exit::code);
        let mut codes: Vec<(Class, u8)> =
            Rule::ALL.iter().map(|rule| (rule.class(), Exit::Found(rule.class()).code())).collect();
        codes.sort();
        codes.dedup();
        let found: Vec<u8> = codes.into_iter().map(|(_, code)| code).collect();
        let expect: Vec<u8> = order.into_iter().filter(|code| found.contains(code)).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn a_warning_fails_nothing() {
        assert_eq!(Exit::of(&[finding(Rule::Manifest, Severity::Warning)]), Exit::Holds);
        assert_eq!(Exit::of(&[]), Exit::Holds);
        let error = finding(Rule::Manifest, Severity::Error);
        assert_eq!(Exit::of(&[error]).code(), 28);
    }
}
