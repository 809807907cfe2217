//! Headers: commands and status paragraphs, well-formed and not.

use proptest::prelude::*;

use super::super::{StatusError, StatusWord, code_digest, replace_status};
use super::*;
use crate::finding::Severity;

const HEADER: &str = "\
// Day 75: split arrive and wait
//
// Build: nvcc -std=c++17 -O3 -arch=sm_80 -o barrier_pipeline barrier_pipeline.cu
// Run:   ./barrier_pipeline
//
// Status: UNVERIFIED
//   no reviewed record of this code exists, so the page shows no output
//   `cargo xtask status` says what is missing
//
// MIT License
int a;
";

fn found(source: &str) -> Vec<(Rule, u32)> {
    let (_, findings) = Header::parse("a.cu".into(), source);
    findings.iter().map(|f| (f.rule, f.place.line.unwrap_or(0))).collect()
}

#[test]
fn the_header_is_read() {
    let (header, findings) = Header::parse("a.cu".into(), HEADER);
    assert_eq!(findings, []);
    let build = header.build.unwrap();
    assert_eq!(build.line, 3);
    assert_eq!(
        build.text,
        "nvcc -std=c++17 -O3 -arch=sm_80 -o barrier_pipeline barrier_pipeline.cu"
    );
    assert_eq!(build.argv.len(), 7);
    assert_eq!(header.run.unwrap().argv, ["./barrier_pipeline"]);
    let status = header.status.unwrap();
    assert_eq!((status.word, status.first_line), (StatusWord::Unverified, 6));
    assert_eq!(&HEADER[status.range], status.lines.join("\n"));
}

#[test]
fn faulty_headers_are_found_where_they_are() {
    use Rule as R;
    let change = |from: &str, to: &str| {
        assert!(HEADER.contains(from), "{from}");
        HEADER.replacen(from, to, 1)
    };
    let cases: &[(String, &[(Rule, u32)])] = &[
        (HEADER.replace('\n', "\r\n"), &[]),
        (change("// Build:", "// Built:"), &[(R::HeaderMissing, 1)]),
        (
            change("// Day", "\n// Day"),
            &[(R::HeaderMissing, 1), (R::HeaderMissing, 1), (R::StatusElsewhere, 7)],
        ),
        (change("// MIT", "// Run: ./b"), &[(R::HeaderCommand, 10)]),
        (change("nvcc", "nvcc 'a"), &[(R::HeaderCommand, 3)]),
        (change("./barrier_pipeline", "./barrier_pipeline | head"), &[(R::HeaderCommand, 4)]),
        (change("./barrier_pipeline", ""), &[(R::HeaderCommand, 4)]),
        (change("barrier_pipeline.cu", "\\"), &[(R::HeaderCommand, 3)]),
        (change("UNVERIFIED", "FINE"), &[(R::StatusParagraph, 6)]),
        (change("UNVERIFIED", "UNVERIFIED "), &[(R::StatusParagraph, 6)]),
        (change("// Status", "//  status"), &[(R::StatusParagraph, 6)]),
        (change("//   no", "// no"), &[(R::StatusParagraph, 6)]),
        (change("//\n// MIT", "//   more\n// MIT"), &[(R::StatusParagraph, 6)]),
        (change("no output\n", "no output\\\n"), &[(R::StatusParagraph, 7)]),
        (change("is missing\n", "is missing ??/ \n"), &[(R::StatusParagraph, 8)]),
        (
            change("// MIT", "// Status: VERIFIED\n//   a\n//   b\n// MIT"),
            &[(R::StatusParagraph, 10)],
        ),
        (change("int a;", "// Status: VERIFIED\nint a;"), &[(R::StatusParagraph, 11)]),
        (change("int a;", "int a; // Status: VERIFIED"), &[(R::StatusElsewhere, 11)]),
        (change("int a;", "/*\n * Status: VERIFIED, surely */"), &[(R::StatusElsewhere, 12)]),
        (change("int a;", "R\"(\n// Status: VERIFIED\n)\""), &[(R::StatusElsewhere, 12)]),
        (change("int a;", "\"// Status: VERIFIED\""), &[(R::StatusElsewhere, 11)]),
        (change("int a;", "int a; // status: all is well"), &[]),
    ];
    for (source, expect) in cases {
        assert_eq!(found(source), *expect, "{source}");
    }
    let (_, findings) = Header::parse("a.cu".into(), &change("int a;", "\"Status: VERIFIED\""));
    assert_eq!(findings[0].severity, Severity::Warning);
}

#[test]
fn only_a_sound_paragraph_is_handed_out() {
    for wrong in ["// Status: FINE", "// Status: VERIFIED\\"] {
        let source = HEADER.replace("// Status: UNVERIFIED", wrong);
        assert_eq!(Header::parse("a.cu".into(), &source).0.status, None, "{wrong}");
    }
}

#[test]
fn replacing_the_status_keeps_everything_else() {
    let new = ["// Status: VERIFIED", "//   record abc", "//   reviewed by é"].map(str::to_owned);
    for source in [HEADER.to_owned(), HEADER.replace('\n', "\r\n")] {
        let status = Header::parse("a.cu".into(), &source).0.status.unwrap();
        assert_eq!(replace_status(&source, &status, &status.lines).as_ref(), Ok(&source));
        let replaced = replace_status(&source, &status, &new).unwrap();
        assert_eq!(replaced.lines().count(), source.lines().count());
        assert_eq!(code_digest(&replaced), code_digest(&source));
        let (header, findings) = Header::parse("a.cu".into(), &replaced);
        assert_eq!(findings, []);
        let back = header.status.unwrap();
        assert_eq!(back.lines, new);
        assert_eq!(replace_status(&replaced, &back, &status.lines).as_ref(), Ok(&source));
    }
}

#[test]
fn a_line_that_would_not_read_back_is_refused() {
    let status = Header::parse("a.cu".into(), HEADER).0.status.unwrap();
    let good = status.lines.clone();
    let wrong = [
        (0, "// Status: FINE"),
        (0, "//   text"),
        (1, "// text"),
        (1, "//   "),
        (1, "//   a\nint b;"),
        (1, "//   a\\"),
        (2, "//   a??/ "),
        (2, "// Status: VERIFIED"),
    ];
    for (index, line) in wrong {
        let mut lines = good.clone();
        lines[index] = line.to_owned();
        let expect = Err(StatusError::Line(line.to_owned()));
        assert_eq!(replace_status(HEADER, &status, &lines), expect);
    }
    assert_eq!(replace_status("other", &status, &good), Err(StatusError::Moved));
    let moved = format!("\n{HEADER}");
    assert_eq!(replace_status(&moved, &status, &good), Err(StatusError::Moved));
}

proptest! {
    #[test]
    fn any_text_is_read(source in any::<String>()) {
        Header::parse("a.cu".into(), &source);
    }

    #[test]
    fn any_order_of_lines_is_read(
        pieces in proptest::collection::vec(
            proptest::sample::select(&[
                "// Status: VERIFIED\n", "//   a\n", "//   a\\\n",
                "// Run: a\n", "// Build: '\r\n", "\n", "/*",
                "*/", "x", "\u{feff}",
            ][..]),
            0..20,
        ),
    ) {
        let source = pieces.concat();
        if let Some(status) = Header::parse("a.cu".into(), &source).0.status {
            prop_assert_eq!(replace_status(&source, &status, &status.lines), Ok(source.clone()));
        }
    }
}
