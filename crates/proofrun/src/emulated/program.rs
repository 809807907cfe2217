//! The program that is to run: a lesson's, or files that belong to none, and its build for the
//! emulated device.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Place;
use proofrun_core::argv::Arch;
use proofrun_core::lesson::{Lesson, Program};
use proofrun_emulator::profile::Profile;
use proofrun_runner::compile::{self, Cache, DEADLINE, Outcome, Request};
use proofrun_runner::emulate::{self, Loose, Names};
use proofrun_runner::record::course_files;
use proofrun_runner::system::process::Cancel;
use proofrun_runner::toolkit::Toolkit;

use super::device;
use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::loaded::{Loaded, LoadedLesson, Selection};

/// What nvcc takes for a source.
const SOURCES: [&str; 5] = ["cu", "cpp", "cc", "cxx", "c"];

/// A program of a lesson, and the lesson as it was read.
#[derive(Debug, Clone, Copy)]
pub struct OfLesson<'a> {
    /// The lesson's files and what they come to.
    pub loaded: &'a LoadedLesson,
    /// The lesson.
    pub lesson: &'a Lesson,
    /// The program.
    pub program: &'a Program,
}

impl OfLesson<'_> {
    /// The program's file.
    pub fn place(&self) -> Place {
        Place::file(self.lesson.folder.join(&self.program.source))
    }

    /// The device that the lesson is about, where it is one that can be emulated.
    pub fn profile(&self) -> Option<&'static Profile> {
        device::of_model(self.lesson.publish.model.as_ref()?)
    }
}

/// What was asked to be run.
#[derive(Debug)]
pub enum Subject {
    /// A lesson's program.
    Lesson {
        /// The lesson.
        loaded: Box<LoadedLesson>,
        /// The program's name.
        program: String,
    },
    /// Files, as they were typed.
    Files(Vec<Utf8PathBuf>),
}

impl Subject {
    /// What words mean: files that are there, or one lesson.
    ///
    /// # Errors
    /// When they mean neither, or the lesson can't be read.
    pub fn of(
        words: &[String],
        program: Option<&str>,
        root: &Root,
        context: &Context,
    ) -> Result<Self, Error> {
        let is_source = |word: &String| {
            let path = Utf8Path::new(word);
            path.extension().is_some_and(|extension| SOURCES.contains(&extension))
        };
        if words.iter().any(is_source) {
            let missing = words.iter().find(|word| !context.cwd.join(word).is_file());
            if let Some(missing) = missing {
                let hint = if is_source(missing) { "" } else { "; name files, or one lesson" };
                return Err(Error::Usage(format!("there is no file `{missing}`{hint}")));
            }
            if let Some(program) = program {
                let what = format!("`--program {program}` is for lessons; a file has one program");
                return Err(Error::Usage(what));
            }
            return Ok(Self::Files(words.iter().map(Utf8PathBuf::from).collect()));
        }
        let [word] = words else {
            let what = "name one lesson, or the `.cu` files of one program".to_owned();
            return Err(Error::Usage(what));
        };
        let selection = Selection::named(std::slice::from_ref(word));
        let loaded = Loaded::read(root, &selection, context)?.lessons.into_iter().next();
        let nothing = || Error::Usage(format!("no lesson is called `{word}`"));
        let loaded = Box::new(loaded.ok_or_else(nothing)?);
        let Some(lesson) = loaded.assessment.lesson() else {
            let findings = loaded.assessment.findings.clone();
            return Err(Error::Refused { what: "the lesson can't be resolved".into(), findings });
        };
        let program = match program {
            None => lesson.primary().name.clone(),
            Some(name) if lesson.program(name).is_some() => name.to_owned(),
            Some(name) => {
                let names: Vec<_> = lesson.programs.iter().map(|it| it.name.as_str()).collect();
                let names = names.join(", ");
                let what = format!("no program `{name}` in this lesson; it has {names}");
                return Err(Error::Usage(what));
            }
        };
        Ok(Self::Lesson { loaded, program })
    }

