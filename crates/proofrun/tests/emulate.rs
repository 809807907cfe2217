//! `emulate` on files and lessons, over a library that tells what each test wants told: what is
//! shown, how it ends, and the JSON of all of it.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use std::collections::BTreeSet;
use std::io::Write as _;

use camino::Utf8PathBuf;
use serde_json::Value;
use support::course::LESSON;
use support::emulated::{ENDED, LAUNCH, ON_H200, STARTED, emulate, library, prints, with_toolkit};
use support::markdown::{quoted, read, table};
use support::{Ran, RecordPlan, Scratch};

/// Seven lines on: the write of line 5, the read of line 7.
const PROGRAM: &str = r#"#include <cstdio>
#include <cstdlib>
__global__ void reverse(int* out, const int* in) {
    __shared__ int tile[64];
    tile[threadIdx.x] = in[threadIdx.x];
    // no barrier
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
int main(int argc, char** argv) {
    std::printf("one\x1b[2J\n");
    for (int i = 1; i < argc; ++i) std::printf("arg %s\n", argv[i]);
    std::fprintf(stderr, "beside\n");
    reverse<<<1, 64>>>(nullptr, nullptr);
    std::printf("no end");
    BODY
}
"#;

/// A race between its two lines, in a course that lies in HERE.
const RACE: &str = r#"{"event":"finding","kind":"race","severity":"error",
"kernel":"reverse(int*, int const*)","message":"a write and a read of shared memory are not ordered",
"at":[{"file":"HERE/a.cu","line":7,"column":5,"what":"read of 4 bytes","block":[1,0,0],"threads":"0"},
{"file":"HERE/a.cu","line":5,"column":5,"what":"write of 4 bytes","block":[1,0,0],"threads":"0..32, 63"}],
"object":"element 63 of the 256 B shared array `tile`","next":"put `__syncthreads()` between them",
"notes":["no barrier stands between them"],"launch":0,"schedule":"s1","count":64}"#;

const LEAK: &str = r#"{"event":"finding","kind":"leak","severity":"warning",
"message":"256 bytes were never freed","at":[],"count":1}"#;

/// A course with a program whose `main` ends so.
fn scene(body: &str) -> Scratch {
    let course = Scratch::empty();
    with_toolkit(&course);
    course.write("a.cu", PROGRAM.replace("BODY", body));
    course
}

fn here(course: &Scratch, event: &str) -> String {
    event.replace("HERE", course.path().canonicalize_utf8().unwrap().as_str())
}

/// Runs `a.cu` where the device tells these events.
fn told(course: &Scratch, events: &[&str], arguments: &[&str]) -> Ran {
    let events: Vec<String> = events.iter().map(|event| here(course, event)).collect();
    let events: Vec<&str> = events.iter().map(String::as_str).collect();
    let library = library(course, &events);
    emulate(course, Some(&library), &[&["a.cu"], arguments].concat())
}

#[test]
fn a_clean_program_shows_its_own_lines_marked_and_what_was_looked_at() {
    let course = scene("return 0;");
    let before = course.snapshot();
    let ran = told(&course, &[STARTED, LAUNCH, ENDED], &["--", "x y", "--z"]);
    let expect = "emulated | one\\u{1b}[2J\nemulated | arg x y\nemulated | arg --z\n\
                  emulated | no end\n\
                  emulated h200, compute_90: 1 launch, 12 345 warp-instructions, 1 schedule, 0\n    \
                  errors, 0 warnings\n\
                  limits: these inputs, in sequentially consistent orders of its PTX; weak memory,\n        \
                  ptxas, machine code, time are not seen; -O3 may delete a faulty access.\n";
    assert_eq!((ran.code(), ran.out.as_str()), (0, expect), "{}", ran.all());
    assert_eq!(ran.err, "emulated | beside\n");
    assert_eq!(course.snapshot(), before, "something was written outside of target/");
}

