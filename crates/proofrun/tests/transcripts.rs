//! The transcripts in README.md: what a user sees, said by the commands themselves.
//!
//! Each `console` block starts with its command and holds all that the command then writes, byte
//! for byte: standard output, then standard error. The course behind it is the scratch course, at a
//! fixed time, with stand-ins for the compilers and no device, so nothing depends on the machine.
//! No scene has a record, so that no block shows a figure that nobody measured.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use camino::Utf8Path;
use similar::TextDiff;
use support::course::LESSON;
use support::toolkit::PTX;
use support::{NOW, Scratch, run_with};

/// A command, and the course that it is typed in.
type Scene = (&'static str, fn() -> Scratch);

/// Those of README, in its order.
const SCENES: &[Scene] = &[
    ("cargo xtask verify", edited),
    ("cargo xtask status", two_lessons),
    ("cargo xtask publish day-01", Scratch::with_lesson),
];

/// The program was changed, and the page still shows what it was.
fn edited() -> Scratch {
    let course = Scratch::with_lesson();
    let path = format!("lessons/{LESSON}/scale.cu");
    course.edit(path, "data[i] *= 2.0f", "data[i] *= 3.0f");
    course
}

fn two_lessons() -> Scratch {
    let course = edited();
    course.add_lesson("day-02-offset");
    course
}

/// A command as it is typed, and all that it writes.
fn transcript(typed: &str, course: &Scratch) -> String {
    course.install_toolkit(b"", PTX);
    course.install_host_compiler();
    let home = course.path().join("cuda");
    let arguments = typed.strip_prefix("cargo xtask ").unwrap();
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let ran = run_with(course.path(), NOW, &arguments, |mut context| {
        context.environment = Box::new(move |name| match name {
            "CUDA_HOME" => Some(home.clone().into()),
            "PATH" => Some(format!("{home}/host:/usr/bin:/bin").into()),
            _ => None,
        });
        context
    });
    format!("$ {typed}\n{}{}", ran.out, ran.err)
}

/// The bodies of a text's `console` blocks.
fn blocks(text: &str) -> Vec<&str> {
    let starts = text.split("\n```console\n").skip(1);
    starts.map(|rest| &rest[..rest.find("```\n").unwrap()]).collect()
}

/// How a text's blocks differ from what the commands say now; empty where they don't.
fn differences(text: &str) -> String {
    let mut found = String::new();
    let blocks = blocks(text);
    if blocks.len() != SCENES.len() {
        found = format!("{} blocks for {} scenes\n", blocks.len(), SCENES.len());
    }
    for (block, (typed, course)) in blocks.iter().zip(SCENES) {
        let said = transcript(typed, &course());
        if *block != said {
            let diff = TextDiff::from_lines(*block, &said);
            let names = ("README.md", *typed);
            found += &diff.unified_diff().header(names.0, names.1).to_string();
        }
    }
    found
}

fn readme() -> String {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    std::fs::read_to_string(root.join("README.md")).unwrap()
}

#[test]
fn the_transcripts_in_the_readme_are_what_the_commands_say() {
    let found = differences(&readme());
    assert!(found.is_empty(), "README.md's transcripts have changed:\n{found}");
}

#[test]
fn a_transcript_that_differs_is_shown_as_a_diff() {
    let text = readme();
    let changed = text.replace("Errors: 1 lesson\n", "Errors: 2 lessons\n");
    assert_ne!(changed, text);
    let found = differences(&changed);
    assert!(found.contains("\n-Errors: 2 lessons\n+Errors: 1 lesson\n"), "{found}");
    let blank = text.replace("day-01-scale: refused\n", "day-01-scale: refused \n");
    assert_ne!(differences(&blank), "");
    let (first, rest) = text.split_once("\n```console\n").unwrap();
    let (_, rest) = rest.split_once("```\n").unwrap();
    let found = differences(&format!("{first}{rest}"));
    assert!(found.starts_with("2 blocks for 3 scenes\n"), "{found}");
}
