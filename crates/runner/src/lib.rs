//! Proofrun's door to the system: everything that touches a file, a process, a clock or a device.
//!
//! [`system`] is the door itself; the other modules go through it. [`toolkit`] finds a CUDA
//! toolkit, and [`compile`] builds lessons with it.

pub mod compile;
pub mod system;
pub mod toolkit;
