//! A bundle of one small lesson whose prebuilt program is a script, and a host that is described:
//! enough to record without nvcc, driver or device.
#![allow(dead_code, reason = "each test program uses its own part of it")]
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail it by panicking")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::{Course, LessonFiles, LessonText, read};
use proofrun_core::bundle::{BUNDLE_FORMAT, Bundle, BundledLesson, BundledRunner, Prebuilt};
use proofrun_core::card::CardState;
use proofrun_core::gate::{Device, Probe};
use proofrun_core::record::examine::parse;
use proofrun_core::record::model::{CheckOutcome, CheckSummary, Record, RunnerFacts};
use proofrun_core::toolkit::ToolkitFacts;
use proofrun_core::{DeviceFacts, Digest};
use proofrun_runner::bundle::{self, BundleFile};
use proofrun_runner::course::{read_lesson, record_folders};
use proofrun_runner::keys::SigningKey;
use proofrun_runner::record::{
    Host, PrebuiltProgram, RecordError, Recorded, Recorder, Step, Subject, write_prebuilt,
};
use proofrun_runner::system::clock::FixedClock;
use proofrun_runner::system::process::Cancel;
use tempfile::TempDir;

pub const NONCE: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
pub const LESSON: &str = "day-1-echo";
pub const GOOD: &str = "#!/bin/sh\necho 'items: 3'\necho 'took 1.500 ms'\n";

const SOURCE: &str = "\
// Day 1: echo
//
// Build: nvcc -std=c++17 -arch=sm_80 -o echo echo.cu
// Run:   ./echo
//
// Status: UNVERIFIED
//   no reviewed record of this code exists, so the page shows no output
//   `cargo xtask status` says what is missing
//
int main() { return 0; }
";

/// With the kernels of the one harness there is.
const PTX: &str = "\
.version 8.0
.target sm_80
.visible .entry _Z19pipelineSyncthreadsPKfPfm(
.visible .entry _Z20pipelineSplitBarrierPKfPfm(
";

/// A bundle on the disk, and where its records go.
pub struct Scene {
    _folder: TempDir,
    pub base: Utf8PathBuf,
    pub deadline_s: u32,
    pub harness: bool,
}

impl Scene {
    /// A bundle whose program is this script.
    pub fn new(script: &str) -> Self {
        Self::of(script.as_bytes(), 20, false, &Digest::of("runner"))
    }

    /// A bundle whose program is these bytes, with a deadline in seconds, and a Rust harness or
    /// none.
    pub fn of(program: &[u8], deadline_s: u32, harness: bool, runner: &Digest) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let base = Utf8PathBuf::try_from(folder.path().canonicalize().unwrap()).unwrap();
        let scene = Self { _folder: folder, base, deadline_s, harness };
        bundle::write(&scene.bundle(), facts(runner), &scene.contents(program)).unwrap();
        scene
    }

    pub fn bundle(&self) -> Utf8PathBuf {
        self.base.join("bundle")
    }

    pub fn out(&self) -> Utf8PathBuf {
        self.base.join("out")
    }

    /// The lesson's files, by path from the course's root.
    pub fn course(&self) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
        let harness = if self.harness { "[check]\nharness = \"barrier-pipeline\"\n" } else { "" };
        let manifest = format!(
            "schema = 1\noutput = \"\"\"\nitems: {{n:count}}\ntook {{a:ms.3}}\n\"\"\"\n\
             [run]\ndeadline_s = {}\n{harness}",
            self.deadline_s
        );
        let page =
            "# Day 1: echo\n\n```\nnvcc -std=c++17 -arch=sm_80 -o echo echo.cu\n./echo\n```\n";
        let files = [("lesson.toml", manifest.as_str()), ("echo.cu", SOURCE), ("README.md", page)];
        let folder = Utf8Path::new("lessons").join(LESSON);
        files.map(|(name, text)| (folder.join(name), text.as_bytes().to_vec())).into()
    }

    fn contents(&self, program: &[u8]) -> BTreeMap<Utf8PathBuf, BundleFile> {
        let plain = |bytes| BundleFile { bytes, executable: false };
        let course = self.course().into_iter();
        let mut contents: BTreeMap<Utf8PathBuf, BundleFile> = course
            .map(|(path, bytes)| (Utf8Path::new("course").join(path), plain(bytes)))
            .collect();
        let argv = "nvcc -std=c++17 -arch=sm_80 -o echo echo.cu".split(' ').map(str::to_owned);
        let toolkit = ToolkitFacts {
            nvcc: "12.0.76".into(),
            cccl: None,
            host_compiler: None,
            ptx_isa: Some("8.0".into()),
        };
        let built = PrebuiltProgram {
            facts: Prebuilt {
                argv: argv.collect(),
                toolkit,
                executable: Digest::of(program),
                ptx: Digest::of(PTX),
            },
            executable: program.to_vec(),
            ptx: PTX.into(),
            log: Vec::new(),
        };
        let home = Utf8Path::new("prebuilt").join(LESSON).join("sm_80/echo");
        for (name, bytes) in write_prebuilt(&built).unwrap() {
            contents.insert(home.join(name), plain(bytes));
        }
        contents
    }

    fn lesson(&self) -> (LessonFiles, LessonText) {
        let root = self.bundle().join("course");
        let files = read_lesson(&root, &Utf8Path::new("lessons").join(LESSON)).unwrap();
        let (text, _) = read(&files, &Course::default()).unwrap();
        (files, text)
    }

    /// Records once, as told.
    pub fn record(&self, take: &Take<'_>) -> Result<Recorded, RecordError> {
        self.with(take, |recorder, subject| recorder.record(subject, &self.out()))
    }

    /// Does all but the sanitizers.
    pub fn prepare(&self, take: &Take<'_>) -> Result<Option<Recorded>, RecordError> {
        self.with(take, |recorder, subject| recorder.prepare(subject, &self.out()))
    }

    fn with<T>(&self, take: &Take<'_>, call: impl FnOnce(&Recorder<'_>, Subject<'_>) -> T) -> T {
        let (files, text) = self.lesson();
        let recorder = Recorder {
            host: &take.host,
            toolkit: None,
            clock: &FixedClock("2026-01-02T03:04:05.6Z".parse().unwrap()),
            cancel: &take.cancel,
            signer: take.signer,
            runner: RunnerFacts { version: "0.1.0".into(), executable: Digest::of("runner") },
            commit: None,
            nonce: NONCE,
            runs: take.runs,
            ends: take.budget.map(|budget| (Instant::now() + budget, budget)),
            device: 0,
            progress: &|step| (take.progress)(step, &take.cancel),
        };
        let prebuilt = self.bundle().join("prebuilt").join(LESSON).join("sm_80");
        let subject =
            Subject { files: &files, text: &text, variant: "sm_80", prebuilt: Some(&prebuilt) };
        call(&recorder, subject)
    }

    /// The one record below `out`, with its files; there must be nothing else.
    pub fn only_record(&self) -> (Record, BTreeMap<String, Vec<u8>>) {
        let left: Vec<String> = self.left();
        assert_eq!(left.len(), 1, "{left:?}");
        let mut found = record_folders(&self.out()).unwrap();
        assert_eq!(found.len(), 1);
        let folder = found.pop().unwrap();
        assert!(folder.strangers.is_empty());
        let record = parse(&folder.path, &folder.files["record.toml"]).unwrap();
        let digest = Digest::of(&folder.files["record.toml"]);
        assert_eq!(folder.path.file_name(), Some(record.folder_name(&digest).as_str()));
        (record, folder.files)
    }

    /// What lies in the lesson's folder below `out`, by name.
    pub fn left(&self) -> Vec<String> {
        let entries = self.out().join(LESSON).read_dir_utf8().into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().to_owned()).collect();
        names.sort();
        names
    }
}

