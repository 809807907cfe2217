//! The course that is broken: two published lessons whose records leave no field out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::card::CardState;
use proofrun_core::record::model::{
    CheckOutcome, CheckSummary, Record, SanitizerOutcome, SanitizerRecord,
};
use proofrun_core::{Class, Digest};

use crate::support::course::{MANIFEST, PAGE, SOURCE};
use crate::support::{RecordPlan, Scratch};

/// The lesson that is broken.
pub const ONE: &str = "day-01-scale";

/// The lesson that lends it other bytes, and that nobody breaks.
pub const TWO: &str = "day-02-halve";

/// A course, and every file of it as it was when it was whole.
pub struct Fixture {
    pub course: Scratch,
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

/// Files by their path from the course's root: other bytes, or none.
pub type Changes = BTreeMap<Utf8PathBuf, Option<Vec<u8>>>;

/// What must come of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// `verify` fails with the code of this class.
    Fails(Class),
    /// `verify` passes and says that the lesson's evidence is of other inputs, as its page still
    /// says of which.
    Stales,
    /// `verify` passes, for this reason.
    Harmless(&'static str),
}

/// What `verify` said.
pub struct Verdict {
    pub code: u8,
    pub out: String,
    /// Each finding's rule and severity.
    pub found: BTreeSet<(String, String)>,
    /// The states in words, by lesson.
    pub states: BTreeMap<String, String>,
}

impl Fixture {
    /// Both lessons recorded, and nothing else.
    pub fn recorded() -> Self {
        let course = Scratch::empty();
        add_lesson(&course, ONE, "2.0f");
        add_lesson(&course, TWO, "0.5f");
        let times = vec![(29, 30), (28, 31), (27, 30), (27, 32), (28, 33)];
        let other = vec![(39, 40), (38, 41), (37, 40), (37, 42), (38, 43)];
        course.record_with(ONE, &RecordPlan { times, ..RecordPlan::h200() }, complete);
        let nonce = Digest::of("two").to_string();
        course.record_with(
            TWO,
            &RecordPlan { times: other, nonce, ..RecordPlan::h200() },
            complete,
        );
        Self::of(course)
    }

    /// Both recorded, reviewed and published.
    pub fn published() -> Self {
        let Self { course, .. } = Self::recorded();
        for lesson in [ONE, TWO] {
            let record =
                course.assess(lesson).primary_evidence().unwrap().records[0].examined.digest;
            course.accept(lesson, record);
            course.show(lesson);
            let found = course.assess(lesson);
            assert!(found.is_published(), "{:?}", found.findings);
        }
        Self::of(course)
    }

    /// Takes a course as whole.
    pub fn of(course: Scratch) -> Self {
        let mut files = BTreeMap::new();
        read_all(course.path(), Utf8Path::new(""), &mut files);
        Self { course, files }
    }

    /// The record's folder of a lesson that has one record.
    pub fn record_folder(&self, lesson: &str) -> Utf8PathBuf {
        let evidence = self.below(&format!("lessons/{lesson}/evidence"));
        evidence.keys().next().unwrap().parent().unwrap().to_owned()
    }

    /// The files below a folder.
    pub fn below(&self, folder: &str) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
        let files = self.files.iter().filter(|(path, _)| path.starts_with(folder));
        files.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
    }

    /// Looks at the course with some files changed, and puts them back.
    pub fn with<T>(&self, changes: &Changes, look: impl FnOnce(&Self) -> T) -> T {
        for (path, bytes) in changes {
            let full = self.course.path().join(path);
            match bytes {
                Some(bytes) => self.course.write(path, bytes),
                None => fs::remove_file(full).unwrap(),
            }
        }
        let seen = look(self);
        for path in changes.keys() {
            match self.files.get(path) {
                Some(bytes) => self.course.write(path, bytes),
                None => self.remove(path),
            }
        }
        seen
    }

    /// Removes a file that was not there, with the folders that were made for it.
    fn remove(&self, path: &Utf8Path) {
        let full = self.course.path().join(path);
        let _ = fs::remove_file(&full);
        for folder in full.ancestors().skip(1).take_while(|at| *at != self.course.path()) {
            let _ = fs::remove_dir(folder);
        }
    }

    /// What `verify` says of the course as it lies there.
    pub fn verify(&self) -> Verdict {
        let ran = self.course.run(&["verify", "--offline", "--json"]);
        let mut found = BTreeSet::new();
        let mut states = BTreeMap::new();
        if let Ok(report) = serde_json::from_str::<serde_json::Value>(&ran.out) {
            let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
            let lessons = report["lessons"].as_array().into_iter().flatten();
            for lesson in lessons.clone() {
                states.insert(text(&lesson["lesson"]), text(&lesson["state"]));
            }
            let of_lessons = lessons.flat_map(|lesson| lesson["findings"].as_array()).flatten();
            for finding in of_lessons.chain(report["course"].as_array().into_iter().flatten()) {
                found.insert((text(&finding["rule"]), text(&finding["severity"])));
            }
        }
        Verdict { code: ran.code(), out: ran.all(), found, states }
    }
}

impl Verdict {
    /// Whether a finding of this rule is among them.
    pub fn has(&self, rule: &str) -> bool {
        self.found.iter().any(|(found, _)| found == rule)
    }

    /// The state of the lesson that is broken.
    pub fn state(&self) -> &str {
        self.states.get(ONE).map_or("", String::as_str)
    }
}

