//! Pages: regions, assertions and blocks where they stand, and each way to get a marker wrong.

use proptest::prelude::*;

use super::*;
use crate::finding::{Rule, Severity};

const PAGE: &str = "\
# Day 75: split arrive and wait

<!-- record: state -->
**UNVERIFIED.**
<!-- end record -->

```sh
nvcc a.cu
<!-- record: output -->
```

<!-- record: output a.cu on h200/sm_80 -->
```text
<!-- end record -->
```
<!-- end record -->
<!-- emulated: output -->
<!-- end emulated -->
<!-- holds: ratio > 1.05 on h200/sm_80 -->
  ~~~~ cuda x
    y
   ~~~
 ~~~~
<!-- snippet: sync-loop -->
a
<!-- end snippet -->
<!-- holds: a <= b -->
";

fn found(text: &str) -> Vec<(Rule, u32)> {
    let (_, findings) = Page::parse("README.md", text);
    findings.iter().map(|f| (f.rule, f.place.line.unwrap_or(0))).collect()
}

#[test]
fn a_page_is_read() {
    let (page, findings) = Page::parse("README.md", PAGE);
    assert_eq!(findings, []);
    let title = page.title.clone().unwrap();
    assert_eq!((title.text.as_str(), title.line), ("Day 75: split arrive and wait", 1));
    let regions: Vec<_> = page
        .regions
        .iter()
        .map(|r| (r.kind, r.name.as_str(), r.program.as_deref(), r.open_line, r.close_line))
        .collect();
    let expect = [
        (RegionKind::Record, "state", None, 3, 5),
        (RegionKind::Record, "output", Some("a.cu"), 12, 16),
        (RegionKind::Emulated, "output", None, 17, 18),
        (RegionKind::Snippet, "sync-loop", None, 24, 26),
    ];
    assert_eq!(regions, expect);
    let bodies: Vec<_> = page.regions.iter().map(|region| page.body(region)).collect();
    let expect = ["**UNVERIFIED.**\n", "```text\n<!-- end record -->\n```\n", "", "a\n"];
    assert_eq!(bodies, expect);
    let target = Target { model: "h200".to_owned(), variant: "sm_80".to_owned() };
    assert_eq!(page.regions[1].target.as_ref(), Some(&target));
    let blocks: Vec<_> = page
        .blocks
        .iter()
        .map(|b| (b.info.as_str(), b.first_line, b.text.as_str(), b.region))
        .collect();
    let expect = [
        ("sh", 8, "nvcc a.cu\n<!-- record: output -->\n", None),
        ("text", 14, "<!-- end record -->\n", Some(1)),
        ("cuda x", 21, "  y\n ~~~\n", None),
    ];
    assert_eq!(blocks, expect);
}

#[test]
fn assertions_are_read() {
    let (page, _) = Page::parse("README.md", PAGE);
    let target = Target { model: "h200".to_owned(), variant: "sm_80".to_owned() };
    let number = HoldsTerm::Number("1.05".to_owned());
    let expect = [
        Holds {
            left: "ratio".to_owned(),
            op: HoldsOp::Greater,
            right: number,
            target: Some(target),
            line: 19,
        },
        Holds {
            left: "a".to_owned(),
            op: HoldsOp::LessOrEqual,
            right: HoldsTerm::Field("b".to_owned()),
            target: None,
            line: 27,
        },
    ];
    assert_eq!(page.holds, expect);
}

#[test]
fn crlf_pages_read_alike() {
    let crlf = PAGE.replace('\n', "\r\n");
    let (page, findings) = Page::parse("README.md", &crlf);
    assert_eq!(findings, []);
    let (lf, _) = Page::parse("README.md", PAGE);
    assert_eq!((page.blocks, page.holds), (lf.blocks, lf.holds));
    assert_eq!(page.regions.len(), lf.regions.len());
}

