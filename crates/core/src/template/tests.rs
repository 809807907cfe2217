//! What a template accepts and refuses, as tables: each row a template, an output and the
//! differences.

mod formats;
mod outputs;
mod random;
mod reader;
mod runs;

use super::*;
use crate::device::Capability;

fn h200() -> DeviceFacts {
    DeviceFacts {
        name: "NVIDIA H200".to_owned(),
        compute_capability: Capability { major: 9, minor: 0 },
        sm_count: 132,
        l2_bytes: 62_914_560,
        memory_bytes: 150_109_880_320,
        driver: "580.159.04".to_owned(),
    }
}

fn t4() -> DeviceFacts {
    DeviceFacts {
        name: "Tesla T4".to_owned(),
        compute_capability: Capability { major: 7, minor: 5 },
        sm_count: 40,
        l2_bytes: 4_194_304,
        memory_bytes: 15_642_329_088,
        driver: "535.104.05".to_owned(),
    }
}

fn parse(text: &str) -> Template {
    Template::parse(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"))
}

/// Matches for an H200 and demands exactly these differences, as line and reason.
#[track_caller]
fn check(template: &str, output: impl AsRef<[u8]>, expect: &[(u32, Reason)]) -> Vec<Mismatch> {
    let found = parse(template).matches(output.as_ref(), &h200()).err().unwrap_or_default();
    let brief: Vec<_> = found.iter().map(|mismatch| (mismatch.line, mismatch.reason)).collect();
    let shown = String::from_utf8_lossy(output.as_ref());
    assert_eq!(brief, expect, "{template}\n--- output\n{shown}\n--- {found:#?}");
    found
}

/// Demands exactly these errors, as line and a part of the message.
#[track_caller]
fn refuse(text: &str, expect: &[(u32, &str)]) {
    let found = Template::parse(text).err().unwrap_or_default();
    let fits = found.len() == expect.len()
        && found.iter().zip(expect).all(|(error, (line, part))| {
            let start = text.as_bytes()[..error.offset].iter().filter(|b| **b == b'\n').count();
            error.line == *line
                && start + 1 == *line as usize
                && error.message.contains(part)
                && !error.hint.is_empty()
        });
    assert!(fits, "{text}\nexpected {expect:?}\nfound {found:#?}");
}

const DAY_75: &str = "\
GPU: {device} (compute capability {cc})
n = 4194915, 4097 tiles of 1024, {blocks = min(2 * sm_count, 4097)} blocks of 256 threads
mean of 10 runs, copies not included
syncthreads:   {a:ms.3} ms
split barrier: {b:ms.3} ms
split/sync:    {r:ratio.3 = b / a in 0.8..1.5}
";

const DAY_75_OUTPUT: &str = "\
GPU: NVIDIA H200 (compute capability 9.0)
n = 4194915, 4097 tiles of 1024, 264 blocks of 256 threads
mean of 10 runs, copies not included
syncthreads:   0.027 ms
split barrier: 0.031 ms
split/sync:    1.131
";

#[test]
fn a_lesson_matches_and_its_fields_are_read() {
    let template = parse(DAY_75);
    assert_eq!(template.assertions(), 6 + 6);
    let names: Vec<_> = template.fields().filter_map(|field| field.name.as_deref()).collect();
    assert_eq!(names, ["blocks", "a", "b", "r"]);
    let run = template.matches(DAY_75_OUTPUT.as_bytes(), &h200()).unwrap();
    assert_eq!(run.lines, 6);
    assert_eq!(run.one("r").unwrap().text, "1.131");
    assert_eq!(run.one("r").unwrap().value, "1.131".parse().unwrap());
    assert_eq!((run.one("nothing"), run.list("r")), (None, None));
    let shown: Vec<String> = template.lines().map(ToString::to_string).collect();
    assert_eq!(shown.join("\n") + "\n", DAY_75);
}

#[test]
fn errors_and_mismatches_become_findings() {
    use crate::finding::{Class, Place, Rule};

    let place = Place::line("lessons/day-75/lesson.toml", 3);
    let found = check("a\nb\n", "a\nx\u{1b}\n", &[(2, Reason::Text)]);
    let finding = &findings(&place, &found)[0];
    assert_eq!((finding.rule, finding.rule.class()), (Rule::OutputMismatch, Class::Mismatch));
    assert_eq!(finding.fact, r"line 2 of the output: expected `b`, found `x\u{1b}`");
    let error = &Template::parse("{nope}\n").unwrap_err()[0];
    assert_eq!(error.finding(place.clone()).rule, Rule::TemplateInvalid);
    assert_eq!(Rule::TemplateInvalid.class(), Class::Drift);
}
