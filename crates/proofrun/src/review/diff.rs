//! What would be published, against what stands.

use proofrun_core::assess::{LessonText, text::record_regions};
use proofrun_core::page::Region;
use proofrun_core::publication::{Rendering, body, record_body, verified_lines};
use proofrun_core::state::{Pair, Shown};
use similar::{ChangeTag, TextDiff};

use super::Subject;
use super::rows::{ADDED, ODD, PLAIN, REMOVED, Rows};

/// What stands for the reviewer until he signs.
const NAME: &str = "NAME";

/// What stands for the day until he signs.
const DAY: &str = "DAY";

/// Every part of the rendering: in the regions that would show it, and what no region shows.
pub fn show(subject: &Subject<'_>, rendering: &Rendering, rows: &mut Rows) {
    let Some(text) = &subject.lesson.assessment.text else { return };
    let primary = subject.lesson.assessment.primary.as_ref();
    let pair = &subject.evidence.pair;
    rows.heading(&format!(
        "Would be published (+) where this stands (-); {NAME} and {DAY} become the reviewer's"
    ));
    let mut shown: Vec<String> = Vec::new();
    for (_, region) in record_regions(&text.page) {
        if text.region_pair(region, primary).as_ref() != Some(pair) {
            continue;
        }
        if let Some(part) = record_body(&text.lesson, region, rendering) {
            one_region(text, region, pair, &part, rows);
            shown.push(part);
        }
    }
    if primary == Some(pair) {
        header(subject, text, pair, rows);
    }
    let programs = rendering.programs.iter();
    let parts = programs.flat_map(|it| [("output", &it.output), ("spread", &it.spread)]);
    for (name, part) in std::iter::once(("state", &rendering.state)).chain(parts) {
        if !shown.contains(part) {
            rows.marked(
                ODD,
                "",
                format!("{name}: signed with the rest, and no region of the page shows it"),
            );
            rows.lines(PLAIN, "| ", part);
        }
    }
}

fn one_region(text: &LessonText, region: &Region, pair: &Pair, part: &str, rows: &mut Rows) {
    let stands = text.region_body(region);
    let place = format!(
        "{}:{} {}",
        text.page_path().file_name().unwrap_or(""),
        region.open_line,
        region.name
    );
    let new = format!("{part}Reviewed by `{NAME}` on {DAY}.\n");
    if body(&text.lesson, region, pair, &Shown::Blank).as_deref() == Some(stands) {
        rows.row(format!("{place} (blank today)"));
        rows.lines(ADDED, "+ ", &new);
    } else {
        rows.row(place);
        changed_lines(stands, &new, rows);
    }
}

fn header(subject: &Subject<'_>, text: &LessonText, pair: &Pair, rows: &mut Rows) {
    let new = verified_lines(pair, &subject.record.examined, NAME, DAY).join("\n");
    for program in &text.lesson.programs {
        let Some(paragraph) = &program.header.status else {
            rows.marked(ODD, "", format!("{} has no status paragraph to fill", program.source));
            continue;
        };
        let word = paragraph.word.as_str();
        rows.row(format!("{}:{} ({word} today)", program.source, paragraph.first_line));
        changed_lines(&paragraph.lines.join("\n"), &new, rows);
    }
}

/// The lines that go and those that come; what stays is counted.
fn changed_lines(old: &str, new: &str, rows: &mut Rows) {
    let diff = TextDiff::from_lines(old, new);
    let mut same = 0;
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Equal => same += 1,
            ChangeTag::Delete => rows.lines(REMOVED, "- ", change.value()),
            ChangeTag::Insert => rows.lines(ADDED, "+ ", change.value()),
        }
    }
    if same > 0 {
        rows.row(format!("= {same} lines stay"));
    }
}
