//! Finding devices: a child asks the driver, and every way in which that can end is an outcome.

use std::time::Duration;

use proofrun_core::Digest;
use proofrun_core::gate::{Device, Probe};

use super::{DeviceError, Ended, Helper, driver, run_child};

/// The hidden subcommand that a child is started with.
pub const PROBE_COMMAND: &str = "probe-child";

/// How long a driver may take to answer; waking several cards takes seconds.
pub const PROBE_DEADLINE: Duration = Duration::from_secs(30);

/// What devices there are, asked in a child: whatever the driver does to it is an outcome here.
pub fn probe(helper: &Helper, deadline: Duration) -> Probe {
    let ended = match run_child(helper, PROBE_COMMAND, b"", deadline) {
        Ok(ended) => ended,
        Err(error) => return broken(format!("the probing process did not start: {error}")),
    };
    match ended {
        Ended { hung: true, .. } => {
            broken(format!("no answer within {} s", deadline.as_secs_f64()))
        }
        Ended { how: Some(how), ref stderr, .. } => {
            broken(format!("the probing process ended by {how}{}", said(stderr)))
        }
        Ended { stdout, stderr, .. } => serde_json::from_slice(&stdout).unwrap_or_else(|_| {
            broken(format!("the probing process said no answer{}", said(&stderr)))
        }),
    }
}

fn broken(detail: String) -> Probe {
    Probe::DriverBroken { detail }
}

/// The last line of what a child said, for people.
fn said(stderr: &str) -> String {
    let line = stderr.lines().rev().find(|line| !line.trim().is_empty());
    line.map_or_else(String::new, |line| {
        format!(": {}", line.trim().chars().take(300).collect::<String>())
    })
}

/// What devices there are, asked in this process: only a child that was started for it calls this.
pub fn probe_here() -> Probe {
    match devices() {
        Ok(devices) if devices.is_empty() => Probe::DriverWithoutDevice,
        Ok(devices) => Probe::Devices { devices },
        Err(DeviceError::NoDriver) => Probe::NoDriver,
        Err(DeviceError::NoDevice) => Probe::DriverWithoutDevice,
        Err(error) => broken(error.to_string()),
    }
}

fn devices() -> Result<Vec<Device>, DeviceError> {
    driver::init()?;
    let cuda = driver::interface()?;
    let device = |index| {
        let uuid = Digest::of(driver::uuid(index)?);
        Ok(Device { index, facts: driver::facts(index)?, cuda, uuid })
    };
    (0..driver::count()?).map(device).collect()
}
