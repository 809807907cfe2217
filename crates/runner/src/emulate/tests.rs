//! Programs that say what the emulated device would, and builds by the real compiler.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_emulator::report::LaunchEnd;

use super::*;
use crate::compile::{BuildStatus, Cache};
use crate::system::process::{Cancel, Status, Stream};
use crate::toolkit;

/// A folder with a library that is none, and a script in place of a program.
struct Scene {
    folder: tempfile::TempDir,
    library: Library,
}

impl Scene {
    fn new(script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let file = path.join(LIBRARY_FILE);
        std::fs::write(&file, "the library").unwrap();
        let program = path.join("program");
        let told = "tell() { echo \"$1\" >/proc/self/fd/$fd; }";
        let fd = "fd=${PROOFRUN_EMULATE##*\\\"report\\\":}; fd=${fd%\\}}";
        std::fs::write(&program, format!("#!/bin/sh\n{fd}\n{told}\n{script}\n")).unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        let library = Library::find(Some(&file)).unwrap();
        Self { folder, library }
    }

    fn path(&self) -> &Utf8Path {
        Utf8Path::from_path(self.folder.path()).unwrap()
    }

    fn run(&self, deadline: Duration) -> Emulated {
        let configuration = Configuration {
            device: "h200".into(),
            schedules: 2,
            seed: 7,
            replay: None,
            keep_repeats: false,
            threads: 1,
            timeline: None,
            report: -1,
        };
        let program = self.path().join("program");
        let mut seen = [0_usize; 3];
        let ran = run(
            &Run {
                executable: &program,
                args: &["one two".to_owned()],
                environment: &BTreeMap::from([("OWN".to_owned(), "own".to_owned())]),
                folder: self.path(),
                library: &self.library,
                runtime_name: "libcudart.so.13".into(),
                configuration: &configuration,
                deadline,
                own_stdin: false,
            },
            &Cancel::new(),
            &mut |news| match news {
                News::Bytes(Stream::Stdout, bytes) => seen[0] += bytes.len(),
                News::Bytes(_, bytes) => seen[1] += bytes.len(),
                News::Event(_) => seen[2] += 1,
            },
        )
        .unwrap();
        assert_eq!(seen[..2], [ran.stdout.len(), ran.stderr.len()]);
        let told = ran.told.launches.len() + usize::from(ran.told.device.is_some());
        assert!(seen[2] >= told);
        ran
    }
}

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn a_program_sees_one_library_its_configuration_and_nothing_else() {
    let scene = Scene::new(
        "echo \"$1.$OWN.${LD_PRELOAD-none}\"; ls $LD_LIBRARY_PATH; cat $LD_LIBRARY_PATH/*; \
         echo \"$PROOFRUN_EMULATE\" >&2; exit 3",
    );
    let ran = scene.run(MINUTE);
    let (out, err) =
        (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    assert_eq!(out, "one two.own.none\nlibcudart.so.13\nthe library");
    assert_eq!(ran.status, Status::Exit(3));
    let said: serde_json::Value = serde_json::from_str(&err).unwrap();
    let report = said["report"].as_u64().unwrap();
    let expect = serde_json::json!({"device": "h200", "schedules": 2, "seed": 7,
        "keep_repeats": false, "threads": 1, "report": report});
    assert_eq!(said, expect);
    assert_eq!(ran.told, Told::default());
}

fn launch(index: u64, end: &str) -> String {
    format!(
        r#"{{"event":"launch","index":{index},"kernel":"k","grid":[1,1,1],"block":[32,1,1],"dynamic_shared_bytes":0,"end":"{end}","steps":10,"schedules":3}}"#
    )
}

fn finding(kind: &str, message: &str, file: &str, count: u64) -> String {
    let at = match file {
        "" => String::new(),
        file => format!(
            r#"{{"file":"{file}","line":3,"column":0,"what":"write","inlined":["{file}:9"]}}"#
        ),
    };
    format!(
        r#"{{"event":"finding","kind":"{kind}","severity":"error","message":"{message}","at":[{at}],"count":{count}}}"#
    )
}

#[test]
fn what_is_told_is_kept_folded_and_named() {
    let lines = [
        r#"{"event":"started","device":"t4"}"#.to_owned(),
        launch(0, "ran"),
        finding("race", "a race", "/c/.work-1/course/lessons/x/a.cu", 1),
        finding("leak", "one", "", 1),
        finding("race", "a race", "/c/.work-1/course/lessons/x/a.cu", 5),
        finding("leak", "two", "", 1),
        launch(1, "repeated"),
        "nonsense".to_owned(),
        r#"{"event":"timeline","data":"{}"}"#.to_owned(),
        r#"{"event":"ended","calls":12}"#.to_owned(),
    ];
    let script: String = lines.iter().map(|line| format!("tell '{line}'\n")).collect();
    let ran = Scene::new(&(script + "echo done")).run(MINUTE);
    let names = Names { folder: "/home/me".into(), toolkit: "/opt/cuda".into() };
    let told = ran.with_files(|file| names.of(file)).told;
    assert_eq!((told.device.as_deref(), told.calls), (Some("t4"), Some(12)));
    let findings: Vec<_> = told.findings.iter().map(|it| (it.message.as_str(), it.count)).collect();
    assert_eq!(findings, [("a race", 5), ("one", 1), ("two", 1)]);
    let at = &told.findings[0].at[0];
    assert_eq!((at.file.as_str(), at.inlined[0].as_str()), ("lessons/x/a.cu", "lessons/x/a.cu:9"));
    assert_eq!((told.launches.len(), told.steps(), told.schedules()), (2, 20, 6));
    assert_eq!((told.ended(LaunchEnd::Ran), told.ended(LaunchEnd::Repeated)), (1, 1));
    assert_eq!(told.errors().count(), 3);
    assert!(told.unreadable.unwrap().ends_with(": nonsense"));
    assert_eq!(told.timelines, ["{}"]);
    assert_eq!(names.of("/home/me/src/../a.cu"), "a.cu");
    assert_eq!(names.of("/opt/cuda/include/x.h"), "<toolkit>/include/x.h");
    assert_eq!(names.of("/usr/include/x.h"), "/usr/include/x.h");
}

#[test]
fn a_run_is_kept_by_all_that_it_depends_on() {
    let script = format!(
        "tell '{}'; tell '{}'; printf 'a\\377'; exit 3",
        r#"{"event":"started","device":"t4"}"#,
        finding("leak", "one", "", 1)
    );
    let scene = Scene::new(&script);
    let ran = scene.run(MINUTE);
    let configuration = Configuration {
        device: "t4".into(),
        schedules: 0,
        seed: 1,
        replay: None,
        keep_repeats: false,
        threads: 0,
        timeline: None,
        report: -1,
    };
    let program = scene.path().join("program");
    let (none, seeded) = (BTreeMap::new(), Configuration { seed: 2, ..configuration.clone() });
    let run = Run {
        executable: &program,
        args: &[],
        environment: &none,
        folder: scene.path(),
        library: &scene.library,
        runtime_name: "libcudart.so.13".into(),
        configuration: &configuration,
        deadline: MINUTE,
        own_stdin: false,
    };
    let cache = Cache::under(&scene.path().join("target"));
    let key = kept::key(&run).unwrap();
    assert_eq!(kept::load(&cache, key), None);
    kept::store(&cache, key, &ran).unwrap();
    let found = kept::load(&cache, key).unwrap();
    let wall = ran.wall;
    assert_eq!(Emulated { wall, ..found }, ran);
    let other_args = ["x".to_owned()];
    let others = [
        Run { configuration: &seeded, ..run.clone() },
        Run { args: &other_args, ..run.clone() },
        Run { deadline: 2 * MINUTE, ..run.clone() },
    ];
    assert!(others.iter().all(|other| kept::key(other).unwrap() != key));
    std::fs::write(scene.library.path(), "another library").unwrap();
    assert_ne!(kept::key(&run).unwrap(), key);
    let hung = Emulated { status: Status::Hung, ..ran.clone() };
    kept::store(&cache, key, &hung).unwrap();
    assert_eq!(kept::load(&cache, key).unwrap().status, Status::Hung);
    let folder = cache.folder_of(key);
    let text = std::fs::read_to_string(folder.join("run.json")).unwrap();
    std::fs::write(folder.join("run.json"), text.replace("one", "two")).unwrap();
    assert_eq!(kept::load(&cache, key), None);
}

#[test]
fn a_program_that_hangs_keeps_what_was_told() {
    let ran = Scene::new(&format!("tell '{}'; sleep 100", launch(0, "ran")))
        .run(Duration::from_millis(500));
    assert_eq!((ran.status, ran.told.launches.len()), (Status::Hung, 1));
    assert_eq!(ran.told.calls, None);
}

const PROGRAM: &str = r#"#include <cstdio>
#include "n.h"
__global__ void k(int* p) { p[threadIdx.x] = N + M; }
int main() { k<<<1, 32>>>(nullptr); std::printf("%d\n", N); }
"#;

#[test]
fn a_loose_file_is_built_where_it_lies_and_again_only_if_something_changed() {
    let toolkit = toolkit::for_tests();
    check_toolkit(&toolkit).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = Utf8Path::from_path(folder.path()).unwrap().canonicalize_utf8().unwrap();
    std::fs::create_dir(path.join("more")).unwrap();
    std::fs::write(path.join("a.cu"), PROGRAM).unwrap();
    std::fs::write(path.join("more/n.h"), "#define N 1\n").unwrap();
    let cache = Cache::under(&path.join("target"));
    let flags: Vec<String> = ["-I", "more", "-DM=2"].map(Into::into).into();
    let sources: Vec<Utf8PathBuf> = vec!["a.cu".into()];
    let arch = "compute_80".parse().unwrap();
    let (toolkit, deadline) = (&toolkit, 5 * MINUTE);
    let loose = Loose { sources: &sources, folder: &path, flags: &flags, arch, toolkit, deadline };
    let built = |loose: &Loose<'_>| build(loose, &cache, &Cancel::new()).unwrap();
    let first = built(&loose);
    assert_eq!((first.status, first.cached), (BuildStatus::Built, false), "{}", first.log);
    let bytes = first.product.unwrap().check().unwrap();
    let text = String::from_utf8_lossy(&bytes);
    assert!(text.contains(".target sm_80") && text.contains(".loc"));
    assert!(text.contains(&format!("\"{path}/a.cu\"")), "its own name is not in the PTX");
    let needs = compile::elf::needs(&bytes).unwrap().libraries;
    assert!(needs.contains(&"libcudart.so.13".to_owned()), "{needs:?}");
    let second = built(&loose);
    assert!(second.cached);
    second.product.unwrap().check().unwrap();
    std::fs::write(path.join("more/n.h"), "#define N 2\n").unwrap();
    assert!(!built(&loose).cached);
    let other = built(&Loose { arch: "compute_90".parse().unwrap(), ..loose.clone() });
    assert!(!other.cached);
    std::fs::write(path.join("more/n.h"), "#define N x\n").unwrap();
    let failed = built(&loose);
    assert_eq!((failed.status, failed.product), (BuildStatus::Failed(2), None));
    let place = &failed.diagnostics[0];
    assert_eq!((place.file.as_deref(), place.line), (Some(Utf8Path::new("a.cu")), Some(3)));
}

#[test]
fn another_release_of_cuda_is_said_to_be_so() {
    let toolkit = toolkit::for_tests();
    let older = Toolkit { release: "12.4".into(), ..toolkit };
    let said = check_toolkit(&older).unwrap_err().to_string();
    assert!(said.contains("is 12.4; name one of 13"), "{said}");
}
