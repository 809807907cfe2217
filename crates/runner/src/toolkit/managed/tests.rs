//! The pins, and what happens when Python, pip, the network, a wheel or the machine fails.
//!
//! Failures are played by small programs called `python3` on a PATH of their own.

use super::*;

struct Machine {
    _guard: tempfile::TempDir,
    root: Utf8PathBuf,
    managed: Managed,
}

/// A machine whose `python3` is this shell script. `$D` is the folder that pip should fill.
fn machine(python3: Option<&str>) -> Machine {
    let guard = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
    files::create_dir(root.join("bin")).unwrap();
    if let Some(script) = python3 {
        let file = root.join("bin/python3");
        let prologue = "#!/bin/sh\nfor D; do :; done\nPATH=/usr/bin:/bin\n";
        files::write_atomic(&file, prologue.to_owned() + script).unwrap();
        files::make_executable(&file).unwrap();
    }
    let managed = Managed::under(&root.join("target"));
    Machine { _guard: guard, root, managed }
}

impl Machine {
    fn provision(&self, cancel: &Cancel) -> Result<Utf8PathBuf, ProvisionError> {
        self.managed.provision(self.root.join("bin").as_str(), &mut |_| {}, cancel)
    }

    fn check(&self, expect: &str) {
        let error = self.provision(&Cancel::new()).unwrap_err().to_string();
        assert!(error.contains(expect), "{error}");
        self.is_clean();
    }

    fn is_clean(&self) {
        let left = files::read_tree(self.root.join("target"), files::TreeLimits::COURSE).unwrap();
        let left: Vec<_> = left.into_keys().map(|path| path.to_string()).collect();
        assert_eq!(left, ["proofrun", "proofrun/toolkit", "proofrun/toolkit/lock"]);
    }
}

#[test]
fn the_pins_are_whole_for_both_kinds_of_processor() {
    let pins: Pins = toml::from_str(PINS).unwrap();
    for platform in ["x86_64", "aarch64"] {
        let names: Vec<_> = pins.wheel.iter().filter(|wheel| wheel.platform == platform).collect();
        assert_eq!(names.len(), 5, "{platform}");
        // About 105 MB, as the documentation says.
        let bytes: u64 = names.iter().map(|wheel| wheel.bytes).sum();
        assert!((90_000_000..120_000_000).contains(&bytes), "{platform}: {bytes}");
    }
    assert!(toml::from_str::<Pins>(&format!("more = 1\n{PINS}")).is_err());
}

#[test]
fn each_way_to_fail_says_what_to_do() {
    machine(None).check("`python3` not found, whose pip");
    machine(Some("echo 'python3: No module named pip' >&2; exit 1")).check("ensurepip");
    machine(Some("echo 'ERROR: No matching distribution' >&2; exit 1"))
        .check("pip failed:\nERROR: No matching distribution\ncheck the network");
    machine(Some(
        "echo 'THESE PACKAGES DO NOT MATCH THE HASHES\n x==1 from y:\n Got 12ab' >&2; exit 1",
    ))
    .check("`x==1` is not the one that is pinned: its digest is `12ab`");
    machine(Some("kill -9 $$")).check("pip failed:\n(it said nothing)");
}

#[test]
fn pips_word_is_not_taken_for_a_digest() {
    let python = "echo evil > \"$D/nvidia_cuda_nvcc-13.0.88-py3-none-any.whl\"";
    // SHA-256 of "evil\n".
    let evil = Digest::of("evil\n").to_string();
    machine(Some(python)).check(&evil);
    machine(Some("true")).check("that of no file");
}

#[test]
fn a_stop_while_fetching_leaves_nothing() {
    let machine = machine(Some("echo x > \"$D/part\"; exec sleep 1000"));
    let cancel = Cancel::new();
    let stop = cancel.clone();
    let mut seen = Vec::new();
    let path = machine.root.join("bin").to_string();
    let mut progress = |step: Progress| {
        if matches!(step, Progress::Fetching { bytes: 2.., .. }) {
            stop.cancel();
        }
        seen.push(step);
    };
    let error = machine.managed.provision(&path, &mut progress, &cancel).unwrap_err();
    assert!(matches!(error, ProvisionError::Cancelled), "{error}");
    machine.is_clean();
    let bytes_total = machine.managed.bytes_total();
    assert!(seen.contains(&Progress::Fetching { bytes: 2, bytes_total }));
}

#[test]
fn what_a_killed_run_left_is_removed() {
    let machine = machine(Some("exit 1"));
    let place = machine.managed.place();
    let left = place.with_file_name(format!(".{}.1-0.tmp", place.file_name().unwrap()));
    files::create_dir(left.join("arrived")).unwrap();
    machine.check("pip failed");
}
