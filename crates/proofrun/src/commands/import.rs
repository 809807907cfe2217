//! `import`: records from a GPU host, checked again and filed as evidence.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::{EVIDENCE_FOLDER, assess};
use proofrun_core::bundle::Bundle;
use proofrun_core::record::examine::parse as parse_record;
use proofrun_core::record::model::{RECORD_FILE, Record, SIGNATURE_FILE, SignedAt};
use proofrun_core::record::{EvidenceFolder, Examined, examine};
use proofrun_core::state::RecordState;
use proofrun_core::trust::Namespace;
use proofrun_core::{Digest, Finding, Place, Rule};
use proofrun_runner::bundle::issued;
use proofrun_runner::course::{read_lesson, record_folders};
use proofrun_runner::keys::SigningKey;
use proofrun_runner::system::files;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{Loaded, Selection};

/// The folder of the course's state in which a record is put together before it is filed.
const STAGE_FOLDER: &str = "importing";

/// Checks records from a GPU host again and files them under `evidence/`.
///
/// Each record must carry a nonce that this course issued and a signature of a key in
/// `research/allowed_signers`; one that was not signed on the host is signed here, with `--key`.
#[derive(Debug, clap::Args)]
pub struct Import {
    /// The folder that came back from the host.
    #[arg(value_name = "DIR")]
    folder: Utf8PathBuf,
    /// The recorder's key, for records that were not signed on the host.
    #[arg(long, value_name = "FILE", requires = "recorder")]
    key: Option<Utf8PathBuf>,
    /// The recorder's principal, for records that were not signed on the host.
    #[arg(long, value_name = "NAME", requires = "key")]
    recorder: Option<String>,
}

impl Import {
    /// Runs the command.
    ///
    /// # Errors
    /// When nothing is there, or any record is refused: then none of the refused is filed, and
    /// those that pass are.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let folder = context.cwd.join(&self.folder);
        if !folder.is_dir() {
            return Err(Error::Usage(format!(
                "no folder `{folder}`; name the one that `lesson-runner record --out` wrote"
            )));
        }
        let loaded = Loaded::read(root, &Selection::default(), context)?;
        let found = record_folders(&folder)?;
        if found.is_empty() {
            let fact = format!("no `{RECORD_FILE}` below `{folder}`");
            let next = "name the folder that `lesson-runner record --out` wrote";
            let finding = Finding::error(Rule::NothingSelected, Place::file("."), fact, next);
            return Err(Error::Refused {
                what: "nothing to import".into(),
                findings: vec![finding],
            });
        }
        let key = self.key.as_ref().map(|key| SigningKey::read(&context.cwd.join(key))).transpose();
        let key = key.map_err(Error::system("read the recorder's key"))?;
        let mut refused = Vec::new();
        for record in found {
            context.go_on()?;
            match self.file(root, &loaded, record, key.as_ref(), context)? {
                Ok(()) => {}
                Err(findings) => refused.extend(findings),
            }
        }
        if refused.is_empty() {
            return Ok(Exit::Holds);
        }
        Err(Error::Refused { what: "not every record was imported".into(), findings: refused })
    }

    /// Files one record, or says why not.
    fn file(
        &self,
        root: &Root,
        loaded: &Loaded,
        mut folder: EvidenceFolder,
        key: Option<&SigningKey>,
        context: &Context,
    ) -> Result<Result<(), Vec<Finding>>, Error> {
        let source = folder.path.clone();
        let record = match self.prepare(&mut folder, key)? {
            Ok(record) => record,
            Err(finding) => return Ok(Err(vec![finding])),
        };
        let bundle = issued::find(&root.state(), &record.nonce)
            .map_err(Error::system("look the nonce up"))?;
        if let Err(finding) = check_issued(&source, &record, bundle.as_ref()) {
            return Ok(Err(vec![finding]));
        }
        let Some(lesson) = loaded.lesson(&record.lesson) else {
            let fact = format!("the course has no lesson `{}`", record.lesson);
            return Ok(Err(vec![refusal(&source, fact, "import into the course that bundled it")]));
        };
        let bytes = folder.files.get(RECORD_FILE).map(Vec::as_slice).unwrap_or_default();
        let name = record.folder_name(&Digest::of(bytes));
        let home = lesson.files.folder.join(EVIDENCE_FOLDER).join(name);
        folder.path.clone_from(&home);
        let examined = match examine(&record.lesson, folder, &loaded.course.trust.signers) {
            Ok(examined) => examined,
            Err(findings) => return Ok(Err(findings)),
        };
        let made = write(root, &home, &examined)?;
        context.say(self.told(root, loaded, &examined, made)?);
        Ok(Ok(()))
    }

    /// Reads the record, and signs it where the host did not.
    fn prepare(
        &self,
        folder: &mut EvidenceFolder,
        key: Option<&SigningKey>,
    ) -> Result<Result<Record, Finding>, Error> {
        let place = folder.path.join(RECORD_FILE);
        let bytes = folder.files.get(RECORD_FILE).map(Vec::as_slice).unwrap_or_default();
        let mut record = match parse_record(&place, bytes) {
            Ok(record) => record,
            Err(finding) => return Ok(Err(finding)),
        };
        if record.signed_at == SignedAt::Host || folder.files.contains_key(SIGNATURE_FILE) {
            return Ok(Ok(record));
        }
        let (Some(key), Some(recorder)) = (key, &self.recorder) else {
            let fact = "the record was not signed on the host".to_owned();
            let next = "give `--key FILE --recorder NAME` to sign it here";
            return Ok(Err(refusal(&folder.path, fact, next)));
        };
        record.recorder.clone_from(recorder);
        let text = record.to_toml().map_err(Error::system("write the record"))?;
        let signature = key.sign(Namespace::Record, text.as_bytes());
        let signature = signature.map_err(Error::system("sign the record"))?;
        folder.files.insert(RECORD_FILE.into(), text.into_bytes());
        folder.files.insert(SIGNATURE_FILE.into(), signature.into_bytes());
        Ok(Ok(record))
    }

    fn told(
        &self,
        root: &Root,
        loaded: &Loaded,
        examined: &Examined,
        made: bool,
    ) -> Result<String, Error> {
        let word = if made { "imported" } else { "already there" };
        let mut text = format!("{word}  {}\n", examined.folder.path);
        let record = &examined.record;
        let Some(lesson) = loaded.lesson(&record.lesson) else { return Ok(text) };
        let files = read_lesson(root.path(), &lesson.files.folder)?;
        let assessment = assess(&files, &loaded.course);
        let assessed = assessment
            .evidence
            .values()
            .flat_map(|evidence| &evidence.records)
            .find(|assessed| assessed.examined.digest == examined.digest);
        if let Some(assessed) = assessed {
            if let RecordState::Unpublishable(faults) = &assessed.state {
                for fault in faults {
                    text.push_str(&format!("  Unpublishable: {fault}\n"));
                }
            }
            for input in &assessed.stale {
                text.push_str(&format!("  Stale: {input}\n"));
            }
            if assessed.awaits_review() {
                text.push_str(&format!("  next: `review {}`\n", record.lesson));
            }
        }
        Ok(text)
    }
}

