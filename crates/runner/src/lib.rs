//! Proofrun's door to the system: everything that touches a file, a process, a clock or a device.

pub mod check;
pub mod commands;
pub mod device;
