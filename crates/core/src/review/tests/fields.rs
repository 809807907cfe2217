//! The text of an entry: what it is, and that nothing else is one.

use proptest::prelude::*;

use super::*;
use crate::review::EntryError;

/// The three kinds, as the design describes them, by hand.
fn samples() -> [(Entry, String); 3] {
    let (record, shown) = (record(), rendering().digest);
    let text = |kind: &str, names: &str, tail: &str| {
        format!(
            "schema = 1\nkind = \"{kind}\"\nlesson = \"day-75-async-barriers\"\n{names}\n\
             reviewer = \"bob\"\nsigned_at = \"{NOON}\"\nreason = \"it is so\"\n{tail}"
        )
    };
    let of_record = format!("record = \"{record}\"");
    let tail = format!("\n[rendering]\nformat = 1\ndigest = \"{shown}\"\n");
    [
        (entry(accept(record), "bob", NOON), text("accept", &of_record, &tail)),
        (entry(reject(record), "bob", NOON), text("reject", &of_record, "")),
        (entry(revoke(shown), "bob", NOON), text("revoke", &format!("target = \"{shown}\""), "")),
    ]
}

#[test]
fn an_entry_has_one_text() {
    for (entry, text) in samples() {
        assert_eq!(entry.to_toml(), text);
        assert_eq!(Entry::parse(text.as_bytes()), Ok(entry));
    }
}

#[test]
fn every_field_is_needed_known_once_and_of_its_type() {
    for (entry, text) in samples() {
        let lines: Vec<_> = text.lines().collect();
        for (at, line) in lines.iter().enumerate().filter(|(_, line)| line.contains(" = ")) {
            let with = |replacement: &[&str]| {
                [&lines[..at], replacement, &lines[at + 1..]].concat().join("\n") + "\n"
            };
            let (name, value) = line.split_once(" = ").unwrap();
            let (renamed, other) = (format!("x{line}"), format!("{name} = true"));
            let (number, float) = (format!("{name} = -7"), format!("{name} = 1.0"));
            let (empty, array) = (format!("{name} = \"\""), format!("{name} = [{value}]"));
            let upper = format!("{name} = {}", value.to_uppercase());
            let open = line.trim_end_matches(['"', '1']);
            for (what, replacement) in [
                ("dropped", &[][..]),
                ("doubled", &[*line, *line]),
                ("renamed", &[&renamed]),
                ("boolean", &[&other]),
                ("number", &[&number]),
                ("float", &[&float]),
                ("empty", &[&empty]),
                ("array", &[&array]),
                ("open", &[open]),
                ("joined by an unknown one", &[line, "unknown = 1"]),
            ] {
                let changed = with(replacement);
                assert!(Entry::parse(changed.as_bytes()).is_err(), "{name} {what}:\n{changed}");
            }
            // Upper case is another lesson or reason, and no digest, kind, time or number.
            let changed = Entry::parse(with(&[&upper]).as_bytes());
            let free = matches!(name, "lesson" | "reason" | "reviewer");
            let same = value.to_uppercase() == value;
            assert_eq!(changed.is_ok(), free || same, "{name}: {upper}");
            assert_eq!(changed.as_ref() == Ok(&entry), same, "{name}: {upper}");
        }
    }
}

#[test]
fn a_field_of_another_kind_has_no_place() {
    for (entry, text) in samples() {
        let kind = entry.verdict().kind();
        let digest = record();
        let extra = |line: String| text.replacen("schema", &format!("{line}\nschema"), 1);
        for field in ["record", "target"] {
            let changed = extra(format!("{field} = \"{digest}\""));
            assert!(Entry::parse(changed.as_bytes()).is_err(), "{kind} with {field}");
        }
        let changed = format!("{text}\n[rendering]\nformat = 1\ndigest = \"{digest}\"\n");
        assert!(Entry::parse(changed.as_bytes()).is_err(), "{kind} with one more rendering");
    }
    let (_, text) = &samples()[2];
    let changed = text.replace("revoke", "reject");
    let errors = Entry::parse(changed.as_bytes()).unwrap_err();
    use crate::review::EntryKind::Reject;
    assert_eq!(errors, [EntryError::Extra(Reject, "target"), EntryError::Missing("record")]);
}

/// The accepted sample with one value replaced: which error that gives.
#[track_caller]
fn check(from: &str, to: &str, expect: Option<EntryError>) {
    let (_, text) = &samples()[0];
    assert!(text.contains(from));
    let found = Entry::parse(text.replace(from, to).as_bytes());
    assert_eq!(found.err().unwrap_or_default(), Vec::from_iter(expect), "{from} -> {to}");
}

