//! Filling a folder with the managed toolkit: pip, digests, unpacking, run bits.

use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;

use super::{Managed, Progress, ProvisionError, Wheel};
use crate::system::files::{self, FileKind, TreeLimits};
use crate::system::process::{self, Cancel, Command, Ended, Status};

/// How long fetching may take: 105 MB over a slow line.
const FETCH_MAX: Duration = Duration::from_secs(3600);
/// How long unpacking one wheel may take.
const UNPACK_MAX: Duration = Duration::from_secs(600);
/// How often progress is told.
const TICK: Duration = Duration::from_millis(200);
/// No wheel is larger than this.
const WHEEL_BYTES_MAX: u64 = 1 << 30;
/// So many of pip's last lines are quoted.
const QUOTED_LINES: usize = 6;

pub(super) fn fill(
    managed: &Managed,
    folder: &Utf8Path,
    path: &str,
    progress: &mut dyn FnMut(Progress),
    cancel: &Cancel,
) -> Result<(), ProvisionError> {
    let arrived = folder.join("arrived");
    files::create_dir(&arrived)?;
    let requirements = folder.join("requirements.txt");
    let lines = managed.wheels().map(requirement).collect::<String>();
    files::write_atomic(&requirements, lines)?;
    let ended = watched(&arrived, managed.bytes_total(), progress, || {
        pip(&requirements, &arrived, path).run(cancel)
    })
    .map_err(|error| match error {
        ProvisionError::Process(process::Error::NotFound { .. }) => ProvisionError::NoPython,
        error => error,
    })?;
    judge(&ended)?;
    let found = wheels_in(&arrived)?;
    let total = managed.wheels().count();
    for (done, wheel) in managed.wheels().enumerate() {
        progress(Progress::Unpacking { wheels: done, wheels_total: total });
        let file = find(wheel, &found)?;
        unpack(wheel, file, folder, path, cancel)?;
    }
    files::remove_dir(&arrived)?;
    files::remove_file(&requirements)?;
    finish(&folder.join(&managed.pins.root))
}

fn requirement(wheel: &Wheel) -> String {
    format!("{}=={} --hash=sha256:{}\n", wheel.package, wheel.version, wheel.sha256)
}

fn pip(requirements: &Utf8Path, arrived: &Utf8Path, path: &str) -> Command {
    Command::new("python3")
        .args(["-m", "pip", "download", "--require-hashes", "--no-deps", "--only-binary=:all:"])
        .args(["--no-input", "--disable-pip-version-check", "--progress-bar", "off"])
        .args(["-r", requirements.as_str(), "-d", arrived.as_str()])
        .env("PATH", path)
        // So that what has arrived can be measured, and vanishes with the folder.
        .env("TMPDIR", arrived)
        .env("LC_ALL", "C.UTF-8")
        // Nothing is installed, so that a rule about where to install does not matter.
        .env_remove(["PIP_REQUIRE_VIRTUALENV", "PIP_TARGET", "PIP_USER"])
        .deadline(FETCH_MAX)
}

