//! `cargo xtask`: Proofrun's commands on this workspace.

use std::process::ExitCode;

fn main() -> ExitCode {
    proofrun::main("cargo xtask")
}
