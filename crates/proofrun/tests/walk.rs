//! The walk of a lesson from its first record to Published, Stale, Withdrawn, and on; each step's
//! states, and what `verify` and `publish` say of it.

#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

mod support;

use proofrun_core::Digest;
use proofrun_core::trust::{Namespace, signer_line};
use support::course::LESSON;
use support::{RECORDER, REVIEWER, RecordPlan, Scratch, key, run_at, time};

/// The page's state and that of the primary evidence, in words.
fn states(course: &Scratch) -> String {
    let assessment = course.assess(LESSON);
    let evidence = assessment.primary_evidence().unwrap();
    let published = if assessment.is_published() { ", Published" } else { "" };
    format!("{} {}{published}", evidence.state, assessment.page)
}

fn check(course: &Scratch, arguments: &[&str], code: u8, says: &str) {
    let ran = course.run(arguments);
    assert_eq!(ran.code(), code, "{arguments:?}: {}", ran.all());
    assert!(ran.all().contains(says), "{arguments:?} doesn't say `{says}`: {}", ran.all());
}

fn snap(course: &Scratch, pair: &str) -> bool {
    course.lesson_path(LESSON).join(format!("snapshots/{pair}.snap")).is_file()
}

/// A lesson with one record of an H200, reviewed and published through the commands.
fn published() -> (Scratch, Digest) {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    let ran = course.verdict("--accept", record, REVIEWER, "the figures are steady");
    assert_eq!(ran.code(), 0, "{}", ran.all());
    check(&course, &["publish"], 0, "published");
    (course, record)
}

#[test]
fn from_a_record_to_published() {
    let course = Scratch::with_lesson();
    check(&course, &["publish"], 20, "Unverified");
    check(&course, &["publish", "--check"], 0, "page Blank");
    let record = course.record(LESSON, &RecordPlan::h200());
    assert_eq!(states(&course), "Recorded Blank");
    check(&course, &["review"], 21, "1 record awaits a review");
    check(&course, &["publish"], 21, "nobody has reviewed it");
    check(&course, &["publish", "--check"], 0, "Recorded h200/sm_75");
    let ran = course.verdict("--accept", record, REVIEWER, "the figures are steady");
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert_eq!(states(&course), "Reviewed Blank");
    check(&course, &["review"], 0, "no record awaits a review");
    check(&course, &["publish", "--check"], 21, "what was reviewed is not published");
    let before = course.snapshot();
    check(&course, &["publish", "--dry-run"], 0, "+**VERIFIED.** NVIDIA H200");
    assert_eq!(course.snapshot(), before);
    check(&course, &["publish"], 0, "published");
    assert_eq!(states(&course), "Reviewed Current, Published");
    check(&course, &["publish", "--check"], 0, "Published; Reviewed h200/sm_75");
    check(&course, &["publish"], 0, "published already");
    let ran = course.verify();
    assert_eq!(ran.code(), 0, "{}", ran.all());
    // The status paragraph that publishing writes is no edit since the record.
    assert!(!ran.out.contains("comments or white space changed"), "{}", ran.all());
    assert!(snap(&course, "h200-sm_75"));
    let page = course.read(format!("lessons/{LESSON}/README.md"));
    // The run with the lower median of the ratio, of 31/27, 31/28, 30/27, 32/27, 33/28: 1.148.
    assert!(page.contains("two/one: 1.148\n"), "{page}");
    assert!(page.contains("Reviewed by `reviewer@example.org` on 2026-06-15."), "{page}");
    let source = course.read(format!("lessons/{LESSON}/scale.cu"));
    assert!(source.contains("\n// Status: VERIFIED\n"), "{source}");
}

