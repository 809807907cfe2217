//! The page's commands against the header's: the same, missing, in another order, others beside.

use super::*;

const BUILD: &str = "nvcc -O3 -o a a.cu";

/// The lines of the findings for a page that shows this, `0` for the whole page.
fn found(text: &str) -> Vec<u32> {
    let source = format!("// Build: {BUILD}\n// Run: ./a\n");
    let (header, _) = Header::parse("a.cu".into(), &source);
    let (page, _) = Page::parse("README.md", text);
    let findings = check_commands(&header, &page, "lessons/x/a.cu".into());
    assert!(findings.iter().all(|finding| finding.rule == Rule::CommandsDiffer));
    findings.iter().map(|finding| finding.place.line.unwrap_or(0)).collect()
}

#[test]
fn the_page_shows_the_headers_commands() {
    let shown = format!("```sh\n{BUILD}\n./a\n```\n");
    let cases: [(String, &[u32]); 13] = [
        (shown.clone(), &[]),
        (format!("```sh\ncd x\n{BUILD}\nls\n./a\n```\n"), &[]),
        (format!("```sh\n./a\n{BUILD}\n```\n"), &[0]),
        (format!("```sh\n{BUILD}\n```\n```\n./a\n```\n"), &[0]),
        (format!("```sh\n{BUILD} \n./a\n```\n"), &[0, 2]),
        (format!("{BUILD}\n./a\n"), &[0, 0]),
        (format!("<!-- record: output -->\n{shown}<!-- end record -->\n"), &[0, 0]),
        (format!("{shown}```sh\nnvcc -O2 a.cu\n```\n"), &[6]),
        (format!("{shown}```sh\n$ /opt/nvcc -O2 \\\n  x/a.cu\n```\n"), &[6]),
        (format!("{shown}```sh variant\nnvcc -O2 a.cu\n```\n"), &[]),
        (format!("{shown}```sh\nnvcc -O2 b.cu\nnvcc --version\n```\n"), &[]),
        (format!("{shown}nvcc -O2 a.cu\n"), &[]),
        (String::new(), &[0, 0]),
    ];
    for (text, expect) in cases {
        assert_eq!(found(&text), expect, "{text}");
    }
}

#[test]
fn what_the_header_lacks_is_not_asked_for() {
    let (page, _) = Page::parse("README.md", "```\nnvcc -O2 a.cu\n```\n");
    assert_eq!(check_commands(&Header::default(), &page, "a.cu".into()), []);
}
