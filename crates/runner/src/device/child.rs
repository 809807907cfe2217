//! A child with a deadline: started, fed, read within limits, killed if it hangs.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// More than any reply: a report of a hundred cases with all faults is below 1 MiB.
const STDOUT_BYTES_MAX: usize = 16 << 20;
const STDERR_BYTES_MAX: usize = 64 << 10;
const POLL: Duration = Duration::from_millis(5);
/// How long pipes may stay open after the child itself has ended.
const DRAIN: Duration = Duration::from_secs(1);

/// How this harness starts itself again as a child: a program whose first argument names a hidden
/// subcommand.
#[derive(Debug, Clone)]
pub struct Helper {
    /// The program.
    pub program: PathBuf,
    /// Arguments before the hidden subcommand.
    pub args: Vec<OsString>,
    /// Variables set for the child beside those it inherits.
    pub env: Vec<(OsString, OsString)>,
}

impl Helper {
    /// This program. Its `main` must hand hidden subcommands to [`crate::commands::hidden`].
    ///
    /// # Errors
    /// If the system does not say which program this is.
    pub fn this() -> io::Result<Self> {
        Ok(Self::at(std::env::current_exe()?))
    }

    /// Another program, such as a `lesson-runner` that was built beside this one.
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), args: Vec::new(), env: Vec::new() }
    }
}

/// How a child ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// It did not end by itself before the deadline, and was killed.
    pub(crate) hung: bool,
    /// `signal 11`, `exit status 101`; nothing if it exited with 0.
    pub(crate) how: Option<String>,
    /// At most 16 MiB of it.
    pub(crate) stdout: Vec<u8>,
    /// At most 64 KiB of it.
    pub(crate) stderr: String,
}

/// Runs a hidden subcommand with this standard input until it ends or the deadline is over.
pub(crate) fn run_child(
    helper: &Helper,
    subcommand: &str,
    input: &[u8],
    deadline: Duration,
) -> io::Result<Ended> {
    let started = Instant::now();
    let mut child = Command::new(&helper.program)
        .args(&helper.args)
        .arg(subcommand)
        .envs(helper.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = collect(child.stdout.take(), STDOUT_BYTES_MAX);
    let stderr = collect(child.stderr.take(), STDERR_BYTES_MAX);
    // A request is far smaller than a pipe's buffer; a child that died before reading it says why
    // by its end.
    if let Some(mut stdin) = child.stdin.take() {
        drop(stdin.write_all(input));
    }
    let (hung, status) = wait(&mut child, started, deadline)?;
    Ok(Ended {
        hung,
        how: (!status.success()).then(|| how(status)),
        stdout: stdout.recv_timeout(DRAIN).unwrap_or_default(),
        stderr: String::from_utf8_lossy(&stderr.recv_timeout(DRAIN).unwrap_or_default())
            .into_owned(),
    })
}

fn wait(child: &mut Child, started: Instant, deadline: Duration) -> io::Result<(bool, ExitStatus)> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((false, status));
        }
        if started.elapsed() >= deadline {
            child.kill()?;
            return Ok((true, child.wait()?));
        }
        thread::sleep(POLL);
    }
}

fn how(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, Some(code)) => format!("exit status {code}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

/// Reads to the end in a thread of its own, keeps at most so many bytes, and discards the rest.
fn collect(pipe: Option<impl Read + Send + 'static>, bytes_max: usize) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    if let Some(mut pipe) = pipe {
        thread::spawn(move || {
            let mut kept = Vec::new();
            // What was read before an error counts.
            drop(pipe.by_ref().take(bytes_max as u64).read_to_end(&mut kept));
            drop(io::copy(&mut pipe, &mut io::sink()));
            drop(send.send(kept));
        });
    }
    receive
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    /// A shell as the child; the hidden subcommand is its `$0`.
    fn shell(script: &str, input: &[u8], deadline: Duration) -> Ended {
        let mut helper = Helper::at("/bin/sh");
        helper.args = vec!["-c".into(), script.into()];
        run_child(&helper, "hidden", input, deadline).unwrap()
    }

    #[test]
    fn a_child_is_fed_and_heard() {
        let ended = shell("cat; echo $0; echo no >&2", b"in ", LONG);
        assert_eq!(ended.stdout, b"in hidden\n");
        assert_eq!((ended.stderr.as_str(), ended.hung, ended.how), ("no\n", false, None));
    }

    #[test]
    fn each_way_to_end_is_told() {
        assert_eq!(shell("exit 7", b"", LONG).how.as_deref(), Some("exit status 7"));
        assert_eq!(shell("kill -9 $$", b"", LONG).how.as_deref(), Some("signal 9"));
        // The child ends without having read its input.
        assert_eq!(shell("exit 0", &[0; 1 << 20], LONG).how, None);
        assert!(run_child(&Helper::at("/nonexistent"), "x", b"", LONG).is_err());
    }

    #[test]
    fn a_child_that_hangs_is_killed_and_what_it_said_is_kept() {
        let started = Instant::now();
        let ended = shell("echo before; exec sleep 600", b"", Duration::from_millis(300));
        assert!(ended.hung && started.elapsed() < Duration::from_secs(30));
        assert_eq!(ended.stdout, b"before\n");
    }

    #[test]
    fn a_flood_is_cut_and_does_not_block_the_child() {
        let ended = shell("head -c 20000000 /dev/zero; head -c 100000 /dev/zero >&2", b"", LONG);
        assert_eq!(ended.how, None);
        assert_eq!((ended.stdout.len(), ended.stderr.len()), (STDOUT_BYTES_MAX, STDERR_BYTES_MAX));
    }

    #[test]
    fn a_descendant_that_keeps_the_pipes_open_does_not_hold_up_the_parent() {
        let started = Instant::now();
        let ended = shell("sleep 20 & exit 0", b"", LONG);
        assert_eq!((ended.how, ended.hung), (None, false));
        assert!(started.elapsed() < Duration::from_secs(15));
    }
}
