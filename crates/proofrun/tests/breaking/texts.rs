//! Hostile files: line ends, links, pipes, monsters, odd names. None is waited for, followed, or
//! shown raw.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use proofrun_core::trust::{Namespace, sign};
use proofrun_core::{Class, Digest};

use crate::fixture::{Changes, Expect, Fixture, ONE, TWO, Table, change};
use crate::support::course::{LESSON, PAGE, SOURCE};
use crate::support::{RECORDER, REVIEWER, RecordPlan, Scratch, key};

const DRIFT: Expect = Expect::Fails(Class::Drift);
const TAMPERED: Expect = Expect::Fails(Class::Tampered);

fn crlf(bytes: &[u8]) -> Vec<u8> {
    String::from_utf8(bytes.to_vec()).unwrap().replace('\n', "\r\n").into_bytes()
}

#[test]
fn carriage_returns() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    for (path, bytes) in fixture.below(&format!("lessons/{ONE}")) {
        if bytes.is_empty() {
            continue;
        }
        let expect = match path.extension() {
            _ if path.as_str().contains("/evidence/") || path.as_str().contains("/reviews/") => {
                TAMPERED
            }
            Some("cu" | "cuh" | "toml") => {
                Expect::Harmless("sources are digested with their line ends made LF")
            }
            // What is published is compared byte for byte.
            _ => DRIFT,
        };
        table.row(&format!("{path} with CRLF"), &change(&path, crlf(&bytes)), expect);
    }
    table.end(15);
}

#[test]
fn status_paragraphs_that_are_none() {
    let course = Scratch::with_lesson();
    let fixture = Fixture::of(course);
    let mut table = Table::of(&fixture);
    let path = format!("lessons/{LESSON}/scale.cu");
    let status = "// Status: UNVERIFIED\n";
    let third = "//   `cargo xtask status` says what is missing\n";
    let verified =
        "// Status: VERIFIED\n//   code 0 by record 0 of h200/sm_75\n//   reviewed by me\n";
    let code = "int main() { return 0; }\n";
    let cases = [
        ("a backslash", SOURCE.replace(third, &third.replace("missing", "missing\\"))),
        ("a trigraph", SOURCE.replace(third, &third.replace("missing", "missing??/"))),
        ("a backslash in the first", SOURCE.replace(status, "// Status: UNVERIFIED\\\n")),
        ("another word", SOURCE.replace("UNVERIFIED", "CERTIFIED")),
        ("lower case", SOURCE.replace("Status: UNVERIFIED", "status: unverified")),
        ("a lie", SOURCE.replace("UNVERIFIED", "VERIFIED")),
        ("a second one", SOURCE.replace(status, &format!("{verified}{status}"))),
        ("a block comment", SOURCE.replace(code, &format!("/*\nStatus: VERIFIED\n*/\n{code}"))),
        ("further below", SOURCE.replace(code, &format!("{verified}{code}"))),
    ];
    for (what, source) in cases {
        assert_ne!(source, SOURCE, "{what}");
        table.row(what, &change(&path, source), DRIFT);
    }
    // A string is no claim of the header's; it is told, and the header's own paragraph stands.
    let raw = SOURCE.replace(code, &format!("const char* s = R\"(\n{verified})\";\n{code}"));
    table.look("a raw string", &change(&path, raw), |verdict| {
        let told = verdict.code == 0 && verdict.has("status-elsewhere");
        told.then_some(()).ok_or_else(|| "a warning".into())
    });
    // In a raw string *instead* of the header there is none.
    let moved = SOURCE
        .replace(status, "// Nothing.\n")
        .replace(code, &format!("const char* s = R\"(\n{status})\";\n{code}"));
    table.row("only a raw string", &change(&path, moved), DRIFT);
    table.end(11);
}

/// Puts something in place of a file, or beside it, and verifies.
fn check(what: &str, code: u8, rule: &str, act: impl FnOnce(&Scratch)) {
    let fixture = Fixture::published();
    act(&fixture.course);
    let verdict = fixture.verify();
    assert_eq!(verdict.code, code, "{what}: {}", verdict.out);
    assert!(rule.is_empty() || verdict.has(rule), "{what}: no `{rule}` in {}", verdict.out);
}

