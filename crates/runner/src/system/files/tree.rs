//! What a folder holds, without following links out of it.

use std::collections::BTreeMap;
use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::Error;

/// What stands under a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File {
        /// Its size.
        bytes: u64,
    },
    /// A folder, whose entries are listed too.
    Folder,
    /// A symbolic link, which is not followed.
    Link {
        /// What it says, lossily where that is no UTF-8.
        target: String,
    },
    /// A pipe, a socket, a device.
    Other,
}

/// How much a tree may hold.
#[derive(Debug, Clone, Copy)]
pub struct TreeLimits {
    /// Entries in all.
    pub entries_max: usize,
    /// Folders within folders.
    pub depth_max: usize,
}

impl TreeLimits {
    /// For a course: more than any has.
    pub const COURSE: Self = Self { entries_max: 100_000, depth_max: 16 };
    /// For folders that this program makes itself, a toolkit among them.
    pub const GENEROUS: Self = Self { entries_max: 1_000_000, depth_max: 64 };
}

/// All that is under a folder, by its path relative to it.
///
/// # Errors
/// When a folder cannot be read, a name is not UTF-8, or a limit is passed.
pub fn read_tree(
    root: impl AsRef<Utf8Path>,
    limits: TreeLimits,
) -> Result<BTreeMap<Utf8PathBuf, FileKind>, Error> {
    let root = root.as_ref();
    let mut found = BTreeMap::new();
    let mut waiting = vec![(Utf8PathBuf::new(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        let path = if folder.as_str().is_empty() { root.to_owned() } else { root.join(&folder) };
        let too_much = |what: String, hint| Error::TooMuch { path: path.clone(), what, hint };
        if depth > limits.depth_max {
            let what = format!("is more than {} folders deep", limits.depth_max);
            return Err(too_much(what, "move it up"));
        }
        for entry in fs::read_dir(&path).map_err(Error::system("read", &path))? {
            let entry = entry.map_err(Error::system("read", &path))?;
            let name = entry.file_name().into_string().map_err(|name| Error::NotUtf8 {
                folder: path.clone(),
                shown: name.to_string_lossy().into_owned(),
            })?;
            let kind = kind(&path.join(&name))?;
            let relative = folder.join(name);
            if kind == FileKind::Folder {
                waiting.push((relative.clone(), depth + 1));
            }
            found.insert(relative, kind);
            if found.len() > limits.entries_max {
                let what = format!("brings the tree to more than {} entries", limits.entries_max);
                return Err(too_much(what, "remove what doesn't belong there"));
            }
        }
    }
    Ok(found)
}

fn kind(path: &Utf8Path) -> Result<FileKind, Error> {
    let metadata = fs::symlink_metadata(path).map_err(Error::system("read", path))?;
    Ok(if metadata.is_file() {
        FileKind::File { bytes: metadata.len() }
    } else if metadata.is_dir() {
        FileKind::Folder
    } else if metadata.is_symlink() {
        let target = fs::read_link(path).map_err(Error::system("read", path))?;
        FileKind::Link { target: target.to_string_lossy().into_owned() }
    } else {
        FileKind::Other
    })
}
