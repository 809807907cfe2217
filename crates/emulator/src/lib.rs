//! The emulated device: PTX in, execution and findings out. It has no file or process of its own.

pub mod alu;
pub mod configuration;
mod exec;
pub mod fatbin;
pub mod finding;
pub mod lanes;
pub mod lower;
pub mod machine;
pub mod memory;
pub mod profile;
pub mod program;
pub mod ptx;
pub mod race;
pub mod report;
