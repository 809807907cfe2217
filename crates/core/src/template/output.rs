//! An output as lines, and what is wrong with its bytes.
//!
//! **Invariant: every line that the matcher sees is UTF-8 without its line end**; whatever had to
//! be mended for that has a mismatch of its own.

use super::field::plural;
use super::mismatch::{Mismatch, Reason, quote};
use super::{MAX_LINE_BYTES, MAX_MISMATCHES, MAX_OUTPUT_BYTES};

/// The lines of an output.
pub(super) struct Output<'a> {
    /// `None` for a line that cannot be read; it has its mismatch.
    pub(super) lines: Vec<Option<&'a str>>,
}

/// Splits an output. `Err` where there is nothing to compare.
pub(super) fn split<'a>(
    bytes: &'a [u8],
    mismatches: &mut Vec<Mismatch>,
) -> Result<Output<'a>, Mismatch> {
    if bytes.is_empty() {
        return Err(mismatch(1, Reason::Empty, "the lines of the template", b"", "no output"));
    }
    if bytes.len() > MAX_OUTPUT_BYTES {
        let expected = format!("at most {MAX_OUTPUT_BYTES} bytes");
        let detail = format!("the output has {} bytes", bytes.len());
        return Err(mismatch(1, Reason::TooLong, &expected, bytes, &detail));
    }
    let body = bytes.strip_suffix(b"\n");
    let mut raw: Vec<&[u8]> = body.unwrap_or(bytes).split(|byte| *byte == b'\n').collect();
    returns(&mut raw, mismatches);
    let mut lines = Vec::with_capacity(raw.len());
    for (number, line) in (1..).zip(&raw) {
        let text = std::str::from_utf8(line).ok();
        if mismatches.len() >= MAX_MISMATCHES {
            // Enough is reported already, and nothing more is matched.
        } else if line.len() > MAX_LINE_BYTES {
            let expected = format!("a line of at most {MAX_LINE_BYTES} bytes");
            let detail = format!("the line has {} bytes", line.len());
            mismatches.push(mismatch(number, Reason::TooLong, &expected, line, &detail));
        } else if text.is_none() {
            let detail = "the line is not UTF-8";
            mismatches.push(mismatch(number, Reason::NotUtf8, "UTF-8 text", line, detail));
        }
        lines.push(text.filter(|_| line.len() <= MAX_LINE_BYTES));
    }
    if body.is_none() {
        let last = raw.last().copied().unwrap_or_default();
        let detail = "the output does not end with a newline";
        let number = raw.len() as u32;
        mismatches.push(mismatch(number, Reason::NoFinalNewline, "a final newline", last, detail));
    }
    Ok(Output { lines })
}

/// Cuts carriage returns off the ends of lines, with one mismatch for all of them.
fn returns(raw: &mut [&[u8]], mismatches: &mut Vec<Mismatch>) {
    let mut count = 0;
    let mut first = None;
    for (number, line) in (1..).zip(raw.iter_mut()) {
        if let Some(cut) = line.strip_suffix(b"\r") {
            first.get_or_insert((number, *line));
            count += 1;
            *line = cut;
        }
    }
    if let Some((number, line)) = first {
        let detail = format!("{} with CRLF, first this one", ends(count));
        let expected = "a line that ends with `\\n` alone";
        mismatches.push(mismatch(number, Reason::CarriageReturn, expected, line, &detail));
    }
}

/// That a program printed nothing at all, where its manifest has no template.
pub fn expect_nothing(output: &[u8]) -> Result<(), Mismatch> {
    if output.is_empty() {
        return Ok(());
    }
    let line = output.split(|byte| *byte == b'\n').next().unwrap_or_default();
    Err(mismatch(1, Reason::TooManyLines, "no output", line, "the manifest has no template for it"))
}

fn ends(count: u32) -> String {
    format!("{} end{}", plural(count, "line"), if count == 1 { "s" } else { "" })
}

fn mismatch(line: u32, reason: Reason, expected: &str, found: &[u8], detail: &str) -> Mismatch {
    let (expected, detail) = (expected.to_owned(), detail.to_owned());
    Mismatch { line, template_line: None, reason, expected, found: quote(found), detail }
}
