//! Numbers with units in prose are found; those in code, comments and regions are not.

use super::*;

fn found(text: &str) -> Vec<(String, u32)> {
    let (page, _) = Page::parse("README.md", text);
    let number = |finding: &Finding| {
        assert_eq!(finding.rule, Rule::ProseNumber);
        let fact = finding.fact.split('`').nth(1).unwrap_or_default();
        (fact.to_owned(), finding.place.line.unwrap_or(0))
    };
    measured_numbers(&page).iter().map(number).collect()
}

#[test]
fn measured_numbers_in_prose_are_found() {
    let cases: &[(&str, &[(&str, u32)])] = &[
        ("# T\n\nIt takes 12.3 ms, not 27µs.\n", &[("12.3 ms", 3), ("27 µs", 3)]),
        ("| 1,024 GB/s | **5** us |\n", &[("1,024 GB/s", 1), ("5 us", 1)]),
        (
            "3&nbsp;ns and 4-ms and 5 milliseconds",
            &[("3 ns", 1), ("4 ms", 1), ("5 milliseconds", 1)],
        ),
        ("27–30 μs", &[("30 μs", 1)]),
        ("`12 ms` and ``13 ` ms`` <!-- 14 ms --> x", &[]),
        ("<!-- a\n12 ms\n--> 13 ms\n", &[("13 ms", 3)]),
        ("```\n12 ms\n```\n~~~\n13 ms\n", &[]),
        ("<!-- record: output -->\n12 ms\n<!-- end record -->\n13 ms\n", &[("13 ms", 4)]),
        ("60 s, 256 threads, 16 MiB, sm_80 ms, x12 ms, 12 msec, 5 user, 3 nsx", &[]),
        ("12 `ms` ` 13 ms", &[("13 ms", 1)]),
        ("<!-- not measured: data sheet -->\n12 ms\n| 13 ms |\n\n14 ms\n", &[("14 ms", 5)]),
        ("<!-- not measured: data sheet -->\n\n12 ms\n", &[("12 ms", 3)]),
        ("<!-- not measured: -->\n12 ms\n", &[("12 ms", 2)]),
        ("<!-- not measured: a -->\n```\n```\n12 ms\n", &[("12 ms", 4)]),
    ];
    for (text, expect) in cases {
        let expect: Vec<_> = expect.iter().map(|(n, line)| ((*n).to_owned(), *line)).collect();
        assert_eq!(found(text), expect, "{text}");
    }
}
