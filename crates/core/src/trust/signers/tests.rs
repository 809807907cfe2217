//! Every refusal of a trust root line, and that what is refused grants nothing.

use jiff::Timestamp;
use proptest::prelude::*;
use ssh_key::PublicKey;
use ssh_key::public::Ed25519PublicKey;

use super::super::{Namespace, SignatureError, new_key, sign, verify};
use super::AllowedSigners;
use crate::finding::Rule;

/// The public key of a seed, as it stands in a `.pub` file without its comment.
fn public(seed: u8) -> String {
    PublicKey::from(*new_key("", &[seed; 32]).unwrap().public_key().key_data().ed25519().unwrap())
        .to_openssh()
        .unwrap()
}

/// Parses a file in which `KEYn` stands for the key of seed n, and compares the principals that it
/// grants something and the findings, each as `line: part of the fact`.
#[track_caller]
fn check(file: &str, grants: &[&str], findings: &[&str]) {
    let mut text = file.to_owned();
    for seed in 1..=4 {
        text = text.replace(&format!("KEY{seed}"), &public(seed));
    }
    let (signers, found) = AllowedSigners::parse("s".into(), text.as_bytes());
    let mut names: Vec<_> = signers.grants().map(|g| g.signer().principal().as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, grants, "{file}: {found:?}");
    assert_eq!(found.len(), findings.len(), "{file}: {found:?}");
    for (finding, expect) in found.iter().zip(findings) {
        let (line, fact) = expect.split_once(": ").unwrap();
        assert_eq!(finding.rule, Rule::TrustRoot);
        assert_eq!(finding.place.line.map(|line| line.to_string()).unwrap_or_default(), line);
        assert!(finding.fact.contains(fact), "{file}: `{}` lacks `{fact}`", finding.fact);
        assert!(!finding.next.is_empty());
    }
}

#[test]
fn the_strict_subset_is_accepted() {
    check("", &[], &[]);
    check("# comment\n\n   \n#\n", &[], &[]);
    check("ada namespaces=\"record@proofrun\" KEY1\n", &["ada"], &[]);
    check("ada namespaces=\"record@proofrun\" KEY1", &["ada"], &[]);
    check("ada namespaces=\"review@proofrun,record@proofrun\" KEY1 a comment, é\n", &["ada"], &[]);
    let dates = "valid-after=\"20250102Z\",valid-before=\"20260102030405Z\"";
    check(&format!("a@b.org namespaces=\"record@proofrun\",{dates} KEY1\n"), &["a@b.org"], &[]);
    check(&format!("a@b.org {dates},namespaces=\"record@proofrun\" KEY1\n"), &["a@b.org"], &[]);
    let rotation =
        "ada namespaces=\"review@proofrun\" KEY1\nada namespaces=\"review@proofrun\" KEY2\n";
    check(rotation, &["ada", "ada"], &[]);
}

