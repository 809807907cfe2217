//! The plan of a record: what it will be of, and the build of each program.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use proofrun_core::Digest;
use proofrun_core::argv::Code as ArchCode;
use proofrun_core::assess::LessonFiles;
use proofrun_core::gate::{CarriedCode, CudaVersion, Device};
use proofrun_core::lesson::Program;
use proofrun_core::record::model::BuildRecord;
use proofrun_core::toolkit::ToolkitFacts;
use serde::{Deserialize, Serialize};

use crate::compile::{self, Cache, DEADLINE, Request, elf};
use crate::system::files;

use super::work::Work;
use super::{RecordError, Recorder, Subject, prebuilt};

/// The largest executable that is looked into, in bytes.
const EXECUTABLE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// What a record will be of. Work that was begun under another plan is not gone on with.
#[derive(Debug)]
pub struct Plan {
    /// The lesson's name.
    pub lesson: String,
    /// The variant.
    pub variant: String,
    /// The device's model.
    pub model: String,
    /// Digest of all inputs.
    pub digest: Digest,
}

/// A built program, as the work folder keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Built {
    /// What the record says of it.
    pub record: BuildRecord,
    /// What compiled it.
    pub toolkit: ToolkitFacts,
    /// The folder that it is run in, below the work folder.
    pub folder: Utf8PathBuf,
}

impl Built {
    /// The folder that it is run in.
    pub fn folder(&self, work: &Work) -> Utf8PathBuf {
        work.path(self.folder.as_str())
    }
}

impl Plan {
    /// The plan for a subject on a device.
    pub(super) fn of(recorder: &Recorder<'_>, subject: Subject<'_>, device: &Device) -> Self {
        let lesson = &subject.text.lesson;
        let mut parts = vec![
            lesson.name.clone(),
            subject.variant.to_owned(),
            recorder.nonce.to_owned(),
            recorder.runs.to_string(),
            recorder.runner.executable.to_string(),
            device.uuid.to_string(),
            format!("{:?}", lesson.run),
        ];
        for program in &lesson.programs {
            let build = lesson.build(program, subject.variant).map(|build| build.words());
            parts.extend(build.unwrap_or_default());
            parts.extend(program.run.clone());
            let sources = subject.text.sources.get(&program.name).into_iter().flatten();
            parts.extend(sources.flat_map(|row| [row.path.clone(), row.text.to_string()]));
        }
        Self {
            lesson: lesson.name.clone(),
            variant: subject.variant.to_owned(),
            model: device.facts.model(),
            digest: Digest::of_parts(parts),
        }
    }
}

/// Builds a program, or takes the bundle's prebuilt one, and puts executable, PTX and log where the
/// record has them.
pub(super) fn build(
    recorder: &Recorder<'_>,
    work: &Work,
    subject: Subject<'_>,
    program: &Program,
) -> Result<Built, RecordError> {
    let lesson = &subject.text.lesson;
    let folder = Utf8PathBuf::from(format!("bin.{}", program.name));
    files::create_dir(work.path(folder.as_str()))?;
    let command = lesson.build(program, subject.variant).ok_or_else(|| RecordError::Build {
        program: program.name.clone(),
        why: format!("variant `{}` is not declared", subject.variant),
    })?;
    let executable = folder.join(command.output());
    let ptx = format!("{}.ptx", program.name);
    let log = format!("{}.build.log", program.name);
    let source = subject.text.sources.get(&program.name).cloned().unwrap_or_default();
    let found = subject.prebuilt.map(|folder| prebuilt::read_prebuilt(folder, &program.name));
    let (built, is_prebuilt) = match (found.transpose()?.flatten(), recorder.toolkit) {
        (Some(prebuilt), _) => (prebuilt, true),
        (None, Some(toolkit)) => {
            let all = course_files(subject.files);
            let request = Request {
                command: &command,
                folder: &subject.files.folder,
                files: &all,
                toolkit,
                deadline: DEADLINE,
            };
            let cache = Cache::under(&work.path("cache"));
            let outcome = compile::compile(&request, &cache, recorder.cancel)?;
            (prebuilt::of_outcome(&command, &outcome, program)?, false)
        }
        (None, None) => return Err(RecordError::NoToolkit),
    };
    work.write(executable.as_str(), &built.executable)?;
    files::make_executable(work.path(executable.as_str()))?;
    work.write(&ptx, &built.ptx)?;
    work.write(&log, &built.log)?;
    let digest = Digest::of(&built.executable);
    let (argv, prebuilt) = (command.words(), is_prebuilt);
    let record = BuildRecord { argv, log, ptx, executable: digest, prebuilt, source };
    Ok(Built { record, toolkit: built.facts.toolkit, folder })
}

/// The lesson's own files and what they include, by their paths from the course's root.
pub fn course_files(files: &LessonFiles) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    let own = files.files.iter().filter(|(path, _)| !files.is_kept(path));
    let own = own.map(|(path, bytes)| (files.folder.join(path), bytes.clone()));
    let included = files.included.iter().map(|(path, bytes)| (path.clone(), bytes.clone()));
    own.chain(included).collect()
}

/// A program must bring its own CUDA runtime: one that it loads could be anything.
pub(super) fn refuse_foreign_runtime(work: &Work, program: &Program) -> Result<(), RecordError> {
    let bytes = executable_bytes(work, program)?;
    // What is no ELF file, such as a script of a test, loads no library by itself.
    let Ok(needs) = elf::needs(&bytes) else { return Ok(()) };
    match needs.libraries.iter().find(|library| library.starts_with("libcudart")) {
        None => Ok(()),
        Some(library) => Err(RecordError::ForeignRuntime {
            program: program.name.clone(),
            library: library.clone(),
        }),
    }
}

fn executable_bytes(work: &Work, program: &Program) -> Result<Vec<u8>, RecordError> {
    let word = program.run.first().map_or("", String::as_str);
    let name = word.strip_prefix("./").unwrap_or(word);
    let path = work.path(&format!("bin.{}", program.name)).join(name);
    Ok(files::read_capped(path, EXECUTABLE_BYTES_MAX)?)
}

/// What the executable carries for the device, for the gate: machine code by the build command, PTX
/// by what was made.
pub(super) fn code_of(
    recorder: &Recorder<'_>,
    subject: Subject<'_>,
    program: &Program,
    work: &Work,
) -> Result<CarriedCode, RecordError> {
    let ptx = work.read(&format!("{}.ptx", program.name))?;
    let made = CarriedCode::of_ptx(&String::from_utf8_lossy(&ptx)).unwrap_or_default();
    let command = subject.text.lesson.build(program, subject.variant);
    let codes = command.as_ref().map(|command| command.codes().to_vec()).unwrap_or_default();
    let native = codes.iter().filter_map(|code| match code {
        ArchCode::Real(arch) => Some(*arch),
        ArchCode::Virtual(_) => None,
    });
    let runtime = recorder.toolkit.and_then(|toolkit| runtime_of(&toolkit.release));
    Ok(CarriedCode { native: native.collect(), ptx: made.ptx, runtime })
}

fn runtime_of(release: &str) -> Option<CudaVersion> {
    release.parse().ok()
}
