//! Every reason for which a signature does not count, and every byte of its file.

use proptest::prelude::*;
use ssh_key::{HashAlg, PrivateKey, Signature, public::KeyData};

use super::*;
use crate::trust::{new_key, sign, signer_line};

fn key(seed: u8) -> PrivateKey {
    new_key("", &[seed; 32]).unwrap()
}

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

const NOON: &str = "2025-06-01T12:00:00Z";

/// Ada (key 1) signs both within June 2025, Bob (key 2) reviews.
fn signers() -> AllowedSigners {
    let window = (Some(time("2025-06-01T00:00:00Z")), Some(time("2025-06-30T23:59:59Z")));
    let line = |name: &str, seed, namespaces: &[Namespace], window| {
        let name = name.parse().unwrap();
        signer_line(&name, namespaces, window, key(seed).public_key()).unwrap()
    };
    let ada = line("ada", 1, &Namespace::ALL, window);
    let bob = line("bob", 2, &[Namespace::Review], (None, None));
    let (signers, findings) =
        AllowedSigners::parse("s".into(), format!("{ada}\n{bob}\n").as_bytes());
    assert_eq!(findings, []);
    signers
}

fn verdict(signature: &[u8], at: &str) -> Result<String, SignatureError> {
    verify(&signers(), Namespace::Record, b"message", signature, time(at))
        .map(|signer| signer.principal().to_string())
}

fn signed(seed: u8, namespace: Namespace, message: &[u8]) -> Vec<u8> {
    sign(&key(seed), namespace, message).unwrap().into_bytes()
}

#[test]
fn a_good_signature_names_its_signer() {
    let good = signed(1, Namespace::Record, b"message");
    assert_eq!(verdict(&good, NOON), Ok("ada".to_owned()));
    let sha256 = key(1).sign("record@proofrun", HashAlg::Sha256, b"message").unwrap();
    assert_eq!(verdict(armor(&sha256).unwrap().as_bytes(), NOON), Ok("ada".to_owned()));
}

#[test]
fn each_reason_to_refuse_is_told_apart() {
    let good = signed(1, Namespace::Record, b"message");
    let refuse = |bytes: &[u8], at| verdict(bytes, at).unwrap_err();
    let check = |bytes: &[u8], at, part: &str| {
        let error = refuse(bytes, at).to_string();
        assert!(error.contains(part), "`{error}` lacks `{part}`");
    };
    check(b"", NOON, "not an SSH signature");
    check(&[b'x'; 5000], NOON, "5000 bytes");
    check(b"-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n", NOON, "not an");
    check(&signed(1, Namespace::Review, b"message"), NOON, "for namespace `review@proofrun`");
    check(&signed(3, Namespace::Record, b"message"), NOON, "not in the trust root");
    check(&signed(2, Namespace::Record, b"message"), NOON, "of `bob` may not sign for `record");
    check(&signed(1, Namespace::Record, b"massage"), NOON, "does not fit the bytes");
    check(&good, "2025-05-31T23:59:59Z", "before the key of `ada` became valid");
    check(&good, "2025-07-01T00:00:00Z", "after the key of `ada` ceased");
    // A changed message is called that, whatever time it states.
    check(&signed(1, Namespace::Record, b"massage"), "2025-07-01T00:00:00Z", "does not fit");
    for tail in ["\n", " ", "x", "-----BEGIN SSH SIGNATURE-----\n"] {
        let error = refuse(&[&good, tail.as_bytes()].concat(), NOON);
        assert_eq!(error, SignatureError::TrailingData, "{tail:?}");
    }
    let text = String::from_utf8(good.clone()).unwrap();
    for changed in [
        text.replace('\n', "\r\n"),
        format!("\n{text}"),
        format!("junk\n{text}"),
        text.trim_end().to_owned(),
        text.replacen('\n', "", 2),
        text.replace("-----\n", "----- \n"),
    ] {
        let error = refuse(changed.as_bytes(), NOON);
        let not = matches!(error, SignatureError::NotASignature(_));
        assert!(not || error == SignatureError::NotCanonical, "{changed}: {error}");
    }
}

