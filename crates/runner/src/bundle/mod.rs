//! Bundles: everything that a GPU host without Rust, network and perhaps nvcc needs, in one
//! archive.
//!
//! [`write`] makes one and [`issued`] remembers its nonce; [`open`] checks one on the host before
//! an hour of a GPU is spent on a torn copy. **Invariant: every file of a bundle is listed with its
//! digest in `bundle.toml`.**

mod archive;
pub mod issued;

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use proofrun_core::bundle::{BUNDLE_FILE, BUNDLE_FORMAT, Bundle};
use proofrun_core::record::model::FileRecord;

use crate::system::files::{self, FileKind, TreeLimits};

pub use archive::write_archive;

/// The runner's file name in a bundle.
pub const RUNNER_FILE: &str = "lesson-runner";

/// The largest file of a bundle, in bytes.
const FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// Why a bundle can't be made or used.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// A file of it.
    #[error(transparent)]
    Files(#[from] files::Error),
    /// `bundle.toml` can't be read.
    #[error("`{path}` can't be read: {message}; bundle again")]
    Manifest {
        /// Which.
        path: Utf8PathBuf,
        /// Why.
        message: String,
    },
    /// It is of another version.
    #[error(
        "bundle format {found}, and this runner reads {BUNDLE_FORMAT}; use the runner of the bundle"
    )]
    Format {
        /// Which.
        found: u32,
    },
    /// A file is not the one that was bundled.
    #[error("`{path}` {what}; copy the bundle again")]
    Torn {
        /// Which.
        path: Utf8PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
    /// `bundle.toml` can't be written.
    #[error("the bundle's facts can't be written")]
    Write(#[from] toml::ser::Error),
    /// The archive can't be written.
    #[error("`{path}` can't be written")]
    Archive {
        /// Which.
        path: Utf8PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
}

/// A file of a bundle in the making.
#[derive(Debug, Clone)]
pub struct BundleFile {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Whether it is run.
    pub executable: bool,
}

/// Writes a bundle into a folder that doesn't exist yet, with `bundle.toml` listing every file.
///
/// # Errors
/// When the folder is there already or the disk refuses; nothing half-written is left.
pub fn write(
    folder: &Utf8Path,
    mut bundle: Bundle,
    contents: &BTreeMap<Utf8PathBuf, BundleFile>,
) -> Result<Bundle, BundleError> {
    bundle.file = contents
        .iter()
        .map(|(path, file)| FileRecord {
            path: path.to_string(),
            bytes: file.bytes.len() as u64,
            sha256: Digest::of(&file.bytes),
        })
        .collect();
    let facts = toml::to_string(&bundle)?;
    let made = files::write_dir_atomic::<BundleError>(folder, |temporary| {
        for (path, file) in contents {
            let path = temporary.join(path);
            if let Some(parent) = path.parent() {
                files::create_dir(parent)?;
            }
            files::write_atomic(&path, &file.bytes)?;
            if file.executable {
                files::make_executable(&path)?;
            }
        }
        Ok(files::write_atomic(temporary.join(BUNDLE_FILE), &facts)?)
    })?;
    if made {
        Ok(bundle)
    } else {
        Err(BundleError::Torn { path: folder.to_owned(), what: "is there already" })
    }
}

/// Opens an unpacked bundle and checks every file of it.
///
/// # Errors
/// When `bundle.toml` can't be read or any file is missing, torn, or not listed.
pub fn open(folder: &Utf8Path) -> Result<Bundle, BundleError> {
    let path = folder.join(BUNDLE_FILE);
    let bytes = files::read_capped(&path, FILE_BYTES_MAX)?;
    let bundle = parse(&path, &bytes)?;
    for file in &bundle.file {
        let path = folder.join(&file.path);
        let torn = |what| BundleError::Torn { path: path.clone(), what };
        let bytes = files::read_capped(&path, FILE_BYTES_MAX).map_err(|error| {
            if error.is_not_found() { torn("is missing") } else { error.into() }
        })?;
        if bytes.len() as u64 != file.bytes || Digest::of(&bytes) != file.sha256 {
            return Err(torn("is not the one that was bundled"));
        }
    }
    let listed: std::collections::BTreeSet<&str> =
        bundle.file.iter().map(|file| file.path.as_str()).collect();
    for (path, kind) in files::read_tree(folder.join("course"), TreeLimits::GENEROUS)? {
        let path = Utf8PathBuf::from("course").join(path);
        if !matches!(kind, FileKind::Folder) && !listed.contains(path.as_str()) {
            return Err(BundleError::Torn { path, what: "was not bundled" });
        }
    }
    Ok(bundle)
}

/// Reads `bundle.toml`.
///
/// # Errors
/// When it isn't TOML of a known version.
pub fn parse(path: &Utf8Path, bytes: &[u8]) -> Result<Bundle, BundleError> {
    let manifest = |message: String| BundleError::Manifest { path: path.to_owned(), message };
    let text = std::str::from_utf8(bytes).map_err(|error| manifest(error.to_string()))?;
    #[derive(serde::Deserialize)]
    struct Version {
        schema: u32,
    }
    let version: Version =
        toml::from_str(text).map_err(|error| manifest(error.message().to_owned()))?;
    if version.schema != BUNDLE_FORMAT {
        return Err(BundleError::Format { found: version.schema });
    }
    toml::from_str(text).map_err(|error| manifest(error.message().to_owned()))
}
