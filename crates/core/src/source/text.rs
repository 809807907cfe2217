//! Files as text: size, encoding, line ends, and leftovers of a merge. Shared by sources, pages and
//! manifests.

use std::borrow::Cow;

use camino::Utf8Path;

use crate::digest::Digest;
use crate::finding::{Finding, Findings, Place, Rule};

/// The largest source, page or manifest that is read: 1 MiB.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// Why bytes are no text that is digested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotText {
    /// More than [`MAX_TEXT_BYTES`].
    #[error("the file has `{0}` bytes, more than {MAX_TEXT_BYTES}")]
    TooLarge(usize),
    /// Not UTF-8, from this byte offset on.
    #[error("the file is not UTF-8 from byte {0} on")]
    NotUtf8(usize),
    /// It starts with a byte order mark.
    #[error("the file starts with a byte order mark")]
    ByteOrderMark,
}

/// The digest of a text with its line ends made LF (CRLF and a lone CR alike), so that it is the
/// same in every checkout. A lone CR is refused by [`check_text`], since compilers differ about it.
///
/// # Errors
/// When the bytes are not UTF-8 without a byte order mark, or too many.
pub fn text_digest(bytes: &[u8]) -> Result<Digest, NotText> {
    if bytes.len() > MAX_TEXT_BYTES {
        return Err(NotText::TooLarge(bytes.len()));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| NotText::NotUtf8(e.valid_up_to()))?;
    match text.starts_with('\u{feff}') {
        true => Err(NotText::ByteOrderMark),
        false => Ok(Digest::of(lf_normalised(text).as_bytes())),
    }
}

/// The text with CRLF and lone CR made LF.
pub fn lf_normalised(text: &str) -> Cow<'_, str> {
    match text.contains('\r') {
        true => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(text),
    }
}

/// A finding where a file of so many bytes is not read.
pub fn check_size(path: &Utf8Path, bytes: usize) -> Option<Finding> {
    let fact = format!("the file has {bytes} bytes, more than {MAX_TEXT_BYTES}");
    let finding = || Finding::error(Rule::TextSize, Place::file(path), fact, "split the file");
    (bytes > MAX_TEXT_BYTES).then(finding)
}

/// The bytes as text, where they are one, and what is wrong with their encoding.
pub fn check_text<'a>(path: &Utf8Path, bytes: &'a [u8]) -> (Option<&'a str>, Findings) {
    if let Some(finding) = check_size(path, bytes.len()) {
        return (None, vec![finding]);
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            let place = Place::offset(path, &valid, valid.len());
            let next = "save the file as UTF-8";
            return (
                None,
                vec![Finding::error(Rule::TextEncoding, place, "the file is not UTF-8", next)],
            );
        }
    };
    let mut findings = Findings::new();
    if text.starts_with('\u{feff}') {
        let fact = "the file starts with a byte order mark";
        let next = "save the file as UTF-8 without a byte order mark";
        findings.push(Finding::error(Rule::TextEncoding, Place::line(path, 1), fact, next));
    }
    findings.extend(lines(text).filter_map(|line| check_characters(path, &line)));
    (Some(text), findings)
}

/// Characters that show something else than what is compiled or rendered. One finding a line.
fn check_characters(path: &Utf8Path, line: &TextLine<'_>) -> Option<Finding> {
    let found = line.text.chars().find(|c| {
        let control = c.is_control() && !matches!(c, '\t' | '\x0b' | '\x0c');
        control || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    })?;
    let fact = match found {
        '\r' => "a carriage return without a line feed".to_owned(),
        _ => format!("the character U+{:04X}, which does not show", u32::from(found)),
    };
    let place = Place::line(path, line.number);
    Some(Finding::error(Rule::TextEncoding, place, fact, "remove the character"))
}

/// Lines that a merge left behind.
pub fn conflict_markers(path: &Utf8Path, text: &str) -> Findings {
    let marker = |line: TextLine<'_>| {
        let starts = ["<<<<<<< ", ">>>>>>> ", "||||||| "];
        let found = match starts.iter().find(|start| line.text.starts_with(**start)) {
            Some(start) => start.trim_end(),
            None if line.text == "=======" => "=======",
            None => return None,
        };
        let fact = format!("the line starts with a merge's conflict marker `{found}`");
        let place = Place::line(path, line.number);
        let next = "finish the merge (a heading underlined with `=======` is written with `#`)";
        Some(Finding::error(Rule::ConflictMarker, place, fact, next))
    };
    lines(text).filter_map(marker).collect()
}

/// A physical line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextLine<'a> {
    /// From 1.
    pub number: u32,
    /// The offset of its first byte.
    pub start: usize,
    /// Without its line end, LF or CRLF.
    pub text: &'a str,
    /// The offset after its line end.
    pub end: usize,
}

/// The lines of a text. A line end at the end of the text starts no further line.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = TextLine<'_>> {
    let mut start = 0;
    text.split_inclusive('\n').zip(1u32..).map(move |(whole, number)| {
        let line = whole.strip_suffix('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
        let end = start + whole.len();
        let line = TextLine { number, start, text: line.unwrap_or(whole), end };
        start = end;
        line
    })
}

/// Where two texts first differ: the line's number within them, from 1, and the line in each, where
/// it has one.
pub(crate) fn differing_line<'a>(
    a: &'a str,
    b: &'a str,
) -> Option<(u32, Option<&'a str>, Option<&'a str>)> {
    let (mut left, mut right) = (a.split_inclusive('\n'), b.split_inclusive('\n'));
    for number in 1u32.. {
        match (left.next(), right.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            (one, other) => return Some((number, one, other)),
        }
    }
    None
}

/// A value for a finding's text: in backticks, its line end shown, and of bounded length.
pub(crate) fn quote(text: &str) -> String {
    const CHARACTERS_MAX: usize = 80;
    let text = text.strip_suffix('\n').unwrap_or(text);
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None => format!("`{text}`"),
    }
}

#[cfg(test)]
#[path = "text_tests.rs"]
mod tests;