#[test]
fn faults_are_found_where_they_are() {
    use Rule as R;
    let cases: &[(&str, &[(Rule, u32)])] = &[
        ("", &[]),
        ("<!-- record: state -->\n", &[(R::RegionUnclosed, 2)]),
        ("<!-- end record -->\n", &[(R::RegionStrayEnd, 2)]),
        ("<!-- record: state -->\n<!-- end snippet -->\n", &[(R::RegionMismatch, 3)]),
        (
            "<!-- record: state -->\n<!-- snippet: a -->\n<!-- end snippet -->\n\
             <!-- end record -->\n",
            &[(R::RegionNested, 3)],
        ),
        (
            "<!-- record: state -->\n<!-- snippet: a -->\n<!-- end record -->\n",
            &[(R::RegionNested, 3), (R::RegionUnclosed, 3)],
        ),
        (
            "<!-- record: state -->\n<!-- holds: a < b -->\n<!-- end record -->\n",
            &[(R::RegionNested, 3)],
        ),
        (
            "<!-- snippet: a -->\n<!-- end snippet -->\n<!-- snippet: a -->\n\
             <!-- end snippet -->\n",
            &[(R::RegionDuplicate, 4)],
        ),
        (
            "<!-- record: output a -->\n<!-- end record -->\n<!-- record: output b -->\n\
             <!-- end record -->\n",
            &[],
        ),
        ("```\n<!-- record: state -->\n", &[(R::PageFence, 2)]),
        ("<!-- a\n<!-- record: state -->\n", &[(R::RegionMarker, 3)]),
        ("<!-- a\n` -->` <!-- end snippet -->\n", &[(R::RegionMarker, 3), (R::RegionMarker, 3)]),
        ("<!-- a\n", &[(R::RegionMarker, 2)]),
    ];
    for (text, expect) in cases {
        assert_eq!(found(&format!("# T\n{text}")), *expect, "{text}");
    }
    assert_eq!(found("Text\n## Two\n```\n# T\n```\n"), [(R::PageTitle, 1)]);
}

#[test]
fn markers_have_one_spelling() {
    let error = Some(Severity::Error);
    let warning = Some(Severity::Warning);
    let cases = [
        ("<!-- snippet:  a -->", error),
        ("<!--snippet: a-->", error),
        ("<!-- snippet:a -->", error),
        ("<!-- snippet: a b -->", error),
        ("<!-- snippet: A -->", error),
        ("<!-- Snippet: a -->", error),
        (" <!-- snippet: a -->", error),
        ("<!-- snippet: a --> ", error),
        ("text <!-- snippet: a -->", error),
        ("<!-- snippet: a --><!-- end snippet -->", error),
        ("<!-- record: nosuch -->", error),
        ("<!-- record: output a b -->", error),
        ("<!-- record: output on h200 -->", error),
        ("<!-- emulated: output on h200/sm_80 -->", error),
        ("<!-- end holds -->", error),
        ("<!-- END record -->", error),
        ("<!-- end  record -->", error),
        ("<!-- holds: a == 1 -->", error),
        ("<!-- holds: a < 1. -->", error),
        ("<!-- holds: 1 < a -->", error),
        ("<!-- holds: a < 1e5 -->", error),
        ("<!-- holds: a < -->", error),
        ("<!-- recrod: output -->", warning),
        ("<!-- snipet: a -->", warning),
        ("<!-- end recrod -->", warning),
        ("<!-- note: the end -->", None),
        ("<!-- end of the lesson -->", None),
        ("<!-- prettier-ignore -->", None),
        ("write `<!-- snippet: a -->` there", None),
        ("``<!-- snippet: a -->` `` there", None),
        ("<!-- holds: a < -1.50 on h200/sm_80 -->", None),
    ];
    for (line, expect) in cases {
        let (_, mut findings) = Page::parse("README.md", &format!("# T\n{line}\n"));
        // Two markers on one line are two findings; an END that is read closes nothing.
        findings.retain(|finding| finding.rule == Rule::RegionMarker);
        let found = findings.first().map(|finding| finding.severity);
        assert_eq!(found, expect, "{line}: {findings:?}");
    }
}

