//! Proofrun's door to the system: everything that touches a file, a process, a clock or a device.
//!
//! [`system`] is the door itself; the other modules go through it. [`toolkit`] finds a CUDA
//! toolkit, [`compile`] builds lessons with it, [`device`] talks to the card, [`check`] drives a
//! lesson's kernels from Rust, [`record`] makes evidence, [`bundle`] packs what a host needs for
//! that, and [`course`] and [`git`] read what is there.

pub mod bundle;
pub mod check;
pub mod commands;
pub mod compile;
pub mod course;
pub mod device;
pub mod git;
pub mod keys;
pub mod record;
pub mod system;
pub mod toolkit;
