//! `lesson-runner probe`: what devices this host has.

use std::io::{self, Write};

use proofrun_core::gate::Probe;

use crate::device::{DeviceError, Helper, PROBE_DEADLINE, probe};

/// Say what devices this host has; a driver that is broken is said, not suffered.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One JSON object instead of lines for people.
    #[arg(long)]
    json: bool,
}

/// Runs the command.
///
/// # Errors
/// If this program can't find itself or the answer can't be written.
pub fn run(args: &Args, output: &mut impl Write) -> io::Result<Probe> {
    let found = probe(&Helper::this()?, PROBE_DEADLINE);
    if args.json {
        serde_json::to_writer(&mut *output, &found)?;
        writeln!(output)?;
        return Ok(found);
    }
    match &found {
        Probe::NoDriver => writeln!(output, "{}", DeviceError::NoDriver)?,
        Probe::DriverWithoutDevice => writeln!(output, "{}", DeviceError::NoDevice)?,
        Probe::DriverBroken { detail } => {
            writeln!(output, "driver broken: {}", detail.escape_debug())?;
        }
        Probe::Devices { devices } => {
            for device in devices {
                let facts = &device.facts;
                writeln!(
                    output,
                    "{}: {} ({}), {} multiprocessors, L2 {} bytes, memory {} bytes, driver {} (CUDA {}), card \
                     {}",
                    device.index,
                    facts.name.escape_debug(),
                    facts.compute_capability,
                    facts.sm_count,
                    facts.l2_bytes,
                    facts.memory_bytes,
                    facts.driver.escape_debug(),
                    device.cuda,
                    device.uuid.short(),
                )?;
            }
        }
    }
    Ok(found)
}
