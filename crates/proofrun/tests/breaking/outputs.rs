//! Runs whose output is not what the lesson says: the record is kept, and never published.

use std::collections::BTreeMap;

use proofrun_core::record::model::{Ended, Record};

use crate::fixture::Fixture;
use crate::support::course::LESSON;
use crate::support::{RecordPlan, Scratch};

/// A way to change an output.
type Change = Box<dyn FnOnce(String) -> Vec<u8>>;

type Files = BTreeMap<String, Vec<u8>>;

const STDOUT: &str = "scale.run-2.stdout";

/// The record with this change is Unpublishable, for a reason that says so.
fn check(what: &str, reason: &str, change: impl FnOnce(&mut Record, &mut Files)) -> Fixture {
    let course = Scratch::with_lesson();
    course.record_with(LESSON, &RecordPlan::h200(), change);
    let fixture = Fixture::of(course);
    let verdict = fixture.verify();
    assert_eq!(verdict.code, 0, "{what}: {}", verdict.out);
    let state = verdict.states[LESSON].as_str();
    assert!(state.contains("Unverified h200/sm_75"), "{what}: {state}");
    assert!(verdict.has("unpublishable"), "{what}: {}", verdict.out);
    assert!(verdict.out.contains(reason), "{what}: no `{reason}` in {}", verdict.out);
    fixture
}

fn with_stdout(what: &str, reason: &str, change: impl FnOnce(String) -> Vec<u8>) -> Fixture {
    check(what, reason, |_, files| {
        let text = String::from_utf8(files[STDOUT].clone()).unwrap();
        let changed = change(text.clone());
        assert_ne!(changed, text.as_bytes(), "{what} changes nothing");
        files.insert(STDOUT.into(), changed);
    })
}

#[test]
fn an_output_that_does_not_fit() {
    let ratio = |text: String, new: &str| text.replace("two/one: 1.111", new).into_bytes();
    let misfit = "run 2 of `scale` doesn't fit the template";
    let cases: [(&str, Change); 16] = [
        ("NaN", Box::new(move |text| ratio(text, "two/one: NaN"))),
        ("nan", Box::new(move |text| ratio(text, "two/one: nan"))),
        ("inf", Box::new(move |text| ratio(text, "two/one: inf"))),
        ("a ratio of other numbers", Box::new(move |text| ratio(text, "two/one: 1.211"))),
        ("a decimal too few", Box::new(move |text| ratio(text, "two/one: 1.11"))),
        ("a decimal too many", Box::new(move |text| ratio(text, "two/one: 1.1111"))),
        ("an exponent", Box::new(move |text| ratio(text, "two/one: 1.111e0"))),
        (
            "a huge number",
            Box::new(move |text| ratio(text, &format!("two/one: {}.111", "9".repeat(400)))),
        ),
        ("a line too many", Box::new(|text| (text + "done\n").into_bytes())),
        ("a blank line too many", Box::new(|text| (text + "\n").into_bytes())),
        ("none at all", Box::new(|_| Vec::new())),
        (
            "a line too few",
            Box::new(|text| {
                text.lines()
                    .take(4)
                    .map(|line| format!("{line}\n"))
                    .collect::<String>()
                    .into_bytes()
            }),
        ),
        ("no line end", Box::new(|text| text.trim_end().as_bytes().to_vec())),
        ("CRLF", Box::new(|text| text.replace('\n', "\r\n").into_bytes())),
        ("not UTF-8", Box::new(|text| [text.as_bytes(), b"\xff\n"].concat())),
        (
            "1 MiB and a byte",
            Box::new(|text| [text.as_bytes(), &b"x".repeat((1 << 20) + 1)].concat()),
        ),
    ];
    for (what, change) in cases {
        with_stdout(what, misfit, change);
    }
}

#[test]
fn runs_that_disagree_or_went_wrong() {
    with_stdout("another device's block count", "doesn't fit", |text| {
        text.replace("264 blocks", "263 blocks").into_bytes()
    });
    check("throttled", "throttled: hw-slowdown", |record, _| {
        record.after.throttle_reasons = Some(vec!["hw-slowdown".into()]);
    });
    check("dirty", "dirty tree", |record, _| record.commit.as_mut().unwrap().dirty = true);
    check("hung", "hung: run 1", |record, _| {
        (record.program[0].run[1].ended, record.program[0].run[1].exit) = (Ended::Hung, None);
    });
    check("a signal", "ended by a signal", |record, _| {
        (record.program[0].run[1].ended, record.program[0].run[1].exit) = (Ended::Signalled, None);
    });
    check("too much", "more than the limit", |record, _| {
        (record.program[0].run[1].ended, record.program[0].run[1].exit) =
            (Ended::TooMuchOutput, None);
    });
    check("a failure", "exited with status 3", |record, _| record.program[0].run[4].exit = Some(3));
    check("too few", "too few runs: `scale` has 4 of 5", |record, files| {
        let run = record.program[0].run.pop().unwrap();
        files.remove(&run.stdout);
        files.remove(&run.stderr);
    });
}

#[test]
fn terminal_escapes_reach_no_terminal() {
    let forged = "\u{1b}[2K\u{1b}[1A\u{9b}2J\u{7}\u{202e}VERIFIED\r\n";
    let fixture = with_stdout("escapes", "doesn't fit", |text| {
        text.replace("one:", &format!("{forged}one:")).into_bytes()
    });
    let ran = fixture.course.run(&["verify", "--offline"]);
    // The test's stream drops what is raw, so that only what was escaped is left to be seen.
    assert!(ran.out.contains("unpublishable"), "{}", ran.all());
    let raw = |c: char| c.is_control() && c != '\n' || c == '\u{202e}';
    assert!(!ran.out.chars().any(raw) && !ran.err.chars().any(raw), "{:?}", ran.all());
    let json = fixture.course.run(&["verify", "--offline", "--json"]).out;
    assert!(!json.chars().any(raw), "{json:?}");
}
