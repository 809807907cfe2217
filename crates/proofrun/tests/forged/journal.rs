//! A journal of several files is a file like others: a change could bring one.

use std::fs;

use proofrun_core::Digest;

use crate::support::Scratch;
use crate::support::course::LESSON;
use crate::{git, published};

/// A committed journal, as a change could bring it, that replaces `old` by `new`.
fn plant_journal(course: &Scratch, path: &str, old: Option<&str>, new: &str) {
    let old = old.map_or_else(String::new, |old| format!("old = \"{}\"\n", Digest::of(old)));
    let text = format!(
        "schema = 1\n[[change]]\npath = \"{path}\"\n{old}new = \"{}\"\nstaged = \"0\"\n",
        Digest::of(new)
    );
    course.write(".proofrun/journal/journal.toml", text);
    course.write(".proofrun/journal/0", new);
}

#[test]
fn a_journal_writes_nothing_outside_of_the_course() {
    for within in ["", "../", ".git/"] {
        let course = Scratch::with_lesson();
        let path = match within {
            "" => course.outside("victim"),
            within => {
                course.path().join(format!("{within}victim-{}", course.path().file_name().unwrap()))
            }
        };
        plant_journal(&course, path.as_str(), None, "planted");
        let ran = course.run(&["status"]);
        let written = path.exists();
        let _ = fs::remove_file(&path);
        assert!(!written, "{within}: {}", ran.all());
    }
}

#[test]
fn a_journal_does_not_leave_the_course_by_a_link() {
    let course = Scratch::with_lesson();
    let outside = course.outside("folder");
    fs::create_dir(&outside).unwrap();
    std::os::unix::fs::symlink(&outside, course.path().join("lessons/link")).unwrap();
    let path = course.path().join("lessons/link/victim");
    plant_journal(&course, path.as_str(), None, "planted");
    let ran = course.run(&["status"]);
    assert!(!outside.join("victim").exists(), "{}", ran.all());
}

#[test]
fn a_journal_in_the_tree_does_not_put_a_forged_page_right_while_verify_looks() {
    let course = published();
    let page = format!("lessons/{LESSON}/README.md");
    let right = course.read(&page);
    let forged = right.replace("0.027", "0.009");
    assert_ne!(right, forged);
    course.write(&page, &forged);
    plant_journal(&course, course.path().join(&page).as_str(), Some(&forged), &right);
    git(&course, &["init", "-q"]);
    git(&course, &["add", "-f", "."]);
    git(&course, &["commit", "-qm", "forged"]);
    let ran = course.verify();
    assert_ne!(ran.code(), 0, "{}", ran.all());
}

#[test]
fn a_lock_that_is_a_link_empties_nothing() {
    let course = published();
    let victim = course.outside("victim");
    fs::write(&victim, "mine").unwrap();
    fs::create_dir_all(course.path().join(".proofrun")).unwrap();
    std::os::unix::fs::symlink(&victim, course.path().join(".proofrun/journal.lock")).unwrap();
    course.edit(format!("lessons/{LESSON}/scale.cu"), "2.0f", "3.0f");
    let ran = course.run(&["sync"]);
    assert_eq!(fs::read_to_string(&victim).unwrap(), "mine", "{}", ran.all());
}