fn refusal(source: &Utf8Path, fact: String, next: &str) -> Finding {
    Finding::error(Rule::ImportRefused, Place::file(source), fact, next)
}

/// The nonce ties the record to a bundle of this course, and the bundle names lessons, variants and
/// the runner.
fn check_issued(
    source: &Utf8Path,
    record: &Record,
    bundle: Option<&Bundle>,
) -> Result<(), Finding> {
    let Some(bundle) = bundle else {
        let fact = format!("this course issued no nonce `{}`", record.nonce);
        let next = "import in the checkout that made the bundle, or bundle and record again";
        return Err(refusal(source, fact, next));
    };
    let lesson = bundle.lesson.iter().find(|lesson| lesson.name == record.lesson);
    if !lesson.is_some_and(|lesson| lesson.variants.contains(&record.variant)) {
        let fact = format!(
            "the bundle of this nonce held no `{}` variant of `{}`",
            record.variant, record.lesson
        );
        return Err(refusal(source, fact, "bundle and record again"));
    }
    if record.runner.executable != bundle.runner.executable {
        let fact = "it was recorded by another runner than the bundle's".to_owned();
        return Err(refusal(source, fact, "record with the `lesson-runner` of the bundle"));
    }
    if record.commit != bundle.commit {
        let fact = "it names another commit than the bundle".to_owned();
        return Err(refusal(source, fact, "bundle and record again"));
    }
    Ok(())
}

/// Files the record whole or not at all; `false` when it is there already.
///
/// It is put together in the course's state and moved by one rename, so that a kill leaves nothing
/// under `lessons/`; what it leaves in the state goes with the next import.
fn write(root: &Root, home: &Utf8Path, examined: &Examined) -> Result<bool, Error> {
    let home = root.path().join(home);
    if home.exists() {
        return Ok(false);
    }
    let state = root.state().join(STAGE_FOLDER);
    files::create_dir(&state)?;
    let _held = files::try_lock(root.state().join("import.lock"))?;
    let stage = state.join(home.file_name().unwrap_or("record"));
    files::remove_dir(&state)?;
    files::write_dir_atomic::<Error>(&stage, |temporary| {
        for (name, bytes) in &examined.folder.files {
            files::write_atomic(temporary.join(name), bytes)?;
        }
        Ok(())
    })?;
    let evidence = home.parent().unwrap_or(root.path());
    files::create_dir(evidence)?;
    std::fs::rename(&stage, &home).map_err(Error::system(format!("file the record `{home}`")))?;
    files::sync_folder(evidence)?;
    Ok(true)
}
