//! Looking at one toolkit: does its nvcc work, and what is it.

use std::fs;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::argv::Code;

use super::{HostCompiler, Origin, Toolkit, Tools};
use crate::system::files;
use crate::system::process::{self, Cancel, Command, Status};

/// How long nvcc may take to say its version; a cold network disk is slow.
const DEADLINE: Duration = Duration::from_secs(60);

/// Headers that are read for a version are smaller than this.
const HEADER_BYTES_MAX: u64 = 4 << 20;

/// Why a folder holds no toolkit.
#[derive(Debug, thiserror::Error)]
pub enum NotAToolkit {
    /// Nothing is there.
    #[error("there is no `{0}`")]
    NoNvcc(Utf8PathBuf),
    /// It does not start.
    #[error(transparent)]
    DoesNotStart(#[from] process::Error),
    /// It starts and fails.
    #[error("`{nvcc} --version` ended with {status}: {said}")]
    Fails {
        /// The compiler.
        nvcc: Utf8PathBuf,
        /// How it ended.
        status: String,
        /// Its last line.
        said: String,
    },
    /// It says something else than a version.
    #[error("`{nvcc} --version` names no release; is it nvcc?")]
    NoVersion {
        /// The compiler.
        nvcc: Utf8PathBuf,
    },
    /// Somebody asked to stop.
    #[error("stopped while looking for a toolkit")]
    Cancelled,
}

/// Looks at the toolkit in `root`. `path` is the PATH in which its host compiler is looked up.
///
/// # Errors
/// Why it is none.
pub fn probe(
    root: &Utf8Path,
    origin: Origin,
    path: &str,
    cancel: &Cancel,
) -> Result<Toolkit, NotAToolkit> {
    // Builds run in another folder than this program, so a relative path would not do.
    let absolute = camino::absolute_utf8(root).unwrap_or_else(|_| root.to_owned());
    let root = absolute.as_path();
    let nvcc = root.join("bin/nvcc");
    if !nvcc.is_file() {
        return Err(NotAToolkit::NoNvcc(nvcc));
    }
    let text = ask(&nvcc, "--version", path, cancel)?;
    let (release, version) =
        parse_version(&text).ok_or_else(|| NotAToolkit::NoVersion { nvcc: nvcc.clone() })?;
    let target = format!("targets/{}-linux", std::env::consts::ARCH);
    let target = target.replace("aarch64", "sbsa");
    let include = [root.join(&target).join("include"), root.join("include")]
        .into_iter()
        .find(|folder| folder.join("cuda_runtime.h").is_file());
    let lib = [root.join(&target).join("lib"), root.join("lib64"), root.join("lib")]
        .into_iter()
        .find(|folder| folder.join("libcudart_static.a").is_file());
    let mut codes = Vec::new();
    for flag in ["--list-gpu-arch", "--list-gpu-code"] {
        // Toolkits before 11.1 do not know these; then nothing is known of what they support.
        let listed = ask(&nvcc, flag, path, cancel).unwrap_or_default();
        codes.extend(listed.split_ascii_whitespace().filter_map(|code| code.parse::<Code>().ok()));
    }
    Ok(Toolkit {
        cccl: include.as_deref().and_then(cccl_version),
        cudart: include.as_deref().and_then(cudart_version),
        ptx_isa: ptx_isa(&release).map(Into::into),
        tools: tools(root),
        host: host_compiler(path, cancel),
        root: root.to_owned(),
        nvcc,
        origin,
        release,
        version,
        include,
        lib,
        codes,
    })
}

fn ask(nvcc: &Utf8Path, flag: &str, path: &str, cancel: &Cancel) -> Result<String, NotAToolkit> {
    let command = Command::new(nvcc).arg(flag).env("PATH", path).deadline(DEADLINE);
    let ended = command.env_remove(crate::compile::NVCC_VARIABLES).run(cancel)?;
    match ended.status {
        Status::Exit(0) => Ok(String::from_utf8_lossy(&ended.stdout).into_owned()),
        Status::Cancelled => Err(NotAToolkit::Cancelled),
        status => {
            let said = String::from_utf8_lossy(&ended.stderr);
            let said = said.trim().lines().last().unwrap_or("(nothing)").to_owned();
            Err(NotAToolkit::Fails { nvcc: nvcc.to_owned(), status: format!("{status}"), said })
        }
    }
}

/// `Cuda compilation tools, release 13.0, V13.0.88`.
fn parse_version(text: &str) -> Option<(String, String)> {
    let line = text.lines().find_map(|line| line.split_once("release ").map(|(_, rest)| rest))?;
    let (release, version) = line.trim().split_once(", V")?;
    let numbers = |text: &str| text.split('.').all(|part| part.parse::<u32>().is_ok());
    (numbers(release) && numbers(version)).then(|| (release.into(), version.into()))
}

/// `#define CCCL_VERSION 3000001`: three digits each for minor and patch.
fn cccl_version(include: &Utf8Path) -> Option<String> {
    let places = ["cccl/cuda/std/__cccl/version.h", "cuda/std/__cccl/version.h"];
    let number = places.iter().find_map(|place| defined(&include.join(place), "CCCL_VERSION"))?;
    Some(format!("{}.{}.{}", number / 1_000_000, number / 1000 % 1000, number % 1000))
}

/// `#define CUDART_VERSION 13000`.
fn cudart_version(include: &Utf8Path) -> Option<String> {
    let number = defined(&include.join("cuda_runtime_api.h"), "CUDART_VERSION")?;
    Some(format!("{}.{}", number / 1000, number % 1000 / 10))
}

/// The number that a header defines a macro to be.
fn defined(header: &Utf8Path, name: &str) -> Option<u32> {
    let bytes = files::read_capped(header, HEADER_BYTES_MAX).ok()?;
    String::from_utf8_lossy(&bytes).lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next()? == "#define" && words.next()? == name).then(|| words.next()?.parse().ok())?
    })
}

