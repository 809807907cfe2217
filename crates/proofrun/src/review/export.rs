//! A small course for a reviewer elsewhere: the lessons whose records await review, with all that a
//! review needs.
//!
//! In it `review` works as in any course, since it is one. A reviewer without this harness finds
//! each record's screen and rendering as text, and entries to fill in and sign with `ssh-keygen`.

use std::collections::{BTreeMap, BTreeSet};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::publication::RENDER_FORMAT;
use proofrun_runner::course::{COMMON_FOLDER, POLICY_FILE, SIGNERS_FILE};

use crate::loaded::{Loaded, LoadedLesson};

use super::Subject;
use super::screen::screen;

/// What the reviewer does, step by step.
const HOW_TO: &str = include_str!("how-to.md");

/// The file of further lines for the list of keys, at the folder's top.
pub const SIGNERS_TO_ADD: &str = "allowed_signers.add";

/// The files of the small course, by path.
pub fn files(
    loaded: &Loaded,
    awaiting: &[Subject<'_>],
    trust: &BTreeMap<Utf8PathBuf, Vec<u8>>,
) -> BTreeMap<Utf8PathBuf, Vec<u8>> {
    let mut files = trust.clone();
    for (name, text) in &loaded.course.common {
        files.insert(Utf8Path::new(COMMON_FOLDER).join(name), text.clone().into_bytes());
    }
    let names: BTreeSet<&str> =
        awaiting.iter().map(|subject| subject.lesson.files.name()).collect();
    let exported = |lesson: &&LoadedLesson| names.contains(lesson.files.name());
    for lesson in loaded.lessons.iter().filter(exported) {
        let own = lesson.files.files.iter();
        files.extend(own.map(|(path, bytes)| (lesson.files.folder.join(path), bytes.clone())));
        files.extend(lesson.files.included.clone());
    }
    for (index, subject) in awaiting.iter().enumerate() {
        let text = screen(subject, loaded, (index + 1, awaiting.len()), None);
        let plain = anstream::adapter::strip_str(&text).to_string();
        let digest = subject.digest();
        files.insert(format!("screens/{digest}.txt").into(), plain.into_bytes());
        let Some(rendering) = &subject.record.rendering else { continue };
        let rendered = rendering.text().into_bytes();
        files.insert(format!("renderings/{digest}.txt").into(), rendered);
        for kind in ["accept", "reject"] {
            let entry = blank_entry(subject, kind).into_bytes();
            files.insert(format!("entries/{}.{kind}.toml", digest.short()).into(), entry);
        }
    }
    files.insert("HOW-TO.md".into(), HOW_TO.as_bytes().to_vec());
    files
}

/// The trust root's files, as they are read for an export.
pub const TRUST_FILES: [&str; 2] = [SIGNERS_FILE, POLICY_FILE];

/// An entry in its canonical form, but for three words in capitals.
fn blank_entry(subject: &Subject<'_>, kind: &str) -> String {
    let mut text = format!(
        "schema = 1\nkind = \"{kind}\"\nlesson = \"{}\"\nrecord = \"{}\"\nreviewer = \"NAME\"\n\
         signed_at = \"YYYY-MM-DDTHH:MM:SSZ\"\nreason = \"REASON\"\n",
        subject.lesson.files.name(),
        subject.digest()
    );
    if let (true, Some(rendering)) = (kind == "accept", &subject.record.rendering) {
        let digest = rendering.digest();
        text.push_str(&format!("\n[rendering]\nformat = {RENDER_FORMAT}\ndigest = \"{digest}\"\n"));
    }
    text
}
