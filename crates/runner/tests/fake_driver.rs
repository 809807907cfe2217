//! Every way in which a driver can answer, or not, without a GPU: a small C library stands in for
//! `libcuda`, and the real child processes of the real binary run on it.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail it by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use proofrun_core::Digest;
use proofrun_core::checks::{Counts, Outcome};
use proofrun_core::gate::Probe;
use proofrun_runner::check::{CheckOutcome, CheckRefused, CheckRequest, check_in_child};
use proofrun_runner::device::{DeviceError, Helper, probe};
use tempfile::TempDir;

const SOON: Duration = Duration::from_millis(700);
const LATE: Duration = Duration::from_secs(120);

const PTX: &str = "\
.version 9.0
.target sm_80
.visible .entry _Z19pipelineSyncthreadsPKfPfm(
.visible .entry _Z20pipelineSplitBarrierPKfPfm(
";

struct Host {
    folder: TempDir,
}

impl Host {
    /// A host whose only `libcuda` is the stand-in, compiled with these flags.
    fn with_driver(flags: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_driver/libcuda.c");
        let done = Command::new("cc")
            .args(["-O2", "-Wall", "-Werror", "-shared", "-fPIC", "-o"])
            .arg(folder.path().join("libcuda.so"))
            .arg(source)
            .args(flags)
            .arg("-lm")
            .status()
            .unwrap();
        assert!(done.success());
        Self { folder }
    }

    fn helper(&self, mode: &str, at: u32) -> Helper {
        let mut helper = Helper::at(env!("CARGO_BIN_EXE_lesson-runner"));
        helper.env = vec![
            ("LD_LIBRARY_PATH".into(), self.folder.path().into()),
            ("FAKE_CUDA".into(), mode.into()),
            ("FAKE_CUDA_AT".into(), at.to_string().into()),
        ];
        helper
    }

    fn ptx(&self) -> PathBuf {
        let path = self.folder.path().join("lesson.ptx");
        std::fs::write(&path, PTX).unwrap();
        path
    }

    fn check(&self, mode: &str, at: u32, deadline: Duration) -> CheckOutcome {
        let request = CheckRequest {
            code: self.ptx(),
            harness: "barrier-pipeline".into(),
            device: 0,
            seed: 3,
        };
        check_in_child(&self.helper(mode, at), &request, deadline).unwrap()
    }
}

#[test]
fn each_answer_of_a_driver_is_an_outcome_of_its_own() {
    let host = Host::with_driver(&[]);
    for (mode, expect) in [
        ("unknown-code", "`cuInit` failed: `unknown` (9999)"),
        ("stub", "`CUDA_ERROR_STUB_LIBRARY` (34)"),
        ("crash", "the probing process ended by signal 11"),
        ("trap", "the probing process ended by signal 4"),
        ("hang", "no answer within 0.7 s"),
        ("silent", "the probing process said no answer"),
        ("garbage", "the probing process said no answer"),
        ("no-version", "it answered `0`, which is no version"),
        ("unknown-later", ""),
    ] {
        let deadline = if mode == "hang" { SOON } else { LATE };
        let found = probe(&host.helper(mode, 0), deadline);
        let Probe::DriverBroken { detail } = &found else { panic!("{mode}: {found:?}") };
        assert!(detail.contains(expect), "{mode}: {detail}");
    }
    for mode in ["no-device", "hidden"] {
        assert_eq!(probe(&host.helper(mode, 0), LATE), Probe::DriverWithoutDevice, "{mode}");
    }
}

#[test]
fn a_library_without_the_driver_s_functions_is_broken_and_none_is_no_driver() {
    // Empty files shadow the driver's library where the host has one, and do not load.
    let shadowed = Host { folder: tempfile::tempdir().unwrap() };
    for name in ["libcuda.so", "libcuda.so.1"] {
        std::fs::write(shadowed.folder.path().join(name), "").unwrap();
    }
    assert_eq!(probe(&shadowed.helper("", 0), LATE), Probe::NoDriver);
    let outcome = shadowed.check("", 0, LATE);
    let expect = CheckOutcome::Refused(CheckRefused::Device { error: DeviceError::NoDriver });
    assert_eq!(outcome, expect);
    let host = Host::with_driver(&["-DNO_INIT"]);
    let found = probe(&host.helper("", 0), LATE);
    let Probe::DriverBroken { detail } = found else { panic!("{found:?}") };
    assert_eq!(detail, "driver broken: `libcuda` has no `cuInit`");
    // A program that is not there is no statement about a driver, and no silent absence either.
    let nowhere = Helper::at("/nonexistent/lesson-runner");
    assert!(matches!(probe(&nowhere, LATE), Probe::DriverBroken { .. }));
}

#[test]
fn facts_are_those_of_the_driver_and_the_identifier_is_hashed() {
    let host = Host::with_driver(&[]);
    let found = probe(&host.helper("", 0), LATE);
    let [device] = found.devices() else { panic!("{found:?}") };
    let facts = &device.facts;
    assert_eq!(facts.name, "NVIDIA Fake");
    assert_eq!(facts.compute_capability.to_string(), "8.6");
    assert_eq!((facts.sm_count, facts.l2_bytes, facts.memory_bytes), (4, 6 << 20, 1 << 34));
    assert_eq!(device.cuda.to_string(), "12.9");
    assert_eq!(device.uuid, Digest::of("GPU-00112233-4455-6677-8899-aabbccddeeff"));
}

/// The cases of 4 multiprocessors: those below 270,337 elements come first.
const SMALL_CASES: usize = (1 + 1 + 1 + 1 + 2 + 2 + 3) * 3 * 2;

#[test]
fn launches_reach_the_driver_and_its_late_error_ends_the_check() {
    let host = Host::with_driver(&[]);
    let outcome = host.check("illegal-address", SMALL_CASES as u32 + 1, LATE);
    let CheckOutcome::Failed(report) = outcome else { panic!("{outcome:?}") };
    let passed = report.records.iter().take_while(|r| r.outcome == Outcome::Passed).count();
    assert_eq!(passed, SMALL_CASES);
    let all = report.records.len();
    let expect = Counts { executed: passed + 1, failed: 1, not_executed: all - passed - 1 };
    assert_eq!(report.counts(), expect);
    let Outcome::Failed { faults } = &report.records[passed].outcome else { panic!() };
    assert_eq!(
        faults[0].to_string(),
        "`cuStreamSynchronize` failed: `CUDA_ERROR_ILLEGAL_ADDRESS` (700): an illegal memory \
         access was encountered"
    );
}

#[test]
fn a_crash_and_a_hang_name_the_case_that_was_under_way() {
    let host = Host::with_driver(&[]);
    let outcome = host.check("crash-in-launch", 8, LATE);
    let CheckOutcome::Crashed { how, case: Some(case), after, .. } = &outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!(how, "signal 11");
    // The eighth launch: the second kernel, after three inputs of one element.
    assert_eq!((case.n, case.grid, case.kernel.as_str()), (31, 1, "pipelineSplitBarrier"));
    assert_eq!(after.devices().len(), 1);
    // Long enough for a busy machine to reach the first launch.
    let outcome = host.check("hang-in-launch", 1, Duration::from_secs(4));
    let CheckOutcome::Hung { case: Some(case), after, .. } = &outcome else {
        panic!("{outcome:?}")
    };
    assert_eq!((case.n, case.kernel.as_str()), (1, "pipelineSyncthreads"));
    assert_eq!(after.devices().len(), 1);
    let outcome = host.check("crash", 0, LATE);
    assert!(matches!(outcome, CheckOutcome::Crashed { case: None, .. }), "{outcome:?}");
}

#[test]
fn a_driver_too_old_for_the_ptx_refuses_and_says_so() {
    let host = Host::with_driver(&[]);
    let outcome = host.check("old-driver", 0, LATE);
    let CheckOutcome::Refused(why) = &outcome else { panic!("{outcome:?}") };
    let CheckRefused::Device { error: DeviceError::UnsupportedPtx { call, number, .. } } = why
    else {
        panic!("{why:?}")
    };
    assert_eq!((call.as_str(), *number), ("cuModuleLoadData", 222));
    assert!(why.to_string().starts_with("toolkit too new for this driver: "), "{why}");
    assert!(why.to_string().ends_with("; ptxas fatal : Unsupported .version 9.0"), "{why}");
    let outcome = host.check("no-device", 0, LATE);
    let expect = CheckOutcome::Refused(CheckRefused::Device { error: DeviceError::NoDevice });
    assert_eq!(outcome, expect);
}

#[test]
fn a_request_for_what_is_not_there_is_refused() {
    let host = Host::with_driver(&[]);
    let good =
        CheckRequest { code: host.ptx(), harness: "barrier-pipeline".into(), device: 0, seed: 1 };
    let refused = |request: &CheckRequest| {
        let outcome = check_in_child(&host.helper("", 0), request, LATE).unwrap();
        let CheckOutcome::Refused(why) = outcome else { panic!("{outcome:?}") };
        why.to_string()
    };
    let no_harness = CheckRequest { harness: "no".into(), ..good.clone() };
    assert_eq!(refused(&no_harness), "no harness `no`");
    let no_file = CheckRequest { code: "/nonexistent.ptx".into(), ..good.clone() };
    assert!(refused(&no_file).starts_with("failed to read the device code: "));
    let no_device = CheckRequest { device: 7, ..good };
    assert!(refused(&no_device).contains("`CUDA_ERROR_INVALID_DEVICE` (101)"));
}
