//! What a command may know of the world: where the course is, the clock, the streams, whether
//! somebody asks to stop.

use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{BufRead, IsTerminal, Read, Write};
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::gate::Probe;
use proofrun_runner::device::{Helper, PROBE_DEADLINE, probe};
use proofrun_runner::system::clock::{Clock, SystemClock};
use proofrun_runner::system::process::Cancel;
use proofrun_runner::system::terminal;

use crate::error::Error;

/// Where variables of the environment are looked up.
pub type Environment = Box<dyn Fn(&str) -> Option<OsString>>;

/// How devices are asked for: in a child process, or as a test describes them.
pub type Devices = Box<dyn Fn() -> Probe>;

/// A command's world.
pub struct Context {
    /// How a user calls this program: `cargo xtask`, `proofrun`.
    pub name: &'static str,
    /// The folder that the command was called in.
    pub cwd: Utf8PathBuf,
    /// The clock.
    pub clock: Box<dyn Clock>,
    /// Set when somebody asks to stop.
    pub cancel: Cancel,
    /// Whether a person sees standard error as it is written.
    pub progress: bool,
    /// Whether progress is told in plain lines where nobody sees it as it is drawn.
    pub plain_progress: bool,
    /// Whether a person can be asked.
    pub interactive: bool,
    /// The columns of the terminal that standard output goes to, if it does.
    pub width: Option<usize>,
    /// Asks for the devices of this host.
    pub probe: Devices,
    /// Variables of the environment that commands look at.
    pub environment: Environment,
    /// Whether `verify` runs what no card here may run on the emulated device.
    pub emulates: bool,
    /// Whether programs that a command starts read this process's standard input.
    pub passes_stdin: bool,
    input: RefCell<Box<dyn Read>>,
    answers: RefCell<Answers>,
    out: RefCell<Box<dyn Write>>,
    err: RefCell<Box<dyn Write>>,
    raw: RefCell<[Box<dyn Write>; 2]>,
}

/// A test's stream, which is written to in two ways.
struct Both(Rc<RefCell<Box<dyn Write>>>);

impl Both {
    fn of(stream: Box<dyn Write>) -> [Box<dyn Write>; 2] {
        let stream = Rc::new(RefCell::new(stream));
        [Box::new(Self(stream.clone())), Box::new(Self(stream))]
    }
}

impl Write for Both {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.borrow_mut().flush()
    }
}

/// Where answers come from: a line a call, without its line end; nothing once there are no more.
type Answers = Box<dyn FnMut(&Cancel) -> Option<String>>;

/// The longest answer that is read, in bytes.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

impl Context {
    /// That of this process.
    ///
    /// # Errors
    /// When the current folder can't be told or signals can't be watched.
    pub fn of_process(name: &'static str) -> Result<Self, Error> {
        let cwd = std::env::current_dir().map_err(Error::system("find the current folder"))?;
        let cwd = Utf8PathBuf::try_from(cwd).map_err(Error::system("read the current folder"))?;
        let stderr = std::io::stderr().is_terminal();
        Ok(Self {
            name,
            cwd,
            clock: Box::new(SystemClock::new()),
            cancel: Cancel::on_signals().map_err(Error::system("watch for signals"))?,
            progress: stderr,
            plain_progress: true,
            interactive: std::io::stdin().is_terminal() && std::io::stdout().is_terminal(),
            width: terminal::width(),
            probe: Box::new(probe_host),
            environment: Box::new(|name| std::env::var_os(name)),
            emulates: true,
            passes_stdin: true,
            input: RefCell::new(Box::new(std::io::stdin())),
            answers: RefCell::new(answers_of_stdin()),
            out: RefCell::new(Box::new(anstream::stdout())),
            err: RefCell::new(Box::new(anstream::stderr())),
            raw: RefCell::new([Box::new(std::io::stdout()), Box::new(std::io::stderr())]),
        })
    }

    /// That of a test: a folder, a clock, and streams that the test can read; nobody to ask, no
    /// device, an empty environment, nothing on standard input.
    pub fn for_test(
        cwd: &Utf8Path,
        clock: Box<dyn Clock>,
        out: Box<dyn Write>,
        err: Box<dyn Write>,
    ) -> Self {
        let ([out, raw_out], [err, raw_err]) = (Both::of(out), Both::of(err));
        Self {
            name: "cargo xtask",
            cwd: cwd.to_owned(),
            clock,
            cancel: Cancel::new(),
            progress: false,
            plain_progress: false,
            interactive: false,
            width: None,
            probe: Box::new(|| Probe::NoDriver),
            environment: Box::new(|_| None),
            emulates: false,
            passes_stdin: false,
            input: RefCell::new(Box::new(std::io::empty())),
            answers: RefCell::new(Box::new(|_| None)),
            out: RefCell::new(Box::new(anstream::StripStream::new(out))),
            err: RefCell::new(Box::new(anstream::StripStream::new(err))),
            raw: RefCell::new([raw_out, raw_err]),
        }
    }

