//! The last lines of an emulated run: how much was run, how it was looked at, and what such a look
//! can't see.

use proofrun_emulator::finding::Severity;
use proofrun_emulator::report::LaunchEnd;
use proofrun_runner::emulate::Told;

use crate::words::{count, wrapped};

/// What no emulated run shows, in two lines.
pub const LIMITS: [&str; 2] = [
    "limits: these inputs, in sequentially consistent orders of its PTX; weak memory,",
    "        ptxas, machine code, time are not seen; -O3 may delete a faulty access.",
];

/// Counts of a run on a device, as a sentence over some lines.
pub fn counts(told: &Told, device: &str, arch: &str) -> String {
    let mut parts = vec![match told.launches.len() {
        1 => "1 launch".to_owned(),
        launches => format!("{launches} launches"),
    }];
    let repeated = told.ended(LaunchEnd::Repeated);
    if repeated > 0 {
        parts.push(format!("{repeated} of them skipped as repeats"));
    }
    for (end, word) in [
        (LaunchEnd::Refused, "refused"),
        (LaunchEnd::Faulted, "ended by a fault"),
        (LaunchEnd::Unsupported, "not emulated"),
    ] {
        let ended = told.ended(end);
        if ended > 0 {
            parts.push(format!("{ended} {word}"));
        }
    }
    parts.push(format!("{} warp-instructions", grouped(told.steps())));
    parts.push(count(usize::try_from(told.schedules()).unwrap_or(usize::MAX), "schedule"));
    let errors = told.errors().count();
    parts.push(count(errors, "error"));
    let warnings = told.findings.iter().filter(|it| it.severity == Severity::Warning).count();
    parts.push(count(warnings, "warning"));
    wrapped(&format!("emulated {device}, {arch}: "), 4, &parts.join(", "))
}

/// A number with its digits in threes.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limits_fit_a_terminal() {
        assert!(LIMITS.iter().all(|line| line.chars().count() <= crate::words::COLUMNS));
    }

    #[test]
    fn numbers_are_read_in_threes() {
        for (number, expect) in
            [(0, "0"), (999, "999"), (1000, "1 000"), (10_548_921, "10 548 921")]
        {
            assert_eq!(grouped(number), expect);
        }
    }
}
