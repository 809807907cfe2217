//! Running a child process: bounded in time and output, cancellable, and gone with all its
//! descendants afterwards.
//!
//! **Invariant: when [`Command::run`] returns, the child is gone and so is what it started, its
//! output takes no more memory than its limits, and nothing waits on a pipe that somebody else
//! still holds open.**
//!
//! The child runs in a process group of its own, so that a terminal's Ctrl-C reaches this program
//! alone, which then ends the child in order. It gets SIGKILL when the *thread* that runs it ends
//! (that is what the kernel's parent-death signal watches); `run` keeps its thread until the child
//! is gone, so only the death of this program sets that off.

mod cancel;
mod capture;
mod descendants;
mod supervise;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};

pub use cancel::Cancel;

/// How many bytes of each stream are captured unless something else is asked for.
pub const OUTPUT_BYTES_MAX: usize = 1 << 20;

/// How long a child may take unless something else is asked for.
pub const DEADLINE: Duration = Duration::from_secs(60);

/// A child to run. Nothing is started before [`Command::run`].
#[derive(Debug, Clone)]
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    cwd: Option<Utf8PathBuf>,
    environment: Environment,
    stdin: Stdin,
    stdout_max: usize,
    stderr_max: usize,
    report: Option<Report>,
    deadline: Duration,
    ending: Ending,
}

/// What the child reads.
#[derive(Debug, Clone)]
enum Stdin {
    /// These bytes.
    Bytes(Vec<u8>),
    /// What this program would.
    Own,
}

/// A descriptor of the child's own.
#[derive(Debug, Clone)]
struct Report {
    /// The variable that holds its number.
    name: OsString,
    /// What stands before and after the number there.
    around: [String; 2],
    bytes_max: usize,
}

/// What the child's environment is made from: what is kept of this program's own, then what is set.
#[derive(Debug, Clone)]
struct Environment {
    inherit: bool,
    removed: Vec<OsString>,
    set: BTreeMap<OsString, OsString>,
}

/// How a child is ended that must not go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// SIGTERM to the group, and SIGKILL after this time.
    Terminate(Duration),
    /// SIGKILL at once: for programs that hold nothing worth tidying.
    Kill,
}

/// One of a child's streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
    /// The descriptor of [`Command::report`].
    Report,
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this status.
    Exit(i32),
    /// This signal, which this program did not send, ended it.
    Signal(i32),
    /// It ran past its deadline and was ended.
    Hung,
    /// It wrote more than a stream's limit and was ended.
    TooMuchOutput,
    /// Somebody asked to stop, and it was ended.
    Cancelled,
}

impl fmt::Display for Status {
    /// In a sentence after "it ended with".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(status) => write!(f, "exit status {status}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Hung => f.write_str("its deadline passed"),
            Self::TooMuchOutput => f.write_str("more output than its limit"),
            Self::Cancelled => f.write_str("a request to stop"),
        }
    }
}

/// A child that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub status: Status,
    /// The raw bytes of its standard output, no more than the limit.
    pub stdout: Vec<u8>,
    /// The raw bytes of its standard error, no more than the limit.
    pub stderr: Vec<u8>,
    /// What it wrote to the descriptor of [`Command::report`]; empty without one.
    pub report: Vec<u8>,
    /// From its start to its end.
    pub wall: Duration,
    /// Process ids of descendants that could not be killed within ten seconds (a process that waits
    /// in a driver).
    pub survivors: Vec<i32>,
}

impl Ended {
    /// Whether it exited with status 0.
    pub fn succeeded(&self) -> bool {
        self.status == Status::Exit(0)
    }
}

/// Why a child could not be run at all.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such program.
    #[error("program `{program}` not found; is it installed and on PATH?")]
    NotFound {
        /// As it was asked for.
        program: String,
    },
    /// The folder to run in is not there.
    #[error("folder `{cwd}` to run `{program}` in is not there")]
    NoFolder {
        /// As it was asked for.
        program: String,
        /// The missing folder.
        cwd: Utf8PathBuf,
    },
    /// The system refused to start it.
    #[error("cannot start `{program}`: {source}")]
    Start {
        /// As it was asked for.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The system failed while the child ran.
    #[error("lost track of `{program}`: {source}")]
    Lost {
        /// As it was asked for.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// It was killed and did not end: it waits inside the kernel.
    #[error(
        "`{program}` (process {pid}) does not end although it was killed; \
         it waits in a driver"
    )]
    Unkillable {
        /// As it was asked for.
        program: String,
        /// Its process id.
        pid: i32,
    },
}