#[test]
fn both_ends_of_a_window_are_included() {
    let good = signed(1, Namespace::Record, b"message");
    for at in ["2025-06-01T00:00:00Z", "2025-06-30T23:59:59Z"] {
        assert!(verdict(&good, at).is_ok(), "{at}");
    }
}

#[test]
fn fields_that_the_parser_lets_pass_are_refused() {
    // The same signature with version 0, or with a reserved field, spelled by hand: magic, version,
    // the key's length.
    let good = SshSig::from_pem(signed(1, Namespace::Record, b"message")).unwrap();
    let bytes: Vec<u8> = ssh_encode(&good);
    for (at, what) in [(9, "version"), (6 + 4 + 4 + 51 + 4 + 15 + 3, "reserved")] {
        let mut changed = bytes.clone();
        if what == "version" {
            changed[at] = 0;
        } else {
            changed[at] = 1;
            changed.insert(at + 1, b'x');
        }
        let base64 = base64(&changed);
        let lines: Vec<_> =
            base64.as_bytes().chunks(70).map(|l| String::from_utf8_lossy(l)).collect();
        let armored = format!(
            "-----BEGIN SSH SIGNATURE-----\n{}\n-----END SSH SIGNATURE-----\n",
            lines.join("\n")
        );
        let error = verdict(armored.as_bytes(), NOON).unwrap_err().to_string();
        assert!(error.contains("version 1 with an empty reserved field"), "{what}: {error}");
    }
}

/// A signature's bytes, through its armor.
fn ssh_encode(signature: &SshSig) -> Vec<u8> {
    let armored = armor(signature).unwrap();
    let body: String = armored.lines().filter(|line| !line.starts_with("--")).collect();
    let value = |b: u8| ALPHABET.iter().position(|a| *a == b).unwrap() as u32;
    let padding = body.bytes().filter(|b| *b == b'=').count();
    let mut bytes = Vec::new();
    for four in body.replace('=', "A").as_bytes().chunks(4) {
        let bits = four.iter().fold(0, |bits, b| bits << 6 | value(*b));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    bytes.truncate(bytes.len() - padding);
    bytes
}

const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn base64(bytes: &[u8]) -> String {
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(*three.get(at).unwrap_or(&0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let digit = ALPHABET[(bits >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= three.len() { digit.into() } else { '=' });
        }
    }
    text
}

#[test]
fn another_key_type_is_refused() {
    let other = KeyData::SkEd25519(ssh_key::public::SkEd25519::new(
        *key(1).public_key().key_data().ed25519().unwrap(),
        "ssh:",
    ));
    let bytes = Signature::new(ssh_key::Algorithm::SkEd25519, [0; 69]).unwrap();
    let other = SshSig::new(other, "record@proofrun", HashAlg::Sha512, bytes).unwrap();
    let error = verdict(armor(&other).unwrap().as_bytes(), NOON).unwrap_err();
    assert!(matches!(error, SignatureError::KeyType(_)), "{error}");
}

#[test]
fn any_changed_byte_is_found() {
    let good = signed(1, Namespace::Record, b"message");
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut changed = good.clone();
            changed[at] ^= 1 << bit;
            assert!(verdict(&changed, NOON).is_err(), "byte {at}, bit {bit}");
        }
        let dropped = [&good[..at], &good[at + 1..]].concat();
        assert!(verdict(&dropped, NOON).is_err(), "byte {at} dropped");
        let doubled = [&good[..=at], &good[at..]].concat();
        assert!(verdict(&doubled, NOON).is_err(), "byte {at} doubled");
        let blank = [&good[..at], b"\n", &good[at..]].concat();
        assert!(verdict(&blank, NOON).is_err(), "a line break before byte {at}");
        assert!(verdict(&good[..at], NOON).is_err(), "cut at byte {at}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        prop_assert!(verdict(&bytes, NOON).is_err());
    }

    #[test]
    fn no_armored_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let body = base64(&[b"SSHSIG\0\0\0\x01", &bytes[..]].concat());
        let head = "-----BEGIN SSH SIGNATURE-----";
        let armored = format!("{head}\n{body}\n-----END SSH SIGNATURE-----\n");
        prop_assert!(verdict(armored.as_bytes(), NOON).is_err());
    }
}
