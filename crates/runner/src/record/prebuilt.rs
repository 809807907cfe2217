//! Programs that were built where the bundle was made, for a host without nvcc.

use camino::Utf8Path;
use proofrun_core::Digest;
use proofrun_core::argv::BuildCommand;
use proofrun_core::bundle::{PREBUILT_FILE, Prebuilt};
use proofrun_core::lesson::Program;

use crate::compile::Outcome;
use crate::system::files;

use super::RecordError;

/// The largest prebuilt file, in bytes.
const FILE_BYTES_MAX: u64 = 512 * 1024 * 1024;

/// A built program: its facts and its three files.
#[derive(Debug, Clone)]
pub struct PrebuiltProgram {
    /// The facts.
    pub facts: Prebuilt,
    /// The executable.
    pub executable: Vec<u8>,
    /// The PTX of its source.
    pub ptx: Vec<u8>,
    /// What the compiler printed.
    pub log: Vec<u8>,
}

/// A build's outcome as such a program.
///
/// # Errors
/// When the build failed, or its executable can't be read.
pub fn of_outcome(
    command: &BuildCommand,
    outcome: &Outcome,
    program: &Program,
) -> Result<PrebuiltProgram, RecordError> {
    let Some(product) = &outcome.product else {
        let findings = outcome.findings(Utf8Path::new(""), &program.source, &[]);
        let why = findings.first().map_or_else(|| "no executable".into(), |f| f.fact.clone());
        return Err(RecordError::Build { program: program.name.clone(), why });
    };
    let executable = product.check()?;
    let ptx: String = product.ptx.iter().map(|ptx| ptx.text.as_str()).collect();
    let facts = Prebuilt {
        argv: command.words(),
        toolkit: outcome.toolkit.clone(),
        executable: Digest::of(&executable),
        ptx: Digest::of(&ptx),
    };
    Ok(PrebuiltProgram {
        facts,
        executable,
        ptx: ptx.into_bytes(),
        log: outcome.log.clone().into_bytes(),
    })
}

/// The files of a prebuilt program, by name within its folder.
///
/// # Errors
/// When its facts can't be written.
pub fn write_prebuilt(
    built: &PrebuiltProgram,
) -> Result<[(&'static str, Vec<u8>); 4], RecordError> {
    let facts = toml::to_string(&built.facts)?;
    Ok([
        (PREBUILT_FILE, facts.into_bytes()),
        ("program", built.executable.clone()),
        ("program.ptx", built.ptx.clone()),
        ("build.log", built.log.clone()),
    ])
}

/// Reads a prebuilt program; `None` where the bundle has none.
///
/// # Errors
/// When a file is missing or isn't the one that was built.
pub fn read_prebuilt(
    base: &Utf8Path,
    program: &str,
) -> Result<Option<PrebuiltProgram>, RecordError> {
    let folder = base.join(program);
    let facts = folder.join(PREBUILT_FILE);
    if !facts.exists() {
        return Ok(None);
    }
    let torn = |why: &str| RecordError::Build { program: program.to_owned(), why: why.to_owned() };
    let read = |name: &str| files::read_capped(folder.join(name), FILE_BYTES_MAX);
    let text =
        String::from_utf8(read(PREBUILT_FILE)?).map_err(|_| torn("its facts are not UTF-8"))?;
    let facts: Prebuilt = toml::from_str(&text).map_err(|error| torn(error.message()))?;
    let built = PrebuiltProgram {
        facts,
        executable: read("program")?,
        ptx: read("program.ptx")?,
        log: read("build.log")?,
    };
    if Digest::of(&built.executable) != built.facts.executable
        || Digest::of(&built.ptx) != built.facts.ptx
    {
        return Err(torn("the bundle's prebuilt program is not the one that was built"));
    }
    Ok(Some(built))
}
