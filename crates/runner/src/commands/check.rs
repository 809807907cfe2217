//! `lesson-runner check`: a lesson's kernels, driven from Rust and compared with the reference bit
//! for bit.

use std::io::Write;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::escape::escape;
use proofrun_core::gate::{self, CarriedCode, Probe};
use proofrun_core::lesson::Program;

use crate::check::{CheckOutcome, CheckRequest, check_in_child};
use crate::compile::{self, Cache, DEADLINE, Request};
use crate::device::{Helper, PROBE_DEADLINE, probe};
use crate::record::{course_files, needs, of_outcome, read_prebuilt};
use crate::system::process::Cancel;

use super::Refused;
use super::check_code::{exit_code, tell};
use super::refused::chain;
use super::source::{Chosen, Source};
use super::tools::{self, Tools};

/// Build lessons, launch their kernels from Rust in a process of its own, and compare what they
/// write with the CPU reference bit for bit.
///
/// Works in an unpacked bundle and in a checkout of the course. A lesson without a harness is not
/// executed.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Lessons, by name or by `day-N`; by default all.
    #[arg(value_name = "LESSON")]
    lessons: Vec<String>,
    /// The unpacked bundle or the course; by default this program's folder if it is a bundle, else
    /// the current one.
    #[arg(long, value_name = "DIR")]
    bundle: Option<Utf8PathBuf>,
    /// Only this variant.
    #[arg(long, value_name = "NAME")]
    variant: Option<String>,
    /// The driver's ordinal of the device.
    #[arg(long, default_value_t = 0)]
    device: u32,
    /// The CUDA toolkit to build with; by default CUDA_HOME, CUDA_PATH, or nvcc on PATH.
    #[arg(long, value_name = "DIR")]
    cuda_home: Option<Utf8PathBuf>,
    /// Take the bundle's prebuilt programs although there is nvcc here.
    #[arg(long)]
    prebuilt: bool,
    /// The seed of the drawn inputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The most seconds that a lesson's cases may take together.
    #[arg(long, default_value_t = 300)]
    deadline_s: u64,
}

/// Runs the command and returns its exit code.
///
/// # Errors
/// When it can't begin. What comes of each lesson is said, and decides the exit code.
pub fn run(args: &Args, output: &mut impl Write) -> Result<u8, Refused> {
    let cancel = Cancel::on_signals()?;
    let source = Source::open(args.bundle.as_deref())?;
    let chosen = source.choose(&args.lessons, args.variant.as_deref())?;
    let base = source.bundle.as_ref().map_or(&source.root, |(folder, _)| folder);
    let tools = tools::find(args.cuda_home.as_deref(), args.prebuilt, base, &cancel)?;
    let helper = Helper { cancel: cancel.clone(), ..Helper::this()? };
    let probe = probe(&helper, PROBE_DEADLINE);
    let work = tempfile::tempdir()?;
    let work = Utf8PathBuf::try_from(work.path().to_owned()).map_err(Refused::unexpected)?;
    let checker =
        Checker { args, source: &source, tools: &tools, helper, probe, work: &work, cancel };
    let mut codes = Vec::new();
    for one in &chosen {
        for variant in &one.variants {
            codes.extend(checker.check(one, variant, output)?);
        }
    }
    // Codes of executed checks come first; that nothing was executed at all is an outcome of its
    // own.
    let order = [27, 1, 2, 25, 0];
    Ok(order.into_iter().find(|code| codes.contains(code)).unwrap_or(4))
}

struct Checker<'a> {
    args: &'a Args,
    source: &'a Source,
    tools: &'a Tools,
    helper: Helper,
    probe: Probe,
    work: &'a Utf8Path,
    cancel: Cancel,
}

impl Checker<'_> {
    /// The exit code of a lesson's variant; `None` where it has no harness.
    fn check(
        &self,
        one: &Chosen,
        variant: &str,
        output: &mut impl Write,
    ) -> Result<Option<u8>, Refused> {
        let lesson = &one.text.lesson;
        let with = lesson.programs.iter().find_map(|p| p.harness.as_ref().map(|h| (p, h)));
        let name = format!("{} ({variant})", lesson.name);
        let Some((program, harness)) = with else {
            writeln!(output, "{name}: not executed: no Rust harness drives its kernels")?;
            return Ok(None);
        };
        if let Err(why) = gate::admits(needs(lesson), &self.probe, self.args.device) {
            writeln!(output, "{name}: gated: {}", escape(&why, false))?;
            return Ok(Some(25));
        }
        let ptx = match self.ptx(one, program, variant) {
            Ok(ptx) => ptx,
            Err(refused) => {
                writeln!(output, "{name}: {refused}")?;
                return Ok(Some(refused.code()));
            }
        };
        let code = CarriedCode::of_ptx(&String::from_utf8_lossy(&ptx)).unwrap_or_default();
        if let gate::Gate::Gated(why) =
            gate::gate(needs(lesson), &code, &self.probe, self.args.device)
        {
            writeln!(output, "{name}: gated: {}", escape(&why, false))?;
            return Ok(Some(25));
        }
        let path = self.work.join(format!("{}.ptx", program.name));
        std::fs::write(&path, ptx)?;
        write!(output, "{name}: ")?;
        let outcome = self.launch(harness, &path)?;
        tell(&outcome, output, false)?;
        Ok(Some(exit_code(&outcome)))
    }

    fn launch(&self, harness: &str, code: &Utf8Path) -> Result<CheckOutcome, Refused> {
        let request = CheckRequest {
            code: code.as_std_path().to_owned(),
            harness: harness.to_owned(),
            device: self.args.device,
            seed: self.args.seed,
        };
        let deadline = Duration::from_secs(self.args.deadline_s);
        Ok(check_in_child(&self.helper, &request, deadline)?)
    }

    /// The PTX that nvcc makes of the program, or that the bundle has of it.
    fn ptx(&self, one: &Chosen, program: &Program, variant: &str) -> Result<Vec<u8>, Refused> {
        let lesson = &one.text.lesson;
        let failed = |error: &dyn std::error::Error| Refused::failed(chain(error));
        let Some(toolkit) = &self.tools.toolkit else {
            let folder = self.source.prebuilt(&lesson.name, variant);
            let found = folder.map(|folder| read_prebuilt(&folder, &program.name)).transpose();
            let found = found.map_err(|error| failed(&error))?.flatten();
            return found.map(|built| built.ptx).ok_or_else(|| {
                Refused::absent(
                    "not executed: no nvcc with a host compiler here, and no prebuilt program",
                )
            });
        };
        let command = lesson
            .build(program, variant)
            .ok_or_else(|| Refused::usage(format!("no variant `{variant}`")))?;
        let sources = one.text.sources.get(&program.name).cloned().unwrap_or_default();
        let files = course_files(&one.files, &sources);
        let folder = &one.files.folder;
        let request = Request {
            command: &command,
            folder,
            files: &files,
            toolkit,
            deadline: DEADLINE,
            emulated: None,
        };
        let outcome = compile::compile(&request, &Cache::under(self.work), &self.cancel)
            .map_err(|error| failed(&error))?;
        Ok(of_outcome(&command, &outcome, program).map_err(|error| failed(&error))?.ptx)
    }
}
