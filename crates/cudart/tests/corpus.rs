//! Every program of the corpus comes to its verdict: the clean ones without a finding, the others
//! with one of the right kind, weight and line.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use proofrun_emulator::finding::{Finding, Kind, Severity};
use support::{Program, Ran};

/// What one case must come to.
#[derive(Debug, Clone)]
struct Case {
    name: String,
    expected: Expected,
    /// Schedules that it needs beside the canonical one.
    schedules: u32,
    /// Whether it is known not to come to its verdict yet.
    gap: bool,
}

#[derive(Debug, Clone)]
enum Expected {
    /// No finding, and this exit.
    Clean(i32),
    /// A finding of one of these kinds and weights, at one of these lines if there are any.
    Found { kinds: Vec<Kind>, weights: Vec<Severity>, lines: Vec<u32> },
}

/// A fault that is known not to be found yet: the test fails once it is, so that the list stays
/// true.
const GAP: &str = "// gap:";

/// Schedules for cases that say they need some.
const SCHEDULES: u32 = 28;

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .collect();
    files.sort();
    files
}

fn kind(name: &str) -> Kind {
    serde_json::from_value(serde_json::Value::from(name)).unwrap()
}

fn severity(name: &str) -> Severity {
    serde_json::from_value(serde_json::Value::from(name)).unwrap()
}

/// The lines that end with one of these marks.
fn marked(source: &str, marks: &str) -> Vec<u32> {
    let marks: Vec<&str> = marks.split(',').map(str::trim).collect();
    let numbered = source.lines().zip(1u32..).filter(|(line, _)| !line.starts_with("// case:"));
    let has = |line: &str| line.split_whitespace().any(|word| marks.contains(&word));
    numbered.filter(|(line, _)| has(line)).map(|(_, number)| number).collect()
}

fn cases(source: &str) -> Vec<Case> {
    let explored: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("// schedules:"))
        .flat_map(str::split_whitespace)
        .collect();
    let gaps = source.lines().filter_map(|line| line.strip_prefix(GAP));
    let gaps: Vec<&str> = gaps.filter_map(|line| line.split_whitespace().next()).collect();
    let lines = source.lines().filter_map(|line| line.strip_prefix("// case:"));
    lines
        .map(|line| {
            let (name, expected) = line.split_once("expect:").unwrap();
            let (expected, marks) = expected.split_once("at:").unwrap_or((expected, ""));
            let words: Vec<&str> = expected.split_whitespace().collect();
            let expected = match words[0] {
                "clean" => Expected::Clean(0),
                "exit" => Expected::Clean(words[1].parse().unwrap()),
                found => Expected::Found {
                    kinds: found.split('|').map(kind).collect(),
                    weights: words.get(1).unwrap_or(&"error").split('|').map(severity).collect(),
                    lines: if marks.is_empty() { Vec::new() } else { marked(source, marks) },
                },
            };
            let name = name.trim().to_owned();
            let schedules = if explored.contains(&name.as_str()) { SCHEDULES } else { 0 };
            let gap = gaps.contains(&name.as_str());
            Case { name, expected, schedules, gap }
        })
        .collect()
}

/// What is wrong with how a case came out.
fn judge(case: &Case, ran: &Ran) -> Vec<String> {
    let findings = ran.findings();
    let told = |finding: &Finding| {
        let at: Vec<u32> = finding.at.iter().map(|at| at.line).collect();
        format!("{:?} {:?} at {at:?}: {}", finding.severity, finding.kind, finding.message)
    };
    let all: Vec<String> = findings.iter().map(|finding| told(finding)).collect();
    let mut wrong = Vec::new();
    match &case.expected {
        Expected::Clean(exit) => {
            if ran.output.status.code() != Some(*exit) {
                wrong.push(format!("exit {:?}, {}{}", ran.output.status, ran.out(), ran.err()));
            }
            wrong.extend(all.iter().map(|told| format!("false alarm: {told}")));
        }
        Expected::Found { kinds, weights, lines } => {
            let right = |finding: &&&Finding| {
                kinds.contains(&finding.kind)
                    && weights.contains(&finding.severity)
                    && (lines.is_empty() || finding.at.iter().any(|at| lines.contains(&at.line)))
            };
            if findings.iter().find(right).is_none() {
                wrong.push(format!("no {kinds:?} of {weights:?} at {lines:?} among {all:?}"));
            }
        }
    }
    wrong
}

fn run_file(toolkit: &Path, file: &Path, architecture: &str) -> (usize, Vec<String>) {
    let source = std::fs::read_to_string(file).unwrap();
    let program = Program::cuda(toolkit, &source, architecture);
    let cases = cases(&source);
    assert!(!cases.is_empty(), "{} has no case", file.display());
    let mut wrong = Vec::new();
    for case in &cases {
        let ran = program.run_explored("h200", &[&case.name], case.schedules);
        let mut told = judge(case, &ran);
        if case.gap {
            told = match told.is_empty() {
                true => vec!["comes to its verdict now: strike it off the gaps".to_owned()],
                false => Vec::new(),
            };
        }
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        wrong.extend(told.into_iter().map(|why| format!("{name} {}: {why}", case.name)));
    }
    (cases.len(), wrong)
}

#[test]
fn every_case_comes_to_its_verdict() {
    let Some(toolkit) = support::toolkit() else { return };
    let files = corpus();
    let next = AtomicUsize::new(0);
    let all = Mutex::new((0, Vec::new()));
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (count, wrong) = run_file(&toolkit, file, "compute_90");
                    let mut all = all.lock().unwrap();
                    all.0 += count;
                    all.1.extend(wrong);
                }
            });
        }
    });
    let (count, wrong) = all.into_inner().unwrap();
    assert!(count > 600, "only {count} cases were found");
    assert!(wrong.is_empty(), "{} of {count} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_verdict_that_differs_is_told() {
    let finding = |kind, severity, line| {
        proofrun_emulator::report::Event::Finding(Box::new(Finding {
            kind,
            severity,
            kernel: None,
            message: "something".to_owned(),
            at: vec![proofrun_emulator::finding::At {
                file: "a.cu".to_owned(),
                line,
                column: 0,
                what: String::new(),
                block: None,
                threads: String::new(),
                inlined: Vec::new(),
            }],
            object: None,
            notes: Vec::new(),
            next: None,
            launch: None,
            schedule: None,
            count: 1,
        }))
    };
    let source =
        "// case: a  expect: race error at: @x\n// case: b  expect: clean\nint y;  // @x\n";
    let cases = cases(source);
    let ran = |events| Ran { output: std::process::Command::new("true").output().unwrap(), events };
    let right = ran(vec![finding(Kind::Race, Severity::Error, 3)]);
    assert!(judge(&cases[0], &right).is_empty());
    assert_eq!(judge(&cases[1], &right).len(), 1, "a false alarm");
    for wrong in [
        vec![],
        vec![finding(Kind::Race, Severity::Error, 2)],
        vec![finding(Kind::Race, Severity::Warning, 3)],
        vec![finding(Kind::Bounds, Severity::Error, 3)],
    ] {
        assert_eq!(judge(&cases[0], &ran(wrong)).len(), 1);
    }
    assert!(judge(&cases[1], &ran(vec![])).is_empty());
}
