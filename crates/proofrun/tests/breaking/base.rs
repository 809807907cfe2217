//! What a change may not do, seen against the revision before it: forget, rewrite, or vouch for
//! itself.

use std::fs;
use std::process::Command;

use proofrun_core::Digest;
use proofrun_core::review::Verdict as Says;
use proofrun_core::trust::Namespace;

use crate::support::course::{LESSON, PAGE, SOURCE};
use crate::support::{RECORDER, REVIEWER, Ran, RecordPlan, Scratch};

const STRANGER: &str = "stranger@example.org";

fn git(course: &Scratch, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(course.path()).args([
        "-c",
        "user.name=t",
        "-c",
        "user.email=t@example.org",
    ]);
    let done = command.args(arguments).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// A published lesson with a reject that was revoked, committed.
fn committed() -> (Scratch, Digest) {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    course.accept(LESSON, record);
    course.show(LESSON);
    commit(&course);
    (course, record)
}

fn commit(course: &Scratch) {
    git(course, &["init", "-q"]);
    git(course, &["add", "-A"]);
    git(course, &["commit", "-qm", "whole"]);
    assert_eq!(against_base(course).code(), 0, "{}", against_base(course).all());
}

fn against_base(course: &Scratch) -> Ran {
    course.run(&["verify", "--offline", "--base", "HEAD"])
}

fn check(course: &Scratch, alone: u8, rule: &str) {
    let without = course.run(&["verify", "--offline"]);
    assert_eq!(without.code(), alone, "without --base: {}", without.all());
    let ran = against_base(course);
    assert_eq!(ran.code(), 24, "{}", ran.all());
    assert!(ran.out.contains(rule), "no `{rule}` in {}", ran.all());
}

fn blank_again(course: &Scratch) {
    course.write(format!("lessons/{LESSON}/README.md"), PAGE);
    course.write(format!("lessons/{LESSON}/scale.cu"), SOURCE);
    fs::remove_dir_all(course.lesson_path(LESSON).join("snapshots")).unwrap();
}

#[test]
fn evidence_is_not_forgotten() {
    let (course, _) = committed();
    blank_again(&course);
    for kept in ["evidence", "reviews"] {
        fs::remove_dir_all(course.lesson_path(LESSON).join(kept)).unwrap();
    }
    check(&course, 0, "append-only");
}

#[test]
fn a_whole_lesson_is_not_forgotten() {
    let (course, _) = committed();
    course.add_lesson("day-02-other");
    fs::remove_dir_all(course.lesson_path(LESSON)).unwrap();
    check(&course, 0, "append-only");
}

#[test]
fn a_reject_is_not_forgotten() {
    let (course, record) = committed();
    blank_again(&course);
    let reject = course.review(LESSON, Says::Reject { record }, REVIEWER, "2026-06-03T00:00:00Z");
    git(&course, &["add", "-A"]);
    git(&course, &["commit", "-qm", "rejected"]);
    for suffix in ["toml", "sig"] {
        let path = format!("reviews/{reject}.{suffix}");
        fs::remove_file(course.lesson_path(LESSON).join(path)).unwrap();
    }
    check(&course, 0, "append-only");
}

#[test]
fn evidence_is_not_made_anew_in_place() {
    let course = Scratch::with_lesson();
    course.record(LESSON, &RecordPlan::h200());
    commit(&course);
    fs::remove_dir_all(course.lesson_path(LESSON).join("evidence")).unwrap();
    let better = vec![(27, 41), (28, 41), (27, 40), (27, 42), (28, 43)];
    course.record(LESSON, &RecordPlan { times: better, ..RecordPlan::h200() });
    check(&course, 0, "append-only");
}

#[test]
fn evidence_is_not_edited() {
    let (course, _) = committed();
    let folder = course.lesson_path(LESSON).join("evidence");
    let record = folder.read_dir_utf8().unwrap().next().unwrap().unwrap().into_path();
    let path = record.join("scale.run-0.stdout");
    fs::write(&path, fs::read_to_string(&path).unwrap().replace("0.027", "0.026")).unwrap();
    check(&course, 24, "append-only");
    // git is told not to look: the bytes on the disk are what counts.
    git(&course, &["update-index", "--assume-unchanged", path.as_str()]);
    check(&course, 24, "append-only");
    let tree = proofrun_runner::git::commit(course.path(), &["lessons"]).unwrap().unwrap();
    assert!(tree.dirty);
}

#[test]
fn a_link_to_the_same_bytes_is_not_the_file_that_was_there() {
    let (course, _) = committed();
    let folder = course.lesson_path(LESSON).join("reviews");
    let path = folder.read_dir_utf8().unwrap().next().unwrap().unwrap().into_path();
    let elsewhere = course.path().join("elsewhere");
    fs::rename(&path, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
    check(&course, 24, "append-only");
}

#[test]
fn a_change_does_not_vouch_for_itself() {
    let course = Scratch::with_lesson();
    commit(&course);
    course.trust(&[
        (RECORDER, &[Namespace::Record]),
        (REVIEWER, &[Namespace::Review]),
        (STRANGER, &[Namespace::Record]),
    ]);
    course.record(LESSON, &RecordPlan { recorder: STRANGER.into(), ..RecordPlan::h200() });
    check(&course, 0, "record-signature");
    // It says which line it is that the revision lacks, and no other.
    let ran = against_base(&course);
    assert!(ran.out.contains("commit the line in a change of its own first"), "{}", ran.all());
    assert!(ran.out.contains(&format!("this line of `{STRANGER}`")), "{}", ran.all());
    assert!(!ran.out.contains(&format!("this line of `{RECORDER}`")), "{}", ran.all());
}

#[test]
fn a_change_does_not_loosen_the_policy_for_itself() {
    let course = Scratch::with_lesson();
    course.trust(&[(RECORDER, &Namespace::ALL)]);
    let record = course.record(LESSON, &RecordPlan::h200());
    commit(&course);
    let digest = course.rendering(LESSON, record);
    let rendering = proofrun_core::review::Rendering { format: 1, digest };
    course.review(LESSON, Says::Accept { record, rendering }, RECORDER, "2026-06-02T09:00:00Z");
    course.edit("research/policy.toml", "forbidden", "labelled");
    check(&course, 0, "self-review");
}

#[test]
fn a_base_that_is_none_is_no_pass() {
    let (course, _) = committed();
    for base in ["nosuch", "--all", "HEAD:lessons", ""] {
        let ran = course.run(&["verify", "--offline", &format!("--base={base}")]);
        assert!(matches!(ran.code(), 1 | 2), "{base}: {}", ran.all());
    }
}
