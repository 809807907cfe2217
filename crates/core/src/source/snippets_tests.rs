//! Snippet markers in a source: closed, nested, twice, empty, in strings.

use proptest::prelude::*;

use super::*;

/// The findings of a source as rule and line.
fn found(source: &str) -> Vec<(Rule, u32)> {
    let (_, findings) = snippets("a.cu".into(), source);
    findings.iter().map(|f| (f.rule, f.place.line.unwrap_or(0))).collect()
}

#[test]
fn a_snippet_is_the_lines_between_its_markers() {
    let source = "a\n  // snippet: sync-loop\r\n  b\r\n\n    // end snippet\n\
     // snippet: two\nc\n// end snippet";
    let (snippets, findings) = snippets("a.cu".into(), source);
    assert_eq!(findings, []);
    let shown: Vec<_> =
        snippets.values().map(|s| (s.name.as_str(), s.first_line, s.text.as_str())).collect();
    assert_eq!(shown, [("sync-loop", 3, "  b\n\n"), ("two", 7, "c\n")]);
}

#[test]
fn faulty_markers_are_found_where_they_are() {
    use Rule as R;
    let cases: &[(&str, &[(Rule, u32)])] = &[
        ("// snippet: a\nx\n// end snippet\n", &[]),
        ("x\n// snippet: a\nx\n", &[(R::SnippetUnclosed, 2)]),
        (
            "// snippet: a\nx\n// end snippet // x\n",
            &[(R::SnippetMarker, 3), (R::SnippetUnclosed, 1)],
        ),
        ("\n// end snippet\n", &[(R::SnippetStrayEnd, 2)]),
        (
            "// snippet: a\nx\n// snippet: b\ny\n// end snippet\n// end snippet\n",
            &[(R::SnippetNested, 3)],
        ),
        (
            "// snippet: a\nx\n// end snippet\n// snippet: a\ny\n// end snippet\n",
            &[(R::SnippetDuplicate, 4)],
        ),
        ("// snippet: a\n \t\n\n// end snippet\n", &[(R::SnippetEmpty, 1)]),
        ("// snippet: a\n// end snippet\n", &[(R::SnippetEmpty, 1)]),
        ("//snippet: a\n", &[(R::SnippetMarker, 1)]),
        ("// Snippet: a b\n", &[(R::SnippetMarker, 1)]),
        ("// snippet: A\n", &[(R::SnippetMarker, 1)]),
        ("f(); // snippet: a\n", &[(R::SnippetMarker, 1)]),
        ("/**/ // end snippet\n", &[(R::SnippetMarker, 1)]),
        ("// a snippet: of code\n// ends snippet\n// snippets\n", &[]),
        ("R\"(\n// snippet: a\n)\"; /*\n// end snippet\n*/ \"\\\n// snippet: b\"\n", &[]),
    ];
    for (source, expect) in cases {
        assert_eq!(found(source), *expect, "{source:?}");
    }
}

#[test]
fn a_name_belongs_to_one_program() {
    let (a, _) = snippets("a.cu".into(), "// snippet: x\n1\n// end snippet\n");
    let (b, _) = snippets("b.cu".into(), "\n// snippet: x\n2\n// end snippet\n");
    let (merged, findings) = merge_snippets([a.clone(), b]);
    assert_eq!(merged, a);
    let shown: Vec<_> = findings.iter().map(|f| (f.rule, f.place.to_string())).collect();
    assert_eq!(shown, [(Rule::SnippetDuplicate, "b.cu:2".to_owned())]);
}

proptest! {
    #[test]
    fn any_text_is_read(source in any::<String>()) {
        snippets("a.cu".into(), &source);
    }

    #[test]
    fn any_order_of_markers_is_read(
        pieces in proptest::collection::vec(
            proptest::sample::select(&[
                "// snippet: a\n", "// end snippet\n", "x\n", "// snippet: b\r\n",
                "\\\n", "R\"(", ")\"", "/*",
            ][..]),
            0..20,
        ),
    ) {
        snippets("a.cu".into(), &pieces.concat());
    }
}
