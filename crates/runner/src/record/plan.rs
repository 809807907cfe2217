//! The plan of a record: what it will be of, and the build of each program.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;
use proofrun_core::Digest;
use proofrun_core::assess::LessonFiles;
use proofrun_core::gate::{CarriedCode, CudaVersion, Device};
use proofrun_core::lesson::Program;
use proofrun_core::record::model::{BuildRecord, SourceRecord};
use proofrun_core::toolkit::ToolkitFacts;
use serde::{Deserialize, Serialize};

use crate::compile::{self, Cache, DEADLINE, Request, elf};
use crate::system::files;

use crate::toolkit::Toolkit;

use super::runs::executable;
use super::work::Work;
use super::{RecordError, Recorder, Subject, Surroundings, prebuilt};

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
    /// The card, hashed.
    pub card: Digest,
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
    pub(super) fn of(
        recorder: &Recorder<'_>,
        subject: Subject<'_>,
        device: &Device,
        surroundings: &Surroundings,
    ) -> Self {
        let lesson = &subject.text.lesson;
        let mut inputs = vec![
            (String::from("lesson"), lesson.name.clone()),
            ("variant".into(), subject.variant.to_owned()),
            ("nonce".into(), recorder.nonce.to_owned()),
            ("runs".into(), recorder.runs.to_string()),
            ("runner".into(), recorder.runner.executable.to_string()),
            // The digest of the runner is in here, so its own way of writing values is always the
            // same one.
            ("device".into(), format!("{device:?}")),
            ("toolkit".into(), format!("{:?}", recorder.toolkit.map(Toolkit::facts))),
            ("rules".into(), format!("{:?}", lesson.run)),
            ("environment".into(), format!("{:?}", surroundings.recorded())),
        ];
        for program in &lesson.programs {
            let build = lesson.build(program, subject.variant).map(|build| build.words());
            let own = (&program.name, build, &program.run, &program.harness);
            inputs.push(("program".into(), format!("{own:?}")));
            let sources = subject.text.sources.get(&program.name).into_iter().flatten();
            inputs.extend(sources.map(|row| (row.path.clone(), row.text.to_string())));
        }
        Self {
            lesson: lesson.name.clone(),
            variant: subject.variant.to_owned(),
            model: device.facts.model(),
            card: device.uuid,
            digest: Digest::of_parts(inputs.into_iter().flat_map(|(name, value)| [name, value])),
        }
    }

    /// The name of the work folder: one a variant and card, so that two cards never share one.
    pub(super) fn work_folder(&self) -> String {
        format!(".work-{}-{}-{}", self.model, self.variant, self.card.short())
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
    let output = folder.join(command.output());
    let ptx = format!("{}.ptx", program.name);
    let log = format!("{}.build.log", program.name);
    let source = subject.text.sources.get(&program.name).cloned().unwrap_or_default();
    let found = subject.prebuilt.map(|folder| prebuilt::read_prebuilt(folder, &program.name));
    let (built, is_prebuilt) = match (recorder.toolkit, found.transpose()?.flatten()) {
        (None, Some(prebuilt)) if prebuilt.facts.argv != command.words() => {
            let why = "the bundle's prebuilt program is of another build command".to_owned();
            return Err(RecordError::Build { program: program.name.clone(), why });
        }
        (None, Some(prebuilt)) => (prebuilt, true),
        (Some(toolkit), _) => {
            if let Some(code) = command.codes().iter().find(|code| !toolkit.supports(**code)) {
                let why = format!("nvcc {} makes no code for `{code}`", toolkit.version);
                return Err(RecordError::Gated(why));
            }
            let all = course_files(subject.files, &source);
            let request = Request {
                command: &command,
                folder: &subject.files.folder,
                files: &all,
                toolkit,
                deadline: DEADLINE,
                emulated: None,
            };
            let cache = Cache::under(&work.path("cache"));
            let outcome = match compile::compile(&request, &cache, recorder.cancel) {
                Err(compile::Error::Cancelled) => return Err(RecordError::Cancelled),
                outcome => outcome?,
            };
            (prebuilt::of_outcome(&command, &outcome, program)?, false)
        }
        (None, None) => return Err(RecordError::NoToolkit),
    };
    work.write(output.as_str(), &built.executable)?;
    files::make_executable(work.path(output.as_str()))?;
    work.write(&ptx, &built.ptx)?;
    work.write(&log, &built.log)?;
    let digest = Digest::of(&built.executable);
    let (argv, prebuilt) = (command.words(), is_prebuilt);
    let record = BuildRecord { argv, log, ptx, executable: digest, prebuilt, source };
    Ok(Built { record, toolkit: built.facts.toolkit, folder })
}

/// The files that a build may see, by their paths from the course's root: those whose digests a
/// record of it holds, and no other.
pub fn course_files(
    files: &LessonFiles,
    sources: &[SourceRecord],
) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    let own = files.files.iter().filter(|(path, _)| !files.is_kept(path));
    let own = own.map(|(path, bytes)| (files.folder.join(path), bytes.clone()));
    let included = files.included.iter().map(|(path, bytes)| (path.clone(), bytes.clone()));
    let bound = |path: &Utf8PathBuf| sources.iter().any(|row| row.path == path.as_str());
    own.chain(included).filter(|(path, _)| bound(path)).collect()
}

/// Looks at an executable before it is run: it must be the one that was built (the work folder lay
/// open since), and bring its own CUDA runtime, since one that it loads could be anything.
pub(super) fn check_executable(
    work: &Work,
    program: &Program,
    built: &Built,
) -> Result<(), RecordError> {
    let path = executable(program, &built.folder(work));
    let name = program.name.clone();
    let bytes = files::read_capped(&path, EXECUTABLE_BYTES_MAX).map_err(|error| {
        let why = format!("the build left no `{path}`, which the run command starts ({error})");
        RecordError::Build { program: name.clone(), why }
    })?;
    if Digest::of(&bytes) != built.record.executable {
        let why = format!("`{path}` is not what was built; remove `{}`", work.folder());
        return Err(RecordError::Build { program: name, why });
    }
    // What is no ELF file, such as a script of a test, loads no library by itself.
    let Ok(needs) = elf::needs(&bytes) else { return Ok(()) };
    match needs.libraries.into_iter().find(|library| library.starts_with("libcudart")) {
        None => Ok(()),
        Some(library) => Err(RecordError::ForeignRuntime { program: name, library }),
    }
}

/// What the executable carries for the device, for the gate: machine code by the build command, PTX
/// by what was made, and the runtime of the toolkit that built it.
pub(super) fn code_of(
    work: &Work,
    subject: Subject<'_>,
    program: &Program,
    built: &Built,
) -> Result<CarriedCode, RecordError> {
    let ptx = work.read(&built.record.ptx)?;
    let ptx = String::from_utf8_lossy(&ptx);
    let runtime = release_of(&built.toolkit.nvcc);
    let command = subject.text.lesson.build(program, subject.variant);
    Ok(command.map_or_else(CarriedCode::default, |command| {
        CarriedCode::of_build(&command, &ptx, runtime)
    }))
}

/// `13.0` of `13.0.88`.
fn release_of(nvcc: &str) -> Option<CudaVersion> {
    let mut numbers = nvcc.split('.');
    format!("{}.{}", numbers.next()?, numbers.next()?).parse().ok()
}
