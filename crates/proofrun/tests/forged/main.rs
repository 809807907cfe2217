//! False statements that a hostile change would like to pass: each one is refused, or at least
//! named.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

#[path = "../support/mod.rs"]
mod support;

mod bound;
mod journal;
mod pasted;
mod replaced;
use std::process::Command;

use crate::support::course::LESSON;
use crate::support::{RecordPlan, Scratch};

fn published() -> Scratch {
    let course = Scratch::with_lesson();
    publish(&course);
    course
}

fn publish(course: &Scratch) {
    let record = course.record(LESSON, &RecordPlan::h200());
    course.accept(LESSON, record);
    course.show(LESSON);
    assert!(course.assess(LESSON).is_published(), "{:?}", course.assess(LESSON).findings);
}

/// Runs git in the course, and returns what it says.
fn git(course: &Scratch, arguments: &[&str]) -> String {
    let mut git = Command::new("git");
    git.arg("-C").arg(course.path()).args(["-c", "user.name=x", "-c", "user.email=x@example.org"]);
    let ran = git.args(arguments).output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).unwrap().trim().to_owned()
}
