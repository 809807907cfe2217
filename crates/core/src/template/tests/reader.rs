//! What a reader's own output tells, and what it can't.

use super::*;

const TEMPLATE: &str = "GPU: {device} (compute capability {cc})\n\
    {blocks = min(2 * sm_count, 4097)} blocks, {threads = 256 * blocks} threads\n\
    one: {a:ms.3 in 0.010..1}\ntwo: {b:ms.3}\ntwo/one: {r:ratio.3 = b / a}\n";

/// Reads an output and demands these differences, as line and reason.
#[track_caller]
fn check(template: &str, output: &str, holds: bool, expect: &[(u32, Reason)]) -> Reader {
    let read = parse(template).read(output.as_bytes());
    let brief: Vec<_> = read.mismatches.iter().map(|m| (m.line, m.reason)).collect();
    assert_eq!(brief, expect, "{output}\n{:#?}", read.mismatches);
    assert_eq!(read.holds(), holds, "{output}");
    read
}

fn output(gpu: &str, blocks: &str, figures: &str) -> String {
    format!("GPU: {gpu}\n{blocks}\n{figures}")
}

const FIGURES: &str = "one: 0.050 ms\ntwo: 0.060 ms\ntwo/one: 1.200\n";

#[test]
fn another_cards_facts_are_read_from_its_own_text() {
    let text = output("Tesla T4 (compute capability 7.5)", "80 blocks, 20480 threads", FIGURES);
    let read = check(TEMPLATE, &text, true, &[]);
    assert_eq!(read.fact(Fact::Device), Some("Tesla T4"));
    assert_eq!(read.fact(Fact::Cc), Some("7.5"));
    assert_eq!(read.fact(Fact::SmCount), None);
    let unchecked: Vec<_> = read.unchecked.iter().map(|u| (&*u.what, &*u.facts)).collect();
    let expect = "{blocks = min(2 * sm_count, 4097)}";
    assert_eq!(unchecked, [(expect, &[Fact::SmCount][..])]);
    assert_eq!(read.lines, 5);
    let a = read.readings.iter().find(|r| r.field.name.as_deref() == Some("a")).unwrap();
    assert_eq!(a.list[0].text, "0.050");
}

#[test]
fn what_follows_from_the_printed_numbers_is_still_checked() {
    let gpu = "Tesla T4 (compute capability 7.5)";
    let text = output(gpu, "80 blocks, 20481 threads", FIGURES);
    check(TEMPLATE, &text, false, &[(2, Reason::Field)]);
    let text = output(gpu, "80 blocks, 20480 threads", &FIGURES.replace("1.200", "1.300"));
    check(TEMPLATE, &text, false, &[(5, Reason::Ratio)]);
    let text = output(gpu, "80 blocks, 20480 threads", &FIGURES.replace("1.200", "nan"));
    check(TEMPLATE, &text, false, &[(5, Reason::NotFinite)]);
}

#[test]
fn a_value_outside_its_bounds_is_told_and_breaks_no_exact_line() {
    let gpu = "Tesla T4 (compute capability 7.5)";
    let figures = "one: 2.000 ms\ntwo: 2.400 ms\ntwo/one: 1.200\n";
    let text = output(gpu, "80 blocks, 20480 threads", figures);
    check(TEMPLATE, &text, true, &[(3, Reason::Bounds)]);
}

#[test]
fn a_fact_that_is_told_is_used() {
    let template = "{device}: {sm_count} SMs\n{blocks = 2 * sm_count} blocks\n";
    let read = check(template, "T4: 40 SMs\n80 blocks\n", true, &[]);
    assert!(read.unchecked.is_empty());
    check(template, "T4: 40 SMs\n81 blocks\n", false, &[(2, Reason::Field)]);
    // A fact that is printed twice must be the same both times.
    let template = "on {device}\nstill on {device}\n";
    check(template, "on T4\nstill on T4\n", true, &[]);
    check(template, "on T4\nstill on L4\n", false, &[(2, Reason::Field)]);
}

#[test]
fn what_tells_nothing_is_a_mismatch() {
    let table: &[(&str, &[(u32, Reason)])] = &[
        ("", &[(1, Reason::Empty)]),
        ("GPU: T4\n", &[(1, Reason::Field), (2, Reason::TooFewLines)]),
    ];
    for (text, expect) in table {
        check(TEMPLATE, text, false, expect);
    }
}

#[test]
fn a_block_that_repeats_by_an_unknown_fact_is_unchecked() {
    let template = "{device}\n{repeat sm_count}\nSM {i:count}\n{end}\ndone\n";
    let read = check(template, "T4\nSM 0\nSM 1\ndone\n", true, &[]);
    assert_eq!(read.unchecked[0].facts, [Fact::SmCount]);
    check(template, "T4\nSM 0\nSM 1\ngone\n", false, &[(4, Reason::Text)]);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_without_a_panic(
        bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
    ) {
        let _ = parse(TEMPLATE).read(&bytes);
    }

    #[test]
    fn what_fits_a_device_reads_as_holding(name in "[a-zA-Z0-9 ]{1,20}") {
        let facts = DeviceFacts { name, ..h200() };
        let text = format!("GPU: {} (compute capability 9.0)\n264 blocks, 67584 threads\n{FIGURES}", facts.name);
        proptest::prop_assert!(parse(TEMPLATE).matches(text.as_bytes(), &facts).is_ok());
        proptest::prop_assert!(parse(TEMPLATE).read(text.as_bytes()).holds());
    }
}
