//! What a recording asks of its host besides processes: devices, the card's state, the Rust checks,
//! a sanitizer.
//!
//! A trait, so that a test can record programs of its own on a host that it describes.

use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::card::CardState;
use proofrun_core::checks::{CheckReport, Outcome};
use proofrun_core::gate::{Device, Probe};
use proofrun_core::record::model::{CheckOutcome as Recorded, CheckSummary};

use crate::check::{CheckOutcome, CheckRequest, check_in_child};
use crate::device::{Helper, PROBE_DEADLINE, card_state, probe};

use super::RecordError;

/// How long all Rust checks of a lesson may take together.
const CHECK_DEADLINE: Duration = Duration::from_secs(300);

/// How long a sanitizer's tool may take over a program unless a host says otherwise: it slows
/// programs down a lot.
const SANITIZER_DEADLINE: Duration = Duration::from_secs(300);

/// The seed of a record's drawn inputs: fixed, so that two records checked the same.
const CHECK_SEED: u64 = 75;

/// The file that holds every case of the checks.
const REPORT_FILE: &str = "check.json";

/// What a recording asks of its host.
pub trait Host {
    /// The devices, asked anew.
    fn probe(&self) -> Probe;

    /// The card's state, now.
    fn card_state(&self, device: &Device) -> CardState;

    /// compute-sanitizer, where it is there.
    fn sanitizer(&self) -> Option<Utf8PathBuf>;

    /// How long one of its tools may take over a program.
    fn sanitizer_deadline(&self) -> Duration {
        SANITIZER_DEADLINE
    }

    /// Runs a harness over this code in a process of its own: the summary, and every case as JSON.
    ///
    /// # Errors
    /// When the process can't be started. What the checks find is no error.
    fn check(
        &self,
        harness: &str,
        code: &Utf8Path,
        device: u32,
    ) -> Result<(CheckSummary, Option<Vec<u8>>), RecordError>;
}

/// The host that this process runs on.
#[derive(Debug)]
pub struct RealHost {
    helper: Helper,
    sanitizer: Option<Utf8PathBuf>,
}

impl RealHost {
    /// This host; `helper` starts the children that touch the driver.
    pub fn new(helper: Helper, sanitizer: Option<Utf8PathBuf>) -> Self {
        Self { helper, sanitizer }
    }
}

impl Host for RealHost {
    fn probe(&self) -> Probe {
        probe(&self.helper, PROBE_DEADLINE)
    }

    fn card_state(&self, device: &Device) -> CardState {
        card_state(&device.uuid, &[std::process::id()])
    }

    fn sanitizer(&self) -> Option<Utf8PathBuf> {
        self.sanitizer.clone()
    }

    fn check(
        &self,
        harness: &str,
        code: &Utf8Path,
        device: u32,
    ) -> Result<(CheckSummary, Option<Vec<u8>>), RecordError> {
        let request = CheckRequest {
            code: code.as_std_path().to_owned(),
            harness: harness.to_owned(),
            device,
            seed: CHECK_SEED,
        };
        let outcome = check_in_child(&self.helper, &request, CHECK_DEADLINE)
            .map_err(|source| RecordError::System { what: "failed to start the checks", source })?;
        Ok(summary(harness, &outcome))
    }
}

/// The outcome as a record keeps it.
fn summary(harness: &str, outcome: &CheckOutcome) -> (CheckSummary, Option<Vec<u8>>) {
    let blank = |outcome, detail: Option<String>| CheckSummary {
        harness: harness.to_owned(),
        outcome,
        executed: 0,
        failed: 0,
        not_executed: 0,
        detail,
        report: None,
    };
    let at = |case: &Option<proofrun_core::checks::CheckCase>| {
        case.as_ref().map_or("before the first case".to_owned(), ToString::to_string)
    };
    match outcome {
        CheckOutcome::Passed(report) => with_report(blank(Recorded::Passed, None), report),
        CheckOutcome::Failed(report) => {
            with_report(blank(Recorded::Failed, first_fault(report)), report)
        }
        CheckOutcome::NotExecuted(report) => {
            with_report(blank(Recorded::NotExecuted, None), report)
        }
        CheckOutcome::Refused(why) => (blank(Recorded::NotExecuted, Some(why.to_string())), None),
        CheckOutcome::Crashed { how, case, .. } => {
            (blank(Recorded::Crashed, Some(format!("{how}: {}", at(case)))), None)
        }
        CheckOutcome::Hung { deadline, case, .. } => {
            let detail = format!("killed after {} s: {}", deadline.as_secs(), at(case));
            (blank(Recorded::Hung, Some(detail)), None)
        }
    }
}

fn with_report(mut summary: CheckSummary, report: &CheckReport) -> (CheckSummary, Option<Vec<u8>>) {
    let counts = report.counts();
    let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    summary.executed = count(counts.executed);
    summary.failed = count(counts.failed);
    summary.not_executed = count(counts.not_executed);
    let json = serde_json::to_vec_pretty(report).ok();
    summary.report = json.is_some().then(|| REPORT_FILE.to_owned());
    (summary, json)
}

fn first_fault(report: &CheckReport) -> Option<String> {
    report.records.iter().find_map(|record| match &record.outcome {
        Outcome::Failed { faults } => Some(format!("{}: {}", record.case, faults.first()?)),
        _ => None,
    })
}