#[test]
fn everything_else_on_a_line_is_refused_and_named() {
    let ns = "namespaces=\"record@proofrun\"";
    for (line, fact) in [
        (format!("* {ns} KEY1"), "`*` is not a principal"),
        (format!("a?a {ns} KEY1"), "not a principal"),
        (format!("!ada {ns} KEY1"), "not a principal"),
        (format!("ada,bob {ns} KEY1"), "not a principal"),
        (format!("\"ada\" {ns} KEY1"), "not a principal"),
        (format!(" ada {ns} KEY1"), "single spaces"),
        (format!("ada  {ns} KEY1"), "single spaces"),
        (format!("ada {ns}  KEY1"), "single spaces"),
        (format!("ada {ns} ssh-ed25519"), "single spaces"),
        (format!("ada {ns}"), "single spaces"),
        ("ada".to_owned(), "single spaces"),
        (format!("ada {ns} KEY1 a\tb"), "control character"),
        (format!("ada {ns} KEY1 {}", "x".repeat(2048)), "at most 2048"),
        ("ada KEY1".to_owned(), "no `namespaces` option"),
        ("ada valid-after=\"20250102Z\" KEY1".to_owned(), "no `namespaces` option"),
        (format!("ada cert-authority,{ns} KEY1"), "`cert-authority`"),
        (format!("ada {ns},verify-required=\"\" KEY1"), "unknown option `verify-required`"),
        (format!("ada {ns},{ns} KEY1"), "`namespaces` is given twice"),
        (format!("ada {ns},valid-after=\"20250102Z\",valid-after=\"20250102Z\" KEY1"), "twice"),
        (format!("ada {ns}, KEY1"), "stop making sense at `,`"),
        (format!("ada ,{ns} KEY1"), "stop making sense"),
        (format!("ada {ns}x KEY1"), "stop making sense at `x`"),
        ("ada namespaces KEY1".to_owned(), "stop making sense at `namespaces`"),
        (format!("ada {ns},verify-required KEY1"), "unknown option `verify-required`"),
        (format!("ada =\"x\",{ns} KEY1"), "stop making sense"),
        ("ada namespaces=record@proofrun KEY1".to_owned(), "stop making sense"),
        ("ada namespaces=\"record@proofrun KEY1".to_owned(), "stop making sense"),
        ("ada Namespaces=\"record@proofrun\" KEY1".to_owned(), "unknown option `Namespaces`"),
        ("ada namespaces=\"\" KEY1".to_owned(), "`` in `namespaces`"),
        ("ada namespaces=\"*\" KEY1".to_owned(), "`*` in `namespaces`"),
        ("ada namespaces=\"record@proofrun,file\" KEY1".to_owned(), "`file` in `namespaces`"),
        ("ada namespaces=\"!record@proofrun\" KEY1".to_owned(), "in `namespaces`"),
        ("ada namespaces=\"record@proofrun,record@proofrun\" KEY1".to_owned(), "given twice"),
        (format!("ada {ns},valid-after=\"20250102\" KEY1"), "does not end in `Z`"),
        (format!("ada {ns},valid-before=\"20250230Z\" KEY1"), "not a date of the calendar"),
        (format!("ada {ns},valid-before=\"forever\" KEY1"), "`valid-before` is `forever`"),
        (
            format!("ada {ns},valid-after=\"20250102Z\",valid-before=\"20250102Z\" KEY1"),
            "ends before it begins",
        ),
        (format!("ada {ns} ssh-rsa AAAAB3NzaC1yc2EAAAADAQAB"), "key type `ssh-rsa`"),
        (format!("ada {ns} sk-ssh-ed25519@openssh.com AAAA"), "key type `sk-ssh"),
        (format!("ada {ns} ssh-ed25519-cert-v01@openssh.com AAAA"), "key type `ssh-ed25519-cert"),
        (format!("ada {ns} ssh-ed25519 AAAA"), "not readable"),
        (format!("ada {ns} KEY1="), "not readable"),
        (format!("ada {ns} KEY1AAAA"), "not readable"),
        (format!("ada {ns} {}", public(1).replace("AAAAC3", "BAAAC3")), "not readable"),
        (
            format!("ada {ns} {}", public(1).replace("ssh-ed25519 ", "ssh-ed25519 \"")),
            "not readable",
        ),
        (format!("ada {ns} {}", &public(1)[..40]), "not readable"),
    ] {
        check(&format!("# first\n{line}\nbob {ns} KEY2\n"), &["bob"], &[&format!("2: {fact}")]);
    }
}

#[test]
fn all_that_is_wrong_with_a_line_is_reported() {
    let file = "a,b cert-authority=\"\",namespaces=\"file\",valid-after=\"2025\" ssh-rsa AAAA\n";
    let expect = ["1: principal", "1: cert-", "1: `file`", "1: `2025`", "1: ssh-rsa"];
    check(file, &[], &expect);
}

#[test]
fn a_key_on_two_lines_counts_on_neither() {
    let ns = "namespaces=\"record@proofrun\"";
    let two = ["1: also stands on line 2", "2: also stands on line 1"];
    check(&format!("ada {ns} KEY1\nbob {ns} KEY1\n"), &[], &two);
    check(&format!("ada {ns} KEY1\nada {ns} KEY1 other\n"), &[], &two);
    let three = ["1: line 3", "3: line 1", "4: line 1"];
    check(&format!("a {ns} KEY1\nb {ns} KEY2\nc {ns} KEY1\nd {ns} KEY1\n"), &["b"], &three);
    // A line that is refused for another reason still shows that two people hold the key.
    let unnamed = ["1: no `namespaces`", "1: line 2", "2: line 1"];
    check(&format!("ada KEY1\nbob {ns} KEY1\n"), &[], &unnamed);
}

