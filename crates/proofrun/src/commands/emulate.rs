//! `emulate`: a program on the emulated device, and what is wrong with it.

use std::num::NonZeroUsize;
use std::time::Duration;

use camino::Utf8PathBuf;
use proofrun_core::argv::{Arch, Code};
use proofrun_core::finding::Findings;
use proofrun_core::{Finding, Place, Rule, Severity};
use proofrun_emulator::profile::Profile;
use proofrun_runner::compile::Outcome;
use proofrun_runner::emulate::{
    self, Configuration, DEADLINE, Emulated, Library, Run, Timeline, check_toolkit,
};
use proofrun_runner::toolkit::Toolkit;

use crate::cli::Root;
use crate::context::Context;
use crate::emulated::document::{About, document};
use crate::emulated::judge::{Judged, judge};
use crate::emulated::program::{Build, OfLesson, Subject, build, names};
use crate::emulated::watch::Watch;
use crate::emulated::{SCHEDULES, as_finding, device, excerpt, summary};
use crate::error::Error;
use crate::exit::Exit;
use crate::report::terminal::finding_block;
use crate::verify::builds::{chain, find_toolkit};

/// The largest source that is quoted, in bytes.
const TEXT_BYTES_MAX: u64 = 4 << 20;

/// Runs a program on the emulated device: no GPU is needed, and every access is checked.
///
/// The program's real `main` and its real PTX run, with this harness's CUDA runtime. Found are
/// races, accesses out of bounds, uninitialised reads, misused barriers, deadlocks, leaks. Each
/// line that the program prints is marked `emulated`: nothing of such a run is a measurement.
#[derive(Debug, clap::Args)]
pub struct Emulate {
    /// A lesson, by name, folder or `day-N`; or the sources of one program.
    #[arg(value_name = "LESSON|FILE", required = true)]
    what: Vec<String>,
    /// Which device: `t4`, `a100`, `rtx4090`, `h100`, `h200`; by default the lesson's own, or
    /// `h200`.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
    /// Which PTX, such as `compute_80`; by default a lesson's own, or the device's newest.
    #[arg(long, value_name = "ARCH")]
    arch: Option<String>,
    /// How many seeded schedules a launch whose outcome could depend on one runs on, after the
    /// canonical one; by default 3 for files, none for lessons.
    #[arg(long, value_name = "N")]
    schedules: Option<u32>,
    /// What the schedules are seeded with.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Run on the one schedule that a finding names.
    #[arg(long, value_name = "TOKEN", conflicts_with_all = ["schedules", "seed"])]
    replay: Option<String>,
    /// Run launches again that provably repeat an earlier one.
    #[arg(long)]
    keep_repeats: bool,
    /// How many threads the device may use; by default one a core.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Seconds after which the program is ended.
    #[arg(long, value_name = "SECONDS", default_value_t = DEADLINE.as_secs())]
    timeout: u64,
    /// Write the steps of one block's warps into this file, as JSON.
    #[arg(long, value_name = "FILE")]
    timeline: Option<Utf8PathBuf>,
    /// The kernel of the timeline; by default the first that is launched.
    #[arg(long, value_name = "NAME", requires = "timeline")]
    kernel: Option<String>,
    /// The block of the timeline.
    #[arg(long, value_name = "N", requires = "timeline")]
    block: Option<u64>,
    /// Print JSON; the program's lines go to standard error.
    #[arg(long)]
    json: bool,
    /// Pass the program's output on as it is; all else goes to standard error.
    #[arg(long, conflicts_with = "json")]
    raw: bool,
    /// The program, in a lesson of several.
    #[arg(long, value_name = "NAME")]
    program: Option<String>,
    /// A folder of headers, for files.
    #[arg(short = 'I', long = "include", value_name = "DIR")]
    include: Vec<String>,
    /// A macro, for files.
    #[arg(short = 'D', long = "define", value_name = "MACRO")]
    define: Vec<String>,
    /// Any other flag of nvcc, for files.
    #[arg(long = "nvcc-flag", value_name = "FLAG", allow_hyphen_values = true)]
    flags: Vec<String>,
    /// Use no network: without a toolkit here, nothing is compiled.
    #[arg(long)]
    offline: bool,
    /// The CUDA toolkit's folder.
    #[arg(long, value_name = "DIR")]
    cuda_home: Option<Utf8PathBuf>,
    /// The program's arguments.
    #[arg(last = true, value_name = "ARGS")]
    args: Vec<String>,
}

