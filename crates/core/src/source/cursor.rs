//! A cursor over the text as the compiler sees it after splicing lines, that knows its physical
//! place.
//!
//! g++ and clang take a backslash, blanks and a line end for a splice too, so the cursor does; such
//! a splice is a [`super::Problem`] besides.

/// A position in the text. A copy of it looks ahead.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    /// The whole text.
    pub bytes: &'a [u8],
    /// The physical offset, possibly before a splice.
    pub at: usize,
}

impl Cursor<'_> {
    /// The next logical byte: `\n` for a line end of either form, and `None` at the end.
    pub fn peek(&self) -> Option<u8> {
        let at = self.after_splices();
        match newline_at(self.bytes, at) {
            0 => self.bytes.get(at).copied(),
            _ => Some(b'\n'),
        }
    }

    /// The logical byte after the next one.
    pub fn peek_second(&self) -> Option<u8> {
        let mut ahead = *self;
        ahead.bump();
        ahead.peek()
    }

    /// Moves past the next logical byte.
    pub fn bump(&mut self) {
        let at = self.after_splices();
        self.at = (at + newline_at(self.bytes, at).max(1)).min(self.bytes.len());
    }

    /// Moves past `count` logical bytes.
    pub fn bump_by(&mut self, count: usize) {
        (0..count).for_each(|_| self.bump());
    }

    /// Moves past logical bytes while they are `wanted`.
    pub fn bump_while(&mut self, wanted: impl Fn(u8) -> bool) {
        while self.peek().is_some_and(&wanted) {
            self.bump();
        }
    }

    /// Whether these logical bytes come next.
    pub fn sees(&self, wanted: &[u8]) -> bool {
        let mut ahead = *self;
        wanted.iter().all(|byte| {
            let same = ahead.peek() == Some(*byte);
            ahead.bump();
            same
        })
    }

    fn after_splices(&self) -> usize {
        let mut at = self.at;
        while let Some(end) = splice_at(self.bytes, at) {
            at = end;
        }
        at
    }
}

/// The length of the line end at `at`: 1 for LF, 2 for CRLF, 0 for none.
pub(super) fn newline_at(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at..) {
        Some([b'\n', ..]) => 1,
        Some([b'\r', b'\n', ..]) => 2,
        _ => 0,
    }
}

/// Where the line splice that starts at `at` ends.
pub(super) fn splice_at(bytes: &[u8], at: usize) -> Option<usize> {
    if bytes.get(at) != Some(&b'\\') {
        return None;
    }
    let blanks = bytes[at + 1..].iter().take_while(|byte| is_blank(**byte)).count();
    let end = at + 1 + blanks;
    match newline_at(bytes, end) {
        0 => None,
        length => Some(end + length),
    }
}

/// White space other than a line end.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\x0b' | b'\x0c')
}

/// What an identifier may start with. Every byte of a character outside ASCII counts: too long a
/// token makes a digest more sensitive, too short a one would make it blind.
pub(super) fn starts_identifier(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || !byte.is_ascii()
}

/// What an identifier may go on with.
pub(super) fn continues_identifier(byte: u8) -> bool {
    starts_identifier(byte) || byte.is_ascii_digit()
}
