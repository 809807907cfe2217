//! Records that were changed and then signed by their recorder all the same: what a signature can't
//! tell, the rest of the harness must, or the model says that the field is the recorder's word.

use std::collections::BTreeSet;

use camino::Utf8PathBuf;
use proofrun_core::Digest;
use proofrun_core::record::Record;
use proofrun_core::record::model::{RECORD_FILE, SIGNATURE_FILE};
use proofrun_core::trust::{Namespace, sign};
use toml::Value;

use crate::fixture::{Changes, Fixture, ONE, TWO, Table, Verdict};
use crate::ops::{Op, broken, get, pattern, ways};
use crate::support::{RECORDER, key};

/// What comes of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Then {
    /// Refused: it contradicts itself, its place or its format.
    Tampered,
    /// Kept, and never published.
    Unpublishable,
    /// Valid, for other inputs.
    Stale,
    /// The recorder's word, which nothing here can contradict: the record stays Recorded.
    Word,
}
use Then::{Stale, Tampered, Unpublishable, Word};

/// What a field may hold, and so which changes leave the record readable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// Any text.
    Text,
    /// One of a few words, a version such as `9.0`, a digest, a time: a digit may change, its
    /// length not.
    Strict,
    /// A whole number.
    Number,
    /// Yes or no.
    Truth,
    /// A list.
    List,
    /// A table.
    Table,
}
use Shape::{List, Number, Strict, Table as Keys, Text, Truth};

