//! A lesson README as a page: its regions, assertions and commands, and what belongs between the
//! markers.
//!
//! **Invariant: a region's text is either what its kind renders or a finding.** This half parses:
//! it says where the regions are and compares what the source alone decides (snippets, commands,
//! blank bodies). It stands at the end of the flow: a Publication is written into the regions that
//! are found here, and only there.
//!
//! A page is line-based Markdown: fenced code blocks (fences indented by at most three blanks),
//! HTML comments and markers are known, nothing else. A marker inside a fence is literal text, in a
//! region or not.

mod commands;
mod edit;
mod fence;
mod marker;
mod prose;
mod scan;
mod snippets;
mod stack;

use std::ops::Range;

use camino::{Utf8Path, Utf8PathBuf};

use crate::finding::Findings;

pub use commands::check_commands;
pub use edit::EditError;
pub use marker::{HoldsOp, HoldsTerm, RegionKind, Target};
pub use prose::measured_numbers;
pub use snippets::{check_snippets, snippet_body, snippet_edits};

/// A page and what is on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// The file, relative to the course's root.
    pub path: Utf8PathBuf,
    /// The whole text, unchanged.
    pub text: String,
    /// The first heading of level 1.
    pub title: Option<Title>,
    /// The well-formed regions in document order.
    pub regions: Vec<Region>,
    /// The assertions in document order.
    pub holds: Vec<Holds>,
    /// The fenced code blocks in document order, those inside regions too.
    pub blocks: Vec<CodeBlock>,
    /// Where prose stands: for each line outside fences, regions and comments its number and byte
    /// range.
    prose: Vec<(u32, Range<usize>)>,
}

/// A page's title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Title {
    /// Without the `#` and the blanks around.
    pub text: String,
    /// From 1.
    pub line: u32,
}

/// A region between two marker lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// What may stand in it.
    pub kind: RegionKind,
    /// A record's or emulated run's part, or a snippet's name.
    pub name: String,
    /// The program it is of, where the marker says so.
    pub program: Option<String>,
    /// The device model and build variant it is of, where the marker says so. Records only.
    pub target: Option<Target>,
    /// The start marker's line, from 1.
    pub open_line: u32,
    /// The end marker's line.
    pub close_line: u32,
    /// The bytes of the lines between the markers.
    pub body: Range<usize>,
}

/// `<!-- holds: LEFT OP RIGHT [on TARGET] -->`: what the page's prose claims about the shown
/// record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holds {
    /// A field of the output template.
    pub left: String,
    /// How the two are compared.
    pub op: HoldsOp,
    /// A number or another field.
    pub right: HoldsTerm,
    /// The evidence it is about; the primary one where it is not given.
    pub target: Option<Target>,
    /// From 1.
    pub line: u32,
}

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeBlock {
    /// What follows the opening fence, trimmed.
    pub info: String,
    /// The line after the opening fence, from 1.
    pub first_line: u32,
    /// Its lines, each ended by LF, without the indentation of the fence.
    pub text: String,
    /// The index in [`Page::regions`] of the region that holds it.
    pub region: Option<usize>,
}

impl Page {
    /// Reads a page. Any text is accepted; what is wrong with it is found, and faulty regions are
    /// left out.
    pub fn parse(path: impl AsRef<Utf8Path>, text: &str) -> (Self, Findings) {
        scan::scan(path.as_ref(), text)
    }

    /// The bytes between a region's markers; empty for another page's region.
    pub fn body(&self, region: &Region) -> &str {
        self.text.get(region.body.clone()).unwrap_or_default()
    }
}

/// What a `record` region holds before any review; `None` for other regions.
pub fn blank_body(region: &Region) -> Option<&'static str> {
    match (region.kind, region.name.as_str()) {
        (RegionKind::Record, "state") => Some(concat!(
            "**UNVERIFIED.** No reviewed record of this lesson exists yet, ",
            "so this page shows no output of it.\n"
        )),
        (RegionKind::Record, "output" | "spread") => Some(concat!(
            "*Nothing is shown here until a run on real hardware has been recorded ",
            "and somebody else has reviewed it.*\n"
        )),
        _ => None,
    }
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
