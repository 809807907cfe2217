//! A child with a deadline: started, fed, read within limits, ended if it hangs.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::system::process::{Cancel, Command, Ending, Status};

/// More than any reply: a report of a hundred cases with all faults is below 1 MiB.
const STDOUT_BYTES_MAX: usize = 16 << 20;
/// More than any driver complains.
const STDERR_BYTES_MAX: usize = 1 << 20;

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
    /// Ends the child when it is set.
    pub cancel: Cancel,
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
        Self { program: program.into(), args: Vec::new(), env: Vec::new(), cancel: Cancel::new() }
    }
}

/// How a child ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// It did not end by itself before the deadline, and was killed.
    pub(crate) hung: bool,
    /// `signal 11`, `exit status 101`, `more output than its limit`; nothing if it exited with 0.
    pub(crate) how: Option<String>,
    /// At most 16 MiB of it.
    pub(crate) stdout: Vec<u8>,
    /// At most 1 MiB of it.
    pub(crate) stderr: String,
}

/// Runs a hidden subcommand with this standard input until it ends or the deadline is over.
pub(crate) fn run_child(
    helper: &Helper,
    subcommand: &str,
    input: &[u8],
    deadline: Duration,
) -> io::Result<Ended> {
    let mut command = Command::new(&helper.program)
        .args(&helper.args)
        .arg(subcommand)
        .stdin(input)
        .deadline(deadline)
        .ending(Ending::Kill)
        .output_max(STDOUT_BYTES_MAX, STDERR_BYTES_MAX);
    for (name, value) in &helper.env {
        command = command.env(name, value);
    }
    let ended = command.run(&helper.cancel).map_err(io::Error::other)?;
    let how = match ended.status {
        Status::Exit(0) | Status::Hung => None,
        status => Some(status.to_string()),
    };
    Ok(Ended {
        hung: ended.status == Status::Hung,
        how,
        stdout: ended.stdout,
        stderr: String::from_utf8_lossy(&ended.stderr).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

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
    fn a_flood_ends_the_child_and_is_cut() {
        let ended = shell("head -c 20000000 /dev/zero; sleep 600", b"", LONG);
        assert_eq!(ended.how.as_deref(), Some("more output than its limit"));
        assert_eq!(ended.stdout.len(), STDOUT_BYTES_MAX);
    }

    #[test]
    fn a_request_to_stop_ends_the_child() {
        let helper =
            Helper { args: vec!["-c".into(), "sleep 600".into()], ..Helper::at("/bin/sh") };
        helper.cancel.cancel();
        let ended = run_child(&helper, "hidden", b"", LONG).unwrap();
        assert_eq!((ended.hung, ended.how.as_deref()), (false, Some("a request to stop")));
    }

    #[test]
    fn a_descendant_that_keeps_the_pipes_open_does_not_hold_up_the_parent() {
        let started = Instant::now();
        let ended = shell("sleep 20 & exit 0", b"", LONG);
        assert_eq!((ended.how, ended.hung), (None, false));
        assert!(started.elapsed() < Duration::from_secs(15));
    }
}
