//! Every rule is broken by something: a table that a new rule fails until it has a row.

use std::collections::BTreeMap;
use std::fs;

use camino::Utf8PathBuf;
use proofrun_core::gate::{Device, Probe};
use proofrun_core::review::Verdict as Says;
use proofrun_core::trust::Namespace;
use proofrun_core::{Digest, Rule};

use crate::support::course::LESSON;
use crate::support::recorded::device;
use crate::support::toolkit::PTX;
use crate::support::{NOW, RECORDER, REVIEWED, REVIEWER, RecordPlan, Scratch, run_with};

/// What breaks a rule, under a published lesson.
type Break = fn(&Scratch);

fn source(course: &Scratch, from: &str, to: &str) {
    course.edit(format!("lessons/{LESSON}/scale.cu"), from, to);
}

fn page(course: &Scratch, from: &str, to: &str) {
    course.edit(format!("lessons/{LESSON}/README.md"), from, to);
}

fn manifest(course: &Scratch, from: &str, to: &str) {
    course.edit(format!("lessons/{LESSON}/lesson.toml"), from, to);
}

fn append(course: &Scratch, name: &str, text: &str) {
    let path = format!("lessons/{LESSON}/{name}");
    course.write(&path, course.read(&path) + text);
}

/// A program with copies of a common piece, laid out like this.
fn copies(course: &Scratch, text: &str) {
    course.write("lessons/common/one.cuh", "#define ONE 1\n");
    append(course, "scale.cu", text);
}