#[test]
fn a_file_that_is_not_plain_text_grants_nothing() {
    let line = format!("ada namespaces=\"record@proofrun\" {}\n", public(1));
    let with = |before: &[u8], after: &[u8]| [before, line.as_bytes(), after].concat();
    let long = with(b"", format!("#{}", "x".repeat(1 << 20)).as_bytes());
    for (bytes, place, fact) in [
        (with(b"\xef\xbb\xbf", b""), Some(1), "byte order mark"),
        (with(b"#\r\n", b""), Some(1), "1 carriage returns"),
        (with(b"", b"#\r\n\r\n"), Some(2), "2 carriage returns"),
        (with(b"", b"# \xff\n"), Some(2), "not UTF-8"),
        (long, None, "at most 1048576"),
    ] {
        let (signers, findings) = AllowedSigners::parse("s".into(), &bytes);
        assert_eq!(signers.grants().count(), 0);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].place.line, place);
        assert!(findings[0].fact.contains(fact), "{:?}", findings[0]);
    }
}

/// The encodings of the points of small order, as ed25519's literature lists them; each is proven
/// to be one by a signature that needs no secret: R the neutral element and s = 0 fit every message
/// whose hash is a multiple of the point's order, one in eight at the least.
#[test]
fn a_key_that_anybody_can_sign_for_is_refused() {
    let near_p = |low: u8, top: u8| {
        let mut y = [0xff; 32];
        (y[0], y[31]) = (low, top);
        y
    };
    let low = |low: u8, top: u8| {
        let mut y = [0; 32];
        (y[0], y[31]) = (low, top);
        y
    };
    let digest = |text: &str| *text.parse::<crate::Digest>().unwrap().as_bytes();
    let eighth = digest("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05");
    let negated = digest("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a");
    let signed = |mut y: [u8; 32]| {
        y[31] |= 0x80;
        y
    };
    let points = [low(1, 0), low(0, 0), low(0, 0x80), near_p(0xec, 0x7f), near_p(0xed, 0x7f)];
    let points =
        [&points[..], &[near_p(0xee, 0x7f), near_p(0xed, 0xff)], &[eighth, negated]].concat();
    for y in points.into_iter().chain([signed(eighth), signed(negated)]) {
        let key = PublicKey::from(Ed25519PublicKey(y));
        let mut bytes = [0; 64];
        bytes[0] = 1;
        let forged = ssh_key::Signature::new(ssh_key::Algorithm::Ed25519, bytes).unwrap();
        let fits = |message: u32| {
            let signature = ssh_key::SshSig::new(
                key.key_data().clone(),
                "record@proofrun",
                ssh_key::HashAlg::Sha512,
                forged.clone(),
            );
            key.verify("record@proofrun", &message.to_le_bytes(), &signature.unwrap()).is_ok()
        };
        assert!((0..200).any(fits), "{y:02x?} is not of small order");
        let line = format!("ada namespaces=\"record@proofrun\" {}", key.to_openssh().unwrap());
        check(&line, &[], &["1: small order"]);
    }
}

#[test]
fn a_refused_line_does_not_verify() {
    let key = new_key("", &[1; 32]).unwrap();
    let signed = sign(&key, Namespace::Record, b"m").unwrap();
    let at: Timestamp = "2025-01-01T00:00:00Z".parse().unwrap();
    let verdict = |file: &str| {
        let text = file.replace("KEY1", &public(1));
        let (signers, _) = AllowedSigners::parse("s".into(), text.as_bytes());
        verify(&signers, Namespace::Record, b"m", signed.as_bytes(), at).map(|_| ())
    };
    assert_eq!(verdict("ada namespaces=\"record@proofrun\" KEY1"), Ok(()));
    let refused = verdict("ada,b namespaces=\"record@proofrun\" KEY1");
    assert!(matches!(refused, Err(SignatureError::UnknownKey(_))), "{refused:?}");
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        AllowedSigners::parse("s".into(), &bytes);
    }

    #[test]
    fn no_line_makes_it_panic(
        line in concat!(
            "[a*,]{0,3} ?((namespaces|valid-after|x)=\"?[0-9Zrecod@pfun,]{0,20}\"?,?){0,3} ",
            "(ssh-ed25519 )?[A-Za-z0-9+/=]{0,70}"
        )
    ) {
        let (signers, findings) = AllowedSigners::parse("s".into(), line.as_bytes());
        prop_assert!(signers.grants().count() == 0 || findings.is_empty());
    }
}