#[test]
fn links_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let outside = camino::Utf8Path::from_path(outside.path()).unwrap();
    let replace = |course: &Scratch, path: &str| {
        let (full, to) = (course.path().join(path), outside.join(path.replace('/', "-")));
        // Another file system may not take a rename.
        let moved = Command::new("mv").args([&full, &to]).status().unwrap();
        assert!(moved.success());
        symlink(to, full).unwrap();
    };
    let lesson = format!("lessons/{ONE}");
    for (name, code, rule) in [
        ("README.md", 28, "stranger"),
        ("scale.cu", 28, "stranger"),
        ("piece.cuh", 28, "stranger"),
        ("lesson.toml", 28, "stranger"),
        ("evidence", 24, "record-tampered"),
        ("reviews", 28, "stranger"),
        ("snapshots", 28, "stranger"),
    ] {
        check(name, code, rule, |course| replace(course, &format!("{lesson}/{name}")));
    }
    check("lesson", 28, "stranger", |course| replace(course, &lesson));
    check("allowed_signers", 24, "trust-root", |course| {
        replace(course, "research/allowed_signers")
    });
    check("policy.toml", 24, "trust-root", |course| replace(course, "research/policy.toml"));
    check("a link more", 28, "stranger", |course| {
        symlink("/etc/passwd", course.path().join(&lesson).join("notes")).unwrap();
    });
    check("a dangling link", 28, "stranger", |course| {
        symlink("nowhere", course.path().join(&lesson).join("notes")).unwrap();
    });
    check("a link to itself", 28, "stranger", |course| {
        symlink(".", course.path().join(&lesson).join("more")).unwrap();
    });
    check("within the record", 24, "record-tampered", |course| {
        let evidence = course.lesson_path(ONE).join("evidence");
        let folder = evidence.read_dir_utf8().unwrap().next().unwrap().unwrap().into_path();
        symlink("/etc/passwd", folder.join("more")).unwrap();
    });
}

#[test]
fn pipes_are_not_waited_for() {
    let pipe = |course: &Scratch, path: &str| {
        let full = course.path().join(path);
        let _ = fs::remove_file(&full);
        assert!(Command::new("mkfifo").arg(full).status().unwrap().success());
    };
    let lesson = format!("lessons/{ONE}");
    for (path, code) in [
        (format!("{lesson}/pipe"), 28),
        (format!("{lesson}/README.md"), 28),
        (format!("{lesson}/scale.cu"), 28),
        (format!("{lesson}/lesson.toml"), 28),
        (format!("{lesson}/piece.cuh"), 28),
        (format!("{lesson}/evidence/pipe"), 24),
        (format!("{lesson}/reviews/pipe"), 28),
        ("research/allowed_signers".into(), 24),
        ("research/policy.toml".into(), 24),
        // Nobody reads it: a course's common pieces are those that are there.
        ("lessons/common/pipe".into(), 0),
    ] {
        check(&path, code, "", |course| pipe(course, &path));
    }
}

/// A record folder with this `record.toml`, signed, under the old record's name.
fn signed(fixture: &Fixture, text: &str) -> Changes {
    let folder = fixture.record_folder(ONE);
    let signature = sign(&key(RECORDER), Namespace::Record, text.as_bytes()).unwrap();
    Changes::from([
        (folder.join("record.toml"), Some(text.into())),
        (folder.join("record.toml.sig"), Some(signature.into())),
    ])
}

#[test]
fn monstrous_records_and_reviews() {
    let fixture = Fixture::published();
    let mut table = Table::of(&fixture);
    let path = fixture.record_folder(ONE).join("record.toml");
    let text = String::from_utf8(fixture.files[&path].clone()).unwrap();
    let file = |at: usize| {
        format!(
            "\n[[file]]\npath = \"x{at}\"\nbytes = 1\nsha256 = \"{}\"\n",
            Digest::of(at.to_string())
        )
    };
    let many: String = text.clone() + &(0..10_000).map(file).collect::<String>();
    let numbers = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    };
    let cases = [
        ("10,000 files", many),
        ("nesting", text.clone() + "x = " + &"[".repeat(100_000)),
        ("a table nest", text.clone() + "x = " + &"{a = ".repeat(50_000)),
        ("dotted keys", format!("{}a = 1\n{text}", "a.".repeat(30_000))),
        ("a huge number", numbers("wall_ms = 900", "wall_ms = 99999999999999999999999999")),
        ("a negative number", numbers("wall_ms = 900", "wall_ms = -1")),
        ("a fraction", numbers("wall_ms = 900", "wall_ms = 9e2")),
        ("NaN", numbers("wall_ms = 900", "wall_ms = nan")),
        ("a day that is none", numbers("2026-06-01T08", "2026-02-30T08")),
        ("a month that is none", numbers("2026-06-01T08", "2026-13-01T08")),
        ("a year out of range", numbers("2026-06-01T08", "99999-06-01T08")),
        ("a newer format", numbers("schema = 1", "schema = 2")),
        ("a format of old", numbers("schema = 1", "schema = 0")),
        ("a NUL", numbers("nonce = \"", "nonce = \"\\u0000")),
        ("a conflict", format!("<<<<<<< ours\n{text}=======\n>>>>>>> theirs\n")),
        ("a byte order mark", format!("\u{feff}{text}")),
        ("a path out of the folder", text.replace("scale.run-0.stdout", "../../README.md")),
        ("nothing", String::new()),
        ("16 MB", text.clone() + &"# x\n".repeat(5_000_000)),
    ];
    for (what, text) in cases {
        table.row(what, &signed(&fixture, &text), TAMPERED);
    }
    for (what, text) in [
        ("an escape in a reason", entry(&fixture, "reason = \"", "reason = \"\\u001b[2J")),
        ("a turn in a reason", entry(&fixture, "reason = \"", "reason = \"\\u202e")),
        ("a newer schema", entry(&fixture, "schema = 1", "schema = 2")),
        ("another spelling", entry(&fixture, "schema = 1", "schema  = 1")),
        ("a comment", entry(&fixture, "schema = 1", "# mine\nschema = 1")),
        ("another lesson", entry(&fixture, ONE, TWO)),
        ("a time out of range", entry(&fixture, "2026-06-02T", "-009999-06-02T")),
        ("a time with a fraction", entry(&fixture, "09:00:00Z", "09:00:00.5Z")),
        ("another name", entry(&fixture, REVIEWER, "somebody@example.org")),
        (
            "a reason of 1 MB",
            entry(&fixture, "reason = \"", &format!("reason = \"{}", "x".repeat(1 << 20))),
        ),
        ("nesting", "x = ".to_owned() + &"[".repeat(3000)),
    ] {
        let base = format!("lessons/{ONE}/reviews/{}", Digest::of(&text));
        let signature = sign(&key(REVIEWER), Namespace::Review, text.as_bytes()).unwrap();
        let mut added = change(format!("{base}.toml"), text);
        added.extend(change(format!("{base}.sig"), signature));
        table.row(what, &added, TAMPERED);
    }
    table.end(30);
}

