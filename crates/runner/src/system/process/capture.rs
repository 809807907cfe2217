//! One captured stream of a child: a pipe that is read without blocking, up to a limit.
//!
//! **Invariant: memory is bounded by the limit, and reading never waits**, whoever still holds the
//! pipe's other end.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

/// The longest line that is handed to a listener in one piece, in bytes.
const LINE_BYTES_MAX: usize = 4096;
/// How much is read at a time, and how often in a row before others get their turn.
const CHUNK_BYTES: usize = 64 * 1024;
const CHUNKS_A_TURN: usize = 16;

/// The reading end of a child's stream, and what came out of it so far.
pub(super) struct Capture {
    reader: Option<os_pipe::PipeReader>,
    bytes: Vec<u8>,
    limit: usize,
    exceeded: bool,
    line_start: usize,
}

impl Capture {
    /// A pipe: what is written to the writer is captured, up to `limit` bytes.
    pub(super) fn new(limit: usize) -> io::Result<(Self, os_pipe::PipeWriter)> {
        let (reader, writer) = os_pipe::pipe()?;
        fcntl_setfl(&reader, fcntl_getfl(&reader)? | OFlags::NONBLOCK)?;
        let capture =
            Self { reader: Some(reader), bytes: Vec::new(), limit, exceeded: false, line_start: 0 };
        Ok((capture, writer))
    }

    /// What to poll; `None` once every writer has closed the pipe.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.reader.as_ref().map(|reader| reader.as_fd())
    }

    /// Whether more than the limit arrived.
    pub(super) fn exceeded(&self) -> bool {
        self.exceeded
    }

    /// Reads what is there. Bytes beyond the limit are dropped, so that a child that is being ended
    /// can still write its last words and go. What was kept is handed over twice: as it came, and
    /// as lines.
    pub(super) fn read(
        &mut self,
        mut on_bytes: impl FnMut(&[u8]),
        mut on_line: impl FnMut(&str),
    ) -> io::Result<()> {
        let Some(reader) = &mut self.reader else { return Ok(()) };
        let mut chunk = vec![0; CHUNK_BYTES];
        for _ in 0..CHUNKS_A_TURN {
            match reader.read(&mut chunk) {
                Ok(0) => {
                    self.reader = None;
                    break;
                }
                Ok(count) => {
                    let room = self.limit - self.bytes.len();
                    self.exceeded |= count > room;
                    let kept = &chunk[..count.min(room)];
                    self.bytes.extend_from_slice(kept);
                    on_bytes(kept);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        self.lines(&mut on_line);
        Ok(())
    }

    /// Hands over the complete lines that have not been handed over, without their ends.
    fn lines(&mut self, on_line: &mut impl FnMut(&str)) {
        loop {
            let rest = &self.bytes[self.line_start..];
            let (line, next) = match rest.iter().position(|byte| *byte == b'\n') {
                Some(end) if end <= LINE_BYTES_MAX => (&rest[..end], end + 1),
                _ if rest.len() > LINE_BYTES_MAX => (&rest[..LINE_BYTES_MAX], LINE_BYTES_MAX),
                _ => return,
            };
            on_line(&String::from_utf8_lossy(line));
            self.line_start += next;
        }
    }

    /// What was captured.
    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn lines_of(text: &[u8], limit: usize) -> (Vec<String>, Vec<u8>, bool) {
        let (mut capture, mut writer) = Capture::new(limit).unwrap();
        writer.write_all(text).unwrap();
        let mut lines = Vec::new();
        // The writer stays open: reading must not wait for its end.
        capture.read(|_| {}, |line| lines.push(line.to_owned())).unwrap();
        drop(writer);
        capture.read(|_| {}, |line| lines.push(line.to_owned())).unwrap();
        assert!(capture.fd().is_none());
        let exceeded = capture.exceeded();
        (lines, capture.into_bytes(), exceeded)
    }

    #[test]
    fn whole_lines_are_handed_over_and_all_bytes_kept() {
        let (lines, bytes, exceeded) = lines_of(b"a\n\xff\nrest", 100);
        assert_eq!(lines, ["a", "\u{fffd}"]);
        assert_eq!(bytes, b"a\n\xff\nrest");
        assert!(!exceeded);
    }

    #[test]
    fn the_limit_itself_is_allowed_and_one_more_is_not() {
        assert_eq!(lines_of(b"12345", 5).1.len(), 5);
        assert!(!lines_of(b"12345", 5).2);
        let (_, bytes, exceeded) = lines_of(b"123456", 5);
        assert_eq!((bytes.as_slice(), exceeded), (b"12345".as_slice(), true));
    }

    #[test]
    fn an_endless_line_comes_in_pieces() {
        let (lines, ..) = lines_of(&[b'x'; 3 * LINE_BYTES_MAX], 1 << 20);
        assert_eq!(lines.len(), 2);
        assert!(lines.iter().all(|line| line.len() == LINE_BYTES_MAX));
    }
}
