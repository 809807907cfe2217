//! Who signed what: reviews of something else, and keys that do not count.

use proofrun_core::Digest;
use proofrun_core::publication::RENDER_FORMAT;
use proofrun_core::review::{Rendering, Verdict as Says};
use proofrun_core::trust::{Namespace, sign, signer_line};

use crate::fixture::{Fixture, Verdict};
use crate::support::course::LESSON;
use crate::support::{RECORDER, REVIEWED, REVIEWER, RecordPlan, Scratch, key, time};

const SIGNERS: &str = "research/allowed_signers";

fn verify(course: Scratch) -> Verdict {
    Fixture::of(course).verify()
}

fn check(course: Scratch, code: u8, rule: &str) {
    let verdict = verify(course);
    assert_eq!(verdict.code, code, "{}", verdict.out);
    assert!(verdict.has(rule), "no `{rule}` in {}", verdict.out);
}

fn recorded() -> (Scratch, Digest) {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    (course, record)
}

fn published() -> Scratch {
    let (course, record) = recorded();
    course.accept(LESSON, record);
    course.show(LESSON);
    course
}

/// The line of a key under some name.
fn line(name: &str, whose: &str, namespaces: &[Namespace], until: Option<&str>) -> String {
    let window = (None, until.map(time));
    let key = key(whose);
    signer_line(&name.parse().unwrap(), namespaces, window, key.public_key()).unwrap() + "\n"
}

fn state(course: &Scratch) -> String {
    course.assess(LESSON).primary_evidence().unwrap().state.to_string()
}

#[test]
fn a_review_of_another_digest_is_refused() {
    let (course, record) = recorded();
    let rendering = Rendering { format: RENDER_FORMAT, digest: course.rendering(LESSON, record) };
    let says = Says::Accept { record: Digest::of("another"), rendering };
    course.review(LESSON, says, REVIEWER, REVIEWED);
    assert_eq!(state(&course), "Recorded");
    check(course, 24, "review-target");
}

#[test]
fn a_review_of_another_rendering_does_not_count() {
    let (course, record) = recorded();
    let rendering = Rendering { format: RENDER_FORMAT, digest: Digest::of("another text") };
    course.review(LESSON, Says::Accept { record, rendering }, REVIEWER, REVIEWED);
    assert_eq!(state(&course), "Recorded");
    // Nothing is wrong: somebody accepted a text that is not what would be shown now.
    check(course, 0, "unreviewed");
}

#[test]
fn the_recorder_under_a_second_name_is_one_key_twice() {
    let (course, record) = recorded();
    let second = "second@example.org";
    let lines = [
        line(RECORDER, RECORDER, &[Namespace::Record], None),
        line(second, RECORDER, &[Namespace::Review], None),
    ];
    course.write(SIGNERS, lines.concat());
    let rendering = Rendering { format: RENDER_FORMAT, digest: Digest::of("any") };
    let says = Says::Accept { record, rendering };
    let entry = proofrun_core::review::Entry::new(
        says,
        LESSON,
        second.parse().unwrap(),
        time(REVIEWED),
        "I am somebody else",
    );
    let text = entry.unwrap().to_toml();
    let base = format!("lessons/{LESSON}/reviews/{}", Digest::of(&text));
    let signature = sign(&key(RECORDER), Namespace::Review, text.as_bytes()).unwrap();
    course.write(format!("{base}.toml"), text);
    course.write(format!("{base}.sig"), signature);
    check(course, 24, "trust-root");
}

#[test]
fn the_recorder_does_not_review_itself_unless_that_is_labelled() {
    let (course, record) = recorded();
    let both = line(RECORDER, RECORDER, &Namespace::ALL, None);
    course.write(SIGNERS, both);
    let rendering = Rendering { format: RENDER_FORMAT, digest: course.rendering(LESSON, record) };
    course.review(LESSON, Says::Accept { record, rendering }, RECORDER, REVIEWED);
    let policy = "research/policy.toml";
    course.edit(policy, "forbidden", "labelled");
    assert_eq!(state(&course), "Reviewed");
    course.show(LESSON);
    assert!(course.read(format!("lessons/{LESSON}/README.md")).contains("who recorded it too"));
    course.edit(policy, "labelled", "forbidden");
    check(course, 24, "self-review");
}

#[test]
fn a_policy_that_cannot_be_read_is_the_strictest_and_a_finding() {
    let course = published();
    course.write("research/policy.toml", "schema = 1\nself_review = \"allowed\"\n");
    check(course, 24, "trust-root");
}

