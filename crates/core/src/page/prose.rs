//! Prose states no measured number: only regions do, and they come from reviewed records.

use super::Page;
use crate::finding::{Finding, Findings, Place, Rule};

/// Warns of numbers with a unit of time or rate in prose. Regions, code and HTML comments are not
/// prose. Plain seconds are left out: timeouts and the like are too common. A paragraph or table
/// right below `<!-- not measured: WHERE FROM -->` is excused: its numbers are computed or cited.
pub fn measured_numbers(page: &Page) -> Findings {
    let mut findings = Findings::new();
    let mut in_comment = false;
    let mut excused_up_to = None;
    for (line, range) in &page.prose {
        let text = page.text.get(range.clone()).unwrap_or_default();
        let goes_on = !text.trim().is_empty() && excused_up_to == line.checked_sub(1);
        excused_up_to = (goes_on || says_where_from(text)).then_some(*line);
        if excused_up_to.is_some() {
            continue;
        }
        let shown = without_comments(&without_inline_code(text), &mut in_comment);
        for number in numbers_with_units(&shown) {
            let fact = format!("prose states what looks like a measured number: `{number}`");
            let next = "let a record region show it, claim it with `<!-- holds: … -->`, or say where it is \
                        from with `<!-- not measured: … -->` above";
            let place = Place::line(&page.path, *line);
            findings.push(Finding::warning(Rule::ProseNumber, place, fact, next));
        }
    }
    findings
}

/// Whether a line is the comment that excuses what follows, with a word about it.
fn says_where_from(line: &str) -> bool {
    let inner = line.strip_prefix("<!-- not measured:").and_then(|rest| rest.strip_suffix("-->"));
    inner.is_some_and(|reason| !reason.trim().is_empty() && !reason.contains("--"))
}

/// The line with inline code made blanks; offsets stay.
pub(super) fn without_inline_code(line: &str) -> String {
    // A run of backticks is closed by the next run of its length; where the runs are is found once,
    // so that a line of many runs stays linear but for the search among equal lengths.
    let mut runs: Vec<(usize, usize)> = Vec::new();
    let mut run_start = None;
    for (at, byte) in line.bytes().chain(std::iter::once(0)).enumerate() {
        match (byte == b'`', run_start) {
            (true, None) => run_start = Some(at),
            (false, Some(start)) => {
                runs.push((start, at - start));
                run_start = None;
            }
            _ => {}
        }
    }
    let mut later: std::collections::BTreeMap<usize, Vec<usize>> =
        std::collections::BTreeMap::new();
    for (index, (_, length)) in runs.iter().enumerate().rev() {
        later.entry(*length).or_default().push(index);
    }
    let mut shown = line.as_bytes().to_vec();
    let mut index = 0;
    while let Some((start, length)) = runs.get(index).copied() {
        let same = later.entry(length).or_default();
        while same.last().is_some_and(|other| *other <= index) {
            same.pop();
        }
        index += 1;
        if let Some(close) = same.last().copied() {
            shown[start..runs[close].0 + length].fill(b' ');
            index = close + 1;
        }
    }
    String::from_utf8(shown).expect("whole characters are made blanks, up to a backtick")
}

/// The line with HTML comments made blanks, `in_comment` carried from line to line.
fn without_comments(line: &str, in_comment: &mut bool) -> String {
    let (mut shown, mut rest) = (String::with_capacity(line.len()), line);
    loop {
        let mark = if *in_comment { "-->" } else { "<!--" };
        let (before, after) = match rest.split_once(mark) {
            Some((before, after)) => (before, Some(after)),
            None => (rest, None),
        };
        if !*in_comment {
            shown.push_str(before);
        }
        let Some(after) = after else { return shown };
        shown.push(' ');
        *in_comment = !*in_comment;
        rest = after;
    }
}

/// Longer units first, where one starts another.
const UNITS: &[&str] = &[
    "nanoseconds",
    "microseconds",
    "milliseconds",
    "nanosecond",
    "microsecond",
    "millisecond",
    "ns",
    "us",
    "µs",
    "μs",
    "ms",
    "B/s",
    "KB/s",
    "kB/s",
    "MB/s",
    "GB/s",
    "TB/s",
    "KiB/s",
    "MiB/s",
    "GiB/s",
    "TiB/s",
    "Mbit/s",
    "Gbit/s",
    "Tbit/s",
    "MFLOP/s",
    "GFLOP/s",
    "TFLOP/s",
    "PFLOP/s",
    "MFLOPS",
    "GFLOPS",
    "TFLOPS",
    "PFLOPS",
];

fn numbers_with_units(line: &str) -> Vec<String> {
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'');
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = line[at..].find(|c: char| c.is_ascii_digit()).map(|length| at + length)
    {
        let rest = &line[start..];
        let end = start + rest.find(|c| !is_number(c)).unwrap_or(rest.len());
        let own = !line[..start].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let unit = unit_after(&line[end..]).filter(|_| own);
        found.extend(unit.map(|unit| format!("{} {unit}", &line[start..end])));
        at = end;
    }
    found
}

/// The unit that follows a number, blanks and emphasis aside.
fn unit_after(text: &str) -> Option<&'static str> {
    let mut text = text;
    for gap in ["**", "*", "&nbsp;", "&thinsp;"] {
        text = text.strip_prefix(gap).unwrap_or(text);
    }
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '-');
    UNITS.iter().copied().find(|unit| {
        let rest = text.strip_prefix(unit);
        rest.is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    })
}

#[cfg(test)]
#[path = "prose_tests.rs"]
mod tests;
