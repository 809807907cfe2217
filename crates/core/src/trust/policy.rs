//! `policy.toml`: what one person may do.
//!
//! **Invariant: whatever can't be read leaves the strictest policy.**

use camino::Utf8Path;
use serde::Deserialize;

use super::text_of;
use crate::finding::{Finding, Findings, Place, Rule};

/// The rules that hold for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// Whether an acceptance counts that the recorder himself signed.
    pub self_review: SelfReview,
}

/// Whether the recorder may accept his own record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SelfReview {
    /// Such an acceptance is refused.
    #[default]
    Forbidden,
    /// It counts, and the page says that recorder and reviewer are one person.
    Labelled,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPolicy {
    schema: i64,
    self_review: SelfReview,
}

impl Policy {
    /// The policy in the bytes of `policy.toml`; the strictest one where there are findings.
    pub fn parse(path: &Utf8Path, bytes: &[u8]) -> (Self, Findings) {
        match Self::try_parse(path, bytes) {
            Ok(policy) => (policy, Findings::new()),
            Err(finding) => (Self::default(), vec![*finding]),
        }
    }

    fn try_parse(path: &Utf8Path, bytes: &[u8]) -> Result<Self, Box<Finding>> {
        let text = text_of(path, bytes)?;
        let next = "write `schema = 1` and `self_review = \"forbidden\"` or `\"labelled\"`";
        let raw: RawPolicy = toml::from_str(text).map_err(|error| {
            let offset = error.span().map_or(0, |span| span.start);
            let place = Place::offset(path, text, offset);
            let fact = "not a policy of schema 1";
            Finding::error(Rule::TrustRoot, place, fact, next).because(error.message())
        })?;
        if raw.schema != 1 {
            let fact = format!("`schema` is `{}`, and only 1 is known", raw.schema);
            return Err(Finding::error(Rule::TrustRoot, Place::file(path), fact, next).into());
        }
        Ok(Self { self_review: raw.self_review })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: Option<SelfReview>) {
        let shown = String::from_utf8_lossy(bytes);
        let (policy, findings) = Policy::parse("research/policy.toml".into(), bytes);
        assert_eq!(policy.self_review, expect.unwrap_or(SelfReview::Forbidden), "{shown}");
        assert_eq!(findings.is_empty(), expect.is_some(), "{shown}: {findings:?}");
    }

    #[test]
    fn a_policy_is_read_whole_or_is_the_strictest() {
        check(b"schema = 1\nself_review = \"forbidden\"\n", Some(SelfReview::Forbidden));
        check(b"# why\nself_review = \"labelled\"\nschema = 1\n", Some(SelfReview::Labelled));
        for wrong in [
            "",
            "schema = 1",
            "self_review = \"labelled\"",
            "schema = 2\nself_review = \"labelled\"",
            "schema = \"1\"\nself_review = \"labelled\"",
            "schema = 1\nself_review = \"Labelled\"",
            "schema = 1\nself_review = true",
            "schema = 1\nself_review = \"labelled\"\nextra = 1",
            "schema = 1\nself_review = \"labelled\"\nself_review = \"forbidden\"",
            "schema = 1\r\nself_review = \"labelled\"",
            "\u{feff}schema = 1\nself_review = \"labelled\"",
            "schema = 1\nself_review = \"labelled\" trailing",
        ] {
            check(wrong.as_bytes(), None);
        }
        check(b"schema = 1\nself_review = \"labelled\" # \xff", None);
        let long = format!("schema = 1\nself_review = \"labelled\" # {}", "x".repeat(1 << 20));
        check(long.as_bytes(), None);
        check("a = [".repeat(100_000).as_bytes(), None);
    }
}
