//! A course of somebody's own: a program and a manifest of a few lines a lesson, and nothing else.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use std::fs;

use camino::Utf8Path;
use proofrun::Context;
use proofrun_core::assess::Assessment;
use proofrun_core::state::PageState;
use proofrun_core::{Rule, Severity};
use support::course::{LESSON, PAGE, SOURCE};
use support::{NOW, RecordPlan, Scratch, run, run_with};

/// The rules that errors of an assessment break.
fn errors(assessment: &Assessment) -> Vec<Rule> {
    let errors = assessment.findings.iter().filter(|it| it.severity == Severity::Error);
    errors.map(|finding| finding.rule).collect()
}

/// Two lessons side by side, one with its commands in the header, one with them in the manifest.
fn minimal() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let main = "int main() { return 0; }\n";
    let output = "schema = 1\noutput = \"\"\"\nmax error: {e:count}\n\"\"\"\n";
    write("saxpy/lesson.toml", output);
    let header = "// Build: nvcc -arch=sm_75 -o saxpy saxpy.cu\n// Run: ./saxpy\n";
    write("saxpy/saxpy.cu", &format!("{header}{main}"));
    let commands = "[build]\ncommand = \"nvcc -arch=sm_75 -o dot dot.cu\"\n[run]\n\
                    command = \"./dot\"\n";
    write("dot/lesson.toml", &format!("{output}{commands}"));
    write("dot/dot.cu", &format!("#include <cstdio>\n{main}"));
    folder
}

