//! `verify` where no card may run a lesson: its programs on the emulated device, as far as that
//! goes, and never as evidence.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use camino::Utf8Path;
use proofrun_core::Digest;
use proofrun_core::gate::{Device, Probe};
use serde_json::Value;
use support::course::LESSON;
use support::emulated::{ENDED, LAUNCH, ON_H200, STARTED, library, prints, with_toolkit};
use support::recorded::device;
use support::{NOW, Ran, RecordPlan, Scratch, run_with};

/// A lesson whose program prints this.
fn scene(text: &str) -> Scratch {
    let course = Scratch::with_lesson();
    with_toolkit(&course);
    prints(&course, text, "");
    course
}

fn verify_on(course: &Scratch, library: &Utf8Path, probe: Probe, arguments: &[&str]) -> Ran {
    let all: Vec<&str> = ["verify"].into_iter().chain(arguments.iter().copied()).collect();
    let library = library.to_string();
    run_with(course.path(), NOW, &all, move |mut context| {
        context.emulates = true;
        context.probe = Box::new(move || probe.clone());
        context.environment = Box::new(move |name| match name {
            "PATH" => std::env::var_os(name),
            "PROOFRUN_CUDART" => Some(library.clone().into()),
            _ => None,
        });
        context
    })
}

fn verify(course: &Scratch, events: &[&str], arguments: &[&str]) -> Ran {
    verify_on(course, &library(course, events), Probe::NoDriver, arguments)
}

const CLEAN: &[&str] = &[STARTED, LAUNCH, ENDED];

/// A finding of some kind at line 15 of the lesson's program.
fn finding(kind: &str, severity: &str, message: &str) -> String {
    format!(
        r#"{{"event":"finding","kind":"{kind}","severity":"{severity}","kernel":"scale(float*, int)",
        "message":"{message}","at":[{{"file":"/c/.work-1/course/lessons/{LESSON}/scale.cu",
        "line":15,"column":5,"what":"write of 4 bytes"}}],"count":1}}"#
    )
}

#[test]
fn what_no_card_may_run_runs_on_the_emulated_device_and_only_once() {
    let course = scene(ON_H200);
    let before = course.snapshot();
    let first = verify(&course, CLEAN, &[]);
    assert_eq!(first.code(), 0, "{}", first.all());
    for line in [
        "run sm_75       gated: no device",
        "emulate sm_75   ok\n",
        "emulate sm_90   ok\n",
        "0 programs executed, 2 gated, 2 emulated, 1 step not executed",
        "no valid record",
    ] {
        assert!(first.out.contains(line), "{line}\n{}", first.all());
    }
    let again = verify(&course, CLEAN, &["--json"]);
    let json: Value = serde_json::from_str(&again.out).unwrap();
    assert_eq!(json["counts"]["emulated"], 2, "{}", again.out);
    assert_eq!(json["counts"]["executed"], 0, "{}", again.out);
    let steps = json["lessons"][0]["steps"].as_array().unwrap();
    let emulated = |step: &&Value| step["name"].as_str().unwrap().starts_with("emulate");
    let all: Vec<_> = steps.iter().filter(emulated).map(|step| &step["cached"]).collect();
    assert_eq!(all, [true, true]);
    assert_eq!(course.snapshot(), before, "an emulated run left something in the course");
    let status = course.run(&["status"]);
    assert!(status.out.contains("Unverified: 1 lesson"), "{}", status.all());
}

