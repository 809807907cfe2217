//! Evidence and reviews are append-only: what a base revision holds must still be there, byte for
//! byte.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use crate::finding::{Finding, Findings, Place, Rule};

use super::files::{EVIDENCE_FOLDER, REVIEWS_FOLDER};

/// Whether a path, from the course's root, is of a file that may only ever be added.
pub fn is_append_only(path: &Utf8Path) -> bool {
    let mut parts = path.components().map(|part| part.as_str());
    // The first component is at least one folder above: evidence of the course's root would belong
    // to no lesson.
    parts.next().is_some() && parts.any(|part| part == EVIDENCE_FOLDER || part == REVIEWS_FOLDER)
}

/// Everything of `base` that `now` lacks or holds otherwise. Both hold append-only files by their
/// path from the course's root.
pub fn append_only(
    base: &BTreeMap<Utf8PathBuf, Vec<u8>>,
    now: impl Fn(&Utf8Path) -> Option<Vec<u8>>,
    revision: &str,
) -> Findings {
    let mut findings = Vec::new();
    for (path, was) in base {
        let fact = match now(path) {
            None => "was removed",
            Some(is) if is != *was => "was changed",
            Some(_) => continue,
        };
        let fact =
            format!("file of `{revision}` {fact}; evidence and reviews are only ever added to");
        let next = format!("bring it back: `git checkout {revision} -- {path}`");
        findings.push(Finding::error(Rule::AppendOnly, Place::file(path), fact, next));
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_stays_there() {
        let file = |name: &str, text: &str| (Utf8PathBuf::from(name), text.as_bytes().to_vec());
        let base = BTreeMap::from([
            file("l/d/evidence/r/record.toml", "a"),
            file("l/d/reviews/1.toml", "reject"),
            file("l/d/reviews/2.toml", "kept"),
        ]);
        let now = BTreeMap::from([
            file("l/d/evidence/r/record.toml", "b"),
            file("l/d/reviews/2.toml", "kept"),
            file("l/d/reviews/3.toml", "new"),
        ]);
        let found = append_only(&base, |path| now.get(path).cloned(), "main");
        let shown: Vec<_> = found.iter().map(|f| format!("{} {}", f.place, f.fact)).collect();
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown[0].starts_with("l/d/evidence/r/record.toml file of `main` was changed"));
        assert!(shown[1].starts_with("l/d/reviews/1.toml file of `main` was removed"));
    }

    #[test]
    fn only_evidence_and_reviews_are_append_only() {
        for (path, expect) in [
            ("lessons/a/evidence/r/record.toml", true),
            ("lessons/a/reviews/x.sig", true),
            ("lessons/a/README.md", false),
            ("evidence/x", false),
            ("lessons/evidence.md", false),
        ] {
            assert_eq!(is_append_only(Utf8Path::new(path)), expect, "{path}");
        }
    }
}
