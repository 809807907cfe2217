//! Agreement of runs, and the median run.

use super::*;

fn run(template: &str, output: &str, device: &DeviceFacts) -> Matched {
    parse(template).matches(output.as_bytes(), device).unwrap_or_else(|found| panic!("{found:#?}"))
}

#[track_caller]
fn disagree(runs: &[Matched], expect: &[&str]) {
    let found: Vec<String> = agree(runs).iter().map(ToString::to_string).collect();
    assert_eq!(found, expect);
}

#[test]
fn counts_agree_and_durations_need_not() {
    let text = "{n:count} {t:ms.1 bare} {= n + 1}\n";
    let one = run(text, "5 0.5 6\n", &h200());
    disagree(&[], &[]);
    disagree(std::slice::from_ref(&one), &[]);
    disagree(&[one.clone(), run(text, "5 9.9 6\n", &h200())], &[]);
    disagree(&[one.clone(), run(text, "5 9.9 6\n", &t4())], &[]);
    let other = run(text, "7 0.5 8\n", &t4());
    disagree(
        &[one.clone(), one, other],
        &[
            "runs 0 and 2 disagree in `n`: `5`, `7`",
            "runs 0 and 2 disagree in `{= n + 1}`: `6`, `8`",
        ],
    );
}

#[test]
fn what_follows_from_the_device_is_compared_on_equal_devices() {
    let text = "{n:count} {blocks = n * sm_count}\n";
    let (on_h200, on_t4) = (run(text, "2 264\n", &h200()), run(text, "2 80\n", &t4()));
    disagree(&[on_h200.clone(), on_t4.clone(), on_h200.clone()], &[]);
    let mut wrong = on_t4.clone();
    wrong.readings[1].list[0].text = "81".to_owned();
    disagree(&[on_h200.clone(), on_t4, wrong], &["runs 1 and 2 disagree in `blocks`: `80`, `81`"]);
    let per_sm = "{repeat sm_count / 40}\n{n:count}\n{end}\n";
    disagree(&[run(per_sm, "1\n2\n3\n", &h200()), run(per_sm, "1\n", &t4())], &[]);
}

#[test]
fn lists_agree_in_length_and_values() {
    let text = "{repeat 1..3}\n{n:count} {t:ms.1 bare}\n{end}\n";
    let two = run(text, "1 0.1\n2 0.2\n", &h200());
    disagree(&[two.clone(), run(text, "1 0.3\n2 0.4\n", &h200())], &[]);
    disagree(
        &[two.clone(), run(text, "1 0.1\n3 0.2\n", &h200())],
        &["runs 0 and 1 disagree in `n` of round 1: `2`, `3`"],
    );
    disagree(
        &[two.clone(), run(text, "1 0.1\n", &h200())],
        &["runs 0 and 1 disagree in how many values of `n` they print: `2`, `1`"],
    );
    let other = run("{n:count}\n", "1\n", &h200());
    assert!(agree(&[two, other])[0].what.contains("template"));
}

#[test]
fn of_what_is_no_measurement_only_the_form_counts() {
    let text = "{n:count in 1..9} {a:ms.1 in 1..2} {r:ratio.1 = a / b in 0..1}\n";
    let text = format!("{{b:ms.1}}\n{text}{{w:gbps.1 = 1000 / a}}\n");
    let template = parse(&text);
    let reasons = |output: &str| {
        let found = template.matches_unmeasured(output.as_bytes(), &h200());
        let found = found.err().unwrap_or_default();
        found.iter().map(|mismatch| mismatch.reason).collect::<Vec<_>>()
    };
    let wild = "0.0 ms\n3 77.0 ms 5.5\n9.9 GB/s\n";
    assert_eq!(reasons(wild), []);
    assert!(template.matches(wild.as_bytes(), &h200()).is_err());
    assert_eq!(reasons(&wild.replace("3 77", "0 77")), [Reason::Bounds]);
    assert_eq!(reasons(&wild.replace("5.5", "5.55")), [Reason::Decimals]);
    assert_eq!(reasons(&wild.replace("9.9", "nan")), [Reason::NotFinite]);
}

#[test]
fn a_disagreement_is_a_finding_of_its_rule() {
    use crate::finding::{Class, Place, Rule};

    let text = "{n:count}\n";
    let found = agree(&[run(text, "1\n", &h200()), run(text, "2\n", &h200())]);
    let finding = found[0].finding(Place::file("evidence"));
    assert_eq!((finding.rule, finding.rule.class()), (Rule::RunsDisagree, Class::Mismatch));
}

#[test]
fn the_lower_median_is_the_first_run_that_prints_it() {
    let text = "{t:ms.1 bare}\n";
    let median = |values: &[&str]| {
        let runs = values.iter().map(|value| run(text, &format!("{value}\n"), &h200()));
        median_run(&runs.collect::<Vec<_>>(), "t")
    };
    assert_eq!(median(&["0.3", "0.1", "0.2"]), Some(2));
    assert_eq!(median(&["0.4", "0.3", "0.1", "0.2"]), Some(3));
    assert_eq!(median(&["0.2", "0.2", "0.1", "0.2"]), Some(0));
    assert_eq!(median(&["0.9"]), Some(0));
    assert_eq!(median(&[]), None);
    assert_eq!(median_run(&[run(text, "0.1\n", &h200())], "u"), None);
    let list = "{repeat 1}\n{t:ms.1 bare}\n{end}\n";
    assert_eq!(median_run(&[run(list, "0.1\n", &h200())], "t"), None);
}

#[test]
fn fields_say_what_they_compare_with() {
    let template = parse(
        "{a:ms.3 bare} {b:ms.1 bare} {c:us.1 bare} {n:count} {m = 1} {r:ratio.1 = a / b} {device}\n",
    );
    let fields: Vec<_> = template.fields().collect();
    let compares = |one: usize, other: usize| fields[one].is_comparable_with(fields[other]);
    assert!(compares(0, 1) && compares(3, 4) && compares(5, 5));
    assert!(!compares(0, 2) && !compares(0, 3) && !compares(5, 3) && !compares(6, 6));
}