#[test]
fn a_key_that_expired_before_it_signed_does_not_count() {
    let course = published();
    let late = [
        line(RECORDER, RECORDER, &[Namespace::Record], Some("2026-05-31T00:00:00Z")),
        line(REVIEWER, REVIEWER, &[Namespace::Review], None),
    ];
    course.write(SIGNERS, late.concat());
    check(course, 24, "record-signature");
    let course = published();
    let late = [
        line(RECORDER, RECORDER, &[Namespace::Record], None),
        line(REVIEWER, REVIEWER, &[Namespace::Review], Some("2026-06-01T23:59:59Z")),
    ];
    course.write(SIGNERS, late.concat());
    check(course, 24, "signature-invalid");
}

#[test]
fn a_key_that_expired_after_it_signed_counts() {
    let course = published();
    let lines = [
        line(RECORDER, RECORDER, &[Namespace::Record], Some("2026-06-01T08:30:00Z")),
        line(REVIEWER, REVIEWER, &[Namespace::Review], Some("2026-06-02T09:00:00Z")),
    ];
    course.write(SIGNERS, lines.concat());
    assert!(course.assess(LESSON).is_published());
    assert_eq!(verify(course).code, 0);
}

#[test]
fn a_removed_key_takes_all_that_it_signed_along() {
    let course = published();
    course.write(SIGNERS, line(REVIEWER, REVIEWER, &[Namespace::Review], None));
    check(course, 24, "record-signature");
    let course = published();
    course.write(SIGNERS, line(RECORDER, RECORDER, &[Namespace::Record], None));
    check(course, 24, "signature-invalid");
    let course = published();
    course.write(SIGNERS, "");
    check(course, 24, "record-signature");
}

#[test]
fn a_signature_for_one_purpose_is_none_for_the_other() {
    // The key may sign reviews only.
    let course = published();
    let lines = [
        line(RECORDER, RECORDER, &[Namespace::Review], None),
        line(REVIEWER, REVIEWER, &[Namespace::Review], None),
    ];
    course.write(SIGNERS, lines.concat());
    check(course, 24, "record-signature");
    // The key may sign both, and signed the record as a review.
    let (course, record) = recorded();
    course.write(SIGNERS, line(RECORDER, RECORDER, &Namespace::ALL, None));
    let folder =
        course.assess(LESSON).primary_evidence().unwrap().records[0].examined.folder.path.clone();
    let text = course.read(folder.join("record.toml"));
    assert_eq!(Digest::of(&text), record);
    let signature = sign(&key(RECORDER), Namespace::Review, text.as_bytes()).unwrap();
    course.write(folder.join("record.toml.sig"), signature);
    check(course, 24, "record-signature");
}

#[test]
fn lines_that_ssh_would_read_as_more_grant_nothing() {
    let good = line(RECORDER, RECORDER, &[Namespace::Record], None);
    let reviewer = line(REVIEWER, REVIEWER, &[Namespace::Review], None);
    for bad in [
        good.replacen(RECORDER, "*", 1),
        good.replacen(RECORDER, "*@example.org", 1),
        good.replacen(RECORDER, "recorder@example.org,other@example.org", 1),
        good.replacen(RECORDER, "!recorder@example.org", 1),
        good.replacen("namespaces=", "cert-authority,namespaces=", 1),
        good.replacen("record@proofrun", "*@proofrun", 1),
        good.replacen(" namespaces=\"record@proofrun\"", "", 1),
        good.replacen("namespaces=", "verify-required,namespaces=", 1),
        format!("{good}{good}"),
        format!("\u{feff}{good}"),
        good.replace('\n', "\r\n"),
        format!("<<<<<<< ours\n{good}"),
    ] {
        let course = published();
        course.write(SIGNERS, bad.clone() + &reviewer);
        let verdict = verify(course);
        assert!(verdict.code == 24 && verdict.has("trust-root"), "{bad}: {}", verdict.out);
        assert!(verdict.has("record-signature") || bad.contains("<<<"), "{bad}: {}", verdict.out);
    }
}

#[test]
fn a_reject_outweighs_the_page() {
    let course = published();
    let record = course.assess(LESSON).primary_evidence().unwrap().records[0].examined.digest;
    course.review(LESSON, Says::Reject { record }, REVIEWER, "2026-06-03T00:00:00Z");
    check(course, 28, "region-drifted");
}

#[test]
fn a_revocation_outweighs_the_page_until_it_says_withdrawn() {
    let course = published();
    let record = course.assess(LESSON).primary_evidence().unwrap().records[0].examined.digest;
    course.review(LESSON, Says::Revoke { target: record }, REVIEWER, "2026-06-03T00:00:00Z");
    assert_eq!(Fixture::of(Scratch::with_lesson()).verify().code, 0);
    assert_eq!(course.run(&["verify", "--offline"]).code(), 28);
    course.show(LESSON);
    let ran = course.run(&["verify", "--offline"]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert!(ran.out.contains("page Withdrawn"), "{}", ran.all());
}
