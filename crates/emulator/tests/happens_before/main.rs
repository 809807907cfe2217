//! The race detector against an oracle that keeps everything: the complete history, and for each
//! thread the set of all events that are ordered before what it does next. On random programs, step
//! by step, both must come to the same verdict.

mod detector;
mod oracle;
mod program;

use detector::Detector;
use oracle::Oracle;
use program::{Program, Step, Verdict};
use proptest::prelude::*;

/// Runs a program on both. Where the detector is approximate it may find too much, never too
/// little. Steps that would make a finding are left out, unless they are bold; the program ends
/// with the first one, because what is recorded behind one is up to the detector.
fn compare(program: &Program, exact: bool) -> Result<(), TestCaseError> {
    let mut oracle = Oracle::new(program);
    let mut detector = Detector::new(program);
    for (at, (step, bold)) in program.steps.iter().enumerate() {
        let mut after = oracle.clone();
        let expected = after.step(step);
        if expected != Verdict::Fine && !bold {
            continue;
        }
        oracle = after;
        let found = detector.step(step);
        let right = if exact { found == expected } else { found >= expected };
        prop_assert!(right, "step {}: {:?}: {:?}, not {:?}", at, step, found, expected);
        if found.max(expected) != Verdict::Fine {
            break;
        }
    }
    Ok(())
}

fn config() -> ProptestConfig {
    let plain = ProptestConfig::default();
    ProptestConfig { cases: plain.cases.max(600), failure_persistence: None, ..plain }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn verdicts_are_those_of_the_oracle(program in program::uniform(false)) {
        compare(&program, true)?;
    }

    #[test]
    fn verdicts_are_those_of_the_oracle_on_isolated_blocks(program in program::uniform(true)) {
        compare(&program, true)?;
    }

    #[test]
    fn nothing_is_missed_where_scopes_and_sizes_differ(program in program::mixed()) {
        compare(&program, false)?;
    }
}

/// The comparison would mean little if programs ended at once, or never raced.
#[test]
fn programs_are_long_and_some_race() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut ran, mut raced, mut warned, mut strong) = (0, 0, 0, 0);
    for _ in 0..300 {
        let program = program::uniform(false).new_tree(&mut runner).unwrap().current();
        let mut oracle = Oracle::new(&program);
        for (step, bold) in &program.steps {
            let mut after = oracle.clone();
            let verdict = after.step(step);
            raced += usize::from(verdict == Verdict::Error);
            if verdict == Verdict::Error && !bold {
                continue;
            }
            oracle = after;
            if verdict == Verdict::Error {
                break;
            }
            ran += 1;
            warned += usize::from(verdict == Verdict::Warning);
            strong += usize::from(matches!(step, Step::Access(a) if a.is_strong()));
        }
    }
    assert!(ran > 300 * 12, "{ran}");
    assert!(raced > 300 * 2, "{raced}");
    assert!(warned > 30, "{warned}");
    assert!(strong > 300 * 3, "{strong}");
}
