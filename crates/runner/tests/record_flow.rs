//! A recording from its gate to its folder, with scripts as programs and no device: what is kept of
//! every way in which a program can end, and that an interruption at any step costs nothing but
//! that step.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail it by panicking")]

mod scene;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use proofrun_core::Digest;
use proofrun_core::assess::Course;
use proofrun_core::record::Fault;
use proofrun_core::record::faults::judge;
use proofrun_core::record::model::{Ended, Record, SanitizerOutcome, SignedAt};
use proofrun_core::record::{EvidenceFolder, examine};
use proofrun_core::trust::{AllowedSigners, Namespace, new_key, signer_line};
use proofrun_runner::course::{read_lesson, record_folders};
use proofrun_runner::keys::SigningKey;
use proofrun_runner::record::{RecordError, Step};
use proofrun_runner::system::process::Cancel;

use scene::{FakeHost, GOOD, LESSON, Scene, Take};

/// What speaks against publishing the scene's one record.
fn faults(scene: &Scene) -> Vec<Fault> {
    let (record, files) = scene.only_record();
    let root = scene.bundle().join("course");
    let own = read_lesson(&root, &camino::Utf8Path::new("lessons").join(LESSON)).unwrap();
    let (text, _) = proofrun_core::assess::read(&own, &Course::default()).unwrap();
    judge(&text.lesson, &record, &files).err().unwrap_or_default()
}

fn key(scene: &Scene) -> (SigningKey, AllowedSigners) {
    let key = new_key("recorder", &[7; 32]).unwrap();
    let path = scene.base.join("key");
    std::fs::write(&path, key.to_openssh(ssh_key::LineEnding::LF).unwrap().as_bytes()).unwrap();
    let who = "recorder@example.org".parse().unwrap();
    let line = signer_line(&who, &[Namespace::Record], (None, None), key.public_key()).unwrap();
    let (signers, findings) =
        AllowedSigners::parse("allowed_signers".into(), format!("{line}\n").as_bytes());
    assert!(findings.is_empty(), "{findings:?}");
    (SigningKey::read(&path).unwrap(), signers)
}

#[test]
fn a_good_record_is_signed_and_stands_up_to_examination() {
    let scene = Scene::new(GOOD);
    let (key, signers) = key(&scene);
    let take = Take { signer: Some(("recorder@example.org", &key)), ..Take::default() };
    let recorded = scene.record(&take).unwrap();
    assert!(!recorded.earlier && recorded.device_lost.is_none());
    let (record, files) = scene.only_record();
    assert_eq!(record.signed_at, SignedAt::Host);
    // The clock says 5.6 s: records are dated in whole seconds.
    assert_eq!(record.recorded_at.to_string(), "2026-01-02T03:04:06Z");
    assert_eq!(files["echo.run-2.stdout"], b"items: 3\ntook 1.500 ms\n");
    // The first reading and the next: no other lies between them.
    assert_eq!((record.before.temperature_c, record.after.temperature_c), (Some(0), Some(1)));
    assert!(faults(&scene).is_empty());
    let folder = EvidenceFolder { path: recorded.folder, files, strangers: Vec::new() };
    let examined = examine(LESSON, folder, &signers).unwrap();
    assert_eq!(examined.recorder.principal().as_str(), "recorder@example.org");
}

#[test]
fn an_unsigned_record_says_that_import_signs_it() {
    let scene = Scene::new(GOOD);
    scene.record(&Take::default()).unwrap();
    let (record, files) = scene.only_record();
    assert_eq!((record.signed_at, record.recorder.as_str()), (SignedAt::Import, ""));
    assert!(!files.contains_key("record.toml.sig"));
}

/// What must be true of a record besides.
type Holds<'a> = &'a dyn Fn(&Record) -> bool;

