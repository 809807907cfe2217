//! Encodings, sizes and conflict markers.

use super::*;

#[test]
fn line_ends_do_not_count_and_encodings_do() {
    let digest = text_digest(b"a\nb\n");
    assert_eq!(digest, Ok(Digest::of("a\nb\n")));
    for same in [&b"a\r\nb\r\n"[..], b"a\rb\r", b"a\r\nb\n"] {
        assert_eq!(text_digest(same), digest);
    }
    assert_ne!(text_digest(b"a\nb"), digest);
    assert_eq!(text_digest(b"\xef\xbb\xbfa"), Err(NotText::ByteOrderMark));
    assert_eq!(text_digest(b"ab\xff"), Err(NotText::NotUtf8(2)));
    assert_eq!(text_digest(&vec![b'a'; 1_048_577]), Err(NotText::TooLarge(1_048_577)));
    assert!(text_digest(&vec![b'a'; 1_048_576]).is_ok());
}

#[test]
fn what_does_not_show_is_found() {
    type Case<'a> = (&'a [u8], &'a [(Rule, Option<u32>)]);
    let cases: &[Case<'_>] = &[
        ("int a;\r\n\té\n".as_bytes(), &[]),
        (b"\xef\xbb\xbfa", &[(Rule::TextEncoding, Some(1))]),
        (b"a\nb\xff", &[(Rule::TextEncoding, Some(2))]),
        (b"a\rb\nc\0\n", &[(Rule::TextEncoding, Some(1)), (Rule::TextEncoding, Some(2))]),
        ("a\u{202e}b".as_bytes(), &[(Rule::TextEncoding, Some(1))]),
        (&[b'a'; MAX_TEXT_BYTES + 1], &[(Rule::TextSize, None)]),
    ];
    for (bytes, expect) in cases {
        let (_, findings) = check_text("f".into(), bytes);
        let found: Vec<_> = findings.iter().map(|f| (f.rule, f.place.line)).collect();
        assert_eq!(found, *expect);
    }
}

#[test]
fn leftovers_of_a_merge_are_found() {
    let text = "a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n======\n <<<<<<< a\nk<<<<<<< \n";
    let lines: Vec<_> =
        conflict_markers("f".into(), text).into_iter().map(|f| (f.rule, f.place.line)).collect();
    assert_eq!(lines, [2, 4, 6].map(|line| (Rule::ConflictMarker, Some(line))));
    assert_eq!(conflict_markers("f".into(), "=======\r\n").len(), 1);
}

#[test]
fn lines_know_where_they_are() {
    let found: Vec<_> = lines("a\r\n\nbc").map(|l| (l.number, l.start, l.text, l.end)).collect();
    assert_eq!(found, [(1, 0, "a", 3), (2, 3, "", 4), (3, 4, "bc", 6)]);
    assert_eq!(lines("").count(), 0);
}

#[test]
fn the_first_differing_line_is_named() {
    assert_eq!(differing_line("a\nb\n", "a\nb\n"), None);
    assert_eq!(differing_line("a\nb\n", "a\nc\n"), Some((2, Some("b\n"), Some("c\n"))));
    assert_eq!(differing_line("a\n", "a\nc"), Some((2, None, Some("c"))));
    assert_eq!(differing_line("a", "a\n"), Some((1, Some("a"), Some("a\n"))));
}
