//! What would be published, against what stands.

use proofrun_core::assess::{LessonText, text::record_regions};
use proofrun_core::page::Region;
use proofrun_core::publication::{Rendering, body, facts, is_blank, record_body, verified_lines};
use proofrun_core::state::{Pair, Shown};
use similar::{ChangeTag, TextDiff};

use super::Subject;
use super::rows::{ADDED, ODD, PLAIN, REMOVED, Rows};

/// What stands for the reviewer until he signs.
const NAME: &str = "NAME";

/// What stands for the day until he signs.
const DAY: &str = "DAY";

/// What stands for the facts of device, build and record once they were shown.
const FACTS: &str = "{device, build and record as above}";

/// Every part of the rendering: in the regions that would show it, and what no region shows.
pub fn show(subject: &Subject<'_>, rendering: &Rendering, rows: &mut Rows) {
    let Some(text) = &subject.lesson.assessment.text else { return };
    let primary = subject.lesson.assessment.primary.as_ref();
    let pair = &subject.evidence.pair;
    rows.label("page");
    let mut parts = Parts { facts: facts(&subject.record.examined), told: false, seen: Vec::new() };
    for (_, region) in record_regions(&text.page) {
        if text.region_pair(region, primary).as_ref() == Some(pair)
            && let Some(part) = record_body(&text.lesson, region, rendering)
        {
            parts.region(text, region, pair, part, rows);
        }
    }
    if primary == Some(pair) {
        header(subject, text, pair, rows);
    }
    let programs = rendering.programs.iter();
    let further = programs.flat_map(|it| [("output", &it.output), ("spread", &it.spread)]);
    for (name, part) in std::iter::once(("state", &rendering.state)).chain(further) {
        if !parts.seen.contains(part) {
            rows.marked(ODD, "! ", format!("{name}: signed with the rest; no region shows it"));
            rows.lines(PLAIN, "| ", &parts.shortened(part));
        }
    }
}

/// The parts shown so far.
struct Parts {
    facts: String,
    told: bool,
    seen: Vec<String>,
}

impl Parts {
    fn region(
        &mut self,
        text: &LessonText,
        region: &Region,
        pair: &Pair,
        part: String,
        rows: &mut Rows,
    ) {
        let stands = text.region_body(region);
        let page = text.page_path().file_name().unwrap_or_default();
        let place = format!("{page}:{} {}", region.open_line, region.name);
        if body(&text.lesson, region, pair, &Shown::Blank).as_deref() == Some(stands) {
            let ends = format!("ends with: Reviewed by `{NAME}` on {DAY}.");
            rows.row(format!("{place}, blank today; {ends}"));
            rows.lines(ADDED, "+ ", &self.shortened(&part));
        } else {
            rows.row(place);
            changed_lines(stands, &format!("{part}Reviewed by `{NAME}` on {DAY}.\n"), rows);
            self.told |= part.contains(&self.facts);
        }
        self.seen.push(part);
    }

    /// A part without the facts, where they stand above already. They come in the harness's own
    /// lines only, so a program that prints the placeholder gains nothing: what it prints stands
    /// between fences.
    fn shortened(&mut self, part: &str) -> String {
        if self.told {
            return part.replace(&self.facts, FACTS);
        }
        self.told = part.contains(&self.facts);
        part.to_owned()
    }
}

fn header(subject: &Subject<'_>, text: &LessonText, pair: &Pair, rows: &mut Rows) {
    for program in &text.lesson.programs {
        let Some(paragraph) = &program.header.status else {
            rows.marked(ODD, "! ", format!("{} has no status paragraph to fill", program.source));
            continue;
        };
        let new = verified_lines(pair, &subject.record.examined, &program.name, NAME, DAY);
        let place = format!("{}:{} header", program.source, paragraph.first_line);
        if is_blank(&paragraph.lines) {
            rows.row(format!("{place}, UNVERIFIED today"));
            rows.lines(ADDED, "+ ", &new.join("\n"));
        } else {
            rows.row(place);
            changed_lines(&paragraph.lines.join("\n"), &new.join("\n"), rows);
        }
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