/// The lesson's files below a folder with this ending.
fn kept(course: &Scratch, folder: &str, ending: &str) -> Vec<Utf8PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![course.lesson_path(LESSON).join(folder)];
    while let Some(at) = waiting.pop() {
        for entry in at.read_dir_utf8().unwrap() {
            let path = entry.unwrap().into_path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.as_str().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found
}

fn record(course: &Scratch) -> Digest {
    course.assess(LESSON).primary_evidence().unwrap().records[0].examined.digest
}

fn with_script(course: &Scratch, script: &str) {
    course.install_toolkit(format!("#!/bin/sh\n{script}\n").as_bytes(), PTX);
    let program = course.path().join("cuda/program");
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
}

const TEXTS: &[(Rule, Break)] = &[
    (Rule::Manifest, |c| manifest(c, "schema = 1", "schema = 2")),
    (Rule::TemplateInvalid, |c| manifest(c, "{device}", "{nosuch")),
    (Rule::OutputPasted, |c| append(c, "README.md", "\n```text\none: 0.009 ms\n```\n")),
    (Rule::TargetUnknown, |c| page(c, "on t4/sm_75", "on t4/sm_99")),
    (Rule::TextSize, |c| append(c, "README.md", &"x\n".repeat(600_000))),
    (Rule::TextEncoding, |c| append(c, "README.md", "\u{202e}\n")),
    (Rule::ConflictMarker, |c| append(c, "README.md", "<<<<<<< ours\n")),
    (Rule::SourceLexing, |c| append(c, "scale.cu", "const char* s = \"open\n")),
    (Rule::HeaderMissing, |c| source(c, "// Build:", "// Make:")),
    (Rule::HeaderCommand, |c| source(c, "./scale\n", "./scale | tee\n")),
    (Rule::StatusParagraph, |c| source(c, "Status: VERIFIED", "Status: FINE")),
    (Rule::StatusElsewhere, |c| append(c, "scale.cu", "// Status: VERIFIED\n")),
    (Rule::StatusDrifted, |c| source(c, "reviewed by", "seen by")),
    (Rule::SnippetMarker, |c| source(c, "// snippet: kernel", "// snippet: Ker nel")),
    (Rule::SnippetUnclosed, |c| source(c, "// end snippet\n", "")),
    (Rule::SnippetStrayEnd, |c| append(c, "scale.cu", "// end snippet\n")),
    (Rule::SnippetNested, |c| {
        source(c, "// snippet: kernel\n", "// snippet: kernel\n// snippet: b\n")
    }),
    (Rule::SnippetDuplicate, |c| {
        append(c, "scale.cu", "// snippet: kernel\nint x;\n// end snippet\n")
    }),
    (Rule::SnippetEmpty, |c| append(c, "scale.cu", "// snippet: none\n// end snippet\n")),
    (Rule::SnippetUnused, |c| append(c, "scale.cu", "// snippet: more\nint x;\n// end snippet\n")),
    (Rule::SnippetMissing, |c| page(c, "snippet: kernel", "snippet: colonel")),
    (Rule::SnippetDiffers, |c| source(c, "2.0f", "3.0f")),
    (Rule::CopyMarker, |c| copies(c, "// copy: common/O N E\n")),
    (Rule::CopyUnclosed, |c| copies(c, "// copy: common/one.cuh\n#define ONE 1\n")),
    (Rule::CopyStrayEnd, |c| copies(c, "// end copy\n")),
    (Rule::CopyNested, |c| {
        copies(c, "// copy: common/one.cuh\n// copy: common/one.cuh\n#define ONE 1\n// end copy\n")
    }),
    (Rule::CopyDuplicate, |c| {
        copies(c, &"// copy: common/one.cuh\n#define ONE 1\n// end copy\n".repeat(2))
    }),
    (Rule::CopyEmpty, |c| copies(c, "// copy: common/one.cuh\n// end copy\n")),
    (Rule::CopyUnknown, |c| copies(c, "// copy: common/two.cuh\n#define TWO 2\n// end copy\n")),
    (Rule::CopyDiffers, |c| copies(c, "// copy: common/one.cuh\n#define ONE 2\n// end copy\n")),
    (Rule::IncludeMissing, |c| source(c, "<cstdio>", "\"nosuch.cuh\"")),
    (Rule::PageMissing, |c| fs::remove_file(c.lesson_path(LESSON).join("README.md")).unwrap()),
    (Rule::PageTitle, |c| page(c, "# Scale", "Scale")),
    (Rule::PageFence, |c| append(c, "README.md", "```\n")),
    (Rule::RegionMarker, |c| append(c, "README.md", "<!-- record:state -->\n")),
    (Rule::RegionUnclosed, |c| append(c, "README.md", "<!-- record: output on t4/sm_90 -->\n")),
    (Rule::RegionStrayEnd, |c| append(c, "README.md", "<!-- end record -->\n")),
    (Rule::RegionMismatch, |c| {
        append(c, "README.md", "<!-- emulated: output -->\n<!-- end record -->\n")
    }),
    (Rule::RegionNested, |c| {
        page(c, "<!-- record: spread -->\n", "<!-- record: spread -->\n<!-- snippet: kernel -->\n")
    }),
    (Rule::RegionDuplicate, |c| {
        append(c, "README.md", "<!-- record: state -->\n<!-- end record -->\n")
    }),
    (Rule::RegionProgram, |c| {
        append(c, "README.md", "<!-- record: state other -->\n<!-- end record -->\n")
    }),
    (Rule::RegionDrifted, |c| page(c, "Reviewed by", "Seen by")),
    (Rule::CommandsDiffer, |c| page(c, "nvcc -std=c++17", "nvcc -std=c++20")),
    (Rule::ProseNumber, |c| append(c, "README.md", "It takes 3.5 ms.\n")),
    (Rule::HoldsFails, |c| page(c, "ratio > 1 on", "ratio > 1.5 on")),
    (Rule::HoldsField, |c| page(c, "holds: ratio", "holds: speed")),
    (Rule::Stranger, |c| std::os::unix::fs::symlink("/", c.lesson_path(LESSON).join("x")).unwrap()),
    (Rule::InstaForcePass, |c| c.write("insta.yaml", "behavior:\n  force_pass: true\n")),
    (Rule::SnapshotDrifted, |c| append(c, "snapshots/h200-sm_75.snap", "\n")),
];

const EVIDENCE: &[(Rule, Break)] = &[
    (Rule::TrustRoot, |c| c.write("research/allowed_signers", "*\n")),
    (Rule::RecordTampered, |c| fs::remove_file(&kept(c, "evidence", ".stdout")[0]).unwrap()),
    (Rule::RecordSignature, |c| c.trust(&[(REVIEWER, &[Namespace::Review])])),
    (Rule::SignatureInvalid, |c| c.trust(&[(RECORDER, &[Namespace::Record])])),
    (Rule::ReviewFile, |c| {
        c.write(format!("lessons/{LESSON}/reviews/{}.toml", Digest::of("x")), "x")
    }),
    (Rule::ReviewName, |c| c.write(format!("lessons/{LESSON}/reviews/notes.txt"), "x")),
    (Rule::ReviewTarget, |c| {
        c.review(LESSON, Says::Reject { record: Digest::of("x") }, REVIEWER, REVIEWED);
    }),
    (Rule::SelfReview, |c| {
        c.trust(&[(RECORDER, &Namespace::ALL), (REVIEWER, &[Namespace::Review])]);
        let record = record(c);
        let digest = c.rendering(LESSON, record);
        let rendering = proofrun_core::review::Rendering { format: 1, digest };
        c.review(LESSON, Says::Accept { record, rendering }, RECORDER, REVIEWED);
    }),
    (Rule::NonceReused, |c| {
        c.record(LESSON, &RecordPlan { at: "2026-06-03T00:00:00Z".into(), ..RecordPlan::h200() });
    }),
    (Rule::Unpublishable, |c| {
        c.record_with(LESSON, &RecordPlan::t4(), |record, _| record.runs = 9);
    }),
    (Rule::Unverified, |c| fs::remove_dir_all(c.lesson_path(LESSON).join("evidence")).unwrap()),
    (Rule::Unreviewed, |c| fs::remove_dir_all(c.lesson_path(LESSON).join("reviews")).unwrap()),
    (Rule::Stale, |c| source(c, "return 0", "return 1")),
    (Rule::CommentsChanged, |c| source(c, "// Day 1: scale.", "// Day 1: scale it.")),
];

/// With a stand-in toolkit and a card that is described.
const BUILDS: &[(Rule, Break)] = &[
    (Rule::Builds, |c| {
        with_script(c, "");
        fs::remove_file(c.path().join("cuda/program")).unwrap();
    }),
    (Rule::BuildWarning, |c| {
        with_script(c, "");
        c.write("cuda/log", "scale.cu(2): warning #177-D: variable \"x\" was declared\n");
    }),
    (Rule::PtxDiffers, |c| {
        with_script(c, "");
        c.write("cuda/ptx", ".version 9.0\n.target sm_75\n.visible .entry x()\n");
    }),
    (Rule::PtxNotCompared, |c| {
        with_script(c, "");
        c.write("cuda/include/cuda/std/__cccl/version.h", "#define CCCL_VERSION 3005000\n");
    }),
    (Rule::RunFailed, |c| with_script(c, "exit 3")),
    (Rule::OutputMismatch, |c| with_script(c, "echo nothing of the kind")),
];

/// With other arguments than a plain `verify`.
const ARGUMENTS: &[(Rule, &[&str])] = &[
    (Rule::ToolkitAbsent, &["verify", "--offline"]),
    (Rule::DeviceAbsent, &["verify", "--offline", "--require-device"]),
    (Rule::NothingSelected, &["verify", "--offline", "--root", "research"]),
];

/// What only another command or part breaks: the test that does, and its file from this crate's
/// folder.
const ELSEWHERE: &[(Rule, &str, &str)] = &[
    (Rule::AppendOnly, "evidence_is_not_forgotten", "tests/breaking/base.rs"),
    (Rule::ImportRefused, "what_failed_is_imported_and_named", "tests/record_import.rs"),
    (Rule::EmulatedFinding, "both_sides_of_a_race_stand_in_the_source", "tests/emulate.rs"),
    (
        Rule::EmulatedDiffers,
        "a_count_that_a_card_printed_otherwise_is_a_mismatch",
        "tests/emulate.rs",
    ),
    (
        Rule::RunsDisagree,
        "a_disagreement_is_a_finding_of_its_rule",
        "../core/src/template/tests/runs.rs",
    ),
    (
        Rule::BuildCommand,
        "an_error_becomes_a_finding_with_a_next_step",
        "../core/src/argv/tests.rs",
    ),
];

fn published() -> Scratch {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    course.accept(LESSON, record);
    course.show(LESSON);
    course
}

fn plain(course: &Scratch) -> String {
    course.run(&["verify", "--offline"]).all()
}

fn with_toolkit(course: &Scratch) -> String {
    let facts = device("Tesla T4", "7.5", 40);
    let (cuda, uuid) = ("13.0".parse().unwrap(), Digest::of("card"));
    let card = Device { index: 0, facts, cuda, uuid };
    let home = course.path().join("cuda");
    let arguments = ["verify", "--offline", "--cuda-home", home.as_str()];
    let ran = run_with(course.path(), NOW, &arguments, move |mut context| {
        context.probe = Box::new(move || Probe::Devices { devices: vec![card.clone()] });
        context.environment = Box::new(|name| std::env::var_os(name).filter(|_| name == "PATH"));
        context
    });
    ran.all()
}

#[test]
fn a_program_that_does_not_start_is_a_finding_among_others() {
    let course = published();
    source(&course, "// Day 1: scale.", "// Day 1: scale it.");
    course.install_toolkit(b"neither script nor program", PTX);
    let said = with_toolkit(&course);
    assert!(said.starts_with("exit 27"), "{said}");
    assert!(said.contains("[run-failed]") && said.contains("[comments-changed]"), "{said}");
}

#[test]
fn every_rule_is_broken_by_something() {
    let mut seen: BTreeMap<Rule, String> = BTreeMap::new();
    let tables =
        [(TEXTS, plain as fn(&Scratch) -> String), (EVIDENCE, plain), (BUILDS, with_toolkit)];
    for (table, verify) in tables {
        for (rule, act) in table {
            let course = published();
            act(&course);
            seen.insert(*rule, verify(&course));
        }
    }
    for (rule, arguments) in ARGUMENTS {
        seen.insert(*rule, published().run(arguments).all());
    }
    let mut wrong = Vec::new();
    for (rule, said) in &seen {
        if !said.contains(&format!("[{}]", rule.id())) {
            wrong.push(format!("## `{}` is not broken: {said}", rule.id()));
        }
    }
    for (rule, test, path) in ELSEWHERE {
        let file = camino::Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let text = fs::read_to_string(file).unwrap_or_default();
        if !text.contains(&format!("fn {test}(")) {
            wrong.push(format!("## `{}`: no test `{test}` in `{path}`", rule.id()));
        }
        seen.insert(*rule, String::new());
    }
    for rule in Rule::ALL.iter().filter(|rule| !seen.contains_key(rule)) {
        wrong.push(format!("## nothing breaks `{}`", rule.id()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
