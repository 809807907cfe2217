//! Where a toolkit is looked for, in order, and what was found at each place.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};

use super::Toolkit;
use super::managed::{Managed, Progress, ProvisionError};
use super::probe::{NotAToolkit, on_path, probe};
use crate::system::process::Cancel;

/// How a toolkit was found, in the order of looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// `--cuda-home`.
    Flag,
    /// The variable `CUDA_HOME`.
    CudaHome,
    /// The variable `CUDA_PATH`.
    CudaPath,
    /// `nvcc` on PATH.
    Path,
    /// The managed toolkit under `target/`.
    Managed,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flag => "--cuda-home",
            Self::CudaHome => "CUDA_HOME",
            Self::CudaPath => "CUDA_PATH",
            Self::Path => "nvcc on PATH",
            Self::Managed => "the managed toolkit",
        })
    }
}

/// The places to look at.
#[derive(Debug, Clone)]
pub struct Places {
    /// The value of `--cuda-home`.
    pub flag: Option<Utf8PathBuf>,
    /// The value of `CUDA_HOME`; empty counts as unset.
    pub cuda_home: Option<Utf8PathBuf>,
    /// The value of `CUDA_PATH`; empty counts as unset.
    pub cuda_path: Option<Utf8PathBuf>,
    /// The value of `PATH`; the host compiler is looked up in it too.
    pub path: String,
    /// The managed toolkit, which may not be there yet.
    pub managed: Managed,
}

impl Places {
    /// The places that this program's environment names. `target` is the folder that may be written
    /// to.
    pub fn of_environment(flag: Option<Utf8PathBuf>, target: &Utf8Path) -> Self {
        let variable = |name: &str| std::env::var(name).ok().map(Utf8PathBuf::from);
        Self {
            flag,
            cuda_home: variable("CUDA_HOME"),
            cuda_path: variable("CUDA_PATH"),
            path: std::env::var("PATH").unwrap_or_default(),
            managed: Managed::under(target),
        }
    }
}

/// What became of one place.
#[derive(Debug)]
pub enum Verdict {
    /// Its toolkit is the one.
    Taken,
    /// Nobody named it, or nothing is there.
    Absent,
    /// It was named and does not work: the search ends here.
    Broken(NotAToolkit),
    /// An earlier place had decided.
    NotReached,
}

/// One place and what was found there.
#[derive(Debug)]
pub struct Tried {
    /// Which place.
    pub origin: Origin,
    /// Its folder, where there is one.
    pub root: Option<Utf8PathBuf>,
    /// What became of it.
    pub verdict: Verdict,
}

/// All places, in order, and the toolkit that was taken.
#[derive(Debug)]
pub struct Search {
    /// Each of the five places.
    pub tried: Vec<Tried>,
    /// The toolkit, if a place had one.
    pub toolkit: Option<Toolkit>,
}

/// Why there is no toolkit.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A named toolkit does not work.
    #[error(
        "{origin} names `{root}`, which holds no working toolkit: {reason}; correct or unset it"
    )]
    Broken {
        /// Who names it.
        origin: Origin,
        /// The folder.
        root: Utf8PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// None is there and none may be fetched.
    #[error(
        "no CUDA toolkit found, and `--offline` forbids fetching one; \
         install one, or run once without `--offline`"
    )]
    OfflineAndAbsent,
    /// Fetching one failed.
    #[error("cannot fetch the managed toolkit: {0}")]
    Provision(#[from] ProvisionError),
}

impl Search {
    /// The toolkit, or `None` where no place has one.
    ///
    /// # Errors
    /// [`Error::Broken`] when a place was named whose toolkit does not work.
    pub fn toolkit(self) -> Result<Option<Toolkit>, Error> {
        for tried in self.tried {
            if let Verdict::Broken(reason) = tried.verdict
                // A broken managed toolkit is ours to replace, and no error of the user's.
                && tried.origin != Origin::Managed
            {
                let root = tried.root.unwrap_or_default();
                let reason = reason.to_string();
                return Err(Error::Broken { origin: tried.origin, root, reason });
            }
        }
        Ok(self.toolkit)
    }
}

/// Looks at the places in order, and changes nothing.
pub fn search(places: &Places, cancel: &Cancel) -> Search {
    let set = |value: &Option<Utf8PathBuf>| value.clone().filter(|path| !path.as_str().is_empty());
    let managed = Some(places.managed.root()).filter(|root| root.is_dir());
    let roots = [
        (Origin::Flag, set(&places.flag)),
        (Origin::CudaHome, set(&places.cuda_home)),
        (Origin::CudaPath, set(&places.cuda_path)),
        (Origin::Path, on_path("nvcc", &places.path).and_then(|nvcc| root_of(&nvcc))),
        (Origin::Managed, managed),
    ];
    let mut search = Search { tried: Vec::new(), toolkit: None };
    let mut decided = false;
    for (origin, root) in roots {
        let verdict = match &root {
            _ if decided => Verdict::NotReached,
            None => Verdict::Absent,
            Some(root) => match probe(root, origin, &places.path, cancel) {
                Ok(toolkit) => {
                    search.toolkit = Some(toolkit);
                    Verdict::Taken
                }
                Err(reason) => Verdict::Broken(reason),
            },
        };
        decided |= !matches!(verdict, Verdict::Absent);
        search.tried.push(Tried { origin, root, verdict });
    }
    search
}

/// The toolkit that the places name, or the managed one, fetched if need be.
///
/// # Errors
/// Why there is none.
pub fn ensure(
    places: &Places,
    offline: bool,
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<Toolkit, Error> {
    if let Some(toolkit) = search(places, cancel).toolkit()? {
        return Ok(toolkit);
    }
    if offline {
        return Err(Error::OfflineAndAbsent);
    }
    let root = places.managed.provision(&places.path, progress, cancel)?;
    probe(&root, Origin::Managed, &places.path, cancel)
        .map_err(|reason| Error::Provision(ProvisionError::DoesNotWork(reason)))
}

/// The folder above `bin/`. A link on PATH (as distributions and wrappers lay them) is followed to
/// the toolkit that it means, unless it leads to something that is not called nvcc.
fn root_of(nvcc: &Utf8Path) -> Option<Utf8PathBuf> {
    let real = nvcc.canonicalize_utf8().ok().filter(|real| real.file_name() == Some("nvcc"));
    let nvcc = real.unwrap_or_else(|| nvcc.to_owned());
    nvcc.parent()?.parent().map(Utf8Path::to_owned)
}

#[cfg(test)]
mod tests;
