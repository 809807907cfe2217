//! Reading this repository's documents: their tables and what they quote.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

/// The repository.
pub fn root() -> Utf8PathBuf {
    Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize_utf8().unwrap()
}

/// A document, by its path from the root.
pub fn read(path: impl AsRef<Utf8Path>) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The rows of the table whose heading row is this, each as its cells.
pub fn table(text: &str, heading: &str) -> Vec<Vec<String>> {
    let (_, rest) = text.split_once(&format!("\n{heading}\n")).unwrap();
    let rows = rest.lines().skip(1).take_while(|line| line.starts_with('|'));
    let cells =
        |row: &str| row.trim_matches('|').split(" | ").map(|it| it.trim().to_owned()).collect();
    rows.map(cells).collect()
}

/// What stands between backticks.
pub fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}
