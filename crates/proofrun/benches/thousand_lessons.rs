//! How long `verify` takes for a thousand lessons of which nothing changed, and how much memory.
//!
//! Each lesson has a signed record of five runs, a signed review, a published page and a cached
//! build. The real binary is run as a user runs it; for scale stands a bare loop over the same data
//! beside it: read every file, digest it, verify every signature. The compiler is a stand-in (a
//! script that copies a megabyte): filling the cache with nvcc would take an hour, and what is
//! measured never starts it for a build. `cargo bench -p proofrun --bench thousand_lessons
//! [COUNT]`. Figures only; a loaded machine fails nothing.
#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and may panic")]

#[path = "../tests/support/mod.rs"]
mod support;

use std::ffi::OsString;
use std::fs;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use proofrun_core::trust::{Namespace, TrustRoot, verify};
use rayon::prelude::*;
use support::course::{MANIFEST, PAGE, SOURCE};
use support::{RecordPlan, Scratch};

/// How often each figure is taken; the best counts.
const ROUNDS: usize = 5;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let first = arguments.first().map(OsString::as_os_str);
    if let Some(code) = proofrun_runner::commands::hidden(first) {
        return code;
    }
    let count = arguments.iter().find_map(|word| word.to_str()?.parse().ok()).unwrap_or(1000);
    let made = Instant::now();
    let course = generate(count);
    println!("{count} lessons, {} cores; made in {:.1} s", cores(), made.elapsed().as_secs_f64());
    let first = run(course.path());
    println!("first verify (fills the cache): {:6.3} s", first.wall.as_secs_f64());
    let best = (0..ROUNDS).map(|_| run(course.path())).min_by_key(|run| run.wall);
    let again = best.expect("there is a round");
    assert!(again.counts.contains(&format!("{count} unchanged")), "{}", again.counts);
    println!("{}", again.counts.trim());
    println!("verify, nothing changed:        {:6.3} s", again.wall.as_secs_f64());
    println!("its peak of resident memory:    {:6.1} MB", again.peak_kb as f64 / 1e3);
    let bare = (0..ROUNDS).map(|_| bare(course.path(), count)).min().expect("there is a round");
    println!("a bare loop, all cores:         {:6.3} s", bare.as_secs_f64());
    println!(
        "ratio:                          {:6.2}",
        again.wall.as_secs_f64() / bare.as_secs_f64()
    );
    ExitCode::SUCCESS
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The course: published lessons, each another program, and the toolkit beside it.
fn generate(count: usize) -> Scratch {
    let course = Scratch::empty();
    let program = (0..1_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8);
    course.install_toolkit(&program.collect::<Vec<_>>(), support::toolkit::PTX);
    (0..count).into_par_iter().for_each(|index| lesson(course.path(), index));
    course
}

fn lesson(root: &Utf8Path, index: usize) {
    // A course of its own for a moment, with the same keys, so that lessons are made side by side.
    let own = Scratch::empty();
    let name = format!("day-{index:04}-scale");
    let (start, rest) =
        MANIFEST.split_once("[[build.variant]]").expect("the manifest has a variant");
    let (_, publish) = rest.split_once("[publish]").expect("the manifest says what is published");
    let factor = format!("{index}.5f");
    own.write(format!("lessons/{name}/lesson.toml"), format!("{start}[publish]{publish}"));
    own.write(format!("lessons/{name}/scale.cu"), SOURCE.replace("2.0f", &factor));
    own.write(format!("lessons/{name}/README.md"), PAGE.replace("2.0f", &factor));
    let nonce = Digest::of(&name).to_string();
    let record = own.record(&name, &RecordPlan { nonce, ..RecordPlan::h200() });
    own.accept(&name, record);
    own.show(&name);
    copy(&own.lesson_path(&name), &root.join("lessons").join(name));
}

fn copy(from: &Utf8Path, to: &Utf8Path) {
    fs::create_dir_all(to).expect("a temporary folder can be written");
    for entry in from.read_dir_utf8().expect("it was written just now").flatten() {
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a temporary folder can be written");
        }
    }
}

struct Run {
    wall: Duration,
    peak_kb: u64,
    counts: String,
}

/// The real binary, as a process of its own.
fn run(root: &Utf8Path) -> Run {
    let out = root.join("out.txt");
    let started = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_proofrun"))
        .args(["--root", root.as_str(), "verify", "--cuda-home"])
        .arg(root.join("cuda"))
        .stdout(fs::File::create(&out).expect("a temporary folder can be written"))
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary was built with this benchmark");
    let status = Utf8PathBuf::from(format!("/proc/{}/status", child.id()));
    let mut peak_kb = 0;
    let exit = loop {
        peak_kb = peak_of(&status).unwrap_or(0).max(peak_kb);
        if let Some(exit) = child.try_wait().expect("the child is this process's") {
            break exit;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let wall = started.elapsed();
    let text = fs::read_to_string(out).unwrap_or_default();
    assert!(exit.success(), "{exit}: {}", text.lines().take(60).collect::<Vec<_>>().join("\n"));
    Run { wall, peak_kb, counts: text.lines().last().unwrap_or_default().to_owned() }
}

/// The kernel's own high-water mark, in kB; it only grows while the process lives.
fn peak_of(status: &Utf8Path) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// Reads and digests every file of every lesson, and verifies both of its signatures.
fn bare(root: &Utf8Path, count: usize) -> Duration {
    let started = Instant::now();
    let read = |name: &str| fs::read(root.join(name)).expect("the course has a trust root");
    let (signers, policy) = (read("research/allowed_signers"), read("research/policy.toml"));
    let (trust, _) = TrustRoot::read(("s".into(), Some(&signers)), ("p".into(), Some(&policy)));
    let folders: Vec<_> =
        root.join("lessons").read_dir_utf8().expect("it is there").flatten().collect();
    let signed = folders.par_iter().map(|folder| signatures(folder.path(), &trust)).sum::<usize>();
    assert_eq!(signed, 2 * count);
    started.elapsed()
}

fn signatures(folder: &Utf8Path, trust: &TrustRoot) -> usize {
    let mut count = 0;
    for entry in folder.read_dir_utf8().expect("a folder can be read").flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            count += signatures(path, trust);
            continue;
        }
        let bytes = fs::read(path).expect("a file can be read");
        std::hint::black_box(Digest::of(&bytes));
        let (namespace, message) = match path.extension() {
            Some("sig") if path.file_stem() == Some("record.toml") => {
                (Namespace::Record, path.with_extension(""))
            }
            Some("sig") => (Namespace::Review, path.with_extension("toml")),
            _ => continue,
        };
        let message = fs::read(message).expect("what is signed lies beside");
        let at = support::time(support::REVIEWED);
        verify(&trust.signers, namespace, &message, &bytes, at).expect("the signature holds");
        count += 1;
    }
    count
}
