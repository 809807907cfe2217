//! A manifest's keys, broken one by one under a published lesson.

use camino::Utf8PathBuf;
use proofrun_core::Class;
use toml::Value;

use crate::fixture::{Expect, Fixture, ONE, Table, change};
use crate::ops::{ByteOp, Op, broken, pattern, ways};

const DRIFT: Expect = Expect::Fails(Class::Drift);
const NOT_RECORDED: Expect = Expect::Harmless("nothing was recorded of this variant");

/// What breaking a key comes to.
fn consequence(path: &str, op: Op) -> Expect {
    match (path, op) {
        ("run.environment" | "run", Op::Drop) => Expect::Stales,
        ("run.environment", Op::Unknown) => Expect::Stales,
        ("run.environment.SCALE", Op::Flip | Op::Drop | Op::Empty | Op::Truncate) => Expect::Stales,
        (_, Op::Retype | Op::Unknown) => DRIFT,
        ("build" | "build.variant" | "build.variant[]", Op::Drop) => NOT_RECORDED,
        ("build.variant", Op::Empty) => NOT_RECORDED,
        ("build.variant[].name", Op::Flip | Op::Truncate) => NOT_RECORDED,
        // Whether there is such an architecture says the toolkit.
        ("build.variant[].arch", Op::Flip) => NOT_RECORDED,
        ("output", Op::Flip) => Expect::Harmless("a bound is a tenth wider, and all runs fit"),
        ("publish.model", Op::Drop) => Expect::Harmless("the oldest record's model is the same"),
        ("check", Op::Drop) => Expect::Harmless("a lesson may ask for no checks"),
        // Everything else is needed, or a word of few, or decides what is shown.
        _ => DRIFT,
    }
}

#[test]
fn every_key_of_a_manifest() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    let path = Utf8PathBuf::from(format!("lessons/{ONE}/lesson.toml"));
    let text = std::str::from_utf8(&fixture.files[&path]).unwrap();
    let tree: Value = toml::from_str(text).unwrap();
    for way in ways(&tree).into_iter().filter(|way| !way.is_empty()) {
        for op in Op::ALL {
            let Some(changed) = broken(&tree, &way, op, &tree) else { continue };
            let changed = toml::to_string(&changed).unwrap();
            let pattern = pattern(&way);
            table.row(
                &format!("{pattern} {op:?}"),
                &change(&path, changed),
                consequence(&pattern, op),
            );
        }
    }
    table.end(50);
}

#[test]
fn a_manifest_in_pieces() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    let path = Utf8PathBuf::from(format!("lessons/{ONE}/lesson.toml"));
    let bytes = &fixture.files[&path];
    for op in ByteOp::ALL {
        let expect = match op {
            ByteOp::Grow | ByteOp::Truncate => {
                Expect::Harmless("a line end more or less at the end")
            }
            _ => DRIFT,
        };
        table.row(&format!("{op:?}"), &change(&path, op.apply(bytes).unwrap()), expect);
    }
    let long = format!("schema = 1\noutput = 'x'\n# {}\n", "x".repeat(10_000_000));
    let nested = format!("schema = 1\noutput = 'x'\ncheck = {}\n", "[".repeat(100_000));
    let dotted = format!("schema = 1\noutput = 'x'\n{}a = 1\n", "a.".repeat(30_000));
    let numbers = "schema = 99999999999999999999999999999\noutput = 'x'\n".to_owned();
    let deadline =
        "schema = 1\noutput = 'x'\n[run]\ndeadline_s = 18446744073709551615\n".to_owned();
    let unknown = std::str::from_utf8(bytes).unwrap().to_owned() + "[unknown]\n";
    for (what, text) in [
        ("an unknown table", unknown),
        ("10 MB", long),
        ("nesting", nested),
        ("dotted keys", dotted),
        ("a huge schema", numbers),
        ("a huge deadline", deadline),
    ] {
        table.row(what, &change(&path, text), DRIFT);
    }
    table.end(12);
}
