//! `verify` on hosts with and without devices: what runs, what is gated and why, what fails.
//!
//! The lessons' programs are built by the real compiler and touch no device: what they print is
//! what a program on such a card would. The devices are the test's own description.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use proofrun_core::gate::{CudaVersion, Device, Probe};
use support::recorded::device;
use support::{NOW, Ran, Scratch, run_with};

const T4: &str = "Tesla T4";

/// A lesson whose program prints this and exits so.
fn lesson(course: &Scratch, name: &str, arch: &str, body: &str, manifest: &str) {
    let source = format!(
        "// A lesson.\n//\n// Build: nvcc -arch={arch} -o a a.cu\n// Run:   ./a\n//\n\
         // Status: UNVERIFIED\n//   no reviewed record of this code exists, so the page shows no \
         output\n//   `cargo xtask status` says what is missing\n\n#include <cstdio>\n#include \
         <cstdlib>\n#include <unistd.h>\n\n__global__ void kernel() {{}}\n\nint main() {{\n{body}\n}}\n"
    );
    let page = format!("# A lesson\n\n```sh\nnvcc -arch={arch} -o a a.cu\n./a\n```\n");
    course.write(format!("lessons/{name}/a.cu"), source);
    course.write(format!("lessons/{name}/README.md"), page);
    course.write(format!("lessons/{name}/lesson.toml"), format!("schema = 1\n{manifest}"));
}

/// The repository's managed toolkit serves scratch courses too, so that nothing is fetched twice.
fn with_toolkit(course: &Scratch) {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/proofrun");
    std::fs::create_dir_all(root.join("toolkit")).unwrap();
    let target = course.path().join("target/proofrun");
    std::fs::create_dir_all(&target).unwrap();
    let shared: Utf8PathBuf = root.canonicalize_utf8().unwrap();
    std::os::unix::fs::symlink(shared.join("toolkit"), target.join("toolkit")).unwrap();
}

fn card(name: &str, capability: &str, cuda: &str) -> Probe {
    let device = Device {
        index: 0,
        facts: device(name, capability, 40),
        cuda: cuda.parse::<CudaVersion>().unwrap(),
        uuid: Digest::of(name),
    };
    Probe::Devices { devices: vec![device] }
}

fn verify(course: &Scratch, probe: Probe, arguments: &[&str]) -> Ran {
    let all: Vec<&str> = ["verify"].into_iter().chain(arguments.iter().copied()).collect();
    run_with(course.path(), NOW, &all, |mut context| {
        context.probe = Box::new(move || probe.clone());
        // nvcc needs a host compiler, which it finds as everybody does.
        context.environment = Box::new(|name| std::env::var_os(name).filter(|_| name == "PATH"));
        context
    })
}

const PRINTS_T4: &str = r#"    std::printf("GPU: Tesla T4 (compute capability 7.5)\n");"#;
const DEVICE_LINE: &str = "output = \"\"\"\nGPU: {device} (compute capability {cc})\n\"\"\"\n";

