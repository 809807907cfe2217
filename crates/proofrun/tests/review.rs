//! `review`: what its screen shows, what it refuses, how it asks, and reviews that travel.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use std::process::Command;

use proofrun_core::Digest;
use proofrun_core::assess::Assessment;
use proofrun_core::card::CardState;
use proofrun_core::record::model::{Ended, SanitizerOutcome, SanitizerRecord, SignedAt};
use proofrun_core::trust::{Namespace, signer_line};
use support::course::LESSON;
use support::{NOW, RECORDER, REVIEWER, Ran, RecordPlan, Scratch, key, run, run_with};

fn refused(course: &Scratch, ran: &Ran, code: u8, says: &str, before: &impl PartialEq<Files>) {
    assert_eq!(ran.code(), code, "{}", ran.all());
    assert!(ran.err.contains(says), "doesn't say `{says}`: {}", ran.all());
    assert!(*before == course.snapshot(), "something was written: {}", ran.all());
}

type Files = std::collections::BTreeMap<camino::Utf8PathBuf, Vec<u8>>;

fn count(assessment: &Assessment) -> usize {
    assessment.reviews.len()
}

#[test]
fn a_verdict_is_refused_before_anything_is_written() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    let stranger = "stranger@example.org";
    let before = course.snapshot();
    let check = |ran: Ran, code, says: &str| refused(&course, &ran, code, says, &before);
    let digest = record.to_string();
    check(course.verdict_on(&digest[..12], "--accept", REVIEWER, "ok"), 2, "no whole digest");
    check(course.verdict_on(&digest.to_uppercase(), "--accept", REVIEWER, "ok"), 2, "whole digest");
    check(course.verdict("--accept", Digest::of("x"), REVIEWER, "ok"), 4, "no record");
    check(course.verdict("--revoke", Digest::of("x"), REVIEWER, "ok"), 4, "no record");
    check(course.verdict("--accept", record, stranger, "ok"), 24, "not listed");
    check(course.verdict("--reject", record, stranger, "ok"), 24, "not listed");
    check(
        course.verdict("--accept", record, RECORDER, "ok"),
        24,
        "not listed for `review@proofrun`",
    );
    check(course.verdict("--accept", record, REVIEWER, "  \n "), 2, "`reason` is blank");
    check(course.verdict("--accept", record, REVIEWER, "a\u{1b}[2Jb"), 2, "U+001B");
    check(course.verdict("--accept", record, REVIEWER, &"x".repeat(2001)), 2, "2001 characters");
    // Somebody else's name over a good key.
    let file = course.key_file(REVIEWER);
    let rest = ["--reason", "ok", "--reviewer", stranger, "--key", file.as_str()];
    let line = [&["review", "--accept", &digest][..], &rest[..]].concat();
    check(course.run(&line), 24, "belongs to `reviewer@example.org`");
    for missing in [4, 6] {
        let line = &line[..line.len() - missing + 2];
        assert_eq!(course.run(line).code(), 2, "{line:?}");
    }
    assert_eq!(course.run(&["review", "--accept", &digest, "--reject", &digest]).code(), 2);
}

