//! A folder of reviews: nothing in it counts that is not as it was signed, and all of that is a
//! finding.

use std::slice::from_ref;

use proptest::prelude::*;

use super::*;
use crate::finding::{Class, Findings, Severity};

/// What `read` makes of files: how many entries count, and the findings as `rule: part of the
/// fact`.
#[track_caller]
fn check(files: &[ReviewFile], count: usize, expect: &[&str]) -> Findings {
    let (entries, findings) = read(files, LESSON, &trust(SelfReview::Forbidden));
    assert_eq!(entries.len(), count, "{findings:?}");
    assert_eq!(findings.len(), expect.len(), "{findings:?}");
    for (finding, expect) in findings.iter().zip(expect) {
        let (rule, fact) = expect.split_once(": ").unwrap();
        assert_eq!((finding.rule.id(), finding.severity), (rule, Severity::Error), "{finding:?}");
        assert_eq!(finding.rule.class(), Class::Tampered);
        assert!(finding.fact.contains(fact), "`{}` lacks `{fact}`", finding.fact);
    }
    findings
}

fn good() -> [ReviewFile; 2] {
    files(entry(accept(record()), "bob", NOON).to_toml().as_bytes(), "bob")
}

fn text() -> String {
    entry(accept(record()), "bob", NOON).to_toml()
}

#[test]
fn a_signed_entry_counts() {
    check(&[], 0, &[]);
    check(&good(), 1, &[]);
    let [entry, signature] = good();
    check(&[signature, entry], 1, &[]);
}

#[test]
fn files_that_do_not_pair_are_found() {
    let [entry, signature] = good();
    check(from_ref(&entry), 0, &["signature-invalid: without its signature"]);
    check(from_ref(&signature), 0, &["review-name: a signature without"]);
    let twice = [entry.clone(), signature.clone(), entry.clone()];
    check(&twice, 0, &["review-name: comes twice"]);
    check(&[entry.clone(), signature.clone(), signature.clone()], 0, &["review-name: comes twice"]);
    let folder = entry.path.parent().unwrap().to_owned();
    let digest = entry.path.file_stem().unwrap().to_owned();
    for name in [
        "README.md".to_owned(),
        ".hidden".to_owned(),
        "x.toml".to_owned(),
        format!("{digest}.toml.sig"),
        format!("{digest}.toml~"),
        format!("{}.toml", digest.to_uppercase()),
        format!("{}.toml", &digest[1..]),
        digest.clone(),
    ] {
        let stray = ReviewFile { path: folder.join(name), bytes: Vec::new() };
        let all = [entry.clone(), signature.clone(), stray];
        check(&all, 1, &["review-name: neither `<digest>.toml`"]);
    }
}

#[test]
fn a_file_under_another_name_is_found() {
    let [entry, signature] = good();
    let other = Digest::of("other");
    let folder = entry.path.parent().unwrap();
    let entry = ReviewFile { path: folder.join(format!("{other}.toml")), ..entry.clone() };
    let signature = ReviewFile { path: folder.join(format!("{other}.sig")), ..signature };
    check(&[entry, signature], 0, &["review-name: the file's bytes have the digest"]);
}

#[test]
fn an_entry_that_says_what_was_not_asked_is_found() {
    let moved = text().replace(LESSON, "day-54-other");
    check(&files(moved.as_bytes(), "bob"), 0, &["review-file: of lesson `day-54-other` lies in"]);
    let spelled = [
        text().replace("schema = 1", "schema=1"),
        text().replace("schema = 1", "# x\nschema = 1"),
        text() + "\n",
        text().trim_end().to_owned(),
        text().replace("\"it is so\"", "'it is so'"),
        text().replace("it is so", "it\\u0020is so"),
        text().replace("\n", "\r\n"),
        text().replace("format = 1", "format = 0x1"),
    ];
    for text in spelled {
        check(&files(text.as_bytes(), "bob"), 0, &["review-file: not in the canonical form"]);
    }
    let unknown = text().replace("reason", "season");
    let findings =
        check(&files(unknown.as_bytes(), "bob"), 0, &["review-file: not a review entry"]);
    assert_eq!(findings[0].place.line, Some(7));
    let empty = files(b"", "bob");
    check(&empty, 0, &["review-file: missing"; 6]);
}

