//! The course as a command sees it: lessons chosen, read and assessed, within the course's trust
//! root.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::{Assessment, Course, LessonFiles, assess};
use proofrun_core::finding::Findings;
use proofrun_core::toolkit::ToolkitFacts;
use proofrun_core::trust::{AllowedSigners, Grant};
use proofrun_core::{Finding, Place, Rule};
use proofrun_runner::course::{SIGNERS_FILE, course_files, read_lesson, survey};
use proofrun_runner::git;
use proofrun_runner::system::transaction;
use rayon::prelude::*;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;

/// The journal of a command that writes several files as one.
pub const JOURNAL_FOLDER: &str = "journal";

/// Which lessons a command is about.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    names: Vec<String>,
    changed_since: Option<String>,
    base: Option<String>,
}

impl Selection {
    /// Those named, or all where none is named.
    pub fn named(names: &[String]) -> Self {
        Self { names: names.to_vec(), ..Self::default() }
    }

    /// Of them, only those that differ from a revision.
    #[must_use]
    pub fn changed_since(mut self, revision: Option<&str>) -> Self {
        self.changed_since = revision.map(str::to_owned);
        self
    }

    /// With the trust root of a revision.
    #[must_use]
    pub fn trusting(mut self, revision: Option<&str>) -> Self {
        self.base = revision.map(str::to_owned);
        self
    }
}

/// A lesson as it was read, and what follows from it.
#[derive(Debug)]
pub struct LoadedLesson {
    /// Its files.
    pub files: LessonFiles,
    /// What they come to.
    pub assessment: Assessment,
}

/// The course.
#[derive(Debug)]
pub struct Loaded {
    /// The trust root and the canonical copies.
    pub course: Course,
    /// Those selected, by name.
    pub lessons: Vec<LoadedLesson>,
    /// What is wrong with the course itself.
    pub findings: Findings,
}

impl Loaded {
    /// Reads and assesses the selected lessons, after finishing what an earlier command left in its
    /// journal.
    ///
    /// # Errors
    /// When a file can't be read, a named lesson isn't there, or nothing is selected.
    pub fn read(root: &Root, selection: &Selection, context: &Context) -> Result<Self, Error> {
        recover(root, context)?;
        let (course, mut findings) = course_files(root.path())?.into_course();
        let Some(revision) = &selection.base else {
            return Self::with_course(root, selection, course, findings);
        };
        let (trust, found) = trust_of(root.path(), revision)?;
        findings.extend(found);
        let of_tree = course.trust.signers.clone();
        let course = Course { trust, ..course };
        let mut loaded = Self::with_course(root, selection, course, findings)?;
        loaded.findings.extend(loaded.not_yet_trusted(&of_tree, revision));
        Ok(loaded)
    }

    /// The same for a course whose toolkit is known.
    #[must_use]
    pub fn with_toolkit(mut self, toolkit: Option<&ToolkitFacts>) -> Self {
        let pins =
            |lesson: &LoadedLesson| lesson.assessment.lesson().is_some_and(|l| l.pin_toolkit);
        self.course.toolkit = toolkit.cloned();
        for lesson in self.lessons.iter_mut().filter(|lesson| pins(lesson)) {
            lesson.assessment = assess(&lesson.files, &self.course);
        }
        self
    }

    fn with_course(
        root: &Root,
        selection: &Selection,
        course: Course,
        mut findings: Findings,
    ) -> Result<Self, Error> {
        let surveyed = survey(root.path())?;
        findings.extend(surveyed.findings);
        let folders = select(root, selection, &surveyed.folders)?;
        let lessons: Result<Vec<_>, Error> = folders
            .par_iter()
            .map(|folder| {
                let files = read_lesson(root.path(), folder)?;
                let assessment = assess(&files, &course);
                Ok(LoadedLesson { files, assessment })
            })
            .collect();
        Ok(Self { course, lessons: lessons?, findings })
    }

    /// Where a signature is refused: the tree's own lines of keys that the revision lacks. They
    /// explain the refusal, and count from the next change on.
    fn not_yet_trusted(&self, of_tree: &AllowedSigners, revision: &str) -> Findings {
        let is_refusal =
            |it: &Finding| matches!(it.rule, Rule::SignatureInvalid | Rule::RecordSignature);
        let mut all = self.lessons.iter().flat_map(|lesson| &lesson.assessment.findings);
        if !all.any(is_refusal) {
            return Findings::new();
        }
        let known = &self.course.trust.signers;
        let lacks = |grant: &&Grant| {
            let there = grant.public_key().key_data().ed25519().and_then(|key| known.grant(key));
            there.is_none_or(|it| it.namespaces() != grant.namespaces())
        };
        let mut grants: Vec<&Grant> = of_tree.grants().filter(lacks).collect();
        grants.sort_by_key(|grant| grant.line());
        let told = grants.into_iter().map(|grant| {
            let principal = grant.signer().principal();
            let fact = format!("`{revision}` doesn't have this line of `{principal}` yet");
            let next = "commit the line in a change of its own first; what it signs comes after";
            let place = Place::line(SIGNERS_FILE, grant.line());
            Finding::warning(Rule::TrustRoot, place, fact, next)
        });
        told.collect()
    }