#[test]
fn nobody_accepts_his_own_record_unless_the_page_says_so() {
    let both = [Namespace::Record, Namespace::Review];
    let course = Scratch::with_lesson();
    course.trust(&[(RECORDER, &both)]);
    let record = course.record(LESSON, &RecordPlan::h200());
    let before = course.snapshot();
    let ran = course.verdict("--accept", record, RECORDER, "mine");
    refused(&course, &ran, 24, "this key recorded it", &before);
    let ran = course.run(&["review"]);
    assert!(ran.out.contains("! the recorder `recorder@example.org` may sign"), "{}", ran.all());
    // A second key under the recorder's own name.
    let second = key("second");
    let list =
        course.read("research/allowed_signers").replace("record@proofrun,review@", "record@");
    let line =
        signer_line(&RECORDER.parse().unwrap(), &both[1..], (None, None), second.public_key())
            .unwrap();
    course.write("research/allowed_signers", format!("{list}{line}\n"));
    let file = course.key_file("second");
    let digest = record.to_string();
    let rest = ["--reason", "ok", "--reviewer", RECORDER, "--key", file.as_str()];
    let accept = [&["review", "--accept", &digest][..], &rest[..]].concat();
    let before = course.snapshot();
    refused(&course, &course.run(&accept), 24, "this name recorded it", &before);
    // Labelled: it counts, and everybody reads it.
    course.write("research/policy.toml", "schema = 1\nself_review = \"labelled\"\n");
    let ran = course.run(&accept);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert_eq!(course.run(&["publish"]).code(), 0);
    let page = course.read(format!("lessons/{LESSON}/README.md"));
    assert!(page.contains("Reviewed by `recorder@example.org`, who recorded it too on"), "{page}");
    let source = course.read(format!("lessons/{LESSON}/scale.cu"));
    assert!(source.contains("//   reviewed by recorder@example.org (the recorder) on"), "{source}");
    assert_eq!(course.verify().code(), 0, "{}", course.verify().all());
    // Under the stricter policy it stops counting.
    course.write("research/policy.toml", "schema = 1\nself_review = \"forbidden\"\n");
    assert_eq!(course.verify().code(), 24, "{}", course.verify().all());
}

#[test]
fn the_unpublishable_is_not_accepted() {
    let course = Scratch::with_lesson();
    let record = course.record_with(LESSON, &RecordPlan::h200(), |record, _| {
        record.program[0].run[2].ended = Ended::Hung;
        record.program[0].run[2].exit = None;
    });
    let before = course.snapshot();
    let ran = course.verdict("--accept", record, REVIEWER, "ok");
    refused(&course, &ran, 21, "hung: run 2 of `scale`", &before);
    let ran = course.run(&["review"]);
    assert!(ran.code() == 0 && ran.out.contains("no record awaits"), "{}", ran.all());
    // It may still be rejected: that takes nothing but away.
    assert_eq!(course.verdict("--reject", record, REVIEWER, "it hung").code(), 0);
}

#[test]
fn the_screen_shows_what_is_odd_first_and_all_there_is_to_check() {
    let course = Scratch::with_lesson();
    let plan = RecordPlan {
        times: vec![(27, 31), (28, 31), (27, 26), (27, 32), (28, 33)],
        ..RecordPlan::h200()
    };
    let record = course.record_with(LESSON, &plan, |record, files| {
        record.signed_at = SignedAt::Import;
        record.commit = None;
        record.before = CardState::absent("libnvidia-ml.so.1 is not here");
        record.after.other_processes = Some(2);
        record.after.throttle_reasons = Some(vec!["sw-power-cap".into()]);
        record.environment.insert("CUDA_CACHE_DISABLE".into(), "1".into());
        files.insert("scale.run-1.stderr".into(), b"warning\n".to_vec());
        record.sanitizer = vec![SanitizerRecord {
            tool: "racecheck".into(),
            program: "scale".into(),
            outcome: SanitizerOutcome::DeviceNotSupported,
            errors: None,
            reason: Some("device not supported".into()),
            log: None,
        }];
    });
    let ran = course.run(&["review"]);
    assert_eq!(ran.code(), 21, "{}", ran.all());
    let rendering = course.rendering(LESSON, record);
    let in_order = [
        &format!("record     {record}\n"),
        &format!("rendering  {rendering}, format 1\n"),
        "! signed at import",
        "! compute-sanitizer not executed: memcheck, initcheck, synccheck, racecheck on scale device",
        "! Rust checks not executed",
        "! card before: NVML absent (libnvidia-ml.so.1 is not here)",
        "! card after: clocks held down by sw-power-cap",
        "! card after: 2 other processes",
        "! no commit is known",
        "! environment on the host: CUDA_CACHE_DISABLE=1",
        "! scale wrote to standard error in 1 runs",
        "README.md:3 state, blank today",
        "+ **VERIFIED.** NVIDIA H200",
        "+ two/one: ",
        "scale.cu:6 header, UNVERIFIED today",
        "+ // Status: VERIFIED",
        "! ratio > 1 (line 33): holds in 4 of 5 runs, not in run 3",
        "a: [0.027] 0.028 0.027 0.027 0.028 ms  (each run; the shown one in brackets)",
        "since      no record of this lesson was reviewed before",
        "before: NVML absent",
        "checks     racecheck on scale device not supported",
    ];
    let mut from = 0;
    for text in in_order {
        let at = ran.out[from..].find(text);
        assert!(at.is_some(), "no `{text}` after byte {from}: {}", ran.out);
        from += at.unwrap();
    }
}

