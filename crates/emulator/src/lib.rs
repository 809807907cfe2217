//! The emulated device: PTX in, execution and findings out. It has no file or process of its own.

pub mod alu;
pub mod lanes;
pub mod ptx;
