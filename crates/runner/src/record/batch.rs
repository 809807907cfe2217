//! The runs of a record: every program, N fresh processes each, between two readings of the card.
//!
//! **Invariant: a batch is done in one go.** Its outcome is one step, so a recording that was
//! stopped amid the runs makes all of them anew: otherwise the readings before and after would not
//! be those around the runs, and runs of different days could stand side by side. For the same
//! reason the budget is looked at before a batch, not in it.
//!
//! A program that hangs once is not started again: each further run would cost its whole deadline
//! and perhaps the device. The record then has too few runs, says that one hung, and can't be
//! published.

use jiff::{Timestamp, Unit};
use proofrun_core::card::CardState;
use proofrun_core::lesson::Program;
use proofrun_core::record::model::{Ended, RunRecord};
use serde::{Deserialize, Serialize};

use super::plan::Built;
use super::runs::{self, Fresh};
use super::work::RUNS;
use super::{Counter, On, RecordError, Recorder};

/// What came of the runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Batch {
    /// When the last run ended, in whole seconds.
    pub(super) ended_at: Timestamp,
    /// What the probe said, where the device no longer answered after a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) lost: Option<String>,
    /// The card before the first run.
    pub(super) before: CardState,
    /// The card after the last run.
    pub(super) after: CardState,
    program: Vec<ProgramRuns>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct ProgramRuns {
    name: String,
    run: Vec<RunRecord>,
}

impl Batch {
    /// The runs of a program; none where the device was lost before its turn.
    pub(super) fn runs(&self, program: &str) -> &[RunRecord] {
        let own = self.program.iter().find(|own| own.name == program);
        own.map_or(&[], |own| own.run.as_slice())
    }
}

impl Recorder<'_> {
    /// The batch: from an earlier call, or made now.
    pub(super) fn batch(
        &self,
        on: &On<'_>,
        builds: &[Built],
        counter: &mut Counter,
    ) -> Result<Batch, RecordError> {
        if on.work.is_done(RUNS) {
            counter.count(on.lesson.programs.len() * self.runs as usize);
            self.stopped()?;
        } else {
            self.go_on()?;
        }
        on.work.step(RUNS, || {
            let before = self.host.card_state(on.device);
            let mut lost = None;
            let mut program = Vec::new();
            for (of, built) in on.lesson.programs.iter().zip(builds) {
                if lost.is_some() {
                    break;
                }
                let run = self.runs_of(on, of, built, counter, &mut lost)?;
                program.push(ProgramRuns { name: of.name.clone(), run });
            }
            let now = self.clock.now();
            let ended_at = now.round(Unit::Second).unwrap_or(now);
            let after = self.host.card_state(on.device);
            Ok(Batch { ended_at, lost, before, after, program })
        })
    }

    fn runs_of(
        &self,
        on: &On<'_>,
        program: &Program,
        built: &Built,
        counter: &mut Counter,
        lost: &mut Option<String>,
    ) -> Result<Vec<RunRecord>, RecordError> {
        let mut recorded = Vec::new();
        for index in 0..self.runs {
            self.stopped()?;
            (self.progress)(&counter.next(&format!("run {index}"), &program.name));
            let folder = built.folder(on.work);
            let run = runs::run(&Fresh { on, program, folder: &folder, index }, self.cancel)?;
            let hung = run.record.ended == Ended::Hung;
            recorded.push(run.record);
            if hung || run.stuck {
                *lost = self.lost_device(run.stuck);
                break;
            }
        }
        Ok(recorded)
    }

    /// A hung program was killed; whether the device survived that is asked before anything else
    /// runs on it.
    fn lost_device(&self, stuck: bool) -> Option<String> {
        if stuck {
            return Some("a process of the program waits in the driver and can't be killed".into());
        }
        let probe = self.host.probe();
        let answers = probe.devices().iter().any(|device| device.index == self.device);
        (!answers).then(|| format!("{probe:?}"))
    }
}
