//! Telling the harness: an event a line into its descriptor, at once, so that a crash loses none.

use proofrun_emulator::finding::{At, Finding, Kind, Severity};
use proofrun_emulator::report::Event;

use crate::host;

/// Writes events, and folds findings that are equal but for their count.
#[derive(Debug)]
pub struct Reporter {
    descriptor: i32,
    told: Vec<Told>,
    findings: u64,
}

/// A finding that was told, and what of it is still to be said.
#[derive(Debug)]
struct Told {
    finding: Finding,
    said: u64,
}

impl Reporter {
    /// Over an inherited descriptor.
    pub fn new(descriptor: i32) -> Self {
        Self { descriptor, told: Vec::new(), findings: 0 }
    }

    /// Findings so far, equal ones each.
    pub fn findings(&self) -> u64 {
        self.findings
    }

    /// Writes an event.
    pub fn event(&self, event: &Event) {
        // An event holds strings and numbers only: it can't fail to become JSON.
        let Ok(mut line) = serde_json::to_vec(event) else { return };
        line.push(b'\n');
        host::write_to(self.descriptor, &line);
    }

    /// Tells a finding, or a new count of one: at 1, 2, 4, 8 and so on, and the rest by
    /// [`Self::finish`].
    pub fn finding(&mut self, finding: Finding) {
        self.findings += 1;
        let equal = self.told.iter().position(|told| same(&told.finding, &finding));
        let index = equal.unwrap_or_else(|| {
            self.told.push(Told { finding: Finding { count: 0, ..finding.clone() }, said: 0 });
            self.told.len() - 1
        });
        let told = &mut self.told[index];
        told.finding.count += finding.count;
        if told.finding.count >= told.said.saturating_mul(2) {
            told.said = told.finding.count;
            let event = Event::Finding(Box::new(told.finding.clone()));
            self.event(&event);
        }
    }

    /// Tells the counts that weren't yet.
    pub fn finish(&mut self) {
        for told in std::mem::take(&mut self.told) {
            if told.said != told.finding.count {
                self.event(&Event::Finding(Box::new(told.finding)));
            }
        }
    }
}

/// Equal but for count, launch, schedule, and the blocks and threads involved.
fn same(one: &Finding, other: &Finding) -> bool {
    let place = |at: &At| (at.file.clone(), at.line, at.what.clone());
    one.kind == other.kind
        && one.severity == other.severity
        && one.kernel == other.kernel
        && one.message == other.message
        && one.at.iter().map(place).eq(other.at.iter().map(place))
}

/// A finding about a call of the runtime.
pub fn about_call(kind: Kind, severity: Severity, message: String) -> Finding {
    Finding {
        kind,
        severity,
        kernel: None,
        message,
        at: Vec::new(),
        object: None,
        notes: Vec::new(),
        next: None,
        launch: None,
        schedule: None,
        count: 1,
    }
}

#[cfg(test)]
#[allow(unsafe_code, reason = "a pipe is made")]
mod tests {
    use super::*;
    use std::io::Read;
    use std::os::fd::FromRawFd;

    /// What a reporter wrote, as findings' counts.
    fn counts(tell: impl FnOnce(&mut Reporter)) -> Vec<u64> {
        let mut ends = [0; 2];
        // SAFETY: two descriptors are written; both are owned below.
        assert_eq!(unsafe { libc::pipe(ends.as_mut_ptr()) }, 0);
        let mut reporter = Reporter::new(ends[1]);
        tell(&mut reporter);
        // SAFETY: nothing else owns them.
        let mut reader = unsafe { std::fs::File::from_raw_fd(ends[0]) };
        drop(unsafe { std::fs::File::from_raw_fd(ends[1]) });
        let mut text = String::new();
        reader.read_to_string(&mut text).unwrap();
        text.lines()
            .map(|line| match serde_json::from_str(line).unwrap() {
                Event::Finding(finding) => finding.count,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn equal_findings_are_folded_and_the_last_count_is_told() {
        let finding = || about_call(Kind::Api, Severity::Warning, "x".to_owned());
        let told = counts(|reporter| {
            for _ in 0..11 {
                reporter.finding(finding());
            }
            reporter.finish();
        });
        assert_eq!(told, [1, 2, 4, 8, 11]);
    }

    #[test]
    fn other_findings_are_told_apart() {
        let told = counts(|reporter| {
            reporter.finding(about_call(Kind::Api, Severity::Warning, "x".to_owned()));
            reporter.finding(about_call(Kind::Api, Severity::Error, "x".to_owned()));
            reporter.finding(about_call(Kind::Leak, Severity::Error, "x".to_owned()));
            reporter.finish();
        });
        assert_eq!(told, [1, 1, 1]);
    }
}
