//! Fenced code blocks, as CommonMark 0.31 section 4.5 has them, at the top level of a page.

/// An opening fence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fence {
    mark: u8,
    length: usize,
    indent: usize,
    /// What follows the fence, trimmed.
    pub info: String,
}

impl Fence {
    /// The fence that this line opens.
    pub fn opens(line: &str) -> Option<Self> {
        let (mark, indent, length, rest) = fence(line)?;
        let info = rest.trim();
        // Otherwise inline code that starts a line would open a block.
        let opens = mark == b'~' || !info.contains('`');
        opens.then(|| Self { mark, length, indent, info: info.to_owned() })
    }

    /// Whether this line closes the block.
    pub fn closed_by(&self, line: &str) -> bool {
        fence(line).is_some_and(|(mark, _, length, rest)| {
            mark == self.mark && length >= self.length && rest.trim_matches([' ', '\t']).is_empty()
        })
    }

    /// A line of the block without the indentation that the fence has.
    pub fn content<'a>(&self, line: &'a str) -> &'a str {
        let blanks = line.bytes().take(self.indent).take_while(|byte| *byte == b' ').count();
        &line[blanks..]
    }
}

/// The mark, indentation, length and rest of a line that starts with a fence.
fn fence(line: &str) -> Option<(u8, usize, usize, &str)> {
    let bytes = line.as_bytes();
    let indent = bytes.iter().take_while(|byte| **byte == b' ').count();
    let mark = *bytes.get(indent).filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = bytes[indent..].iter().take_while(|byte| **byte == mark).count();
    (indent <= 3 && length >= 3).then(|| (mark, indent, length, &line[indent + length..]))
}