#[test]
fn comments_warn_and_code_makes_stale() {
    let (course, record) = published();
    let source = format!("lessons/{LESSON}/scale.cu");
    course.edit(&source, "// Day 1: scale.", "// Day 1: scale an array.");
    assert_eq!(states(&course), "Reviewed Current, Published");
    check(&course, &["verify", "--offline"], 0, "comments or white space changed");
    check(&course, &["publish", "--check"], 0, "Published");
    course.edit(&source, "return 0;", "return 1 - 1;");
    assert!(states(&course).starts_with("Stale Current"), "{}", states(&course));
    check(&course, &["verify", "--offline"], 0, "Stale on h200/sm_75: the code of");
    let page = course.read(format!("lessons/{LESSON}/README.md"));
    assert!(page.contains(&format!("[record `{}`]", record.short())));
    check(&course, &["publish"], 22, "Stale on h200/sm_75");
    check(&course, &["publish", "--check"], 0, "Stale");
    // The stale record can't be reviewed again either.
    let ran = course.verdict("--accept", record, REVIEWER, "again");
    assert_eq!(ran.code(), 22, "{}", ran.all());
    // Recorded anew: until it is reviewed, the old run stays; then the page has to be published.
    let again = course.record(
        LESSON,
        &RecordPlan {
            at: "2026-06-10T08:30:00Z".into(),
            nonce: Digest::of("2").to_string(),
            ..RecordPlan::h200()
        },
    );
    assert_eq!(states(&course), "Recorded Current");
    check(&course, &["verify", "--offline"], 0, "nobody has reviewed it");
    check(&course, &["review"], 21, "since      the last reviewed record");
    assert_eq!(course.verdict("--accept", again, REVIEWER, "as before").code(), 0);
    check(&course, &["publish"], 0, "published");
    assert_eq!(states(&course), "Reviewed Current, Published");
    assert_eq!(course.verify().code(), 0);
}

#[test]
fn another_model_fills_a_further_region() {
    let (course, _) = published();
    let t4 = course.record(LESSON, &RecordPlan::t4());
    check(&course, &["publish", "--check"], 0, "Recorded t4/sm_75");
    assert_eq!(course.verdict("--accept", t4, REVIEWER, "a smaller card").code(), 0);
    check(&course, &["publish", "--check"], 21, "README.md: what was reviewed is not published");
    check(&course, &["publish"], 0, "published");
    let page = course.read(format!("lessons/{LESSON}/README.md"));
    assert!(page.contains("GPU: Tesla T4 (compute capability 7.5)\n"), "{page}");
    assert!(page.contains("GPU: NVIDIA H200"), "{page}");
    assert!(snap(&course, "t4-sm_75") && snap(&course, "h200-sm_75"));
    assert_eq!(course.verify().code(), 0, "{}", course.verify().all());
    // Taken back alone: its region says so, and the lesson stays published.
    assert_eq!(course.verdict("--reject", t4, REVIEWER, "the card was borrowed").code(), 0);
    check(&course, &["verify", "--offline"], 28, "shows what no reviewed record says");
    check(&course, &["withdraw", LESSON], 0, "withdrawn");
    assert!(!snap(&course, "t4-sm_75") && snap(&course, "h200-sm_75"));
    assert_eq!(states(&course), "Reviewed Current, Published");
    assert_eq!(course.verify().code(), 0, "{}", course.verify().all());
    check(&course, &["publish", "--check"], 0, "Published");
}

