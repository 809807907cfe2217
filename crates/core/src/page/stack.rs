//! The open regions while a page is read, and the finding for each way in which markers fail to
//! pair.

use std::collections::BTreeMap;

use camino::Utf8Path;

use super::Region;
use super::marker::{RegionKind, Target};
use crate::finding::{Finding, Findings, Place, Rule};

type Key = (RegionKind, String, Option<String>, Option<Target>);

/// The open regions, outermost first. All but the outermost are faults already.
pub(super) struct Stack<'a> {
    path: &'a Utf8Path,
    open: Vec<Open>,
    /// How many of each kind are open, so that an end marker never searches the stack.
    counts: BTreeMap<RegionKind, usize>,
    first_lines: BTreeMap<Key, u32>,
    pub regions: Vec<Region>,
    pub findings: Findings,
}

struct Open {
    key: Key,
    line: u32,
    body_start: usize,
}

impl<'a> Stack<'a> {
    pub fn new(path: &'a Utf8Path) -> Self {
        let (regions, findings) = (Vec::new(), Findings::new());
        let (counts, first_lines) = (BTreeMap::new(), BTreeMap::new());
        Self { path, open: Vec::new(), counts, first_lines, regions, findings }
    }

    pub fn finding(&mut self, rule: Rule, line: u32, fact: String, next: impl Into<String>) {
        self.findings.push(Finding::error(rule, Place::line(self.path, line), fact, next));
    }

    /// The outermost open region, as text with its line.
    pub fn outermost(&self) -> Option<(String, u32)> {
        self.open.first().map(|open| (label(&open.key), open.line))
    }

    /// A start marker on `line`; the body starts at the byte `body_start`.
    pub fn start(&mut self, key: Key, line: u32, body_start: usize) {
        if let Some((outer, outer_line)) = self.outermost() {
            let fact = format!("{} starts inside of {outer}", label(&key));
            let next = format!("close the region of line {outer_line} first");
            self.finding(Rule::RegionNested, line, fact, next);
        }
        *self.counts.entry(key.0).or_default() += 1;
        self.open.push(Open { key, line, body_start });
    }

    /// An end marker on `line`, which starts at the byte `body_end`.
    pub fn end(&mut self, kind: RegionKind, line: u32, body_end: usize) {
        let word = kind.as_str();
        if self.open.is_empty() {
            let fact = format!("`end {word}` closes nothing");
            let next = "remove it, or add the start marker";
            return self.finding(Rule::RegionStrayEnd, line, fact, next);
        }
        if self.counts.get(&kind).is_none_or(|count| *count == 0) {
            let open = self.pop();
            let fact = format!("`end {word}` cannot close {}", label(&open.key));
            let next = format!("write `<!-- end {} -->`", open.key.0.as_str());
            return self.finding(Rule::RegionMismatch, line, fact, next);
        }
        loop {
            let open = self.pop();
            if open.key.0 == kind {
                return self.close(open, line, body_end);
            }
            self.unclosed(&open);
        }
    }

    /// The end of the page.
    pub fn finish(&mut self) {
        while !self.open.is_empty() {
            let open = self.pop();
            self.unclosed(&open);
        }
    }

    fn pop(&mut self) -> Open {
        let open = self.open.pop().expect("callers know that a region is open");
        if let Some(count) = self.counts.get_mut(&open.key.0) {
            *count -= 1;
        }
        open
    }

    fn unclosed(&mut self, open: &Open) {
        let fact = format!("{} is never closed", label(&open.key));
        let next = format!("add `<!-- end {} -->` after the region", open.key.0.as_str());
        self.finding(Rule::RegionUnclosed, open.line, fact, next);
    }

    fn close(&mut self, open: Open, close_line: u32, body_end: usize) {
        // A region inside of another one is part of its body: never something to write into.
        if !self.open.is_empty() {
            return;
        }
        if let Some(first) = self.first_lines.get(&open.key) {
            let fact = format!("{} is there twice, first on line {first}", label(&open.key));
            return self.finding(Rule::RegionDuplicate, open.line, fact, "remove one of them");
        }
        self.first_lines.insert(open.key.clone(), open.line);
        let (kind, name, program, target) = open.key;
        let body = open.body_start..body_end;
        let open_line = open.line;
        self.regions.push(Region { kind, name, program, target, open_line, close_line, body });
    }
}

fn label((kind, name, program, target): &Key) -> String {
    let program = program.as_ref().map(|program| format!(" {program}")).unwrap_or_default();
    let target = target.as_ref().map(|target| format!(" on {}/{}", target.model, target.variant));
    format!("`{}: {name}{program}{}`", kind.as_str(), target.unwrap_or_default())
}
