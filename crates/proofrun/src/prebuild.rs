//! Prebuilt programs in a bundle, for a host without nvcc.

use std::collections::BTreeMap;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::assess::LessonFiles;
use proofrun_core::bundle::PREBUILT_FOLDER;
use proofrun_runner::bundle::BundleFile;
use proofrun_runner::record::{of_outcome, write_prebuilt};

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::loaded::Loaded;
use crate::verify::{BuildKey, Builds, Rules};

/// Compiles the chosen lessons and adds executables, PTX and logs to a bundle's contents.
///
/// # Errors
/// When there is no toolkit, or something doesn't build.
pub fn pack(
    root: &Root,
    context: &Context,
    loaded: Loaded,
    chosen: &[(LessonFiles, Vec<String>)],
    offline: bool,
    contents: &mut BTreeMap<Utf8PathBuf, BundleFile>,
) -> Result<(), Error> {
    let jobs = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let rules = Rules { offline, require_device: false, jobs, cuda_home: None };
    let (builds, loaded) = Builds::make(root, context, loaded, &rules)?;
    if let Err(finding) = &builds.toolkit {
        let what = "nothing can be prebuilt".to_owned();
        return Err(Error::Refused { what, findings: vec![finding.clone()] });
    }
    for (files, variants) in chosen {
        let Some(lesson) = loaded.lesson(files.name()).and_then(|one| one.assessment.lesson())
        else {
            continue;
        };
        for (program, variant) in
            lesson.programs.iter().flat_map(|program| variants.iter().map(move |v| (program, v)))
        {
            let key = BuildKey {
                lesson: lesson.name.clone(),
                program: program.name.clone(),
                variant: variant.clone(),
            };
            let what = format!("`{}` can't be prebuilt for `{variant}`", lesson.name);
            let command = lesson.build(program, variant);
            let (Some(outcome), Some(command)) = (builds.outcome(&key), command) else {
                return Err(Error::Usage(format!("{what}; `verify` says why")));
            };
            let built =
                of_outcome(&command, outcome, program).map_err(Error::system(what.clone()))?;
            let base = Utf8Path::new(PREBUILT_FOLDER).join(&lesson.name).join(variant);
            for (name, bytes) in write_prebuilt(&built).map_err(Error::system(what))? {
                let path = base.join(&program.name).join(name);
                contents.insert(path, BundleFile { bytes, executable: false });
            }
        }
    }
    Ok(())
}
