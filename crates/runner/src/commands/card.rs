//! `lesson-runner card`: the state of the cards, now.

use std::io::{self, Write};

use crate::device::{Helper, PROBE_DEADLINE, card_state, probe};

/// Say clocks, temperature, throttling and company of each device, as JSON, a line a device.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Runs the command; the number of devices.
///
/// # Errors
/// If this program can't find itself or the answer can't be written.
pub fn run(_args: &Args, output: &mut impl Write) -> io::Result<usize> {
    let found = probe(&Helper::this()?, PROBE_DEADLINE);
    for device in found.devices() {
        let state = card_state(&device.uuid, &[std::process::id()]);
        let line = serde_json::json!({ "device": device.index, "card": state });
        writeln!(output, "{line}")?;
    }
    Ok(found.devices().len())
}
