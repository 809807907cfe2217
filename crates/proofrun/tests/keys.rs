//! `keys`: made outside the course, listed strictly, closed without loss.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use proofrun_core::trust::Namespace;
use support::{NOW, RECORDER, REVIEWER, Scratch, key, run_at};

fn new(course: &Scratch, out: &str, rest: &[&str]) -> support::Ran {
    let base = ["keys", "new", "--principal", "ada@example.org", "--out", out];
    course.run(&[&base[..], rest].concat())
}

#[test]
fn a_new_key_is_its_owners_alone_and_openssh_reads_it() {
    let course = Scratch::empty();
    let out = course.outside("ada");
    let ran = new(&course, out.as_str(), &["--record", "--days", "30"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    // The clock of these tests stands at 2026-06-15T12:00:00Z; thirty days later is 2026-07-15.
    let start = "ada@example.org namespaces=\"record@proofrun\",valid-after=\"20260615120000Z\",\
                 valid-before=\"20260715120000Z\" ssh-ed25519 ";
    assert!(ran.out.starts_with(start), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
    let mode = std::fs::metadata(&out).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let public = Command::new("ssh-keygen").args(["-y", "-f", out.as_str()]).output().unwrap();
    let public = String::from_utf8(public.stdout).unwrap();
    let half = public.split(' ').nth(1).unwrap().trim();
    assert!(ran.out.contains(half), "{} is not of {public}", ran.out);
    let stored = std::fs::read_to_string(format!("{out}.pub")).unwrap();
    assert!(stored.contains(half), "{stored}");
    // No second key under the same name, and another one each time.
    assert_eq!(new(&course, out.as_str(), &["--record"]).code(), 1);
    let other = new(&course, course.outside("ada2").as_str(), &["--record", "--days", "30"]);
    assert_ne!(other.out, ran.out);
}

#[test]
fn no_private_key_lies_in_the_course() {
    let course = Scratch::with_lesson();
    let before = course.snapshot();
    let link = course.outside("link");
    std::os::unix::fs::symlink(course.path(), &link).unwrap();
    let inside = [
        "key".to_owned(),
        "lessons/key".to_owned(),
        course.path().join("research/key").to_string(),
        link.join("key").to_string(),
    ];
    for out in inside {
        let ran = new(&course, &out, &["--review"]);
        assert_eq!(ran.code(), 2, "{out}: {}", ran.all());
        assert!(ran.err.contains("name a file outside of it"), "{out}: {}", ran.all());
        assert!(ran.err.contains("no private key belongs there"), "{out}: {}", ran.all());
    }
    assert!(course.snapshot() == before);
    // A course in a folder of a repository: the whole repository is the work tree.
    std::fs::create_dir(course.path().join(".git")).unwrap();
    let sub = course.path().join("lessons");
    let out = course.path().join("key");
    let line = ["--root", sub.as_str(), "keys", "new", "--principal", "ada", "--review"];
    let ran = course.run(&[&line[..], &["--out", out.as_str()]].concat());
    assert_eq!(ran.code(), 2, "{}", ran.all());
    let ran = new(&course, course.outside("x").as_str(), &[]);
    assert!(ran.err.contains("--record") && ran.err.contains("--review"), "{}", ran.all());
    for line in [&[][..], &["--record", "--review"], &["--review", "--days", "0"]] {
        assert_eq!(new(&course, course.outside("x").as_str(), line).code(), 2, "{line:?}");
    }
    assert!(!course.outside("x").exists());
}

#[test]
fn the_list_takes_strict_lines_only() {
    let course = Scratch::empty();
    let line = |who: &str, name: &str, namespaces: &[Namespace]| {
        let public = key(who);
        proofrun_core::trust::signer_line(
            &name.parse().unwrap(),
            namespaces,
            (None, None),
            public.public_key(),
        )
        .unwrap()
    };
    let before = course.snapshot();
    let good = line("ada", "ada@example.org", &[Namespace::Review]);
    for (wrong, code, says) in [
        (good.replace("ada@example.org ", "* "), 2, "is not a principal"),
        (good.replace("review@proofrun", "file"), 2, "unknown, a pattern or given twice"),
        (good.replace("namespaces=\"review@proofrun\" ", ""), 2, ""),
        (good.replace(" ssh", "  ssh"), 2, "single spaces"),
        (line(REVIEWER, "ada", &[Namespace::Review]), 2, "the same key also stands on line"),
        (line("second", REVIEWER, &[Namespace::Review]), 2, "two keys for one purpose"),
        (course.read("research/allowed_signers"), 2, "has every line of it already"),
    ] {
        let ran = course.run(&["keys", "add", "--line", &wrong]);
        assert_eq!(ran.code(), code, "{wrong}: {}", ran.all());
        assert!(ran.err.contains(says), "{wrong}: {}", ran.all());
        assert!(course.snapshot() == before, "{wrong}");
    }
    // What is wrong is told where it was given, not on a line that the list never had.
    let file = course.outside("lines");
    let two = format!("# ours\n{good}\n{}\n", good.replace("ada@example.org ", "* "));
    std::fs::write(&file, two).unwrap();
    let ran = course.run(&["keys", "add", "--from", file.as_str()]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.err.contains(&format!("line 3 of `{file}`")), "{}", ran.all());
    assert!(!ran.err.contains("allowed_signers:"), "{}", ran.all());
    let bare = key("ada").public_key().to_openssh().unwrap();
    std::fs::write(&file, bare).unwrap();
    let ran = course.run(&["keys", "add", "--from", file.as_str()]);
    assert_eq!(ran.code(), 2, "{}", ran.all());
    assert!(ran.err.contains("a signer line is needed"), "{}", ran.all());
    assert!(course.snapshot() == before);
    // The same person may have a key for another purpose.
    course
        .write("line", format!("# mine\n{}\n{good}\n", line("r", REVIEWER, &[Namespace::Record])));
    let ran = course.run(&["keys", "add", "--from", "line"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert_eq!(course.run(&["keys", "list"]).out.lines().count(), 4);
    assert_eq!(course.run(&["keys", "add"]).code(), 2);
}

#[test]
fn a_window_is_closed_and_the_rest_of_the_list_stays() {
    let course = Scratch::empty();
    let list = format!("# ours\n{}", course.read("research/allowed_signers"));
    course.write("research/allowed_signers", &list);
    let ran = course.run(&["keys", "close", REVIEWER, "--at", "2026-06-30T12:00:00Z"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    let now = course.read("research/allowed_signers");
    let expect = list.replace(
        "namespaces=\"review@proofrun\"",
        "namespaces=\"review@proofrun\",valid-before=\"20260630120000Z\"",
    );
    assert_eq!(now, expect);
    let listed = |now: &str| run_at(course.path(), now, &["keys", "list"]).out;
    assert!(listed(NOW).contains("until 2026-06-30T12:00:00Z"), "{}", listed(NOW));
    let later = listed("2026-06-30T12:00:01Z");
    assert!(later.contains("EXPIRED since 2026-06-30T12:00:00Z"), "{later}");
    assert!(later.contains(&format!("{RECORDER}  record@proofrun  without an end")), "{later}");
    // It is never opened again, and nobody else's is closed.
    for (who, at) in [
        (REVIEWER, "2026-07-01"),
        (REVIEWER, "2026-06-30T12:00:00Z"),
        ("nobody", "2026-07-01"),
        (RECORDER, "tomorrow"),
        (RECORDER, "2026-02-30"),
    ] {
        let ran = course.run(&["keys", "close", who, "--at", at]);
        assert_eq!(ran.code(), 2, "{who} {at}: {}", ran.all());
        assert_eq!(course.read("research/allowed_signers"), expect);
    }
}
