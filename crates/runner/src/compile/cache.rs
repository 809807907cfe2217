//! Builds that were done earlier, by a digest of all that they depend on.
//!
//! **Invariant: an entry is used only if every file of it still has the digest that it had.** One
//! that does not is removed and built again. Only an executable whose size and times are those of
//! the moment in which it was digested is not digested again: it is a megabyte, and whoever runs or
//! packs it asks [`Product::check`] first. What depends on the moment (a deadline, a signal) is
//! not kept.
//!
//! An entry is a folder: `outcome.toml`, `log`, `0.ptx` and so on, and the executable under its own
//! name in `bin/`.

use std::os::unix::fs::MetadataExt;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use serde::{Deserialize, Serialize};

use super::build::{Built, WORK_PREFIX, WorkFolder};
use super::{BuildStatus, Error, Outcome, Product, Ptx, Request, diagnostics, ptx};
use crate::system::files;
use crate::toolkit::Toolkit;

/// Raised when an entry's meaning changes.
const VERSION: u32 = 2;
/// No file of an entry is larger.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Work folders of builds that were killed are removed after this long.
const WORK_FOLDER_MAX: Duration = Duration::from_secs(24 * 3600);

/// A folder of builds.
#[derive(Debug, Clone)]
pub struct Cache {
    folder: Utf8PathBuf,
}

/// What [`Cache::prune`] removed and left.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Entries removed.
    pub removed: usize,
    /// Entries left.
    pub kept: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    version: u32,
    wall_ms: u64,
    log: Digest,
    executable: Option<Digest>,
    /// Size and times of the executable when it was digested.
    stamp: Option<String>,
    status: BuildStatus,
    #[serde(default)]
    ptx: Vec<PtxEntry>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PtxEntry {
    source: Utf8PathBuf,
    bytes: Digest,
}

impl Cache {
    /// The cache under a folder that may be written to, usually `target/proofrun` of the course.
    pub fn under(target: &Utf8Path) -> Self {
        Self { folder: target.join("cache/compile") }
    }

    /// Removes entries that were not used for `unused`, and what killed builds left.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn prune(&self, unused: Duration) -> Result<Pruned, Error> {
        let mut pruned = Pruned::default();
        let Ok(entries) = self.folder.read_dir_utf8() else { return Ok(pruned) };
        for entry in entries.flatten() {
            let path = entry.path();
            let entry_file = path.join("outcome.toml");
            let is_entry = entry.file_name().parse::<Digest>().is_ok();
            let dated = if entry_file.exists() { &entry_file } else { path };
            let modified = std::fs::metadata(dated).and_then(|metadata| metadata.modified());
            let age = modified.ok().and_then(|time| SystemTime::now().duration_since(time).ok());
            let max = if is_entry { unused } else { WORK_FOLDER_MAX };
            let remove = age.is_some_and(|age| age >= max);
            if remove {
                files::remove_dir(path)?;
            }
            pruned.removed += usize::from(remove && is_entry);
            pruned.kept += usize::from(!remove && is_entry);
        }
        Ok(pruned)
    }

    /// A new folder to build in, on the cache's own file system.
    pub(crate) fn work_folder(&self) -> Result<WorkFolder, Error> {
        files::create_dir(&self.folder)?;
        let made = tempfile::Builder::new().prefix(WORK_PREFIX).tempdir_in(&self.folder);
        let path = made.map_err(files::Error::system("make a folder in", &self.folder))?.keep();
        let path = Utf8PathBuf::from_path_buf(path).map_err(|path| files::Error::NotUtf8 {
            folder: self.folder.clone(),
            shown: path.to_string_lossy().into_owned(),
        })?;
        // Absolute, because builds run in another folder than this program.
        let path = path.canonicalize_utf8().map_err(files::Error::system("find", &path))?;
        Ok(WorkFolder { path })
    }

    /// The digest of all that the outcome depends on.
    pub(super) fn key(&self, request: &Request<'_>) -> Result<Digest, Error> {
        let mut parts: Vec<Vec<u8>> = vec![
            format!("compile {VERSION}").into(),
            own_digest()?.to_string().into(),
            request.folder.as_str().into(),
            request.words().join("\0").into(),
        ];
        parts.extend(toolkit_identity(request.toolkit)?.into_iter().map(Into::into));
        for (path, bytes) in request.files {
            parts.push(path.as_str().into());
            parts.push(Digest::of(bytes).as_bytes().to_vec());
        }
        Ok(Digest::of_parts(parts))
    }

    /// What an earlier build left, if all of it is as it was.
    pub(super) fn load(
        &self,
        key: Digest,
        request: &Request<'_>,
    ) -> Result<Option<Outcome>, Error> {
        let folder = self.folder_of(key);
        if !folder.exists() {
            return Ok(None);
        }
        let found = read(&folder, request);
        if found.is_none() {
            files::remove_dir(&folder)?;
        }
        Ok(found)
    }

    /// Keeps a build, and returns its outcome as the cache has it.
    pub(super) fn store(
        &self,
        key: Digest,
        request: &Request<'_>,
        built: Built,
    ) -> Result<Outcome, Error> {
        let diagnostics = diagnostics::parse(&built.log);
        let has_error = diagnostics.iter().any(|found| found.severity == super::Severity::Error);
        let lasting = match built.status {
            BuildStatus::Built => true,
            // A failure that the compiler explains is the program's; others may be the machine's.
            BuildStatus::Failed(_) => has_error,
            BuildStatus::Killed(_) | BuildStatus::Hung | BuildStatus::TooMuchOutput => false,
        };
        if !lasting {
            return Ok(Outcome {
                status: built.status,
                log: built.log,
                diagnostics,
                product: None,
                toolkit: request.toolkit.facts(),
                wall: built.wall,
                cached: false,
            });
        }
        let folder = self.folder_of(key);
        files::write_dir_cached(&folder, |temporary| write(temporary, request, &built))?;
        match read(&folder, request) {
            Some(outcome) => Ok(Outcome { cached: false, ..outcome }),
            None => Err(files::Error::TooMuch {
                path: folder,
                what: "changed while it was being written".into(),
                hint: "is somebody else writing under target/?",
            }
            .into()),
        }
    }

    /// The folder of what was built under a key.
    pub(crate) fn folder_of(&self, key: Digest) -> Utf8PathBuf {
        self.folder.join(key.to_string())
    }
}

