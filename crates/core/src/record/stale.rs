//! Whether a record is of the lesson of today: which of its inputs changed.
//!
//! Only code, the resolved build command, the run command and the program's environment stale a
//! record. A comment or prose edit changes the `text` digest alone: a warning, and the review is
//! kept. The toolkit is provenance unless the manifest pins it.

use std::collections::BTreeMap;
use std::fmt;

use crate::lesson::{Lesson, Program};
use crate::toolkit::ToolkitFacts;

use super::model::{ProgramRecord, Record, SourceRecord};

/// One input that is another than the recorded one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum StaleInput {
    /// The tokens of a source file changed.
    Code(String),
    /// A source file is included now that wasn't.
    FileAdded(String),
    /// A source file was included that isn't now.
    FileGone(String),
    /// The build command changed.
    Build {
        /// As recorded.
        was: String,
        /// As it is.
        is: String,
    },
    /// The run command changed.
    Command {
        /// As recorded.
        was: String,
        /// As it is.
        is: String,
    },
    /// The program's environment changed.
    Environment(String),
    /// A program was added to or taken from the lesson.
    Program(String),
    /// The variant is no longer declared.
    Variant(String),
    /// The manifest pins the toolkit, and this is another.
    Toolkit {
        /// As recorded.
        was: String,
        /// As it is.
        is: String,
    },
}

impl fmt::Display for StaleInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(path) => write!(f, "the code of `{path}` changed"),
            Self::FileAdded(path) => write!(f, "`{path}` is included now"),
            Self::FileGone(path) => write!(f, "`{path}` is no longer included"),
            Self::Build { was, is } => write!(f, "the build command was `{was}` and is `{is}`"),
            Self::Command { was, is } => write!(f, "the run command was `{was}` and is `{is}`"),
            Self::Environment(program) => write!(f, "the environment of `{program}` changed"),
            Self::Program(name) => write!(f, "program `{name}` was added or removed"),
            Self::Variant(name) => write!(f, "variant `{name}` is no longer declared"),
            Self::Toolkit { was, is } => write!(f, "the pinned toolkit was {was} and is {is}"),
        }
    }
}

/// The sources of each program as they are now, by the program's name.
pub type Sources = BTreeMap<String, Vec<SourceRecord>>;

/// All inputs that changed since the record; empty for a record of the lesson of today.
pub fn stale_inputs(
    lesson: &Lesson,
    sources: &Sources,
    record: &Record,
    toolkit: Option<&ToolkitFacts>,
) -> Vec<StaleInput> {
    let mut inputs = Vec::new();
    if !lesson.variants.iter().any(|variant| variant.name == record.variant) {
        inputs.push(StaleInput::Variant(record.variant.clone()));
        return inputs;
    }
    for program in &lesson.programs {
        let Some(recorded) = record.program(&program.name) else {
            inputs.push(StaleInput::Program(program.name.clone()));
            continue;
        };
        let now = sources.get(&program.name).map_or(&[][..], Vec::as_slice);
        source_inputs(&recorded.build.source, now, &mut inputs);
        command_inputs(lesson, program, recorded, &record.variant, &mut inputs);
    }
    for recorded in &record.program {
        if lesson.program(&recorded.name).is_none() {
            inputs.push(StaleInput::Program(recorded.name.clone()));
        }
    }
    if let Some(now) = toolkit.filter(|now| lesson.pin_toolkit && **now != record.toolkit) {
        inputs.push(StaleInput::Toolkit { was: record.toolkit.to_string(), is: now.to_string() });
    }
    inputs
}

/// Files whose comments or white space changed and whose code did not: a warning.
pub fn text_only_changes(sources: &Sources, record: &Record) -> Vec<String> {
    let mut paths = Vec::new();
    for program in &record.program {
        let now = sources.get(&program.name).map_or(&[][..], Vec::as_slice);
        for was in &program.build.source {
            let is = now.iter().find(|is| is.path == was.path);
            if is.is_some_and(|is| is.code == was.code && is.text != was.text) {
                paths.push(was.path.clone());
            }
        }
    }
    paths.sort();
    paths.dedup();
    paths
}

fn source_inputs(was: &[SourceRecord], is: &[SourceRecord], inputs: &mut Vec<StaleInput>) {
    for old in was {
        match is.iter().find(|new| new.path == old.path) {
            None => inputs.push(StaleInput::FileGone(old.path.clone())),
            Some(new) if new.code != old.code => inputs.push(StaleInput::Code(old.path.clone())),
            Some(_) => {}
        }
    }
    for new in is.iter().filter(|new| !was.iter().any(|old| old.path == new.path)) {
        inputs.push(StaleInput::FileAdded(new.path.clone()));
    }
}

fn command_inputs(
    lesson: &Lesson,
    program: &Program,
    recorded: &ProgramRecord,
    variant: &str,
    inputs: &mut Vec<StaleInput>,
) {
    let build = lesson.build(program, variant).map(|build| build.words()).unwrap_or_default();
    if build != recorded.build.argv {
        let (was, is) = (recorded.build.argv.join(" "), build.join(" "));
        inputs.push(StaleInput::Build { was, is });
    }
    if program.run != recorded.command {
        let (was, is) = (recorded.command.join(" "), program.run.join(" "));
        inputs.push(StaleInput::Command { was, is });
    }
    if lesson.run.environment != recorded.environment {
        inputs.push(StaleInput::Environment(program.name.clone()));
    }
}