#[test]
fn a_signature_that_does_not_count_is_found() {
    let text = text();
    check(
        &files(text.as_bytes(), "ada"),
        0,
        &["signature-invalid: signed by `ada`, and the entry"],
    );
    let mut wrong = files(text.as_bytes(), "bob");
    wrong[1].bytes = sign(&key("bob"), Namespace::Record, text.as_bytes()).unwrap().into_bytes();
    check(&wrong, 0, &["signature-invalid: for namespace `record@proofrun`"]);
    wrong[1].bytes = files(b"other", "bob")[1].bytes.clone();
    check(&wrong, 0, &["signature-invalid: does not fit the bytes"]);
    let unknown = new_key("", &[99; 32]).unwrap();
    wrong[1].bytes = sign(&unknown, Namespace::Review, text.as_bytes()).unwrap().into_bytes();
    check(&wrong, 0, &["signature-invalid: not in the trust root"]);
    // Dan's key ended; what he signed before then goes on counting.
    let late = entry(accept(record()), "dan", NOON).to_toml();
    check(&files(late.as_bytes(), "dan"), 0, &["signature-invalid: ceased to be valid"]);
    let early = entry(accept(record()), "dan", "2024-12-31T23:59:59Z").to_toml();
    check(&files(early.as_bytes(), "dan"), 1, &[]);
}

#[test]
fn every_finding_about_an_entry_is_reported() {
    let text = text().replace(LESSON, "other").replace("schema = 1", "schema =1");
    let mut wrong = files(text.as_bytes(), "ada");
    let path = wrong[0].path.with_file_name(Digest::of("x").to_string());
    wrong[0].path = path.with_extension("toml");
    wrong[1].path = path.with_extension("sig");
    let expect = ["review-name: digest", "review-file: canonical", "review-file: of lesson"];
    check(&wrong, 0, &[&expect[..], &["signature-invalid: signed by `ada`"]].concat());
}

/// Something done to a file's bytes.
type Operation<'a> = &'a dyn Fn(&mut Vec<u8>);

/// A rejection and a revocation that are broken don't count as such, and the lesson fails for the
/// finding.
#[test]
fn each_byte_of_each_file_is_held() {
    for verdict in [accept(record()), reject(record()), revoke(record())] {
        let good = files(entry(verdict, "bob", NOON).to_toml().as_bytes(), "bob");
        let trust = trust(SelfReview::Labelled);
        for file in 0..2 {
            for at in 0..good[file].bytes.len() {
                let operations: [Operation<'_>; 4] = [
                    &|bytes| bytes[at] ^= 1,
                    &|bytes| bytes[at] ^= 0x20,
                    &|bytes| _ = bytes.remove(at),
                    &|bytes| bytes.insert(at, b'\n'),
                ];
                for (number, operation) in operations.into_iter().enumerate() {
                    let mut changed = good.clone();
                    operation(&mut changed[file].bytes);
                    let (entries, findings) = read(&changed, LESSON, &trust);
                    assert!(entries.is_empty(), "file {file}, byte {at}, operation {number}");
                    assert!(!findings.is_empty(), "file {file}, byte {at}, operation {number}");
                    // Were the file renamed after its changed bytes, the signature would still
                    // tell.
                    if file == 0 && number == 0 {
                        let digest = Digest::of(&changed[0].bytes).to_string();
                        changed[0].path =
                            changed[0].path.with_file_name(&digest).with_extension("toml");
                        changed[1].path =
                            changed[1].path.with_file_name(&digest).with_extension("sig");
                        let (entries, findings) = read(&changed, LESSON, &trust);
                        assert!(entries.is_empty() && !findings.is_empty(), "renamed, byte {at}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_folder_has_a_limit() {
    let stray = ReviewFile { path: "x".into(), bytes: Vec::new() };
    let (_, findings) = read(&vec![stray; 4097], LESSON, &trust(SelfReview::Forbidden));
    assert_eq!(findings.len(), 4097);
    assert!(findings[4096].fact.contains("at most 4096"));
}

proptest! {
    #[test]
    fn no_files_make_it_panic(
        files in prop::collection::vec((
            "([0-9a-f]{64}\\.(toml|sig)|.{0,9})",
            any::<Vec<u8>>(),
        ), 0..5)
    ) {
        let files: Vec<_> = files
            .into_iter()
            .map(|(path, bytes)| ReviewFile { path: path.into(), bytes })
            .collect();
        let (entries, findings) = read(&files, LESSON, &trust(SelfReview::Forbidden));
        prop_assert!(entries.is_empty());
        prop_assert_eq!(findings.is_empty(), files.is_empty());
    }
}