#[test]
fn revoked_is_drifted_until_withdrawn() {
    let (course, record) = published();
    check(&course, &["withdraw", LESSON], 4, "revoke first");
    let ran = course.verdict("--revoke", record, REVIEWER, "the fan\nwas broken <!-- x -->");
    assert_eq!(ran.code(), 0, "{}", ran.all());
    assert_eq!(states(&course), "Recorded Drifted");
    check(&course, &["verify", "--offline"], 28, "was taken back");
    check(&course, &["publish"], 21, "refused");
    let before = course.snapshot();
    check(&course, &["withdraw", LESSON, "--dry-run"], 0, "would be withdrawn");
    assert_eq!(course.snapshot(), before);
    check(&course, &["withdraw", LESSON], 0, "withdrawn");
    assert_eq!(states(&course), "Recorded Withdrawn");
    assert!(!snap(&course, "h200-sm_75"));
    let ran = course.verify();
    assert_eq!(ran.code(), 0, "{}", ran.all());
    check(&course, &["withdraw", LESSON], 0, "withdrawn already");
    let page = course.read(format!("lessons/{LESSON}/README.md"));
    assert!(page.contains("**WITHDRAWN** since 2026-06-15"), "{page}");
    assert!(page.contains("the fan was broken &lt;!-- x --&gt;"), "{page}");
    let source = course.read(format!("lessons/{LESSON}/scale.cu"));
    assert!(source.contains("// Status: WITHDRAWN\n"), "{source}");
    // A record that was revoked as a whole is never accepted again.
    let ran = course.verdict("--accept", record, REVIEWER, "after all");
    assert_eq!(ran.code(), 21, "{}", ran.all());
    assert!(ran.err.contains("revoked the record for good"), "{}", ran.all());
}

#[test]
fn a_rejected_record_shows_nothing_and_blank_is_not_withdrawn() {
    let course = Scratch::with_lesson();
    let record = course.record(LESSON, &RecordPlan::h200());
    assert_eq!(course.verdict("--reject", record, REVIEWER, "wrong card").code(), 0);
    assert_eq!(states(&course), "Rejected Blank");
    check(&course, &["publish"], 21, "Rejected");
    check(&course, &["withdraw", LESSON], 4, "shows nothing that was taken back");
    let ran = course.verdict("--accept", record, REVIEWER, "after all");
    assert!(ran.code() == 21 && ran.err.contains("a reject of"), "{}", ran.all());
    let assessment = course.assess(LESSON);
    let reject = *assessment.reviews[0].digest();
    assert_eq!(course.verdict("--revoke", reject, REVIEWER, "it was the right one").code(), 0);
    assert_eq!(states(&course), "Recorded Blank");
    assert_eq!(course.verdict("--accept", record, REVIEWER, "after all").code(), 0);
    check(&course, &["publish"], 0, "published");
}

#[test]
fn what_was_revoked_goes_back_to_what_was_reviewed_before() {
    let (course, first) = published();
    course.edit(format!("lessons/{LESSON}/scale.cu"), "return 0;", "return 1 - 1;");
    let plan = RecordPlan {
        at: "2026-06-10T08:30:00Z".into(),
        nonce: Digest::of("2").to_string(),
        ..RecordPlan::h200()
    };
    let second = course.record(LESSON, &plan);
    assert_eq!(course.verdict("--accept", second, REVIEWER, "new code").code(), 0);
    check(&course, &["publish"], 0, "published");
    assert_eq!(course.verdict("--reject", second, REVIEWER, "wrong card").code(), 0);
    check(&course, &["verify", "--offline"], 28, "region-drifted");
    check(&course, &["withdraw", LESSON], 0, "withdrawn");
    assert_eq!(states(&course), "Rejected Current");
    let page = course.read(format!("lessons/{LESSON}/README.md"));
    assert!(page.contains(&format!("[record `{}`]", first.short())), "{page}");
    assert_eq!(course.verify().code(), 0, "{}", course.verify().all());
}