#[test]
fn both_sides_of_a_race_stand_in_the_source() {
    let course = scene("return 0;");
    let ran = told(&course, &[STARTED, RACE, LAUNCH, LEAK, ENDED], &["--arch", "sm_80"]);
    let expect = "
error[race]: a write and a read of shared memory are not ordered
 --> a.cu:7:5
  |
5 |     tile[threadIdx.x] = in[threadIdx.x];
  |     ------------------------ write of 4 bytes: block 1, threads 0..32, 63
6 |     // no barrier
7 |     out[threadIdx.x] = tile[63 - threadIdx.x];
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ read of 4 bytes: block 1, thread 0
  |
  = note: in kernel `reverse(int*, int const*)`, launch 0, of element 63 of
          the 256 B shared array `tile`
  = note: no barrier stands between them
  = note: 64 equal ones, told once
  = help: put `__syncthreads()` between them
  = help: replay: cargo xtask emulate a.cu --arch sm_80 --replay s1

warning[leak]: 256 bytes were never freed

";
    assert_eq!(ran.code(), 26, "{}", ran.all());
    assert!(ran.out.contains(expect), "{}", ran.all());
    assert!(ran.out.contains("1\n    error, 1 warning\n"), "{}", ran.all());
    for line in ran.out.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let replay = ran.out.lines().find_map(|line| line.split_once("cargo xtask ")).unwrap().1;
    let words = replay.split(' ').skip(1).collect::<Vec<_>>();
    let again = emulate(&course, Some(&course.outside("library/libfake.so")), &words);
    assert_eq!(again.code(), 26, "{}", again.all());
}

#[test]
fn a_file_that_is_not_here_is_named_all_the_same() {
    let course = scene("return 0;");
    let elsewhere = RACE.replace("HERE/a.cu\",\"line\":7", "/no/such/x.cuh\",\"line\":3");
    let beyond = RACE.replace("\"line\":5", "\"line\":99").replace("race", "bounds");
    let ran = told(&course, &[STARTED, &elsewhere, &beyond, ENDED], &[]);
    assert_eq!(ran.code(), 26, "{}", ran.all());
    for part in ["/no/such/x.cuh:3", "a.cu:99", "read of 4 bytes: block 1, thread 0"] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.all());
    }
}

#[test]
fn how_it_ends_follows_from_findings_first_and_then_from_the_program() {
    let hostile = LEAK.replace("256 bytes", r"\u001b[2J bytes");
    for (body, events, arguments, code, said) in [
        ("return 0;", &[STARTED, LEAK, ENDED][..], &[][..], 0, "1 warning"),
        ("return 0;", &[STARTED, &hostile, ENDED], &[], 0, r"\u{1b}[2J bytes were never"),
        ("return 3;", &[STARTED, ENDED], &[], 27, "the program exits with status 3 [run-failed]"),
        ("return 3;", &[STARTED, LEAK, ENDED], &[], 27, "because beside"),
        ("return 3;", &[STARTED, RACE, ENDED], &[], 26, "error[race]"),
        ("std::abort();", &[STARTED], &[], 27, "signal 6 ends the program"),
        ("for (;;) {}", &[STARTED], &["--timeout", "1"], 27, "did not end within 1 s"),
        ("return 0;", &[STARTED, "nonsense"], &[], 1, "what the emulated device tells"),
        ("return no;", &[], &[], 27, "a.cu:15: the build fails: identifier \"no\" is undefined"),
    ] {
        let course = scene(body);
        let ran = told(&course, events, arguments);
        let all = ran.all().replace("\n      ", " ");
        assert_eq!(ran.code(), code, "{body}: {all}");
        assert!(all.contains(said), "{body}: {said}\n{all}");
        assert!(!all.contains('\u{1b}'), "{all}");
    }
}

#[test]
fn raw_is_the_programs_own_bytes_and_the_rest_goes_beside_them() {
    let course = scene("std::putchar(0xff); return 0;");
    let library = library(&course, &[STARTED, &here(&course, RACE), ENDED]);
    let (out, err) = raw(&course, &library, &["emulate", "a.cu", "--raw"]);
    assert_eq!(out, b"one\x1b[2J\nno end\xff");
    let err = String::from_utf8(err).unwrap();
    assert!(err.starts_with("beside\n\nerror[race]"), "{err}");
}

