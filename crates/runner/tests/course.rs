//! Courses on disk and in git: what is read, what is refused, what git knows.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

use std::fs;
use std::os::unix::fs::symlink;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::Stranger;
use proofrun_runner::course::{CourseError, lesson_folders, read_lesson};
use proofrun_runner::git::{GitError, changed, commit, files_of};
use tempfile::TempDir;

struct Course(TempDir);

impl Course {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.0.path()).unwrap()
    }

    fn write(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    fn git(&self, arguments: &[&str]) {
        let who = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-C"];
        let status = std::process::Command::new("git")
            .args(who)
            .arg(self.path())
            .args(arguments)
            .stdout(std::process::Stdio::null())
            .status();
        assert!(status.unwrap().success(), "{arguments:?}");
    }

    fn committed() -> Self {
        let course = Self::new();
        course.write("lessons/a/lesson.toml", "schema = 1\n");
        course.write("lessons/a/evidence/r/record.toml", "kept\n");
        course.git(&["init", "-q", "-b", "main"]);
        course.git(&["add", "-A"]);
        course.git(&["commit", "-q", "-m", "one"]);
        course
    }
}

#[test]
fn lessons_are_folders_with_a_manifest_wherever_they_lie() {
    let course = Course::new();
    for folder in ["lessons/b", "lessons/a", "cuda/week-1/c", "target/no", ".hidden/no"] {
        course.write(&format!("{folder}/lesson.toml"), "");
    }
    course.write("lessons/common/check.cuh", "");
    let found = lesson_folders(course.path()).unwrap();
    assert_eq!(found, ["cuda/week-1/c", "lessons/a", "lessons/b"]);
}

#[test]
fn two_lessons_of_one_name_are_refused() {
    let course = Course::new();
    course.write("lessons/a/lesson.toml", "");
    course.write("more/a/lesson.toml", "");
    let error = lesson_folders(course.path()).unwrap_err();
    assert!(matches!(error, CourseError::SameName(..)), "{error}");
}

#[test]
fn links_and_large_files_are_told_and_not_read() {
    let course = Course::new();
    course.write("lessons/a/lesson.toml", "x");
    course.write("secret", "not of the lesson");
    let lesson = course.path().join("lessons/a");
    symlink("../../secret", lesson.join("link")).unwrap();
    symlink("../..", lesson.join("up")).unwrap();
    let large = fs::File::create(lesson.join("large")).unwrap();
    large.set_len(17 << 20).unwrap();
    let files = read_lesson(course.path(), Utf8Path::new("lessons/a")).unwrap();
    let names: Vec<_> = files.files.keys().map(|path| path.as_str()).collect();
    assert_eq!(names, ["lesson.toml"]);
    assert_eq!(files.strangers[Utf8Path::new("link")], Stranger::Link("../../secret".into()));
    assert_eq!(files.strangers[Utf8Path::new("up")], Stranger::Link("../..".into()));
    assert_eq!(files.strangers[Utf8Path::new("large")], Stranger::TooLarge(17 << 20));
}

#[test]
fn an_included_file_of_the_course_is_read_and_one_behind_a_link_is_not() {
    let course = Course::new();
    course.write("lessons/a/lesson.toml", "x");
    course.write("lessons/a/a.cu", "#include \"../shared/b.h\"\n#include \"../shared/c.h\"\n");
    course.write("lessons/shared/b.h", "#include \"d.h\"\n");
    course.write("lessons/shared/d.h", "int d;\n");
    course.write("outside", "int c;\n");
    symlink("../../outside", course.path().join("lessons/shared/c.h")).unwrap();
    let files = read_lesson(course.path(), Utf8Path::new("lessons/a")).unwrap();
    let names: Vec<_> = files.included.keys().map(|path| path.as_str()).collect();
    assert_eq!(names, ["lessons/shared/b.h", "lessons/shared/d.h"]);
}

#[test]
fn a_commit_is_dirty_when_anything_differs_or_hides() {
    assert_eq!(commit(Course::new().path(), &["."]).unwrap(), None);
    let course = Course::committed();
    let dirty = || commit(course.path(), &["lessons/a"]).unwrap().unwrap().dirty;
    assert!(!dirty());
    course.write("elsewhere", "not of the lesson");
    assert!(!dirty());
    course.write("lessons/a/new", "untracked");
    assert!(dirty());
    fs::remove_file(course.path().join("lessons/a/new")).unwrap();
    course.git(&["update-index", "--assume-unchanged", "lessons/a/lesson.toml"]);
    assert!(dirty(), "assume-unchanged hides edits from `git status`");
}

#[test]
fn what_changed_is_told_by_its_path_from_the_root() {
    let course = Course::committed();
    assert_eq!(changed(course.path(), "HEAD").unwrap(), Vec::<Utf8PathBuf>::new());
    course.write("lessons/a/lesson.toml", "schema = 2\n");
    course.write("lessons/b/lesson.toml", "");
    fs::remove_file(course.path().join("lessons/a/evidence/r/record.toml")).unwrap();
    let expect =
        ["lessons/a/evidence/r/record.toml", "lessons/a/lesson.toml", "lessons/b/lesson.toml"];
    assert_eq!(changed(course.path(), "HEAD").unwrap(), expect);
    assert!(matches!(changed(course.path(), "nosuch"), Err(GitError::Refused { .. })));
    assert!(matches!(changed(course.path(), "--all"), Err(GitError::Refused { .. })));
}

#[test]
fn files_of_a_revision_are_those_that_were_committed() {
    let course = Course::committed();
    course.write("lessons/a/evidence/r/record.toml", "edited\n");
    let wanted = |path: &Utf8Path| path.as_str().contains("evidence");
    let files = files_of(course.path(), "main", wanted).unwrap();
    let (path, bytes) = files.iter().next().unwrap();
    assert_eq!(
        (path.as_str(), bytes.as_slice()),
        ("lessons/a/evidence/r/record.toml", &b"kept\n"[..])
    );
    assert_eq!(files.len(), 1);
    assert!(files_of(course.path(), "nosuch", wanted).is_err());
}

#[test]
fn evidence_in_a_submodule_is_refused() {
    let course = Course::committed();
    let link = format!("160000,{},lessons/a/evidence/other", "1".repeat(40));
    course.git(&["update-index", "--add", "--cacheinfo", &link]);
    course.git(&["commit", "-q", "-m", "two"]);
    let evidence = |path: &Utf8Path| path.as_str().contains("evidence/");
    let error = files_of(course.path(), "main", evidence).unwrap_err();
    assert!(matches!(error, GitError::Submodule(_)), "{error}");
    assert_eq!(files_of(course.path(), "main~1", evidence).unwrap().len(), 1);
}
