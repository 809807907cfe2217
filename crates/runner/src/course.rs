//! Reading a course from disk: which lessons there are, and the files of each.
//!
//! **Invariant: nothing is followed out of the course.** Symbolic links are reported, never read
//! through.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::text::joined;
use proofrun_core::assess::{
    Course, EVIDENCE_FOLDER, LessonFiles, MANIFEST_FILE, PAGE_FILE, REVIEWS_FOLDER, Stranger,
};
use proofrun_core::finding::{Finding, Findings, Place, Rule};
use proofrun_core::record::EvidenceFolder;
use proofrun_core::record::model::RECORD_FILE;
use proofrun_core::source::includes;
use proofrun_core::trust::TrustRoot;

/// The list of keys, from the course's root.
pub const SIGNERS_FILE: &str = "research/allowed_signers";

/// The policy, from the course's root.
pub const POLICY_FILE: &str = "research/policy.toml";

/// The folder of canonical copies, from the course's root.
pub const COMMON_FOLDER: &str = "lessons/common";

/// The largest file of a lesson that is read, in bytes. A record's streams are capped below this.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// How deep below the root lessons are looked for.
const LESSON_DEPTH_MAX: usize = 4;

/// How deep below a folder from a GPU host records are looked for.
const RECORD_DEPTH_MAX: usize = 4;

/// How many files a lesson's folder may hold.
const FILES_MAX: usize = 20_000;

/// Why a course can't be read.
#[derive(Debug, thiserror::Error)]
pub enum CourseError {
    /// A folder or file can't be read.
    #[error("failed to read `{path}`")]
    Read {
        /// Which.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A name that isn't UTF-8.
    #[error("`{0}` has a name that is not UTF-8; rename it")]
    Name(String),
    /// A lesson with too many files.
    #[error("`{0}` holds more than {FILES_MAX} files; keep data outside the lesson's folder")]
    TooMany(Utf8PathBuf),
    /// Two lessons of one name.
    #[error(
        "`{0}` and `{1}` are lessons of one name; records could not tell them apart: rename one"
    )]
    SameName(Utf8PathBuf, Utf8PathBuf),
}

/// Where a course's lessons are, and what looks like one and isn't.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// The folders that hold a `lesson.toml`, relative to the root, in order of their names.
    pub folders: Vec<Utf8PathBuf>,
    /// Folders that lost their manifest, and links where a lesson's folder belongs.
    pub findings: Findings,
}

/// Looks for a course's lessons.
///
/// # Errors
/// When a folder can't be read, or two lessons have one name.
pub fn survey(root: &Utf8Path) -> Result<Survey, CourseError> {
    let mut survey = Survey::default();
    walk_for_lessons(root, Utf8Path::new(""), 0, &mut survey)?;
    survey.folders.sort();
    let mut names: BTreeMap<String, Utf8PathBuf> = BTreeMap::new();
    for folder in &survey.folders {
        let name = folder.file_name().unwrap_or_default().to_owned();
        if let Some(other) = names.insert(name, folder.clone()) {
            return Err(CourseError::SameName(other, folder.clone()));
        }
    }
    Ok(survey)
}

/// The folders that hold a `lesson.toml`, relative to the root, in order of their names.
///
/// # Errors
/// As [`survey`].
pub fn lesson_folders(root: &Utf8Path) -> Result<Vec<Utf8PathBuf>, CourseError> {
    Ok(survey(root)?.folders)
}

fn walk_for_lessons(
    root: &Utf8Path,
    folder: &Utf8Path,
    depth: usize,
    survey: &mut Survey,
) -> Result<(), CourseError> {
    let path = root.join(folder);
    // Whatever stands under the manifest's name makes this a lesson; what is no plain file is a
    // finding then.
    if depth > 0 && path.join(MANIFEST_FILE).symlink_metadata().is_ok() {
        survey.folders.push(folder.to_owned());
        return Ok(());
    }
    let entries = entries(&path)?;
    if depth > 0 && lost_its_manifest(&path, folder, &entries) {
        let fact = format!("the folder holds a lesson's files and no `{MANIFEST_FILE}`");
        let next = "restore the manifest, or remove the folder in a change of its own";
        survey.findings.push(Finding::error(Rule::Manifest, Place::file(folder), fact, next));
    }
    for entry in entries {
        let skipped =
            entry.name.starts_with('.') || matches!(&*entry.name, "target" | "node_modules");
        let below = folder.join(&entry.name);
        if entry.kind.is_symlink() && path.join(&entry.name).join(MANIFEST_FILE).is_file() {
            let fact = "symbolic link to a lesson's folder, which is not followed";
            let next = "put the lesson's folder itself here";
            survey.findings.push(Finding::error(Rule::Stranger, Place::file(below), fact, next));
        } else if entry.kind.is_dir() && !skipped && depth < LESSON_DEPTH_MAX {
            walk_for_lessons(root, &below, depth + 1, survey)?;
        }
    }
    Ok(())
}

