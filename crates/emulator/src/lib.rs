//! The emulated device: PTX in, execution and findings out. It has no file or process of its own.

pub mod alu;
pub mod fatbin;
pub mod finding;
pub mod lanes;
pub mod machine;
pub mod ptx;
pub mod report;
