//! Templates that parse, and each way in which one does not.

use super::*;

#[test]
fn every_form_of_a_field_parses() {
    let text = "{device} {cc} {sm_count} {l2_bytes} {memory_bytes} {driver}\n\
                {n:count} {m:count in 1..9 width 4} {t:ns bare} {u:us.1 in 0..1.5 bare} {v:s.9 width 12 bare}\n\
                {= 1 + 2 * (n - m) % 7 / 3} {d = ceil_div(max(n, 3), min(sm_count, l2_bytes))}\n\
                {r:ratio.2=t/u in 0..2} {q:ratio.0 = n / m} {w:gbps.1 = 2 * n * d / v in 1..9 bare}\n\
                {{literal}} { x:count } é µs\n";
    let template = parse(text);
    assert_eq!(template.fields().count(), 17);
    let field = template.field("m").unwrap();
    assert_eq!((field.width, field.decimals(), field.is_exact()), (Some(4), Some(0), true));
    let bounds = template.field("u").unwrap().bounds.unwrap();
    assert_eq!((bounds.low.to_string(), bounds.high.to_string()), ("0".into(), "1.5".into()));
    let dependent = |name| template.field(name).unwrap().device_dependent;
    assert_eq!([dependent("d"), dependent("n"), dependent("w")], [true, false, false]);
}

#[test]
fn a_template_in_a_crlf_work_tree_is_the_same() {
    let template = parse(&DAY_75.replace('\n', "\r\n"));
    assert!(template.matches(DAY_75_OUTPUT.as_bytes(), &h200()).is_ok());
    assert!(parse(DAY_75.trim_end()).matches(DAY_75_OUTPUT.as_bytes(), &h200()).is_ok());
}

#[test]
fn a_template_without_text_asserts_nothing() {
    for text in ["", "\n", "\n\n", "{repeat 0..3}\n\n{end}\n"] {
        let errors = Template::parse(text).unwrap_err();
        assert!(errors[0].message.starts_with("zero assertions"), "{text:?}: {errors:?}");
    }
}

#[test]
fn broken_braces_and_text_are_refused() {
    refuse("a {n:count\n", &[(1, "never closed")]);
    refuse("a {n:count {m:count}\n", &[(1, "never closed")]);
    refuse("a } b\n", &[(1, "closes no field")]);
    refuse("{}\n", &[(1, "starts with a name")]);
    refuse("{a:count}{b:count}\n", &[(1, "next to each other")]);
    refuse("{device}{cc}\n", &[(1, "next to each other")]);
    refuse("{a:count}0\n", &[(1, "digit directly after")]);
    refuse("{cc} {sm_count}2\n", &[(1, "digit directly after")]);
    refuse("a\u{1b}[1m\n", &[(1, "control character")]);
    refuse("a\rb\n", &[(1, "control character")]);
    refuse("{a:ms.3é}\n", &[(1, "`é` has no meaning")]);
    refuse("ok\n{x!}\n", &[(2, "`!` has no meaning")]);
}

#[test]
fn broken_fields_are_refused() {
    for (body, part) in [
        ("gpu", "`gpu` is no device fact"),
        ("3", "starts with a name"),
        ("A:count", "`A` is no name"),
        ("_a:count", "`_a` is no name"),
        ("width:count", "a word of the template"),
        ("min = 1", "a word of the template"),
        ("sm_count = 1", "a word of the template"),
        ("ms:ms.3", "`ms` is a unit"),
        ("n:", "the end of the field is no kind"),
        ("n:float.3", "`float` is no kind"),
        ("a:ms.", "no number of decimals"),
        ("a:ms.10", "no number of decimals"),
        ("a:ms.3.1", "no number of decimals"),
        ("a:ms.3 in 1", "`..` expected"),
        ("a:ms.3 in x..1", "a bound expected"),
        ("a:ms.3 in 2..1", "LO is above HI"),
        ("a:ms.3 in 0..1 in 0..1", "given twice"),
        ("a:ms.3 width 0", "no width"),
        ("a:ms.3 width 201", "no width"),
        ("a:ms.3 width 8 width 8", "given twice"),
        ("a:ms.3 wide", "`wide` is not expected"),
        ("device width 8", "only numbers"),
        ("= 1 in 0..1", "no bounds"),
        ("device in 0..1", "no bounds"),
    ] {
        refuse(&format!("x {{{body}}}\n"), &[(1, part)]);
    }
    let long = format!("{{= 1{}}}\n", " + 1".repeat(300));
    refuse(&long, &[(1, "longer than 1024")]);
}

#[test]
fn broken_expressions_are_refused() {
    for (expr, part) in [
        ("", "an integer expected, found the end"),
        ("1 +", "an integer expected"),
        ("(1", "`)` expected"),
        ("min(1)", "`,` expected"),
        ("min 1", "`(` expected"),
        ("-1", "an integer expected"),
        ("1.5", "an integer expected"),
        ("cc", "an integer expected"),
        ("1 2", "`2` is not expected"),
        ("n", "`n` is not defined above"),
        ("t + 1", "`t` is no integer"),
        ("1 / 0", "divides by zero"),
        ("1 % (2 - 2)", "divides by zero"),
        ("99999999999999999999999999 * 9", "overflows"),
        ("999999999999999999999999999", "an integer expected"),
    ] {
        refuse(&format!("{{t:ms.3 bare}}\n{{x = {expr}}}\n"), &[(2, part)]);
    }
    let deep = format!("{{= {}1{}}}\n", "(".repeat(40), ")".repeat(40));
    refuse(&deep, &[(1, "nests deeper than 32")]);
}

