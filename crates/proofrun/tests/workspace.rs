//! The workspace itself: which crate may use which, and what every file in it keeps to. All that is
//! wrong is reported, as path:line with the mend.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

use std::collections::BTreeSet;
use std::fmt::Write as _;

use camino::{Utf8Path, Utf8PathBuf};
use cargo_metadata::MetadataCommand;

/// The edges between crates of this workspace that the design allows.
const EDGES: &[(&str, &str)] = &[
    ("proofrun", "proofrun-core"),
    ("proofrun", "proofrun-cudart"),
    ("proofrun", "proofrun-emulator"),
    ("proofrun", "proofrun-runner"),
    ("proofrun-cudart", "proofrun-emulator"),
    ("proofrun-runner", "proofrun-core"),
    ("proofrun-runner", "proofrun-emulator"),
    ("xtask", "proofrun"),
];

/// A source file's hard limit, in lines.
const LINES_MAX: usize = 600;

/// A line's limit, in characters, where it holds no string that would have to be broken.
const COLUMNS_MAX: usize = 100;

fn root() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize_utf8().unwrap()
}

#[test]
fn no_crate_uses_another_but_along_the_designs_edges() {
    let metadata = MetadataCommand::new().no_deps().current_dir(root()).exec().unwrap();
    let names: BTreeSet<&str> = metadata.packages.iter().map(|one| one.name.as_str()).collect();
    let mut edges = BTreeSet::new();
    for package in &metadata.packages {
        let used = package.dependencies.iter().filter(|one| names.contains(one.name.as_str()));
        edges.extend(used.map(|one| (package.name.as_str(), one.name.as_str())));
    }
    assert_eq!(edges, EDGES.iter().copied().collect());
}

/// Files that git knows or would add, with their text.
fn texts() -> Vec<(Utf8PathBuf, String)> {
    let arguments = ["ls-files", "--cached", "--others", "--exclude-standard", "-z"];
    let listing = std::process::Command::new("git").args(arguments).current_dir(root()).output();
    let listing = String::from_utf8(listing.unwrap().stdout).unwrap();
    let paths = listing.split('\0').filter(|path| !path.is_empty());
    let texts: Vec<_> = paths
        .filter_map(|path| Some((path.into(), std::fs::read_to_string(root().join(path)).ok()?)))
        .collect();
    assert!(texts.len() > 100, "only {} files were found", texts.len());
    texts
}

/// What a file breaks, as `path:line: what; mend`.
fn tidy(path: &Utf8Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut report = |line: usize, what: &str| found.push(format!("{path}:{line}: {what}"));
    let is_rust = path.extension() == Some("rs");
    if is_rust && text.lines().count() > LINES_MAX {
        report(LINES_MAX, "longer than 600 lines; split it by idea");
    }
    if is_rust && !text.starts_with("//!") {
        report(1, "no module doc; say what it owns, its invariant, where it sits in the flow");
    }
    if !text.is_empty() && !text.ends_with('\n') {
        report(text.lines().count(), "no newline at its end; add one");
    }
    for (index, line) in text.lines().enumerate() {
        let number = index + 1;
        let long = line.chars().count() > COLUMNS_MAX && !line.contains('"');
        let in_string = line.trim_end().ends_with('\\') || line.trim_start().starts_with('*');
        if is_rust && long && !in_string {
            report(number, "longer than 100 columns; break it");
        }
        if line.trim_end() != line && path.extension() != Some("md") {
            report(number, "blanks at its end; drop them");
        }
        if is_rust && line.contains(concat!("TO", "DO")) {
            report(number, "an intention is no code; do it, or file it");
        }
        if line.contains(concat!("PRIVATE KEY", "-----")) {
            report(number, "a private key; destroy it, and remove its line in allowed_signers");
        }
    }
    found
}

#[test]
fn every_file_is_tidy() {
    let kept = |path: &Utf8Path| {
        let folders = ["evidence", "reviews", "snapshots"];
        path.components().any(|part| folders.contains(&part.as_str()))
    };
    let texts = texts();
    let ours = texts.iter().filter(|(path, _)| !kept(path) && path.as_str() != "Cargo.lock");
    let found: Vec<String> = ours.flat_map(|(path, text)| tidy(path, text)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn the_tidy_pass_can_fail() {
    let long = format!("//! x\nlet a = {};\n", "1 + ".repeat(40));
    let endless = format!("//! x\n{}", "let a = 1;\n".repeat(601));
    let secret = format!("-----BEGIN OPENSSH {}\n", concat!("PRIVATE KEY", "-----"));
    for (path, text, what) in [
        ("a.rs", "fn a() {}\n", "no module doc"),
        ("a.rs", "//! x", "no newline at its end"),
        ("a.rs", long.as_str(), "longer than 100 columns"),
        ("a.rs", endless.as_str(), "longer than 600 lines"),
        ("a.sh", "echo \n", "blanks at its end"),
        ("key", secret.as_str(), "a private key"),
    ] {
        let found = tidy(Utf8Path::new(path), text).join("\n");
        assert!(found.contains(what), "{path}: {found}");
    }
    assert_eq!(tidy(Utf8Path::new("a.rs"), "//! x\n"), Vec::<String>::new());
}

#[test]
fn the_architecture_names_every_room() {
    let map = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let mut missing = String::new();
    for crate_folder in ["core", "emulator", "cudart", "runner", "proofrun"] {
        let source = root().join("crates").join(crate_folder).join("src");
        for entry in source.read_dir_utf8().unwrap() {
            let entry = entry.unwrap();
            let room = entry.file_name().trim_end_matches(".rs");
            let plain = ["lib", "main", "bin"].contains(&room);
            if !plain && !map.contains(&format!("`{room}`")) {
                let _ = writeln!(missing, "crates/{crate_folder}/src/{room}");
            }
        }
    }
    assert!(missing.is_empty(), "ARCHITECTURE.md has no word of:\n{missing}");
}