#[test]
fn keys_are_rotated_and_removed() {
    let (course, _) = published();
    let close = ["keys", "close", REVIEWER, "--at", "2026-06-20"];
    check(&course, &close, 0, "closed 1");
    assert_eq!(course.verify().code(), 0, "evidence within the window stands");
    let ran = run_at(course.path(), "2026-07-01T00:00:00Z", &["keys", "list"]);
    assert!(ran.out.contains("EXPIRED since 2026-06-20T00:00:00Z"), "{}", ran.all());
    // The old key signs nothing more; its successor, under the same name, does.
    let t4 = course.record(LESSON, &RecordPlan::t4());
    let key_file = course.key_file(REVIEWER);
    let digest = t4.to_string();
    let accept = |key: &str| {
        let line = ["review", "--accept", &digest, "--reason", "ok", "--reviewer", REVIEWER];
        let line = [&line[..], &["--key", key]].concat();
        run_at(course.path(), "2026-07-01T00:00:00Z", &line)
    };
    let ran = accept(key_file.as_str());
    assert_eq!(ran.code(), 24, "{}", ran.all());
    assert!(ran.err.contains("window"), "{}", ran.all());
    let successor = key("successor");
    let window = (Some(time("2026-06-20T00:00:00Z")), None);
    let line = signer_line(
        &REVIEWER.parse().unwrap(),
        &[Namespace::Review],
        window,
        successor.public_key(),
    )
    .unwrap();
    check(&course, &["keys", "add", "--line", &line], 0, "added: reviewer@example.org");
    let ran = accept(course.key_file("successor").as_str());
    assert_eq!(ran.code(), 0, "{}", ran.all());
    check(&course, &["publish"], 0, "published");
    assert_eq!(course.verify().code(), 0, "{}", course.verify().all());
    // A window that ends before what was signed, and a key that is gone, take their signatures with
    // them.
    let list = course.read("research/allowed_signers");
    course.write(
        "research/allowed_signers",
        list.replace("20260620000000Z\" ssh", "20260610Z\" ssh"),
    );
    check(&course, &["verify", "--offline"], 24, "signature does not count");
    course.trust(&[(RECORDER, &[Namespace::Record])]);
    check(&course, &["verify", "--offline"], 24, "signature does not count");
    check(&course, &["publish"], 24, "signature does not count");
    check(&course, &["publish", "--check"], 24, "signature does not count");
}

#[test]
fn a_tampered_record_refuses_the_lesson() {
    let (course, record) = published();
    let assessment = course.assess(LESSON);
    let folder = assessment.primary_evidence().unwrap().records[0].examined.folder.path.clone();
    course.edit(folder.join("scale.run-0.stdout"), "0.027", "0.026");
    check(&course, &["verify", "--offline"], 24, "file is not the one that was recorded");
    check(&course, &["publish"], 24, "refused");
    let ran = course.verdict("--accept", record, REVIEWER, "fine");
    assert!(ran.code() == 24 && ran.err.contains("Tampered"), "{}", ran.all());
}

#[test]
fn settings_that_make_insta_pass_are_refused() {
    let course = Scratch::with_lesson();
    let with = |name: &'static str, value: &'static str| {
        support::run_with(course.path(), support::NOW, &["verify", "--offline"], |mut context| {
            context.environment = Box::new(move |asked| (asked == name).then(|| value.into()));
            context
        })
    };
    for (name, value, code) in [
        ("INSTA_FORCE_PASS", "1", 28),
        ("INSTA_FORCE_PASS", "0", 0),
        ("INSTA_UPDATE", "always", 28),
        ("INSTA_UPDATE", "unseen", 28),
        ("INSTA_UPDATE", "no", 0),
        ("INSTA_FORCE_UPDATE_SNAPSHOTS", "1", 28),
    ] {
        let ran = with(name, value);
        assert_eq!(ran.code(), code, "{name}={value}: {}", ran.all());
        assert_eq!(ran.out.contains("insta-force-pass"), code == 28, "{}", ran.all());
    }
    for name in ["insta.yaml", ".insta.yaml", ".config/insta.yaml"] {
        course.write(name, "behavior:\n  force_pass: true\n");
        let ran = course.verify();
        assert_eq!(ran.code(), 28, "{name}: {}", ran.all());
        assert!(ran.out.contains(&format!("{name}:2")), "{name}: {}", ran.all());
        course.write(name, "# plain output\nbehavior:\n  output: diff\n");
        assert_eq!(course.verify().code(), 0, "{name}");
    }
}

