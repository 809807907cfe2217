//! Snippets: regions of a program that its README shows.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use camino::{Utf8Path, Utf8PathBuf};

use super::regions::{Syntax, regions};
use crate::finding::{Finding, Findings, Place, Rule};

/// A region `// snippet: NAME` … `// end snippet` of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snippet {
    /// `[a-z0-9_-]+`.
    pub name: String,
    /// The program.
    pub path: Utf8PathBuf,
    /// The line after the start marker, from 1.
    pub first_line: u32,
    /// The lines between the markers, unchanged but for LF line ends; each ends with one.
    pub text: String,
}

const SYNTAX: Syntax = Syntax {
    word: "snippet",
    prefix: "",
    further: "",
    reserved: true,
    malformed: Rule::SnippetMarker,
    unclosed: Rule::SnippetUnclosed,
    stray_end: Rule::SnippetStrayEnd,
    nested: Rule::SnippetNested,
    duplicate: Rule::SnippetDuplicate,
    empty: Rule::SnippetEmpty,
};

/// The snippets of a program by name, and what is wrong with its markers.
pub fn snippets(path: &Utf8Path, source: &str) -> (BTreeMap<String, Snippet>, Findings) {
    let (found, findings) = regions(path, source, &SYNTAX);
    let snippet = |region: super::regions::Region| {
        let path = path.to_owned();
        let (name, first_line) = (region.name, region.line.saturating_add(1));
        (name.clone(), Snippet { name, path, first_line, text: region.text })
    };
    (found.into_iter().map(snippet).collect(), findings)
}

/// The snippets of all programs of a lesson. A name belongs to one program.
pub fn merge_snippets(
    programs: impl IntoIterator<Item = BTreeMap<String, Snippet>>,
) -> (BTreeMap<String, Snippet>, Findings) {
    let (mut merged, mut findings) = (BTreeMap::new(), Findings::new());
    for (name, snippet) in programs.into_iter().flatten() {
        match merged.entry(name) {
            Entry::Vacant(entry) => {
                entry.insert(snippet);
            }
            Entry::Occupied(entry) => {
                let first: &Snippet = entry.get();
                let place = Place::line(&snippet.path, snippet.first_line.saturating_sub(1));
                let fact =
                    format!("snippet `{}` is there twice, first in `{}`", first.name, first.path);
                let next = "rename one of them";
                findings.push(Finding::error(Rule::SnippetDuplicate, place, fact, next));
            }
        }
    }
    (merged, findings)
}

#[cfg(test)]
#[path = "snippets_tests.rs"]
mod tests;
