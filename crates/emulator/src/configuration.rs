//! What the harness tells the runtime library in a program it starts: one JSON object in an
//! environment variable of the child.

use serde::{Deserialize, Serialize};

use crate::machine::Options;

/// The variable's name.
pub const VARIABLE: &str = "PROOFRUN_EMULATE";

/// What it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// The id of the device's profile.
    pub device: String,
    /// Schedules beside the canonical one.
    #[serde(default)]
    pub schedules: u32,
    /// The seed they are drawn from.
    #[serde(default)]
    pub seed: u64,
    /// Only this schedule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<String>,
    /// Whether launches that provably repeat an earlier one run all the same.
    #[serde(default)]
    pub keep_repeats: bool,
    /// Worker threads; 0 for as many as there are cores.
    #[serde(default)]
    pub threads: usize,
    /// The block whose warps' steps are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Timeline>,
    /// The inherited descriptor that takes the events.
    pub report: i32,
}

/// A block to tell the steps of.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Timeline {
    /// The kernel; by default the first that is launched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel: Option<String>,
    /// The block in linear order.
    #[serde(default)]
    pub block: u64,
}

impl Configuration {
    /// The part that the machine wants.
    pub fn options(&self) -> Options {
        Options {
            schedules: self.schedules,
            seed: self.seed,
            replay: self.replay.clone(),
            keep_repeats: self.keep_repeats,
            threads: self.threads,
        }
    }
}
