//! From a recording on a GPU host to evidence in the course: signed there or here, and refused
//! where the two don't fit.
#![allow(clippy::unwrap_used, reason = "the helpers of a test fail it by panicking")]

#[path = "../../runner/tests/scene/mod.rs"]
mod scene;

use std::ffi::OsString;
use std::io::Write;
use std::sync::{Arc, Mutex};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun::cli;
use proofrun::context::Context;
use proofrun_core::Digest;
use proofrun_core::record::model::SignedAt;
use proofrun_core::trust::{Namespace, new_key, signer_line};
use proofrun_runner::bundle::issued;
use proofrun_runner::keys::SigningKey;
use proofrun_runner::system::clock::FixedClock;
use proofrun_runner::system::files;
use scene::{GOOD, LESSON, Scene, Take};

const RECORDER: &str = "recorder@example.org";

/// The scene's course, which issued its bundle and knows its recorder.
struct Home {
    scene: Scene,
    root: Utf8PathBuf,
    key: Utf8PathBuf,
}

impl Home {
    fn new(script: &str) -> Self {
        let scene = Scene::new(script);
        let root = scene.base.join("course");
        for (path, bytes) in scene.course() {
            write(&root.join(path), &bytes);
        }
        issued::remember(&root.join(".proofrun"), &scene::facts(&Digest::of("runner"))).unwrap();
        let key = new_key("recorder", &[7; 32]).unwrap();
        let who = RECORDER.parse().unwrap();
        let line = signer_line(&who, &[Namespace::Record], (None, None), key.public_key());
        write(&root.join("research/allowed_signers"), format!("{}\n", line.unwrap()).as_bytes());
        let path = scene.base.join("key");
        write(&path, key.to_openssh(ssh_key::LineEnding::LF).unwrap().as_bytes());
        Self { scene, root, key: path }
    }

    /// `import out` with more arguments: the exit code and all that was said.
    fn import(&self, more: &[&str]) -> (u8, String) {
        let said = Said::default();
        let clock = Box::new(FixedClock("2026-01-03T00:00:00Z".parse().unwrap()));
        let (out, err) = (Box::new(said.clone()), Box::new(said.clone()));
        let context = Context::for_test(&self.root, clock, out, err);
        let out = self.scene.out();
        let args = ["import", out.as_str()];
        let code = cli::run(args.iter().chain(more).map(OsString::from), &context).code();
        let text = String::from_utf8(said.0.lock().unwrap().clone()).unwrap();
        (code, text)
    }

    fn evidence(&self) -> Vec<String> {
        let folder = self.root.join("lessons").join(LESSON).join("evidence");
        let entries = folder.read_dir_utf8().into_iter().flatten();
        entries.map(|entry| entry.unwrap().file_name().to_owned()).collect()
    }
}

#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn write(path: &Utf8Path, bytes: &[u8]) {
    files::create_dir(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_record_that_was_signed_on_the_host_is_imported_as_it_is() {
    let home = Home::new(GOOD);
    let key = SigningKey::read(&home.key).unwrap();
    let recorded = home.scene.record(&Take { signer: Some((RECORDER, &key)), ..Take::default() });
    let (code, said) = home.import(&[]);
    assert!(code == 0 && said.starts_with("imported  "), "{code} {said}");
    assert!(said.contains(&format!("next: `review {LESSON}`")), "{said}");
    assert_eq!(home.evidence(), [recorded.unwrap().folder.file_name().unwrap()]);
    let (code, said) = home.import(&[]);
    assert!(code == 0 && said.starts_with("already there"), "{code} {said}");
}

#[test]
fn a_record_without_a_signature_is_signed_at_import() {
    let home = Home::new(GOOD);
    home.scene.record(&Take::default()).unwrap();
    let (code, said) = home.import(&[]);
    assert!(code != 0 && said.contains("was not signed on the host"), "{code} {said}");
    assert!(home.evidence().is_empty());
    let (code, said) = home.import(&["--key", home.key.as_str(), "--recorder", RECORDER]);
    assert!(code == 0 && said.starts_with("imported  "), "{code} {said}");
    assert_eq!(home.evidence().len(), 1);
    let (record, _) = home.scene.only_record();
    assert_eq!(record.signed_at, SignedAt::Import);
}

#[test]
fn what_failed_is_imported_and_named() {
    let home = Home::new("#!/bin/sh\nexit 3\n");
    let key = SigningKey::read(&home.key).unwrap();
    home.scene.record(&Take { signer: Some((RECORDER, &key)), ..Take::default() }).unwrap();
    let (code, said) = home.import(&[]);
    assert!(code == 0 && said.contains("Unpublishable: failed: run 0 of `echo`"), "{code} {said}");
    assert_eq!(home.evidence().len(), 1);
}

#[test]
fn what_is_still_in_the_making_is_not_imported() {
    let home = Home::new(GOOD);
    let work = home.scene.out().join(LESSON).join(".work-fake-sm_80-0");
    write(&work.join("record/record.toml"), b"schema = 1\n");
    let (code, said) = home.import(&[]);
    assert!(code == 4 && said.contains("nothing to import"), "{code} {said}");
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let home = Home::new(GOOD);
    let (code, said) = home.import(&[]);
    assert!(code == 2 && said.contains(&format!("no folder `{}`", home.scene.out())), "{said}");
}

#[test]
fn a_killed_import_leaves_nothing_in_the_evidence_and_the_next_one_finishes() {
    let home = Home::new(GOOD);
    let key = SigningKey::read(&home.key).unwrap();
    home.scene.record(&Take { signer: Some((RECORDER, &key)), ..Take::default() }).unwrap();
    // What a kill amid the writing leaves: half a folder in the course's state.
    let stage = home.root.join(".proofrun/importing");
    write(&stage.join(".2026-01-02-half.1-0.tmp/record.toml"), b"half");
    // A rename that can't be made, since a file stands where the evidence should lie, files
    // nothing.
    let evidence = home.root.join("lessons").join(LESSON).join("evidence");
    std::fs::write(&evidence, b"in the way").unwrap();
    let (code, said) = home.import(&[]);
    assert!(code != 0, "{code} {said}");
    assert_eq!(std::fs::read(&evidence).unwrap(), b"in the way");
    std::fs::remove_file(&evidence).unwrap();
    let (code, said) = home.import(&[]);
    assert!(code == 0 && said.starts_with("imported  "), "{code} {said}");
    assert_eq!(home.evidence().len(), 1);
    assert_eq!(stage.read_dir_utf8().unwrap().count(), 0);
}
