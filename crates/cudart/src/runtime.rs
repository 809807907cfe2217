//! The runtime's state, one for the process.

use std::collections::BTreeMap;

use proofrun_emulator::finding::{Finding, Kind, Severity};
use proofrun_emulator::machine::Machine;
use proofrun_emulator::profile::Profile;
use proofrun_emulator::report::Event;

use crate::errors::{Code, Outcome};
use crate::host;
use crate::registry::Registry;
use crate::report::{Reporter, about_call};
use crate::streams::Streams;

/// The runtime.
#[derive(Debug)]
pub struct Runtime {
    /// The emulated device.
    pub machine: Machine,
    /// The facts about it.
    pub profile: &'static Profile,
    /// The way to the harness.
    pub reporter: Reporter,
    /// What the program registered.
    pub registry: Registry,
    /// Streams and events.
    pub streams: Streams,
    /// Launches so far, refused ones too.
    pub launches: u64,
    /// The last launch: its number and kernel.
    pub launched: Option<(u64, String)>,
    /// Calls so far.
    pub calls: u64,
    /// The function that is being called.
    pub current: &'static str,
    /// Limits that were set, by `cudaLimit`.
    pub limits: BTreeMap<i32, usize>,
    /// The device's flags, by `cudaSetDeviceFlags`.
    pub flags: u32,
    /// The device's cache configuration.
    pub cache: i32,
    /// Bytes of device and managed memory that are allocated.
    pub allocated: u64,
    /// Flags of host allocations, by address.
    pub host_flags: BTreeMap<u64, u32>,
    /// A fault that no call has returned yet.
    pending: Option<Code>,
    /// A fault that every call returns.
    sticky: Option<Code>,
}

impl Runtime {
    /// Over an emulated device.
    pub fn new(machine: Machine, profile: &'static Profile, reporter: Reporter) -> Self {
        Self {
            machine,
            profile,
            reporter,
            registry: Registry::default(),
            streams: Streams::default(),
            launches: 0,
            launched: None,
            calls: 0,
            current: "",
            limits: BTreeMap::new(),
            flags: MAP_HOST,
            cache: 0,
            allocated: 0,
            host_flags: BTreeMap::new(),
            pending: None,
            sticky: None,
        }
    }

    /// A kernel faulted: the next call that looks at the device returns this, and each one after
    /// it.
    pub fn fault(&mut self, code: Code) {
        self.pending.get_or_insert(code);
    }

    /// The fault that calls return from now on, if there is one.
    pub fn settle(&mut self) -> Outcome {
        if let Some(code) = self.pending.take() {
            self.show_printed();
            self.sticky.get_or_insert(code);
        }
        self.sticky.map_or(Ok(()), Err)
    }

    /// After a reset a faulted device isn't to be had again in this process: measured on an H200.
    pub fn reset(&mut self) {
        let faulted = self.sticky.is_some() || self.pending.take().is_some();
        self.sticky = faulted.then_some(Code::DEVICES_UNAVAILABLE);
    }

    /// Tells a finding about a call.
    pub fn tell(&mut self, kind: Kind, severity: Severity, message: String) {
        let mut finding = about_call(kind, severity, message);
        finding.notes.push(match &self.launched {
            Some((index, kernel)) => {
                format!("call {} of the runtime, after launch {index}, of `{kernel}`", self.calls)
            }
            None => format!("call {} of the runtime, before the first launch", self.calls),
        });
        self.reporter.finding(finding);
    }

    /// Tells what the device found, of the launch of that number where one is meant.
    pub fn tell_all(&mut self, findings: Vec<Finding>, launch: Option<u64>) {
        for finding in findings {
            self.reporter.finding(Finding { launch, ..finding });
        }
    }

    /// Tells what the device found outside of launches.
    pub fn drain(&mut self) {
        let findings = self.machine.take_findings();
        self.tell_all(findings, None);
    }

    /// Brings what kernels printed to the program's standard output. As with the real runtime,
    /// that is at launches and synchronising calls, and not at the program's end.
    pub fn show_printed(&mut self) {
        host::print(&self.machine.take_printed());
        host::complain(&self.machine.take_asserted());
    }

    /// The program ends: leaks, printed lines that nobody will see, the last counts.
    pub fn finish(&mut self) {
        let lost = self.machine.take_printed();
        if !lost.is_empty() {
            let mut finding = about_call(Kind::Api, Severity::Warning, LOST.to_owned());
            finding.notes =
                vec![format!("`{}`", String::from_utf8_lossy(&lost).trim_end().escape_debug())];
            finding.next =
                Some("call `cudaDeviceSynchronize()` before the program ends".to_owned());
            self.reporter.finding(finding);
        }
        if self.sticky.is_none() && self.pending.is_none() {
            self.machine.finish();
        }
        self.drain();
        self.reporter.finish();
        self.reporter.event(&Event::Ended { calls: self.calls });
    }
}

/// `cudaDeviceMapHost`, which is always on.
const MAP_HOST: u32 = 8;

const LOST: &str = "what a kernel printed is never shown: the program ended without synchronising";
