//! Signed reviews that came back from a reviewer elsewhere.
//!
//! **Invariant: all or nothing. Entries and key lines are checked together, by the trust root as it
//! would be, and written in one transaction; what is refused leaves no trace.**

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::{Course, Plan, REVIEWS_FOLDER, assess};
use proofrun_core::finding::{Findings, Place};
use proofrun_core::record::model::RECORD_FILE;
use proofrun_core::review::Entry;
use proofrun_core::trust::Namespace;
use proofrun_core::{Digest, Finding, Rule};
use proofrun_runner::course::SIGNERS_FILE;
use proofrun_runner::system::files;
use proofrun_runner::system::transaction::Transaction;

use crate::cli::Root;
use crate::error::Error;
use crate::loaded::{JOURNAL_FOLDER, Loaded, LoadedLesson};
use crate::signers::Signers;

use super::export::SIGNERS_TO_ADD;
use super::sign::{newly_tampered, refuse_any};

/// How deep below the folder entries are looked for.
const DEPTH_MAX: usize = 6;

/// How many files are looked at.
const FILES_MAX: usize = 20_000;

/// The largest signature or list of lines that is read, in bytes.
const SMALL_BYTES_MAX: u64 = 64 * 1024;

/// What lies in a folder that came back.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// Entries with their signatures.
    pub entries: Vec<Arrival>,
    /// Lines for the list of keys, as they stand.
    pub lines: Vec<String>,
}

/// An entry and its signature.
#[derive(Debug)]
pub struct Arrival {
    path: Utf8PathBuf,
    entry: Vec<u8>,
    signature: Vec<u8>,
}

impl Arrivals {
    /// Looks through a folder. An entry is a TOML file with `NAME.sig` or `NAME.toml.sig` beside
    /// it.
    ///
    /// # Errors
    /// When something can't be read.
    pub fn read(folder: &Utf8Path) -> Result<Self, Error> {
        let mut paths = Vec::new();
        walk(folder, 0, &mut paths)?;
        let mut arrivals = Self::default();
        for path in paths.iter().filter(|path| path.extension() == Some("toml")) {
            if path.file_name() == Some(RECORD_FILE) {
                continue;
            }
            let beside = [path.with_extension("sig"), Utf8PathBuf::from(format!("{path}.sig"))];
            let Some(signature) = beside.iter().find(|it| paths.contains(it)) else { continue };
            arrivals.entries.push(Arrival {
                path: path.clone(),
                entry: files::read_capped(path, Entry::BYTES_MAX as u64)?,
                signature: files::read_capped(signature, SMALL_BYTES_MAX)?,
            });
        }
        let lines = folder.join(SIGNERS_TO_ADD);
        if paths.contains(&lines) {
            let bytes = files::read_capped(&lines, SMALL_BYTES_MAX)?;
            let text = String::from_utf8_lossy(&bytes);
            let real = text.lines().filter(|it| !it.trim().is_empty() && !it.starts_with('#'));
            arrivals.lines = real.map(str::to_owned).collect();
        }
        Ok(arrivals)
    }
}

/// Plain files below a folder, by name; links are not followed.
fn walk(folder: &Utf8Path, depth: usize, found: &mut Vec<Utf8PathBuf>) -> Result<(), Error> {
    let listed = folder.read_dir_utf8().map_err(Error::system(format!("list `{folder}`")))?;
    let mut entries: Vec<_> = listed.filter_map(Result::ok).collect();
    entries.sort_by(|a, b| a.file_name().cmp(b.file_name()));
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth < DEPTH_MAX {
            walk(entry.path(), depth + 1, found)?;
        } else if kind.is_file() {
            found.push(entry.path().to_owned());
        }
        if found.len() > FILES_MAX {
            let text = format!("`{folder}` holds more than {FILES_MAX} files; name a smaller one");
            return Err(Error::Usage(text));
        }
    }
    Ok(())
}

/// What will be written, after every check.
#[derive(Debug)]
pub struct Checked {
    /// By path from the course's root.
    files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// A line each for people.
    pub told: Vec<String>,
}

