//! git shows other objects than those that were asked for, where it is told to.

use std::fs;

use crate::support::course::LESSON;
use crate::{git, published};

#[test]
fn a_replaced_commit_is_not_the_base() {
    let course = published();
    git(&course, &["init", "-q"]);
    git(&course, &["add", "."]);
    git(&course, &["commit", "-qm", "base"]);
    let base = git(&course, &["rev-parse", "HEAD"]);
    fs::remove_dir_all(course.lesson_path(LESSON)).unwrap();
    course.add_lesson(LESSON);
    git(&course, &["add", "-A"]);
    git(&course, &["commit", "-qm", "forgets"]);
    let forgot = course.run(&["verify", "--offline", "--base", &base]);
    assert!(forgot.out.contains("[append-only]"), "{}", forgot.all());
    git(&course, &["replace", &base, "HEAD"]);
    let ran = course.run(&["verify", "--offline", "--base", &base]);
    assert!(ran.out.contains("[append-only]"), "{}", ran.all());
}
