//! Compiling every program of every lesson in every variant, side by side, and what digests prove
//! unchanged not again.

use std::collections::BTreeMap;

use camino::Utf8Path;
use proofrun_core::finding::Findings;
use proofrun_core::record::stale::stale_inputs;
use proofrun_core::{Finding, Place, Rule};
use proofrun_runner::compile::{self, Cache, DEADLINE, Outcome as Compiled, Request, ptx_digest};
use proofrun_runner::record::course_files;
use proofrun_runner::toolkit::{self, Managed, Places, Toolkit};
use rayon::prelude::*;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::loaded::{Loaded, LoadedLesson};
use crate::report::Outcome;

use super::progress::Progress;
use super::{Rules, Steps};

/// One build: lesson, program, variant.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct BuildKey {
    /// The lesson's name.
    pub lesson: String,
    /// The program's name.
    pub program: String,
    /// The variant's name.
    pub variant: String,
}

/// What came of all builds.
#[derive(Debug)]
pub struct Builds {
    /// The toolkit, or why there is none.
    pub toolkit: Result<Toolkit, Finding>,
    outcomes: BTreeMap<BuildKey, Result<Compiled, String>>,
}

impl Builds {
    /// Finds or provisions the toolkit and compiles everything.
    ///
    /// # Errors
    /// When it is asked to stop.
    pub fn make(
        root: &Root,
        context: &Context,
        loaded: Loaded,
        rules: &Rules,
    ) -> Result<(Self, Loaded), Error> {
        let toolkit = find_toolkit(root, context, rules.cuda_home.as_deref(), rules.offline)?;
        let facts = toolkit.as_ref().ok().map(Toolkit::facts);
        let loaded = loaded.with_toolkit(facts.as_ref());
        let outcomes = match &toolkit {
            Ok(toolkit) => compile_all(root, context, &loaded, toolkit, rules)?,
            Err(_) => BTreeMap::new(),
        };
        Ok((Self { toolkit, outcomes }, loaded))
    }

    /// Whether anything was built that could run.
    pub(super) fn any_product(&self) -> bool {
        self.outcomes.values().flatten().any(|built| built.product.is_some())
    }

    /// The outcome of a build.
    pub fn outcome(&self, key: &BuildKey) -> Option<&Compiled> {
        self.outcomes.get(key)?.as_ref().ok()
    }

    /// The lesson's compile steps, with their findings.
    pub(super) fn steps(&self, lesson: &LoadedLesson, own: &mut Steps) {
        let Some(resolved) = lesson.assessment.lesson() else {
            let reason = "the lesson can't be resolved".to_owned();
            own.push("compile", Outcome::NotExecuted { reason });
            return;
        };
        let manifest = resolved.folder.join("lesson.toml");
        for key in keys(lesson) {
            let name = step_name("compile", lesson, &key);
            let Ok(_) = &self.toolkit else {
                let reason = "no toolkit".to_owned();
                own.push(name, Outcome::NotExecuted { reason });
                continue;
            };
            match self.outcomes.get(&key) {
                Some(Ok(compiled)) => {
                    let found =
                        compiled.findings(&resolved.folder, &manifest, &resolved.known_warnings);
                    own.findings.extend(found);
                    own.findings.extend(ptx_findings(lesson, &key, compiled));
                    let cached = compiled.cached;
                    own.push(
                        name,
                        match compiled.product {
                            Some(_) => Outcome::Passed { cached },
                            None => Outcome::Failed,
                        },
                    );
                }
                Some(Err(why)) => {
                    let next = "mend what it names, and verify again";
                    let place = Place::file(&manifest);
                    own.findings.push(Finding::error(Rule::Builds, place, why.clone(), next));
                    own.push(name, Outcome::Failed);
                }
                None => {
                    own.push(name, Outcome::NotExecuted { reason: "stopped".to_owned() });
                }
            }
        }
    }

    /// Why nothing could be compiled, where that is so.
    pub(super) fn course_findings(&self) -> Findings {
        self.toolkit.as_ref().err().cloned().into_iter().collect()
    }
}

/// The name of a step; the program is named where a lesson has several.
pub(super) fn step_name(verb: &str, lesson: &LoadedLesson, key: &BuildKey) -> String {
    let several = lesson.assessment.lesson().is_some_and(|lesson| lesson.programs.len() > 1);
    match several {
        true => format!("{verb} {} {}", key.variant, key.program),
        false => format!("{verb} {}", key.variant),
    }
}

/// The builds of a lesson: each program in each variant.
pub(super) fn keys(lesson: &LoadedLesson) -> Vec<BuildKey> {
    let Some(resolved) = lesson.assessment.lesson() else { return Vec::new() };
    let variants = resolved.variants.iter();
    let keys = variants.flat_map(|variant| {
        resolved.programs.iter().map(|program| BuildKey {
            lesson: resolved.name.clone(),
            program: program.name.clone(),
            variant: variant.name.clone(),
        })
    });
    keys.collect()
}