#[test]
fn a_program_and_a_manifest_verify_with_warnings_only() {
    let folder = minimal();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let ran = run(root, &["verify", "--offline"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(!ran.all().contains("Drifted"), "{}", ran.all());
    assert_eq!(ran.out.matches("page-missing").count(), 2, "{}", ran.all());
    // Commands in the manifest ask for no header at all.
    assert_eq!(ran.out.matches("status-paragraph").count(), 1, "{}", ran.all());
    let ran = run(root, &["explain", "saxpy"]);
    assert!(!ran.all().contains("Drifted"), "{}", ran.all());
}

#[test]
fn a_lesson_without_its_build_command_says_so() {
    let folder = minimal();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    fs::write(root.join("saxpy/saxpy.cu"), "// Run: ./saxpy\nint main() { return 0; }\n").unwrap();
    let ran = run(root, &["verify", "--offline"]);
    assert_ne!(ran.code(), 0, "{}", ran.all());
    assert!(ran.out.contains("saxpy  can't be resolved"), "{}", ran.all());
    assert!(ran.out.contains("no `Build:` line"), "{}", ran.all());
    assert!(!ran.all().contains("manifest can't be read"), "{}", ran.all());
    // One command in the manifest is enough for the line that is missing.
    let manifest = fs::read_to_string(root.join("saxpy/lesson.toml")).unwrap();
    let build = "[build]\ncommand = \"nvcc -arch=sm_75 -o saxpy saxpy.cu\"\n";
    fs::write(root.join("saxpy/lesson.toml"), manifest + build).unwrap();
    let ran = run(root, &["verify", "--offline"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
}

#[test]
fn a_page_and_a_paragraph_are_demanded_once_something_is_recorded() {
    let course = Scratch::with_lesson();
    let source = format!("lessons/{LESSON}/scale.cu");
    let page = course.lesson_path(LESSON).join("README.md");
    course.write(&source, SOURCE.replace("// Status", "// State"));
    assert_eq!(errors(&course.assess(LESSON)), []);
    assert_eq!(course.assess(LESSON).page, PageState::Blank);
    course.record(LESSON, &RecordPlan::h200());
    assert_eq!(errors(&course.assess(LESSON)), [Rule::StatusParagraph]);
    assert_eq!(course.assess(LESSON).page, PageState::Drifted);
    course.write(&source, SOURCE);
    fs::remove_file(page).unwrap();
    assert_eq!(errors(&course.assess(LESSON)), [Rule::PageMissing]);
}

#[test]
fn a_page_that_claims_something_needs_the_paragraph() {
    let course = Scratch::with_lesson();
    course.edit(format!("lessons/{LESSON}/scale.cu"), "// Status", "// State");
    course.edit(format!("lessons/{LESSON}/README.md"), "**UNVERIFIED.**", "**VERIFIED.**");
    let found = errors(&course.assess(LESSON));
    assert_eq!(found, [Rule::RegionDrifted, Rule::StatusParagraph]);
}

#[test]
fn a_command_in_a_lessons_folder_is_about_the_course_above() {
    let folder = minimal();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let ran = run(&root.join("saxpy"), &["status"]);
    assert!(ran.out.contains("dot") && ran.out.contains("saxpy"), "{}", ran.all());
    // A mark above counts more than the manifest here.
    let deep = root.join("part/one/gemm");
    fs::create_dir_all(&deep).unwrap();
    for file in ["lesson.toml", "saxpy.cu"] {
        fs::copy(root.join("saxpy").join(file), deep.join(file)).unwrap();
    }
    let ran = run(&deep, &["status"]);
    assert!(ran.out.contains("gemm") && !ran.out.contains("saxpy"), "{}", ran.all());
    fs::create_dir(root.join(".proofrun")).unwrap();
    let ran = run(&deep, &["status"]);
    assert!(ran.out.contains("gemm") && ran.out.contains("dot"), "{}", ran.all());
    let help =
        run(root, &["status", "--help"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("`.proofrun/` in it, else the one above a lesson's folder"), "{help}");
}

#[test]
fn the_blank_paragraph_names_the_harness_as_its_user_calls_it() {
    let course = Scratch::with_lesson();
    let digest = |course: &Scratch| {
        let text = course.assess(LESSON).text.unwrap();
        text.sources["scale"][0].text
    };
    let source = format!("lessons/{LESSON}/scale.cu");
    let before = digest(&course);
    course.edit(&source, "`cargo xtask status`", "`proofrun status`");
    assert_eq!(errors(&course.assess(LESSON)), []);
    assert_eq!(digest(&course), before, "a record is of either paragraph");
    course.edit(&source, "`proofrun status`", "`make status`");
    assert_eq!(errors(&course.assess(LESSON)), [Rule::StatusDrifted]);

    let course = Scratch::empty();
    let called = |mut context: Context| {
        context.name = "proofrun";
        context
    };
    let ran = run_with(course.path(), NOW, &["new", "1", "one"], called);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    let made = course.read("lessons/day-1-one/one.cu");
    assert!(made.contains("//   `proofrun status` says what is missing\n"), "{made}");
    assert_eq!(errors(&course.assess("day-1-one")), []);
}

#[test]
fn a_bundle_without_a_runner_names_the_command_that_installs_one() {
    let folder = minimal();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let ran = run(root, &["bundle", "saxpy"]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.err.contains("`cargo install --path crates/runner`"), "{}", ran.all());
}

#[test]
fn sync_puts_the_blank_text_back_where_nothing_may_be_shown() {
    let course = Scratch::with_lesson();
    let (source, page) =
        (format!("lessons/{LESSON}/scale.cu"), format!("lessons/{LESSON}/README.md"));
    course.edit(&source, "Status: UNVERIFIED", "Status: VERIFIED");
    course.edit(&page, "**UNVERIFIED.** No", "**VERIFIED.** A");
    let ran = course.verify();
    assert_eq!(ran.out.matches("next: run `sync`").count(), 2, "{}", ran.all());
    let ran = course.run(&["status"]);
    assert!(ran.out.contains(&format!("next: cargo xtask sync {LESSON}")), "{}", ran.all());
    let before = course.snapshot();
    let ran = course.run(&["sync", "--dry-run"]);
    assert!(ran.out.contains("would put the blank text back into region `state`"), "{}", ran.all());
    assert_eq!(course.snapshot(), before);
    let ran = course.run(&["sync"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.out.contains("  put the blank text back into region `state`"), "{}", ran.all());
    assert!(ran.out.contains("into the status paragraph"), "{}", ran.all());
    assert_eq!((course.read(&source), course.read(&page)), (SOURCE.into(), PAGE.into()));
    let ran = course.run(&["sync"]);
    assert_eq!(ran.out, "no snippet, copy or blank to write\n");
}

#[test]
fn sync_leaves_alone_what_a_review_stands_behind_or_was_tampered_with() {
    let course = Scratch::with_lesson();
    let page = format!("lessons/{LESSON}/README.md");
    let record = course.record(LESSON, &RecordPlan::h200());
    let review = course.accept(LESSON, record);
    course.edit(&page, "**UNVERIFIED.** No", "**VERIFIED.** A");
    let drifted = course.read(&page);
    let ran = course.run(&["sync"]);
    assert_eq!(ran.out, "no snippet, copy or blank to write\n", "{}", ran.all());
    // Without its signature the review counts for nothing, but what it was of is unknown.
    course.write(format!("lessons/{LESSON}/reviews/{review}.sig"), "none\n");
    let ran = course.run(&["sync"]);
    assert_eq!(ran.out, "no snippet, copy or blank to write\n", "{}", ran.all());
    assert_eq!(course.read(&page), drifted);
}

#[test]
fn sync_names_the_snippets_that_it_could_not_fill() {
    let course = Scratch::with_lesson();
    course.edit(format!("lessons/{LESSON}/README.md"), "snippet: kernel", "snippet: kernal");
    let ran = course.run(&["sync"]);
    assert_eq!(ran.code(), course.verify().code(), "{}", ran.all());
    assert!(ran.err.contains("no program of the lesson has a snippet `kernal`"), "{}", ran.all());
}
