//! Starting a child, following it until it ends or must be ended, and clearing up after it.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Seek, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open};

use super::capture::Capture;
use super::descendants::{TOKENS, Token};
use super::{Cancel, Command, Ended, Ending, Error, Status, Stdin, Stream};

/// How often deadline and cancel flag are looked at; output and the child's end wake the loop at
/// once where the kernel has process descriptors.
const TICK: Duration = Duration::from_millis(20);

/// How long a killed child may take to vanish.
const KILLED_MAX: Duration = Duration::from_secs(10);

/// "Text file busy" passes: another thread forked while this program had the executable open for
/// writing, and the copy of that descriptor lives until the fork's exec.
const BUSY_TRIES: u32 = 100;

/// Who is told what while a child runs.
pub(super) trait Listener {
    /// Bytes of a stream, as they came.
    fn bytes(&mut self, _: Stream, _: &[u8]) {}
    /// A whole line of a stream.
    fn line(&mut self, _: Stream, _: &str) {}
    /// Many times a second: the child's process id.
    fn tick(&mut self, _: i32) {}
}

pub(super) fn run(
    command: &Command,
    cancel: &Cancel,
    listener: &mut dyn Listener,
) -> Result<Ended, Error> {
    let token = Token::new();
    let mut child = Child::start(command, &token)?;
    let followed = child.follow(command, cancel, listener);
    if followed.is_err() {
        child.signal(Signal::KILL);
    }
    let wall = child.start.elapsed();
    let survivors = token.sweep();
    let (exit, verdict) = followed?;
    // Everybody who could write is gone: what is left in the pipes is all there will ever be.
    child.drain(listener).map_err(|source| Error::Lost { program: command.name(), source })?;
    let status = match verdict {
        Some(status) => status,
        None if child.exceeded() => Status::TooMuchOutput,
        None => match (exit.code(), exit.signal()) {
            (Some(code), _) => Status::Exit(code),
            (None, signal) => Status::Signal(signal.unwrap_or_default()),
        },
    };
    let Child { stdout, stderr, report, .. } = child;
    let report = report.map(Capture::into_bytes).unwrap_or_default();
    let (stdout, stderr) = (stdout.into_bytes(), stderr.into_bytes());
    Ok(Ended { status, stdout, stderr, report, wall, survivors })
}

struct Child {
    handle: duct::Handle,
    pid: Pid,
    /// Wakes the poll when the child ends; absent on kernels before 5.3.
    pidfd: Option<OwnedFd>,
    start: Instant,
    stdout: Capture,
    stderr: Capture,
    report: Option<Capture>,
}

