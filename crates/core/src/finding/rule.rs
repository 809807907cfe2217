//! The table of rules: each with its identifier, the class that decides the exit code, and what it
//! holds.
//!
//! A new check starts with a row here; a test demands that every row has a fixture that breaks it.

use serde::Serialize;

/// What kind of thing went wrong, in the order in which exit codes win.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// A record, review or trust root that is not what was signed.
    Tampered,
    /// A lesson that fails to build or to run.
    Failed,
    /// Output that does not fit its template, or runs that disagree.
    Mismatch,
    /// The page, header, snippets, copies, commands or manifest say what is not so.
    Drift,
    /// Valid evidence, but for other inputs.
    Stale,
    /// Evidence that waits for a review.
    Unreviewed,
    /// No evidence.
    Unverified,
    /// A device or a toolkit that was required is absent.
    Absent,
    /// Nothing was selected or executed where that was asked for.
    Nothing,
}

macro_rules! rules {
    ($($(#[doc = $doc:literal])+ $name:ident => $class:ident, $id:literal;)+) => {
        /// A rule that a finding can break.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $($(#[doc = $doc])+ $name,)+ }

        impl Rule {
            /// Every rule there is.
            pub const ALL: &'static [Rule] = &[$(Rule::$name,)+];

            /// Its identifier, stable across versions.
            pub fn id(self) -> &'static str {
                match self { $(Rule::$name => $id,)+ }
            }

            /// Its class.
            pub fn class(self) -> Class {
                match self { $(Rule::$name => Class::$class,)+ }
            }

            /// What it holds, in a sentence.
            pub fn holds(self) -> &'static str {
                match self { $(Rule::$name => concat!($($doc),+).trim_ascii(),)+ }
            }
        }
    };
}

rules! {
    /// A manifest is UTF-8 TOML of schema 1 with known keys of the right types.
    Manifest => Drift, "manifest";
    /// A build command is one plain call of nvcc that reads the course and writes its executable.
    BuildCommand => Drift, "build-command";
    /// A program builds by its own command, from a clean copy of the course's files.
    Builds => Failed, "builds";
    /// A build prints no warnings but those that the manifest lists as known.
    BuildWarning => Failed, "build-warning";
}

impl Serialize for Rule {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_kebab_case() {
        let ids: std::collections::BTreeSet<_> = Rule::ALL.iter().map(|rule| rule.id()).collect();
        assert_eq!(ids.len(), Rule::ALL.len());
        for id in ids {
            assert!(id.bytes().all(|b| b.is_ascii_lowercase() || b == b'-'), "{id}");
        }
    }
}
