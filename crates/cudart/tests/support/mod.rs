//! The library that was built, the toolkit, and programs run over the one that were built by the
//! other.

#![allow(dead_code, reason = "each test uses what it needs")]

use std::io::Write as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use proofrun_emulator::finding::Finding;
use proofrun_emulator::report::{Event, LaunchReport};
use tempfile::TempDir;

/// The cdylib beside the test.
pub fn library() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.with_file_name("libproofrun_cudart.so")
}

/// The managed toolkit, which `cargo xtask verify` provisions; `None` says so on standard error.
///
/// # Panics
/// Where `PROOFRUN_TESTS_NEED_TOOLKIT` is set, as in CI, and there is none.
pub fn toolkit() -> Option<PathBuf> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/proofrun/toolkit");
    let found = std::fs::read_dir(all).ok().and_then(|entries| {
        let folders = entries.flatten().map(|entry| entry.path().join("nvidia/cu13"));
        folders.into_iter().find(|folder| folder.join("bin/nvcc").is_file())
    });
    if found.is_none() {
        let why = "not executed: no managed toolkit; `cargo xtask verify` provisions it";
        assert!(std::env::var_os("PROOFRUN_TESTS_NEED_TOOLKIT").is_none(), "{why}");
        let _ = writeln!(std::io::stderr(), "{why}");
    }
    found
}

/// A program, and the private folder it runs from.
pub struct Program {
    folder: TempDir,
}

/// What a run came to.
pub struct Ran {
    /// Exit and streams.
    pub output: Output,
    /// What the library told, in order.
    pub events: Vec<Event>,
}

impl Program {
    /// Builds a program as the harness does: PTX for the architectures, and NVIDIA's library to
    /// link with.
    pub fn cuda(toolkit: &Path, source: &str, architecture: &str) -> Self {
        let program = Self::in_folder();
        std::fs::write(program.path("a.cu"), source).unwrap();
        let built = Command::new(toolkit.join("bin/nvcc"))
            .args(["-std=c++17", "-O3", "-lineinfo", "--no-compress", "-cudart", "none"])
            .arg(format!("-gencode=arch={architecture},code={architecture}"))
            .args(["-cudadevrt", "none", "-l:libcudart.so.13", "-o", "a", "a.cu"])
            .arg(format!("-L{}", toolkit.join("lib").display()))
            .current_dir(program.folder.path())
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        program
    }

    /// Builds a C program that calls the runtime without the toolkit's headers.
    pub fn c(source: &str) -> Self {
        let program = Self::in_folder();
        std::fs::write(program.path("a.c"), source).unwrap();
        let built = Command::new("cc")
            .args(["-Wall", "-Wno-implicit-function-declaration", "-o", "a", "a.c"])
            .args(["-Llib", "-l:libcudart.so.13"])
            .current_dir(program.folder.path())
            .output()
            .unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        program
    }

    fn in_folder() -> Self {
        let folder = TempDir::new().unwrap();
        let library = folder.path().join("lib/libcudart.so.13");
        std::fs::create_dir(library.parent().unwrap()).unwrap();
        std::fs::copy(self::library(), library).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs it over the emulated device.
    pub fn run(&self, device: &str, arguments: &[&str]) -> Ran {
        self.run_explored(device, arguments, 0)
    }

    /// The same, each launch on so many schedules beside the canonical one.
    pub fn run_explored(&self, device: &str, arguments: &[&str], schedules: u32) -> Ran {
        let report = self.path("report");
        let file: OwnedFd = std::fs::File::create(&report).unwrap().into();
        let number = inheritable(&file);
        let configuration =
            format!(r#"{{"device":"{device}","report":{number},"schedules":{schedules}}}"#);
        let output = self.command(arguments).env("PROOFRUN_EMULATE", configuration).output();
        drop(file);
        let text = std::fs::read_to_string(&report).unwrap();
        let events = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Ran { output: output.unwrap(), events }
    }

    /// Its command, without a configuration.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.path("a"));
        command.args(arguments).env("LD_LIBRARY_PATH", self.path("lib"));
        command.env_remove("PROOFRUN_EMULATE").current_dir(self.folder.path());
        command
    }
}

/// Lets children inherit a descriptor; its number.
#[allow(unsafe_code, reason = "a flag of a descriptor is cleared")]
fn inheritable(file: &OwnedFd) -> i32 {
    let number = file.as_raw_fd();
    // SAFETY: the descriptor is ours and open.
    assert_eq!(unsafe { libc::fcntl(number, libc::F_SETFD, 0) }, 0);
    number
}

impl Ran {
    /// Standard output.
    pub fn out(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    /// Standard error.
    pub fn err(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// The findings, the last count of each.
    pub fn findings(&self) -> Vec<&Finding> {
        let mut all: Vec<&Finding> = Vec::new();
        for event in &self.events {
            let Event::Finding(finding) = event else { continue };
            let finding = finding.as_ref();
            let same = |one: &&Finding| {
                Finding { count: 0, ..(*one).clone() } == Finding { count: 0, ..finding.clone() }
            };
            all.retain(|one| !same(one));
            all.push(finding);
        }
        all
    }

    /// The launches.
    pub fn launches(&self) -> Vec<&LaunchReport> {
        let launches = self.events.iter().filter_map(|event| match event {
            Event::Launch(launch) => Some(launch),
            _ => None,
        });
        launches.collect()
    }

    /// Whether the end of the program was told.
    pub fn ended(&self) -> bool {
        matches!(self.events.last(), Some(Event::Ended { .. }))
    }
}
