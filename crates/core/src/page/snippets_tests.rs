//! Snippet regions against snippets: shown, missing, changed, unused.

use super::*;
use crate::source::snippets;

#[test]
fn the_fence_is_longer_than_what_it_holds() {
    for (text, expect) in [
        ("a\n", "```cuda\na\n```\n"),
        ("a", "```cuda\na\n```\n"),
        ("", "```cuda\n```\n"),
        ("`x` ```` y\n```\n", "`````cuda\n`x` ```` y\n```\n`````\n"),
    ] {
        assert_eq!(snippet_body(text), expect);
        let page = format!("# T\n<!-- snippet: a -->\n{expect}<!-- end snippet -->\n");
        let (page, findings) = Page::parse("README.md", &page);
        assert_eq!(findings, []);
        assert_eq!(page.body(&page.regions[0]), expect);
    }
}

#[test]
fn pages_show_what_programs_hold() {
    use Rule as R;
    let source = "// snippet: one\na\nb\n// end snippet\n// snippet: two\nc\n// end snippet\n";
    let (snippets, _) = snippets("a.cu".into(), source);
    let region =
        |name: &str, body: &str| format!("<!-- snippet: {name} -->\n{body}<!-- end snippet -->\n");
    let (one, two) = (region("one", "```cuda\na\nb\n```\n"), region("two", "```cuda\nc\n```\n"));
    let cases: [(String, &[(Rule, &str)]); 7] = [
        (format!("{one}{two}"), &[]),
        (format!("{one}{two}").replace('\n', "\r\n"), &[]),
        (one.clone(), &[(R::SnippetUnused, "a.cu:5")]),
        (format!("{one}{two}{}", region("three", "")), &[(R::SnippetMissing, "README.md:12")]),
        (format!("{one}{}", region("two", "")), &[(R::SnippetDiffers, "README.md:8")]),
        (format!("{}{two}", one.replace("b\n", "x\n")), &[(R::SnippetDiffers, "README.md:4")]),
        (format!("{}{two}", one.replace("b\n", "b\nx\n")), &[(R::SnippetDiffers, "README.md:5")]),
    ];
    for (text, expect) in cases {
        let (page, _) = Page::parse("README.md", &text);
        let findings = check_snippets(&page, &snippets);
        let found: Vec<_> = findings.iter().map(|f| (f.rule, f.place.to_string())).collect();
        let expect: Vec<_> = expect.iter().map(|(rule, at)| (*rule, (*at).to_owned())).collect();
        assert_eq!(found, expect, "{text}");
        // What is written for the differing regions is what the check asks for.
        let (synced, _) = Page::parse(
            "README.md",
            &page.replace_regions(&snippet_edits(&page, &snippets)).unwrap(),
        );
        let mut left = check_snippets(&synced, &snippets);
        left.retain(|finding| finding.rule == R::SnippetDiffers);
        assert_eq!(left, []);
        if expect.is_empty() {
            assert_eq!(synced.text, text);
        }
    }
}
