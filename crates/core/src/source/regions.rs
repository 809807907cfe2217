//! Marked regions of a source: what snippets and copies have in common.
//!
//! A marker is a `//` comment of its own on its line; the lexer decides what a comment is.

use std::collections::BTreeMap;
use std::ops::Range;

use camino::Utf8Path;

use super::lex::lex;
use super::spans::{Span, SpanKind};
use super::text::{lf_normalised, quote};
use crate::finding::{Finding, Findings, Place, Rule};

/// How one kind of region is written, and the rules it can break.
pub(super) struct Syntax {
    /// `snippet` or `copy`.
    pub word: &'static str,
    /// What stands before the name in the start marker, after `// WORD: `.
    pub prefix: &'static str,
    /// The further characters of a name besides a-z, 0-9, `_`, `-`.
    pub further: &'static str,
    /// Whether any comment that starts `WORD:` is meant as a marker, or only one that goes on with
    /// the prefix.
    pub reserved: bool,
    pub malformed: Rule,
    pub unclosed: Rule,
    pub stray_end: Rule,
    pub nested: Rule,
    pub duplicate: Rule,
    pub empty: Rule,
}

/// A well-formed region.
pub(super) struct Region {
    pub name: String,
    /// The start marker's line, from 1.
    pub line: u32,
    /// The bytes between the marker lines.
    pub range: Range<usize>,
    /// The same with LF line ends.
    pub text: String,
}

/// All regions of one kind in document order, the first of each name, and what is wrong with any.
pub(super) fn regions(path: &Utf8Path, source: &str, syntax: &Syntax) -> (Vec<Region>, Findings) {
    let mut scan = Scan {
        path,
        syntax,
        open: None,
        depth: 0,
        found: Vec::new(),
        lines_of_names: BTreeMap::new(),
        findings: Findings::new(),
    };
    let (mut alone, mut line_start) = (true, 0);
    for span in lex(source).spans {
        match span.kind {
            SpanKind::Newline => (alone, line_start) = (true, span.range.end),
            SpanKind::White => {}
            kind => {
                if kind == SpanKind::LineComment {
                    scan.comment(source, &span, alone.then_some(line_start));
                }
                alone = false;
            }
        }
    }
    if let Some((name, line, _)) = scan.open.take() {
        let fact = format!("{} `{name}` is never closed", syntax.word);
        let next = format!("add `// end {}` after the region", syntax.word);
        scan.finding(syntax.unclosed, line, fact, next);
    }
    (scan.found, scan.findings)
}

enum Marker<'a> {
    Start(&'a str),
    End,
    Malformed,
}

impl Syntax {
    /// What a comment is, if it is, or is meant as, a marker.
    fn marker<'a>(&self, comment: &'a str) -> Option<Marker<'a>> {
        let content = comment.strip_prefix("//")?;
        let loose = content.trim().to_ascii_lowercase();
        if loose.strip_prefix("end ").is_some_and(|rest| rest.trim_start().starts_with(self.word)) {
            let exact = content.trim_end() == format!(" end {}", self.word);
            return Some(if exact { Marker::End } else { Marker::Malformed });
        }
        let rest = loose.strip_prefix(self.word)?.trim_start().strip_prefix(':')?.trim_start();
        if !self.reserved && !rest.starts_with(self.prefix) {
            return None;
        }
        let name = content
            .trim_end()
            .strip_prefix(&format!(" {}: {}", self.word, self.prefix))
            .filter(|name| self.is_name(name));
        Some(name.map_or(Marker::Malformed, Marker::Start))
    }

    fn is_name(&self, name: &str) -> bool {
        let allowed =
            |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-') || self.further.contains(c);
        !name.is_empty() && name.len() <= 64 && name.chars().all(allowed) && name != ".."
    }
}

struct Scan<'a> {
    path: &'a Utf8Path,
    syntax: &'a Syntax,
    /// The open region: its name, its marker's line, where its body starts.
    open: Option<(String, u32, usize)>,
    /// How many regions are wrongly open inside it.
    depth: usize,
    found: Vec<Region>,
    lines_of_names: BTreeMap<String, u32>,
    findings: Findings,
}

impl Scan<'_> {
    fn finding(&mut self, rule: Rule, line: u32, fact: String, next: impl Into<String>) {
        self.findings.push(Finding::error(rule, Place::line(self.path, line), fact, next));
    }

    /// Takes a comment; `line_start` where nothing stands before it on its line.
    fn comment(&mut self, source: &str, span: &Span, line_start: Option<usize>) {
        let Some(marker) = self.syntax.marker(span.text(source)) else { return };
        let (word, line) = (self.syntax.word, span.line);
        let Some(line_start) = line_start else {
            let fact = format!("a {word} marker shares its line with code");
            return self.finding(self.syntax.malformed, line, fact, "give the marker its own line");
        };
        match marker {
            Marker::Malformed => {
                let fact = format!("{} is no {word} marker", quote(span.text(source).trim_end()));
                let prefix = self.syntax.prefix;
                let next = format!("write `// {word}: {prefix}NAME` or `// end {word}`");
                self.finding(self.syntax.malformed, line, fact, next);
            }
            Marker::Start(name) => self.start(source, name, span),
            Marker::End => self.end(source, line, line_start),
        }
    }

    fn start(&mut self, source: &str, name: &str, span: &Span) {
        let Some((open, open_line, _)) = &self.open else {
            let rest = &source[span.range.end..];
            let body = span.range.end + rest.find('\n').map_or(rest.len(), |length| length + 1);
            self.open = Some((name.to_owned(), span.line, body));
            return;
        };
        let word = self.syntax.word;
        let fact = format!("{word} `{name}` starts inside of {word} `{open}`");
        let next = format!("close `{open}` of line {open_line} first");
        self.depth += 1;
        self.finding(self.syntax.nested, span.line, fact, next);
    }

    fn end(&mut self, source: &str, line: u32, line_start: usize) {
        let word = self.syntax.word;
        if self.depth > 0 {
            self.depth -= 1;
            return;
        }
        let Some((name, start_line, body)) = self.open.take() else {
            let fact = format!("`// end {word}` closes nothing");
            let next = format!("remove it, or add `// {word}: {}NAME`", self.syntax.prefix);
            return self.finding(self.syntax.stray_end, line, fact, next);
        };
        if let Some(first) = self.lines_of_names.get(&name) {
            let fact = format!("{word} `{name}` is there twice, first on line {first}");
            let next = "rename or remove one of them";
            return self.finding(self.syntax.duplicate, start_line, fact, next);
        }
        self.lines_of_names.insert(name.clone(), start_line);
        let text = lf_normalised(&source[body..line_start]).into_owned();
        if text.trim().is_empty() {
            let fact = format!("{word} `{name}` has no line that is not blank");
            self.finding(self.syntax.empty, start_line, fact, "fill it, or remove both markers");
        }
        self.found.push(Region { name, line: start_line, range: body..line_start, text });
    }
}
