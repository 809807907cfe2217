//! `bundle`: one archive for a GPU host.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::{Assessment, LessonFiles};
use proofrun_core::bundle::{
    BUNDLE_FORMAT, Bundle as BundleFacts, BundledLesson, BundledRunner, COURSE_FOLDER,
};
use proofrun_core::state::{EvidenceState, Pair};
use proofrun_core::{Digest, Finding, Place, Rule};
use proofrun_runner::bundle::{self, BundleFile, RUNNER_FILE, issued};
use proofrun_runner::{compile::elf, git};

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::{Loaded, Selection};
use crate::prebuild;
use crate::runner_binary;

/// What goes into a bundle for whoever sits at the GPU host, with places for what it is of.
const HOW_TO: &str = include_str!("bundle/how-to.txt");

/// Packs the runner, lessons, commit and a nonce into one archive for a GPU host.
///
/// The host needs no Rust and no network, and with `--prebuilt` no nvcc. There, unpack it and call
/// `./lesson-runner record --all --out records`; bring `records` back and call `import records`.
#[derive(Debug, clap::Args)]
pub struct Bundle {
    /// Lessons to pack; by default all.
    #[arg(value_name = "LESSON")]
    lessons: Vec<String>,
    /// Only what has no record of today's inputs on the model.
    #[arg(long)]
    stale: bool,
    /// The device model that the bundle is for, such as `h200`; by default each lesson's primary
    /// one.
    #[arg(long = "for", value_name = "MODEL")]
    model: Option<String>,
    /// Pack executables and PTX too, for a host without nvcc.
    #[arg(long)]
    prebuilt: bool,
    /// Where to write: a name that ends in `.tar.gz` becomes an archive, any other a folder.
    #[arg(long, value_name = "PATH")]
    out: Option<Utf8PathBuf>,
    /// The `lesson-runner` to pack; by default it is built, or taken from beside this program.
    #[arg(long, value_name = "FILE")]
    runner: Option<Utf8PathBuf>,
    /// Use no network.
    #[arg(long)]
    offline: bool,
}

impl Bundle {
    /// Runs the command.
    ///
    /// # Errors
    /// When nothing is selected, a lesson can't be bundled, or the disk refuses.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let loaded = Loaded::read(root, &Selection::named(&self.lessons), context)?;
        let chosen = self.choose(&loaded)?;
        let mut contents = BTreeMap::new();
        let runner = self.runner_file(root, context, &mut contents)?;
        let mut lessons = Vec::new();
        for (files, variants) in &chosen {
            pack_lesson(files, &mut contents);
            let (name, folder) = (files.name().to_owned(), files.folder.clone());
            lessons.push(BundledLesson { name, folder, variants: variants.clone() });
        }
        if self.prebuilt {
            prebuild::pack(root, context, loaded, &chosen, self.offline, &mut contents)?;
        }
        let packed: Vec<&str> = chosen.iter().map(|(files, _)| files.folder.as_str()).collect();
        let facts = BundleFacts {
            schema: BUNDLE_FORMAT,
            nonce: Digest::of(rand::random::<[u8; 32]>()).to_string(),
            issued_at: context.clock.now(),
            commit: git::commit(root.path(), &packed)?,
            runner,
            lesson: lessons,
            file: Vec::new(),
        };
        let how_to = how_to(&facts, self.prebuilt, context.name);
        contents.insert("HOW-TO.txt".into(), plain(how_to));
        self.write(root, context, facts, &contents)
    }

    /// The lessons and variants to pack.
    fn choose(&self, loaded: &Loaded) -> Result<Vec<(LessonFiles, Vec<String>)>, Error> {
        let mut chosen = Vec::new();
        for one in &loaded.lessons {
            let Some(lesson) = one.assessment.lesson() else {
                let what = format!("`{}` can't be bundled", one.files.name());
                return Err(Error::Refused { what, findings: one.assessment.findings.clone() });
            };
            let names = lesson.variants.iter().map(|variant| variant.name.clone());
            let wanted: Vec<String> = names
                .filter(|variant| !self.stale || self.lacks_record(&one.assessment, variant))
                .collect();
            if !wanted.is_empty() {
                chosen.push((one.files.clone(), wanted));
            }
        }
        if chosen.is_empty() {
            let fact = "every lesson has a record of today's inputs";
            let next = "leave `--stale` out to record all the same";
            let finding = Finding::error(Rule::NothingSelected, Place::file("."), fact, next);
            return Err(Error::Refused {
                what: "nothing to bundle".into(),
                findings: vec![finding],
            });
        }
        Ok(chosen)
    }

    fn lacks_record(&self, assessment: &Assessment, variant: &str) -> bool {
        let primary = assessment.primary.as_ref().map(|pair| pair.model.clone());
        let Some(model) = self.model.clone().or(primary) else { return true };
        let state = assessment.evidence.get(&Pair::new(model, variant)).map(|found| &found.state);
        !matches!(state, Some(EvidenceState::Reviewed | EvidenceState::Recorded))
    }

    fn runner_file(
        &self,
        root: &Root,
        context: &Context,
        contents: &mut BTreeMap<Utf8PathBuf, BundleFile>,
    ) -> Result<BundledRunner, Error> {
        let path = runner_binary::find(self.runner.as_deref(), root, context)?;
        let bytes = std::fs::read(&path).map_err(Error::system(format!("read `{path}`")))?;
        let needs = elf::needs(&bytes).map_err(Error::system("read the runner's needs"))?;
        let runner = BundledRunner {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            executable: Digest::of(&bytes),
            glibc: needs.glibc.map(|version| version.to_string()),
        };
        contents.insert(RUNNER_FILE.into(), BundleFile { bytes, executable: true });
        Ok(runner)
    }

    fn write(
        &self,
        root: &Root,
        context: &Context,
        facts: BundleFacts,
        contents: &BTreeMap<Utf8PathBuf, BundleFile>,
    ) -> Result<Exit, Error> {
        let name = format!("bundle-{}", &facts.nonce[..8]);
        let default = || root.target().join(format!("{name}.tar.gz"));
        let out = self.out.as_ref().map_or_else(default, |out| context.cwd.join(out));
        let archive = out.as_str().ends_with(".tar.gz");
        let folder = if archive { root.target().join(&name) } else { out.clone() };
        let failed = Error::system("write the bundle");
        // The nonce is remembered first: a bundle that nobody could import would cost an hour of a
        // GPU.
        issued::remember(&root.state(), &facts).map_err(Error::system("remember the nonce"))?;
        let facts = bundle::write(&folder, facts, contents).map_err(failed)?;
        if archive {
            let written = bundle::write_archive(&folder, &name, &out);
            proofrun_runner::system::files::remove_dir(&folder)?;
            written.map_err(Error::system("write the archive"))?;
        }
        context.say(told(&out, &facts));
        Ok(Exit::Holds)
    }
}