    /// The same with this on standard input.
    #[must_use]
    pub fn with_input(self, input: Box<dyn Read>) -> Self {
        Self { input: RefCell::new(input), ..self }
    }

    /// What is piped into standard input, up to a limit: whoever gives more is told so by a longer
    /// answer than the limit.
    ///
    /// # Errors
    /// When it can't be read.
    pub fn read_input(&self, bytes_max: usize) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        let mut input = self.input.borrow_mut();
        let limited = &mut input.by_ref().take(bytes_max as u64 + 1);
        limited.read_to_end(&mut bytes).map_err(Error::system("read standard input"))?;
        Ok(bytes)
    }

    /// The same with somebody to ask, who gives these answers and then leaves.
    #[must_use]
    pub fn with_answers(mut self, answers: &[&str]) -> Self {
        let mut left: Vec<String> = answers.iter().rev().map(|it| (*it).to_owned()).collect();
        self.interactive = true;
        self.answers = RefCell::new(Box::new(move |_| left.pop()));
        self
    }

    /// Asks, and waits for a line; `None` when nobody answers any more.
    ///
    /// # Errors
    /// When it is asked to stop instead.
    pub fn ask(&self, question: &str) -> Result<Option<String>, Error> {
        self.say(question);
        let answer = (self.answers.borrow_mut())(&self.cancel);
        self.go_on()?;
        Ok(answer)
    }

    /// Writes to standard output. That nobody reads it any more is no error: the work goes on, and
    /// its result is the exit code.
    pub fn say(&self, text: impl AsRef<str>) {
        write_all(&mut self.out.borrow_mut(), text.as_ref());
    }

    /// Writes to standard error.
    pub fn note(&self, text: impl AsRef<str>) {
        write_all(&mut self.err.borrow_mut(), text.as_ref());
    }

    /// Writes bytes as they are: to standard output, or to standard error. For what was asked for
    /// in that form alone.
    pub fn pass_on(&self, is_error: bool, bytes: &[u8]) {
        let stream = &mut self.raw.borrow_mut()[usize::from(is_error)];
        let _ = stream.write_all(bytes);
        let _ = stream.flush();
    }

    /// A variable of the environment, where it is set, not empty, and UTF-8.
    pub fn variable(&self, name: &str) -> Option<String> {
        let value = (self.environment)(name)?.into_string().ok()?;
        (!value.is_empty()).then_some(value)
    }

    /// Whether this runs as a step of a GitHub workflow.
    pub fn on_github(&self) -> bool {
        self.variable("GITHUB_ACTIONS").is_some_and(|value| value == "true")
    }

    /// # Errors
    /// When somebody asked to stop.
    pub fn go_on(&self) -> Result<(), Error> {
        if self.cancel.is_cancelled() { Err(Error::Cancelled) } else { Ok(()) }
    }
}

fn probe_host() -> Probe {
    match Helper::this() {
        Ok(helper) => probe(&helper, PROBE_DEADLINE),
        Err(error) => Probe::DriverBroken { detail: error.to_string() },
    }
}

/// Lines of standard input. They are read on a thread of their own, so that Ctrl-C ends the wait
/// for one.
fn answers_of_stdin() -> Answers {
    let mut lines: Option<Receiver<String>> = None;
    Box::new(move |cancel| {
        let lines = lines.get_or_insert_with(|| {
            let (sender, receiver) = std::sync::mpsc::channel();
            std::thread::spawn(move || {
                while let Some(line) = line_of_stdin() {
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            });
            receiver
        });
        loop {
            match lines.recv_timeout(Duration::from_millis(50)) {
                Ok(line) => return Some(line),
                Err(RecvTimeoutError::Disconnected) => return None,
                Err(RecvTimeoutError::Timeout) if cancel.is_cancelled() => return None,
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    })
}

fn line_of_stdin() -> Option<String> {
    let mut line = Vec::new();
    let stdin = std::io::stdin().lock();
    stdin.take(ANSWER_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
    if line.is_empty() {
        return None;
    }
    let line = String::from_utf8_lossy(&line);
    Some(line.trim_end_matches(['\r', '\n']).to_owned())
}

/// A closed pipe and a full terminal are the reader's business.
fn write_all(stream: &mut Box<dyn Write>, text: &str) {
    let _ = stream.write_all(text.as_bytes());
    let _ = stream.flush();
}