fn write(folder: &Utf8Path, request: &Request<'_>, built: &Built) -> Result<(), Error> {
    files::write_new(&folder.join("log"), built.log.as_bytes())?;
    let mut entry = Entry {
        version: VERSION,
        wall_ms: u64::try_from(built.wall.as_millis()).unwrap_or(u64::MAX),
        log: Digest::of(&built.log),
        executable: None,
        stamp: None,
        status: built.status,
        ptx: Vec::new(),
    };
    for (index, ptx) in built.ptx.iter().enumerate() {
        files::write_new(&folder.join(format!("{index}.ptx")), ptx.text.as_bytes())?;
        entry.ptx.push(PtxEntry { source: ptx.source.clone(), bytes: Digest::of(&ptx.text) });
    }
    if let Some(executable) = &built.executable {
        let kept = executable_in(folder, request);
        files::create_dir(folder.join("bin"))?;
        std::fs::rename(executable, &kept).map_err(files::Error::system("move", executable))?;
        entry.executable = Some(Digest::of(files::read_capped(&kept, FILE_BYTES_MAX)?));
        entry.stamp = stamp(&kept);
    }
    let text = toml::to_string(&entry).expect("an entry is plain data");
    Ok(files::write_new(&folder.join("outcome.toml"), text.as_bytes())?)
}