/// The lesson's files, without what was recorded, reviewed or published of it.
fn pack_lesson(files: &LessonFiles, contents: &mut BTreeMap<Utf8PathBuf, BundleFile>) {
    let base = Utf8Path::new(COURSE_FOLDER);
    let own = files.files.iter().filter(|(path, _)| !files.is_kept(path));
    let own = own.map(|(path, bytes)| (files.folder.join(path), bytes));
    let included = files.included.iter().map(|(path, bytes)| (path.clone(), bytes));
    for (path, bytes) in own.chain(included) {
        contents.insert(base.join(path), plain(bytes.clone()));
    }
}

fn plain(bytes: impl Into<Vec<u8>>) -> BundleFile {
    BundleFile { bytes: bytes.into(), executable: false }
}

/// What whoever sits at the GPU host reads.
fn how_to(facts: &BundleFacts, prebuilt: bool, program: &str) -> Vec<u8> {
    let names: Vec<&str> = facts.lesson.iter().map(|lesson| lesson.name.as_str()).collect();
    let compiler = match prebuilt {
        true => {
            "nvcc is used where it is there; without it,\nthe programs built beforehand are run."
        }
        false => "It needs nvcc, in CUDA_HOME or on PATH.",
    };
    let dirty = match &facts.commit {
        Some(commit) if commit.dirty => {
            "\n\nThe course had uncommitted changes when this was packed: records of it are kept, and \
             can't be published."
        }
        _ => "",
    };
    HOW_TO
        .replace("{lessons}", &names.join(", "))
        .replace("{glibc}", facts.runner.glibc.as_deref().unwrap_or("of any version"))
        .replace("{compiler}", compiler)
        .replace("{dirty}", dirty)
        .replace("{program}", program)
        .into_bytes()
}

fn told(out: &Utf8Path, facts: &BundleFacts) -> String {
    let mut text = format!("bundle  {out}\n");
    for lesson in &facts.lesson {
        text.push_str(&format!("lesson  {} ({})\n", lesson.name, lesson.variants.join(", ")));
    }
    let glibc = facts.runner.glibc.as_deref().unwrap_or("none");
    text.push_str(&format!("runner  {}, glibc {glibc} or newer\n", facts.runner.version));
    let commit = match &facts.commit {
        None => "none: this course is no repository".to_owned(),
        Some(commit) if commit.dirty => {
            format!("{} with changes: records of it can't be published; commit first", commit.id)
        }
        Some(commit) => commit.id.clone(),
    };
    text.push_str(&format!("commit  {commit}\nnonce   {}\n", facts.nonce));
    text.push_str("next    unpack it on the GPU host and follow HOW-TO.txt\n");
    text
}