/// Runs a command line for the bytes of its streams, which need not be UTF-8.
fn raw(course: &Scratch, library: &camino::Utf8Path, arguments: &[&str]) -> (Vec<u8>, Vec<u8>) {
    let ran = std::process::Command::new(env!("CARGO_BIN_EXE_proofrun"))
        .args(arguments)
        .env("PROOFRUN_CUDART", library)
        .env_remove("CUDA_HOME")
        .env_remove("CUDA_PATH")
        .current_dir(course.path())
        .output()
        .unwrap();
    (ran.stdout, ran.stderr)
}

#[test]
fn flags_reach_the_compiler_and_standard_input_the_program() {
    let course = scene("return 0;");
    course.write("more/n.h", "#define N 1\n");
    course.write(
        "b.cu",
        "#include <cstdio>\n#include <n.h>\n__global__ void k() {}\nextern int twice(int);\n\
         int main() { k<<<1, 1>>>(); int c = std::getchar(); std::printf(\"%d %d %c\\n\", N, \
         twice(M), c < 0 ? '-' : c); }\n",
    );
    course.write("c.cu", "int twice(int n) { return 2 * n; }\n");
    let library = library(&course, &[STARTED, LAUNCH, ENDED]);
    let flags = ["b.cu", "c.cu", "-I", "more", "-D", "M=4", "--nvcc-flag", "-std=c++20"];
    let ran = emulate(&course, Some(&library), &flags);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.out.starts_with("emulated | 1 8 -\n"), "{}", ran.all());
    let wrong = emulate(&course, Some(&library), &[&flags[..], &["--nvcc-flag=-DM=x"]].concat());
    assert_eq!(wrong.code(), 27, "{}", wrong.all());
}

#[test]
fn what_is_missing_is_named_with_the_next_step() {
    let course = scene("return 0;");
    let library = library(&course, &[STARTED, ENDED]);
    let nothing = Utf8PathBuf::from("/no/such/library.so");
    let older = course.path().join("cuda");
    course.install_toolkit(b"", "");
    course.edit("cuda/bin/nvcc", "release 13.0, V13.0.88", "release 12.4, V12.4.99");
    for (library, arguments, code, said) in [
        (Some(&library), &["b.cu"][..], 2, "there is no file `b.cu`"),
        (Some(&library), &["a.cu", "day-1"], 2, "there is no file `day-1`; name files, or one"),
        (Some(&library), &["day-99"], 2, "no lesson is called `day-99`"),
        (Some(&library), &["a.cu", "--device", "h300"], 2, "there are `t4`"),
        (Some(&library), &["a.cu", "--arch", "90"], 2, "`90` is not an architecture"),
        (Some(&library), &["a.cu", "--arch", "sm_20"], 2, "makes no code for `compute_20`"),
        (Some(&library), &["a.cu", "--program", "x"], 2, "a file has one program"),
        (Some(&library), &["a.cu", "--timeline", "t.json"], 2, "the timeline did not run"),
        (Some(&library), &["a.cu", "--cuda-home", older.as_str()], 25, "name one of 13 with"),
        (Some(&library), &["a.cu", "--cuda-home", "/nowhere"], 25, "[toolkit-absent]"),
        (Some(&nothing), &["a.cu"], 25, "PROOFRUN_CUDART names `/no/such/library.so`"),
    ] {
        let ran = emulate(&course, library.map(|it| it.as_path()), arguments);
        assert_eq!(ran.code(), code, "{arguments:?}: {}", ran.all());
        assert!(ran.all().contains(said), "{arguments:?}: {said}\n{}", ran.all());
    }
    let bare = Scratch::empty();
    bare.write("a.cu", PROGRAM.replace("BODY", ""));
    let ran = emulate(&bare, Some(&library), &["a.cu", "--offline"]);
    let managed = ran.code() == 0;
    assert!(managed || ran.code() == 25, "{}", ran.all());
}

