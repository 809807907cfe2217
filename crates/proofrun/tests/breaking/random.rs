//! Edits that nobody thought of: a byte anywhere in any file of a published course. Never a panic,
//! and never a pass where the model says that every byte counts.

use camino::{Utf8Path, Utf8PathBuf};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::fixture::{Fixture, ONE, change};
use crate::pages::{Part, parts};

/// One byte more, less, or another.
#[derive(Debug, Clone, Copy)]
enum Edit {
    Insert(u8),
    Delete,
    Replace(u8),
}

fn edits() -> impl Strategy<Value = Edit> {
    // What is likely to mean something, and anything.
    let likely = proptest::sample::select(b" \n`<>-\"'[]{}=#/\\*:0129aZ".to_vec());
    let byte = prop_oneof![likely, any::<u8>()].boxed();
    prop_oneof![
        byte.clone().prop_map(Edit::Insert),
        Just(Edit::Delete),
        byte.prop_map(Edit::Replace)
    ]
}

fn apply(edit: Edit, bytes: &[u8], at: usize) -> Vec<u8> {
    let (before, after) = bytes.split_at(at);
    let (middle, rest) = match edit {
        Edit::Insert(byte) => (vec![byte], after),
        Edit::Delete => (Vec::new(), after.get(1..).unwrap_or_default()),
        Edit::Replace(byte) => (vec![byte], after.get(1..).unwrap_or_default()),
    };
    [before, &middle, rest].concat()
}

/// Whether every change at this place of this file must be found.
fn every_byte_counts(path: &Utf8Path, bytes: &[u8], at: usize) -> bool {
    let kept = ["evidence", "reviews", "snapshots"];
    if path.iter().any(|part| kept.contains(&part)) {
        return true;
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    let line = text.as_bytes()[..at.min(text.len())].iter().filter(|byte| **byte == b'\n').count();
    let Some(content) = text.lines().nth(line) else { return false };
    let start =
        text.as_bytes()[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    // At its first byte a line end may be put in front, at its last one behind: then the marker
    // itself is as it was.
    let inside = at > start && at < start + content.len();
    match path.file_name() {
        Some("README.md") => match parts(text).get(line) {
            Some(Part::Body) => true,
            // What a marker names besides may be something else that is blank.
            Some(Part::Marker) => inside && !content.contains(" on "),
            _ => false,
        },
        Some("scale.cu") => {
            let status = content.starts_with("// Status:") || content.starts_with("//   ");
            inside && status
        }
        _ => false,
    }
}

#[test]
fn a_random_edit_never_panics_and_passes_only_where_it_may() {
    let fixture = Fixture::published();
    let own = |path: &Utf8PathBuf| {
        path.starts_with("lessons").then(|| path.starts_with(format!("lessons/{ONE}")))
    };
    let files: Vec<Utf8PathBuf> =
        fixture.files.keys().filter(|path| own(path).unwrap_or(true)).cloned().collect();
    let texts: Vec<_> = files.iter().filter(|path| path.iter().count() == 3).cloned().collect();
    // A record has many files; the few that people write get half of the edits.
    let file = prop_oneof![proptest::sample::select(files), proptest::sample::select(texts)];
    let config = Config { cases: 500, failure_persistence: None, ..Config::default() };
    let strategy = (file, any::<proptest::sample::Index>(), edits());
    let outcome = TestRunner::new(config).run(&strategy, |(path, index, edit)| {
        let bytes = &fixture.files[&path];
        let at = index.index(bytes.len() + 1);
        let changed = apply(edit, bytes, at);
        prop_assume!(changed != *bytes);
        let verdict = fixture.with(&change(&path, changed), Fixture::verify);
        if every_byte_counts(&path, bytes, at) {
            prop_assert_ne!(verdict.code, 0, "{} byte {} {:?}: {}", path, at, edit, verdict.out);
        }
        // 1 is the code of what nobody foresaw.
        prop_assert_ne!(verdict.code, 1, "{} byte {} {:?}: {}", path, at, edit, verdict.out);
        Ok(())
    });
    outcome.unwrap();
}
