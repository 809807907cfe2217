//! `lesson-runner record` and `check` as a user calls them, on a stand-in for the driver: exit
//! codes, what is said, and what kills and signals leave.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail it by panicking")]

mod scene;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use camino::Utf8PathBuf;
use proofrun_core::Digest;
use scene::{GOOD, LESSON, Scene};

const RUNNER: &str = env!("CARGO_BIN_EXE_lesson-runner");

/// A bundle of this very runner, and a driver beside it.
struct Host {
    scene: Scene,
}

impl Host {
    fn new(script: &str) -> Self {
        Self::of(script, 20, false)
    }

    fn of(script: &str, deadline_s: u32, harness: bool) -> Self {
        let runner = Digest::of(std::fs::read(RUNNER).unwrap());
        let scene = Scene::of(script.as_bytes(), deadline_s, harness, &runner);
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_driver/libcuda.c");
        let done = Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .arg(scene.base.join("libcuda.so"))
            .arg(source)
            .arg("-lm")
            .status();
        assert!(done.unwrap().success());
        Self { scene }
    }

    /// The runner with these arguments; of tools, only those of a plain system are on its path.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(RUNNER);
        command
            .args(args)
            .current_dir(&self.scene.base)
            .env("PATH", "/usr/bin:/bin")
            .env("TMPDIR", &self.scene.base)
            .env("LD_LIBRARY_PATH", &self.scene.base)
            .env_remove("CUDA_HOME")
            .env_remove("CUDA_PATH");
        command
    }

    /// Exit code, standard output, standard error.
    fn call(&self, args: &[&str]) -> (i32, String, String) {
        let done = self.command(args).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (done.status.code().unwrap(), text(done.stdout), text(done.stderr))
    }

    fn record(&self, more: &[&str]) -> (i32, String, String) {
        self.call(&[&["record", "--bundle", "bundle", "--out", "out", "--prebuilt"], more].concat())
    }

    /// Starts a recording and returns it once it says that it is in this step.
    fn record_until(&self, step: &str) -> Child {
        let args = ["record", "--bundle", "bundle", "--out", "out", "--prebuilt", "--all"];
        let mut child =
            self.command(&args).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().contains(step)));
        // Nobody reads the rest, and it must not mind.
        child
    }
}

#[test]
fn a_recording_says_where_it_is_and_what_comes_next() {
    let script = "#!/bin/sh\necho 'items: 3'\necho 'took 1.500 ms'\n\
                  echo \"${LD_LIBRARY_PATH-none}\" >&2\n";
    let host = Host::new(script);
    let (code, out, err) = host.record(&["day-1"]);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.starts_with(&format!("recorded          {LESSON} (sm_80): ")), "{out}");
    assert!(out.contains("import out --key FILE --recorder NAME"), "{out}");
    assert!(err.contains("[3/10] run 1 of echo"), "{err}");
    let (record, files) = host.scene.only_record();
    assert_eq!(record.nonce, scene::NONCE);
    assert_eq!(record.program[0].run.len(), 5);
    // What let the stand-in for the driver in does not reach the program, nor the record.
    assert_eq!(files["echo.run-0.stderr"], b"none\n");
    assert!(!record.environment.contains_key("LD_LIBRARY_PATH"));
    let (code, out, _) = host.record(&["--all"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("recorded earlier"), "{out}");
}

#[test]
fn each_end_has_its_exit_code() {
    let n = "n=$(cat n 2>/dev/null || echo 0)\necho $((n+1)) > n\n";
    for (script, args, expect) in [
        ("#!/bin/sh\nexit 3\n".to_owned(), &["--all"][..], 27),
        (format!("#!/bin/sh\n{n}echo \"items: $n\"\necho 'took 1.500 ms'\n"), &["--all"], 23),
        (GOOD.to_owned(), &["--all", "--variant", "sm_90"], 4),
        (GOOD.to_owned(), &["day-2"], 2),
        (GOOD.to_owned(), &[], 2),
        (GOOD.to_owned(), &["--all", "--runs", "0"], 2),
        (GOOD.to_owned(), &["--all", "--budget", "30"], 2),
        (GOOD.to_owned(), &["--all", "--budget", "1ns"], 20),
        (GOOD.to_owned(), &["--all", "--device", "7"], 25),
        (GOOD.to_owned(), &["--all", "--key", "nowhere", "--recorder", "r"], 1),
    ] {
        let host = Host::new(&script);
        let (code, out, err) = host.record(args);
        assert_eq!(code, expect, "{args:?}: {out}{err}");
    }
}

#[test]
fn no_driver_and_no_device_are_gates() {
    let host = Host::new(GOOD);
    let args = ["record", "--all", "--bundle", "bundle", "--out", "out", "--prebuilt"];
    for (name, value, expect) in [
        ("LD_LIBRARY_PATH", "/nowhere", "no NVIDIA driver"),
        ("FAKE_CUDA", "no-device", "the driver shows none"),
        ("FAKE_CUDA", "crash", "driver broken"),
    ] {
        let done = host.command(&args).env(name, value).output().unwrap();
        let out = String::from_utf8(done.stdout).unwrap();
        assert_eq!(done.status.code(), Some(25), "{out}");
        assert!(out.starts_with("gated") && out.contains(expect), "{out}");
    }
    assert!(!host.scene.out().exists());
}

