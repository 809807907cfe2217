//! A scratch course that a test fills as people do: lessons, keys, records, reviews; and commands
//! run on it in process, with a fixed clock.
//!
//! Records are made here as `lesson-runner record` would make them, of output that this module
//! writes: no test of the harness needs a card, and none of these records ever leaves its temporary
//! folder.

#![allow(
    dead_code,
    unused_imports,
    clippy::unwrap_used,
    reason = "each test binary uses a part of it, and a test that can't be set up may panic"
)]

pub mod course;
pub mod emulated;
pub mod markdown;
pub mod published;
pub mod recorded;
pub mod schema;
pub mod toolkit;

use std::cell::RefCell;
use std::io::Write;
use std::rc::Rc;

use camino::Utf8Path;
use jiff::Timestamp;
use proofrun::{Context, Exit};
use proofrun_core::trust::new_key;
use proofrun_runner::system::clock::FixedClock;
use ssh_key::PrivateKey;

pub use course::Scratch;
pub use recorded::RecordPlan;

/// The recorder of scratch courses.
pub const RECORDER: &str = "recorder@example.org";

/// Their reviewer.
pub const REVIEWER: &str = "reviewer@example.org";

/// When commands run unless a test says otherwise.
pub const NOW: &str = "2026-06-15T12:00:00Z";

/// When records end unless a test says otherwise.
pub const RECORDED: &str = "2026-06-01T08:30:00Z";

/// When reviews are signed unless a test says otherwise.
pub const REVIEWED: &str = "2026-06-02T09:00:00Z";

/// A time.
pub fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The key of a name: the same one each time, made by the test and worth nothing.
pub fn key(name: &str) -> PrivateKey {
    let seed = *proofrun_core::Digest::of(name).as_bytes();
    new_key(name, &seed).unwrap()
}

/// How a command ended and what it wrote.
#[derive(Debug)]
pub struct Ran {
    /// How it ended.
    pub exit: Exit,
    /// Standard output, without styles.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl Ran {
    /// The exit code.
    pub fn code(&self) -> u8 {
        self.exit.code()
    }

    /// Both streams, for messages of failed assertions.
    pub fn all(&self) -> String {
        format!("exit {}\n--- out\n{}--- err\n{}", self.code(), self.out, self.err)
    }
}

/// Runs a command line in a folder, at [`NOW`].
pub fn run(folder: &Utf8Path, arguments: &[&str]) -> Ran {
    run_at(folder, NOW, arguments)
}

/// Runs a command line in a folder at some time.
pub fn run_at(folder: &Utf8Path, now: &str, arguments: &[&str]) -> Ran {
    run_with(folder, now, arguments, |context| context)
}

/// Runs a command line in a context that the test has changed: an environment, somebody who
/// answers.
pub fn run_with(
    folder: &Utf8Path,
    now: &str,
    arguments: &[&str],
    change: impl FnOnce(Context) -> Context,
) -> Ran {
    let (out, err) = (Shared::default(), Shared::default());
    let clock = Box::new(FixedClock(time(now)));
    let context = Context::for_test(folder, clock, Box::new(out.clone()), Box::new(err.clone()));
    let context = change(context);
    let exit = proofrun::run(arguments.iter().map(Into::into), &context);
    Ran { exit, out: out.text(), err: err.text() }
}

/// A stream that the test reads afterwards.
#[derive(Debug, Default, Clone)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Shared {
    fn text(&self) -> String {
        String::from_utf8(self.0.borrow().clone()).unwrap()
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
