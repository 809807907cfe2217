//! `cargo xtask`: Proofrun's commands on this workspace.

fn main() {}
