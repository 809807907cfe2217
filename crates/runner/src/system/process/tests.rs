//! Children that exit, die, hang, flood, escape and close their pipes.

use std::time::{Duration, Instant};

use super::*;

/// Far more than any of these children needs on a slow, busy machine, and far less than a child
/// that sleeps.
const PATIENCE: Duration = Duration::from_secs(60);

fn sh(script: &str) -> Command {
    Command::new("sh").args(["-c", script]).deadline(PATIENCE).ending(Ending::Kill)
}

fn check(command: Command, status: Status, stdout: &[u8], stderr: &[u8]) {
    let start = Instant::now();
    let ended = command.run(&Cancel::new()).unwrap();
    assert_eq!(
        (ended.status, ended.stdout.as_slice(), ended.stderr.as_slice()),
        (status, stdout, stderr)
    );
    assert!(ended.survivors.is_empty());
    assert!(start.elapsed() < 2 * PATIENCE, "it waited for somebody");
}

fn alive(pid: &[u8]) -> bool {
    let pid = std::str::from_utf8(pid).unwrap().trim();
    assert!(pid.parse::<u32>().is_ok(), "{pid}");
    std::path::Path::new("/proc").join(pid).exists()
}

#[test]
fn exit_statuses_and_signals_are_told_apart() {
    check(sh("printf out; printf err >&2"), Status::Exit(0), b"out", b"err");
    check(sh("exit 7"), Status::Exit(7), b"", b"");
    check(sh("kill -SEGV $$"), Status::Signal(11), b"", b"");
    check(sh("kill -KILL $$"), Status::Signal(9), b"", b"");
}

#[test]
fn bytes_pass_as_they_are() {
    check(sh(r"printf 'a\377\000\r\nb'"), Status::Exit(0), b"a\xff\0\r\nb", b"");
    check(sh("cat").stdin(*b"in\0put"), Status::Exit(0), b"in\0put", b"");
    check(sh("cat"), Status::Exit(0), b"", b"");
}

#[test]
fn a_child_that_closes_its_pipes_and_lives_on_is_followed() {
    check(sh("exec >&- 2>&-; sleep 0.3; exit 3"), Status::Exit(3), b"", b"");
}

#[test]
fn a_child_that_hangs_is_ended() {
    let hang = sh("printf before; sleep 1000; printf after").deadline(Duration::from_millis(500));
    check(hang.clone(), Status::Hung, b"before", b"");
    let polite = sh("trap 'printf bye; exit 0' TERM; sleep 1000 & wait")
        .deadline(Duration::from_secs(2))
        .ending(Ending::Terminate(PATIENCE));
    check(polite, Status::Hung, b"bye", b"");
    let stubborn = sh("trap '' TERM; while :; do sleep 1; done")
        .deadline(Duration::from_millis(500))
        .ending(Ending::Terminate(Duration::from_millis(100)));
    check(stubborn, Status::Hung, b"", b"");
}

#[test]
fn a_gigabyte_of_output_costs_its_limit() {
    let ended = sh("yes | head -c 1000000000; sleep 1000").run(&Cancel::new()).unwrap();
    assert_eq!(ended.status, Status::TooMuchOutput);
    assert_eq!((ended.stdout.len(), ended.stdout.capacity() <= 4 << 20), (OUTPUT_BYTES_MAX, true));
    check(sh("printf 1234 >&2").output_max(0, 4), Status::Exit(0), b"", b"1234");
    check(sh("printf 12345 >&2").output_max(0, 4), Status::TooMuchOutput, b"", b"1234");
}

#[test]
fn a_cancelled_child_is_ended() {
    let cancel = Cancel::new();
    let other = cancel.clone();
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        other.cancel();
    });
    let ended = sh("sleep 1000").run(&cancel).unwrap();
    assert_eq!(ended.status, Status::Cancelled);
    thread.join().unwrap();
}

#[test]
fn what_a_child_leaves_in_its_group_goes_with_it() {
    let ended = sh("sleep 1000 & echo $!").run(&Cancel::new()).unwrap();
    assert_eq!(ended.status, Status::Exit(0));
    assert!(!alive(&ended.stdout));
}

#[test]
fn a_descendant_that_escaped_by_fork_and_setsid_goes_too() {
    let scripts = [
        // It keeps the pipe open.
        "setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.5",
        // It keeps no variable of its parents.
        "env -i PATH=\"$PATH\" setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.5",
        // Its parent ends before it does.
        "(setsid sh -c 'echo $$; exec sleep 1000' &) ; sleep 0.5",
    ];
    for script in scripts {
        let ended = sh(script).run(&Cancel::new()).unwrap();
        assert_eq!(ended.status, Status::Exit(0), "{script}");
        assert!(!alive(&ended.stdout), "{script}");
        let ended = sh(&format!("{script}; sleep 1000")).deadline(Duration::from_secs(3));
        let ended = ended.run(&Cancel::new()).unwrap();
        assert_eq!(ended.status, Status::Hung, "{script}");
        assert!(!alive(&ended.stdout), "{script}");
    }
}