#[test]
fn ratios_and_rates_divide_what_fits() {
    let above = "{n:count} {t:ms.3 bare} {r:ratio.1 = t / t}\n";
    for (body, part) in [
        ("x:ratio = t / t", "number of decimals is missing"),
        ("x:ratio.3", "`=` expected"),
        ("x:ratio.3 = t", "`/` expected"),
        ("x:ratio.3 = t / 2", "a field's name expected"),
        ("x:ratio.3 = t / sm_count", "a field's name expected"),
        ("x:ratio.3 = t / y", "`y` is not defined"),
        ("x:ratio.3 = n / t", "measure the same"),
        ("x:ratio.3 = r / n", "measure the same"),
        ("x:gbps = n / t", "number of decimals is missing"),
        ("x:gbps.1 = n", "bytes by a duration"),
        ("x:gbps.1 = t / n", "bytes by a duration"),
        ("x:gbps.1 = n / 0", "bytes by a duration"),
        ("x:gbps.1 = t / t", "`t` is no integer"),
        ("x:gbps.1 = n / t + 1", "bytes by a duration"),
    ] {
        refuse(&format!("{above}{{{body}}}\n"), &[(2, part)]);
    }
}

#[test]
fn names_are_defined_once_above_their_use_and_with_one_value() {
    refuse("{n:count} {n:count}\n", &[(1, "defined twice")]);
    refuse("{= n} {n:count}\n", &[(1, "not defined above")]);
    refuse("{n = n}\n", &[(1, "not defined above")]);
    refuse("{repeat 2}\n{n:count}\n{end}\n{= n}\n", &[(4, "`n` is a list")]);
    refuse("{unordered}\na {n:count}\nb {= n}\n{end}\n", &[(3, "another line of the same")]);
    parse("{unordered}\na {n:count} {= n}\nb\n{end}\n{= n}\n");
    parse("{repeat 2}\n{n:count}\n{= n}\n{end}\n");
    refuse("{n:count width 300} {= n}\n{r:ratio.1 = n / n}\n", &[(1, "no width")]);
}

#[test]
fn broken_blocks_are_refused() {
    refuse("{end}\n", &[(1, "ends no block")]);
    refuse("a\n{repeat 2}\nb\n", &[(2, "never closed")]);
    refuse("{repeat 2}\n{end}\n", &[(1, "empty")]);
    refuse("{repeat 2}\n{unordered}\na\n{end}\n", &[(2, "inside the block of line 1")]);
    refuse("a {repeat 2}\n", &[(1, "stands alone")]);
    refuse(" {end}\n", &[(1, "stands alone")]);
    refuse("{unordered 2}\na\n{end}\n", &[(1, "no arguments")]);
    let many = format!("{{unordered}}\n{}{{end}}\n", "a\n".repeat(257));
    refuse(&many, &[(1, "more than 256 lines")]);
    let blocks = "{repeat 1}\na\n{end}\n".repeat(257);
    refuse(&blocks, &[(769, "more than 256 blocks")]);
    for (count, part) in [
        ("", "an integer expected"),
        ("x", "`x` is not defined"),
        ("2..1", "from 0 to 100000 times"),
        ("100001", "from 0 to 100000 times"),
        ("1 2", "not expected"),
        ("1..", "an integer expected"),
        ("1.5", "an integer expected"),
        ("1 / 0", "divides by zero"),
    ] {
        refuse(&format!("{{repeat {count}}}\na\n{{end}}\n"), &[(1, part)]);
    }
}

#[test]
fn blocks_that_would_match_in_two_ways_are_refused() {
    let like = "looks like the block's first line";
    refuse("{repeat 0..3}\na\n{end}\na\n", &[(1, like)]);
    refuse("{repeat 0..3}\n{a:count} x\n{end}\n{b = 3} x\n", &[(1, like)]);
    refuse("{repeat 0..3}\na\n{end}\n{repeat 0..1}\nb\n{end}\na\n", &[(1, like)]);
    refuse("x\n{repeat 0..3}\na\n{end}\n{unordered}\nb\na\n{end}\n", &[(2, like)]);
    parse("{repeat 3}\na\n{end}\na\n");
    parse("{repeat 0..3}\na\n{end}\n{repeat 1..2}\nb\n{end}\na\n");
    let told = "can't be told from each other";
    refuse("{unordered}\n{a:count} x\n{b:count} x\n{end}\n", &[(1, told)]);
    parse("{unordered}\n{a:ms.1 bare} x\n{b:ms.2 bare} x\nsame\nsame\n{= 1}\n{= 2}\n{end}\n");
}

#[test]
fn all_errors_are_reported_in_order() {
    let text = "{gpu}\nok }\n{n:ms.99 bare}\n{end}\n{repeat 1}\n";
    refuse(
        text,
        &[
            (1, "no device fact"),
            (2, "closes no field"),
            (3, "no number of decimals"),
            (4, "ends no block"),
            (5, "never closed"),
        ],
    );
    let long = "a\n".repeat(33 * 1024);
    refuse(&long, &[(1, "longer than 65536 bytes")]);
}
