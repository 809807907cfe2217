//! The checked launches of a harness on a device: poison, launch, compare, look for stray writes.
//!
//! **Invariant: a case passes only if it ran and every comparison was made and held.** Outputs are
//! poisoned before each launch, both buffers lie between guard bands, the input is compared as
//! well, and after a call of the device has failed nothing more is executed: a CUDA context does
//! not recover, and its later answers are about the first fault.

mod child;
#[cfg(test)]
mod cpu;
#[cfg(test)]
mod tests;

pub use child::{
    CHECK_COMMAND, CheckEvent, CheckOutcome, CheckRefused, CheckRequest, answer_request,
    check_in_child,
};

use std::collections::BTreeMap;

use proofrun_core::checks::{
    self, CheckCase, CheckRecord, CheckReport, Fault, Guarded, Outcome, POISON_BYTE, REPORT_SCHEMA,
};
use proofrun_core::kernels::{Harness, KernelSpec, NoEntry, Param};
use proofrun_core::reference::Input;

use crate::device::{Arg, Backend, DeviceCode, DeviceError, Launch, Module};

/// Why a check did not begin.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The device, or loading the code onto it.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A kernel of the harness is not in the code.
    #[error(transparent)]
    NoEntry(#[from] NoEntry),
}

/// Runs every case of the harness. `started` hears of each case before its launch, so that whoever
/// watches knows where a launch hung or the process died.
///
/// # Errors
/// If the check can't begin: the device does not answer, or the code does not load or lacks a
/// kernel. Whatever happens from the first case on is in the report.
pub fn run_check(
    backend: &mut dyn Backend,
    harness: &Harness,
    code: &DeviceCode,
    seed: u64,
    started: &mut dyn FnMut(&CheckCase),
) -> Result<CheckReport, CheckError> {
    let device = backend.facts()?;
    let mut entries = BTreeMap::new();
    for kernel in harness.kernels {
        entries.insert(kernel.name, code.entry(kernel.name)?);
    }
    let module = backend.load(code)?;
    let cases = harness.cases(device.sm_count, seed);
    let mut run =
        CheckRun { backend, harness, module, entries, group: None, first: None, lost: None };
    let records = cases
        .into_iter()
        .map(|case| {
            if run.lost.is_none() {
                started(&case);
            }
            let outcome = run.case(&case);
            CheckRecord { case, outcome }
        })
        .collect();
    Ok(CheckReport {
        schema: REPORT_SCHEMA,
        harness: harness.name.to_owned(),
        seed,
        device,
        records,
    })
}

/// The values of one input, wanted output beside them.
struct Group {
    n: usize,
    input: Input,
    values: Vec<f32>,
    want: Vec<f32>,
}

/// What the first kernel wrote on the same input and grid.
struct First {
    name: &'static str,
    n: usize,
    grid: u32,
    input: Input,
    output: Vec<f32>,
}

struct CheckRun<'a> {
    backend: &'a mut dyn Backend,
    harness: &'a Harness,
    module: Module,
    entries: BTreeMap<&'static str, String>,
    group: Option<Group>,
    first: Option<First>,
    /// The call after which nothing is executed any more.
    lost: Option<String>,
}

