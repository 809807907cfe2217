//! The rows of a screen, and the one place where text from outside is made harmless.
//!
//! **Invariant: only text of this module's making stands in the first columns, whatever a row holds
//! and however narrow the terminal is**: control characters are escaped, and long rows are broken
//! here, since a terminal would go on at its left edge. So neither a program's output nor a reason
//! can look like a part of the screen that the harness wrote.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use proofrun_core::escape::escape;

const BOLD: Style = Style::new().bold();

/// Something that a reviewer has to notice.
pub const ODD: Style = AnsiColor::Yellow.on_default();

/// A line that is to come.
pub const ADDED: Style = AnsiColor::Green.on_default();

/// A line that stands today and would go.
pub const REMOVED: Style = AnsiColor::Red.on_default();

/// What needs no attention.
pub const PLAIN: Style = Style::new();

/// The columns of labels.
const LABEL_WIDTH: usize = 11;

/// The narrowest text column; on a narrower terminal rows wrap as they will.
const TEXT_WIDTH_MIN: usize = 20;

/// A screen in the making. Styles are written always; the stream that it goes to drops them where
/// they don't belong.
#[derive(Debug)]
pub struct Rows {
    text: String,
    label: &'static str,
    width: usize,
}

impl Rows {
    /// A screen of this many columns; without a number, no row is broken.
    pub fn new(width: Option<usize>) -> Self {
        let width = width.map_or(usize::MAX, |width| {
            // The last column stays free: some terminals go on to the next row once it is filled.
            width.saturating_sub(LABEL_WIDTH + 1).max(TEXT_WIDTH_MIN)
        });
        Self { text: String::new(), label: "", width }
    }

    /// A line at the left edge.
    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.text, "{BOLD}{}{BOLD:#}", escape(text, false));
    }

    /// What stands before the next row.
    pub fn label(&mut self, label: &'static str) {
        self.label = label;
    }

    /// A row.
    pub fn row(&mut self, text: impl AsRef<str>) {
        self.marked(PLAIN, "", text);
    }

    /// A row behind a mark, which stands before each piece of one that is broken.
    pub fn marked(&mut self, style: Style, mark: &str, text: impl AsRef<str>) {
        let text = escape(text.as_ref(), false);
        for piece in pieces(text.trim_end(), self.width.saturating_sub(mark.len())) {
            let label = std::mem::take(&mut self.label);
            let _ = write!(self.text, "{BOLD}{label:LABEL_WIDTH$}{BOLD:#}");
            let line = format!("{mark}{piece}");
            let _ = writeln!(self.text, "{style}{}{style:#}", line.trim_end());
        }
    }

    /// Each line of a text, behind a mark. Only line feeds end a line; all other line ends are
    /// escaped.
    pub fn lines(&mut self, style: Style, mark: &str, text: &str) {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.marked(style, mark, line);
        }
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// A text in pieces of at most so many columns, broken after a blank where one is near; at least
/// one. Every character beyond ASCII counts as two columns, which none exceeds.
fn pieces(text: &str, width: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut used) = (0, 0);
    // Behind the last blank of this piece, and how many columns of it come before.
    let mut blank: Option<(usize, usize)> = None;
    for (at, c) in text.char_indices() {
        let columns = if c.is_ascii() { 1 } else { 2 };
        if used + columns > width && at > start {
            let (end, before) =
                blank.filter(|(_, before)| *before > width / 2).unwrap_or((at, used));
            pieces.push(&text[start..end]);
            (start, used) = (end, used - before);
            blank = None;
        }
        used += columns;
        if c == ' ' {
            blank = Some((at + 1, used));
        }
    }
    pieces.push(&text[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(rows: Rows) -> Vec<String> {
        let text = anstream::adapter::strip_str(&rows.into_text()).to_string();
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn nothing_from_outside_begins_a_line_or_moves_the_cursor() {
        let mut rows = Rows::new(None);
        rows.heading("what\nis odd");
        rows.label("odd");
        rows.row("reason\u{1b}[2J\nrecord accepted");
        rows.lines(ADDED, "+ ", "one\rtwo\n\u{1b}[1Aodd\nlast\u{2028}");
        let expect = [
            "what\\u{a}is odd",
            "odd        reason\\u{1b}[2J\\u{a}record accepted",
            "           + one\\u{d}two",
            "           + \\u{1b}[1Aodd",
            "           + last\\u{2028}",
        ];
        assert_eq!(shown(rows), expect);
    }

    #[test]
    fn a_long_row_goes_on_below_its_own_column() {
        let mut rows = Rows::new(Some(11 + 10 + 11));
        rows.label("page");
        rows.marked(ADDED, "+ ", "0123456789012345678901234567890");
        rows.row("漢".repeat(11));
        rows.row("twelve words, 0123456789");
        rows.row("");
        let expect = [
            "page       + 012345678901234567",
            "           + 8901234567890",
            "           漢漢漢漢漢漢漢漢漢漢",
            "           漢",
            "           twelve words,",
            "           0123456789",
            "           ",
        ];
        assert_eq!(shown(rows), expect);
    }
}