#[test]
fn the_screen_says_what_changed_since_the_last_reviewed_record() {
    let course = Scratch::with_lesson();
    let first = course.record(LESSON, &RecordPlan::h200());
    course.accept(LESSON, first);
    course.edit(format!("lessons/{LESSON}/scale.cu"), "Day 1: scale.", "Day 1: scale an array.");
    let mut plan = RecordPlan { at: "2026-06-10T08:30:00Z".into(), ..RecordPlan::h200() };
    plan.device.driver = "590.10".into();
    plan.nvcc = "13.5.10".into();
    plan.nonce = Digest::of("2").to_string();
    course.record_with(LESSON, &plan, |_, files| {
        files.insert("scale.ptx".into(), b".version 9.1\n".to_vec());
    });
    let ran = course.run(&["review"]);
    for row in [
        "driver: 580.159.04 -> 590.10",
        "nvcc: 13.0.88 -> 13.5.10",
        "comments only: lessons/day-01-scale/scale.cu",
        "PTX: ",
        "the same: device, card, CCCL, host compiler, runner, recorder, build command",
    ] {
        assert!(ran.out.contains(row), "no `{row}`: {}", ran.out);
    }
}

#[test]
fn no_output_and_no_reason_can_forge_the_screen() {
    let course = Scratch::with_lesson();
    let mut plan = RecordPlan::h200();
    plan.device.name = "H200\u{1b}[2J\u{1b}[Hfine\u{202e}\u{9b}1m".into();
    course.edit(format!("lessons/{LESSON}/lesson.toml"), "model = \"h200\"\n", "");
    let record = course.record_with(LESSON, &plan, |record, _| {
        record.after = CardState::absent(format!("{:200}record     accepted{:90}x", "", ""));
        record.before = CardState::absent("no\nReview 2 of 2: all is well\u{1b}[1A\rrecord");
        record.environment.insert("LD_PRELOAD".into(), "\u{7}\n! nothing odd".into());
    });
    let ran = course.run(&["review"]);
    assert_eq!(ran.code(), 21, "{}", ran.all());
    // Styles of our own are dropped by the stream of a test; every control character left is a
    // forgery.
    let hostile = |c: char| (c.is_control() && c != '\n') || matches!(c, '\u{202e}' | '\u{2028}');
    assert!(!ran.out.contains(hostile), "{:?}", ran.out);
    let headings = ran.out.lines().filter(|line| line.starts_with("Review ")).count();
    assert_eq!(headings, 1, "{}", ran.out);
    assert!(ran.out.contains("\\u{1b}[2J"), "{}", ran.out);
    assert!(!ran.out.lines().any(|line| line.trim_start() == "! nothing odd"), "{}", ran.out);
    // However narrow the terminal is, only our own labels stand in the first columns.
    for width in [20, 40, 100] {
        let ran = run_with(course.path(), NOW, &["review"], |mut context| {
            context.width = Some(width);
            context
        });
        let labels = ["", "record", "rendering", "recorded", "odd", "page", "holds", "spread"];
        let more = ["since", "card", "checks"];
        let is_ours = |line: &str| {
            let (label, text) = line.split_at_checked(11).unwrap_or((line, ""));
            assert!(width < 40 || text.chars().count() < width - 11, "{width}: {line}");
            labels.iter().chain(&more).any(|ours| label.trim_end() == *ours)
        };
        let count = ran.out.lines().count();
        let rows = ran.out.lines().skip(1).take(count - 2);
        let foreign: Vec<&str> = rows.filter(|line| !is_ours(line)).collect();
        assert!(foreign.is_empty(), "{width}: {foreign:?}");
    }
    let ran = course.verdict("--reject", record, REVIEWER, "a line\nExit 0");
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(!ran.out.contains(hostile), "{:?}", ran.out);
}