    /// The one lesson of this name.
    pub fn lesson(&self, name: &str) -> Option<&LoadedLesson> {
        self.lessons.iter().find(|lesson| lesson.files.name() == name)
    }
}

/// Finishes or undoes what an interrupted command left.
///
/// # Errors
/// When the journal names a file that is neither as it was nor as it should be, or came with the
/// checkout: then it could put a forged page right just while somebody looks.
pub fn recover(root: &Root, context: &Context) -> Result<(), Error> {
    let journal = root.state().join(JOURNAL_FOLDER);
    if journal.symlink_metadata().is_ok() && git::tracks(root.path(), &root.state()) {
        let fact = "git tracks the folder of this harness's own state, and a journal lies in it";
        let next = "`git rm -r --cached .proofrun`, and look at what the journal would have done";
        let finding = Finding::error(Rule::Stranger, Place::file(root.state()), fact, next);
        let what = "the journal is not followed".to_owned();
        return Err(Error::Refused { what, findings: vec![finding] });
    }
    match transaction::recover(&journal, root.path())? {
        transaction::Recovered::Nothing => {}
        transaction::Recovered::Dropped => {
            context.note("dropped what an interrupted command had not yet begun to write\n");
        }
        transaction::Recovered::Finished(paths) => {
            let count = paths.len();
            context.note(format!("finished an interrupted command: {count} files written\n"));
        }
    }
    Ok(())
}

fn trust_of(
    root: &Utf8Path,
    revision: &str,
) -> Result<(proofrun_core::trust::TrustRoot, Findings), Error> {
    let names = ["research/allowed_signers", "research/policy.toml"].map(Utf8Path::new);
    let files = git::files_of(root, revision, |path| names.contains(&path))?;
    let [signers, policy] = names.map(|name| (name, files.get(name).map(Vec::as_slice)));
    Ok(proofrun_core::trust::TrustRoot::read(signers, policy))
}

/// The folders of the selected lessons.
fn select(
    root: &Root,
    selection: &Selection,
    all: &[Utf8PathBuf],
) -> Result<Vec<Utf8PathBuf>, Error> {
    let mut chosen = Vec::new();
    for name in &selection.names {
        chosen.push(find(all, name)?);
    }
    if selection.names.is_empty() {
        chosen.extend_from_slice(all);
    }
    chosen.sort();
    chosen.dedup();
    if let Some(revision) = &selection.changed_since {
        let changed = git::changed(root.path(), revision)?;
        chosen.retain(|folder| changed.iter().any(|path| concerns(path, folder)));
    }
    if chosen.is_empty() {
        let (fact, next) = match &selection.changed_since {
            Some(revision) => (
                format!("no lesson differs from `{revision}`"),
                "leave `--changed` out to look at all",
            ),
            None => (
                format!("no `lesson.toml` below `{}`", root.path()),
                "make a lesson with `new DAY SLUG`, or name the course's folder with `--root`",
            ),
        };
        let finding = Finding::error(Rule::NothingSelected, Place::file("."), fact, next);
        return Err(Error::Refused { what: "nothing selected".into(), findings: vec![finding] });
    }
    Ok(chosen)
}

/// A lesson by its name, its folder, or the day in its name.
fn find(all: &[Utf8PathBuf], name: &str) -> Result<Utf8PathBuf, Error> {
    let asked = name.trim_end_matches('/');
    let day = format!("{asked}-");
    let matches = |folder: &&Utf8PathBuf| {
        let own = folder.file_name().unwrap_or_default();
        own == asked || folder.as_str() == asked || own.starts_with(&day)
    };
    let mut found = all.iter().filter(matches);
    match (found.next(), found.next()) {
        (Some(only), None) => Ok(only.clone()),
        (Some(one), Some(two)) => {
            Err(Error::Usage(format!("`{name}` could be `{one}` or `{two}`; write the whole name")))
        }
        (None, _) => {
            let names: Vec<_> = all.iter().filter_map(|folder| folder.file_name()).collect();
            let near = names.iter().min_by_key(|known| distance(known, asked));
            let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            Err(Error::Usage(format!("no lesson is called `{name}`{hint}")))
        }
    }
}

/// How different two names are: one minus their similarity, in thousandths.
fn distance(a: &str, b: &str) -> u32 {
    let ratio = similar::TextDiff::from_chars(a, b).ratio();
    1000 - (ratio * 1000.0) as u32
}

/// Whether a changed path bears on a lesson: its own files, the course's common pieces, the trust
/// root, the harness.
fn concerns(path: &Utf8Path, folder: &Utf8Path) -> bool {
    let shared = ["lessons/common", "research", "crates", "xtask", "Cargo.lock", "Cargo.toml"];
    path.starts_with(folder) || shared.iter().any(|shared| path.starts_with(shared))
}
