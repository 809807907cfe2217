//! Figures where nothing compares them: text outside of `record` regions that reads like a lesson's
//! output or like what is published of it.
//!
//! **Invariant: whatever looks published is in a region, where it is compared.** Only what a reader
//! sees counts: tags, emphasis and quoting are taken off first. A number that a sentence states in
//! other words is not found here; `page::measured_numbers` warns of those.

use camino::Utf8Path;

use crate::finding::{Finding, Findings, Place, Rule};
use crate::page::{Page, RegionKind};
use crate::template::Template;

use super::files::{LessonFiles, PAGE_FILE};
use super::text::LessonText;

/// How many are reported of one file.
const REPORTED_MAX: usize = 20;

/// What besides the page is shown to readers as text.
const SHOWN: [&str; 12] =
    ["md", "markdown", "mdx", "html", "htm", "txt", "svg", "rst", "csv", "json", "ipynb", "xml"];

/// What `publish` alone writes, as a reader sees it.
const PUBLISHED: [&str; 4] = ["VERIFIED. ", "WITHDRAWN since ", "Reviewed by ", "Over "];

/// One finding a line that looks like output and stands where nothing compares it.
pub fn findings(files: &LessonFiles, text: &LessonText) -> Findings {
    let looks = Looks::of(text);
    let mut findings = Vec::new();
    looks.look(&text.page.path, &outside(&text.page), &mut findings);
    for (path, bytes) in &files.files {
        let extension = path.extension().map(str::to_ascii_lowercase);
        let is_shown = extension.is_some_and(|found| SHOWN.contains(&found.as_str()));
        if path.as_str() != PAGE_FILE && is_shown && !files.is_kept(path) {
            let shown = String::from_utf8_lossy(bytes);
            looks.look(&files.folder.join(path), &shown, &mut findings);
        }
    }
    findings
}

/// The page with the lines of compared regions emptied; line numbers stay.
fn outside(page: &Page) -> String {
    let mut lines: Vec<&str> = page.text.lines().collect();
    for region in page.regions.iter().filter(|region| region.kind != RegionKind::Emulated) {
        let inside = region.open_line as usize..(region.close_line as usize).saturating_sub(1);
        if let Some(lines) = lines.get_mut(inside) {
            lines.fill("");
        }
    }
    lines.join("\n")
}

/// What a lesson's output looks like: for each measured line of its templates the text before the
/// first measured number; and the names of measured fields.
struct Looks {
    starts: Vec<String>,
    fields: Vec<String>,
}

impl Looks {
    fn of(text: &LessonText) -> Self {
        let templates = text.lesson.programs.iter().map(|program| &program.template);
        let (mut starts, mut fields) = (Vec::new(), Vec::new());
        for template in templates {
            starts.extend(measured_starts(template));
            let measured = template.fields().filter(|field| field.is_measured());
            fields.extend(measured.filter_map(|field| field.name.clone()));
        }
        starts.sort();
        starts.dedup();
        Self { starts, fields }
    }

    fn look(&self, path: &Utf8Path, text: &str, findings: &mut Findings) {
        let lines = text.lines().zip(1_u32..).filter(|(line, _)| self.is_output(line));
        for (_, number) in lines.take(REPORTED_MAX) {
            let fact = "this line reads like published output, and stands outside of any region";
            let next = "move it into a `record` region, where `publish` writes it; or word it anew";
            let place = Place::line(path, number);
            let finding = Finding::error(Rule::OutputPasted, place, fact, next);
            findings.push(finding.because("only what stands in a region is compared"));
        }
    }

    fn is_output(&self, line: &str) -> bool {
        let seen = seen(line);
        let published = PUBLISHED.iter().any(|start| {
            // `Over 5 fresh processes: …`, and no other sentence that begins so.
            seen.starts_with(start) && (*start != "Over " || seen.contains(" fresh processes"))
        });
        let run = seen.starts_with("Run ") && seen.contains("whole and as printed");
        let row = || {
            let cells: Vec<&str> = seen.split('|').map(str::trim).collect();
            let is_field = |cell: &str| self.fields.iter().any(|field| field == cell);
            matches!(cells[..], ["", first, second, ..] if is_field(first) && starts_number(second))
        };
        published || run || row() || self.starts.iter().any(|start| states(&seen, start))
    }
}

/// For each line of a template with a measured field what stands before that, as a reader sees it.
fn measured_starts(template: &Template) -> Vec<String> {
    let starts = template.lines().filter_map(|line| template.text_before_measured(line));
    starts.map(|text| seen(&text)).filter(|text| text.chars().any(char::is_alphabetic)).collect()
}

/// Whether a line holds this text as words of its own, and a decimal number right behind it.
fn states(line: &str, start: &str) -> bool {
    line.match_indices(start).any(|(at, _)| {
        let own = !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '/');
        own && starts_number(line[at + start.len()..].trim_start())
    })
}

/// Whether a text starts with digits, a point and digits.
fn starts_number(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let fraction = rest.strip_prefix('.');
    rest.len() < text.len() && fraction.is_some_and(|f| f.starts_with(|c: char| c.is_ascii_digit()))
}

/// A line as it is seen: without tags, emphasis, code marks and quoting, blanks as one.
fn seen(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('<') {
        text.push_str(&rest[..start]);
        // A tag starts with a letter, `/` or `!`; any other `<` is itself.
        let is_tag = rest[start + 1..]
            .starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!'));
        let end = rest[start..].find('>').filter(|_| is_tag);
        let Some(end) = end else {
            text.push('<');
            rest = &rest[start + 1..];
            continue;
        };
        rest = &rest[start + end + 1..];
    }
    text.push_str(rest);
    for blank in ["&nbsp;", "&#160;", "&thinsp;", "&ensp;", "&emsp;"] {
        text = text.replace(blank, " ");
    }
    let text: String = text.chars().filter(|c| !matches!(c, '*' | '`' | '\\' | '~')).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.trim_start_matches(['>', '-', '+', ' ', '"', '#']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_reader_sees_is_what_counts() {
        for (line, expect) in [
            ("one:   0.009 ms", true),
            ("> **one**: `0.009`&nbsp;ms", true),
            ("<text x=\"1\">one: 0.009 ms</text>", true),
            ("a < b, and one: 0.009", true),
            ("one: {a:ms.3}", false),
            ("one: 9 of them", false),
            ("everyone: 0.009", false),
            ("onerous", false),
        ] {
            assert_eq!(states(&seen(line), "one:"), expect, "{line}");
        }
    }
}