/// The facts of the scene's bundle.
pub fn facts(runner: &Digest) -> Bundle {
    Bundle {
        schema: BUNDLE_FORMAT,
        nonce: NONCE.to_owned(),
        issued_at: "2026-01-01T00:00:00Z".parse().unwrap(),
        commit: None,
        runner: BundledRunner { version: "0.1.0".into(), executable: *runner, glibc: None },
        lesson: vec![BundledLesson {
            name: LESSON.to_owned(),
            folder: Utf8Path::new("lessons").join(LESSON),
            variants: vec!["sm_80".to_owned()],
        }],
        file: Vec::new(),
    }
}

/// How to record once.
pub struct Take<'a> {
    pub host: FakeHost,
    pub cancel: Cancel,
    pub signer: Option<(&'a str, &'a SigningKey)>,
    pub runs: u32,
    pub budget: Option<Duration>,
    /// Told each step, with the flag that stops the recording.
    pub progress: &'a dyn Fn(&Step<'_>, &Cancel),
}

impl Default for Take<'_> {
    fn default() -> Self {
        Self {
            host: FakeHost::default(),
            cancel: Cancel::new(),
            signer: None,
            runs: 3,
            budget: None,
            progress: &|_, _| {},
        }
    }
}

/// A host with one device.
#[derive(Default)]
pub struct FakeHost {
    /// After so many probes the device no longer answers.
    pub answers: Option<u32>,
    pub sanitizer: Option<Utf8PathBuf>,
    pub capability: Option<&'static str>,
    pub driver: Option<&'static str>,
    pub probes: Cell<u32>,
    pub readings: Cell<u32>,
}

impl Host for FakeHost {
    fn probe(&self) -> Probe {
        let probes = self.probes.replace(self.probes.get() + 1);
        if self.answers.is_some_and(|answers| probes >= answers) {
            return Probe::DriverBroken { detail: "no answer within 30 s".into() };
        }
        let facts = DeviceFacts {
            name: "NVIDIA Fake".into(),
            compute_capability: self.capability.unwrap_or("9.0").parse().unwrap(),
            sm_count: 4,
            l2_bytes: 1,
            memory_bytes: 1,
            driver: self.driver.unwrap_or("580.1").into(),
        };
        let cuda = "13.0".parse().unwrap();
        Probe::Devices {
            devices: vec![Device { index: 0, facts, cuda, uuid: Digest::of("GPU-1") }],
        }
    }

    /// The temperature counts the readings.
    fn card_state(&self, _: &Device) -> CardState {
        let reading = self.readings.replace(self.readings.get() + 1);
        CardState { temperature_c: Some(reading), ..CardState::default() }
    }

    fn sanitizer(&self) -> Option<Utf8PathBuf> {
        self.sanitizer.clone()
    }

    fn sanitizer_deadline(&self) -> Duration {
        Duration::from_secs(3)
    }

    fn check(
        &self,
        harness: &str,
        _: &Utf8Path,
        _: u32,
    ) -> Result<(CheckSummary, Option<Vec<u8>>), RecordError> {
        let summary = CheckSummary {
            harness: harness.to_owned(),
            outcome: CheckOutcome::Passed,
            executed: 2,
            failed: 0,
            not_executed: 0,
            detail: None,
            report: Some("check.json".into()),
        };
        Ok((summary, Some(b"{}".to_vec())))
    }
}