/// Does `work` while telling how many bytes lie in `folder`. The work has a thread of its own,
/// which lives until its child has ended.
fn watched(
    folder: &Utf8Path,
    bytes_total: u64,
    progress: &mut dyn FnMut(Progress),
    work: impl FnOnce() -> Result<Ended, process::Error> + Send,
) -> Result<Ended, ProvisionError> {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let worker = scope.spawn(|| {
            let ended = work();
            done.store(true, Ordering::SeqCst);
            ended
        });
        while !done.load(Ordering::SeqCst) && !worker.is_finished() {
            let bytes = bytes_in(folder).min(bytes_total);
            progress(Progress::Fetching { bytes, bytes_total });
            thread::park_timeout(TICK);
        }
        match worker.join() {
            Ok(ended) => Ok(ended?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// Files come and go meanwhile, so what cannot be read counts nothing.
fn bytes_in(folder: &Utf8Path) -> u64 {
    let tree = files::read_tree(folder, TreeLimits::COURSE).unwrap_or_default();
    let bytes = tree.values().map(|kind| match kind {
        FileKind::File { bytes } => *bytes,
        _ => 0,
    });
    bytes.sum()
}

/// What pip's end means.
fn judge(ended: &Ended) -> Result<(), ProvisionError> {
    let said = String::from_utf8_lossy(&ended.stderr);
    match ended.status {
        Status::Exit(0) => Ok(()),
        Status::Cancelled => Err(ProvisionError::Cancelled),
        Status::Hung => {
            let said = format!("it did not end within {} s", FETCH_MAX.as_secs());
            Err(ProvisionError::Pip { said })
        }
        _ if said.contains("No module named pip") => Err(ProvisionError::NoPip),
        // pip's own words, unchanged since version 8.
        _ if said.contains("DO NOT MATCH THE HASHES") => {
            let mut words = said.split_ascii_whitespace();
            let package = words.clone().find(|word| word.contains("==")).unwrap_or("a package");
            let found = words.find(|word| *word == "Got").and_then(|_| words.next());
            let found = found.unwrap_or("not told").to_owned();
            Err(ProvisionError::Hash { package: package.into(), found })
        }
        _ => Err(ProvisionError::Pip { said: last_lines(&said) }),
    }
}

fn last_lines(said: &str) -> String {
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let from = lines.len().saturating_sub(QUOTED_LINES);
    let quoted: Vec<String> = lines[from..]
        .iter()
        .map(|line| line.chars().filter(|char| !char.is_control()).take(300).collect())
        .collect();
    if quoted.is_empty() { "(it said nothing)".into() } else { quoted.join("\n") }
}

/// The wheels that arrived, by digest: pip checked them, and this does not take its word.
fn wheels_in(folder: &Utf8Path) -> Result<Vec<(Digest, Utf8PathBuf)>, ProvisionError> {
    let mut found = Vec::new();
    for (path, kind) in files::read_tree(folder, TreeLimits::COURSE)? {
        if matches!(kind, FileKind::File { .. }) && path.extension() == Some("whl") {
            let path = folder.join(path);
            found.push((Digest::of(files::read_capped(&path, WHEEL_BYTES_MAX)?), path));
        }
    }
    Ok(found)
}

fn find<'a>(
    wheel: &Wheel,
    found: &'a [(Digest, Utf8PathBuf)],
) -> Result<&'a Utf8Path, ProvisionError> {
    if let Some((_, path)) = found.iter().find(|(digest, _)| *digest == wheel.sha256) {
        return Ok(path);
    }
    let start = wheel.package.replace('-', "_") + "-";
    let other = found
        .iter()
        .find(|(_, path)| path.file_name().is_some_and(|name| name.starts_with(&start)));
    let found = other.map_or("that of no file".into(), |(digest, _)| digest.to_string());
    Err(ProvisionError::Hash { package: wheel.package.clone(), found })
}

fn unpack(
    wheel: &Wheel,
    file: &Utf8Path,
    folder: &Utf8Path,
    path: &str,
    cancel: &Cancel,
) -> Result<(), ProvisionError> {
    let command = Command::new("python3")
        .args(["-m", "zipfile", "-e", file.as_str(), folder.as_str()])
        .env("PATH", path)
        .deadline(UNPACK_MAX);
    let ended = command.run(cancel)?;
    match ended.status {
        Status::Exit(0) => Ok(()),
        Status::Cancelled => Err(ProvisionError::Cancelled),
        _ => {
            let said = String::from_utf8_lossy(&ended.stderr);
            let said = said.trim().lines().last().unwrap_or("(nothing said)").to_owned();
            Err(ProvisionError::Unpack { package: wheel.package.clone(), said })
        }
    }
}

/// What unpacking does not do: run bits, and the plain name by which a linker finds the shared
/// runtime.
fn finish(root: &Utf8Path) -> Result<(), ProvisionError> {
    for place in ["bin", "nvvm/bin"] {
        let place = root.join(place);
        for (name, kind) in files::read_tree(&place, TreeLimits::COURSE)? {
            let program = name.components().count() == 1 && name.extension() != Some("profile");
            if program && matches!(kind, FileKind::File { .. }) {
                files::make_executable(place.join(name))?;
            }
        }
    }
    let lib = root.join("lib");
    for (name, _) in files::read_tree(&lib, TreeLimits::COURSE)? {
        let plain = lib.join("libcudart.so");
        if name.as_str().starts_with("libcudart.so.") && !plain.exists() {
            std::os::unix::fs::symlink(name.as_str(), &plain)
                .map_err(files::Error::system("make", &plain))?;
        }
    }
    fs::metadata(root.join("bin/nvcc"))
        .map(|_| ())
        .map_err(|error| files::Error::system("find", root.join("bin/nvcc"))(error).into())
}