/// `review` with somebody at the terminal.
fn asked(course: &Scratch, answers: &[&str]) -> Ran {
    run_with(course.path(), NOW, &["review"], |context| context.with_answers(answers))
}

#[test]
fn at_a_terminal_each_record_is_asked_about_with_a_reason_of_its_own() {
    let course = Scratch::with_lesson();
    course.record(LESSON, &RecordPlan::h200());
    course.record(LESSON, &RecordPlan::t4());
    let file = course.key_file(REVIEWER);
    let file = file.as_str();
    let ran = asked(&course, &[]);
    assert_eq!(ran.code(), 21, "{}", ran.all());
    assert_eq!(count(&course.assess(LESSON)), 0);
    // Words that are none of the three, and an empty reason, sign nothing.
    let ran = asked(&course, &["y", "all", "accept", "  ", "skip", "skip"]);
    assert_eq!(ran.code(), 21, "{}", ran.all());
    assert!(ran.out.contains("write one of the three words"), "{}", ran.all());
    assert!(ran.out.contains("a verdict has a reason; nothing was signed"), "{}", ran.all());
    assert_eq!(count(&course.assess(LESSON)), 0);
    // The reason is asked for again with each record, and nothing is offered.
    let answers =
        ["accept", "steady figures", REVIEWER, file, "reject", "a borrowed card", REVIEWER, file];
    let ran = asked(&course, &answers);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert_eq!(ran.out.matches("why? ").count(), 2, "{}", ran.all());
    let assessment = course.assess(LESSON);
    let mut said: Vec<_> = assessment
        .reviews
        .iter()
        .map(|it| format!("{} {}", it.entry().verdict().kind(), it.entry().reason()))
        .collect();
    said.sort();
    assert_eq!(said, ["accept steady figures", "reject a borrowed card"]);
    let ran = asked(&course, &[]);
    assert!(ran.code() == 0 && ran.out.contains("no record awaits"), "{}", ran.all());
}

#[test]
fn a_refused_answer_is_asked_for_again() {
    let course = Scratch::with_lesson();
    course.record(LESSON, &RecordPlan::h200());
    let (wrong, right) = (course.key_file("stranger"), course.key_file(REVIEWER));
    let answers =
        ["accept", "ok", REVIEWER, wrong.as_str(), "accept", "ok", REVIEWER, right.as_str()];
    let ran = asked(&course, &answers);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.err.contains("the key is not listed"), "{}", ran.all());
    assert_eq!(count(&course.assess(LESSON)), 1);
}

/// The exported folder, in which a reviewer elsewhere works as in any course.
fn exported(course: &Scratch) -> camino::Utf8PathBuf {
    let folder = course.outside("export");
    let ran = course.run(&["review", "--export", folder.as_str()]);
    assert!(ran.out.starts_with("1 record to review"), "{}", ran.all());
    assert_eq!(ran.code(), 0, "{}", ran.all());
    folder
}