#[test]
fn a_torn_bundle_a_strange_runner_and_a_checkout_are_refused() {
    let host = Host::new(GOOD);
    let source = host.scene.bundle().join("course/lessons").join(LESSON).join("echo.cu");
    let whole = std::fs::read(&source).unwrap();
    std::fs::write(&source, &whole[1..]).unwrap();
    let (code, _, err) = host.record(&["--all"]);
    assert!(code == 1 && err.contains("is not the one that was bundled"), "{code} {err}");
    std::fs::remove_file(&source).unwrap();
    assert!(host.record(&["--all"]).2.contains("is missing"));
    std::fs::write(&source, &whole).unwrap();
    std::fs::write(source.with_file_name("more.cu"), "").unwrap();
    assert!(host.record(&["--all"]).2.contains("was not bundled"));

    let strange = Host { scene: Scene::of(GOOD.as_bytes(), 20, false, &Digest::of("another")) };
    let (code, _, err) = strange.record(&["--all"]);
    assert!(code == 2 && err.contains("not the `lesson-runner` of the bundle"), "{code} {err}");

    let (code, _, err) = host.call(&["record", "--all", "--bundle", "bundle/course", "--out", "o"]);
    assert!(code == 2 && err.contains("`cargo xtask bundle --out DIR`"), "{code} {err}");
    let (code, _, err) = host.call(&["record", "--all", "--bundle", "/proc", "--out", "o"]);
    assert!(code == 2 && err.contains("neither an unpacked bundle"), "{code} {err}");
}

#[test]
fn a_killed_recording_leaves_no_child_and_the_next_call_goes_on() {
    let script = "#!/bin/sh\n[ -e slow ] || { touch slow; exec sleep 87654; }\n\
                  echo 'items: 3'\necho 'took 1.500 ms'\n";
    let host = Host::new(script);
    let mut first = host.record_until("run 0");
    // While it records, nobody else does on this card.
    let (code, _, err) = host.record(&["--all"]);
    assert!(code == 1 && err.contains("is locked by process"), "{code} {err}");
    let work = host.scene.left();
    assert!(work.len() == 1 && work[0].starts_with(".work-fake-sm_80-"), "{work:?}");
    let marker = host.scene.out().join(LESSON).join(&work[0]).join("bin.echo/slow");
    while !marker.exists() {
        std::thread::yield_now();
    }
    first.kill().unwrap();
    first.wait().unwrap();
    let (code, out, err) = host.record(&["--all"]);
    assert_eq!(code, 0, "{out}{err}");
    host.scene.only_record();
    assert!(!sleeps("87654"));
}

#[test]
fn a_full_disk_is_said_and_the_next_call_goes_on() {
    let host = Host::new(GOOD);
    let runner = format!("trap '' XFSZ; ulimit -f 1; exec {RUNNER} \"$@\"");
    // No file may grow beyond a block of 512 or 1024 bytes: the runs fit in there, what a record
    // says doesn't.
    let mut limited = Command::new("sh");
    limited.args(["-c", &runner, "sh", "record", "--all", "--bundle", "bundle", "--out", "out"]);
    let done = limited
        .arg("--prebuilt")
        .current_dir(&host.scene.base)
        .env("TMPDIR", &host.scene.base)
        .env("LD_LIBRARY_PATH", &host.scene.base)
        .output()
        .unwrap();
    let out = String::from_utf8(done.stdout).unwrap();
    assert!(done.status.code() == Some(1) && out.contains("cannot write"), "{out}");
    assert!(host.scene.left().iter().all(|name| name.starts_with(".work-")));
    assert_eq!(host.record(&["--all"]).0, 0);
    host.scene.only_record();
}

#[test]
fn an_interrupt_stops_in_order() {
    let host = Host::new("#!/bin/sh\nexec sleep 76543\n");
    let child = host.record_until("run 0");
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(1));
    assert!(!sleeps("76543"));
    assert!(host.scene.left().iter().all(|name| name.starts_with(".work-")));
}

/// Whether a process sleeps for this time, which nobody else sleeps for.
fn sleeps(time: &str) -> bool {
    let wanted = format!("sleep\0{time}\0").into_bytes();
    let mut lines = std::fs::read_dir("/proc").unwrap().flatten();
    lines.any(|entry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| line == wanted))
}

#[test]
fn check_launches_what_has_a_harness_and_says_what_has_none() {
    let host = Host::of(GOOD, 20, true);
    let args = ["check", "day-1", "--bundle", "bundle", "--prebuilt"];
    // All cases on the stand-in take most of a minute: here they end early.
    for (mode, expect, said) in [
        ("no-device", 25, "gated: no device"),
        ("old-driver", 25, "refused: "),
        ("illegal-address", 27, "failed: barrier-pipeline on NVIDIA Fake"),
        ("crash-in-launch", 27, "crashed by signal 11"),
    ] {
        let done = host.command(&args).env("FAKE_CUDA", mode).env("FAKE_CUDA_AT", "2").output();
        let done = done.unwrap();
        let out = String::from_utf8(done.stdout).unwrap();
        assert_eq!(done.status.code(), Some(expect), "{mode}: {out}");
        assert!(out.contains(said), "{mode}: {out}");
    }

    let none = Host::new(GOOD);
    let (code, out, _) = none.call(&args);
    assert!(code == 4 && out.contains("not executed: no Rust harness"), "{code} {out}");
    // A checkout of the course will do as well, where it can be compiled.
    let checkout: Utf8PathBuf = none.scene.bundle().join("course");
    let (code, out, _) = none.call(&["check", "--bundle", checkout.as_str()]);
    assert!(code == 4 && out.contains("not executed"), "{code} {out}");
}
