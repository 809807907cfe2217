//! `lesson.toml` as it may be written.
//!
//! **Invariant: what is not named here is refused, with its line and column.**

use std::collections::BTreeMap;

use camino::Utf8Path;
use serde::Deserialize;
use toml::Spanned;

use crate::finding::{Finding, Findings, Place, Rule};

/// The largest manifest that is read, in bytes.
pub const MANIFEST_BYTES_MAX: usize = 256 * 1024;

/// The one schema there is.
pub const SCHEMA: u32 = 1;

/// A manifest as written.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawLesson {
    /// Always 1.
    pub schema: Spanned<u32>,
    /// The title, where the README has none.
    pub title: Option<String>,
    /// The primary program's source, where the folder holds more than one `.cu`.
    pub source: Option<Spanned<String>>,
    /// The typed template of the primary program's standard output.
    pub output: Spanned<String>,
    /// The gate.
    #[serde(default)]
    pub needs: RawNeeds,
    /// How it is built.
    #[serde(default)]
    pub build: RawBuild,
    /// How it is run.
    #[serde(default)]
    pub run: RawRun,
    /// What is published of it.
    #[serde(default)]
    pub publish: RawPublish,
    /// The Rust harness that drives its kernels.
    pub check: Option<RawCheck>,
    /// Further programs of the lesson.
    #[serde(default)]
    pub program: Vec<RawProgram>,
}

/// `[needs]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawNeeds {
    /// The lowest compute capability, such as `"8.0"`; by default what `-arch` says.
    pub compute_capability: Option<Spanned<String>>,
    /// How many devices; by default 1.
    pub gpus: Option<Spanned<u32>>,
    /// What the program does on a card below the gate.
    pub below: Option<RawBelow>,
}

/// `[needs.below]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawBelow {
    /// The exit status.
    pub exit: i32,
    /// The template of standard output.
    pub stdout: Spanned<String>,
    /// The template of standard error.
    pub stderr: Spanned<String>,
}

/// `[build]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawBuild {
    /// The build command, where the program's header has no `Build:` line.
    pub command: Option<Spanned<String>>,
    /// Numbers of nvcc's diagnostics that are expected, such as `20054-D`.
    #[serde(default)]
    pub known_warnings: Vec<Spanned<String>>,
    /// Whether another toolkit makes a record stale.
    #[serde(default)]
    pub pin_toolkit: bool,
    /// Further builds of the same source.
    #[serde(default)]
    pub variant: Vec<Spanned<RawVariant>>,
}

/// `[[build.variant]]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawVariant {
    /// Its name in records, regions and folder names.
    pub name: String,
    /// What takes the place of the header's `-arch`.
    pub arch: String,
}

/// `[run]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawRun {
    /// The run command, where the program's header has no `Run:` line.
    pub command: Option<Spanned<String>>,
    /// Seconds after which a run counts as hung; by default 60.
    pub deadline_s: Option<Spanned<u32>>,
    /// Variables that the program is given.
    #[serde(default)]
    pub environment: BTreeMap<String, Spanned<String>>,
}

/// `[publish]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawPublish {
    /// The primary device model, such as `h200`; by default that of the oldest record.
    pub model: Option<Spanned<String>>,
    /// The primary variant; by default the header's own build.
    pub variant: Option<Spanned<String>>,
    /// Which run is shown: `median of FIELD`, or `run 0`.
    pub run: Option<Spanned<String>>,
}

/// `[check]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawCheck {
    /// A name in `core::kernels`.
    pub harness: Spanned<String>,
}

/// `[[program]]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawProgram {
    /// Its `.cu`.
    pub source: Spanned<String>,
    /// The typed template of its standard output.
    pub output: Spanned<String>,
    /// Its build command, where its header has none.
    pub build: Option<Spanned<String>>,
    /// Its run command, where its header has none.
    pub run: Option<Spanned<String>>,
}

impl RawLesson {
    /// Reads a manifest. One syntax or type error ends the reading: that is how TOML readers work;
    /// what can be said about values that were read is said, all of it, by [`super::resolve`].
    pub fn parse<'a>(path: &Utf8Path, bytes: &'a [u8]) -> Result<(Self, &'a str), Findings> {
        let refuse = |place, fact: String, next: &str| {
            Err(vec![Finding::error(Rule::Manifest, place, fact, next)])
        };
        if bytes.len() > MANIFEST_BYTES_MAX {
            let fact = format!("manifest of {} bytes; at most {MANIFEST_BYTES_MAX}", bytes.len());
            return refuse(
                Place::file(path),
                fact,
                "a manifest is a few lines: remove what is data",
            );
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let text = String::from_utf8_lossy(bytes);
                let place = Place::offset(path, &text, error.valid_up_to());
                return refuse(place, "manifest is not UTF-8".into(), "save it as UTF-8");
            }
        };
        if text.starts_with('\u{feff}') {
            let fact = "manifest starts with a byte-order mark".into();
            return refuse(Place::line(path, 1), fact, "save it as UTF-8 without a mark");
        }
        match toml::from_str(text) {
            Ok(raw) => Ok((raw, text)),
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let message = error.message().lines().collect::<Vec<_>>().join("; ");
                let next = "see CONTRIBUTING.md, \"lesson.toml\", for what may be written";
                refuse(Place::offset(path, text, at), message, next)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_finding(bytes: &[u8]) -> String {
        let findings = RawLesson::parse(Utf8Path::new("lesson.toml"), bytes).unwrap_err();
        format!("{}: {}", findings[0].place, findings[0].fact)
    }

    #[test]
    fn two_lines_are_a_manifest() {
        let (raw, _) =
            RawLesson::parse(Utf8Path::new("lesson.toml"), b"schema = 1\noutput = 'x'\n").unwrap();
        assert_eq!(raw.output.get_ref(), "x");
        assert!(raw.program.is_empty());
    }

    #[test]
    fn each_refusal_names_its_place() {
        let cases: &[(&[u8], &str)] = &[
            (b"schema = 1\noutput = 'x'\ncolour = 1\n", "lesson.toml:3:1: unknown field `colour`"),
            (b"schema = 1\noutput = 3\n", "lesson.toml:2:10: invalid type"),
            (b"schema = 1\noutput = 'x'\n[run]\ndeadline_s = -1\n", "lesson.toml:4:14: "),
            (b"schema = 1\n", "missing field `output`"),
            (b"schema = 1\noutput = 'x'\nschema = 1\n", "duplicate key"),
            (b"\xef\xbb\xbfschema = 1\n", "lesson.toml:1: manifest starts with a byte-order mark"),
            (b"schema = 1\n# \xff\n", "lesson.toml:2:3: manifest is not UTF-8"),
        ];
        for (bytes, expect) in cases {
            let found = first_finding(bytes);
            assert!(found.contains(expect), "{found} does not hold {expect}");
        }
        let large = vec![b'#'; 10_000_000];
        assert!(first_finding(&large).contains("manifest of 10000000 bytes"));
    }
}