/// What is run, where, as what.
struct Job<'a> {
    subject: Subject,
    profile: &'static Profile,
    arch: Arch,
    toolkit: Toolkit,
    root: &'a Root,
    context: &'a Context,
}

impl Emulate {
    /// Runs the command.
    ///
    /// # Errors
    /// When there is no such program, no toolkit, no emulated device, or it is asked to stop.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let subject = Subject::of(&self.what, self.program.as_deref(), root, context)?;
        let flags = self.flags(&subject)?;
        let profile = match &self.device {
            Some(name) => device::named(name)?,
            None => subject.profile().map_or_else(|| device::named(device::DEFAULT), Ok)?,
        };
        let toolkit = self.toolkit(root, context)?;
        let arch = self.arch(&subject, profile, &toolkit)?;
        let library = library(context)?;
        let job = Job { subject, profile, arch, toolkit, root, context };
        let built = self.build(&job, &flags)?;
        let Some(product) = &built.product else {
            return self.tell_unbuilt(&job, &built);
        };
        product.check()?;
        let ran = self.emulate(&job, &library, &product.executable)?;
        let variant = variant(&job);
        let of = job.subject.lesson().map(|of| (of, variant.as_str()));
        let judged = judge(of, &job.subject.place(), profile, &ran);
        self.write_timeline(context, &ran)?;
        self.tell(&job, &ran, &judged)
    }

    /// The flags that were typed, which a lesson has no use for: its build is its own.
    fn flags(&self, subject: &Subject) -> Result<Vec<String>, Error> {
        let includes = self.include.iter().flat_map(|it| ["-I".to_owned(), it.clone()]);
        let macros = self.define.iter().flat_map(|it| ["-D".to_owned(), it.clone()]);
        let flags: Vec<_> = includes.chain(macros).chain(self.flags.iter().cloned()).collect();
        if subject.lesson().is_some() && !flags.is_empty() {
            let what = "a lesson is built by its own command; `-I`, `-D` and `--nvcc-flag` are for \
                        files";
            return Err(Error::Usage(what.to_owned()));
        }
        Ok(flags)
    }

    fn toolkit(&self, root: &Root, context: &Context) -> Result<Toolkit, Error> {
        let found = find_toolkit(root, context, self.cuda_home.as_deref(), self.offline)?;
        let absent = |finding: Finding| {
            let findings = vec![Finding { severity: Severity::Error, ..finding }];
            Error::Refused { what: "there is no toolkit to build it with".into(), findings }
        };
        let toolkit = found.map_err(absent)?;
        check_toolkit(&toolkit).map_err(|error| {
            let text = error.to_string();
            let (fact, next) = text.split_once("; ").unwrap_or((&text, "name another toolkit"));
            absent(Finding::error(Rule::ToolkitAbsent, Place::file("."), fact, next))
        })?;
        Ok(toolkit)
    }

    fn arch(
        &self,
        subject: &Subject,
        profile: &'static Profile,
        toolkit: &Toolkit,
    ) -> Result<Arch, Error> {
        let arch = match &self.arch {
            Some(text) => device::arch(text)?,
            None => subject.arch(profile).ok_or_else(|| {
                Error::Usage("the program names no architecture; give `--arch`".to_owned())
            })?,
        };
        let code = Code::Virtual(arch);
        if toolkit.supports(code) {
            return Ok(arch);
        }
        let version = &toolkit.version;
        Err(Error::Usage(format!(
            "nvcc {version} makes no code for `{code}`; give another `--arch`"
        )))
    }

    fn build(&self, job: &Job<'_>, flags: &[String]) -> Result<Outcome, Error> {
        let watch = Watch::compiling(job.context, &job.subject.name());
        let how = Build { toolkit: &job.toolkit, arch: job.arch, flags };
        let built = build(&job.subject, &how, job.root, job.context);
        watch.finish();
        job.context.go_on()?;
        built.map_err(Error::system("build the program"))
    }

    fn emulate(
        &self,
        job: &Job<'_>,
        library: &Library,
        executable: &camino::Utf8Path,
    ) -> Result<Emulated, Error> {
        let Job { subject, context, .. } = job;
        let (args, environment) = match subject.lesson() {
            Some(OfLesson { lesson, program, .. }) if self.args.is_empty() => {
                (program.run.get(1..).unwrap_or_default().to_vec(), lesson.run.environment.clone())
            }
            Some(of) => (self.args.clone(), of.lesson.run.environment.clone()),
            None => (self.args.clone(), Default::default()),
        };
        let timeline = self.timeline.is_some();
        let configuration = Configuration {
            device: job.profile.id.to_owned(),
            schedules: self.schedules.unwrap_or(match subject.lesson() {
                Some(_) => 0,
                None => SCHEDULES,
            }),
            seed: self.seed,
            replay: self.replay.clone(),
            keep_repeats: self.keep_repeats,
            threads: self.threads.map_or(0, NonZeroUsize::get),
            timeline: timeline
                .then(|| Timeline { kernel: self.kernel.clone(), block: self.block.unwrap_or(0) }),
            report: -1,
        };
        let run = Run {
            executable,
            args: &args,
            environment: &environment,
            folder: &context.cwd,
            library,
            runtime_name: job.toolkit.runtime_name(),
            configuration: &configuration,
            deadline: Duration::from_secs(self.timeout),
            own_stdin: context.passes_stdin,
        };
        let mut watch = Watch::running(context, self.raw, self.json);
        let ran = emulate::run(&run, &context.cancel, &mut |news| watch.news(&news));
        watch.finish();
        context.go_on()?;
        let names = names(subject.base(job.root, context), &job.toolkit);
        let ran = ran.map_err(Error::system("run the program"))?;
        if let Some(line) = &ran.told.unreadable {
            let what = "read what the emulated device tells";
            return Err(Error::system(what)(line.clone()));
        }
        Ok(ran.with_files(|file| names.of(file)))
    }

    fn write_timeline(&self, context: &Context, ran: &Emulated) -> Result<(), Error> {
        let Some(path) = &self.timeline else { return Ok(()) };
        let Some(data) = ran.told.timelines.first() else {
            let what = "the block of the timeline did not run; name another by `--kernel` and \
                        `--block`";
            return Err(Error::Usage(what.to_owned()));
        };
        Ok(proofrun_runner::system::files::write_atomic(context.cwd.join(path), data)?)
    }

    /// A build that failed: as `verify` tells it.
    fn tell_unbuilt(&self, job: &Job<'_>, built: &Outcome) -> Result<Exit, Error> {
        let (folder, place) = match job.subject.lesson() {
            Some(of) => (of.lesson.folder.clone(), of.place().path),
            None => (Utf8PathBuf::new(), job.subject.place().path),
        };
        let findings: Findings = built
            .findings(&folder, &place, &[])
            .into_iter()
            .filter(|finding| finding.severity == Severity::Error)
            .collect();
        let exit = Exit::of(&findings);
        if self.json {
            let about = About {
                name: job.subject.name(),
                device: job.profile.id,
                arch: Code::Virtual(job.arch).to_string(),
                problems: &findings,
                notes: &[],
                exit: exit.code(),
            };
            return say_json(job.context, &about, None).map(|()| exit);
        }
        let blocks: String = findings.iter().map(finding_block).collect();
        self.say(job.context, &blocks);
        Ok(exit)
    }

    fn tell(&self, job: &Job<'_>, ran: &Emulated, judged: &Judged) -> Result<Exit, Error> {
        let place = job.subject.place();
        let found = ran.told.findings.iter().map(|found| as_finding(found, &place));
        let all: Findings = judged.findings.iter().cloned().chain(found).collect();
        let exit = Exit::of(&all);
        let arch = Code::Virtual(job.arch).to_string();
        if self.json {
            let about = About {
                name: job.subject.name(),
                device: job.profile.id,
                arch,
                problems: &judged.findings,
                notes: &judged.notes,
                exit: exit.code(),
            };
            return say_json(job.context, &about, Some(ran)).map(|()| exit);
        }
        let mut text = String::new();
        if !ran.told.findings.is_empty() {
            let texts = |file: &str| text_of(job, file);
            text.push('\n');
            text.push_str(&excerpt::all(&ran.told.findings, &texts, &self.replay(job)));
            text.push('\n');
        }
        text.extend(judged.findings.iter().map(finding_block));
        for note in &judged.notes {
            text.push_str(&crate::words::wrapped("", 4, note));
        }
        text.push_str(&summary::counts(&ran.told, job.profile.id, &arch));
        for line in summary::LIMITS {
            text.push_str(line);
            text.push('\n');
        }
        self.say(job.context, &text);
        Ok(exit)
    }

    /// To standard output, unless that is the program's.
    fn say(&self, context: &Context, text: &str) {
        if self.raw { context.note(text) } else { context.say(text) }
    }

    /// The command that shows a finding again, but for the token.
    fn replay(&self, job: &Job<'_>) -> String {
        let mut words = vec![job.context.name.to_owned(), "emulate".into(), job.subject.words()];
        let mut option = |name: &str, value: &str| words.push(format!("{name} {}", quoted(value)));
        if let Some(device) = &self.device {
            option("--device", device);
        }
        if let Some(arch) = &self.arch {
            option("--arch", arch);
        }
        self.include.iter().for_each(|it| option("-I", it));
        self.define.iter().for_each(|it| option("-D", it));
        self.flags.iter().for_each(|it| words.push(format!("--nvcc-flag={}", quoted(it))));
        words.join(" ")
    }
}

