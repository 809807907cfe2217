//! The CUDA runtime's ABI, `libcudart.so.13`, over the emulated device: a program built by nvcc
//! runs over it as it is. `exports.txt` lists the functions; those that `api` doesn't define are
//! stubs that report their name and fail.
//!
//! All streams run in program order, each call to its end before it returns. What a program could
//! see of that (a wait it forgot) is for the emulated device's checks, not for this crate's
//! order.

#![allow(
    clippy::missing_safety_doc,
    reason = "the functions' contracts are the CUDA runtime's, which its documentation states"
)]

pub mod abi;
pub mod api;
pub mod call;
pub mod configuration;
pub mod copies;
pub mod errors;
pub mod exit;
pub mod fatbinary;
pub mod functions;
pub mod host;
pub mod launches;
pub mod memory;
pub mod occupancy;
pub mod properties;
pub mod registry;
pub mod report;
pub mod runtime;
pub mod streams;
pub mod stubs;
