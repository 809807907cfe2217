//! What a child leaves behind: descendants that left its process group, found and killed.
//!
//! This process is made a child subreaper, so that an orphaned descendant becomes its child and not
//! init's. A sweep after a child's end kills the orphans that belong to it, round after round: the
//! children of what was killed become orphans in turn.
//!
//! **Invariant: a sweep kills nothing that another part of this program may have started.** Whose
//! an orphan is says its process group; else the token in the environment it was executed with; and
//! one that has neither, but a session of its own, did call setsid, which no direct child here
//! does. (What changes its group, keeps the session and clears its environment is not found.)

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions};

/// The environment variable that carries the tokens of the runs that a process belongs to,
/// outermost first.
pub(super) const TOKENS: &str = "PROOFRUN_CHILD_OF";

/// How long a sweep tries. What outlives that sits in the kernel, or forks faster than it is
/// killed.
const SWEEP_MAX: Duration = Duration::from_secs(10);

/// The direct children that are being waited for: their process group (its leader's id) by token.
static LIVE: Mutex<BTreeMap<String, Option<i32>>> = Mutex::new(BTreeMap::new());

/// One sweep at a time: an orphan's process id is reused only after it was reaped, so whoever holds
/// this knows that the ids it looked at still mean the same processes.
static SWEEP: Mutex<()> = Mutex::new(());

/// A run's mark: registered before the spawn, taken off when dropped.
pub(super) struct Token(String);

impl Token {
    /// A new token. Also makes this process the reaper of its descendants; where the system refuses
    /// that, escaped descendants go to init and are not found.
    pub(super) fn new() -> Self {
        static REAPER: OnceLock<()> = OnceLock::new();
        static COUNT: AtomicU64 = AtomicU64::new(0);
        REAPER.get_or_init(|| {
            let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
        });
        let pid = rustix::process::getpid().as_raw_nonzero();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let started = stat(pid.get()).map_or(0, |stat| stat.start_ticks);
        let token = format!(";{pid}-{started}-{count};");
        locked(&LIVE).insert(token.clone(), None);
        Self(token)
    }

    /// The value of [`TOKENS`] for the child.
    pub(super) fn environment(&self) -> String {
        std::env::var(TOKENS).unwrap_or_default() + &self.0
    }

    /// Says which process was started.
    pub(super) fn started(&self, pid: i32) {
        locked(&LIVE).insert(self.0.clone(), Some(pid));
    }

    /// Kills and reaps what the child left behind; call it after the child was reaped. The ids of
    /// processes that would not die are returned.
    pub(super) fn sweep(&self) -> Vec<i32> {
        let _alone = locked(&SWEEP);
        let start = Instant::now();
        loop {
            let left = self.orphans();
            if left.is_empty() || start.elapsed() > SWEEP_MAX {
                return left;
            }
            for pid in left.into_iter().filter_map(Pid::from_raw) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
                let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn orphans(&self) -> Vec<i32> {
        let me = rustix::process::getpid().as_raw_nonzero().get();
        let session = stat(me).map(|stat| stat.session);
        let live = locked(&LIVE);
        let mut found: Vec<i32> = children()
            .into_iter()
            .filter(|pid| !live.values().any(|leader| *leader == Some(*pid)))
            .filter(|pid| {
                stat(*pid)
                    .is_some_and(|stat| stat.parent == me && self.owns(*pid, &stat, session, &live))
            })
            .collect();
        found.sort_unstable();
        found
    }

    fn owns(
        &self,
        pid: i32,
        stat: &Stat,
        session: Option<i32>,
        live: &BTreeMap<String, Option<i32>>,
    ) -> bool {
        let group = live.iter().find(|(_, leader)| **leader == Some(stat.group));
        if let Some((token, _)) = group {
            return *token == self.0;
        }
        let tokens = tokens_of(pid);
        let has = |token: &str| tokens.as_deref().is_some_and(|tokens| tokens.contains(token));
        if has(&self.0) {
            return true;
        }
        let others = live.keys().any(|token| has(token));
        !others && session.is_some_and(|session| session != stat.session)
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        locked(&LIVE).remove(&self.0);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// This process's children, orphans among them; all processes where the kernel keeps no list of
/// children.
fn children() -> Vec<i32> {
    let mut found = Vec::new();
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let mut listed = false;
    for task in tasks {
        if let Ok(text) = fs::read_to_string(task.path().join("children")) {
            listed = true;
            found.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
        }
    }
    if !listed {
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        found.extend(all.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok()));
    }
    found
}

/// The tokens in the environment that a process was executed with. A zombie has none any more.
fn tokens_of(pid: i32) -> Option<String> {
    let environment = fs::read(format!("/proc/{pid}/environ")).ok()?;
    let prefix = format!("{TOKENS}=");
    environment
        .split(|byte| *byte == 0)
        .find_map(|variable| variable.strip_prefix(prefix.as_bytes()))
        .map(|value| String::from_utf8_lossy(value).into_owned())
}

/// What `/proc/PID/stat` says of a process.
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    parent: i32,
    group: i32,
    session: i32,
    start_ticks: u64,
}

fn stat(pid: i32) -> Option<Stat> {
    parse_stat(&fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// The fields of proc_pid_stat(5). The program's name stands in brackets and may itself hold
/// brackets, blanks and bytes that are no UTF-8, so fields are counted from the last closing one.
fn parse_stat(bytes: &[u8]) -> Option<Stat> {
    let after_name = bytes.iter().rposition(|byte| *byte == b')')? + 1;
    let text = std::str::from_utf8(&bytes[after_name..]).ok()?;
    let fields: Vec<&str> = text.split_ascii_whitespace().collect();
    let number = |index: usize| fields.get(index)?.parse().ok();
    Some(Stat {
        parent: number(1)?,
        group: number(2)?,
        session: number(3)?,
        start_ticks: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_program_name_does_not_shift_the_fields() {
        let line = b"12 (a) S 1 1 1 \xff) R 7 8 9 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 4711 99";
        let expect = Stat { parent: 7, group: 8, session: 9, start_ticks: 4711 };
        assert_eq!(parse_stat(line), Some(expect));
        for broken in [b"".as_slice(), b"12 (a", b"12 (a) R 7", b"12 (a) R x 8 9"] {
            assert_eq!(parse_stat(broken), None);
        }
    }

    #[test]
    fn tokens_differ_and_none_is_part_of_another() {
        let tokens: Vec<_> = (0..12).map(|_| Token::new()).collect();
        for (index, one) in tokens.iter().enumerate() {
            for other in &tokens[index + 1..] {
                assert!(!other.0.ends_with(&one.0) && !one.0.ends_with(&other.0));
            }
        }
    }
}
