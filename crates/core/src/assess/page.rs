//! What the page, the header and the snapshots say, against what they may say.

use std::collections::{BTreeMap, BTreeSet};

use camino::Utf8Path;

use crate::finding::{Finding, Findings, Place, Rule};
use crate::page::{Region, RegionKind};
use crate::publication::{body, is_blank, snapshot, snapshot_name, status_lines};
use crate::source::Header;
use crate::state::{Evidence, PageChoice, PageState, Pair, Shown, page_state};

use super::files::{LessonFiles, SNAPSHOTS_FOLDER};
use super::text::LessonText;

/// The page's state and what is wrong with it.
#[derive(Debug)]
pub struct Compared {
    /// Derived from what every part holds.
    pub state: PageState,
    /// Each part that holds none of its legitimate texts, and each that says something else than
    /// its fellows.
    pub findings: Findings,
}

/// Compares every `record` region, the status paragraph and the snapshots.
pub fn compare(
    files: &LessonFiles,
    text: &LessonText,
    evidence: &BTreeMap<Pair, Evidence>,
    primary: Option<&Pair>,
) -> Compared {
    let mut findings = Vec::new();
    let (mut of_primary, mut of_others) = (Vec::new(), Vec::new());
    let mut on_page: BTreeSet<Pair> = BTreeSet::new();
    let mut lacking = Vec::new();
    for region in text.page.regions.iter().filter(|region| region.kind == RegionKind::Record) {
        if text.region_program(region).is_none() {
            let name = region.program.as_deref().unwrap_or_default();
            let fact = format!("the lesson has no program `{name}`");
            let place = Place::line(text.page_path(), region.open_line);
            let next = "name a program of the lesson, or none";
            findings.push(Finding::error(Rule::RegionProgram, place, fact, next));
            continue;
        }
        let pair = text.region_pair(region, primary);
        let choice = region_choice(text, region, pair.as_ref(), evidence);
        if choice == PageChoice::Neither {
            findings.push(drifted_region(text, region, pair.as_ref(), evidence));
        }
        on_page.extend(pair.clone().filter(|_| choice == PageChoice::Current));
        if pair.as_ref() == primary { &mut of_primary } else { &mut of_others }.push(choice);
    }
    findings.extend(emulated(text));
    for (index, program) in text.lesson.programs.iter().enumerate() {
        let Some(paragraph) = &program.header.status else {
            // A source whose header isn't of this form (its commands stand in the manifest) has
            // none.
            if program.header.build.is_some() {
                lacking.push(index);
            }
            continue;
        };
        let choice = header_choice(&program.name, &paragraph.lines, primary, evidence);
        if choice == PageChoice::Neither {
            findings.push(drifted_header(text, index, primary, evidence));
        }
        on_page.extend(primary.cloned().filter(|_| choice == PageChoice::Current));
        of_primary.push(choice);
    }
    let shows = |choice: &PageChoice| *choice != PageChoice::Blank;
    let something = files.has_evidence() || of_primary.iter().chain(&of_others).any(shows);
    for index in lacking {
        let matters = something || writes_status(files, text, index);
        findings.push(no_paragraph(text, index, matters));
        of_primary.extend(matters.then_some(PageChoice::Neither));
    }
    let state = page_state(&of_primary, &of_others);
    if state == PageState::Drifted && findings.is_empty() {
        findings.push(disagreeing(text));
    }
    check_snapshots(files, text, evidence, &on_page, &mut findings);
    Compared { state, findings }
}

/// Regions and assertions on a build that the lesson neither declares nor has records of: nothing
/// could ever fill or test them.
pub fn targets(text: &LessonText, evidence: &BTreeMap<Pair, Evidence>) -> Findings {
    let regions = text.page.regions.iter().map(|region| (&region.target, region.open_line));
    let holds = text.page.holds.iter().map(|holds| (&holds.target, holds.line));
    let mut findings = Vec::new();
    for (target, line) in regions.chain(holds) {
        let Some(target) = target else { continue };
        let pair = Pair::new(&*target.model, &*target.variant);
        let recorded = evidence.get(&pair).is_some_and(|of_pair| !of_pair.records.is_empty());
        let declared = text.lesson.variants.iter().any(|variant| variant.name == target.variant);
        if !recorded && !declared {
            let fact = format!("the lesson has no build variant `{}`", target.variant);
            let place = Place::line(text.page_path(), line);
            let next = "name a variant of the manifest, or declare this one";
            findings.push(Finding::error(Rule::TargetUnknown, place, fact, next));
        }
    }
    findings
}

