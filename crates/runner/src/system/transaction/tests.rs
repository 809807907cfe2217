//! A kill before every step of a change, and of its recovery: the files are all old or all new.

use super::*;

/// Ends the program's life before step `at`, counted from 0.
struct KillAt {
    at: usize,
    count: usize,
}

impl Steps for KillAt {
    fn step(&mut self) -> Result<(), Error> {
        self.count += 1;
        if self.count > self.at { Err(Error::Killed(self.at)) } else { Ok(()) }
    }
}

struct Course {
    _guard: tempfile::TempDir,
    root: Utf8PathBuf,
}

type State = Vec<(&'static str, Option<&'static str>)>;

impl Course {
    fn new() -> Self {
        let guard = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(guard.path().to_owned()).unwrap();
        files::write_atomic(root.join("changed"), "old").unwrap();
        files::write_atomic(root.join("removed"), "old").unwrap();
        Self { _guard: guard, root }
    }

    fn journal(&self) -> Utf8PathBuf {
        self.root.join("state/journal")
    }

    fn change(&self) -> Transaction {
        let mut change = Transaction::new(self.journal()).unwrap();
        change
            .write(self.root.join("changed"), "new")
            .write(self.root.join("deep/made"), "new")
            .remove(self.root.join("removed"));
        change
    }

    fn is(&self, expect: &State) -> bool {
        expect.iter().all(|(name, content)| {
            let found = files::read_capped(self.root.join(name), 100).ok();
            found.as_deref() == content.map(str::as_bytes)
        })
    }
}

fn old() -> State {
    vec![("changed", Some("old")), ("removed", Some("old")), ("deep/made", None)]
}

fn new() -> State {
    vec![("changed", Some("new")), ("removed", None), ("deep/made", Some("new"))]
}

#[test]
fn a_change_happens() {
    let course = Course::new();
    course.change().commit().unwrap();
    assert!(course.is(&new()));
    assert!(!course.journal().exists());
    assert_eq!(recover(course.journal(), &course.root).unwrap(), Recovered::Nothing);
}

#[test]
fn a_kill_before_any_step_leaves_all_old_or_all_new() {
    let (mut dropped, mut finished) = (0, 0);
    for at in 0.. {
        let course = Course::new();
        let Err(error) = course.change().commit_with(&mut KillAt { at, count: 0 }) else { break };
        assert!(matches!(error, Error::Killed(_)), "{error}");
        match recover(course.journal(), &course.root).unwrap() {
            Recovered::Finished(_) => {
                finished += 1;
                assert!(course.is(&new()), "step {at}");
            }
            // Nothing was left: killed before the first step, or before the last when all files
            // were new.
            Recovered::Nothing | Recovered::Dropped => {
                dropped += 1;
                assert!(course.is(&old()) || course.is(&new()), "step {at}");
            }
        }
        assert!(!course.journal().exists());
    }
    // Begin, stage two, commit: four ways to be dropped, and the one between the journal's end and
    // its folder's. Then each of three files, and the journal's end.
    assert_eq!((dropped, finished), (5, 4));
}

#[test]
fn a_recovery_may_be_killed_too() {
    for first in 4..8 {
        for second in 0.. {
            let course = Course::new();
            course.change().commit_with(&mut KillAt { at: first, count: 0 }).unwrap_err();
            let mut kill = KillAt { at: second, count: 0 };
            if recover_with(&course.journal(), &course.root, &mut kill).is_ok() {
                break;
            }
            recover(course.journal(), &course.root).unwrap();
            assert!(course.is(&new()), "{first} {second}");
        }
    }
}

#[test]
fn half_a_staging_is_dropped() {
    let course = Course::new();
    files::create_dir(course.journal()).unwrap();
    fs::write(course.journal().join("0"), "ne").unwrap();
    fs::write(course.journal().join(".journal.toml.1-1.tmp"), "schema = 1\n[[cha").unwrap();
    assert_eq!(recover(course.journal(), &course.root).unwrap(), Recovered::Dropped);
    assert!(course.is(&old()));
}

#[test]
fn a_file_that_is_neither_old_nor_new_is_named_and_kept() {
    let course = Course::new();
    course.change().commit_with(&mut KillAt { at: 5, count: 0 }).unwrap_err();
    fs::write(course.root.join("removed"), "mine").unwrap();
    let error = recover(course.journal(), &course.root).unwrap_err().to_string();
    assert!(error.starts_with(&format!("`{}/removed` was changed", course.root)), "{error}");
    assert!(course.is(&vec![("removed", Some("mine"))]));
    assert!(matches!(Transaction::new(course.journal()), Err(Error::Unfinished { .. })));
    fs::write(course.root.join("removed"), "old").unwrap();
    // What a write that was killed half way leaves beside its file.
    let leftover = course.root.join(".changed.1-2.tmp");
    fs::write(&leftover, "ne").unwrap();
    recover(course.journal(), &course.root).unwrap();
    assert!(!leftover.exists());
    assert!(course.is(&new()));
}

#[test]
fn a_refused_change_leaves_nothing() {
    let course = Course::new();
    fs::create_dir(course.root.join("folder")).unwrap();
    let mut change = course.change();
    change.write(course.root.join("folder"), "new");
    let error = change.commit().unwrap_err().to_string();
    assert_eq!(error, format!("`{}/folder` is not a regular file", course.root));
    assert!(course.is(&old()));
    assert!(!course.journal().exists());
}

#[test]
fn damage_is_refused_and_two_changes_exclude_each_other() {
    let course = Course::new();
    let under_way = course.change();
    assert!(matches!(
        Transaction::new(course.journal()),
        Err(Error::File(files::Error::Locked { .. }))
    ));
    drop(under_way);
    files::create_dir(course.journal()).unwrap();
    for damage in ["schema = 2\n", "schema = 1\nmore = 1\n", "schema", "\u{0}"] {
        fs::write(course.journal().join(JOURNAL), damage).unwrap();
        let error = recover(course.journal(), &course.root).unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{damage}: {error}");
    }
    fs::remove_file(course.journal().join(JOURNAL)).unwrap();
    course.change().commit_with(&mut KillAt { at: 4, count: 0 }).unwrap_err();
    fs::write(course.journal().join("0"), "forged").unwrap();
    assert!(matches!(recover(course.journal(), &course.root), Err(Error::Damaged { .. })));
}