#[test]
fn every_way_to_end_is_kept_and_named() {
    let count = "n=$(cat n 2>/dev/null || echo 0)\necho $((n+1)) > n\necho \"items: $n\"\n";
    let cases: [(String, &str, Holds<'_>); 5] = [
        ("#!/bin/sh\necho 'items: 3'\nexit 9\n".into(), "exited with status 9", &|record| {
            record.program[0].run.iter().all(|run| run.exit == Some(9))
        }),
        ("#!/bin/sh\nkill -SEGV $$\n".into(), "was ended by a signal", &|record| {
            record.program[0].run.len() == 3
        }),
        ("#!/bin/sh\nhead -c 1000000000 /dev/zero\n".into(), "printed more than", &|record| {
            record.file.iter().all(|file| file.bytes <= 1 << 20)
        }),
        (format!("#!/bin/sh\n{count}echo 'took 1.500 ms'\n"), "disagree", &|record| {
            record.program[0].run.iter().all(|run| run.exit == Some(0))
        }),
        ("#!/bin/sh\necho 'items: nan'\n".into(), "doesn't fit the template", &|_| true),
    ];
    for (script, expect, holds) in cases {
        let scene = Scene::new(&script);
        scene.record(&Take::default()).unwrap();
        let found: Vec<String> = faults(&scene).iter().map(ToString::to_string).collect();
        assert!(found.iter().any(|fault| fault.contains(expect)), "{script}: {found:?}");
        assert!(holds(&scene.only_record().0), "{script}");
    }
}

#[test]
fn a_hang_is_killed_recorded_and_not_repeated() {
    let hang = b"#!/bin/sh\necho before\nexec sleep 600\n";
    let scene = Scene::of(hang, 1, true, &Digest::of("runner"));
    let started = Instant::now();
    scene.record(&Take::default()).unwrap();
    assert!(started.elapsed() < Duration::from_secs(30));
    let (record, files) = scene.only_record();
    let runs = &record.program[0].run;
    assert_eq!(runs.iter().map(|run| run.ended).collect::<Vec<_>>(), [Ended::Hung]);
    assert_eq!(files["echo.run-0.stdout"], b"before\n");
    let outcomes: BTreeSet<_> =
        record.sanitizer.iter().map(|row| (format!("{:?}", row.outcome), &row.reason)).collect();
    assert_eq!(outcomes.len(), 1);
    assert!(record.sanitizer[0].reason.as_ref().unwrap().contains("hung"));
    // The kernels may be well all the same: the checks say so, or in which case they hang.
    assert!(record.check.is_some_and(|check| check.passed()));
    let found = faults(&scene);
    assert!(found.iter().any(|fault| matches!(fault, Fault::RunHung { .. })), "{found:?}");
}

#[test]
fn a_device_that_a_hang_takes_along_ends_the_recording_and_the_record_says_so() {
    let scene = Scene::of(b"#!/bin/sh\nexec sleep 600\n", 1, true, &Digest::of("runner"));
    let host = FakeHost { answers: Some(1), ..FakeHost::default() };
    let recorded = scene.record(&Take { host, ..Take::default() }).unwrap();
    assert!(recorded.device_lost.unwrap().contains("no answer within 30 s"));
    let (record, _) = scene.only_record();
    let check = record.check.unwrap();
    assert_eq!(
        (check.executed, check.detail.as_deref()),
        (0, Some("the device no longer answers"))
    );
    assert!(record.sanitizer.iter().all(|row| row.outcome == SanitizerOutcome::NotExecuted));
}

#[test]
fn what_a_program_leaves_behind_is_gone_when_its_run_is_over() {
    // A time that nobody else sleeps for.
    let script = "#!/bin/sh\nsetsid sleep 98765 &\necho 'items: 3'\necho 'took 1.500 ms'\n";
    let scene = Scene::new(script);
    scene.record(&Take { runs: 1, ..Take::default() }).unwrap();
    assert!(faults(&scene).is_empty());
    let mut alive = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.starts_with(b"sleep\x0098765")
    });
    assert!(alive.next().is_none());
}

#[test]
fn a_stop_at_any_step_is_made_up_for_by_the_next_call() {
    let whole = Scene::of(GOOD.as_bytes(), 20, true, &Digest::of("runner"));
    let steps = Cell::new(0);
    let count = |_: &Step<'_>, _: &Cancel| steps.set(steps.get() + 1);
    whole.record(&Take { progress: &count, ..Take::default() }).unwrap();
    let expect = whole.only_record();
    // One build, three runs, one check, four sanitizers.
    assert_eq!(steps.get(), 9);
    for stop_at in 0..steps.get() {
        let scene = Scene::of(GOOD.as_bytes(), 20, true, &Digest::of("runner"));
        let seen = Cell::new(0);
        let stop = |_: &Step<'_>, cancel: &Cancel| {
            if seen.replace(seen.get() + 1) == stop_at {
                cancel.cancel();
            }
        };
        let stopped = scene.record(&Take { progress: &stop, ..Take::default() });
        if stop_at + 1 < steps.get() {
            assert!(matches!(stopped, Err(RecordError::Cancelled)), "{stop_at}: {stopped:?}");
            assert!(scene.left().iter().all(|name| name.starts_with(".work-")));
            assert!(record_folders(&scene.out()).unwrap().is_empty());
        }
        scene.record(&Take::default()).unwrap();
        let (record, files) = scene.only_record();
        assert_eq!(record.program[0].run.len(), expect.0.program[0].run.len());
        assert_eq!(files.keys().collect::<Vec<_>>(), expect.1.keys().collect::<Vec<_>>());
        let readings = (record.before.temperature_c, record.after.temperature_c);
        let (Some(before), Some(after)) = readings else { panic!("{readings:?}") };
        assert_eq!(after, before + 1, "the readings around the runs, stopped at {stop_at}");
    }
}