/// The lesson's review entry with one thing else, to be signed by its reviewer.
fn entry(fixture: &Fixture, from: &str, to: &str) -> String {
    let reviews = fixture.below(&format!("lessons/{ONE}/reviews"));
    let (_, bytes) = reviews.iter().find(|(path, _)| path.extension() == Some("toml")).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

#[test]
fn odd_names_are_shown_escaped_or_refused() {
    let raw = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{202e}' | '\u{200b}');
    for name in [
        "day-02-a\u{1b}[2J",
        "day-02-a\nb",
        "day-02-\u{202e}x",
        "day-02-a\u{200b}",
        "day 2",
        "-x",
        "día",
        "a|b",
        "::error::x",
        "%0a",
        "a`b",
        "a'b\"",
        "<script>",
    ] {
        let course = Scratch::with_lesson();
        course.record(LESSON, &RecordPlan::h200());
        course.add_lesson(name);
        for arguments in [
            &["verify", "--offline"][..],
            &["verify", "--offline", "--json"],
            &["verify", "--offline", "nosuch\u{1b}[2J"],
        ] {
            let ran = course.run(arguments);
            assert!(
                !ran.out.chars().any(raw) && !ran.err.chars().any(raw),
                "{name:?} {:?}",
                ran.all()
            );
        }
    }
}

#[test]
fn two_lessons_of_one_name_are_refused() {
    let course = Scratch::with_lesson();
    for file in ["lesson.toml", "scale.cu", "README.md"] {
        course.write(
            format!("more/{LESSON}/{file}"),
            course.read(format!("lessons/{LESSON}/{file}")),
        );
    }
    let ran = course.verify();
    assert_ne!(ran.code(), 0);
    assert!(ran.err.contains("lessons of one name"), "{}", ran.all());
}

#[test]
fn a_name_that_is_not_utf_8_is_refused() {
    use std::os::unix::ffi::OsStrExt;
    let course = Scratch::with_lesson();
    let name = std::ffi::OsStr::from_bytes(b"x\xff\x1b[2J.cu");
    fs::write(course.lesson_path(LESSON).as_std_path().join(name), "").unwrap();
    let ran = course.verify();
    assert_ne!(ran.code(), 0);
    assert!(ran.err.contains("not UTF-8") && !ran.err.contains('\u{1b}'), "{:?}", ran.all());
}

#[test]
fn regions_that_lie() {
    let course = Scratch::with_lesson();
    let fixture = Fixture::of(course);
    let mut table = Table::of(&fixture);
    let path = format!("lessons/{LESSON}/README.md");
    let blank = "*Nothing is shown here until a run on real hardware has been recorded and \
                 somebody else has reviewed it.*";
    for (what, page) in [
        ("a typed output", PAGE.replacen(blank, "```text\none: 0.027 ms\n```", 1)),
        ("a verdict", PAGE.replacen("**UNVERIFIED.**", "**VERIFIED.**", 1)),
        ("trailing white space", PAGE.replacen(blank, &format!("{blank} "), 1)),
        ("a line more", PAGE.replacen(blank, &format!("{blank}\n"), 1)),
        ("an empty region", PAGE.replacen(&format!("{blank}\n"), "", 1)),
        (
            "a region of a program that is none",
            PAGE.replace("record: spread", "record: spread other"),
        ),
        (
            "a region twice",
            PAGE.to_owned() + &format!("<!-- record: spread -->\n{blank}\n<!-- end record -->\n"),
        ),
        ("an assertion about nothing", PAGE.to_owned() + "<!-- holds: speed > 1 -->\n"),
        ("a snippet that is none", PAGE.replace("snippet: kernel", "snippet: colonel")),
    ] {
        assert_ne!(page, PAGE, "{what}");
        table.row(what, &change(&path, page), DRIFT);
    }
    table.end(9);
}
