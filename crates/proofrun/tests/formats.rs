//! The documents of the formats against the code: every key that a record, a review or a manifest
//! may have is told, and no other.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use proofrun_core::card::CardState;
use proofrun_core::lesson::RawLesson;
use proofrun_core::record::model::{CheckOutcome, CheckSummary, SanitizerOutcome, SanitizerRecord};
use proofrun_core::review::Verdict;
use support::course::LESSON;
use support::markdown::{quoted, read, table};
use support::{REVIEWED, REVIEWER, RecordPlan, Scratch};

/// Every key of a table and of the tables in it; what stands in `free` has keys of its own making.
fn keys(table: &toml::Table, free: &[&str], into: &mut BTreeSet<String>) {
    for (key, value) in table {
        into.insert(key.clone());
        let inner = match value {
            toml::Value::Table(inner) if !free.contains(&key.as_str()) => vec![inner],
            toml::Value::Array(list) => list.iter().filter_map(toml::Value::as_table).collect(),
            _ => Vec::new(),
        };
        for inner in inner {
            keys(inner, free, into);
        }
    }
}

fn card() -> CardState {
    CardState {
        absent: Some("no".to_owned()),
        sm_clock_mhz: Some(1),
        memory_clock_mhz: Some(1),
        temperature_c: Some(1),
        power_mw: Some(1),
        utilisation_percent: Some(1),
        other_processes: Some(1),
        throttle_reasons: Some(Vec::new()),
    }
}

/// A record that lacks nothing that a record may have.
fn full_record() -> toml::Table {
    let course = Scratch::with_lesson();
    course.record_with(LESSON, &RecordPlan::h200(), |record, _| {
        (record.before, record.after) = (card(), card());
        record.toolkit.host_compiler = Some("g++".to_owned());
        record.environment.insert("CUDA_X".to_owned(), "1".to_owned());
        record.program[0].environment.insert("X".to_owned(), "1".to_owned());
        record.sanitizer.push(SanitizerRecord {
            tool: "memcheck".to_owned(),
            program: "scale".to_owned(),
            outcome: SanitizerOutcome::Clean,
            errors: Some(0),
            reason: Some("why".to_owned()),
            log: Some("scale.memcheck.log".to_owned()),
        });
        record.check = Some(CheckSummary {
            harness: "scale".to_owned(),
            outcome: CheckOutcome::Passed,
            executed: 1,
            failed: 0,
            not_executed: 0,
            detail: Some("said".to_owned()),
            report: Some("check.json".to_owned()),
        });
    });
    let evidence = course.lesson_path(LESSON).join("evidence");
    let folder = evidence.read_dir_utf8().unwrap().next().unwrap().unwrap();
    toml::from_str(&fs::read_to_string(folder.path().join("record.toml")).unwrap()).unwrap()
}

/// The names that the rows of a table have in their first cell, without brackets.
fn names(rows: &[Vec<String>], column: usize) -> BTreeSet<String> {
    let cells = rows.iter().flat_map(|row| quoted(&row[column]));
    cells.flat_map(|name| name.trim_matches(['[', ']']).split('.').map(str::to_owned)).collect()
}

#[test]
fn the_evidence_format_names_every_key_of_a_record_and_no_other() {
    let mut there = BTreeSet::new();
    keys(&full_record(), &["environment"], &mut there);
    let rows = table(&read("research/EVIDENCE-FORMAT.md"), "| table | keys | unit or form |");
    let told: BTreeSet<String> = names(&rows, 0).union(&names(&rows, 1)).cloned().collect();
    assert_eq!(told, there);
}

#[test]
fn the_evidence_format_names_every_key_of_a_review() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    let accepted = course.accept(LESSON, record);
    let revoke = Verdict::Revoke { target: accepted };
    let revoked = course.review(LESSON, revoke, REVIEWER, REVIEWED);
    let mut there = BTreeSet::new();
    for digest in [accepted, revoked] {
        let text = course.read(format!("lessons/{LESSON}/reviews/{digest}.toml"));
        keys(&toml::from_str(&text).unwrap(), &[], &mut there);
    }
    let rows = table(&read("research/EVIDENCE-FORMAT.md"), "| key of a review | what |");
    assert_eq!(names(&rows, 0), there);
}

/// The keys that a table of a manifest may have, as the reader itself names them when it meets one
/// that it doesn't know.
fn known_keys(table: &str) -> BTreeSet<String> {
    let text = format!("schema = 1\noutput = \"\"\n{table}\nunknown = 1\n");
    let text = if table.is_empty() { "unknown = 1\n".to_owned() } else { text };
    let refused = RawLesson::parse("lesson.toml".into(), text.as_bytes()).unwrap_err();
    let (_, expected) = refused[0].fact.split_once(", expected ").unwrap();
    quoted(expected).into_iter().map(str::to_owned).collect()
}

#[test]
fn contributing_names_every_key_of_a_manifest_in_its_table() {
    let mut told: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in table(&read("CONTRIBUTING.md"), "| table | keys | what |") {
        let table = quoted(&row[0]).first().map_or(String::new(), |name| (*name).to_owned());
        told.entry(table).or_default().extend(quoted(&row[1]).into_iter().map(str::to_owned));
    }
    // A table within a table has a row of its own.
    let inner = ["needs", "build", "run", "publish", "check", "program", "below", "variant"];
    let tables = ["", "[needs]", "[needs.below]", "[build]", "[[build.variant]]", "[run]"];
    for table in tables.into_iter().chain(["[publish]", "[check]", "[[program]]"]) {
        let mut known = known_keys(table);
        if ["", "[needs]", "[build]"].contains(&table) {
            known.retain(|key| !inner.contains(&key.as_str()));
        }
        assert_eq!(told.remove(table).unwrap_or_default(), known, "{table}");
    }
    assert_eq!(told, BTreeMap::new(), "tables that there are not");
}
