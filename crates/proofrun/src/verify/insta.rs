//! Settings with which insta passes a snapshot that differs, or writes one that nobody reviewed.
//!
//! Our own comparison is of bytes and doesn't ask insta; these settings are refused because whoever
//! runs `cargo test` would see a pass all the same. Names and files are those that insta 1.49 reads
//! (`src/env.rs`).

use proofrun_core::finding::Findings;
use proofrun_core::{Finding, Place, Rule};
use proofrun_runner::system::files;

use crate::cli::Root;
use crate::context::Context;

/// Where insta looks for its settings, in the workspace's root.
const FILES: [&str; 3] = ["insta.yaml", ".insta.yaml", ".config/insta.yaml"];

/// The largest such file that is read, in bytes; a larger one is refused as a whole.
const FILE_BYTES_MAX: u64 = 64 * 1024;

/// Values of `INSTA_UPDATE` that write a snapshot in place.
const WRITING: [&str; 3] = ["always", "unseen", "force"];

/// One finding a setting.
pub fn findings(root: &Root, context: &Context) -> Findings {
    let mut findings = Findings::new();
    for name in ["INSTA_FORCE_PASS", "INSTA_FORCE_UPDATE", "INSTA_FORCE_UPDATE_SNAPSHOTS"] {
        if let Some(value) = context.variable(name).filter(|value| value != "0") {
            findings.push(of_environment(name, &value));
        }
    }
    if let Some(value) = context.variable("INSTA_UPDATE")
        && WRITING.contains(&value.as_str())
    {
        findings.push(of_environment("INSTA_UPDATE", &value));
    }
    for name in FILES {
        let text = match files::read_capped(root.path().join(name), FILE_BYTES_MAX) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.is_not_found() => continue,
            Err(_) => "force_pass: unreadable".to_owned(),
        };
        for (number, line) in (1..).zip(text.lines()) {
            if is_suspect(line) {
                let fact = "insta's settings file says more than how it prints";
                let next = "remove `force_pass`, `update` and escapes from it";
                let place = Place::line(name, number);
                findings.push(Finding::error(Rule::InstaForcePass, place, fact, next));
            }
        }
    }
    findings
}

fn of_environment(name: &str, value: &str) -> Finding {
    let fact = format!("`{name}={value}` lets snapshots pass or be written unseen");
    let next = format!("unset `{name}`");
    Finding::error(Rule::InstaForcePass, Place::file("."), fact, next)
}

/// Whether a line may set `force_pass` or `update`, however YAML lets it be spelt: an escape in a
/// quoted key counts.
fn is_suspect(line: &str) -> bool {
    let said = line.split(" #").next().unwrap_or(line);
    let is_comment = said.trim_start().starts_with('#');
    !is_comment && ["force_pass", "update", "\\"].iter().any(|word| said.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_seen_however_it_is_spelt() {
        for (line, expect) in [
            ("  force_pass: true", true),
            ("behavior: {force_pass: true}", true),
            ("  \"force\\x5fpass\": yes", true),
            ("  update: always", true),
            ("# force_pass: true", false),
            ("behavior:", false),
            ("  output: diff # never force_pass", false),
            ("", false),
        ] {
            assert_eq!(is_suspect(line), expect, "{line}");
        }
    }
}