    /// The lesson and its program, if it is one's.
    pub fn lesson(&self) -> Option<OfLesson<'_>> {
        let Self::Lesson { loaded, program } = self else { return None };
        let lesson = loaded.assessment.lesson()?;
        Some(OfLesson { loaded, lesson, program: lesson.program(program)? })
    }

    /// What it is called.
    pub fn name(&self) -> String {
        match self {
            Self::Lesson { program, .. } => program.clone(),
            Self::Files(sources) => sources.first().map_or_else(String::new, ToString::to_string),
        }
    }

    /// How it is named on a command line.
    pub fn words(&self) -> String {
        match self {
            Self::Lesson { loaded, program } => {
                let name = loaded.files.name();
                let is_primary =
                    loaded.assessment.lesson().is_some_and(|it| it.primary().name == *program);
                if is_primary { name.to_owned() } else { format!("{name} --program {program}") }
            }
            Self::Files(sources) => shell_words::join(sources.iter().map(|source| source.as_str())),
        }
    }

    /// The file that its findings are about where they name no other.
    pub fn place(&self) -> Place {
        match self.lesson() {
            Some(of) => of.place(),
            None => Place::file(self.name()),
        }
    }

    /// The folder that its files are named from.
    pub fn base<'a>(&self, root: &'a Root, context: &'a Context) -> &'a Utf8Path {
        match self {
            Self::Lesson { .. } => root.path(),
            Self::Files(_) => &context.cwd,
        }
    }

    /// The device that it is about, unless another is asked for.
    pub fn profile(&self) -> Option<&'static Profile> {
        self.lesson()?.profile()
    }

    /// The architecture whose PTX it runs, unless another is asked for: a lesson's own, and the
    /// newest that the device takes.
    pub fn arch(&self, profile: &Profile) -> Option<Arch> {
        match self.lesson() {
            Some(OfLesson { lesson, program, .. }) => {
                let command = lesson.build(program, &lesson.publish.variant)?;
                Some(command.virtual_arch())
            }
            None => device::highest_arch(profile),
        }
    }
}

/// How a program is to be built.
#[derive(Debug, Clone)]
pub struct Build<'a> {
    /// What with.
    pub toolkit: &'a Toolkit,
    /// The architecture of its PTX.
    pub arch: Arch,
    /// Flags for nvcc; of files only.
    pub flags: &'a [String],
}

/// Builds it for the emulated device.
///
/// # Errors
/// When the build can't be carried out. That it fails is an [`Outcome`].
pub fn build(
    subject: &Subject,
    how: &Build<'_>,
    root: &Root,
    context: &Context,
) -> Result<Outcome, emulate::Error> {
    let cache = Cache::under(&root.target());
    let Build { toolkit, arch, flags } = *how;
    if let Subject::Files(sources) = subject {
        let folder = &context.cwd;
        let loose = Loose { sources, folder, flags, arch, toolkit, deadline: DEADLINE };
        return emulate::build(&loose, &cache, &context.cancel);
    }
    let Some(of) = subject.lesson() else {
        return Err(compile::Error::MissingSource(subject.name().into()).into());
    };
    Ok(build_lesson(of, arch, toolkit, &cache, &context.cancel)?)
}

/// Builds a lesson's program for the emulated device.
///
/// # Errors
/// When the build can't be carried out. That it fails is an [`Outcome`].
pub fn build_lesson(
    of: OfLesson<'_>,
    arch: Arch,
    toolkit: &Toolkit,
    cache: &Cache,
    cancel: &Cancel,
) -> Result<Outcome, compile::Error> {
    let OfLesson { loaded, lesson, program } = of;
    let sources = loaded.assessment.sources().and_then(|all| all.get(&program.name));
    let request = Request {
        command: &program.build,
        folder: &lesson.folder,
        files: &course_files(&loaded.files, sources.map_or(&[], Vec::as_slice)),
        toolkit,
        deadline: DEADLINE,
        emulated: Some(arch),
    };
    compile::compile(&request, cache, cancel)
}

/// The names by which findings show files: those below a folder from there.
pub fn names(folder: &Utf8Path, toolkit: &Toolkit) -> Names {
    let full = |path: &Utf8Path| path.canonicalize_utf8().unwrap_or_else(|_| path.to_owned());
    Names { folder: full(folder), toolkit: full(&toolkit.root) }
}
