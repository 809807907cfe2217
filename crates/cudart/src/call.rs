//! The way from a C function into the runtime: one lock, no panic across the border, the last
//! error.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};

use proofrun_emulator::configuration::Configuration;
use proofrun_emulator::finding::{Kind, Severity};
use proofrun_emulator::machine::Machine;
use proofrun_emulator::profile::Profile;
use proofrun_emulator::report::Event;

use crate::configuration;
use crate::errors::{Code, Outcome};
use crate::host;
use crate::report::Reporter;
use crate::runtime::Runtime;

static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);
static START: Once = Once::new();
static PROCESS: OnceLock<u32> = OnceLock::new();

thread_local! {
    static LAST_ERROR: Cell<c_int> = const { Cell::new(0) };
    static PANICKED_AT: RefCell<String> = const { RefCell::new(String::new()) };
}

/// A call that looks at the device: a fault of an earlier kernel comes out first.
pub fn call(name: &'static str, work: impl FnOnce(&mut Runtime) -> Outcome) -> c_int {
    answer(name, |runtime| {
        runtime.settle()?;
        telling(runtime, work)
    })
}

/// A call that doesn't look at the device and works after a fault too (measured on an H200).
pub fn ask(name: &'static str, work: impl FnOnce(&mut Runtime) -> Outcome) -> c_int {
    answer(name, |runtime| telling(runtime, work))
}

/// A call like [`call`] whose error another call is going to return, which tells it then.
pub fn prepare(name: &'static str, work: impl FnOnce(&mut Runtime) -> Outcome) -> c_int {
    answer(name, |runtime| {
        runtime.settle()?;
        let outcome = work(runtime);
        runtime.drain();
        outcome
    })
}

/// An error that comes without a finding of its own becomes one: a program may not look at it.
fn telling(runtime: &mut Runtime, work: impl FnOnce(&mut Runtime) -> Outcome) -> Outcome {
    let before = runtime.reporter.findings();
    let outcome = work(runtime);
    runtime.drain();
    if let Err(code) = outcome
        && runtime.reporter.findings() == before
        && worth_telling(code)
    {
        let name = runtime.current;
        let message = format!("`{name}` returned {}: {}", code.name(), code.text());
        runtime.tell(Kind::Api, Severity::Warning, message);
    }
    outcome
}

/// An answer to a question is no fault of the program, nor is memory that isn't there.
fn worth_telling(code: Code) -> bool {
    !matches!(code, Code::NOT_READY | Code::MEMORY_ALLOCATION)
}

fn answer(name: &'static str, work: impl FnOnce(&mut Runtime) -> Outcome) -> c_int {
    let outcome = enter(name, |runtime| {
        runtime.calls += 1;
        runtime.current = name;
        work(runtime)
    });
    outcome.and_then(|outcome| outcome).map_or_else(fail, |()| 0)
}

/// Remembers an error as the thread's last one, and is its number.
pub fn fail(code: Code) -> c_int {
    LAST_ERROR.set(code.0);
    code.0
}

/// The thread's last error.
pub fn last_error() -> c_int {
    LAST_ERROR.get()
}

/// The thread's last error, which is forgotten.
pub fn take_last_error() -> c_int {
    LAST_ERROR.replace(0)
}

/// Runs in the runtime, which is started if this is the first call. A panic is a finding.
pub fn enter<R>(name: &'static str, work: impl FnOnce(&mut Runtime) -> R) -> Result<R, Code> {
    START.call_once(start);
    let mut guard = lock();
    let Some(runtime) = guard.as_mut() else { return Err(Code::INITIALIZATION) };
    panic::catch_unwind(AssertUnwindSafe(|| work(runtime))).map_err(|panicked| {
        let what = format!("internal error in `{name}`: {}", panic_text(panicked.as_ref()));
        runtime.tell(Kind::Unsupported, Severity::Error, what);
        Code::UNKNOWN
    })
}

/// The end of the process: only what was started is finished, and only in the process that
/// started it.
pub fn finish() {
    if START.is_completed()
        && PROCESS.get() == Some(&std::process::id())
        && let Some(runtime) = lock().as_mut()
    {
        // The process is ending: nobody is left to be told of a panic.
        let _ = panic::catch_unwind(AssertUnwindSafe(|| runtime.finish()));
    }
}

fn lock() -> MutexGuard<'static, Option<Runtime>> {
    RUNTIME.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads the configuration; without one, says so once, and every call fails.
fn start() {
    match configuration::read().and_then(made) {
        Ok(runtime) => {
            panic::set_hook(Box::new(|info| {
                let at = info.location().map(ToString::to_string).unwrap_or_default();
                PANICKED_AT.set(at);
            }));
            PROCESS.get_or_init(std::process::id);
            *lock() = Some(runtime);
        }
        Err(why) => host::write_to(2, format!("proofrun: {why}\n").as_bytes()),
    }
}

fn made((configuration, profile): (Configuration, &'static Profile)) -> Result<Runtime, String> {
    let machine = Machine::new(profile, configuration.options())
        .ok_or("the range of addresses for device memory is taken")?;
    let reporter = Reporter::new(configuration.report);
    reporter.event(&Event::Started { device: profile.id.to_owned() });
    Ok(Runtime::new(machine, profile, reporter))
}

fn panic_text(panicked: &(dyn Any + Send)) -> String {
    let text = panicked
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panicked.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!("{text}, at {}", PANICKED_AT.take())
}