/// No emulated run is rendered yet, so a region of one is empty: what stands in it was typed.
fn emulated(text: &LessonText) -> Findings {
    let regions = text.page.regions.iter().filter(|found| found.kind == RegionKind::Emulated);
    let typed = regions.filter(|region| !text.region_body(region).trim().is_empty());
    let finding = |region: &Region| {
        let fact = format!("region `emulated: {}` shows what no run printed", region.name);
        let place = Place::line(text.page_path(), region.open_line);
        Finding::error(Rule::RegionDrifted, place, fact, "empty it, or remove the region")
    };
    typed.map(finding).collect()
}

/// What a pair may show besides the blank.
fn shown<'a>(pair: Option<&Pair>, evidence: &'a BTreeMap<Pair, Evidence>) -> &'a Shown {
    pair.and_then(|pair| evidence.get(pair)).map_or(&Shown::Blank, |evidence| &evidence.shown)
}

fn region_choice(
    text: &LessonText,
    region: &Region,
    pair: Option<&Pair>,
    evidence: &BTreeMap<Pair, Evidence>,
) -> PageChoice {
    let found = text.region_body(region);
    let unnamed = Pair::new("", "");
    let pair_or = pair.unwrap_or(&unnamed);
    if body(&text.lesson, region, pair_or, &Shown::Blank).as_deref() == Some(found) {
        return PageChoice::Blank;
    }
    let shown = shown(pair, evidence);
    if body(&text.lesson, region, pair_or, shown).as_deref() != Some(found) {
        return PageChoice::Neither;
    }
    choice_of(shown)
}

fn header_choice(
    program: &str,
    found: &[String; 3],
    primary: Option<&Pair>,
    evidence: &BTreeMap<Pair, Evidence>,
) -> PageChoice {
    let unnamed = Pair::new("", "");
    let pair = primary.unwrap_or(&unnamed);
    if is_blank(found) {
        return PageChoice::Blank;
    }
    let shown = shown(primary, evidence);
    if *found == status_lines(pair, shown, program) {
        choice_of(shown)
    } else {
        PageChoice::Neither
    }
}

fn choice_of(shown: &Shown) -> PageChoice {
    match shown {
        Shown::Blank => PageChoice::Blank,
        Shown::Current(_) => PageChoice::Current,
        Shown::Withdrawn(_) => PageChoice::Withdrawn,
    }
}

fn drifted_region(
    text: &LessonText,
    region: &Region,
    pair: Option<&Pair>,
    evidence: &BTreeMap<Pair, Evidence>,
) -> Finding {
    let place = Place::line(text.page_path(), region.open_line);
    let fact = format!("region `{}` shows what no reviewed record says", region.name);
    let finding = Finding::error(Rule::RegionDrifted, place, fact, next_step(pair, evidence));
    finding.because(match shown(pair, evidence) {
        Shown::Blank => "nothing of this pair is reviewed, so only the blank may stand here".into(),
        Shown::Current(reviewed) => {
            format!(
                "it differs from the rendering of record `{}`",
                reviewed.examined().digest.short()
            )
        }
        Shown::Withdrawn(withdrawal) => {
            format!("record `{}` was taken back", withdrawal.record.short())
        }
    })
}