#[test]
fn a_second_call_finds_the_record_and_drops_what_a_kill_left_beside_it() {
    let scene = Scene::new(GOOD);
    let first = scene.record(&Take::default()).unwrap();
    // A kill between the last two steps leaves both the record and its work folder.
    let work =
        scene.out().join(LESSON).join(format!(".work-fake-sm_80-{}", Digest::of("GPU-1").short()));
    std::fs::create_dir(&work).unwrap();
    let second = scene.record(&Take::default()).unwrap();
    assert!(second.earlier && second.folder == first.folder);
    scene.only_record();
}

#[test]
fn work_of_another_plan_is_dropped_before_the_runs_and_refused_after_them() {
    for (stop_at, refused) in [("run 1", false), ("memcheck", true)] {
        let scene = Scene::new(GOOD);
        let stop = |step: &Step<'_>, cancel: &Cancel| {
            if step.name == stop_at {
                cancel.cancel();
            }
        };
        let sanitizer = Some("/bin/false".into());
        let host = FakeHost { sanitizer, ..FakeHost::default() };
        scene.record(&Take { host, progress: &stop, ..Take::default() }).unwrap_err();
        let host = FakeHost { driver: Some("590.1"), ..FakeHost::default() };
        let result = scene.record(&Take { host, ..Take::default() });
        match refused {
            true => assert!(matches!(result, Err(RecordError::OtherPlan(_))), "{result:?}"),
            false => assert_eq!(scene.only_record().0.device.facts.driver, "590.1"),
        }
        drop(result);
    }
}

#[test]
fn a_spent_budget_stops_before_the_runs_and_leaves_out_sanitizers_after_them() {
    let scene = Scene::new(GOOD);
    let take = Take { budget: Some(Duration::ZERO), ..Take::default() };
    assert!(matches!(scene.record(&take), Err(RecordError::Budget(_))));
    assert!(scene.left().is_empty());

    let slow = "#!/bin/sh\nsleep 1\necho 'items: 3'\necho 'took 1.500 ms'\n";
    let scene = Scene::new(slow);
    let host = || FakeHost { sanitizer: Some("/bin/true".into()), ..FakeHost::default() };
    let budget = Some(Duration::from_millis(900));
    scene.record(&Take { host: host(), budget, runs: 1, ..Take::default() }).unwrap();
    let (record, _) = scene.only_record();
    assert!(
        record.sanitizer.iter().all(|row| row.reason.as_deref() == Some("the budget was spent"))
    );
    assert!(faults(&scene).is_empty());
}

#[test]
fn what_a_first_round_prepared_is_finished_by_a_second_even_without_time() {
    let scene = Scene::of(GOOD.as_bytes(), 20, true, &Digest::of("runner"));
    let host = || FakeHost { sanitizer: Some("/bin/true".into()), ..FakeHost::default() };
    assert_eq!(scene.prepare(&Take { host: host(), ..Take::default() }).unwrap(), None);
    assert!(record_folders(&scene.out()).unwrap().is_empty());
    let budget = Some(Duration::ZERO);
    scene.record(&Take { host: host(), budget, ..Take::default() }).unwrap();
    let (record, _) = scene.only_record();
    assert!(record.check.is_some_and(|check| check.passed()));
    assert!(record.sanitizer.iter().all(|row| row.outcome == SanitizerOutcome::NotExecuted));
    assert!(faults(&scene).is_empty());
    let again = scene.prepare(&Take::default()).unwrap();
    assert!(again.is_some_and(|recorded| recorded.earlier));
}

/// What the real tool prints, by tool; the program's own line must not be kept.
const SANITIZER: &str = "\
#!/bin/sh
summary='RACECHECK SUMMARY: 2 hazards displayed (2 errors, 0 warnings)'
echo '========= COMPUTE-SANITIZER'
echo 'took 99.000 ms'
case $2 in
  memcheck) echo '========= ERROR SUMMARY: 0 errors' ;;
  racecheck) echo \"========= $summary\"; exit $4 ;;
  initcheck) echo '========= Error: Device not supported. Please refer to the list.'; exit 1 ;;
  synccheck) exec sleep 600 ;;