fn quoted(word: &str) -> String {
    shell_words::quote(word).into_owned()
}

/// The variant whose architecture runs.
fn variant(job: &Job<'_>) -> String {
    let Some(OfLesson { lesson, program, .. }) = job.subject.lesson() else {
        return String::new();
    };
    let own = |name: &str| {
        lesson.build(program, name).is_some_and(|build| build.virtual_arch() == job.arch)
    };
    let preferred = std::iter::once(&lesson.publish.variant);
    let mut names = preferred.chain(lesson.variants.iter().map(|variant| &variant.name));
    names.find(|name| own(name)).cloned().unwrap_or_default()
}

/// The text of a file as findings name it.
fn text_of(job: &Job<'_>, file: &str) -> Option<String> {
    let path = match file.strip_prefix("<toolkit>/") {
        Some(within) => job.toolkit.root.join(within),
        None => job.subject.base(job.root, job.context).join(file),
    };
    let bytes = proofrun_runner::system::files::read_capped(path, TEXT_BYTES_MAX).ok()?;
    String::from_utf8(bytes).ok()
}

fn library(context: &Context) -> Result<Library, Error> {
    device::library(context).map_err(|error| {
        let text = chain(&error);
        let (fact, next) = text.split_once("; ").unwrap_or((&text, "build it"));
        let finding = Finding::error(Rule::DeviceAbsent, Place::file("."), fact, next);
        Error::Refused { what: "there is no emulated device".into(), findings: vec![finding] }
    })
}

fn say_json(context: &Context, about: &About<'_>, ran: Option<&Emulated>) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(&document(about, ran));
    context.say(text.map_err(Error::system("write the report"))? + "\n");
    Ok(())
}
