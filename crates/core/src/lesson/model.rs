//! The Lesson as the rest of the flow takes it: resolved, with nothing left to guess.

use std::collections::BTreeMap;

use camino::Utf8PathBuf;

use crate::argv::BuildCommand;
use crate::device::Capability;
use crate::source::Header;
use crate::template::Template;

/// A lesson.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// Its folder's name, by which records and reviews name it.
    pub name: String,
    /// Its folder, relative to the course's root.
    pub folder: Utf8PathBuf,
    /// From the folder's name, where that is `day-N-slug`.
    pub day: Option<u32>,
    /// What a reader calls it.
    pub title: String,
    /// The primary program first; never empty.
    pub programs: Vec<Program>,
    /// The header's own build first; never empty.
    pub variants: Vec<Variant>,
    /// The gate.
    pub needs: Needs,
    /// How its programs are run.
    pub run: RunRules,
    /// Diagnostics of nvcc that are expected, such as `20054-D`.
    pub known_warnings: Vec<String>,
    /// Whether another toolkit makes a record stale.
    pub pin_toolkit: bool,
    /// What is published.
    pub publish: PublishRules,
}

/// A program of a lesson.
#[derive(Debug, Clone)]
pub struct Program {
    /// The stem of its source.
    pub name: String,
    /// Relative to the lesson's folder.
    pub source: Utf8PathBuf,
    /// The build command of the header's own variant.
    pub build: BuildCommand,
    /// The run command.
    pub run: Vec<String>,
    /// What its standard output must be.
    pub template: Template,
    /// The Rust harness that drives its kernels, a name in `core::kernels`.
    pub harness: Option<String>,
    /// Its header comment.
    pub header: Header,
}

/// A build of the lesson's programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variant {
    /// Its name, such as `sm_80`.
    pub name: String,
    /// What takes the place of `-arch`; `None` for the header's own.
    pub arch: Option<String>,
}

/// The gate of a lesson.
#[derive(Debug, Clone)]
pub struct Needs {
    /// The lowest compute capability that runs it.
    pub compute_capability: Capability,
    /// How many devices.
    pub gpus: u32,
    /// What the primary program does below the gate, where that is declared.
    pub below: Option<Below>,
}

/// What a program does on a card below the gate.
#[derive(Debug, Clone)]
pub struct Below {
    /// Its exit status.
    pub exit: i32,
    /// Its standard output.
    pub stdout: Template,
    /// Its standard error.
    pub stderr: Template,
}

/// How a lesson's programs are run.
#[derive(Debug, Clone)]
pub struct RunRules {
    /// Seconds after which a run counts as hung.
    pub deadline_s: u32,
    /// Variables that the programs are given.
    pub environment: BTreeMap<String, String>,
}

/// What is published of a lesson.
#[derive(Debug, Clone)]
pub struct PublishRules {
    /// The primary device model, where the manifest names one.
    pub model: Option<String>,
    /// The primary variant's name.
    pub variant: String,
    /// Which run is shown.
    pub run: RunChoice,
}

/// Which run of a record is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunChoice {
    /// The run of this index.
    Index(usize),
    /// The lower median of a field, the lowest index on ties.
    MedianOf(String),
}

impl Lesson {
    /// The primary program.
    pub fn primary(&self) -> &Program {
        &self.programs[0]
    }

    /// The program of this name.
    pub fn program(&self, name: &str) -> Option<&Program> {
        self.programs.iter().find(|program| program.name == name)
    }

    /// The variant of this name.
    pub fn variant(&self, name: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// The build command of a program in a variant; `None` for a variant that isn't declared.
    pub fn build(&self, program: &Program, variant: &str) -> Option<BuildCommand> {
        match &self.variant(variant)?.arch {
            None => Some(program.build.clone()),
            // Resolving the lesson has refused an architecture that this command can't take.
            Some(arch) => program.build.with_arch(arch).ok(),
        }
    }
}