/// Whether a folder without a manifest was a lesson: it holds records or signed reviews, or bears a
/// day's name and holds a page or a program. Otherwise dropping the manifest would drop the lesson
/// from every check.
fn lost_its_manifest(path: &Utf8Path, folder: &Utf8Path, entries: &[Entry]) -> bool {
    let named_for_a_day = folder.file_name().is_some_and(|name| name.starts_with("day-"));
    let mut names = entries.iter().map(|entry| entry.name.as_str());
    if named_for_a_day && names.any(|name| name == PAGE_FILE || name.ends_with(".cu")) {
        return true;
    }
    let children = |name: &str| path.join(name).read_dir_utf8().into_iter().flatten().flatten();
    let holds = |name: &str| entries.iter().any(|entry| entry.name == name && entry.kind.is_dir());
    let is_record = |at: &Utf8Path| at.join(RECORD_FILE).exists();
    (holds(EVIDENCE_FOLDER) && children(EVIDENCE_FOLDER).any(|entry| is_record(entry.path())))
        || (holds(REVIEWS_FOLDER)
            && children(REVIEWS_FOLDER).any(|entry| entry.path().extension() == Some("sig")))
}

/// The files of a lesson.
///
/// # Errors
/// When a file or folder can't be read.
pub fn read_lesson(root: &Utf8Path, folder: &Utf8Path) -> Result<LessonFiles, CourseError> {
    let mut lesson = LessonFiles { folder: folder.to_owned(), ..LessonFiles::default() };
    read_folder(&root.join(folder), Utf8Path::new(""), &mut lesson)?;
    read_included(root, &mut lesson)?;
    Ok(lesson)
}

/// Files elsewhere in the course that the lesson's sources include, and what those include.
fn read_included(root: &Utf8Path, lesson: &mut LessonFiles) -> Result<(), CourseError> {
    let own = lesson.sources().into_iter().map(|(path, text)| (lesson.folder.join(path), text));
    let mut queue: Vec<(Utf8PathBuf, String)> = own.collect();
    while let Some((path, text)) = queue.pop() {
        for include in includes(&text).into_iter().filter(|include| include.quoted) {
            let Some(target) = joined(&path, &include.path) else { continue };
            let known = lesson.included.contains_key(&target) || lesson.included.len() >= FILES_MAX;
            if known || target.starts_with(&lesson.folder) {
                continue;
            }
            let full = root.join(&target);
            // A link may lead out of the course; then the file counts as missing.
            if !full.symlink_metadata().is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            if let Ok(bytes) = read_capped(&full)? {
                if let Ok(text) = String::from_utf8(bytes.clone()) {
                    queue.push((target.clone(), text));
                }
                lesson.included.insert(target, bytes);
            }
        }
    }
    Ok(())
}

fn read_folder(
    base: &Utf8Path,
    within: &Utf8Path,
    lesson: &mut LessonFiles,
) -> Result<(), CourseError> {
    for entry in entries(&base.join(within))? {
        let path = within.join(&entry.name);
        let full = base.join(&path);
        if entry.kind.is_dir() {
            read_folder(base, &path, lesson)?;
        } else if entry.kind.is_symlink() {
            let target = full.read_link_utf8().map_or_else(|_| "?".into(), |to| to.to_string());
            lesson.strangers.insert(path, Stranger::Link(target));
        } else if !entry.kind.is_file() {
            lesson.strangers.insert(path, Stranger::Special);
        } else {
            match read_capped(&full)? {
                Ok(bytes) => lesson.files.insert(path, bytes).map_or((), drop),
                Err(length) => {
                    lesson.strangers.insert(path, Stranger::TooLarge(length));
                }
            }
        }
        if lesson.files.len() + lesson.strangers.len() > FILES_MAX {
            return Err(CourseError::TooMany(lesson.folder.clone()));
        }
    }
    Ok(())
}

