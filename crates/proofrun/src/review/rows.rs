//! The rows of a screen, and the one place where text from outside is made harmless.
//!
//! **Invariant: a row is one line, whatever its text holds, and only a row of this module's making begins at the left
//! edge.** So neither a program's output nor a reason can look like a part of the screen that the harness wrote.

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

/// A screen in the making. Styles are written always; the stream that it goes to drops them where they don't belong.
#[derive(Debug, Default)]
pub struct Rows(String);

impl Rows {
    /// A line at the left edge.
    pub fn heading(&mut self, text: &str) {
        let _ = writeln!(self.0, "{BOLD}{}{BOLD:#}", escape(text, false));
    }

    /// A line below a heading.
    pub fn row(&mut self, text: impl AsRef<str>) {
        self.marked(PLAIN, "", text);
    }

    /// A line below a heading, behind a mark.
    pub fn marked(&mut self, style: Style, mark: &str, text: impl AsRef<str>) {
        let text = escape(text.as_ref(), false);
        let _ = writeln!(self.0, "  {style}{mark}{}{style:#}", text.trim_end());
    }

    /// Each line of a text, behind a mark. Only line feeds end a line; all other line ends are escaped.
    pub fn lines(&mut self, style: Style, mark: &str, text: &str) {
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            self.marked(style, mark, line);
        }
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_from_outside_begins_a_line_or_moves_the_cursor() {
        let mut rows = Rows::default();
        rows.heading("what\nis odd");
        rows.row("reason\u{1b}[2J\nrecord accepted");
        rows.lines(ADDED, "+ ", "one\rtwo\n\u{1b}[1Aodd\nlast\u{2028}");
        let text = anstream::adapter::strip_str(&rows.into_text()).to_string();
        let expect = [
            "what\\u{a}is odd",
            "  reason\\u{1b}[2J\\u{a}record accepted",
            "  + one\\u{d}two",
            "  + \\u{1b}[1Aodd",
            "  + last\\u{2028}",
        ];
        assert_eq!(text.lines().collect::<Vec<_>>(), expect);
    }
}
