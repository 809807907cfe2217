//! Records as a GPU host would bring them.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use proofrun_core::Digest;
use proofrun_core::assess::read;
use proofrun_core::card::CardState;
use proofrun_core::device::DeviceFacts;
use proofrun_core::record::model::{
    BuildRecord, Commit, Ended, FileRecord, ProgramRecord, RECORD_FILE, RECORD_FORMAT, Record,
    RecordedDevice, RunRecord, RunnerFacts, SIGNATURE_FILE, SignedAt,
};
use proofrun_core::toolkit::ToolkitFacts;
use proofrun_core::trust::{Namespace, sign};
use proofrun_runner::course::{course_files, read_lesson};

use super::{RECORDED, RECORDER, Scratch, key, time};

/// What a record will be of.
#[derive(Debug, Clone)]
pub struct RecordPlan {
    /// The device.
    pub device: DeviceFacts,
    /// The variant.
    pub variant: String,
    /// For each run the two times that its program prints, in thousandths of a millisecond.
    pub times: Vec<(u32, u32)>,
    /// When the last run ended.
    pub at: String,
    /// Who signs.
    pub recorder: String,
    /// What compiled.
    pub nvcc: String,
    /// What `bundle` issued.
    pub nonce: String,
}

impl RecordPlan {
    /// Five good runs on an H200, the header's own build.
    pub fn h200() -> Self {
        Self {
            device: device("NVIDIA H200", "9.0", 132),
            variant: "sm_75".to_owned(),
            times: vec![(27, 31), (28, 31), (27, 30), (27, 32), (28, 33)],
            at: RECORDED.to_owned(),
            recorder: RECORDER.to_owned(),
            nvcc: "13.0.88".to_owned(),
            nonce: Digest::of("h200").to_string(),
        }
    }

    /// The same on a T4.
    pub fn t4() -> Self {
        let nonce = Digest::of("t4").to_string();
        Self { device: device("Tesla T4", "7.5", 40), nonce, ..Self::h200() }
    }
}

/// A device's facts.
pub fn device(name: &str, capability: &str, sm_count: u32) -> DeviceFacts {
    DeviceFacts {
        name: name.to_owned(),
        compute_capability: capability.parse().unwrap(),
        sm_count,
        l2_bytes: 62_914_560,
        memory_bytes: 150_109_880_320,
        driver: "580.159.04".to_owned(),
    }
}

/// What the scratch lesson's program prints.
pub fn stdout(device: &DeviceFacts, (a, b): (u32, u32)) -> String {
    let ms = |thousandths: u32| format!("{}.{:03} ms", thousandths / 1000, thousandths % 1000);
    format!(
        "GPU: {} (compute capability {})\n{} blocks\none: {}\ntwo: {}\ntwo/one: {:.3}\n",
        device.name,
        device.compute_capability,
        2 * device.sm_count,
        ms(a),
        ms(b),
        f64::from(b) / f64::from(a)
    )
}

impl Scratch {
    /// Files a signed record of a lesson as it is now, and returns its digest.
    pub fn record(&self, lesson: &str, plan: &RecordPlan) -> Digest {
        self.record_with(lesson, plan, |_, _| {})
    }

    /// The same with facts and files changed before the signature: a record that was signed as it
    /// is.
    pub fn record_with(
        &self,
        lesson: &str,
        plan: &RecordPlan,
        change: impl FnOnce(&mut Record, &mut BTreeMap<String, Vec<u8>>),
    ) -> Digest {
        let (mut record, mut files) = self.unsigned(lesson, plan);
        change(&mut record, &mut files);
        record.file = files
            .iter()
            .map(|(path, bytes)| FileRecord {
                path: path.clone(),
                bytes: bytes.len() as u64,
                sha256: Digest::of(bytes),
            })
            .collect();
        let text = record.to_toml().unwrap();
        let digest = Digest::of(&text);
        let signature = sign(&key(&plan.recorder), Namespace::Record, text.as_bytes()).unwrap();
        files.insert(RECORD_FILE.to_owned(), text.into_bytes());
        files.insert(SIGNATURE_FILE.to_owned(), signature.into_bytes());
        let folder = format!("lessons/{lesson}/evidence/{}", record.folder_name(&digest));
        for (name, bytes) in files {
            self.write(format!("{folder}/{name}"), bytes);
        }
        digest
    }

    /// A record's facts and files before it is listed and signed.
    pub fn unsigned(&self, lesson: &str, plan: &RecordPlan) -> (Record, BTreeMap<String, Vec<u8>>) {
        let mut files = BTreeMap::new();
        let mut runs = Vec::new();
        for (index, times) in plan.times.iter().enumerate() {
            let (out, err) =
                (format!("scale.run-{index}.stdout"), format!("scale.run-{index}.stderr"));
            files.insert(out.clone(), stdout(&plan.device, *times).into_bytes());
            files.insert(err.clone(), Vec::new());
            let (ended, exit) = (Ended::Exited, Some(0));
            runs.push(RunRecord { ended, exit, wall_ms: 900, stdout: out, stderr: err });
        }
        files.insert("scale.build.log".to_owned(), Vec::new());
        files.insert("scale.ptx".to_owned(), b".version 9.0\n.target sm_75\n".to_vec());
        let program = ProgramRecord {
            name: "scale".to_owned(),
            build: self.build_record(lesson, &plan.variant),
            command: vec!["./scale".to_owned()],
            environment: BTreeMap::new(),
            run: runs,
        };
        let record = Record {
            schema: RECORD_FORMAT,
            lesson: lesson.to_owned(),
            variant: plan.variant.clone(),
            recorded_at: time(&plan.at),
            recorder: plan.recorder.clone(),
            signed_at: SignedAt::Host,
            nonce: plan.nonce.clone(),
            runs: u32::try_from(plan.times.len()).unwrap(),
            commit: Some(Commit { id: "0".repeat(40), dirty: false }),
            runner: RunnerFacts { version: "0.1.0".to_owned(), executable: Digest::of("runner") },
            toolkit: ToolkitFacts {
                nvcc: plan.nvcc.clone(),
                cccl: Some("3.0.1".to_owned()),
                host_compiler: None,
                ptx_isa: Some("9.0".to_owned()),
            },
            device: RecordedDevice {
                uuid_sha256: Digest::of(&plan.device.name),
                facts: plan.device.clone(),
                cuda: "13.0".to_owned(),
            },
            before: CardState::default(),
            after: CardState::default(),
            environment: BTreeMap::new(),
            program: vec![program],
            sanitizer: Vec::new(),
            check: None,
            file: Vec::new(),
        };
        (record, files)
    }

    fn build_record(&self, lesson: &str, variant: &str) -> BuildRecord {
        let (course, _) = course_files(self.path()).unwrap().into_course();
        let folder = Utf8PathBuf::from(format!("lessons/{lesson}"));
        let files = read_lesson(self.path(), &folder).unwrap();
        let (text, _) = read(&files, &course).unwrap();
        let program = text.lesson.primary();
        BuildRecord {
            argv: text.lesson.build(program, variant).unwrap().words(),
            log: "scale.build.log".to_owned(),
            ptx: "scale.ptx".to_owned(),
            executable: Digest::of("executable"),
            prebuilt: false,
            source: text.sources[&program.name].clone(),
        }
    }
}
