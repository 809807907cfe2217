//! Findings of the emulated device for people: both sides of each in the source, what was accessed,
//! and how to see it again.

use std::collections::BTreeMap;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Element, Level, Origin, Renderer, Snippet};
use proofrun_core::escape::escape;
use proofrun_emulator::finding::{At, Finding, Severity};

use super::kind_word;
use crate::words::{COLUMNS, wrapped};

/// How much of a line the underline leaves to what is said of it, at least.
const UNDERLINE_MIN: usize = 1;

/// The columns that a line number and its frame take.
const FRAME: usize = 8;

/// Where the text of a file comes from, by its name in findings.
pub type Texts<'a> = &'a dyn Fn(&str) -> Option<String>;

/// One finding. `replay` is the command that shows it again, but for the token.
pub fn shown(finding: &Finding, texts: Texts<'_>, replay: &str) -> String {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = broken(&finding.message, kind_word(finding.kind).len() + 10);
    let title = level.primary_title(title).id(kind_word(finding.kind));
    let mut group = title.elements(places(finding, texts));
    for note in notes(finding) {
        group = group.element(Level::NOTE.message(broken(&note, FRAME + 6)));
    }
    if let Some(next) = &finding.next {
        group = group.element(Level::HELP.message(broken(next, FRAME + 6)));
    }
    if let Some(token) = &finding.schedule {
        let token = escape(token, false);
        group = group.element(Level::HELP.message(format!("replay: {replay} --replay {token}")));
    }
    let rendered = Renderer::styled().term_width(COLUMNS).render(&[group]);
    rendered.trim_end().to_owned() + "\n"
}

/// The places, by file in the order in which they are named, those of a file in one excerpt.
fn places(finding: &Finding, texts: Texts<'_>) -> Vec<Element<'static>> {
    let mut files: Vec<&str> = Vec::new();
    let mut marks: BTreeMap<&str, Vec<(bool, &At)>> = BTreeMap::new();
    for (index, at) in finding.at.iter().enumerate() {
        if !files.contains(&at.file.as_str()) {
            files.push(&at.file);
        }
        marks.entry(&at.file).or_default().push((index == 0, at));
    }
    let mut elements: Vec<Element<'static>> = Vec::new();
    for file in files {
        let all = marks.remove(file).unwrap_or_default();
        let text = texts(file);
        let spans: Option<Vec<_>> = text.as_ref().and_then(|text| {
            all.iter().map(|(first, at)| Some((*first, *at, span(text, at)?))).collect()
        });
        match (text, spans) {
            (Some(text), Some(spans)) => {
                let annotations = spans.into_iter().map(|mark| annotation(&text, mark));
                let annotations: Vec<_> = annotations.collect();
                let snippet = Snippet::source(text).path(escape(file, false));
                elements.push(snippet.annotations(annotations).into());
            }
            // The text isn't here, or is another by now: the places alone.
            _ => {
                for (_, at) in all {
                    let origin = Origin::path(escape(file, false)).line(at.line as usize);
                    elements.push(origin.into());
                    elements.push(Level::NOTE.message(said(at)).into());
                }
            }
        }
    }
    elements
}

fn annotation(text: &str, (first, at, span): (bool, &At, Range<usize>)) -> Annotation<'static> {
    let kind = if first { AnnotationKind::Primary } else { AnnotationKind::Context };
    let said = said(at);
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let before = text[start..span.start].chars().count() + FRAME;
    let room = COLUMNS.saturating_sub(before + said.chars().count()).max(UNDERLINE_MIN);
    let end = text[span.clone()].char_indices().nth(room).map_or(span.end, |it| span.start + it.0);
    kind.span(span.start..end).label(said)
}

/// What was done there, and by whom.
fn said(at: &At) -> String {
    let block = at.block.map(|block| match block {
        [x, 0, 0] => format!("block {x}"),
        [x, y, z] => format!("block ({x}, {y}, {z})"),
    });
    let several = at.threads.contains([',', '.']);
    let threads = (!at.threads.is_empty()).then(|| match several {
        true => format!("threads {}", at.threads),
        false => format!("thread {}", at.threads),
    });
    let who: Vec<String> = block.into_iter().chain(threads).collect();
    let who = who.join(", ");
    let said = if who.is_empty() { at.what.clone() } else { format!("{}: {who}", at.what) };
    escape(&said, false)
}

/// The statement that starts at a place, up to its end or the line's; the line, where no column is
/// known.
fn span(text: &str, at: &At) -> Option<Range<usize>> {
    let line = usize::try_from(at.line).ok()?.checked_sub(1)?;
    let start = match line {
        0 => 0,
        line => text.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let full = text[start..].split('\n').next().unwrap_or_default();
    let code = full.trim_end();
    let indent = code.len() - code.trim_start().len();
    let column = usize::try_from(at.column).ok()?.checked_sub(1);
    let from = column.filter(|column| code.is_char_boundary(*column) && *column < code.len());
    let from = from.unwrap_or(indent);
    let rest = &code[from..];
    let length = rest.find(';').map_or(rest.len(), |end| end + 1);
    (length > 0).then(|| start + from..start + from + length)
}

/// What stands below the excerpts.
fn notes(finding: &Finding) -> Vec<String> {
    let mut notes = Vec::new();
    let kernel = finding.kernel.as_ref().map(|kernel| format!("in kernel `{kernel}`"));
    let launch = finding.launch.map(|launch| format!("launch {launch}"));
    let object = finding.object.as_ref().map(|object| format!("of {object}"));
    let facts: Vec<String> = kernel.into_iter().chain(launch).chain(object).collect();
    if !facts.is_empty() {
        notes.push(facts.join(", "));
    }
    let inlined = finding.at.iter().filter(|at| !at.inlined.is_empty());
    notes.extend(inlined.map(|at| {
        format!("{}:{} was inlined from {}", at.file, at.line, at.inlined.join(", from "))
    }));
    notes.extend(finding.notes.iter().cloned());
    if finding.count > 1 {
        notes.push(format!("{} equal ones, told once", finding.count));
    }
    notes
}

/// A text in lines that fit beside what stands before the first of them.
fn broken(text: &str, indent: usize) -> String {
    let fit = wrapped(&" ".repeat(indent), indent, &escape(text, false));
    let lines: Vec<&str> = fit.lines().map(|line| line.get(indent..).unwrap_or(line)).collect();
    lines.join("\n").trim().to_owned()
}

/// All findings, a blank line between them.
pub fn all(findings: &[Finding], texts: Texts<'_>, replay: &str) -> String {
    let shown: Vec<String> = findings.iter().map(|it| shown(it, texts, replay)).collect();
    shown.join("\n")
}
