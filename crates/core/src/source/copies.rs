//! Marked copies: pieces of `lessons/common/` that a program repeats so that it is complete in
//! itself.

use std::collections::BTreeMap;
use std::ops::Range;

use camino::Utf8Path;

use super::regions::{Syntax, regions};
use super::text::{differing_line, lf_normalised, quote};
use crate::finding::{Finding, Findings, Place, Rule};

/// A region `// copy: common/NAME` … `// end copy` of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedCopy {
    /// The canonical file's name within `lessons/common/`.
    pub name: String,
    /// The start marker's line, from 1.
    pub line: u32,
    /// The lines between the markers, with LF line ends.
    pub body: String,
    /// Where these lines are in the source: byte offsets.
    pub range: Range<usize>,
}

const SYNTAX: Syntax = Syntax {
    word: "copy",
    prefix: "common/",
    further: ".",
    reserved: false,
    malformed: Rule::CopyMarker,
    unclosed: Rule::CopyUnclosed,
    stray_end: Rule::CopyStrayEnd,
    nested: Rule::CopyNested,
    duplicate: Rule::CopyDuplicate,
    empty: Rule::CopyEmpty,
};

/// The marked copies of a program in order, and what is wrong with its markers.
pub fn copies(path: &Utf8Path, source: &str) -> (Vec<MarkedCopy>, Findings) {
    let (found, findings) = regions(path, source, &SYNTAX);
    let copy = |region: super::regions::Region| MarkedCopy {
        name: region.name,
        line: region.line,
        body: region.text,
        range: region.range,
    };
    (found.into_iter().map(copy).collect(), findings)
}

/// Compares a program's copies with the canonical texts, which are keyed by name within
/// `lessons/common/`.
pub fn check_copies(
    path: &Utf8Path,
    copies: &[MarkedCopy],
    canonical: &BTreeMap<String, String>,
) -> Findings {
    copies.iter().filter_map(|copy| check_copy(path, copy, canonical.get(&copy.name))).collect()
}

fn check_copy(path: &Utf8Path, copy: &MarkedCopy, canonical: Option<&String>) -> Option<Finding> {
    let name = &copy.name;
    let Some(canonical) = canonical else {
        let fact = format!("there is no `lessons/common/{name}` to copy");
        let next = "correct the name in the marker, or add the file";
        return Some(Finding::error(Rule::CopyUnknown, Place::line(path, copy.line), fact, next));
    };
    let canonical = lf_normalised(canonical);
    let (line, here, there) = differing_line(&copy.body, &canonical)?;
    let show = |line: Option<&str>| line.map_or("nothing more".to_owned(), quote);
    let fact = format!("the copy differs from `lessons/common/{name}`, first in its line {line}");
    let cause = format!("here {}, there {}", show(here), show(there));
    let place = Place::line(path, copy.line.saturating_add(line));
    let next = "edit the canonical file, then run `cargo xtask sync`";
    Some(Finding::error(Rule::CopyDiffers, place, fact, next).because(cause))
}

/// The source with each of its copies equal to the canonical text; copies of unknown files stay as
/// they are. `copies` are those of this very source.
pub fn replace_copies(
    source: &str,
    copies: &[MarkedCopy],
    canonical: &BTreeMap<String, String>,
) -> String {
    let (mut replaced, mut from) = (String::with_capacity(source.len()), 0);
    for copy in copies {
        let Some(text) = canonical.get(&copy.name) else { continue };
        let Some(kept) = source.get(from..copy.range.start) else { continue };
        replaced.push_str(kept);
        replaced.push_str(&lf_normalised(text));
        if !text.is_empty() && !text.ends_with(['\n', '\r']) {
            replaced.push('\n');
        }
        from = copy.range.end;
    }
    replaced.push_str(source.get(from..).unwrap_or_default());
    replaced
}

#[cfg(test)]
#[path = "copies_tests.rs"]
mod tests;