#[test]
fn an_assertion_that_fails_is_not_published() {
    let course = Scratch::with_lesson();
    let plan = RecordPlan {
        times: vec![(27, 31), (28, 31), (27, 26), (27, 32), (28, 33)],
        ..RecordPlan::h200()
    };
    let record = course.record(LESSON, &plan);
    check(&course, &["verify", "--offline"], 0, "holds in 4 of 5 runs");
    assert_eq!(course.verdict("--accept", record, REVIEWER, "the prose is at fault").code(), 0);
    let before = course.snapshot();
    check(&course, &["publish"], 28, "would not pass `verify`");
    assert!(course.snapshot() == before);
    let page = format!("lessons/{LESSON}/README.md");
    course.edit(&page, "ratio > 1 on", "ratio > 0.9 on");
    check(&course, &["publish"], 0, "published");
    assert_eq!(course.verify().code(), 0, "{}", course.verify().all());
}

#[test]
fn a_further_region_of_other_code_keeps_what_it_holds() {
    let record_both = |course: &Scratch, day: &str| {
        for plan in [RecordPlan::h200(), RecordPlan::t4()] {
            let nonce = Digest::of(format!("{day}{}", plan.nonce)).to_string();
            let at = format!("2026-06-{day}T08:30:00Z");
            let record = course.record(LESSON, &RecordPlan { nonce, at, ..plan });
            assert_eq!(course.verdict("--accept", record, REVIEWER, "steady").code(), 0);
        }
    };
    let page = |course: &Scratch| course.read(format!("lessons/{LESSON}/README.md"));
    for filled in [false, true] {
        let course = Scratch::with_lesson();
        record_both(&course, "01");
        if filled {
            check(&course, &["publish"], 0, "published");
        }
        course.edit(format!("lessons/{LESSON}/scale.cu"), "return 0;", "return 1 - 1;");
        let nonce = Digest::of("new").to_string();
        let plan = RecordPlan { nonce, at: "2026-06-10T08:30:00Z".into(), ..RecordPlan::h200() };
        let record = course.record(LESSON, &plan);
        assert_eq!(course.verdict("--accept", record, REVIEWER, "steady").code(), 0);
        check(&course, &["publish"], 0, "published");
        assert_eq!(page(&course).contains("GPU: Tesla T4"), filled, "{}", page(&course));
        assert_eq!(snap(&course, "t4-sm_75"), filled);
        assert_eq!(states(&course), "Reviewed Current, Published");
        assert_eq!(course.verify().code(), 0, "{}", course.verify().all());
    }
}

#[test]
fn a_withdrawal_does_not_wait_for_other_faults() {
    let (course, record) = published();
    assert_eq!(course.verdict("--reject", record, REVIEWER, "wrong card").code(), 0);
    course.edit(format!("lessons/{LESSON}/README.md"), "data[i] *= 2.0f", "data[i] *= 3.0f");
    check(&course, &["withdraw", LESSON], 0, "withdrawn");
    let ran = course.verify();
    assert_eq!(ran.code(), 28, "{}", ran.all());
    assert!(ran.out.contains("snippet-differs") && !ran.out.contains("region-drifted"));
}

#[test]
fn publishing_mends_what_was_edited_by_hand() {
    let (course, _) = published();
    let dir = format!("lessons/{LESSON}");
    let verified = course.read(format!("{dir}/scale.cu"));
    course.write(format!("{dir}/scale.cu"), verified.replace("reviewed by", "looked at by"));
    check(&course, &["verify", "--offline"], 28, "status-drifted");
    check(&course, &["publish", "--check"], 28, "status-drifted");
    check(&course, &["publish"], 0, "published");
    assert_eq!(course.read(format!("{dir}/scale.cu")), verified);
    let page = course.read(format!("{dir}/README.md"));
    course.edit(format!("{dir}/README.md"), "two: 0.031 ms", "two: 0.021 ms");
    check(&course, &["verify", "--offline"], 28, "region-drifted");
    check(&course, &["publish"], 0, "published");
    assert_eq!(course.read(format!("{dir}/README.md")), page);
}