fn drifted_header(
    text: &LessonText,
    program: usize,
    primary: Option<&Pair>,
    evidence: &BTreeMap<Pair, Evidence>,
) -> Finding {
    let program = &text.lesson.programs[program];
    let line = program.header.status.as_ref().map_or(1, |paragraph| paragraph.first_line);
    let place = Place::line(text.lesson.folder.join(&program.source), line);
    let fact = "the status paragraph says what isn't so";
    let next = next_step(primary, evidence);
    Finding::error(Rule::StatusDrifted, place, fact, next).because(match shown(primary, evidence) {
        Shown::Blank => "nothing is reviewed, so only the UNVERIFIED paragraph may stand here",
        Shown::Current(_) => "it is neither the UNVERIFIED paragraph nor the reviewed record's",
        Shown::Withdrawn(_) => "it is neither the UNVERIFIED paragraph nor the WITHDRAWN one",
    })
}

/// Whether a program says a status without a paragraph that can be read: in a malformed one, or in
/// another place.
fn writes_status(files: &LessonFiles, text: &LessonText, program: usize) -> bool {
    let path = &text.lesson.programs[program].source;
    let source = files.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let (_, faults) = Header::parse(path, source.unwrap_or_default());
    let of_status = |rule| matches!(rule, Rule::StatusParagraph | Rule::StatusElsewhere);
    faults.iter().any(|fault| of_status(fault.rule))
}

/// A lesson that says no status, and that nothing was ever recorded or shown of, makes no claim
/// that the paragraph could contradict.
fn no_paragraph(text: &LessonText, program: usize, matters: bool) -> Finding {
    let place = Place::line(text.lesson.folder.join(&text.lesson.programs[program].source), 1);
    let fact = "the header has no status paragraph that can be read";
    let next = "add `// Status: UNVERIFIED` and its two lines, as `new` writes them";
    match matters {
        true => Finding::error(Rule::StatusParagraph, place, fact, next),
        false => Finding::warning(Rule::StatusParagraph, place, fact, next),
    }
}

fn next_step(pair: Option<&Pair>, evidence: &BTreeMap<Pair, Evidence>) -> String {
    match shown(pair, evidence) {
        Shown::Blank => "run `sync`, which puts the blank text back; or record, review, publish",
        Shown::Current(_) => "undo the edit, or run `publish`",
        Shown::Withdrawn(_) => "run `withdraw`",
    }
    .to_owned()
}

/// Each part holds a legitimate text, and not all the same one.
fn disagreeing(text: &LessonText) -> Finding {
    let fact = "the header and the page's regions say different things about what is verified";
    let next = "run `publish` (or `withdraw` after a revocation), or put all of them back to blank";
    Finding::error(Rule::StatusDrifted, Place::file(text.page_path()), fact, next)
}

/// Each pair that the page shows has its snapshot, byte for byte, and nothing else has one.
fn check_snapshots(
    files: &LessonFiles,
    text: &LessonText,
    evidence: &BTreeMap<Pair, Evidence>,
    on_page: &BTreeSet<Pair>,
    findings: &mut Findings,
) {
    let mut expected = BTreeMap::new();
    for pair in on_page {
        if let Some(Shown::Current(reviewed)) = evidence.get(pair).map(|of_pair| &of_pair.shown) {
            expected.insert(snapshot_name(pair), snapshot(reviewed));
        }
    }
    let mut differs = |path: &Utf8Path, fact: &str, next: &str| {
        let place = Place::file(text.lesson.folder.join(path));
        findings.push(Finding::error(Rule::SnapshotDrifted, place, fact, next));
    };
    for (path, bytes) in files.files.iter().filter(|(path, _)| path.starts_with(SNAPSHOTS_FOLDER)) {
        let name = path.strip_prefix(SNAPSHOTS_FOLDER).map_or("", |name| name.as_str());
        let fact = match expected.remove(name) {
            Some(expect) if expect.as_bytes() == bytes.as_slice() => continue,
            Some(_) => "snapshot differs from the reviewed record's rendering",
            None => "snapshot of something that the page doesn't show from a reviewed record",
        };
        differs(
            path,
            fact,
            "run `publish`, or `withdraw` after a revocation: they alone write snapshots",
        );
    }
    for name in expected.into_keys() {
        let path = Utf8Path::new(SNAPSHOTS_FOLDER).join(name);
        differs(&path, "the page shows a record whose snapshot is missing", "run `publish`");
    }
}
