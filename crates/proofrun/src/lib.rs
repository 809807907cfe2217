//! The commands of Proofrun, one a file, for `cargo xtask` and for courses that live elsewhere.
//!
//! [`run`] is the whole program but for the process: arguments and a [`Context`] in, an [`Exit`]
//! out. **Invariant: no command reads the clock, the environment or the terminal but through its
//! [`Context`]**, so that tests run them as users do.
//!
//! What a command found decides how it ends, the gravest first; a warning decides nothing:
//!
//! ```
//! use proofrun::Exit;
//! use proofrun_core::{Finding, Place, Rule};
//!
//! let page = Place::line("lessons/day-01-scale/README.md", 11);
//! let drift = Finding::error(Rule::SnippetDiffers, page.clone(), "snippet differs", "sync it");
//! let unverified = Finding::warning(Rule::Unverified, page, "no valid record", "record it");
//! assert_eq!(Exit::of([&unverified]), Exit::Holds);
//! assert_eq!(Exit::of([&unverified, &drift]).code(), 28);
//! ```

mod attention;
pub mod cli;
pub mod commands;
pub mod context;
pub mod emulated;
pub mod error;
pub mod exit;
pub mod loaded;
mod prebuild;
mod publishing;
pub mod report;
pub mod review;
pub mod root;
mod runner_binary;
pub mod signers;
pub mod verify;
mod words;

use std::ffi::OsString;
use std::process::ExitCode;

pub use cli::run;
pub use context::Context;
pub use error::Error;
pub use exit::Exit;

/// The `main` of both binaries. `name` is how a user calls it: `cargo xtask`, `proofrun`.
pub fn main(name: &'static str) -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    // Children that touch the driver are this program again.
    if let Some(code) =
        proofrun_runner::commands::hidden(arguments.first().map(OsString::as_os_str))
    {
        return code;
    }
    match Context::of_process(name) {
        Ok(context) => run(arguments, &context).into(),
        Err(error) => error::show_without_context(&error).into(),
    }
}
