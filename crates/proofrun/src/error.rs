//! The edge's one error: a heading, what caused it, and what to do.

use std::error::Error as _;
use std::fmt::Write as _;

use proofrun_core::Finding;
use proofrun_core::escape::escape;

use crate::exit::Exit;

/// Why a command could not do its work.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The arguments don't fit together.
    #[error("{0}")]
    Usage(String),
    /// Something is refused, for the reasons that the findings give.
    #[error("{what}")]
    Refused {
        /// What is refused.
        what: String,
        /// Why; they decide the exit code.
        findings: Vec<Finding>,
    },
    /// Ctrl-C, or another signal that asks to stop.
    #[error("stopped")]
    Cancelled,
    /// Reading the course.
    #[error("failed to read the course")]
    Course(#[from] proofrun_runner::course::CourseError),
    /// Files.
    #[error("failed to read or write a file")]
    Files(#[from] proofrun_runner::system::files::Error),
    /// A journal.
    #[error("failed to write several files as one")]
    Transaction(#[from] proofrun_runner::system::transaction::Error),
    /// A child process.
    #[error("failed to run a program")]
    Process(#[from] proofrun_runner::system::process::Error),
    /// git.
    #[error("failed to ask git")]
    Git(#[from] proofrun_runner::git::GitError),
    /// Anything of the system that has no better word.
    #[error("failed to {what}")]
    System {
        /// What was tried: "write the report".
        what: String,
        /// Why it failed.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl Error {
    /// A failure with its source.
    pub fn system<E>(what: impl Into<String>) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let what = what.into();
        move |source| Self::System { what, source: source.into() }
    }

    /// The exit code.
    pub fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Refused { findings, .. } => match Exit::of(findings) {
                Exit::Holds => Exit::Unexpected,
                exit => exit,
            },
            _ => Exit::Unexpected,
        }
    }

    /// The error for people: heading, causes, findings.
    pub fn show(&self) -> String {
        let mut text = format!("error: {}\n", escape(&self.to_string(), true));
        let mut source = self.source();
        while let Some(cause) = source {
            let _ = writeln!(text, "  caused by: {}", escape(&cause.to_string(), true));
            source = cause.source();
        }
        if let Self::Refused { findings, .. } = self {
            for finding in findings {
                text.push_str(&crate::report::terminal::finding_block(finding));
            }
        }
        text
    }
}

/// Shows an error that came before there was a context.
pub fn show_without_context(error: &Error) -> Exit {
    anstream::eprint!("{}", error.show());
    error.exit()
}
