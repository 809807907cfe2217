//! Proofrun's door to the system: everything that touches a file, a process, a clock or a device.
//!
//! [`system`] is the door itself; the other modules go through it.

pub mod system;
