//! Every published snapshot of this repository's lessons, asserted again without a GPU.
//!
//! Bytes decide, before insta is asked: its comparison ignores trailing white space, and its
//! settings can make it pass whatever it sees. That insta agrees keeps its own tools (`cargo insta
//! test --unreferenced`) aware of the files.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use std::collections::BTreeSet;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::{Assessment, LessonFiles, SNAPSHOTS_FOLDER, assess};
use proofrun_core::publication::{snapshot, snapshot_name};
use proofrun_core::state::{PageState, Reviewed, Shown};
use proofrun_runner::course::{course_files, lesson_folders, read_lesson};
use support::course::LESSON;
use support::{REVIEWER, RecordPlan, Scratch};

/// Checks the snapshots of every lesson of a course, and returns how many there are; or the first
/// thing wrong.
fn check_course(root: &Utf8Path) -> Result<usize, String> {
    let (course, findings) = course_files(root).unwrap().into_course();
    if findings.iter().any(|it| it.severity == proofrun_core::Severity::Error) {
        return Err(format!("the trust root: {findings:?}"));
    }
    let mut count = 0;
    for folder in lesson_folders(root).unwrap() {
        let files = read_lesson(root, &folder).unwrap();
        let assessment = assess(&files, &course);
        count += check_lesson(root, &files, &assessment)?;
    }
    Ok(count)
}

fn check_lesson(
    root: &Utf8Path,
    files: &LessonFiles,
    assessment: &Assessment,
) -> Result<usize, String> {
    let name = files.name();
    let there: BTreeSet<String> = files.in_folder(SNAPSHOTS_FOLDER).into_keys().collect();
    // `verify` compares page and snapshots by bytes; a finding of it fails here as well.
    let wrong = assessment.findings.iter().find(|it| {
        it.severity == proofrun_core::Severity::Error && it.rule.id() == "snapshot-drifted"
    });
    if let Some(finding) = wrong {
        return Err(format!("{name}: {} {}", finding.place, finding.fact));
    }
    let mut expected = BTreeSet::new();
    for (pair, of_pair) in &assessment.evidence {
        let file = snapshot_name(pair);
        if let (Shown::Current(reviewed), true) = (&of_pair.shown, there.contains(&file)) {
            check_snapshot(root, files, &file, reviewed)?;
            expected.insert(file);
        }
    }
    if there != expected {
        return Err(format!("{name}: snapshots {there:?} where {expected:?} are published"));
    }
    match (assessment.page, expected.is_empty()) {
        (PageState::Current, true) => Err(format!("{name}: published without a snapshot")),
        (PageState::Blank, false) => Err(format!("{name}: a blank page with a snapshot")),
        (PageState::Drifted, _) => Err(format!("{name}: the page is Drifted")),
        _ => Ok(expected.len()),
    }
}

fn check_snapshot(
    root: &Utf8Path,
    files: &LessonFiles,
    file: &str,
    reviewed: &Reviewed,
) -> Result<(), String> {
    let stored = files.get(Utf8Path::new(SNAPSHOTS_FOLDER).join(file)).unwrap_or_default();
    if stored != snapshot(reviewed).as_bytes() {
        return Err(format!("{}: {file} differs in its bytes", files.name()));
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root.join(&files.folder).join(SNAPSHOTS_FOLDER));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let name = file.trim_end_matches(".snap");
    settings.bind(|| insta::assert_snapshot!(name, reviewed.rendering().text()));
    Ok(())
}

/// This repository.
fn repository() -> Utf8PathBuf {
    let here = Utf8Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_owned()
}

#[test]
fn what_this_course_publishes_is_what_was_reviewed() {
    check_course(&repository()).unwrap();
}

#[test]
fn a_changed_missing_or_further_snapshot_is_seen() {
    let course = Scratch::with_lesson();
    assert_eq!(check_course(course.path()), Ok(0));
    let record = course.record(LESSON, &RecordPlan::h200());
    assert_eq!(course.verdict("--accept", record, REVIEWER, "steady").code(), 0);
    assert_eq!(course.run(&["publish"]).code(), 0);
    assert_eq!(check_course(course.path()), Ok(1));
    let path = format!("lessons/{LESSON}/snapshots/h200-sm_75.snap");
    let good = course.read(&path);
    for wrong in [
        // insta itself would take the first three for equal.
        good.replace("264 blocks\n", "264 blocks \n"),
        good.replace("264 blocks\n", "264 blocks\r\n"),
        good.replace("reviewer@example.org", "somebody@example.org"),
        good.replace("264 blocks", "265 blocks"),
        String::new(),
    ] {
        course.write(&path, wrong);
        assert!(check_course(course.path()).unwrap_err().contains("snapshot differs"));
    }
    fs::remove_file(course.path().join(&path)).unwrap();
    assert!(check_course(course.path()).unwrap_err().contains("snapshot is missing"));
    assert_eq!(course.verify().code(), 28);
    course.write(&path, &good);
    course.write(format!("lessons/{LESSON}/snapshots/t4-sm_75.snap"), &good);
    assert!(check_course(course.path()).unwrap_err().contains("snapshot of something"));
}