/// "PTX ISA Release History" of the PTX ISA's documentation.
fn ptx_isa(release: &str) -> Option<&'static str> {
    Some(match release {
        "11.8" => "7.8",
        "12.0" => "8.0",
        "12.1" => "8.1",
        "12.2" => "8.2",
        "12.3" => "8.3",
        "12.4" => "8.4",
        "12.5" | "12.6" => "8.5",
        "12.8" => "8.7",
        "12.9" => "8.8",
        "13.0" => "9.0",
        "13.1" => "9.1",
        _ => return None,
    })
}

fn tools(root: &Utf8Path) -> Tools {
    let find = |places: &[&str]| {
        places.iter().map(|place| root.join(place)).find(|tool| is_executable(tool))
    };
    Tools {
        cuobjdump: find(&["bin/cuobjdump"]),
        nvdisasm: find(&["bin/nvdisasm"]),
        compute_sanitizer: find(&["bin/compute-sanitizer", "compute-sanitizer/compute-sanitizer"]),
    }
}

fn host_compiler(path: &str, cancel: &Cancel) -> Option<HostCompiler> {
    let found = on_path("g++", path)?;
    let ended = Command::new(&found).arg("--version").env("LC_ALL", "C").env("PATH", path);
    let ended = ended.deadline(DEADLINE).run(cancel).ok().filter(process::Ended::succeeded)?;
    let version = String::from_utf8_lossy(&ended.stdout).lines().next()?.trim().to_owned();
    Some(HostCompiler { path: found, version })
}

/// The first executable of this name in a PATH. Entries that are not absolute are left out: what
/// they mean changes with the folder.
pub(crate) fn on_path(name: &str, path: &str) -> Option<Utf8PathBuf> {
    let folders = path.split(':').filter(|folder| folder.starts_with('/'));
    folders.map(|folder| Utf8Path::new(folder).join(name)).find(|file| is_executable(file))
}

fn is_executable(file: &Utf8Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(file)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nvccs_own_words_are_read() {
        let text = "nvcc: NVIDIA (R) Cuda compiler driver\n\
                    Cuda compilation tools, release 13.0, V13.0.88\nBuild x\n";
        assert_eq!(parse_version(text), Some(("13.0".into(), "13.0.88".into())));
        for text in ["", "release 13.0", "release 13.0, V", "release x, Vy", "gcc 12"] {
            assert_eq!(parse_version(text), None, "{text}");
        }
    }

    #[test]
    fn a_path_is_searched_in_order_and_only_where_it_is_absolute() {
        assert_eq!(on_path("sh", "/nowhere:/bin"), Some("/bin/sh".into()));
        assert_eq!(on_path("sh", "bin::."), None);
        assert_eq!(on_path("passwd", "/etc"), None, "it cannot be run");
    }

    #[test]
    fn versions_in_headers_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let include = Utf8Path::from_path(folder.path()).unwrap();
        files::create_dir(include.join("cuda/std/__cccl")).unwrap();
        let header = include.join("cuda/std/__cccl/version.h");
        files::write_atomic(header, "#define A 1\n#define CCCL_VERSION 2008002\n").unwrap();
        assert_eq!(cccl_version(include).as_deref(), Some("2.8.2"));
        let header = include.join("cuda_runtime_api.h");
        files::write_atomic(header, "#define CUDART_VERSION  12090\n").unwrap();
        assert_eq!(cudart_version(include).as_deref(), Some("12.9"));
        assert_eq!(cudart_version(&include.join("none")), None);
    }
}