/// The bytes of a file, or its length where that is above the limit.
fn read_capped(path: &Utf8Path) -> Result<Result<Vec<u8>, u64>, CourseError> {
    let fail = |source| CourseError::Read { path: path.to_owned(), source };
    let file = std::fs::File::open(path).map_err(fail)?;
    let length = file.metadata().map_err(fail)?.len();
    if length > FILE_BYTES_MAX {
        return Ok(Err(length));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(fail)?;
    Ok(Ok(bytes))
}

struct Entry {
    name: String,
    kind: std::fs::FileType,
}

/// The entries of a folder by name, so that what is found doesn't depend on the file system's
/// order.
fn entries(folder: &Utf8Path) -> Result<Vec<Entry>, CourseError> {
    let fail = |source| CourseError::Read { path: folder.to_owned(), source };
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let name = entry.file_name().into_string().map_err(|name| {
            CourseError::Name(folder.join(name.to_string_lossy().as_ref()).to_string())
        })?;
        entries.push(Entry { name, kind: entry.file_type().map_err(fail)? });
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// The course's own files: trust root and canonical copies.
#[derive(Debug, Clone, Default)]
pub struct CourseFiles {
    signers: Option<Vec<u8>>,
    policy: Option<Vec<u8>>,
    common: BTreeMap<String, String>,
    strangers: Vec<&'static str>,
}

impl CourseFiles {
    /// The course, and what is wrong with its trust root.
    pub fn into_course(self) -> (Course, Findings) {
        let signers = (Utf8Path::new(SIGNERS_FILE), self.signers.as_deref());
        let policy = (Utf8Path::new(POLICY_FILE), self.policy.as_deref());
        let (trust, mut findings) = TrustRoot::read(signers, policy);
        for path in self.strangers {
            let fact = "no plain file, so nothing is read through it";
            let next = "put the file itself here";
            findings.push(Finding::error(Rule::TrustRoot, Place::file(path), fact, next));
        }
        (Course { trust, common: self.common, toolkit: None }, findings)
    }
}

/// Reads the course's own files.
///
/// # Errors
/// When one is there and can't be read.
pub fn course_files(root: &Utf8Path) -> Result<CourseFiles, CourseError> {
    let mut strangers = Vec::new();
    let mut optional = |name: &'static str| {
        let path = root.join(name);
        // A link may lead anywhere, and a pipe would keep its reader waiting.
        if path.symlink_metadata().is_ok_and(|metadata| !metadata.is_file()) {
            strangers.push(name);
            return Ok(None);
        }
        match read_capped(&path) {
            Ok(Ok(bytes)) => Ok(Some(bytes)),
            // Too large: the reader of the trust root says so, of a file that is no longer than
            // this.
            Ok(Err(_)) => Ok(Some(vec![b'#'; 2 * 1024 * 1024])),
            Err(CourseError::Read { source, .. }) if source.kind() == ErrorKind::NotFound => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    };
    let (signers, policy) = (optional(SIGNERS_FILE)?, optional(POLICY_FILE)?);
    let mut files = CourseFiles { signers, policy, common: BTreeMap::new(), strangers };
    let folder = root.join(COMMON_FOLDER);
    if folder.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
        for entry in entries(&folder)?.into_iter().filter(|entry| entry.kind.is_file()) {
            if let Ok(bytes) = read_capped(&folder.join(&entry.name))?
                && let Ok(text) = String::from_utf8(bytes)
            {
                files.common.insert(entry.name, text);
            }
        }
    }
    Ok(files)
}

/// The records below a folder that came from a GPU host, each with its files.
///
/// # Errors
/// When a folder or file can't be read.
pub fn record_folders(folder: &Utf8Path) -> Result<Vec<EvidenceFolder>, CourseError> {
    let mut found = Vec::new();
    walk_for_records(folder, 0, &mut found)?;
    Ok(found)
}

fn walk_for_records(
    folder: &Utf8Path,
    depth: usize,
    found: &mut Vec<EvidenceFolder>,
) -> Result<(), CourseError> {
    let entries = entries(folder)?;
    if entries.iter().any(|entry| entry.name == RECORD_FILE) {
        let mut record = EvidenceFolder { path: folder.to_owned(), ..EvidenceFolder::default() };
        for entry in entries {
            match entry
                .kind
                .is_file()
                .then(|| read_capped(&folder.join(&entry.name)))
                .transpose()?
            {
                Some(Ok(bytes)) => record.files.insert(entry.name, bytes).map_or((), drop),
                Some(Err(_)) | None => record.strangers.push(entry.name),
            }
        }
        found.push(record);
        return Ok(());
    }
    // A folder whose name starts with a dot holds a record in the making.
    let entries = entries.into_iter().filter(|entry| !entry.name.starts_with('.'));
    for entry in entries.filter(|entry| entry.kind.is_dir() && depth < RECORD_DEPTH_MAX) {
        walk_for_records(&folder.join(entry.name), depth + 1, found)?;
    }
    Ok(())
}
