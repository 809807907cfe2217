//! A lesson's files as they were read: the input of every check.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};

use crate::record::EvidenceFolder;

/// The folder under a lesson that holds records.
pub const EVIDENCE_FOLDER: &str = "evidence";

/// The folder under a lesson that holds reviews.
pub const REVIEWS_FOLDER: &str = "reviews";

/// The folder under a lesson that holds snapshots.
pub const SNAPSHOTS_FOLDER: &str = "snapshots";

/// A lesson's page.
pub const PAGE_FILE: &str = "README.md";

/// A lesson's manifest.
pub const MANIFEST_FILE: &str = "lesson.toml";

/// What lies in a lesson's folder.
#[derive(Debug, Clone, Default)]
pub struct LessonFiles {
    /// The folder, relative to the course's root.
    pub folder: Utf8PathBuf,
    /// Every plain file, by its path within the folder.
    pub files: BTreeMap<Utf8PathBuf, Vec<u8>>,
    /// What is no plain file or could not be read, with what it is.
    pub strangers: BTreeMap<Utf8PathBuf, Stranger>,
    /// Files elsewhere in the course that the programs include, by their path from the course's
    /// root.
    pub included: BTreeMap<Utf8PathBuf, Vec<u8>>,
}

/// Something in a lesson's folder that is no plain, readable file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stranger {
    /// A symbolic link, and where it leads.
    Link(String),
    /// A device, socket or pipe.
    Special,
    /// A file above the limit, with its length in bytes.
    TooLarge(u64),
}

impl LessonFiles {
    /// The lesson's name: its folder's.
    pub fn name(&self) -> &str {
        self.folder.file_name().unwrap_or(self.folder.as_str())
    }

    /// The bytes of a file.
    pub fn get(&self, path: impl AsRef<Utf8Path>) -> Option<&[u8]> {
        self.files.get(path.as_ref()).map(Vec::as_slice)
    }

    /// The files directly in a folder of the lesson, by name.
    pub fn in_folder(&self, folder: &str) -> BTreeMap<String, &[u8]> {
        let files = self.files.iter().filter(|(path, _)| path.parent() == Some(folder.into()));
        let named =
            files.filter_map(|(path, bytes)| Some((path.file_name()?.to_owned(), &bytes[..])));
        named.collect()
    }

    /// The folders under `evidence/`, and files that lie there outside any.
    pub fn evidence(&self) -> (Vec<EvidenceFolder>, Vec<Utf8PathBuf>) {
        let mut folders: BTreeMap<&str, EvidenceFolder> = BTreeMap::new();
        let mut loose = Vec::new();
        let strangers = self.strangers.keys().map(|path| (path, None));
        let files = self.files.iter().map(|(path, bytes)| (path, Some(bytes)));
        for (path, bytes) in files.chain(strangers) {
            let Ok(rest) = path.strip_prefix(EVIDENCE_FOLDER) else { continue };
            let Some((record, name)) = rest.as_str().split_once('/') else {
                loose.push(path.clone());
                continue;
            };
            let folder = folders.entry(record).or_default();
            match bytes {
                Some(bytes) if !name.contains('/') => {
                    folder.files.insert(name.to_owned(), bytes.clone());
                }
                _ => folder.strangers.push(name.to_owned()),
            }
        }
        let base = self.folder.join(EVIDENCE_FOLDER);
        let folders = folders
            .into_iter()
            .map(|(name, folder)| EvidenceFolder { path: base.join(name), ..folder });
        (folders.collect(), loose)
    }

    /// The text of each CUDA source in the folder, by path; those that aren't UTF-8 are left out.
    pub fn sources(&self) -> BTreeMap<Utf8PathBuf, String> {
        let cuda = self.files.iter().filter(|(path, _)| path.extension() == Some("cu"));
        let texts = cuda.filter(|(path, _)| !self.is_kept(path)).filter_map(|(path, bytes)| {
            Some((path.clone(), String::from_utf8(bytes.clone()).ok()?))
        });
        texts.collect()
    }

    /// The same lesson with some files written, or removed where nothing is given.
    #[must_use]
    pub fn with(&self, changes: &BTreeMap<Utf8PathBuf, Option<Vec<u8>>>) -> Self {
        let mut changed = self.clone();
        for (path, bytes) in changes {
            match bytes {
                Some(bytes) => changed.files.insert(path.clone(), bytes.clone()),
                None => changed.files.remove(path),
            };
        }
        changed
    }

    /// Whether anything was ever recorded, reviewed or published of the lesson.
    pub fn has_evidence(&self) -> bool {
        self.files.keys().chain(self.strangers.keys()).any(|path| self.is_kept(path))
    }

    /// Whether a path lies in a folder of what is kept rather than written: evidence, reviews,
    /// snapshots.
    pub fn is_kept(&self, path: &Utf8Path) -> bool {
        [EVIDENCE_FOLDER, REVIEWS_FOLDER, SNAPSHOTS_FOLDER]
            .iter()
            .any(|folder| path.starts_with(folder))
    }
}