#[test]
fn a_reviewer_elsewhere_sends_a_signed_review_back() {
    let course = Scratch::with_lesson();
    course.trust(&[(RECORDER, &[Namespace::Record])]);
    let record = course.record(LESSON, &RecordPlan::h200());
    let folder = exported(&course);
    let screen = std::fs::read_to_string(folder.join(format!("screens/{record}.txt"))).unwrap();
    assert!(screen.starts_with("Review 1 of 1") && !screen.contains('\u{1b}'), "{screen}");
    // Elsewhere: a new key, its line, a verdict.
    let file = course.outside("new-key");
    let new = ["keys", "new", "--principal", REVIEWER, "--review", "--out", file.as_str()];
    let line = run(&folder, &new).out;
    std::fs::write(folder.join("allowed_signers.add"), &line).unwrap();
    let ran = run(&folder, &["keys", "add", "--from", "allowed_signers.add"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    let digest = record.to_string();
    let rest = ["--reason", "steady", "--reviewer", REVIEWER, "--key", file.as_str()];
    let ran = run(&folder, &[&["review", "--accept", &digest][..], &rest[..]].concat());
    assert_eq!(ran.code(), 0, "{}", ran.all());
    // Back: without the line nothing is believed; with it, both are written.
    let before = course.snapshot();
    let ran = course.run(&["review", "--import", folder.as_str()]);
    assert!(ran.out.contains("came along, not added: reviewer@example.org"), "{}", ran.all());
    refused(&course, &ran, 24, "signature does not count", &before);
    let ran = course.run(&["review", "--import", folder.as_str(), "--add-signer"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(course.read("research/allowed_signers").ends_with(&line));
    assert_eq!(course.run(&["publish"]).code(), 0);
    assert_eq!(course.verify().code(), 0, "{}", course.verify().all());
    let ran = course.run(&["review", "--import", folder.as_str(), "--add-signer"]);
    assert!(ran.code() == 0 && ran.out.contains("0 reviews taken in"), "{}", ran.all());
}

#[test]
fn an_entry_signed_with_openssh_alone_is_taken_in() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    let folder = exported(&course);
    let entry = folder.join(format!("entries/{}.accept.toml", record.short()));
    let text = std::fs::read_to_string(&entry).unwrap();
    let filled = text
        .replace("\"NAME\"", &format!("\"{REVIEWER}\""))
        .replace("YYYY-MM-DDTHH:MM:SSZ", "2026-06-10T12:00:00Z")
        .replace("REASON", "looked at by hand");
    std::fs::write(&entry, filled).unwrap();
    let file = course.key_file(REVIEWER);
    Command::new("chmod").args(["600", file.as_str()]).status().unwrap();
    let signed = Command::new("ssh-keygen")
        .args(["-Y", "sign", "-n", "review@proofrun", "-f", file.as_str(), entry.as_str()])
        .output()
        .unwrap();
    assert!(signed.status.success(), "{}", String::from_utf8_lossy(&signed.stderr));
    let ran = course.run(&["review", "--import", folder.as_str()]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.out.contains("1 review taken in"), "{}", ran.all());
    let assessment = course.assess(LESSON);
    assert_eq!(assessment.reviews[0].entry().reason(), "looked at by hand");
    assert_eq!(course.run(&["publish"]).code(), 0);
}

#[test]
fn an_import_is_all_or_nothing() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    let folder = exported(&course);
    let before = course.snapshot();
    let import = || course.run(&["review", "--import", folder.as_str(), "--add-signer"]);
    refused(&course, &import(), 4, "no signed entry", &before);
    // A line that grants more than reviews.
    let line = |who: &str, namespaces: &[Namespace]| {
        let public = key(who);
        signer_line(&who.parse().unwrap(), namespaces, (None, None), public.public_key()).unwrap()
    };
    let add = folder.join("allowed_signers.add");
    std::fs::write(&add, line("eve", &[Namespace::Record])).unwrap();
    refused(&course, &import(), 24, "grants more than reviews", &before);
    std::fs::write(&add, "* namespaces=\"review@proofrun\" ssh-ed25519 AAAA\n").unwrap();
    refused(&course, &import(), 24, "is not a principal", &before);
    // A good line beside an entry of a record that isn't here.
    std::fs::write(&add, line("eve", &[Namespace::Review])).unwrap();
    let other = Scratch::with_lesson();
    let foreign = other.record(LESSON, &RecordPlan::t4());
    assert_ne!(foreign, record);
    other.accept(LESSON, foreign);
    for (path, bytes) in other.snapshot() {
        if path.as_str().contains("/reviews/") {
            std::fs::write(folder.join(path.file_name().unwrap()), bytes).unwrap();
        }
    }
    refused(&course, &import(), 24, "no record of digest", &before);
    assert_eq!(course.run(&["review", "--add-signer"]).code(), 2);
    let inside = course.path().join("lessons/out");
    assert_eq!(course.run(&["review", "--export", inside.as_str()]).code(), 2);
}
