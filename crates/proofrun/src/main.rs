//! `proofrun`: the same commands for a course that lives elsewhere.

use std::process::ExitCode;

fn main() -> ExitCode {
    proofrun::main("proofrun")
}
