//! A kill in the middle of `review` or `publish`: as before, as after, or completed by the next
//! command.
//!
//! The journal's own tests end it before each of its steps. These kill the real process, at many
//! moments.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]
#![allow(clippy::print_stdout, reason = "how often which happened is worth reading")]

mod support;

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use camino::Utf8PathBuf;
use support::course::LESSON;
use support::{REVIEWER, RecordPlan, Scratch};

/// Starts the program on the course, and returns it once its journal has begun or it has ended.
fn until_journal(course: &Scratch, arguments: &[String]) -> Child {
    let mut child = Command::new(env!("CARGO_BIN_EXE_proofrun"))
        .args(["--root", course.path().as_str()])
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let journal = course.path().join(".proofrun/journal");
    while !journal.exists() && child.try_wait().unwrap().is_none() {
        std::hint::spin_loop();
    }
    child
}

/// How often a killed command left the course in which way.
#[derive(Debug, Default)]
struct Counts {
    before: u32,
    after: u32,
    /// Of both, those in which the next command found a journal.
    recovered: u32,
}

/// Kills a command at many moments while it writes, each time on a fresh course. After `verify` has
/// looked, which recovers, the course must be as before or as after.
fn kill_everywhere(
    prepare: impl Fn() -> Scratch,
    arguments: impl Fn(&Scratch) -> Vec<String>,
    is_after: impl Fn(&Scratch) -> bool,
) {
    const MOMENTS: u32 = 40;
    let sample = prepare();
    let mut child = until_journal(&sample, &arguments(&sample));
    let start = Instant::now();
    assert!(child.wait().unwrap().success());
    let writing = start.elapsed();
    assert!(is_after(&sample));
    let mut counts = Counts::default();
    for moment in 0..MOMENTS {
        let course = prepare();
        let line = arguments(&course);
        let untouched = course.snapshot();
        let mut child = until_journal(&course, &line);
        let start = Instant::now();
        while start.elapsed() < writing * moment / MOMENTS {
            std::hint::spin_loop();
        }
        let _ = child.kill();
        child.wait().unwrap();
        check_after_kill(&course, &untouched, &is_after, &mut counts);
    }
    assert_eq!(counts.before + counts.after, MOMENTS);
    assert!(counts.recovered > 0, "never killed while it wrote: {counts:?}");
    println!("{counts:?}");
}

fn check_after_kill(
    course: &Scratch,
    untouched: &BTreeMap<Utf8PathBuf, Vec<u8>>,
    is_after: impl Fn(&Scratch) -> bool,
    counts: &mut Counts,
) {
    let ran = course.verify();
    assert_eq!(ran.code(), 0, "{}", ran.all());
    counts.recovered += u32::from(ran.err.contains("interrupted command"));
    let now = course.snapshot();
    assert!(!now.keys().any(|path| path.as_str().ends_with(".tmp")), "{:?}", now.keys());
    if is_after(course) {
        counts.after += 1;
    } else {
        assert!(now == *untouched, "neither before nor after: {}", ran.all());
        counts.before += 1;
    }
}

#[test]
fn publish_is_whole_or_not_at_all() {
    let prepare = || {
        let course = Scratch::with_lesson();
        let record = course.record(LESSON, &RecordPlan::h200());
        course.accept(LESSON, record);
        course
    };
    let is_after = |course: &Scratch| course.assess(LESSON).is_published();
    kill_everywhere(prepare, |_| vec!["publish".to_owned()], is_after);
}

#[test]
fn a_review_is_whole_or_not_at_all() {
    let prepare = || {
        let course = Scratch::with_lesson();
        course.record(LESSON, &RecordPlan::h200());
        course
    };
    let line = |course: &Scratch| {
        let record = course.assess(LESSON).primary_evidence().unwrap().records[0].examined.digest;
        let key = course.key_file(REVIEWER);
        let words = ["review", "--accept", &record.to_string(), "--reason", "ok", "--reviewer"];
        let rest = [REVIEWER, "--key", key.as_str()];
        words.iter().chain(&rest).map(|word| (*word).to_owned()).collect()
    };
    let is_after = |course: &Scratch| course.assess(LESSON).reviews.len() == 1;
    kill_everywhere(prepare, line, is_after);
}