impl Command {
    /// A program (looked up in the child's PATH if it is a bare name), with this program's
    /// environment, no input, the default limits, in the current folder.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            args: Vec::new(),
            cwd: None,
            environment: Environment { inherit: true, removed: Vec::new(), set: BTreeMap::new() },
            stdin: Stdin::Bytes(Vec::new()),
            stdout_max: OUTPUT_BYTES_MAX,
            stderr_max: OUTPUT_BYTES_MAX,
            report: None,
            deadline: DEADLINE,
            ending: Ending::Terminate(Duration::from_secs(2)),
        }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// The folder to run in.
    #[must_use]
    pub fn cwd(mut self, cwd: impl AsRef<Utf8Path>) -> Self {
        self.cwd = Some(cwd.as_ref().to_owned());
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.set.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Drops variables of this program's environment.
    #[must_use]
    pub fn env_remove<N: AsRef<OsStr>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.environment.removed.extend(names.into_iter().map(|name| name.as_ref().to_owned()));
        self
    }

    /// Drops the whole of this program's environment: the child gets what [`Command::env`] sets,
    /// and nothing else.
    #[must_use]
    pub fn env_clear(mut self) -> Self {
        self.environment.inherit = false;
        self
    }

    /// What the child reads from its standard input.
    #[must_use]
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Stdin::Bytes(bytes.into());
        self
    }

    /// Gives the child this program's standard input.
    #[must_use]
    pub fn own_stdin(mut self) -> Self {
        self.stdin = Stdin::Own;
        self
    }

    /// How many bytes the child may write to its standard output, and to its standard error.
    /// Writing more ends it.
    #[must_use]
    pub fn output_max(mut self, stdout_bytes: usize, stderr_bytes: usize) -> Self {
        (self.stdout_max, self.stderr_max) = (stdout_bytes, stderr_bytes);
        self
    }

    /// Gives the child one more descriptor to write to, whose number it finds in the variable
    /// `name`: for what must not mix with the program's own output. Writing more than `bytes_max`
    /// ends the child.
    #[must_use]
    pub fn report(self, name: impl AsRef<OsStr>, bytes_max: usize) -> Self {
        self.report_within(name, ["", ""], bytes_max)
    }

    /// The same with the number between two texts in the variable: for a variable that says more.
    #[must_use]
    pub fn report_within(
        mut self,
        name: impl AsRef<OsStr>,
        around: [&str; 2],
        bytes_max: usize,
    ) -> Self {
        let (name, around) = (name.as_ref().to_owned(), around.map(str::to_owned));
        self.report = Some(Report { name, around, bytes_max });
        self
    }

    /// How long the child may take.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// How the child is ended when it must not go on.
    #[must_use]
    pub fn ending(mut self, ending: Ending) -> Self {
        self.ending = ending;
        self
    }

    /// Runs the child and waits until it and all its descendants are gone.
    ///
    /// # Errors
    /// [`Error`], when it could not be started or followed; how it ended is no error.
    pub fn run(&self, cancel: &Cancel) -> Result<Ended, Error> {
        self.run_with(cancel, &mut |_, _| {})
    }

    /// Like [`Command::run`], handing over each line as it arrives: without its end, in pieces of 4
    /// KiB if it is longer, and with what is no UTF-8 replaced. A last line that has no end is not
    /// handed over.
    ///
    /// # Errors
    /// As [`Command::run`].
    pub fn run_with(
        &self,
        cancel: &Cancel,
        on_line: &mut dyn FnMut(Stream, &str),
    ) -> Result<Ended, Error> {
        struct Lines<'a>(&'a mut dyn FnMut(Stream, &str));
        impl supervise::Listener for Lines<'_> {
            fn line(&mut self, stream: Stream, line: &str) {
                (self.0)(stream, line);
            }
        }
        supervise::run(self, cancel, &mut Lines(on_line))
    }

    /// Like [`Command::run`], handing over bytes as they arrive, of the report, too.
    ///
    /// # Errors
    /// As [`Command::run`].
    pub fn run_streamed(
        &self,
        cancel: &Cancel,
        on_bytes: &mut dyn FnMut(Stream, &[u8]),
    ) -> Result<Ended, Error> {
        struct Bytes<'a>(&'a mut dyn FnMut(Stream, &[u8]));
        impl supervise::Listener for Bytes<'_> {
            fn bytes(&mut self, stream: Stream, bytes: &[u8]) {
                (self.0)(stream, bytes);
            }
        }
        supervise::run(self, cancel, &mut Bytes(on_bytes))
    }

    /// Like [`Command::run`], showing the child's process id many times a second while it runs: for
    /// looking at what the system says of it. The id is the child's until the call returns.
    ///
    /// # Errors
    /// As [`Command::run`].
    pub fn run_watched(
        &self,
        cancel: &Cancel,
        on_tick: &mut dyn FnMut(i32),
    ) -> Result<Ended, Error> {
        struct Ticks<'a>(&'a mut dyn FnMut(i32));
        impl supervise::Listener for Ticks<'_> {
            fn tick(&mut self, pid: i32) {
                (self.0)(pid);
            }
        }
        supervise::run(self, cancel, &mut Ticks(on_tick))
    }

    /// The program's name for messages.
    fn name(&self) -> String {
        self.program.to_string_lossy().into_owned()
    }

    /// The variables the child gets.
    fn variables(&self) -> BTreeMap<OsString, OsString> {
        let mut variables = BTreeMap::new();
        if self.environment.inherit {
            variables.extend(std::env::vars_os());
        }
        for name in &self.environment.removed {
            variables.remove(name);
        }
        variables.extend(self.environment.set.clone());
        variables
    }
}

#[cfg(test)]
mod tests;