impl CheckRun<'_> {
    fn case(&mut self, case: &CheckCase) -> Outcome {
        if let Some(lost) = &self.lost {
            return Outcome::NotExecuted { reason: format!("an earlier call failed: {lost}") };
        }
        let Some(kernel) = self.harness.kernel(&case.kernel) else {
            return Outcome::NotExecuted { reason: format!("no kernel `{}`", case.kernel) };
        };
        let same = |group: &Group| group.n == case.n && group.input == case.input;
        let group = match self.group.take().filter(same) {
            Some(group) => group,
            None => {
                let values = case.input.values(case.n);
                let want = self.harness.reference.of(&values);
                Group { n: case.n, input: case.input, values, want }
            }
        };
        let outcome = match self.execute(kernel, case, &group) {
            Ok(faults) if faults.is_empty() => Outcome::Passed,
            Ok(faults) => Outcome::Failed { faults },
            Err(error) => {
                let text = error.to_string();
                self.lost = Some(text.clone());
                Outcome::Failed { faults: vec![Fault::Device { text }] }
            }
        };
        self.group = Some(group);
        outcome
    }

    /// One launch between upload and download, and all that is wrong with it.
    fn execute(
        &mut self,
        kernel: &'static KernelSpec,
        case: &CheckCase,
        group: &Group,
    ) -> Result<Vec<Fault>, DeviceError> {
        let layout = Guarded::of_elements(case.n)
            .ok_or_else(|| DeviceError::misuse("allocate", "more elements than can be counted"))?;
        let uploaded = layout.holding(&group.values);
        let input = self.backend.allocate(layout.total_bytes())?;
        let output = self.backend.allocate(layout.total_bytes())?;
        self.backend.upload(input, 0, &uploaded)?;
        self.backend.fill(output, POISON_BYTE)?;
        for (offset, band) in layout.bands() {
            self.backend.upload(output, offset, &band)?;
        }
        let args: Vec<Arg> = kernel
            .params
            .iter()
            .map(|param| match param {
                Param::Input => Arg::Address { buffer: input, offset: layout.body_offset() },
                Param::Output => Arg::Address { buffer: output, offset: layout.body_offset() },
                Param::Count => Arg::U64(case.n as u64),
            })
            .collect();
        self.backend.launch(&Launch {
            module: self.module,
            entry: &self.entries[kernel.name],
            grid: case.grid,
            block: kernel.block,
            dynamic_shared_bytes: kernel.dynamic_shared_bytes,
            args: &args,
        })?;
        self.backend.synchronise()?;
        let read_back = self.backend.download(input)?;
        let written = self.backend.download(output)?;
        self.backend.free(input)?;
        self.backend.free(output)?;
        let mut faults = bands(layout, &read_back, &written);
        faults.extend(input_changed(layout, &uploaded, &read_back));
        faults.extend(self.judge(kernel, case, group, layout.body(&written)));
        Ok(faults)
    }

    /// The output against the reference, and against the first kernel's.
    fn judge(
        &mut self,
        kernel: &'static KernelSpec,
        case: &CheckCase,
        group: &Group,
        output: Vec<f32>,
    ) -> Vec<Fault> {
        let mut faults = Vec::new();
        if let Some((index, count)) = checks::unwritten(&output) {
            faults.push(Fault::Unwritten { index, count });
        }
        if let Err(error) = self.harness.reference.compare(&output, &group.want, case.input) {
            faults.push(Fault::of_comparison(error, None));
        }
        let is_first = self.harness.kernels.first().is_some_and(|first| first.name == kernel.name);
        if is_first {
            let (name, n, grid, input) = (kernel.name, case.n, case.grid, case.input);
            self.first = Some(First { name, n, grid, input, output });
            return faults;
        }
        let same =
            |first: &&First| (first.n, first.grid, first.input) == (case.n, case.grid, case.input);
        match self.first.as_ref().filter(same) {
            Some(first) => {
                if let Err(error) = checks::bit_exact(&output, &first.output) {
                    faults.push(Fault::of_comparison(error, Some(first.name)));
                }
            }
            None => faults.push(Fault::Device {
                text: "the first kernel's output on this input and grid is not at hand".to_owned(),
            }),
        }
        faults
    }
}

fn bands(layout: Guarded, input: &[u8], output: &[u8]) -> Vec<Fault> {
    [("input", input), ("output", output)]
        .into_iter()
        .filter_map(|(name, whole)| {
            layout.check_bands(whole).err().map(|stray| Fault::of_stray(stray, name))
        })
        .collect()
}

/// The input's body word by word: its values may hold NaN, so it is bits that are compared.
fn input_changed(layout: Guarded, uploaded: &[u8], read_back: &[u8]) -> Option<Fault> {
    let (before, after) = (layout.body(uploaded), layout.body(read_back));
    let changed = |at: &usize| before[*at].to_bits() != after[*at].to_bits();
    let mut changed = (0..before.len().min(after.len())).filter(changed);
    let index = changed.next()?;
    Some(Fault::InputChanged { index, count: 1 + changed.count() })
}