#[test]
fn what_is_piped_in_is_the_programs_input() {
    let course = scene("return 0;");
    let program = "#include <cstdio>\n__global__ void k() {}\nint main() { k<<<1, 1>>>(); char \
                   line[9]; while (std::fgets(line, 9, stdin)) std::printf(\"got %s\", line); }\n";
    course.write("b.cu", program);
    let library = library(&course, &[STARTED, LAUNCH, ENDED]);
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_proofrun"))
        .args(["emulate", "b.cu"])
        .env("PROOFRUN_CUDART", &library)
        .env_remove("CUDA_HOME")
        .env_remove("CUDA_PATH")
        .current_dir(course.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"a\nb\n").unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(out.starts_with("emulated | got a\nemulated | got b\nemulated h200"), "{out}");
}

#[test]
fn a_lesson_is_held_to_its_template_and_to_a_cards_record_but_for_measurements() {
    for (from, to, code, said) in [
        ("", "", 0, "5 lines are those of record `"),
        ("264", "265", 23, "[output-mismatch]"),
        ("two:", "to:", 23, "[output-mismatch]"),
        ("9.999", "9.99", 23, "[output-mismatch]"),
    ] {
        let course = Scratch::with_lesson();
        with_toolkit(&course);
        prints(&course, &ON_H200.replace(from, to), "");
        course.record(LESSON, &RecordPlan::h200());
        let library = library(&course, &[STARTED, LAUNCH, ENDED]);
        let ran = emulate(&course, Some(&library), &[LESSON]);
        assert_eq!(ran.code(), code, "{}", ran.all());
        assert!(ran.out.contains(said), "{said}\n{}", ran.all());
        assert!(ran.out.contains("emulated h200, compute_75"), "{}", ran.all());
    }
}

#[test]
fn a_count_that_a_card_printed_otherwise_is_a_mismatch() {
    let course = Scratch::with_lesson();
    with_toolkit(&course);
    let manifest = format!("lessons/{LESSON}/lesson.toml");
    course.edit(&manifest, "{blocks = 2 * sm_count} blocks", "{blocks:count} blocks");
    prints(&course, &ON_H200.replace("264", "265"), "");
    let library = library(&course, &[STARTED, LAUNCH, ENDED]);
    let without = emulate(&course, Some(&library), &[LESSON]);
    assert_eq!(without.code(), 0, "{}", without.all());
    assert!(without.out.contains("no record of h200 to compare with"), "{}", without.all());
    course.record(LESSON, &RecordPlan::h200());
    let ran = emulate(&course, Some(&library), &[LESSON]);
    assert_eq!(ran.code(), 23, "{}", ran.all());
    let said = "`blocks` is `264` on the card, and `265` here";
    assert!(ran.out.contains(said) && ran.out.contains("[emulated-differs]"), "{}", ran.all());
    let flags = emulate(&course, Some(&library), &[LESSON, "-D", "X"]);
    assert_eq!(flags.code(), 2, "{}", flags.all());
}

const NEEDS: &str = "[needs]\ncompute_capability = \"8.0\"\n[needs.below]\nexit = 1\nstdout = \
                     \"\"\"\nGPU: {device} (compute capability {cc})\n\"\"\"\nstderr = \"\"\"\nno: \
                     {cc}\n\"\"\"\n[publish]";

const ON_T4: &str = "GPU: Tesla T4 (compute capability 7.5)\n";