#[test]
fn each_value_is_held_to_its_form() {
    use EntryError::*;
    check("schema = 1", "schema = 2", Some(Schema(2)));
    check("\"accept\"", "\"accepted\"", Some(Kind("accepted".to_owned())));
    check(
        "reviewer = \"bob\"",
        "reviewer = \"b*\"",
        Some("b*".parse::<crate::trust::Principal>().unwrap_err().into()),
    );
    for lesson in ["", ".", "..", "a/b", "a\\\\b", "a\\nb", "a\\u0000", &"x".repeat(256)] {
        check(LESSON, lesson, Some(Lesson));
    }
    for at in [
        "2025-06-01T12:00:00.5Z",
        "2025-06-01T12:00:00.0Z",
        "2025-06-01T14:00:00+02:00",
        "2025-06-01T12:00:00+00:00",
        "2025-06-01t12:00:00z",
        "2025-06-01 12:00:00Z",
        "2025-06-01T12:00Z",
        "2025-06-01T12:00:00",
        "2025-02-30T12:00:00Z",
        "1969-12-31T23:59:59Z",
        "2025-06-01T12:00:60Z",
        "-000001-06-01T12:00:00Z",
        "2025-06-01T12:00:00Z ",
        "noon",
    ] {
        check(NOON, at, Some(SignedAt));
    }
    for blank in ["", " ", "\\n \\n", "\u{3000}"] {
        check("it is so", blank, Some(NoReason));
    }
    check("it is so", &"é".repeat(2000), None);
    check("it is so", &"\u{1f600}".repeat(2000), None);
    check("it is so", &"\\n".repeat(1999).replacen("\\n", "x", 1), None);
    check("it is so", &"é".repeat(2001), Some(LongReason(2001)));
    check("it is so", "a\\nb", None);
    for (c, code) in [
        ("\\t", 9),
        ("\\r", 13),
        ("\\u0000", 0),
        ("\\u001b", 27),
        ("\\u007f", 127),
        ("\\u009b", 0x9b),
        ("\\u2028", 0x2028),
        ("\u{202e}", 0x202e),
        ("\u{2066}", 0x2066),
        ("\u{200f}", 0x200f),
    ] {
        check("it is so", &format!("a{c}b"), Some(Unshowable(code)));
    }
    check(&record().to_string(), &record().to_string()[1..], Some(Digest("record")));
    check(&rendering().digest.to_string(), "0", Some(Digest("rendering")));
}

#[test]
fn all_that_is_wrong_is_reported() {
    let text = "schema = 3\nkind = 'x'\nlesson = ''\nreviewer = '*'\nsigned_at = ''\nreason = ''";
    assert_eq!(Entry::parse(text.as_bytes()).unwrap_err().len(), 6);
    assert_eq!(Entry::parse(b"").unwrap_err().len(), 6);
    let long = " ".repeat(Entry::BYTES_MAX + 1);
    assert_eq!(Entry::parse(long.as_bytes()), Err(vec![EntryError::TooLong(long.len())]));
    assert_eq!(Entry::parse(b"a = \"\xff\""), Err(vec![EntryError::Encoding(5)]));
    assert!(Entry::parse("a=[".repeat(5000).as_bytes()).is_err());
    let long = "x".repeat(2001) + "\u{7}";
    let parts = Entry::new(
        revoke(record()),
        "..",
        "bob".parse().unwrap(),
        time("1960-01-01T00:00:00Z"),
        &long,
    );
    assert_eq!(parts.unwrap_err().len(), 4);
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let verdict = (0..3, any::<u32>(), "[a-c]").prop_map(|(kind, format, seed)| {
        let digest = Digest::of(seed);
        match kind {
            0 => Verdict::Accept { record: digest, rendering: Rendering { format, digest } },
            1 => reject(digest),
            _ => revoke(digest),
        }
    });
    let (lesson, reviewer) = ("[a-zA-Z0-9 \"'é-]{1,20}", "[a-z0-9][a-z@._+-]{0,10}");
    let reason = "[x\"'\\\\\n#=\\[é\u{1f600}]{0,60}z";
    let seconds = 0..253_402_207_200i64 - 86_400;
    (verdict, lesson, reviewer, seconds, reason).prop_map(
        |(verdict, lesson, name, second, reason)| {
            let at = Timestamp::from_second(second).unwrap();
            Entry::new(verdict, &lesson, name.parse().unwrap(), at, &reason).unwrap()
        },
    )
}

proptest! {
    #[test]
    fn an_entry_survives_its_text(entry in any_entry()) {
        prop_assert_eq!(Entry::parse(entry.to_toml().as_bytes()), Ok(entry));
    }

    #[test]
    fn a_changed_byte_is_another_entry_or_none(
        entry in any_entry(), at in any::<prop::sample::Index>(), byte in any::<u8>()
    ) {
        let text = entry.to_toml().into_bytes();
        let mut changed = text.clone();
        changed[at.index(text.len())] = byte;
        if let Ok(read) = Entry::parse(&changed) {
            // One whose canonical text these bytes are, or the stored bytes are not canonical.
            prop_assert_eq!(read == entry && read.to_toml().as_bytes() == changed, changed == text);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = Entry::parse(&bytes);
    }
}