esac
";

#[test]
fn each_outcome_of_a_sanitizer_is_its_own() {
    let scene = Scene::new(GOOD);
    let tool = scene.base.join("compute-sanitizer");
    std::fs::write(&tool, SANITIZER).unwrap();
    proofrun_runner::system::files::make_executable(&tool).unwrap();
    let host = FakeHost { sanitizer: Some(tool), ..FakeHost::default() };
    scene.record(&Take { host, ..Take::default() }).unwrap();
    let (record, files) = scene.only_record();
    let rows: Vec<_> =
        record.sanitizer.iter().map(|row| (row.tool.as_str(), row.outcome, row.errors)).collect();
    assert_eq!(
        rows,
        [
            ("memcheck", SanitizerOutcome::Clean, Some(0)),
            ("racecheck", SanitizerOutcome::Found, Some(2)),
            ("initcheck", SanitizerOutcome::DeviceNotSupported, None),
            ("synccheck", SanitizerOutcome::Hung, None),
        ]
    );
    assert!(!String::from_utf8_lossy(&files["echo.memcheck.log"]).contains("99.000"));
}

#[test]
fn the_gate_leaves_nothing_behind() {
    for (capability, expect) in [("7.5", "needs 8.0, this is 7.5"), ("10.0", "")] {
        let scene = Scene::new(GOOD);
        let host = FakeHost { capability: Some(capability), ..FakeHost::default() };
        match scene.record(&Take { host, ..Take::default() }) {
            Err(RecordError::Gated(why)) => assert_eq!(why, expect),
            other => assert!(expect.is_empty() && other.is_ok(), "{other:?}"),
        }
        assert_eq!(scene.left().len(), usize::from(expect.is_empty()));
    }
}

/// A C program, linked with these flags in a folder that holds a `libcudart.so.12` of nobody.
fn compiled(text: &str, flags: &[&str]) -> (tempfile::TempDir, Vec<u8>) {
    let folder = tempfile::tempdir().unwrap();
    let cc = |args: &[&str]| {
        let done = Command::new("cc").args(args).current_dir(folder.path()).status().unwrap();
        assert!(done.success());
    };
    std::fs::write(folder.path().join("empty.c"), "int cudaNothing(void) { return 0; }\n").unwrap();
    cc(&["-shared", "-fPIC", "-Wl,-soname,libcudart.so.12", "-o", "libcudart.so.12", "empty.c"]);
    let here = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join("main.c"), text.replace("HERE", here)).unwrap();
    cc(&[&["-o", "main", "main.c"], flags].concat());
    let bytes = std::fs::read(folder.path().join("main")).unwrap();
    (folder, bytes)
}

#[test]
fn a_foreign_cuda_runtime_is_refused_whether_linked_or_loaded() {
    let linked = "int cudaNothing(void); int main(void) { return cudaNothing(); }";
    let loaded = "#include <dlfcn.h>\n#include <unistd.h>\n\
                  int main(void) { dlopen(\"HERE/libcudart.so.12\", RTLD_NOW); sleep(1); }";
    for (text, flags) in [(linked, &["-L.", "-l:libcudart.so.12"][..]), (loaded, &["-ldl"][..])] {
        let (_kept, program) = compiled(text, flags);
        let scene = Scene::of(&program, 20, false, &Digest::of("runner"));
        let result = scene.record(&Take { runs: 1, ..Take::default() });
        let Err(RecordError::ForeignRuntime { library, .. }) = result else {
            panic!("{result:?}");
        };
        assert!(library.ends_with("libcudart.so.12"), "{library}");
        assert!(scene.left().is_empty());
    }
}

#[test]
fn an_executable_that_was_changed_since_its_build_is_not_run() {
    let scene = Scene::new(GOOD);
    let work =
        scene.out().join(LESSON).join(format!(".work-fake-sm_80-{}", Digest::of("GPU-1").short()));
    let stop = |step: &Step<'_>, cancel: &Cancel| {
        if step.name == "run 0" {
            cancel.cancel();
        }
    };
    scene.record(&Take { progress: &stop, ..Take::default() }).unwrap_err();
    std::fs::write(work.join("bin.echo/echo"), "#!/bin/sh\necho forged\n").unwrap();
    let error = scene.record(&Take::default()).unwrap_err();
    assert!(error.to_string().contains("is not what was built"), "{error}");
}
