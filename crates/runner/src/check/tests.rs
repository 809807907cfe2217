//! The check proves that it can fail: each planted fault is found, by the check that is meant for
//! it, in the cases that have it and in no other.

use proofrun_core::checks::{
    CheckCase, CheckReport, Counts, Fault, Outcome, POISON_WORD, ReportVerdict,
};
use proofrun_core::kernels::{Harness, harness};
use proofrun_core::reference::Input;

use super::cpu::{CpuBackend, Plant, Seen};
use super::{CheckError, run_check};
use crate::device::DeviceCode;

const PTX: &str = "\
.version 9.0
.target sm_80
.visible .entry _Z19pipelineSyncthreadsPKfPfm(
.visible .entry _Z20pipelineSplitBarrierPKfPfm(
";

/// The harness without its two large sizes, which an unoptimised test would compute for minutes.
fn small() -> Harness {
    let whole = *harness("barrier-pipeline").unwrap();
    Harness { sizes: &whole.sizes[..7], ..whole }
}

fn code() -> DeviceCode {
    DeviceCode::of_bytes(PTX.into()).unwrap()
}

fn report_of(backend: &mut CpuBackend) -> CheckReport {
    run_check(backend, &small(), &code(), 7, &mut |_| ()).unwrap()
}

fn kind(fault: &Fault) -> &'static str {
    match fault {
        Fault::Values { against: None, .. } => "values",
        Fault::Values { against: Some(_), .. } => "against",
        Fault::Unwritten { .. } => "unwritten",
        Fault::StrayWrite { .. } => "stray",
        Fault::InputChanged { .. } => "input",
        Fault::Device { .. } => "device",
    }
}

/// Every case for which `hit` holds fails with exactly these faults, every other one passes.
fn check(name: &str, plant: Plant, hit: fn(&CheckCase) -> bool, a: &[&str], b: &[&str]) {
    let report = report_of(&mut CpuBackend::new(plant));
    let mut hits = 0;
    for record in &report.records {
        let expect = match (hit(&record.case), record.case.kernel.as_str()) {
            (false, _) => &[][..],
            (true, "pipelineSyncthreads") => a,
            (true, _) => b,
        };
        let found: Vec<&str> = match &record.outcome {
            Outcome::Passed => vec![],
            Outcome::Failed { faults } => faults.iter().map(kind).collect(),
            Outcome::NotExecuted { reason } => panic!("{name}: {reason}"),
        };
        assert_eq!(found, expect, "{name}: {}", record.case);
        hits += usize::from(!expect.is_empty());
    }
    assert!(hits > 0, "{name}: planted nowhere");
    assert_eq!(report.verdict(), ReportVerdict::Failed, "{name}");
    assert_eq!(report.counts().failed, hits, "{name}");
}

fn nothing(_: &mut Seen<'_>) {}

fn set_output(seen: &mut Seen<'_>, value: impl Fn(f32) -> f32) {
    for at in seen.start..seen.start + seen.n {
        seen.output[at] = value(seen.output[at]);
    }
}

#[test]
fn right_kernels_pass_in_every_case_and_leave_no_memory_behind() {
    let mut backend = CpuBackend::new(nothing);
    let mut started = Vec::new();
    let report =
        run_check(&mut backend, &small(), &code(), 7, &mut |case| started.push(case.clone()))
            .unwrap();
    // (1, 1, 1, 1, 2, 2, 3 grids) × 3 inputs × 2 kernels.
    assert_eq!(report.counts(), Counts { executed: 66, failed: 0, not_executed: 0 });
    assert_eq!(report.verdict(), ReportVerdict::Passed);
    let cases: Vec<_> = report.records.iter().map(|record| record.case.clone()).collect();
    assert_eq!(started, cases);
    assert_eq!(backend.live_buffers(), 0);
}

#[test]
fn planted_faults_in_both_kernels_are_found() {
    let all: fn(&CheckCase) -> bool = |_| true;
    check("zeros", |seen| set_output(seen, |_| 0.0), all, &["values"], &["values"]);
    check(
        "never writes",
        |seen| set_output(seen, |_| f32::from_bits(POISON_WORD)),
        all,
        &["unwritten", "values"],
        &["unwritten", "values"],
    );
    check(
        "one unit in the last place, in the last element",
        |seen| {
            let last = &mut seen.output[seen.start + seen.n - 1];
            *last = f32::from_bits(last.to_bits() ^ 1);
        },
        // Where a NaN is wanted, another one is as good.
        |case| !case.input.values(case.n)[case.n - 1].is_nan(),
        &["values"],
        &["values"],
    )
}

#[test]
fn the_tail_dropped_is_found_where_there_is_one() {
    check(
        "no tail",
        |seen| {
            let whole = seen.n / 1024 * 1024;
            seen.output[seen.start + whole..seen.start + seen.n].fill(f32::from_bits(POISON_WORD));
        },
        |case| !case.n.is_multiple_of(1024),
        &["unwritten", "values"],
        &["unwritten", "values"],
    );
}

#[test]
fn writes_past_either_end_of_either_buffer_are_found() {
    let all: fn(&CheckCase) -> bool = |_| true;
    check(
        "the rest of the tile",
        |seen| {
            let end = seen.n.div_ceil(1024) * 1024;
            seen.output[seen.start + seen.n..seen.start + end].fill(0.0);
        },
        |case| !case.n.is_multiple_of(1024),
        &["stray"],
        &["stray"],
    );
    check("in front", |seen| seen.output[seen.start - 1] = 1.0, all, &["stray"], &["stray"]);
    check("far behind", |seen| *seen.output.last_mut().unwrap() = 1.0, all, &["stray"], &["stray"]);
    check(
        "input, behind",
        |seen| seen.input[seen.start + seen.n] = 1.0,
        all,
        &["stray"],
        &["stray"],
    );
    check(
        "input itself",
        |seen| {
            let first = &mut seen.input[seen.start];
            *first = f32::from_bits(first.to_bits() ^ 1);
        },
        all,
        &["input"],
        &["input"],
    );
}

#[test]
fn a_fault_of_one_grid_or_one_kernel_is_found_there_alone() {
    check(
        "grid 2",
        |seen| {
            if seen.grid == 2 {
                set_output(seen, |_| 1.0);
            }
        },
        |case| case.grid == 2,
        &["values"],
        &["values"],
    );
    check(
        "the split kernel",
        |seen| {
            if seen.split {
                set_output(seen, |_| 3.0);
            }
        },
        |case| case.kernel == "pipelineSplitBarrier",
        &[],
        &["values", "against"],
    );
    check(
        "the first kernel, so that the second differs from it",
        |seen| {
            if !seen.split {
                set_output(seen, |_| 3.0);
            }
        },
        |_| true,
        &["values"],
        &["against"],
    );
}

#[test]
fn nan_is_found_in_every_finite_case() {
    check(
        "nan",
        |seen| seen.output[seen.start] = f32::from_bits(0x7FFF_FFFF),
        |case| !case.input.values(1)[0].is_nan(),
        &["values"],
        &["values"],
    );
}

#[test]
fn the_last_right_answer_left_in_memory_does_not_pass() {
    // Only the first launch of each kernel writes: poison shows it.
    check(
        "once",
        |seen| {
            if seen.launches > 2 {
                set_output(seen, |_| f32::from_bits(POISON_WORD));
            }
        },
        |case| case.n > 1 || case.input != Input::Lesson,
        &["unwritten", "values"],
        &["unwritten", "values"],
    );
}

#[test]
fn after_a_failed_call_nothing_is_executed_and_nothing_passes() {
    for fails_at in [1, 5] {
        let mut backend = CpuBackend::new(nothing);
        backend.fails_at = fails_at;
        let report = report_of(&mut backend);
        let expect = Counts { executed: fails_at, failed: 1, not_executed: 66 - fails_at };
        assert_eq!(report.counts(), expect);
        assert_eq!(report.verdict(), ReportVerdict::Failed);
        let Outcome::Failed { faults } = &report.records[fails_at - 1].outcome else { panic!() };
        assert_eq!(
            faults[0].to_string(),
            "`cuStreamSynchronize` failed: `CUDA_ERROR_ILLEGAL_ADDRESS` (700): planted"
        );
    }
}

#[test]
fn a_kernel_that_is_not_in_the_code_refuses_the_check() {
    let code = DeviceCode::of_bytes(b".version 9.0\n.entry other() {}\n".to_vec()).unwrap();
    let result = run_check(&mut CpuBackend::new(nothing), &small(), &code, 7, &mut |_| ());
    assert!(matches!(result, Err(CheckError::NoEntry(_))));
}
