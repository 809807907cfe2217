//! What `explain` and `toolkit` say, in plain words.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use support::course::LESSON;
use support::{NOW, Scratch, run_with};

#[test]
fn explain_says_in_sentences_what_publishing_writes() {
    let course = Scratch::with_lesson();
    let ran = course.run(&["explain", LESSON]);
    assert!(ran.out.contains("`publish` writes that"), "{}", ran.all());
    assert!(!ran.out.contains("that is what it does"), "{}", ran.all());
    let record = course.record(LESSON, &support::RecordPlan::h200());
    course.accept(LESSON, record);
    course.show(LESSON);
    let ran = course.run(&["explain", LESSON]);
    assert!(ran.out.contains("the page shows it already"), "{}", ran.all());
}

#[test]
fn a_place_that_is_not_set_is_told_from_one_that_holds_nothing() {
    let course = Scratch::with_lesson();
    let toolkit = |home: Option<&'static str>| {
        let ran = run_with(course.path(), NOW, &["toolkit"], |mut context| {
            context.environment = Box::new(move |name| match name {
                "CUDA_HOME" => home.map(Into::into),
                _ => None,
            });
            context
        });
        ran.out
    };
    let unset = toolkit(None);
    let of = |text: &str, place: &str| {
        text.lines().find(|line| line.contains(place)).unwrap_or_default().to_owned()
    };
    assert!(of(&unset, "--cuda-home ").ends_with("absent: not given"), "{unset}");
    assert!(of(&unset, "CUDA_HOME").ends_with("absent: not set"), "{unset}");
    assert!(of(&unset, "nvcc on PATH").ends_with("absent: no folder of PATH has one"), "{unset}");
    let named = toolkit(Some("/no/such/toolkit"));
    assert!(of(&named, "CUDA_HOME").contains("broken: "), "{named}");
}
