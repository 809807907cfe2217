//! PTX texts, written for these tests, and what they mean.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod calls;
mod compiled;
mod declarations;
mod errors;
mod hostile;
mod operands;
mod scopes;

use proofrun_emulator::ptx::ast::{Body, Module};
use proofrun_emulator::ptx::parse;

/// A module with the head that every module needs before this text.
fn module(text: &str) -> Module {
    let text = format!(".version 9.0\n.target sm_90\n.address_size 64\n{text}");
    parse(&text).unwrap_or_else(|error| panic!("{error}"))
}

/// The body of a kernel that consists of this text.
fn body(text: &str) -> Body {
    let module = module(&format!(".entry kernel(.param .b32 given)\n{{\n{text}\n}}"));
    module.functions.into_iter().next_back().and_then(|kernel| kernel.body).unwrap()
}

/// The instructions of a kernel, shown with the names of their registers.
fn code(text: &str) -> Vec<String> {
    let body = body(text);
    body.code.iter().map(|one| one.shown(&body.registers).to_string()).collect()
}