/// A table of changes, each looked at; all that came out otherwise is reported, not the first.
pub struct Table<'a> {
    fixture: &'a Fixture,
    looked_at: usize,
    wrong: Vec<String>,
}

impl<'a> Table<'a> {
    pub fn of(fixture: &'a Fixture) -> Self {
        let whole = fixture.verify();
        assert_eq!(whole.code, 0, "the fixture itself: {}", whole.out);
        Self { fixture, looked_at: 0, wrong: Vec::new() }
    }

    /// A change and what must come of it.
    pub fn row(&mut self, what: &str, changes: &Changes, expect: Expect) {
        self.look(what, changes, |verdict| {
            let stale = verdict.state().contains("Stale h200/sm_75");
            let as_expected = match expect {
                Expect::Fails(class) => verdict.code == proofrun::Exit::Found(class).code(),
                Expect::Stales => verdict.code == 0 && stale,
                Expect::Harmless(_) => verdict.code == 0 && !stale,
            };
            as_expected.then_some(()).ok_or_else(|| format!("{expect:?}"))
        });
    }

    /// A change and a judgement of what came of it.
    pub fn look(
        &mut self,
        what: &str,
        changes: &Changes,
        judge: impl FnOnce(&Verdict) -> Result<(), String>,
    ) {
        let changed = |(path, bytes): (&Utf8PathBuf, &Option<Vec<u8>>)| {
            self.fixture.files.get(path) != bytes.as_ref()
        };
        if !changes.iter().any(changed) {
            return;
        }
        self.looked_at += 1;
        let verdict = self.fixture.with(changes, Fixture::verify);
        if let Err(expected) = judge(&verdict) {
            let out: String = verdict.out.chars().take(4000).collect();
            self.wrong.push(format!("## {what}: expected {expected}, found {out}"));
        }
    }

    /// Ends the table; it must have had at least so many rows.
    pub fn end(self, rows_min: usize) {
        let count = self.wrong.len();
        assert_eq!(count, 0, "{count} of {}:\n{}", self.looked_at, self.wrong.join("\n"));
        assert!(self.looked_at >= rows_min, "only {} rows", self.looked_at);
    }
}

/// One file with other bytes.
pub fn change(path: impl AsRef<Utf8Path>, bytes: impl Into<Vec<u8>>) -> Changes {
    Changes::from([(path.as_ref().to_owned(), Some(bytes.into()))])
}

fn add_lesson(course: &Scratch, name: &str, factor: &str) {
    course.add_lesson(name);
    let source = SOURCE.replace("2.0f", factor);
    let source = source.replace("#include <cstdio>", "#include <cstdio>\n\n#include \"piece.cuh\"");
    course.write(format!("lessons/{name}/scale.cu"), source);
    course.write(format!("lessons/{name}/README.md"), PAGE.replace("2.0f", factor));
    course.write(format!("lessons/{name}/piece.cuh"), "// A piece.\n#define PIECE 1\n");
    let more = "[run.environment]\nSCALE = \"2\"\n[check]\nharness = \"barrier-pipeline\"\n";
    course.write(format!("lessons/{name}/lesson.toml"), MANIFEST.to_owned() + more);
}

/// Fills every field that a record can have.
fn complete(record: &mut Record, files: &mut BTreeMap<String, Vec<u8>>) {
    record.toolkit.host_compiler = Some("g++ 13.3.0".into());
    record.environment.insert("CUDA_CACHE_DISABLE".into(), "1".into());
    record.program[0].environment.insert("SCALE".into(), "2".into());
    let card = CardState {
        absent: None,
        sm_clock_mhz: Some(1980),
        memory_clock_mhz: Some(3201),
        temperature_c: Some(41),
        power_mw: Some(120_000),
        utilisation_percent: Some(3),
        other_processes: Some(0),
        throttle_reasons: Some(vec!["gpu-idle".into(), "sw-power-cap".into()]),
    };
    record.before = card.clone();
    record.after = CardState { temperature_c: Some(45), ..card };
    for (tool, outcome) in
        [("memcheck", SanitizerOutcome::Clean), ("racecheck", SanitizerOutcome::NotExecuted)]
    {
        let clean = outcome == SanitizerOutcome::Clean;
        let log = format!("scale.{tool}.log");
        if clean {
            files.insert(log.clone(), b"========= ERROR SUMMARY: 0 errors\n".to_vec());
        }
        record.sanitizer.push(SanitizerRecord {
            tool: tool.into(),
            program: "scale".into(),
            outcome,
            errors: clean.then_some(0),
            reason: (!clean).then(|| "the budget was spent".into()),
            log: clean.then_some(log),
        });
    }
    files.insert("check.json".into(), b"{\"cases\": 3}\n".to_vec());
    record.check = Some(CheckSummary {
        harness: "barrier-pipeline".into(),
        outcome: CheckOutcome::Passed,
        executed: 3,
        failed: 0,
        not_executed: 0,
        detail: Some("all passed".into()),
        report: Some("check.json".into()),
    });
}

fn read_all(base: &Utf8Path, within: &Utf8Path, files: &mut BTreeMap<Utf8PathBuf, Vec<u8>>) {
    for entry in base.join(within).read_dir_utf8().unwrap() {
        let entry = entry.unwrap();
        let path = within.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            read_all(base, &path, files);
        } else {
            files.insert(path.clone(), fs::read(base.join(path)).unwrap());
        }
    }
}
