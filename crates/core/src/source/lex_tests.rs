//! Expected spans follow the C++17 standard's [lex] clauses; where g++ goes further, its own
//! behaviour.

use proptest::prelude::*;

use super::super::check_lexing;
use super::*;
use crate::finding::Rule;

/// The spans but for blanks and line ends, as `kind:text`.
fn shown(source: &str) -> Vec<String> {
    let keep = |span: &&Span| !matches!(span.kind, SpanKind::White | SpanKind::Newline);
    let show = |span: &Span| format!("{:?}:{}", span.kind, span.spelling(source));
    lex(source).spans.iter().filter(keep).map(show).collect()
}

#[test]
fn sources_become_the_expected_spans() {
    let cases: &[(&str, &[&str])] = &[
        ("a // b\nc", &["Ident:a", "LineComment:// b", "Ident:c"]),
        ("// a\\\nb\nc", &["LineComment:// ab", "Ident:c"]),
        ("/\\\n/ a\n", &["LineComment:// a"]),
        ("/* // */x*/", &["BlockComment:/* // */", "Ident:x", "Punct:*", "Punct:/"]),
        ("/* *\\\n/ y", &["BlockComment:/* */", "Ident:y"]),
        ("1'000'0 'a'", &["Number:1'000'0", "Char:'a'"]),
        (
            "0x1e+5 1.e-3f .5 ..",
            &["Number:0x1e+5", "Number:1.e-3f", "Number:.5", "Punct:.", "Punct:."],
        ),
        (r#"L"a\"b" u8'x' "c"_k"#, &[r#"String:L"a\"b""#, "Char:u8'x'", r#"String:"c"_k"#]),
        ("R\"x(a)\"b)x\" c", &["RawString:R\"x(a)\"b)x\"", "Ident:c"]),
        ("u8R\"(//)\" fooR\"(a)\"", &["RawString:u8R\"(//)\"", "Ident:fooR", "String:\"(a)\""]),
        ("'\"' \"//\" '\\''", &["Char:'\"'", "String:\"//\"", "Char:'\\''"]),
        ("a+++b", &["Ident:a", "Punct:++", "Punct:+", "Ident:b"]),
        (
            "k<<<1,2>>>()",
            &[
                "Ident:k",
                "Punct:<<<",
                "Number:1",
                "Punct:,",
                "Number:2",
                "Punct:>>>",
                "Punct:(",
                "Punct:)",
            ],
        ),
        ("X<::Y>", &["Ident:X", "Punct:<", "Punct:::", "Ident:Y", "Punct:>"]),
        ("#include <a b.h>", &["Punct:#", "Ident:include", "HeaderName:<a b.h>"]),
        (
            "#if __has_include(<a-b>)",
            &[
                "Punct:#",
                "Ident:if",
                "Ident:__has_include",
                "Punct:(",
                "HeaderName:<a-b>",
                "Punct:)",
            ],
        ),
        ("a < b > c", &["Ident:a", "Punct:<", "Ident:b", "Punct:>", "Ident:c"]),
        ("é$_1 @", &["Ident:é$_1", "Other:@"]),
        ("a\\\r\nb", &["Ident:ab"]),
        ("\u{feff}#x", &["Punct:#", "Ident:x"]),
    ];
    for (source, expect) in cases {
        assert_eq!(shown(source), *expect, "{source:?}");
        assert_eq!(lex(source).problems, [], "{source:?}");
    }
}

#[test]
fn every_doubt_is_reported_with_its_line() {
    use ProblemKind as K;
    let cases: &[(&str, &[(u32, K)])] = &[
        ("a\n/* b\n", &[(2, K::UnterminatedComment)]),
        ("\"a\nb\"\n", &[(1, K::UnterminatedString), (2, K::UnterminatedString)]),
        ("don't\n", &[(1, K::UnterminatedChar)]),
        ("\nR\"(a", &[(2, K::UnterminatedRawString)]),
        ("R\"a b(c)a b\"", &[(1, K::RawDelimiter)]),
        ("#define X R\"(a\nb)\"\n", &[(1, K::RawStringInDirective)]),
        ("// what??/\nint a;", &[(1, K::Trigraph)]),
        ("// a\rint b;\n", &[(1, K::LoneCarriageReturn)]),
        ("// a\\ \nint b;\n", &[(1, K::BlankAfterBackslash)]),
        ("// a\0\n\u{a0}#define X\n", &[(1, K::UnusualCharacter), (2, K::UnusualCharacter)]),
        ("a\\u00e9", &[(1, K::StrayBackslash)]),
        ("#include <a/*b>\n", &[(1, K::OddHeaderName)]),
        ("#include \"a\\b\"\n", &[(1, K::OddHeaderName)]),
        ("#define H <a>\n#include H\n", &[(2, K::ComputedInclude)]),
        ("#define H __has_include\n", &[(1, K::HiddenHeaderName)]),
        ("#pragma GCC dependency <a>\n", &[(1, K::HiddenHeaderName)]),
        ("\"a\"R\"(b)\"", &[(1, K::AmbiguousSuffix)]),
        ("int a; // fine, isn't it?\nR\"(\n\\ don't /* )\";\n#pragma unroll 4\n", &[]),
    ];
    for (source, expect) in cases {
        let lexed = lex(source);
        let found: Vec<_> = lexed.problems.iter().map(|p| (p.line, p.kind)).collect();
        assert_eq!(found, *expect, "{source:?}");
        let findings = check_lexing("a.cu".into(), &lexed);
        let found: Vec<_> = findings.iter().map(|f| (f.place.line, f.rule)).collect();
        let expect: Vec<_> = expect.iter().map(|e| (Some(e.0), Rule::SourceLexing)).collect();
        assert_eq!(found, expect, "{source:?}");
    }
}

#[test]
fn hostile_sources_take_linear_time() {
    // Quadratic work on this much would be felt: billions of steps.
    for piece in
        ["\\\n", "__has_include(<", "(<", "/*", "\\ ", "R\"a(", "'", "<", "*\\\n", "//\\\n", ")a"]
    {
        let source = piece.repeat(super::super::MAX_TEXT_BYTES / 16 / piece.len());
        lex(&source);
        lex(&format!("R\"a({source}"));
        lex(&format!("x {source}"));
    }
}

proptest! {
    #[test]
    fn spans_cover_any_text(source in any::<String>()) {
        covers(&source)?;
    }

    #[test]
    fn spans_cover_text_made_of_tricky_pieces(
        pieces in proptest::collection::vec(proptest::sample::select(TRICKY), 0..40),
    ) {
        covers(&pieces.concat())?;
    }
}

const TRICKY: &[&str] = &[
    "/",
    "*",
    "\\",
    "\n",
    "\r\n",
    "\r",
    " ",
    "\"",
    "'",
    "R\"",
    "(",
    ")",
    "x",
    "é",
    "1",
    "<",
    ">",
    "#include",
    "#define ",
    "__has_include",
    "??/",
    "u8",
    "\u{feff}",
    "//",
    "/*",
    ":",
    "=",
    "%",
    ".",
];

fn covers(source: &str) -> Result<(), TestCaseError> {
    let lexed = lex(source);
    let text: String = lexed.spans.iter().map(|span| span.text(source)).collect();
    prop_assert_eq!(&text, source);
    for span in &lexed.spans {
        let line = 1 + source[..span.range.start].matches('\n').count();
        prop_assert_eq!(span.line as usize, line);
        prop_assert!(!span.range.is_empty());
    }
    Ok(())
}