impl Child {
    fn start(command: &Command, token: &Token) -> Result<Self, Error> {
        let program = command.name();
        if let Some(cwd) = &command.cwd
            && !cwd.is_dir()
        {
            return Err(Error::NoFolder { program, cwd: cwd.clone() });
        }
        let mut tries = 0;
        loop {
            let start = Instant::now();
            match Self::spawn(command, token, start) {
                Ok(child) => return Ok(child),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(Error::NotFound { program });
                }
                Err(error)
                    if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES =>
                {
                    tries += 1;
                    thread::sleep(TICK);
                }
                Err(source) => return Err(Error::Start { program, source }),
            }
        }
    }

    fn spawn(command: &Command, token: &Token, start: Instant) -> io::Result<Self> {
        let (stdout, stdout_writer) = Capture::new(command.stdout_max)?;
        let (stderr, stderr_writer) = Capture::new(command.stderr_max)?;
        let mut variables = command.variables();
        variables.insert(TOKENS.into(), token.environment().into());
        let mut report = None;
        let mut report_writer = None;
        if let Some(wanted) = &command.report {
            let (capture, writer) = Capture::new(wanted.bytes_max)?;
            let [before, after] = &wanted.around;
            let value = format!("{before}{}{after}", writer.as_raw_fd());
            variables.insert(wanted.name.clone(), value.into());
            (report, report_writer) = (Some(capture), Some(OwnedFd::from(writer)));
        }
        let mut expression = duct::cmd(command.program.clone(), command.args.clone())
            .full_env(variables.into_iter().collect::<Vec<(OsString, OsString)>>())
            .stdout_file(stdout_writer)
            .stderr_file(stderr_writer)
            .unchecked();
        expression = match &command.cwd {
            Some(cwd) => expression.dir(cwd.as_std_path()),
            None => expression,
        };
        expression = match &command.stdin {
            Stdin::Bytes(bytes) if bytes.is_empty() => expression.stdin_null(),
            Stdin::Bytes(bytes) => {
                // A file and not a pipe: nobody has to feed it, and a child that never reads holds
                // nobody up.
                let mut file = tempfile::tempfile()?;
                file.write_all(bytes)?;
                file.rewind()?;
                expression.stdin_file(file)
            }
            Stdin::Own => expression.stdin_file(own_input()?),
        };
        let handle = isolate(expression, report_writer).start()?;
        let pid = handle.pids().first().copied().unwrap_or_default();
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or_else(|| io::Error::other("a child without a process id"))?;
        token.started(pid.as_raw_nonzero().get());
        let pidfd = pidfd_open(pid, PidfdFlags::empty()).ok();
        Ok(Self { handle, pid, pidfd, start, stdout, stderr, report })
    }

    /// Follows the child to its end. Returns how it ended, and why it was ended if it was.
    fn follow(
        &mut self,
        command: &Command,
        cancel: &Cancel,
        listener: &mut dyn Listener,
    ) -> Result<(std::process::ExitStatus, Option<Status>), Error> {
        let lost = |source| Error::Lost { program: command.name(), source };
        let mut verdict = None;
        let mut kill_at = None;
        let mut killed_at: Option<Instant> = None;
        loop {
            self.wait_for_news().map_err(lost)?;
            self.read(listener).map_err(lost)?;
            listener.tick(self.pid.as_raw_nonzero().get());
            if let Some(output) = self.handle.try_wait().map_err(lost)? {
                return Ok((output.status, verdict));
            }
            let now = Instant::now();
            if verdict.is_none() {
                verdict = self.verdict(command, cancel);
                kill_at = verdict.map(|status| match command.ending {
                    Ending::Terminate(grace) if status != Status::TooMuchOutput => {
                        self.signal(Signal::TERM);
                        now + grace
                    }
                    _ => now,
                });
            }
            match (kill_at, killed_at) {
                (Some(at), None) if now >= at => {
                    self.signal(Signal::KILL);
                    killed_at = Some(now);
                }
                (_, Some(at)) if now > at + KILLED_MAX => {
                    let pid = self.pid.as_raw_nonzero().get();
                    return Err(Error::Unkillable { program: command.name(), pid });
                }
                _ => {}
            }
        }
    }

    /// Why the child must be ended now, if it must.
    fn verdict(&self, command: &Command, cancel: &Cancel) -> Option<Status> {
        if self.exceeded() {
            Some(Status::TooMuchOutput)
        } else if cancel.is_cancelled() {
            Some(Status::Cancelled)
        } else if self.start.elapsed() >= command.deadline {
            Some(Status::Hung)
        } else {
            None
        }
    }

    /// Waits until there is output, the child has ended, or a tick has passed.
    fn wait_for_news(&self) -> io::Result<()> {
        let captures = [Some(&self.stdout), Some(&self.stderr), self.report.as_ref()];
        let pipes = captures.into_iter().flatten().filter_map(Capture::fd);
        let ends = self.pidfd.as_ref().map(|fd| fd.as_fd());
        let mut fds: Vec<PollFd<'_>> =
            pipes.chain(ends).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
        let tick = Timespec { tv_sec: 0, tv_nsec: TICK.as_nanos() as _ };
        match poll(&mut fds, Some(&tick)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn read(&mut self, listener: &mut dyn Listener) -> io::Result<()> {
        let report = self.report.as_mut();
        let streams = [
            (Stream::Stdout, Some(&mut self.stdout)),
            (Stream::Stderr, Some(&mut self.stderr)),
            (Stream::Report, report),
        ];
        for (stream, capture) in streams {
            let Some(capture) = capture else { continue };
            let told = std::cell::RefCell::new(&mut *listener);
            capture.read(
                |bytes| told.borrow_mut().bytes(stream, bytes),
                |line| told.borrow_mut().line(stream, line),
            )?;
        }
        Ok(())
    }

    /// Reads what is left in the pipes: at most what a pipe holds, so a few turns are enough.
    fn drain(&mut self, listener: &mut dyn Listener) -> io::Result<()> {
        (0..4).try_for_each(|_| self.read(listener))
    }

    fn exceeded(&self) -> bool {
        let report = self.report.as_ref().is_some_and(Capture::exceeded);
        self.stdout.exceeded() || self.stderr.exceeded() || report
    }

    /// Signals the child's group. It has one as long as the child was not reaped, which only
    /// `try_wait` does.
    fn signal(&self, signal: Signal) {
        let _ = rustix::process::kill_process_group(self.pid, signal);
    }
}

/// This program's standard input for a child. A terminal would stop a child that reads it outside
/// of its foreground group, so what is typed there is passed on through a pipe.
fn own_input() -> io::Result<OwnedFd> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return stdin.as_fd().try_clone_to_owned();
    }
    let (reader, mut writer) = os_pipe::pipe()?;
    thread::spawn(move || io::copy(&mut stdin.lock(), &mut writer));
    Ok(reader.into())
}

/// A group of its own, death with this program's thread, and the report's descriptor kept open
/// across exec.
#[allow(
    unsafe_code,
    reason = "pre_exec is the only place for what must happen between fork and exec"
)]
fn isolate(expression: duct::Expression, report: Option<OwnedFd>) -> duct::Expression {
    let parent = rustix::process::getpid();
    let report = report.map(std::sync::Arc::new);
    expression.before_spawn(move |command| {
        command.process_group(0);
        let report = report.clone();
        // SAFETY: between fork and exec only async-signal-safe work is allowed. These are bare
        // system calls: no allocation, no lock.
        unsafe {
            command.pre_exec(move || {
                rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
                if rustix::process::getppid() != Some(parent) {
                    // The parent died before the line above: its signal will never come.
                    return Err(io::ErrorKind::NotFound.into());
                }
                if let Some(report) = &report {
                    rustix::io::fcntl_setfd(report, rustix::io::FdFlags::empty())?;
                }
                Ok(())
            });
        }
        Ok(())
    })
}
