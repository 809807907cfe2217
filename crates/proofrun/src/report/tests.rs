//! Reports of hostile texts: names, reasons and findings that try to end a cell, a section, a line
//! or a terminal's patience. Every form must still be well formed, and show all of the text.

use proofrun_core::escape::is_hostile;
use proofrun_core::{Finding, Place, Rule};

use super::*;

/// It closes a CDATA section and a cell, starts a workflow command, sets a colour, turns the
/// reading direction, and holds what XML can't.
const HOSTILE: &str = "]]>\u{1b}[31m|\n::error::x\r\u{ffff}\u{0}<b>&`*`\\|[a](b)\u{202e}end";

/// The same with everything to be seen that can't be shown.
const SHOWN: &str =
    "]]>\\u{1b}[31m|\\u{a}::error::x\\u{d}\u{ffff}\\u{0}<b>&`*`\\|[a](b)\\u{202e}end";

fn report() -> Report {
    let place = Place::line(HOSTILE, 3);
    let finding = Finding::error(Rule::Builds, place, HOSTILE, HOSTILE).because(HOSTILE);
    let reason = || HOSTILE.to_owned();
    let step = |outcome| Step { name: HOSTILE.to_owned(), outcome };
    let lesson = LessonReport {
        lesson: HOSTILE.to_owned(),
        folder: HOSTILE.to_owned(),
        state: Some(HOSTILE.to_owned()),
        steps: vec![
            step(Outcome::Failed),
            step(Outcome::Gated { reason: reason() }),
            step(Outcome::NotExecuted { reason: reason() }),
        ],
        findings: vec![finding.clone()],
    };
    Report::new(vec![lesson], vec![finding])
}

fn has_hostile(text: &str) -> bool {
    text.chars().any(|c| c != '\n' && is_hostile(c))
}

#[test]
fn junit_is_xml_that_reads_back_whole() {
    let xml = junit::junit(&report()).unwrap();
    assert!(!has_hostile(&xml), "{xml:?}");
    let read = quick_junit::Report::deserialize_from_str(&xml).unwrap();
    let names: Vec<&str> = read.test_suites.iter().map(|suite| suite.name.as_str()).collect();
    let shown = SHOWN.replace('\u{ffff}', "\\u{ffff}");
    assert_eq!(names, [shown.as_str(), "course"]);
    let cases = &read.test_suites[0].test_cases;
    assert_eq!(cases.len(), 4);
    assert!(cases[..3].iter().all(|case| case.name.as_str() == shown));
    assert_eq!((read.tests, read.failures), (5, 3), "{xml}");
    for (case, expect) in [(&cases[1], "gated: "), (&cases[2], "not executed: ")] {
        let quick_junit::TestCaseStatus::Skipped { message, .. } = &case.status else {
            panic!("{case:?}");
        };
        assert_eq!(message.as_ref().unwrap().as_str(), format!("{expect}{shown}"));
    }
}

/// The cells of a row of a Markdown table: a bar that a backslash precedes ends none.
fn cells(row: &str) -> usize {
    let (mut cells, mut escaped) = (0, false);
    for c in row.chars() {
        cells += usize::from(c == '|' && !escaped);
        escaped = c == '\\' && !escaped;
    }
    cells - 1
}

#[test]
fn the_summary_stays_a_table_a_list_and_a_line() {
    let text = github::summary(&report());
    assert!(!has_hostile(&text), "{text:?}");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 7, "{text}");
    assert!(lines[..3].iter().all(|row| cells(row) == 5), "{text}");
    assert!(lines[4].starts_with("- **error** "), "{text}");
    assert!(lines[6].starts_with("1 lesson, "), "{text}");
    // Of what stands in the text, nothing starts markup: each such character is escaped.
    assert!(!text.contains("]<") && !text.contains("[a]") && !text.contains(" <b>"), "{text}");
    assert!(text.contains("\\<b\\>\\&\\`\\*\\`\\\\\\|\\[a\\](b)"), "{text}");
}

#[test]
fn an_annotation_is_one_line_and_one_command() {
    let text = github::annotations(&report());
    assert!(!has_hostile(&text), "{text:?}");
    assert_eq!(text.lines().count(), 2, "{text}");
    for line in text.lines() {
        let (properties, message) = line[2..].split_once("::").unwrap();
        assert!(properties.starts_with("error file=]]>"), "{line}");
        // The commas between properties, and no others.
        assert_eq!(properties.matches(',').count(), 2, "{line}");
        assert!(properties.ends_with("line=3,title=builds"), "{line}");
        assert!(message.contains("%0A::error::x"), "{line}");
    }
}

#[test]
fn what_is_quoted_on_github_gives_no_command() {
    let text = github::without_commands("a\n  ::error::x", "t0k3n");
    assert_eq!(text, "::stop-commands::t0k3n\na\n  ::error::x\n::t0k3n::\n");
}

#[test]
fn a_terminal_gets_nothing_that_moves_it() {
    let text = terminal::terminal(&report());
    // The colours are the report's own; what is quoted brings none.
    assert!(!text.contains("\u{1b}[31m|"), "{text:?}");
    assert!(text.contains("\\u{1b}[31m|"), "{text:?}");
    let text = anstream::adapter::strip_str(&text).to_string();
    assert!(!has_hostile(&text), "{text:?}");
    let text = json::json(&report()).unwrap();
    assert!(!has_hostile(&text), "{text:?}");
    serde_json::from_str::<serde_json::Value>(&text).unwrap();
}