#[test]
fn one_childs_end_leaves_the_others_alone() {
    let long = std::thread::spawn(|| {
        sh("setsid sleep 2 & sleep 2; wait $! && printf whole").run(&Cancel::new()).unwrap()
    });
    // A direct child of this process that did not come through here.
    let mut foreign = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    for _ in 0..10 {
        check(sh("setsid sleep 1000 & true"), Status::Exit(0), b"", b"");
    }
    assert_eq!(long.join().unwrap().stdout, b"whole");
    assert!(foreign.try_wait().unwrap().is_none());
    foreign.kill().unwrap();
    foreign.wait().unwrap();
}

#[test]
fn the_environment_is_what_was_asked_for() {
    let show = sh("printf \"$A.$B.${HOME-none}\"");
    let path = std::env::var("PATH").unwrap();
    let clear = show.clone().env_clear().env("PATH", &path).env("A", "1");
    check(clear, Status::Exit(0), b"1..none", b"");
    let removed = show.env("B", "2").env_remove(["HOME"]);
    check(removed, Status::Exit(0), b".2.none", b"");
}

#[test]
fn a_report_has_a_descriptor_of_its_own() {
    let script = "printf out; eval \"printf report >&$REPORT_FD\"";
    let ended = Command::new("bash").args(["-c", script]).report("REPORT_FD", 100);
    let ended = ended.run(&Cancel::new()).unwrap();
    assert_eq!((ended.stdout.as_slice(), ended.report.as_slice()), (&b"out"[..], &b"report"[..]));
}

#[test]
fn bytes_arrive_as_they_are_written_and_a_variable_may_say_more_than_the_number() {
    let script = "printf 'a\\377'; sleep 0.1; fd=${SAYS#<}; eval \"printf told >&${fd%>}\"";
    let command = Command::new("bash").args(["-c", script]).report_within("SAYS", ["<", ">"], 100);
    let mut seen = Vec::new();
    let mut collect = |stream, bytes: &[u8]| seen.push((stream, bytes.to_vec()));
    let ended = command.run_streamed(&Cancel::new(), &mut collect).unwrap();
    let expect = [(Stream::Stdout, b"a\xff".to_vec()), (Stream::Report, b"told".to_vec())];
    assert_eq!((seen.as_slice(), ended.report.as_slice()), (&expect[..], &b"told"[..]));
}

#[test]
fn lines_arrive_as_they_are_written() {
    let mut lines = Vec::new();
    let mut collect = |stream, line: &str| lines.push((stream, line.to_owned()));
    sh("echo one; sleep 0.1; echo two >&2").run_with(&Cancel::new(), &mut collect).unwrap();
    assert_eq!(lines, [(Stream::Stdout, "one".into()), (Stream::Stderr, "two".into())]);
}

#[test]
fn what_cannot_start_says_why() {
    let run = |command: Command| command.run(&Cancel::new()).unwrap_err().to_string();
    let none = run(Command::new("no-such-program"));
    assert_eq!(none, "program `no-such-program` not found; is it installed and on PATH?");
    let folder = run(sh("true").cwd("/no/such/folder"));
    assert_eq!(folder, "folder `/no/such/folder` to run `sh` in is not there");
    assert!(run(Command::new("/etc/passwd")).starts_with("cannot start `/etc/passwd`: "));
}

/// Runs as a program of its own, for the two tests below: a child that writes its process id to a
/// file and sleeps. How it ended is written to another.
#[test]
#[ignore = "a program for the tests below, which start it"]
fn parent() {
    let folder = std::env::var("PARENT_FOLDER").unwrap();
    let script = format!("echo $$ > {folder}/new && mv {folder}/new {folder}/pid; exec sleep 1000");
    let cancel = Cancel::on_signals().unwrap();
    let ended = sh(&script).deadline(2 * PATIENCE).run(&cancel).unwrap();
    std::fs::write(format!("{folder}/status"), ended.status.to_string()).unwrap();
}

/// Starts [`parent`], signals it once its child runs, and waits for both to be gone.
fn signal_a_parent(signal: rustix::process::Signal) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut parent = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "system::process::tests::parent", "--ignored"])
        .env("PARENT_FOLDER", folder.path())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let wait_until = |done: &dyn Fn() -> bool| {
        let start = Instant::now();
        while !done() {
            assert!(start.elapsed() < PATIENCE, "waited in vain");
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    wait_until(&|| path("pid").exists());
    let child = std::fs::read(path("pid")).unwrap();
    assert!(alive(&child));
    let pid = rustix::process::Pid::from_child(&parent);
    rustix::process::kill_process(pid, signal).unwrap();
    parent.wait().unwrap();
    wait_until(&|| !runs(&child));
    std::fs::read_to_string(path("status")).ok()
}

/// Whether a process is there and no zombie: who reaps an orphan depends on the machine.
fn runs(pid: &[u8]) -> bool {
    let pid = std::str::from_utf8(pid).unwrap().trim();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
fn a_child_does_not_outlive_a_program_that_is_killed() {
    assert_eq!(signal_a_parent(rustix::process::Signal::KILL), None);
}

#[test]
fn a_signal_ends_the_child_in_order() {
    let status = signal_a_parent(rustix::process::Signal::TERM);
    assert_eq!(status, Some(Status::Cancelled.to_string()));
    let status = signal_a_parent(rustix::process::Signal::INT);
    assert_eq!(status, Some(Status::Cancelled.to_string()));
}
