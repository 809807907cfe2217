//! The emulated device: PTX in, execution and findings out. It has no file or process of its own.

pub mod alu;
pub mod configuration;
pub mod finding;
pub mod lanes;
pub mod machine;
pub mod profile;
pub mod ptx;
pub mod report;