#[test]
fn blank_bodies_are_those_of_records() {
    let (page, _) = Page::parse("README.md", PAGE);
    let blanks: Vec<_> = page.regions.iter().map(blank_body).collect();
    let state = "**UNVERIFIED.** No reviewed record of this lesson exists yet, so this page shows \
                 no output of it.\n";
    let output = "*Nothing is shown here until a run on real hardware has been recorded and \
                  somebody else has reviewed it.*\n";
    assert_eq!(blanks[..2], [Some(state), Some(output)]);
    assert_eq!(blanks[2..], [None, None]);
    let spread = Region { name: "spread".to_owned(), ..page.regions[1].clone() };
    assert_eq!(blank_body(&spread), Some(output));
}

#[test]
fn regions_are_replaced_and_nothing_else() {
    let (page, _) = Page::parse("README.md", PAGE);
    let text = page.replace_regions(&[(3, "b\nc\n".to_owned()), (2, "x\n".to_owned())]).unwrap();
    let expect =
        PAGE.replace("a\n<!-- end s", "b\nc\n<!-- end s").replace("<!-- end e", "x\n<!-- end e");
    assert_eq!(text, expect);
}

#[test]
fn edits_that_would_break_the_page_are_refused() {
    let (page, _) = Page::parse("README.md", PAGE);
    let cases = [
        (vec![(9, "")], EditError::NoRegion(9)),
        (vec![(0, "a")], EditError::OpenLine(0)),
        (vec![(0, ""), (0, "")], EditError::Twice(0)),
        (vec![(0, "<!-- end record -->\n")], EditError::BreaksPage),
        (vec![(0, "```\n")], EditError::BreaksPage),
        (vec![(0, "<!--\n")], EditError::BreaksPage),
        (
            vec![(0, "<!-- end record -->\n<!-- holds: a < b -->\n<!-- record: state -->\n")],
            EditError::BreaksPage,
        ),
    ];
    for (edits, expect) in cases {
        let edits: Vec<_> = edits.into_iter().map(|(at, body)| (at, body.to_owned())).collect();
        assert_eq!(page.replace_regions(&edits), Err(expect), "{edits:?}");
    }
}

#[test]
fn hostile_pages_take_linear_time() {
    let pieces = [
        "<!-- record: state -->\n",
        "<!-- end snippet -->\n",
        "`",
        "` ``",
        "<!-- -->",
        "<!--",
        "<!--\n",
        "```\n",
        "1 ms ",
        "<!-- snippet: a -->\n<!-- end snippet -->\n",
        "1 ",
        "<!-- a: -->",
    ];
    for piece in pieces {
        let (page, _) = Page::parse("README.md", &piece.repeat((1 << 18) / piece.len()));
        measured_numbers(&page);
    }
    // Runs of backticks, each of another length.
    let runs: String = (1..700).map(|length| "`".repeat(length) + " ").collect();
    Page::parse("README.md", &runs);
}

proptest! {
    #[test]
    fn any_text_is_read(text in any::<String>()) {
        round_trip(&text)?;
    }

    #[test]
    fn any_order_of_lines_is_read(
        pieces in proptest::collection::vec(
            proptest::sample::select(&[
                "<!-- record: state -->\n", "<!-- end record -->\n", "<!-- snippet: é -->",
                "\n", "\r\n", "```\n",
                "<!-- snippet: a -->\r\n", "<!-- end snippet -->\n", "x\n",
                "<!--", "-->\n", "~~~~\n", "` ",
                "<!-- holds: a < 1 -->\n", "# T\n", "é``",
            ][..]),
            0..24,
        ),
    ) {
        round_trip(&pieces.concat())?;
    }
}

/// Replacing every body by itself is no change.
fn round_trip(text: &str) -> Result<(), TestCaseError> {
    let (page, _) = Page::parse("README.md", text);
    measured_numbers(&page);
    let edits: Vec<_> = page.regions.iter().map(|r| page.body(r).to_owned()).enumerate().collect();
    prop_assert_eq!(page.replace_regions(&edits), Ok(text.to_owned()));
    Ok(())
}
