//! Outputs that fit, and each way in which one does not.

use super::Reason::*;
use super::*;

/// A field, what passes for it, and what fails and why.
type Row = (&'static str, &'static [&'static str], &'static [(&'static str, Reason)]);

const EXACT: &[Row] = &[
    (
        "{device}",
        &["NVIDIA H200"],
        &[("NVIDIA H100", Field), ("nvidia h200", Field), ("", Field), ("NVIDIA H200 NVL", Text)],
    ),
    ("{cc}", &["9.0"], &[("9", Field), ("9.00", Text), ("8.0", Field)]),
    ("{driver}", &["580.159.04"], &[("580.159.05", Field), ("580", Field)]),
    ("{sm_count}", &["132"], &[("131", Field), ("1320", Field), ("132.0", Decimals)]),
    ("{l2_bytes}", &["62914560"], &[("62914561", Field), ("+62914560", Field)]),
    ("{memory_bytes}", &["150109880320"], &[("0150109880320", Field), ("nan", NotFinite)]),
    ("{= min(2 * sm_count, 4097)}", &["264"], &[("265", Field), ("26", Field), ("2640", Field)]),
    ("{= 10 - sm_count}", &["-122"], &[("122", Field), ("-0", Field), ("--122", Field)]),
    ("{= ceil_div(sm_count, 5) + sm_count % 5}", &["29"], &[("28", Field)]),
    ("{= 1 / (sm_count - 132)}", &[], &[("1", Expression)]),
    ("{= 99999999999999999999999999 + sm_count}", &[], &[("1", Expression)]),
];

const READ: &[Row] = &[
    (
        "{n:count}",
        &["0", "7", "18446744073709551615"],
        &[
            ("-1", Field),
            ("-0", Field),
            ("1e3", Text),
            ("007", Field),
            ("1.0", Decimals),
            ("inf", NotFinite),
            ("18446744073709551616", Field),
            (" 7", Field),
            ("7 ", Text),
        ],
    ),
    ("{n:count in 2..4}", &["2", "4"], &[("1", Bounds), ("5", Bounds)]),
    (
        "{a:ms.3 bare}",
        &["0.027", "0.000", "12345.678"],
        &[
            ("0.0270", Decimals),
            ("0.02", Decimals),
            ("27", Decimals),
            ("nan", NotFinite),
            ("-nan", NotFinite),
            ("inf", NotFinite),
            ("-0.000", Field),
            ("-0.027", Field),
            ("2.7e-2", Decimals),
            (".027", Field),
            ("0,027", Decimals),
            ("0.027 ms", Text),
            ("\u{1b}[1m0.027", Field),
        ],
    ),
    ("{a:ns bare}", &["27"], &[("27.0", Decimals), ("", Field)]),
    ("{a:us.1 in 1..2.5 bare}", &["1.0", "2.5"], &[("0.9", Bounds), ("2.6", Bounds)]),
    (
        "{a:ms.3 width 8 bare}",
        &["   0.027", "1234.567", "12345.678"],
        &[
            ("0.027", Field),
            ("  0.027", Field),
            ("    0.027", Field),
            (" 1234.567", Field),
            ("\t  0.027", Field),
            ("     nan", NotFinite),
        ],
    ),
    ("{sm_count width 5}", &["  132"], &[("132", Field), ("  131", Field)]),
];

#[test]
fn each_kind_of_field_passes_and_fails() {
    for (field, pass, fail) in EXACT.iter().chain(READ) {
        let template = format!("{field}\n");
        assert!(!fail.is_empty(), "{field}");
        for output in *pass {
            check(&template, format!("{output}\n"), &[]);
        }
        for (output, reason) in *fail {
            check(&template, format!("{output}\n"), &[(1, *reason)]);
        }
    }
}

#[test]
fn a_point_after_an_integer_is_text() {
    let template = "CUDA {major:count}.{minor:count}, {t:ms.1 bare}. {= sm_count}.5\n";
    check(template, "CUDA 13.0, 0.5. 132.5\n", &[]);
    check(template, "CUDA 13, 0.5. 132.5\n", &[(1, Text)]);
    check(template, "CUDA 13.0, 0.5. 132.6\n", &[(1, Text)]);
    check(template, "CUDA 13.0.1, 0.5. 132.5\n", &[(1, Decimals)]);
    check(template, "CUDA 13.0, 0.5.. 132.5\n", &[(1, Text)]);
}

#[test]
fn ratios_are_held_to_the_printed_numbers() {
    // 0.031 / 0.027 stands for [0.0305, 0.0315] / [0.0265, 0.0275], so for 1.1091 to 1.1887.
    for (ratio, expect) in [
        ("1.108", &[(3, Ratio)][..]),
        ("1.109", &[]),
        ("1.189", &[]),
        ("1.190", &[(3, Ratio)]),
        ("-1.131", &[(3, Field)]),
        ("nan", &[(3, NotFinite)]),
        ("1.13", &[(3, Decimals)]),
    ] {
        let template = "{a:ms.3 bare}\n{b:ms.3 bare}\n{r:ratio.3 = b / a}\n";
        check(template, format!("0.027\n0.031\n{ratio}\n"), expect);
        // The same numbers in other units.
        let template = "{a:ms.3 bare}\n{b:us.0 bare}\n{r:ratio.3 = b / a}\n";
        check(template, format!("0.027\n31\n{ratio}\n"), expect);
    }
    let template = "{a:ms.3 bare}\n{b:ms.3 bare}\n{r:ratio.3 = b / a in 0.8..1.1}\n";
    check(template, "0.027\n0.031\n1.131\n", &[(3, Bounds)]);
    check(template, "0.027\n0.031\n1.231\n", &[(3, Ratio), (3, Bounds)]);
    check(template, "0.000\n0.031\n1.000\n", &[(3, Ratio)]);
    check(template, "0.000\n0.000\n1.000\n", &[(3, Ratio)]);
    // Integers are not rounded, so that only the quotient's own half unit is allowed for.
    let template = "{n:count} of {m:count}: {r:ratio.2 = n / m}\n";
    check(template, "1 of 3: 0.33\n", &[]);
    check(template, "1 of 3: 0.34\n", &[(1, Ratio)]);
    check(template, "1 of 0: 0.00\n", &[(1, Ratio)]);
    check("{d = 1 - sm_count} {n:count} {r:ratio.1 = d / n}\n", "-131 1 0.0\n", &[(1, Ratio)]);
}

#[test]
fn rates_are_bytes_over_seconds() {
    // 33,559,320 bytes in 0.0265 to 0.0275 ms: 1220.3 to 1266.4 GB/s.
    let template = "{n:count} {t:ms.3 bare} {w:gbps.1 = 8 * n / t in 100..2000 bare}\n";
    for (rate, expect) in [
        ("1220.2", &[(1, Ratio)][..]),
        ("1220.3", &[]),
        ("1266.4", &[]),
        ("1266.5", &[(1, Ratio)]),
        ("inf", &[(1, NotFinite)]),
        ("1242.95", &[(1, Decimals)]),
        ("9999.0", &[(1, Ratio), (1, Bounds)]),
    ] {
        check(template, format!("4194915 0.027 {rate}\n"), expect);
    }
    check(template, "4194915 0.000 1242.9\n", &[(1, Ratio)]);
    check("{n:count} {t:s.1 bare} {w:gbps.1 = n / t bare}\n", "2000000000 2.0 1.0\n", &[]);
    check("{n:count} {t:ns bare} {w:gbps.0 = n / t bare}\n", "64000 1000 64\n", &[]);
}

#[test]
fn the_bytes_of_an_output_are_checked() {
    check("a\nb\n", "a\nb\n", &[]);
    check("a\nb\n", "", &[(1, Empty)]);
    check("a\nb\n", "a\nb", &[(2, NoFinalNewline)]);
    check("a\nb\n", "a\r\nb\r\n", &[(1, CarriageReturn)]);
    check("a\nb\n", "a\nb\r\n", &[(2, CarriageReturn)]);
    check("a\nb\n", "a\rb\n", &[(1, Text), (2, TooFewLines)]);
    check("a\nb\n", b"a\n\xff\n", &[(2, NotUtf8)]);
    check("a\nb\n", b"a\0\nb\n", &[(1, Text)]);
    check("a\nb\n", "a\nb\n\n", &[(3, TooManyLines)]);
    check("a\nb\n", "\u{feff}a\nb\n", &[(1, Text)]);
    check("a\nb\n", "a \nb\n", &[(1, Text)]);
    let long = format!("a\n{}\n", "b".repeat(MAX_LINE_BYTES + 1));
    check("a\nb\n", long, &[(2, TooLong)]);
    check("a\nb\n", vec![b'\n'; MAX_OUTPUT_BYTES + 1], &[(1, TooLong)]);
    check("{repeat 0..2}\na\n{end}\n", "\n", &[(1, TooManyLines)]);
    let escapes = check("a\n", "\u{1b}]0;title\u{7}a\n", &[(1, Text)]);
    assert!(!escapes[0].to_string().contains(char::is_control), "{}", escapes[0]);
    assert_eq!(expect_nothing(b""), Ok(()));
    assert_eq!(expect_nothing(b"\n").map_err(|found| found.reason), Err(TooManyLines));
}

#[test]
fn one_missing_or_extra_line_is_one_mismatch() {
    let text = |lines: &[&str]| lines.join("\n") + "\n";
    let lines = ["one", "two", "three", "four", "five"];
    let template = text(&lines);
    for missing in 0..lines.len() {
        let mut left = lines.to_vec();
        left.remove(missing);
        check(&template, text(&left), &[(missing as u32 + 1, TooFewLines)]);
        let mut extra = lines.to_vec();
        extra.insert(missing, "noise");
        check(&template, text(&extra), &[(missing as u32 + 1, TooManyLines)]);
        let mut changed = lines.to_vec();
        changed[missing] = "noise";
        check(&template, text(&changed), &[(missing as u32 + 1, Text)]);
    }
    check(&template, "one\n", &[(2, TooFewLines)]);
    check(&template, "one\ntwo\nthree\nfour\nfive\nsix\nseven\n", &[(6, TooManyLines)]);
    check(&template, "one\nfour\nfive\n", &[(2, TooFewLines), (2, TooFewLines)]);
}

#[test]
fn a_value_that_could_not_be_read_is_reported_once() {
    let output = DAY_75_OUTPUT.replace("0.027", "nan");
    let found = check(DAY_75, output, &[(4, NotFinite)]);
    assert_eq!(
        found[0].to_string(),
        "line 4: `{a:ms.3}` is a duration in ms with 3 decimals, then ` ms`; column 16 has `nan`: not a finite \
         number; expected `syncthreads:   {a:ms.3} ms`, found `syncthreads:   nan ms`"
    );
    let output = DAY_75_OUTPUT.replace("264 blocks", "80 blocks").replace("H200", "H100");
    check(DAY_75, output, &[(1, Field), (2, Field)]);
    check("{n:count}\n{repeat n}\nx\n{end}\ny\n", "?\nx\nx\ny\n", &[(1, Field)]);
}

#[test]
fn repeated_lines() {
    let three = "head\n{repeat 3}\nrow {n:count}: {m = 2 * n}\n{end}\ntail\n";
    check(three, "head\nrow 0: 0\nrow 1: 2\nrow 2: 4\ntail\n", &[]);
    check(three, "head\nrow 0: 0\nrow 1: 2\ntail\n", &[(4, TooFewLines)]);
    check(three, "head\nrow 0: 0\nrow 1: 2\n", &[(4, TooFewLines), (4, TooFewLines)]);
    check(three, "head\nrow 0: 0\nrow 1: 3\nrow 2: 4\ntail\n", &[(3, Field)]);
    check(three, "head\nrow 0: 0\nrow 1: 2\nrow 2: 4\nrow 3: 6\ntail\n", &[(5, TooManyLines)]);
    let range = "{repeat 1..3}\n{t:ms.1} ms\n{end}\ntail\n";
    check(range, "0.5 ms\ntail\n", &[]);
    check(range, "0.5 ms\n0.5 ms\n0.5 ms\ntail\n", &[]);
    check(range, "tail\n", &[(1, TooFewLines)]);
    check(range, "0.5 ms\nnan ms\ntail\n", &[(2, NotFinite)]);
    check(range, "0.5 ms\n0.55 ms\ntail\n", &[(2, Decimals)]);
    let facts = "{n:count}\n{repeat n..sm_count / 2}\nx\n{end}\n";
    check(facts, format!("1\n{}", "x\n".repeat(66)), &[]);
    check(facts, format!("1\n{}", "x\n".repeat(67)), &[(68, TooManyLines)]);
    check(facts, "67\nx\n", &[(2, Expression)]);
    check("{n:count}\n{repeat n}\nx\n{end}\n", "0\n", &[]);
    check("{n:count}\n{repeat n - 1}\nx\n{end}\n", "0\nx\n", &[(2, Expression)]);
    check("{n:count}\n{repeat n}\nx\n{end}\n", "100001\nx\n", &[(2, Expression)]);
    let pairs = "{repeat 3}\na {n:count}\nb {= n}\n{end}\n";
    check(pairs, "a 1\nb 1\na 2\nb 2\na 3\nb 3\n", &[]);
    check(pairs, "a 1\nb 1\na 2\na 3\nb 3\n", &[(4, TooFewLines)]);
    check(pairs, "a 1\nb 1\nb 2\na 3\nb 3\n", &[(3, TooFewLines)]);
    check(pairs, "a 1\nb 1\na 2\nnoise\nb 2\na 3\nb 3\n", &[(4, TooManyLines)]);
    check(pairs, "a 1\nb 1\na x\nb 2\na 3\nb 3\n", &[(3, Field)]);
}

#[test]
fn lines_in_any_order() {
    let text = "{n:count}\n{unordered}\n5\n{m:count}\nx {k:count}: {= k * n}\n{end}\ntail {= m}\n";
    for output in
        ["2\n5\n7\nx 3: 6\ntail 7\n", "2\nx 3: 6\n7\n5\ntail 7\n", "2\n5\nx 3: 6\n5\ntail 5\n"]
    {
        check(text, output, &[]);
    }
    check(text, "2\n5\n7\nx 3: 7\ntail 7\n", &[(4, Field)]);
    check(text, "2\n5\n7\ny 3: 7\ntail 7\n", &[(4, Text)]);
    check(text, "2\n5\nx 3: 6\ntail 5\n", &[(4, TooFewLines)]);
    check(text, "2\n5\n", &[(3, TooFewLines), (3, TooFewLines), (3, TooFewLines)]);
    let twice = "{unordered}\nok\nok\n{end}\n";
    check(twice, "ok\nok\n", &[]);
    check(twice, "ok\nno\n", &[(2, Text)]);
}

#[test]
fn hostile_outputs_end_soon() {
    let template = format!("{{unordered}}\n{}{{end}}\n", "a {device} b\n".repeat(256));
    let output = "a NVIDIA H200 c\n".repeat(60_000);
    let found = parse(&template).matches(output.as_bytes(), &h200()).unwrap_err();
    assert_eq!(found.len(), MAX_MISMATCHES);
    let many = format!("{}\n", "{= 1} ".repeat(9_000));
    let output = format!("{}\n", "1 ".repeat(9_000));
    check(&many, output, &[]);
    let digits = format!("{}\n", "9".repeat(60_000)).repeat(17);
    check(
        "{repeat 17}\n{n:count}\n{end}\n",
        digits,
        &(1..=17).map(|n| (n, Field)).collect::<Vec<_>>(),
    );
    let empty = parse("{repeat 0..100000}\n{n:count}\n{end}\nend\n");
    assert_eq!(empty.matches(&[b'\n'; 1 << 20], &h200()).unwrap_err().len(), 2);
    let invalid = b"\xff\n".repeat(500_000);
    assert_eq!(empty.matches(&invalid, &h200()).unwrap_err().len(), MAX_MISMATCHES);
    let rows = "7\n".repeat(100_000) + "end\n";
    assert_eq!(empty.matches(rows.as_bytes(), &h200()).unwrap().list("n").unwrap().len(), 100_000);
}

#[test]
fn a_duration_has_its_unit_after_one_blank_unless_the_template_says_otherwise() {
    let cases = [
        ("{a:ms.3}", "0.027 ms", true),
        ("{a:ms.3}", "0.027", false),
        ("{a:ms.3}", "0.027ms", false),
        ("{a:ms.3} ms", "0.027 ms", true),
        ("{a:ms.3}ms", "0.027ms", true),
        ("{a:ms.3 bare}", "0.027", true),
        ("{a:ms.3 bare}", "0.027 ms", false),
        ("{a:s.1}, then", "0.5 s, then", true),
        ("{a:s.1} seconds", "0.5 seconds", false),
        ("{a:s.1 bare} seconds", "0.5 seconds", true),
        ("{a:us.1}|{b:us.1}", "1.0 us|2.0 us", true),
    ];
    for (template, output, fits) in cases {
        let parsed = Template::parse(&format!("{template}\n")).unwrap();
        let matched = parsed.matches(format!("{output}\n").as_bytes(), &h200());
        assert_eq!(matched.is_ok(), fits, "{template} {output}: {matched:?}");
    }
}
