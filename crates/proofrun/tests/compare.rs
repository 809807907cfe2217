//! `compare`: a reader's output, whole, in part, wrong or not the program's at all.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use proofrun_core::review::Verdict;
use support::course::LESSON;
use support::recorded::{device, stdout};
use support::{NOW, REVIEWER, Ran, RecordPlan, Scratch, run_with};

fn compare(course: &Scratch, output: impl Into<Vec<u8>>) -> Ran {
    let output = output.into();
    run_with(course.path(), NOW, &["compare", LESSON], |context| {
        context.with_input(Box::new(std::io::Cursor::new(output)))
    })
}

fn on_h200() -> String {
    stdout(&device("NVIDIA H200", "9.0", 132), (27, 31))
}

#[test]
fn a_line_that_cant_be_checked_holds_in_part_only() {
    let course = Scratch::with_lesson();
    let ran = compare(&course, on_h200());
    assert_eq!(ran.code(), 0, "{}", ran.all());
    // One of five lines tells how many blocks there were: twice the SMs, which it doesn't tell.
    assert!(ran.out.contains("4 lines hold, 1 in part"), "{}", ran.all());
}

#[test]
fn the_recorded_card_of_the_same_name_tells_the_rest() {
    let course = Scratch::with_lesson();
    course.record(LESSON, &RecordPlan::h200());
    let ran = compare(&course, on_h200());
    assert!(ran.out.contains("all 5 lines hold"), "{}", ran.all());
    assert!(ran.out.contains("recorded card of this name"), "{}", ran.all());
    let ran = compare(&course, on_h200().replace("264 blocks", "266 blocks"));
    assert_eq!(ran.code(), 23, "{}", ran.all());
    assert!(ran.out.contains("1 difference"), "{}", ran.all());
    assert!(!ran.all().contains("template"), "{}", ran.all());
    assert_eq!(ran.out.matches("line 2").count(), 1, "{}", ran.all());
    // Another card's count is not the recorded one's.
    let t4 = stdout(&device("Tesla T4", "7.5", 40), (27, 31));
    let ran = compare(&course, t4);
    assert!(ran.out.contains("4 lines hold, 1 in part"), "{}", ran.all());
}

#[test]
fn figures_that_were_rejected_or_taken_back_are_left_out() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    let shown = || compare(&course, on_h200()).out;
    assert!(shown().contains("recorded, not reviewed"), "{}", shown());
    let entry = course.review(LESSON, Verdict::Reject { record }, REVIEWER, "2026-06-03T00:00:00Z");
    assert!(shown().contains("h200/sm_75") && shown().contains("rejected"), "{}", shown());
    assert!(!shown().contains("0.028"), "{}", shown());
    let lift = Verdict::Revoke { target: entry };
    course.review(LESSON, lift, REVIEWER, "2026-06-04T00:00:00Z");
    assert!(shown().contains("recorded, not reviewed"), "{}", shown());
    let whole = Verdict::Revoke { target: record };
    course.review(LESSON, whole, REVIEWER, "2026-06-05T00:00:00Z");
    assert!(shown().contains("taken back"), "{}", shown());
    assert!(!shown().contains("not reviewed"), "{}", shown());
}

#[test]
fn what_is_no_output_of_the_program_is_one_error() {
    let course = Scratch::with_lesson();
    course.record(LESSON, &RecordPlan::h200());
    let long = "x\n".repeat(30);
    for garbage in
        [&b"\x7fELF\xff\xfe\x00\n\xff\n"[..], b"\n\n\n", b"no such file\n", long.as_bytes()]
    {
        let ran = compare(&course, garbage);
        assert_eq!(ran.code(), 23, "{}", ran.all());
        assert_eq!(ran.out, "", "{}", ran.all());
        assert_eq!(ran.err.matches("this isn't `scale`'s output").count(), 1, "{}", ran.all());
        assert_eq!(ran.err.matches("next:").count(), 1, "{}", ran.all());
    }
    assert_eq!(compare(&course, "").code(), 2);
}

#[test]
fn lines_of_another_system_are_read() {
    let course = Scratch::with_lesson();
    let ran = compare(&course, on_h200().replace('\n', "\r\n"));
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.err.contains("CRLF"), "{}", ran.all());
}
