//! States, derived step by step as a lesson goes its way.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use proofrun_core::review::Verdict;
use proofrun_core::state::{EvidenceState, PageState};
use support::course::LESSON;
use support::{RecordPlan, Scratch};

#[test]
fn a_new_lesson_is_honestly_unverified() {
    let course = Scratch::with_lesson();
    let ran = course.verify();
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.out.contains("page Blank; Unverified h200/sm_75"), "{}", ran.all());
}

#[test]
fn a_record_awaits_review_and_an_acceptance_makes_it_reviewed() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    let ran = course.verify();
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.out.contains("Recorded h200/sm_75"), "{}", ran.all());
    course.accept(LESSON, record);
    let assessment = course.assess(LESSON);
    assert_eq!(assessment.primary_evidence().unwrap().state, EvidenceState::Reviewed);
    assert_eq!(assessment.page, PageState::Blank);
    assert!(!assessment.is_published());
    let ran = course.verify();
    assert_eq!(ran.code(), 0, "{}", ran.all());
}

#[test]
fn a_reject_outweighs_an_acceptance_until_it_is_revoked() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    course.accept(LESSON, record);
    let reject = course.review(
        LESSON,
        Verdict::Reject { record },
        support::REVIEWER,
        "2026-06-03T00:00:00Z",
    );
    let state = || course.assess(LESSON).primary_evidence().unwrap().state.clone();
    assert_eq!(state(), EvidenceState::Rejected);
    let target = reject;
    course.review(LESSON, Verdict::Revoke { target }, support::REVIEWER, "2026-06-04T00:00:00Z");
    assert_eq!(state(), EvidenceState::Reviewed);
}

#[test]
fn comments_keep_a_review_and_code_makes_it_stale() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    course.accept(LESSON, record);
    let source = format!("lessons/{LESSON}/scale.cu");
    course.edit(&source, "// Day 1: scale.", "// Day 1: scale an array.");
    let state = || course.assess(LESSON).primary_evidence().unwrap().state.clone();
    assert_eq!(state(), EvidenceState::Reviewed);
    course.edit(&source, "return 0;", "return 1 - 1;");
    assert!(matches!(state(), EvidenceState::Stale(_)), "{:?}", state());
}

#[test]
fn a_record_that_was_revoked_whole_waits_for_nothing() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    let waits = || {
        let assessment = course.assess(LESSON);
        assessment.primary_evidence().unwrap().records[0].awaits_review()
    };
    assert!(waits());
    let says = |fact: &str, next: &str| {
        for command in [&["verify", "--offline"][..], &["publish"]] {
            let ran = course.run(command);
            let all = ran.all();
            assert!(all.contains(fact) && all.contains(next), "{all}");
        }
    };
    says("nobody has reviewed it", "`review day-01-scale`");
    let accepted = course.accept(LESSON, record);
    assert!(!waits());
    // An acceptance that is taken back leaves the record to be accepted anew; the record itself
    // does not come back.
    let (one, all) = (Verdict::Revoke { target: accepted }, Verdict::Revoke { target: record });
    course.review(LESSON, one, support::REVIEWER, "2026-06-03T00:00:00Z");
    assert!(waits());
    says("its acceptance was taken back", "`review day-01-scale`");
    course.review(LESSON, all, support::REVIEWER, "2026-06-04T00:00:00Z");
    assert!(!waits());
    says("the record was taken back", "record it: `bundle day-01-scale`");
}

#[test]
fn a_known_warning_is_one_diagnostic_and_no_pattern() {
    for (known, code) in [("20054-D", 0), ("177", 0), ("*", 28), ("", 28), ("-D", 28), ("20*", 28)]
    {
        let course = Scratch::with_lesson();
        let manifest = format!("lessons/{LESSON}/lesson.toml");
        let build = format!("[build]\nknown_warnings = [\"{known}\"]\n[[build.variant]]");
        course.edit(&manifest, "[[build.variant]]", &build);
        let ran = course.verify();
        assert_eq!(ran.code(), code, "{known}: {}", ran.all());
    }
}
