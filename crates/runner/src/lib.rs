//! Proofrun's door to the system: everything that touches a file, a process, a clock or a device.
//!
//! [`system`] is the door itself; the other modules go through it. [`toolkit`] finds a CUDA
//! toolkit, [`compile`] builds lessons with it, [`device`] talks to the card, [`check`] drives a
//! lesson's kernels from Rust, [`emulate`] runs programs where there is no card, [`record`] makes
//! evidence, [`bundle`] packs what a host needs for that, and [`course`] and [`git`] read what is
//! there.
//!
//! A process is run within bounds, and how it ended is an outcome:
//!
//! ```
//! use std::time::Duration;
//!
//! use proofrun_runner::system::process::{Cancel, Command, Error, Status};
//!
//! let sleeper = Command::new("sleep").arg("60").deadline(Duration::from_millis(100));
//! let ended = sleeper.run(&Cancel::new())?;
//! assert_eq!(ended.status, Status::Hung);
//! # Ok::<(), Error>(())
//! ```

pub mod bundle;
pub mod check;
pub mod commands;
pub mod compile;
pub mod course;
pub mod device;
pub mod emulate;
pub mod git;
pub mod keys;
pub mod record;
pub mod system;
pub mod toolkit;
