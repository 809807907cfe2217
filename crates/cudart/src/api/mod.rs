//! The functions of the runtime by their C names, each one into the runtime and out again.
//!
//! A per-thread-stream name (`cudaMemcpy_ptds`) is made by the build script for each function
//! here that has one.

#![allow(unsafe_code, reason = "symbols of C are exported")]
#![allow(non_snake_case, reason = "the names are the runtime's")]

mod copy;
mod device;
mod error;
mod event;
mod function;
mod launch;
mod memory;
mod registration;
mod stream;

pub use copy::*;
pub use device::*;
pub use error::*;
pub use event::*;
pub use function::*;
pub use launch::*;
pub use memory::*;
pub use registration::*;
pub use stream::*;