#[test]
fn every_program_of_a_lesson_gets_the_paragraph_and_its_regions() {
    let course = Scratch::with_lesson();
    let dir = format!("lessons/{LESSON}");
    let second = "// Day 1: nothing.\n//\n// Build: nvcc -std=c++17 -arch=sm_75 -o second second.cu\n\
                  // Run:   ./second\n//\n// Status: UNVERIFIED\n\
                  //   no reviewed record of this code exists, so the page shows no output\n\
                  //   `cargo xtask status` says what is missing\n\nint main() { return 0; }\n";
    course.write(format!("{dir}/second.cu"), second);
    let manifest = course.read(format!("{dir}/lesson.toml"));
    let program = "[[program]]\nsource = \"second.cu\"\noutput = \"\"\"\nn = {n:count}\n\"\"\"\n";
    let manifest = manifest.replacen("output", "source = \"scale.cu\"\noutput", 1);
    course.write(format!("{dir}/lesson.toml"), format!("{manifest}{program}"));
    let page = course.read(format!("{dir}/README.md"));
    let further = "\n```sh\nnvcc -std=c++17 -arch=sm_75 -o second second.cu\n./second\n```\n\n\
                   <!-- record: output second -->\n*Nothing is shown here until a run on real \
                   hardware has been recorded and somebody else has reviewed it.*\n\
                   <!-- end record -->\n";
    course.write(format!("{dir}/README.md"), format!("{page}{further}"));
    let assessment = course.assess(LESSON);
    let sources = assessment.sources().unwrap().clone();
    let record = course.record_with(LESSON, &RecordPlan::h200(), |record, files| {
        let mut program = record.program[0].clone();
        program.name = "second".to_owned();
        program.command = vec!["./second".to_owned()];
        program.build.argv = "nvcc -std=c++17 -arch=sm_75 -o second second.cu"
            .split(' ')
            .map(str::to_owned)
            .collect();
        program.build.source = sources["second"].clone();
        let renamed = |name: &str| name.replace("scale", "second");
        program.build.log = renamed(&program.build.log);
        program.build.ptx = renamed(&program.build.ptx);
        for run in &mut program.run {
            (run.stdout, run.stderr) = (renamed(&run.stdout), renamed(&run.stderr));
            files.insert(run.stdout.clone(), b"n = 7\n".to_vec());
            files.insert(run.stderr.clone(), Vec::new());
        }
        files.insert(program.build.log.clone(), Vec::new());
        files.insert(program.build.ptx.clone(), b".version 9.0\n".to_vec());
        record.program.push(program);
    });
    let ran = course.run(&["review"]);
    assert!(ran.out.contains("second.cu:6 header") && ran.out.contains("+ n = 7"), "{}", ran.all());
    // The second program has no `spread` region, and its spread is signed with the rest.
    assert!(
        ran.out.contains("! spread: signed with the rest; no region shows it"),
        "{}",
        ran.all()
    );
    let ran = course.verdict("--accept", record, REVIEWER, "both are fine");
    assert_eq!(ran.code(), 0, "{}", ran.all());
    check(&course, &["publish"], 0, "published");
    for source in ["scale.cu", "second.cu"] {
        let text = course.read(format!("{dir}/{source}"));
        assert!(text.contains("// Status: VERIFIED\n"));
        // Each header names the code of its own program.
        let code = proofrun_core::source::code_digest(&text).short();
        assert!(text.contains(&format!("//   code {code} by record")), "{text}");
    }
    assert!(course.read(format!("{dir}/README.md")).contains("\nn = 7\n"));
    assert_eq!(states(&course), "Reviewed Current, Published");
    let ran = course.verify();
    assert_eq!(ran.code(), 0, "{}", ran.all());
}
