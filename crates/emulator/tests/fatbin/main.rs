//! Fat binaries: some that nvcc made, some that are built here, some that mean harm.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod build;
mod built;
mod compiled;
mod hostile;
