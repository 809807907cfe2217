//! The programs of `tests/hardware`, unmodified, over the emulated device: they print what they
//! printed on an H200, byte for byte.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use proofrun_emulator::finding::{Kind, Severity};
use support::{Program, Ran};

/// The lines that differ.
fn difference(ours: &str, theirs: &str) -> String {
    let (ours, theirs): (Vec<_>, Vec<_>) = (ours.lines().collect(), theirs.lines().collect());
    let longest = ours.len().max(theirs.len());
    let at =
        |lines: &[&str], index: usize| lines.get(index).copied().unwrap_or("(none)").to_owned();
    (0..longest)
        .map(|index| (at(&ours, index), at(&theirs, index)))
        .filter(|(ours, theirs)| ours != theirs)
        .map(|(ours, theirs)| format!("an H200: {theirs}\n   ours: {ours}\n"))
        .collect()
}

fn same(ran: &Ran, theirs: &str) {
    assert_eq!(ran.err(), "");
    assert_eq!(difference(&ran.out(), theirs), "");
    assert!(ran.ended());
}

#[test]
fn the_device_is_described_as_an_h200_describes_itself() {
    let Some(toolkit) = support::toolkit() else { return };
    let program = Program::cuda(&toolkit, include_str!("hardware/facts.cu"), "compute_75");
    let ran = program.run("h200", &[]);
    same(&ran, include_str!("hardware/facts.h200.txt"));
    let other = program.run("t4", &[]);
    assert!(other.out().contains("property name Tesla T4\n"));
    assert!(other.out().contains("attribute 75: error 0, value 7\n"));
}

#[test]
fn calls_return_what_they_return_on_an_h200() {
    let Some(toolkit) = support::toolkit() else { return };
    let program = Program::cuda(&toolkit, include_str!("hardware/calls.cu"), "compute_90");
    let ran = program.run("h200", &[]);
    same(&ran, include_str!("hardware/calls.h200.txt"));
    // The wrong ones are told.
    let findings = ran.findings();
    for (kind, severity, message) in [
        (Kind::Api, Severity::Error, "1025 threads in x, and a block takes 1024"),
        (Kind::Api, Severity::Error, "the kernel takes 128"),
        (
            Kind::Api,
            Severity::Error,
            "50000 bytes of dynamic shared memory, and the kernel takes 49152",
        ),
        (Kind::Api, Severity::Error, "the source of `cudaMemcpy` must be device memory"),
        (Kind::Api, Severity::Warning, "the source of `cudaMemcpy` is host memory by its kind"),
        (Kind::Bounds, Severity::Error, "`cudaFree` was given host memory"),
        (Kind::Bounds, Severity::Error, "reaches beyond the variable's 16 bytes"),
        (Kind::Api, Severity::Warning, "`cudaSetDevice` returned cudaErrorInvalidDevice"),
    ] {
        let told = findings.iter().any(|finding| {
            (finding.kind, finding.severity) == (kind, severity)
                && finding.message.contains(message)
        });
        assert!(told, "{message}\n{findings:#?}");
    }
    assert!(ran.launches().iter().all(|launch| !launch.kernel.is_empty()));
}

#[test]
fn after_a_fault_calls_return_what_they_return_on_an_h200() {
    let Some(toolkit) = support::toolkit() else { return };
    let program = Program::cuda(&toolkit, include_str!("hardware/faults.cu"), "compute_90");
    for case in include_str!("hardware/faults.h200.txt").split("== ").skip(1) {
        let (name, expected) = case.split_once('\n').unwrap();
        // No PTX fits: there an architecture that was newer than the card, here an older card.
        let device = if name == "noimage" { "t4" } else { "h200" };
        let ran = program.run(device, &[name]);
        let exit = ran.output.status.code().unwrap_or(134);
        let ours = format!("{}exit {exit}\n", ran.out());
        assert_eq!(difference(&ours, expected), "", "{name}");
        assert_eq!(ran.ended(), name != "aborted", "{name}");
    }
}

#[test]
fn printed_lines_that_nobody_sees_are_told() {
    let Some(toolkit) = support::toolkit() else { return };
    let program = Program::cuda(&toolkit, include_str!("hardware/faults.cu"), "compute_90");
    let ran = program.run("h200", &["unseen"]);
    let findings = ran.findings();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert!(findings[0].message.contains("never shown"), "{findings:#?}");
    assert_eq!(findings[0].notes, ["`from the device: 1`"]);
}