#[test]
fn a_lessons_errors_there_fail_it_and_what_cannot_be_emulated_does_not() {
    let race = finding("race", "error", "two writes are not ordered");
    let leak = finding("leak", "warning", "4 bytes were never freed");
    let bulk = finding("unsupported", "error", "`cp.async.bulk`");
    let place = format!("lessons/{LESSON}/scale.cu:15");
    for (events, code, said) in [
        (
            vec![STARTED, &race, ENDED],
            26,
            format!("error {place}: race in `scale(float*, int)`: two"),
        ),
        (vec![STARTED, &race, ENDED], 26, "emulate sm_90   failed".to_owned()),
        (vec![STARTED, &leak, ENDED], 0, format!("warning {place}: leak in")),
        (
            vec![STARTED, &race, &bulk, ENDED],
            0,
            format!("emulate sm_75   not executed: `cp.async.bulk` at {place}\n"),
        ),
    ] {
        let course = scene(ON_H200);
        let ran = verify(&course, &events, &[]);
        assert_eq!(ran.code(), code, "{}", ran.all());
        assert!(ran.out.contains(&said), "{said}\n{}", ran.all());
    }
}

#[test]
fn an_output_that_no_card_prints_is_a_mismatch() {
    let course = scene(&ON_H200.replace("264", "265"));
    let ran = verify(&course, CLEAN, &[]);
    assert_eq!(ran.code(), 23, "{}", ran.all());
    assert!(ran.out.contains("[output-mismatch]"), "{}", ran.all());
}

#[test]
fn seeded_schedules_are_for_code_that_no_card_ran() {
    let course = scene(ON_H200);
    // The library answers with what it was asked for, in place of a finding.
    let asked = |course: &Scratch| {
        let calls = course.outside("library/calls.c");
        let library = library(course, CLEAN);
        let text = std::fs::read_to_string(&calls).unwrap();
        let shows = "fputs(strstr(text, \"schedules\"), stderr); abort();";
        let text = text.replace("if (at &&", &format!("if (at) {{ {shows} }}\n    if (at &&"));
        std::fs::write(&calls, text).unwrap();
        let built = std::process::Command::new("cc")
            .args(["-shared", "-fPIC", "-o", "libfake.so", "calls.c"])
            .args(["-Wl,-soname,libcudart.so.13", "-Wl,--version-script=versions"])
            .current_dir(library.parent().unwrap())
            .status();
        assert!(built.unwrap().success());
        let ran = verify_on(course, &library, Probe::NoDriver, &[]);
        assert_eq!(ran.code(), 27, "{}", ran.all());
        ran.out
    };
    let new = asked(&course);
    assert!(new.contains("schedules\":3"), "{new}");
    course.record(LESSON, &RecordPlan::h200());
    let recorded = asked(&course);
    assert!(recorded.contains("schedules\":0"), "{recorded}");
}

#[test]
fn without_the_library_nothing_is_emulated_and_that_is_said() {
    let course = scene(ON_H200);
    let ran = verify_on(&course, Utf8Path::new("/no/such.so"), Probe::NoDriver, &[]);
    assert_eq!(ran.code(), 0, "{}", ran.all());
    let said = "emulate sm_75   not executed: PROOFRUN_CUDART names `/no/such.so`";
    assert!(ran.out.contains(said), "{}", ran.all());
}

#[test]
fn what_a_card_runs_is_not_emulated() {
    let course = scene(&ON_H200.replace("NVIDIA H200", "Tesla T4").replace("9.0", "7.5"));
    let manifest = format!("lessons/{LESSON}/lesson.toml");
    course.edit(&manifest, "{blocks = 2 * sm_count} blocks", "{blocks:count} blocks");
    course.edit(&manifest, "{ratio:ratio.3 = b / a in 0.5..2.0}", "{ratio:ratio.3 = a / b}");
    course.edit(format!("lessons/{LESSON}/scale.cu"), "scale<<<1, 1>>>(nullptr, 0);", "");
    let facts = device("Tesla T4", "7.5", 40);
    let (cuda, uuid) = ("13.0".parse().unwrap(), Digest::of("card"));
    let probe = Probe::Devices { devices: vec![Device { index: 0, facts, cuda, uuid }] };
    let ran = verify_on(&course, &library(&course, CLEAN), probe, &[]);
    assert!(!ran.out.contains("emulate sm_75"), "{}", ran.all());
    assert!(ran.out.contains("run sm_90       gated"), "{}", ran.all());
    assert!(ran.out.contains("emulate sm_90"), "{}", ran.all());
}
