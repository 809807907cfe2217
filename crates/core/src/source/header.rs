//! The header: the first comment block of a program, with its two commands and its status
//! paragraph.
//!
//! **Invariant: the header is comment to the lexer.** It is the run of `//` comments that starts
//! the file, each at column 1, before any other token; a blank line ends it.

use std::ops::Range;

use camino::Utf8Path;

use super::lex::{Lexed, lex};
use super::spans::{Span, SpanKind};
use super::status::{self, StatusParagraph};
use super::text::{TextLine, lines, quote};
use crate::finding::{Finding, Findings, Place, Rule};

/// What the first comment block says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Header {
    /// The `Build:` line.
    pub build: Option<CommandLine>,
    /// The `Run:` line.
    pub run: Option<CommandLine>,
    /// The status paragraph, where there is a well-formed one.
    pub status: Option<StatusParagraph>,
}

/// A command of the header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// Its line, from 1.
    pub line: u32,
    /// As written, without the label and the blanks around.
    pub text: String,
    /// Its words, as a shell splits them; at least one.
    pub argv: Vec<String>,
}

impl Header {
    /// Reads the header of a program, and finds what is wrong with it: commands that are missing,
    /// twice there or more than plain words, and a malformed or misplaced status paragraph. A
    /// header without any status paragraph is none of these.
    pub fn parse(path: &Utf8Path, source: &str) -> (Self, Findings) {
        let lexed = lex(source);
        let block = first_comment_block(source, &lexed);
        let end = block.end;
        let block: Vec<_> =
            lines(&source[..end]).filter(|line| line.start >= block.start).collect();
        let mut findings = Findings::new();
        let build = command(path, &block, "Build:", &mut findings);
        let run = command(path, &block, "Run:", &mut findings);
        let status = status::parse(path, source, &block, &mut findings);
        findings.extend(status::elsewhere(path, source, &lexed, end));
        (Self { build, run, status }, findings)
    }
}

/// The byte range from the first `//` to the end of the last comment of the block.
fn first_comment_block(source: &str, lexed: &Lexed) -> Range<usize> {
    let is_mark = |span: &Span| span.range.start == 0 && span.text(source) == "\u{feff}";
    let start = usize::from(lexed.spans.first().is_some_and(is_mark));
    let mut block: Option<Range<usize>> = None;
    let mut at_line_start = true;
    for span in &lexed.spans[start..] {
        match span.kind {
            SpanKind::LineComment if at_line_start => {
                let first = block.map_or(span.range.start, |block| block.start);
                block = Some(first..span.range.end);
                at_line_start = false;
            }
            SpanKind::Newline if !at_line_start => at_line_start = true,
            _ => break,
        }
    }
    block.unwrap_or(0..0)
}

/// The finding for a header without a line of this label.
pub(crate) fn missing(path: &Utf8Path, label: &str) -> Finding {
    let table = label.trim_end_matches(':').to_ascii_lowercase();
    let fact = format!("the first comment block has no `{label}` line");
    let next = format!(
        "add `// {label} …` to the `//` lines that start the file, or a `command` to `[{table}]` \
         in the manifest"
    );
    Finding::error(Rule::HeaderMissing, Place::line(path, 1), fact, next)
}

/// The command with this label, where exactly one stands there and is plain.
fn command(
    path: &Utf8Path,
    block: &[TextLine<'_>],
    label: &str,
    findings: &mut Findings,
) -> Option<CommandLine> {
    let name = label.trim_end_matches(':');
    let mut labelled = block.iter().filter_map(|line| {
        let text = line.text.strip_prefix("//")?.trim().strip_prefix(label)?;
        Some((line.number, text.trim()))
    });
    let Some((line, text)) = labelled.next() else {
        findings.push(missing(path, label));
        return None;
    };
    for (again, _) in labelled {
        let fact = format!("the header has a second `{label}` line, the first is line {line}");
        let next = "keep one of them";
        findings.push(Finding::error(Rule::HeaderCommand, Place::line(path, again), fact, next));
    }
    match plain_words(text) {
        Ok(argv) => Some(CommandLine { line, text: text.to_owned(), argv }),
        Err(cause) => {
            let fact = format!("the {name} command {} is not plain words", quote(text));
            let next = "write one program and its arguments, on one line";
            let place = Place::line(path, line);
            findings.push(Finding::error(Rule::HeaderCommand, place, fact, next).because(cause));
            None
        }
    }
}

/// A command's words, where a shell and a process started without one agree about them.
pub(crate) fn plain_words(text: &str) -> Result<Vec<String>, String> {
    if let Some(special) = text.chars().find(|c| "|&;<>$`*?#!".contains(*c)) {
        return Err(format!("`{special}` is more than a word to a shell"));
    }
    if text.ends_with('\\') {
        return Err("it goes on behind a backslash".to_owned());
    }
    match shell_words::split(text) {
        Ok(words) if words.is_empty() => Err("it is empty".to_owned()),
        Ok(words) => Ok(words),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
#[path = "header_tests.rs"]
mod tests;