/// Checks everything together. `signers` is the list of keys as it would be.
///
/// # Errors
/// All that is wrong.
pub fn check(loaded: &Loaded, arrivals: &Arrivals, signers: &Signers) -> Result<Checked, Error> {
    let mut findings = Findings::new();
    let mut course: Course = loaded.course.clone();
    course.trust.signers = signers.parsed().clone();
    let mut checked = Checked { files: BTreeMap::new(), told: Vec::new() };
    if signers.is_changed() {
        checked.files.insert(SIGNERS_FILE.into(), signers.text().as_bytes().to_vec());
    }
    let mut by_lesson: BTreeMap<&str, Plan> = BTreeMap::new();
    for arrival in &arrivals.entries {
        match place(loaded, arrival) {
            Err(finding) => findings.push(finding),
            Ok((_, files)) if files.is_empty() => {}
            Ok((lesson, files)) => by_lesson.entry(lesson.files.name()).or_default().extend(files),
        }
    }
    for (name, files) in by_lesson {
        let Some(lesson) = loaded.lesson(name) else { continue };
        let before = assess(&lesson.files, &course);
        let after = assess(&lesson.files.with(&files), &course);
        findings.extend(newly_tampered(&before, &after));
        for (path, bytes) in files {
            let path = lesson.files.folder.join(path);
            if path.extension() == Some("toml") {
                checked.told.push(path.to_string());
            }
            checked.files.insert(path, bytes.unwrap_or_default());
        }
    }
    refuse_any("not one of the reviews was taken in", findings)?;
    Ok(checked)
}

/// The lesson and the files of an entry there; none where they lie there already.
fn place<'a>(loaded: &'a Loaded, arrival: &Arrival) -> Result<(&'a LoadedLesson, Plan), Finding> {
    let at = || Place::file(&arrival.path);
    let entry = Entry::parse(&arrival.entry).map_err(|errors| {
        let all: Vec<_> = errors.iter().map(ToString::to_string).collect();
        let next = "send the entry as it was signed";
        Finding::error(Rule::ReviewFile, at(), all.join("; "), next)
    })?;
    let lesson = loaded.lesson(entry.lesson()).ok_or_else(|| {
        let fact = format!("the course has no lesson `{}`", entry.lesson());
        Finding::error(Rule::ReviewTarget, at(), fact, "import into the course that exported it")
    })?;
    let digest = Digest::of(&arrival.entry);
    let base = Utf8Path::new(REVIEWS_FOLDER);
    let mut files = Plan::new();
    for (ending, bytes) in [("toml", &arrival.entry), ("sig", &arrival.signature)] {
        let path = base.join(format!("{digest}.{ending}"));
        match lesson.files.get(&path) {
            None => {
                files.insert(path, Some(bytes.clone()));
            }
            Some(there) if there == bytes.as_slice() => {}
            Some(_) => {
                let fact = format!("`{path}` lies there already, and differs");
                let next = "keep what is there: reviews are only ever added to";
                return Err(Finding::error(Rule::AppendOnly, at(), fact, next));
            }
        }
    }
    Ok((lesson, files))
}

/// Lines that a review may bring: keys for reviews, and nothing else.
///
/// # Errors
/// The lines that grant more.
pub fn check_lines(signers: &Signers) -> Result<(), Error> {
    let more = signers
        .added()
        .filter(|grant| grant.namespaces().iter().any(|namespace| *namespace != Namespace::Review));
    let findings = more.map(|grant| {
        let fact = format!("the line of `{}` grants more than reviews", grant.signer().principal());
        let next = "ask for a line for `review@proofrun` alone; recorders come by `keys add`";
        Finding::error(Rule::TrustRoot, Place::file(SIGNERS_TO_ADD), fact, next)
    });
    refuse_any("not one of the lines was taken in", findings.collect())
}

/// Writes what was checked, as one.
///
/// # Errors
/// When a file refuses.
pub fn write(root: &Root, checked: Checked) -> Result<(), Error> {
    let mut change = Transaction::new(root.state().join(JOURNAL_FOLDER))?;
    for (path, bytes) in checked.files {
        change.write(root.path().join(path), bytes);
    }
    Ok(change.commit()?)
}
