//! The status paragraph: three lines of the header that say what is known about the program's
//! output.
//!
//! It is comment, so replacing it never changes the code digest; it always has three lines, so
//! replacing it moves no other line.

use std::ops::Range;

use camino::Utf8Path;

use super::lex::Lexed;
use super::spans::{Span, SpanKind};
use super::text::{TextLine, lines, quote};
use crate::finding::{Finding, Findings, Place, Rule};

/// The paragraph's word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StatusWord {
    /// No reviewed record of this code exists.
    Unverified,
    /// What the page shows is a reviewed record of this code.
    Verified,
    /// What was shown has been withdrawn.
    Withdrawn,
}

impl StatusWord {
    /// As it is written.
    pub fn as_str(self) -> &'static str {
        match self {
            StatusWord::Unverified => "UNVERIFIED",
            StatusWord::Verified => "VERIFIED",
            StatusWord::Withdrawn => "WITHDRAWN",
        }
    }

    fn of(text: &str) -> Option<Self> {
        [Self::Unverified, Self::Verified, Self::Withdrawn].into_iter().find(|w| w.as_str() == text)
    }
}

/// A well-formed status paragraph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusParagraph {
    /// Its word.
    pub word: StatusWord,
    /// The line of `// Status: …`, from 1.
    pub first_line: u32,
    /// From the first `//` to the third line's last character, its line end excluded: byte offsets.
    pub range: Range<usize>,
    /// The three lines as they stand, each with its `//` and without its line end.
    pub lines: [String; 3],
}

/// Why a status paragraph is not replaced.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StatusError {
    /// The paragraph is not of this source.
    #[error("the source has another text where the status paragraph was")]
    Moved,
    /// A new line that would not read back as a line of a status paragraph.
    #[error("`{0}` cannot be a line of a status paragraph")]
    Line(String),
}

const LABEL: &str = "// Status: ";
const FURTHER: &str = "//   ";

/// The source with other lines for its status paragraph; every other byte, line ends included,
/// stays.
///
/// # Errors
/// When the paragraph is not of this source, or a new line does not have the form of one.
pub fn replace_status(
    source: &str,
    paragraph: &StatusParagraph,
    new_lines: &[String; 3],
) -> Result<String, StatusError> {
    let old = source.get(paragraph.range.clone()).ok_or(StatusError::Moved)?;
    if !lines(old).map(|line| line.text).eq(paragraph.lines.iter().map(String::as_str)) {
        return Err(StatusError::Moved);
    }
    let refuse = |line: &String| StatusError::Line(line.clone());
    for (index, line) in new_lines.iter().enumerate() {
        let formed = match line.strip_prefix(LABEL) {
            Some(word) => index == 0 && StatusWord::of(word).is_some(),
            None => index > 0 && line.starts_with(FURTHER) && !line[FURTHER.len()..].is_empty(),
        };
        if !formed || line.chars().any(char::is_control) || continues(line) {
            return Err(refuse(line));
        }
    }
    let mut replaced = source[..paragraph.range.start].to_owned();
    for (old_line, new_line) in lines(old).zip(new_lines) {
        replaced.push_str(new_line);
        replaced.push_str(&old[old_line.start + old_line.text.len()..old_line.end]);
    }
    replaced.push_str(&source[paragraph.range.end..]);
    Ok(replaced)
}

/// Whether some compiler takes the next line for a part of this one.
fn continues(line: &str) -> bool {
    let line = line.trim_end();
    line.ends_with('\\') || line.ends_with("??/")
}

/// The status paragraph of the header whose lines these are.
pub(super) fn parse(
    path: &Utf8Path,
    source: &str,
    block: &[TextLine<'_>],
    findings: &mut Findings,
) -> Option<StatusParagraph> {
    let mut starts = (0..block.len()).filter(|at| labelled(block[*at].text).is_some());
    let at = starts.next()?;
    let first = block[at];
    let mut fault = |line: u32, fact: String, next: &str| {
        findings.push(Finding::error(Rule::StatusParagraph, Place::line(path, line), fact, next));
    };
    for again in starts {
        let fact = format!("a second status paragraph, the first is line {}", first.number);
        fault(block[again].number, fact, "keep one of them");
    }
    let further = block[at + 1..].iter().take_while(|line| line.text.starts_with(FURTHER));
    let paragraph: Vec<_> = std::iter::once(&first).chain(further).collect();
    let mut sound = true;
    if paragraph.len() != 3 {
        let fact = format!("the status paragraph has {} lines", paragraph.len());
        let next = "write `// Status: WORD` and two lines that start with `//` and three blanks";
        fault(first.number, fact, next);
        sound = false;
    }
    for line in paragraph.iter().filter(|line| continues(line.text)) {
        let fact = "a line of the status paragraph ends like one that goes on".to_owned();
        fault(line.number, fact, "end it with something else than a backslash or `??/`");
        sound = false;
    }
    let word = first.text.strip_prefix(LABEL).and_then(StatusWord::of);
    if word.is_none() {
        let fact = format!("{} is no status line", quote(first.text));
        let next = "write `// Status: ` and UNVERIFIED, VERIFIED or WITHDRAWN";
        fault(first.number, fact, next);
    }
    let word = word.filter(|_| sound)?;
    let [_, second, third] = paragraph.as_slice() else { return None };
    let range = first.start..third.start + third.text.len();
    debug_assert!(source.is_char_boundary(range.end), "a line ends at a character's end");
    let lines = [first.text, second.text, third.text].map(str::to_owned);
    Some(StatusParagraph { word, first_line: first.number, range, lines })
}

/// What follows the label in a comment's line that is, or is meant as, a status line.
fn labelled(line: &str) -> Option<&str> {
    let text = line.trim().trim_start_matches(['/', '*']).trim_start();
    let label = text.get(..7).filter(|label| label.eq_ignore_ascii_case("status:"))?;
    Some(text[label.len()..].trim())
}

/// Status lines that are not in the first comment block: an error in a comment, where a reader
/// believes them, and a warning in a string.
pub(super) fn elsewhere(
    path: &Utf8Path,
    source: &str,
    lexed: &Lexed,
    header_end: usize,
) -> Findings {
    let is_text = |span: &&Span| {
        span.kind.is_comment() || matches!(span.kind, SpanKind::String | SpanKind::RawString)
    };
    let mut findings = Findings::new();
    for span in lexed.spans.iter().filter(|span| span.range.start >= header_end).filter(is_text) {
        for line in lines(span.text(source)) {
            let text = line.text.trim_start_matches(['R', '"', '(']);
            let first_word = labelled(text).and_then(|rest| {
                rest.split(|c: char| !c.is_ascii_alphabetic()).next().and_then(StatusWord::of)
            });
            let Some(word) = first_word else { continue };
            let place = Place::line(path, span.line.saturating_add(line.number - 1));
            let fact = format!("`Status: {}` outside of the first comment block", word.as_str());
            let next = "say it in the `//` lines that start the file, and only there";
            findings.push(match span.kind.is_comment() {
                true => Finding::error(Rule::StatusElsewhere, place, fact, next),
                false => Finding::warning(Rule::StatusElsewhere, place, fact, next),
            });
        }
    }
    findings
}
