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
        assert_eq!(left, ["toolkit", "toolkit/lock"]);
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

/// A machine whose pip brings one small wheel, pinned, with an nvcc that works.
fn machine_with_a_wheel() -> (Machine, String) {
    let path = std::env::var("PATH").unwrap();
    let python = crate::toolkit::probe::on_path("python3", &path).unwrap();
    let script = "#!/bin/sh\ncase \"$2\" in\n\
        pip) for D; do :; done; echo x >> ROOT/calls; cp ROOT/a-1-py3-none-any.whl \"$D\";;\n\
        *) exec PYTHON \"$@\";;\nesac\n";
    let mut machine = machine(Some(""));
    let root = machine.root.clone();
    let script = script.replace("ROOT", root.as_str()).replace("PYTHON", python.as_str());
    files::write_atomic(root.join("bin/python3"), script).unwrap();
    let content = root.join("nvidia/cu13");
    for folder in ["bin/crt", "nvvm/bin", "lib"] {
        files::create_dir(content.join(folder)).unwrap();
    }
    let nvcc = "#!/bin/sh\necho 'tools, release 13.0, V13.0.1'\n";
    for (name, text) in [("bin/nvcc", nvcc), ("bin/nvcc.profile", ""), ("lib/libcudart.so.13", "")]
    {
        files::write_atomic(content.join(name), text).unwrap();
    }
    let wheel = "a-1-py3-none-any.whl";
    let made = process::Command::new(&python)
        .args(["-m", "zipfile", "-c", wheel, "nvidia"])
        .cwd(&root)
        .run(&Cancel::new())
        .unwrap();
    assert!(made.succeeded());
    let bytes = std::fs::read(root.join(wheel)).unwrap();
    machine.managed.pins.wheel = vec![Wheel {
        package: "a".into(),
        version: "1".into(),
        platform: std::env::consts::ARCH.into(),
        bytes: bytes.len() as u64,
        sha256: Digest::of(&bytes),
    }];
    let path = format!("{root}/bin:{path}");
    (machine, path)
}

#[test]
fn two_at_once_fetch_it_once_and_a_broken_one_is_fetched_again() {
    let (machine, path) = machine_with_a_wheel();
    let provision = || machine.managed.provision(&path, &mut |_| {}, &Cancel::new()).unwrap();
    let calls = || std::fs::read_to_string(machine.root.join("calls")).unwrap().lines().count();
    let root = std::thread::scope(|scope| {
        let other = scope.spawn(provision);
        assert_eq!(provision(), other.join().unwrap());
        machine.managed.root()
    });
    assert_eq!(calls(), 1);
    let mode = |name: &str| {
        let metadata = std::fs::metadata(root.join(name)).unwrap();
        std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o111
    };
    assert!(mode("bin/nvcc") != 0 && mode("bin/nvcc.profile") == 0);
    let link = std::fs::read_link(root.join("lib/libcudart.so")).unwrap();
    assert_eq!(link.to_str(), Some("libcudart.so.13"));
    files::write_atomic(root.join("bin/nvcc"), "broken").unwrap();
    provision();
    assert_eq!(calls(), 2);
    assert_eq!(provision(), root);
    assert_eq!(calls(), 2);
}

#[test]
fn the_real_one_is_what_was_pinned() {
    let managed = Managed::under(&crate::toolkit::target_for_tests());
    let path = std::env::var("PATH").unwrap();
    let root = managed.provision(&path, &mut |_| {}, &Cancel::new()).unwrap();
    let toolkit =
        crate::toolkit::probe(&root, crate::toolkit::Origin::Managed, &path, &Cancel::new());
    let toolkit = toolkit.unwrap();
    let pinned = managed.wheels().find(|wheel| wheel.package == "nvidia-cuda-nvcc").unwrap();
    assert_eq!((&toolkit.release, &toolkit.version), (&managed.pins.release, &pinned.version));
    // `version.h` and `cuda_runtime_api.h` of those wheels: 3000001 and 13000.
    assert_eq!(toolkit.cccl.as_deref(), Some("3.0.1"));
    assert_eq!(toolkit.cudart.as_deref(), Some("13.0"));
    assert_eq!(toolkit.lib, Some(root.join("lib")));
    for code in ["sm_75", "compute_80", "sm_90"] {
        assert!(toolkit.supports(code.parse().unwrap()), "{code}");
    }
    assert!(!toolkit.supports("sm_70".parse().unwrap()), "CUDA 13 dropped it");
    assert_eq!(toolkit.tools, crate::toolkit::Tools::default());
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
