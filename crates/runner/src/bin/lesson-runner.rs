//! `lesson-runner`: the one binary that a GPU host needs.

fn main() {}