/// A field: what it holds, what another value comes to, and what its absence comes to.
type Field = (&'static str, Shape, Then, Then);

/// Every field of format 1. For lists the last two are: emptied, and its absence; [`list`] has the
/// rest.
const FIELDS: &[Field] = &[
    ("schema", Strict, Tampered, Tampered),
    ("lesson", Text, Tampered, Tampered),
    ("variant", Text, Stale, Tampered),
    ("recorded_at", Strict, Word, Tampered),
    ("recorder", Text, Tampered, Tampered),
    ("signed_at", Strict, Tampered, Tampered),
    ("nonce", Text, Word, Tampered),
    ("runs", Number, Unpublishable, Tampered),
    ("commit", Keys, Word, Word),
    ("commit.id", Text, Word, Tampered),
    ("commit.dirty", Truth, Unpublishable, Tampered),
    ("runner", Keys, Word, Tampered),
    ("runner.version", Text, Word, Tampered),
    ("runner.executable", Strict, Word, Tampered),
    ("toolkit", Keys, Word, Tampered),
    ("toolkit.nvcc", Text, Word, Tampered),
    ("toolkit.cccl", Text, Word, Word),
    ("toolkit.host_compiler", Text, Word, Word),
    ("toolkit.ptx_isa", Text, Word, Word),
    ("device", Keys, Word, Tampered),
    ("device.uuid_sha256", Strict, Word, Tampered),
    ("device.cuda", Text, Word, Tampered),
    ("device.facts", Keys, Word, Tampered),
    ("device.facts.name", Text, Unpublishable, Tampered),
    ("device.facts.compute_capability", Strict, Unpublishable, Tampered),
    ("device.facts.sm_count", Number, Unpublishable, Tampered),
    ("device.facts.l2_bytes", Number, Word, Tampered),
    ("device.facts.memory_bytes", Number, Word, Tampered),
    ("device.facts.driver", Text, Word, Tampered),
    ("before", Keys, Word, Tampered),
    ("before.sm_clock_mhz", Number, Word, Word),
    ("before.memory_clock_mhz", Number, Word, Word),
    ("before.temperature_c", Number, Word, Word),
    ("before.power_mw", Number, Word, Word),
    ("before.utilisation_percent", Number, Word, Word),
    ("before.other_processes", Number, Word, Word),
    ("before.throttle_reasons", List, Word, Word),
    ("before.throttle_reasons[]", Text, Word, Word),
    ("after", Keys, Word, Tampered),
    ("after.sm_clock_mhz", Number, Word, Word),
    ("after.memory_clock_mhz", Number, Word, Word),
    ("after.temperature_c", Number, Word, Word),
    ("after.power_mw", Number, Word, Word),
    ("after.utilisation_percent", Number, Word, Word),
    ("after.other_processes", Number, Word, Word),
    ("after.throttle_reasons", List, Word, Word),
    ("after.throttle_reasons[]", Text, Word, Word),
    ("environment", Keys, Word, Word),
    ("environment.CUDA_CACHE_DISABLE", Text, Word, Word),
    // Its files would be listed and used by nothing.
    ("program", List, Tampered, Tampered),
    ("program[]", Keys, Word, Tampered),
    ("program[].name", Text, Unpublishable, Tampered),
    ("program[].build", Keys, Word, Tampered),
    ("program[].build.argv", List, Stale, Tampered),
    ("program[].build.argv[]", Text, Stale, Stale),
    ("program[].build.log", Text, Tampered, Tampered),
    ("program[].build.ptx", Text, Tampered, Tampered),
    ("program[].build.executable", Strict, Word, Tampered),
    ("program[].build.prebuilt", Truth, Word, Tampered),
    ("program[].build.source", List, Stale, Tampered),
    ("program[].build.source[]", Keys, Stale, Stale),
    ("program[].build.source[].path", Text, Stale, Tampered),
    // Comments changed: a warning, and the record stays what it is.
    ("program[].build.source[].text", Strict, Word, Tampered),
    ("program[].build.source[].code", Strict, Stale, Tampered),
    ("program[].command", List, Stale, Tampered),
    ("program[].command[]", Text, Stale, Stale),
    ("program[].environment", Keys, Stale, Stale),
    ("program[].environment.SCALE", Text, Stale, Stale),
    ("program[].run", List, Tampered, Tampered),
    ("program[].run[]", Keys, Word, Tampered),
    ("program[].run[].ended", Strict, Tampered, Tampered),
    ("program[].run[].exit", Number, Unpublishable, Unpublishable),
    ("program[].run[].wall_ms", Number, Word, Tampered),
    ("program[].run[].stdout", Text, Tampered, Tampered),
    ("program[].run[].stderr", Text, Tampered, Tampered),
    ("sanitizer", List, Tampered, Tampered),
    // The row that has a report leaves it behind; the other was not executed.
    ("sanitizer[]", Keys, Word, Tampered),
    ("sanitizer[].tool", Text, Word, Tampered),
    ("sanitizer[].program", Text, Word, Tampered),
    ("sanitizer[].outcome", Strict, Tampered, Tampered),
    ("sanitizer[].errors", Number, Unpublishable, Word),
    ("sanitizer[].reason", Text, Word, Word),
    ("sanitizer[].log", Text, Tampered, Tampered),
    ("check", Keys, Word, Tampered),
    ("check.harness", Text, Unpublishable, Tampered),
    ("check.outcome", Strict, Tampered, Tampered),
    ("check.executed", Number, Word, Tampered),
    ("check.failed", Number, Unpublishable, Tampered),
    ("check.not_executed", Number, Unpublishable, Tampered),
    ("check.detail", Text, Word, Word),
    ("check.report", Text, Tampered, Tampered),
    ("file", List, Tampered, Tampered),
    ("file[]", Keys, Tampered, Tampered),
    ("file[].path", Text, Tampered, Tampered),
    ("file[].bytes", Number, Tampered, Tampered),
    ("file[].sha256", Strict, Tampered, Tampered),
];

/// What comes of breaking a field, from the table.
fn consequence(path: &str, op: Op, tree: &Value, way: &[crate::ops::Step]) -> Then {
    let field = FIELDS.iter().find(|(known, ..)| *known == path);
    let (_, shape, changed, dropped) =
        field.unwrap_or_else(|| panic!("the model does not know the field `{path}`"));
    let of_sanitizer = |then| match get(tree, way).and_then(|row| row.get("log")) {
        Some(_) => then,
        None => Word,
    };
    match (op, shape) {
        (Op::Drop, _) if path == "sanitizer[]" => of_sanitizer(Tampered),
        (Op::Drop, _) => *dropped,
        // More runs than planned are no fault, and no case at all is no check.
        (Op::Empty, _) if path == "runs" => Word,
        (Op::Empty, _) if path == "check.executed" => Unpublishable,
        (Op::Unknown, _) if path == "environment" => Word,
        (Op::Unknown, _) if path == "program[].environment" => Stale,
        (Op::Retype | Op::Unknown, _) => Tampered,
        (Op::Truncate | Op::Empty, Strict) => Tampered,
        (Op::Duplicate | Op::Reorder, List) => list(path, op),
        (Op::Swap, List | Keys) => swapped(path),
        _ => *changed,
    }
}

/// What a list with an element twice, or backwards, comes to.
fn list(path: &str, op: Op) -> Then {
    match (path, op) {
        ("program[].build.argv" | "program[].command", _) => Stale,
        // One stream, one digest, one report for two things.
        ("program" | "program[].run" | "sanitizer" | "file", Op::Duplicate) => Tampered,
        // The order of runs, sources and files, and a word said twice.
        _ => Word,
    }
}

/// What the other lesson's part comes to. Its programs' names, tools and device are the same.
fn swapped(path: &str) -> Then {
    match path {
        "program" | "program[]" | "program[].build" => Stale,
        "program[].build.source" | "program[].build.source[]" => Stale,
        "file" | "file[]" => Tampered,
        _ => Word,
    }
}

/// The record with other facts, signed by its recorder, in the folder that it must have then.
fn resigned(fixture: &Fixture, text: &str) -> Changes {
    let old = fixture.record_folder(ONE);
    let folder = match toml::from_str::<Record>(text) {
        Ok(record) => old.with_file_name(record.folder_name(&Digest::of(text))),
        Err(_) => old.clone(),
    };
    let mut changes = Changes::new();
    for (path, bytes) in fixture.below(old.as_str()) {
        changes.insert(path.clone(), None);
        changes.insert(folder.join(path.file_name().unwrap()), Some(bytes));
    }
    let signature = sign(&key(RECORDER), Namespace::Record, text.as_bytes()).unwrap();
    changes.insert(folder.join(RECORD_FILE), Some(text.into()));
    changes.insert(folder.join(SIGNATURE_FILE), Some(signature.into()));
    changes
}

fn judge(then: Then, verdict: &Verdict) -> Result<(), String> {
    let as_expected = match then {
        Tampered => verdict.code == 24,
        Unpublishable => verdict.code == 0 && verdict.has("unpublishable"),
        Stale => verdict.code == 0 && verdict.state().contains("Stale "),
        Word => verdict.code == 0 && verdict.state().contains("Recorded h200/sm_75"),
    };
    as_expected.then_some(()).ok_or_else(|| format!("{then:?}"))
}

fn tree_of(fixture: &Fixture, lesson: &str) -> Value {
    let path: Utf8PathBuf = fixture.record_folder(lesson).join(RECORD_FILE);
    toml::from_str(std::str::from_utf8(&fixture.files[&path]).unwrap()).unwrap()
}

#[test]
fn every_field_of_a_resigned_record_means_what_the_model_says() {
    let fixture = Fixture::recorded();
    let (tree, other) = (tree_of(&fixture, ONE), tree_of(&fixture, TWO));
    let mut table = Table::of(&fixture);
    let mut met = BTreeSet::new();
    for way in ways(&tree).into_iter().filter(|way| !way.is_empty()) {
        let path = pattern(&way);
        for op in Op::ALL {
            let Some(changed) = broken(&tree, &way, op, &other) else { continue };
            let text = toml::to_string(&changed).unwrap();
            let then = consequence(&path, op, &tree, &way);
            let what = format!("{path} {op:?}");
            table.look(&what, &resigned(&fixture, &text), |verdict| judge(then, verdict));
        }
        met.insert(path);
    }
    for (known, ..) in FIELDS {
        assert!(met.contains(*known), "the fixture's record has no field `{known}`");
    }
    table.end(500);
}

#[test]
fn a_resigned_record_does_not_take_over_the_review_of_the_old_one() {
    let fixture = Fixture::published();
    let (tree, other) = (tree_of(&fixture, ONE), tree_of(&fixture, TWO));
    let mut table = Table::of(&fixture);
    for way in ways(&tree) {
        for op in [Op::Flip, Op::Drop, Op::Swap] {
            let Some(changed) = broken(&tree, &way, op, &other) else { continue };
            let changes = resigned(&fixture, &toml::to_string(&changed).unwrap());
            let what = format!("{} {op:?}", pattern(&way));
            table.look(&what, &changes, |verdict| {
                (verdict.code == 24).then_some(()).ok_or_else(|| "Tampered".into())
            });
        }
    }
    table.end(200);
}