#[test]
fn a_t4_runs_what_it_can_and_gates_the_rest() {
    let course = Scratch::empty();
    with_toolkit(&course);
    lesson(&course, "day-54-a", "sm_75", PRINTS_T4, DEVICE_LINE);
    lesson(&course, "day-75-b", "sm_80", PRINTS_T4, DEVICE_LINE);
    let ran = verify(&course, card(T4, "7.5", "13.0"), &["--require-device"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    for line in [
        "compile sm_75   ok",
        "run sm_75       ok",
        "compile sm_80   ok",
        "run sm_80       gated: needs 8.0, this is 7.5",
        "1 program executed, 1 gated",
    ] {
        assert!(ran.out.contains(line), "{line}\n{}", ran.all());
    }
}

#[test]
fn no_device_is_no_pass_where_one_is_required() {
    let course = Scratch::empty();
    with_toolkit(&course);
    lesson(&course, "day-54-a", "sm_75", PRINTS_T4, DEVICE_LINE);
    let broken = Probe::DriverBroken { detail: "cuInit answered 999".to_owned() };
    for (probe, reason) in [
        (Probe::NoDriver, "gated: no device: this host has no NVIDIA driver"),
        (Probe::DriverWithoutDevice, "gated: no device: the driver shows none"),
        (broken, "gated: driver broken: cuInit answered 999"),
    ] {
        let ran = verify(&course, probe.clone(), &[]);
        assert_eq!(ran.code(), 0, "{}", ran.all());
        assert!(ran.out.contains(reason), "{reason}\n{}", ran.all());
        assert!(ran.out.contains("0 programs executed, 1 gated"), "{}", ran.all());
        let ran = verify(&course, probe, &["--require-device"]);
        assert_eq!(ran.code(), 25, "{}", ran.all());
    }
}

#[test]
fn a_driver_too_old_for_the_ptx_is_not_a_lesson_that_failed() {
    let course = Scratch::empty();
    with_toolkit(&course);
    lesson(&course, "day-54-a", "sm_75", PRINTS_T4, DEVICE_LINE);
    let ran = verify(&course, card("NVIDIA A100", "8.0", "12.4"), &[]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.out.contains("gated: toolkit too new for this driver"), "{}", ran.all());
}

#[test]
fn what_a_program_does_decides_and_not_what_it_prints_in_passing() {
    let cases: &[(&str, &str, u8, &str)] = &[
        ("    std::printf(\"GPU: other\\n\");", "", 23, "output-mismatch"),
        ("    std::printf(\"GPU: Tesla T4 (compute capability 7.5)\\nmore\\n\");", "", 23, ""),
        ("", "", 23, "output-mismatch"),
        (
            "    std::printf(\"GPU: Tesla T4 (compute capability 7.5)\\n\"); return 3;",
            "",
            27,
            "exits with status 3",
        ),
        ("    std::abort();", "", 27, "signal 6 ends the program"),
        ("    for (;;) pause();", "[run]\ndeadline_s = 1\n", 27, "the program hung: killed"),
        ("    for (;;) std::puts(\"x\");", "", 27, "prints more than 1 MiB"),
        (
            "    if (fork() == 0) { setsid(); for (;;) pause(); }\n    std::printf(\"GPU: Tesla T4 \
             (compute capability 7.5)\\n\");",
            "",
            0,
            "run sm_75       ok",
        ),
    ];
    let course = Scratch::empty();
    with_toolkit(&course);
    for (body, more, code, says) in cases {
        lesson(&course, "day-54-a", "sm_75", body, &format!("{DEVICE_LINE}{more}"));
        let ran = verify(&course, card(T4, "7.5", "13.0"), &[]);
        assert_eq!(ran.code(), *code, "{body}\n{}", ran.all());
        assert!(ran.out.contains(says), "{body}\n{}", ran.all());
    }
}

#[test]
fn a_refusal_below_the_gate_is_held_to_what_was_declared() {
    let course = Scratch::empty();
    with_toolkit(&course);
    let below = "[needs.below]\nexit = 1\nstdout = \"\"\"\nGPU: {device} (compute capability \
                 {cc})\n\"\"\"\nstderr = \"\"\"\ntoo old: {cc}\n\"\"\"\n";
    let body = "    std::printf(\"GPU: Tesla T4 (compute capability 7.5)\\n\");\n    \
                std::fprintf(stderr, \"too old: 7.5\\n\"); return 1;";
    lesson(&course, "day-75-b", "sm_80", body, &format!("{DEVICE_LINE}{below}"));
    let ran = verify(&course, card(T4, "7.5", "13.0"), &[]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.out.contains("needs 8.0, this is 7.5; refuses as declared"), "{}", ran.all());
    let wrong = body.replace("return 1", "return 0");
    lesson(&course, "day-75-b", "sm_80", &wrong, &format!("{DEVICE_LINE}{below}"));
    let ran = verify(&course, card(T4, "7.5", "13.0"), &[]);
    assert_eq!(ran.code(), 27, "{}", ran.all());
}