/// `None` where anything is not as it was written.
fn read(folder: &Utf8Path, request: &Request<'_>) -> Option<Outcome> {
    let load = |name: &str, digest: Digest| {
        let bytes = files::read_capped(folder.join(name), FILE_BYTES_MAX).ok()?;
        (Digest::of(&bytes) == digest).then_some(bytes)
    };
    let entry_file = folder.join("outcome.toml");
    let text = files::read_capped(&entry_file, FILE_BYTES_MAX).ok()?;
    let entry: Entry = toml::from_str(std::str::from_utf8(&text).ok()?).ok()?;
    if entry.version != VERSION
        || entry.executable.is_some() != (entry.status == BuildStatus::Built)
    {
        return None;
    }
    let log = String::from_utf8(load("log", entry.log)?).ok()?;
    let mut all = Vec::new();
    for (index, stored) in entry.ptx.into_iter().enumerate() {
        let text = String::from_utf8(load(&format!("{index}.ptx"), stored.bytes)?).ok()?;
        all.push(Ptx { source: stored.source, digest: ptx::digest(&text), text });
    }
    let mut toolkit = request.toolkit.facts();
    toolkit.ptx_isa = all.first().and_then(|ptx| ptx::isa(&ptx.text)).or(toolkit.ptx_isa);
    let product = match entry.executable {
        None => None,
        Some(executable_digest) => {
            let executable = executable_in(folder, request);
            if entry.stamp.is_none() || stamp(&executable) != entry.stamp {
                load(&format!("bin/{}", request.command.output()), executable_digest)?;
            }
            let names_and_digests = all.iter().flat_map(|ptx| {
                [ptx.source.as_str().as_bytes().to_vec(), ptx.digest.as_bytes().to_vec()]
            });
            let ptx_digest = Digest::of_parts(names_and_digests);
            Some(Product { executable, executable_digest, ptx_digest, ptx: all })
        }
    };
    // The entry's age is the time since it was last of use. That it cannot be told is no failure.
    let _ = std::fs::File::open(&entry_file).map(|file| file.set_modified(SystemTime::now()));
    Some(Outcome {
        status: entry.status,
        diagnostics: diagnostics::parse(&log),
        log,
        product,
        toolkit,
        wall: Duration::from_millis(entry.wall_ms),
        cached: true,
    })
}

/// What changes when somebody writes to a plain file: its size, and the times at which its contents
/// and its facts changed. `None` where there is no plain file.
fn stamp(path: &Utf8Path) -> Option<String> {
    let data = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let times = (data.mtime(), data.mtime_nsec(), data.ctime(), data.ctime_nsec());
    Some(format!("{} {}.{:09} {}.{:09}", data.len(), times.0, times.1, times.2, times.3))
}

impl Product {
    /// The executable's bytes, which are those that were built.
    ///
    /// # Errors
    /// When it can't be read, or is another one by now.
    pub fn check(&self) -> Result<Vec<u8>, files::Error> {
        let bytes = files::read_capped(&self.executable, FILE_BYTES_MAX)?;
        if Digest::of(&bytes) == self.executable_digest {
            return Ok(bytes);
        }
        Err(files::Error::TooMuch {
            path: self.executable.clone(),
            what: "is not the program that was built".into(),
            hint: "remove the cache's folder, and build again",
        })
    }
}

fn executable_in(folder: &Utf8Path, request: &Request<'_>) -> Utf8PathBuf {
    folder.join("bin").join(request.command.output())
}

/// What a toolkit is, for the key: its version, its place, and its programs by size and time.
pub(crate) fn toolkit_identity(toolkit: &Toolkit) -> Result<Vec<String>, Error> {
    let root = toolkit.root.canonicalize_utf8();
    let root = root.map_err(files::Error::system("find", &toolkit.root))?;
    let mut parts = vec![toolkit.version.clone(), root.to_string()];
    let mut programs = vec![toolkit.nvcc.clone()];
    programs.extend(["nvvm/bin/cicc", "bin/ptxas", "bin/cudafe++"].map(|name| root.join(name)));
    if let Some(host) = &toolkit.host {
        parts.push(host.version.clone());
        programs.push(host.path.clone());
    }
    for program in programs {
        // A program that is not there is a fact, too.
        let metadata = std::fs::metadata(&program).ok();
        let metadata = metadata.map(|data| (data.len(), data.mtime(), data.mtime_nsec()));
        parts.push(format!("{program} {metadata:?}"));
    }
    Ok(parts)
}

/// The digest of this very program, whose reading of a build is part of what the cache holds.
pub(crate) fn own_digest() -> Result<Digest, Error> {
    static DIGEST: OnceLock<Digest> = OnceLock::new();
    if let Some(digest) = DIGEST.get() {
        return Ok(*digest);
    }
    let bytes = files::read_capped("/proc/self/exe", FILE_BYTES_MAX)?;
    Ok(*DIGEST.get_or_init(|| Digest::of(bytes)))
}