/// Finds or provisions the toolkit; or the finding that says why there is none.
///
/// # Errors
/// When it is asked to stop.
pub(crate) fn find_toolkit(
    root: &Root,
    context: &Context,
    cuda_home: Option<&Utf8Path>,
    offline: bool,
) -> Result<Result<Toolkit, Finding>, Error> {
    let folder = |name: &str| context.variable(name).map(Into::into);
    let places = Places {
        flag: cuda_home.map(|folder| context.cwd.join(folder)),
        cuda_home: folder("CUDA_HOME"),
        cuda_path: folder("CUDA_PATH"),
        path: context.variable("PATH").unwrap_or_default(),
        managed: Managed::under(&root.target()),
    };
    let mut progress = Progress::of_toolkit(context);
    let found =
        toolkit::ensure(&places, offline, &mut |event| progress.toolkit(&event), &context.cancel);
    progress.done();
    context.go_on()?;
    Ok(found.map_err(|error| {
        let absent = matches!(error, toolkit::Error::OfflineAndAbsent);
        let place = Place::file(".");
        if absent {
            let next = "leave `--offline` out once, or name a toolkit with `--cuda-home`";
            let fact = "no CUDA toolkit here, so nothing was compiled";
            Finding::warning(Rule::ToolkitAbsent, place, fact, next)
        } else {
            let next = "`toolkit` shows where it was looked for and why";
            let fact = error.to_string();
            let finding = Finding::error(Rule::ToolkitAbsent, place, fact, next);
            match std::error::Error::source(&error) {
                Some(source) => finding.because(source),
                None => finding,
            }
        }
    }))
}

fn compile_all(
    root: &Root,
    context: &Context,
    loaded: &Loaded,
    toolkit: &Toolkit,
    rules: &Rules,
) -> Result<BTreeMap<BuildKey, Result<Compiled, String>>, Error> {
    let units: Vec<(&LoadedLesson, BuildKey)> = loaded
        .lessons
        .iter()
        .flat_map(|lesson| keys(lesson).into_iter().map(move |key| (lesson, key)))
        .collect();
    let progress = Progress::of_builds(context, units.len());
    let cache = Cache::under(&root.target());
    let cancel = &context.cancel;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(rules.jobs)
        .build()
        .map_err(Error::system("start threads"))?;
    let outcomes = pool.install(|| {
        units
            .par_iter()
            .filter_map(|(lesson, key)| {
                if cancel.is_cancelled() {
                    return None;
                }
                let outcome = compile_one(lesson, key, toolkit, &cache, cancel);
                progress.built(key, &outcome);
                Some((key.clone(), outcome))
            })
            .collect()
    });
    progress.finish();
    context.go_on()?;
    Ok(outcomes)
}

fn compile_one(
    lesson: &LoadedLesson,
    key: &BuildKey,
    toolkit: &Toolkit,
    cache: &Cache,
    cancel: &proofrun_runner::system::process::Cancel,
) -> Result<Compiled, String> {
    let resolved = lesson.assessment.lesson().ok_or("the lesson can't be resolved")?;
    let program = resolved.program(&key.program).ok_or("no such program")?;
    let command = resolved.build(program, &key.variant).ok_or("no such variant")?;
    if let Some(code) = command.codes().iter().find(|code| !toolkit.supports(**code)) {
        return Err(format!("nvcc {} makes no code for `{code}`", toolkit.version));
    }
    let sources = lesson.assessment.sources().and_then(|all| all.get(&key.program));
    let files = course_files(&lesson.files, sources.map_or(&[], Vec::as_slice));
    let request = Request {
        command: &command,
        folder: &lesson.files.folder,
        files: &files,
        toolkit,
        deadline: DEADLINE,
        emulated: None,
    };
    compile::compile(&request, cache, cancel).map_err(|error| chain(&error))
}

/// An error with its causes, in one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}

/// What this build says about the PTX of records of the same inputs: the same toolkit must make the
/// same PTX; another one's is not compared.
fn ptx_findings(lesson: &LoadedLesson, key: &BuildKey, compiled: &Compiled) -> Findings {
    let mut findings = Vec::new();
    let (Some(text), Some(product)) = (&lesson.assessment.text, &compiled.product) else {
        return findings;
    };
    let records = lesson.assessment.evidence.values().flat_map(|evidence| &evidence.records);
    for record in records {
        let facts = &record.examined.record;
        let stale = stale_inputs(&text.lesson, &text.sources, facts, None);
        if facts.variant != key.variant || !stale.is_empty() {
            continue;
        }
        let Some(recorded) = facts.program(&key.program) else { continue };
        let place = Place::file(record.examined.folder.path.join(&recorded.build.ptx));
        if !compiled.toolkit.makes_the_same_ptx_as(&facts.toolkit) {
            let fact = format!(
                "PTX not compared: recorded with {}, and this is {}",
                facts.toolkit, compiled.toolkit
            );
            let next = "nothing; verify with the recorded toolkit to compare";
            findings.push(Finding::warning(Rule::PtxNotCompared, place, fact, next));
            continue;
        }
        let was = String::from_utf8_lossy(record.examined.file(&recorded.build.ptx));
        let is: String = product.ptx.iter().map(|ptx| ptx.text.as_str()).collect();
        if ptx_digest(&was) != ptx_digest(&is) {
            let fact = "the recorded PTX is not what the same toolkit makes of the same code";
            let next =
                "record again; if it stays so, the record's toolkit or source is not what it says";
            findings.push(Finding::error(Rule::PtxDiffers, place, fact, next));
        }
    }
    findings
}
