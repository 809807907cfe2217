//! An emulated program's lines, as they come: each marked, so that nobody takes them for a card's.

use proofrun_core::escape::escape_bytes;

/// What stands before each line.
pub const PREFIX: &str = "emulated | ";

/// So many bytes without a line's end are shown as a line.
const LINE_BYTES_MAX: usize = 16 * 1024;

/// One stream on its way to a terminal.
#[derive(Debug, Default)]
pub struct Lines {
    partial: Vec<u8>,
}

impl Lines {
    /// Takes bytes as they come, and gives the lines that are whole with them.
    pub fn take(&mut self, bytes: &[u8]) -> String {
        let mut shown = String::new();
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.partial.extend_from_slice(piece);
            if piece.ends_with(b"\n") || self.partial.len() >= LINE_BYTES_MAX {
                shown.push_str(&self.finish());
            }
        }
        shown
    }

    /// What is left once the program has ended.
    pub fn finish(&mut self) -> String {
        let line = std::mem::take(&mut self.partial);
        if line.is_empty() {
            return String::new();
        }
        let line = line.strip_suffix(b"\n").unwrap_or(&line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // Tabs are a program's columns, and harmless.
        let cells: Vec<_> =
            line.split(|byte| *byte == b'\t').map(|cell| escape_bytes(cell, false)).collect();
        format!("{PREFIX}{}\n", cells.join("\t"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_is_marked_and_nothing_moves_the_terminal() {
        let mut lines = Lines::default();
        assert_eq!(lines.take(b"a"), "");
        assert_eq!(
            lines.take(b"b\nc\x1b[2J\xff\td\r\n\n"),
            "emulated | ab\n\
            emulated | c\\u{1b}[2J\\xff\td\nemulated | \n"
        );
        assert_eq!(lines.take(b"end"), "");
        assert_eq!(lines.finish(), "emulated | end\n");
        assert_eq!(lines.finish(), "");
        let long = lines.take(&[b'x'; LINE_BYTES_MAX]);
        assert_eq!(long.len(), PREFIX.len() + LINE_BYTES_MAX + 1);
    }
}
