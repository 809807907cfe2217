//! Marked copies against the canonical ones.

use super::*;

const SOURCE: &str =
    "a\n// copy: common/one.cuh\n1\n2\n// end copy\nb\n// copy: common/two.cuh\n3\n// end copy\n";

fn canonical(texts: &[(&str, &str)]) -> BTreeMap<String, String> {
    texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn copies_are_compared_line_by_line() {
    let (copies, findings) = copies("a.cu".into(), SOURCE);
    assert_eq!(findings, []);
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a [(Rule, u32)]);
    let cases: &[Case<'_>] = &[
        (&[("one.cuh", "1\n2\n"), ("two.cuh", "3\r\n")], &[]),
        (&[("one.cuh", "1\n2\n")], &[(Rule::CopyUnknown, 7)]),
        (&[("one.cuh", "1\nx\n"), ("two.cuh", "3\n")], &[(Rule::CopyDiffers, 4)]),
        (
            &[("one.cuh", "1\n2"), ("two.cuh", "3\n4\n")],
            &[(Rule::CopyDiffers, 4), (Rule::CopyDiffers, 9)],
        ),
    ];
    for (texts, expect) in cases {
        let findings = check_copies("a.cu".into(), &copies, &canonical(texts));
        let found: Vec<_> = findings.iter().map(|f| (f.rule, f.place.line.unwrap())).collect();
        assert_eq!(found, *expect, "{texts:?}");
    }
    let differing = canonical(&[("one.cuh", "1\nx\n"), ("two.cuh", "3\n")]);
    let finding = &check_copies("a.cu".into(), &copies, &differing)[0];
    assert_eq!(finding.cause.as_deref(), Some("here `2`, there `x`"));
}

#[test]
fn replaced_copies_are_equal_and_nothing_else_changes() {
    let (found, _) = copies("a.cu".into(), SOURCE);
    let same = canonical(&[("one.cuh", "1\n2\n"), ("two.cuh", "3\n")]);
    assert_eq!(replace_copies(SOURCE, &found, &same), SOURCE);
    let other = canonical(&[("two.cuh", "4\r\n5")]);
    let replaced = replace_copies(SOURCE, &found, &other);
    assert_eq!(replaced, SOURCE.replace("3\n", "4\n5\n"));
    assert_eq!(replace_copies("", &found, &other), "");
}

#[test]
fn faulty_markers_are_found_where_they_are() {
    use Rule as R;
    let cases: &[(&str, &[(Rule, u32)])] = &[
        ("// copy: from device to host\n// copy\n", &[]),
        ("//copy: common/a\n", &[(R::CopyMarker, 1)]),
        ("// copy: common/a/b\n", &[(R::CopyMarker, 1)]),
        ("// copy: common/..\n", &[(R::CopyMarker, 1)]),
        ("// copy: common/a\n", &[(R::CopyUnclosed, 1)]),
        ("// end copy\n", &[(R::CopyStrayEnd, 1)]),
        (
            "// copy: common/a\n// copy: common/b\n// end copy\n1\n// end copy\n",
            &[(R::CopyNested, 2)],
        ),
        (
            "// copy: common/a\n1\n// end copy\n// copy: common/a\n1\n// end copy\n",
            &[(R::CopyDuplicate, 4)],
        ),
        ("// copy: common/a\n\n// end copy\n", &[(R::CopyEmpty, 1)]),
    ];
    for (source, expect) in cases {
        let (_, findings) = copies("a.cu".into(), source);
        let found: Vec<_> = findings.iter().map(|f| (f.rule, f.place.line.unwrap())).collect();
        assert_eq!(found, *expect, "{source:?}");
    }
}
