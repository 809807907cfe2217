//! The order of the places, and toolkits that do not work.

use super::*;
use crate::system::files;

struct Machine {
    _guard: tempfile::TempDir,
    root: Utf8PathBuf,
}

impl Machine {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        Self { _guard: guard, root }
    }

    /// A toolkit whose nvcc is this shell script.
    fn install(&self, name: &str, script: &str) -> Utf8PathBuf {
        let root = self.root.join(name);
        files::create_dir(root.join("bin")).unwrap();
        let nvcc = root.join("bin/nvcc");
        files::write_atomic(&nvcc, format!("#!/bin/sh\n{script}\n")).unwrap();
        files::make_executable(&nvcc).unwrap();
        root
    }

    fn works(&self, name: &str, version: &str) -> Utf8PathBuf {
        self.install(name, &format!("echo 'tools, release 13.0, V{version}'"))
    }

    fn places(&self) -> Places {
        Places {
            flag: None,
            cuda_home: Some("".into()),
            cuda_path: None,
            path: self.root.join("empty").into(),
            managed: Managed::under(&self.root.join("target")),
        }
    }
}

fn version(places: &Places) -> Option<String> {
    let found = search(places, &Cancel::new()).toolkit().unwrap();
    found.map(|toolkit| toolkit.version)
}

#[test]
fn places_are_asked_in_order() {
    let machine = Machine::new();
    let mut places = machine.places();
    assert_eq!(version(&places), None);
    let path = machine.works("path", "13.0.4");
    places.path = format!("{path}/bin");
    assert_eq!(version(&places).as_deref(), Some("13.0.4"));
    places.cuda_path = Some(machine.works("cuda_path", "13.0.3"));
    assert_eq!(version(&places).as_deref(), Some("13.0.3"));
    places.cuda_home = Some(machine.works("cuda_home", "13.0.2"));
    assert_eq!(version(&places).as_deref(), Some("13.0.2"));
    places.flag = Some(machine.works("flag", "13.0.1"));
    let found = search(&places, &Cancel::new());
    assert!(matches!(found.tried[0].verdict, Verdict::Taken));
    assert!(found.tried[1..].iter().all(|tried| matches!(tried.verdict, Verdict::NotReached)));
    assert_eq!(found.toolkit.map(|toolkit| toolkit.origin), Some(Origin::Flag));
}

#[test]
fn a_link_on_path_leads_to_its_toolkit() {
    let machine = Machine::new();
    let real = machine.works("real", "13.0.9");
    files::create_dir(machine.root.join("links")).unwrap();
    let link = machine.root.join("links/nvcc");
    std::os::unix::fs::symlink(real.join("bin/nvcc"), link).unwrap();
    let path = format!("{}/links", machine.root);
    let found = search(&Places { path, ..machine.places() }, &Cancel::new());
    let expect = real.canonicalize_utf8().unwrap();
    assert_eq!(found.toolkit.map(|toolkit| toolkit.root), Some(expect));
}

#[test]
fn a_named_toolkit_that_does_not_work_is_an_error_that_names_it() {
    let machine = Machine::new();
    let good = machine.works("good", "13.0.1");
    let check = |root: Utf8PathBuf, expect: &str| {
        let places = Places {
            cuda_home: Some(root.clone()),
            cuda_path: Some(good.clone()),
            ..machine.places()
        };
        let error = search(&places, &Cancel::new()).toolkit().unwrap_err().to_string();
        let start = format!("CUDA_HOME names `{root}`, which holds no working toolkit: ");
        assert!(error.starts_with(&start) && error.contains(expect), "{error}");
    };
    check(machine.root.join("nowhere"), "there is no `");
    check(machine.install("silent", "true"), "names no release");
    check(machine.install("failing", "echo broken >&2; exit 3"), "exit status 3: broken");
    let unusable = machine.install("unusable", "");
    let nvcc = unusable.join("bin/nvcc");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    std::fs::set_permissions(nvcc, mode).unwrap();
    check(unusable, "cannot start `");
}

#[test]
fn a_relative_folder_is_made_absolute() {
    // Cargo runs tests in the package's folder.
    let machine = Machine::new();
    let root = machine.works("works", "13.0.1");
    let up = "../".repeat(root.components().count() + 20);
    let flag = Some(Utf8PathBuf::from(format!("{up}{}", root.as_str().trim_start_matches('/'))));
    let toolkit = search(&Places { flag, ..machine.places() }, &Cancel::new()).toolkit.unwrap();
    assert!(toolkit.root.is_absolute() && toolkit.nvcc.is_absolute());
}

#[test]
fn offline_and_absent_is_an_error_of_its_own() {
    let machine = Machine::new();
    let places = machine.places();
    let error = ensure(&places, true, &mut |_| {}, &Cancel::new()).unwrap_err();
    assert!(matches!(error, Error::OfflineAndAbsent), "{error}");
}