#[test]
fn below_its_gate_a_lesson_does_what_it_declares_and_launches_nothing() {
    let refuse = r#"std::fputs("no: 7.5\n", stderr); return 1;"#;
    for (text, rest, events, code, said) in [
        (ON_T4, refuse, &[STARTED, ENDED][..], 0, "it refuses as declared, with exit status 1"),
        (ON_T4, refuse, &[STARTED, LAUNCH, ENDED], 27, "launches `k(int*)`"),
        (ON_T4, r#"std::fputs("no: 7.5\n", stderr);"#, &[STARTED, ENDED], 27, "exit status 0"),
        (ON_T4, r#"std::fputs("no: 8.0\n", stderr); return 1;"#, &[STARTED], 23, "no: 8.0"),
        (ON_H200, refuse, &[STARTED, ENDED], 23, "[output-mismatch]"),
    ] {
        let course = Scratch::with_lesson();
        with_toolkit(&course);
        course.edit(format!("lessons/{LESSON}/lesson.toml"), "[publish]", NEEDS);
        prints(&course, text, rest);
        let library = library(&course, events);
        let ran = emulate(&course, Some(&library), &[LESSON, "--device", "t4"]);
        assert_eq!(ran.code(), code, "{}", ran.all());
        assert!(ran.out.replace("\n    ", " ").contains(said), "{said}\n{}", ran.all());
        let launched = events.contains(&LAUNCH);
        assert_eq!(ran.out.contains("nothing was launched"), !launched, "{}", ran.all());
    }
}

#[test]
fn findings_of_a_lesson_stand_in_the_courses_files() {
    let course = Scratch::with_lesson();
    with_toolkit(&course);
    let file = format!("/c/cache/compile/.work-x/course/lessons/{LESSON}/scale.cu");
    let race = RACE.replace("HERE/a.cu", &file).replace("\"line\":7", "\"line\":15");
    let library = library(&course, &[STARTED, &race, ENDED]);
    let ran = emulate(&course, Some(&library), &[LESSON]);
    assert_eq!(ran.code(), 26, "{}", ran.all());
    let place = format!("--> lessons/{LESSON}/scale.cu:15:5");
    assert!(ran.out.contains(&place), "{}", ran.all());
    assert!(ran.out.contains("if (i < n) data[i]"), "{}", ran.all());
    assert!(!ran.out.contains("[output-mismatch]"), "{}", ran.all());
}

/// The keys that a schema has, by the table of the document that they belong to.
fn documented(schema: &Value, pointer: &str) -> BTreeSet<String> {
    let of = schema.pointer(pointer).unwrap();
    of["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn the_format_names_every_key_of_the_schema_and_no_other() {
    let schema: Value = serde_json::from_str(&read("research/emulate.schema.json")).unwrap();
    let text = read("research/EMULATE-FORMAT.md");
    for (head, pointer) in [
        ("| key | what |", ""),
        ("| key of `program` | what |", "/$defs/program"),
        ("| key of a finding | what |", "/$defs/finding"),
        ("| key of a place in `at` | what |", "/$defs/at"),
        ("| key of a launch | what |", "/$defs/launch"),
    ] {
        let rows = table(&text, head);
        let told: BTreeSet<String> =
            rows.iter().flat_map(|row| quoted(&row[0])).map(str::to_owned).collect();
        assert_eq!(told, documented(&schema, pointer), "{head}");
    }
}

#[test]
fn every_json_is_as_its_schema_says() {
    let schema: Value = serde_json::from_str(&read("research/emulate.schema.json")).unwrap();
    for (body, events, arguments, code, ended, findings) in [
        ("return 0;", &[STARTED, LAUNCH, ENDED][..], &[][..], 0, "exited", 0),
        ("return 0;", &[STARTED, RACE, RACE, LAUNCH, LEAK, ENDED], &[], 26, "exited", 2),
        ("std::abort();", &[STARTED], &[], 27, "signalled", 0),
        ("for (;;) {}", &[STARTED], &["--timeout", "1"], 27, "hung", 0),
        ("return no;", &[], &[], 27, "not-run", 0),
    ] {
        let course = scene(body);
        let ran = told(&course, events, &[&["--json"], arguments].concat());
        let json: Value = serde_json::from_str(&ran.out).unwrap();
        let wrong = support::schema::faults(&schema, &schema, &json, "");
        assert!(wrong.is_empty(), "{wrong:#?}\n{}", ran.out);
        assert_eq!((ran.code(), json["exit"].as_u64()), (code, Some(code.into())), "{}", ran.out);
        assert_eq!(json["program"]["ended"], ended);
        assert_eq!(json["findings"].as_array().unwrap().len(), findings);
        // A program that is ended loses what it had not passed on, as it would anywhere.
        assert_eq!(ran.err.contains("emulated | one"), ended == "exited", "{}", ran.all());
        assert_eq!(ran.err.contains("emulated | beside"), ended != "not-run", "{}", ran.all());
    }
}
