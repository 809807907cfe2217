//! `toolkit`: which CUDA toolkit builds the lessons, where it was looked for, and why it was taken.

use std::fmt::Write as _;

use anstyle::Style;
use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::escape::escape;
use proofrun_core::{Finding, Place, Rule};
use proofrun_runner::toolkit::{
    Managed, Origin, Places, Search, Toolkit as Found, Tried, Verdict, search,
};
use serde::Serialize;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::verify::progress::Progress;
use crate::words::wrapped;

const BOLD: Style = Style::new().bold();

/// Shows the CUDA toolkit that builds the lessons, and where it was looked for.
///
/// The places, in order: `--cuda-home`, `CUDA_HOME`, `CUDA_PATH`, `nvcc` on PATH, the managed
/// toolkit under `target/`. The first that names a toolkit decides; one that is named and doesn't
/// work is an error, never skipped.
#[derive(Debug, clap::Args)]
pub struct Toolkit {
    /// The CUDA toolkit's folder.
    #[arg(long, value_name = "DIR")]
    cuda_home: Option<Utf8PathBuf>,
    /// Fetch the managed toolkit where no place has one; needs python3 with pip.
    #[arg(long, conflicts_with = "offline")]
    fetch: bool,
    /// Use no network. Without `--fetch` none is used anyway.
    #[arg(long)]
    offline: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// The whole of `--json`.
#[derive(Debug, Serialize)]
struct Document {
    /// The version of this form: a reader refuses a newer one.
    schema: u32,
    /// The places in order.
    places: Vec<PlaceRow>,
    /// The toolkit, where one was taken.
    toolkit: Option<ToolkitRow>,
}

#[derive(Debug, Serialize)]
struct PlaceRow {
    place: String,
    folder: Option<Utf8PathBuf>,
    outcome: &'static str,
    why: String,
}

#[derive(Debug, Serialize)]
struct ToolkitRow {
    root: Utf8PathBuf,
    nvcc: String,
    cccl: Option<String>,
    cudart: Option<String>,
    ptx_isa: Option<String>,
    host_compiler: Option<String>,
    real: Vec<String>,
    r#virtual: Vec<String>,
    cuobjdump: Option<Utf8PathBuf>,
    nvdisasm: Option<Utf8PathBuf>,
    compute_sanitizer: Option<Utf8PathBuf>,
}

impl Toolkit {
    /// Runs the command.
    ///
    /// # Errors
    /// When the toolkit can't be fetched, or it is asked to stop.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        let path = |name| context.variable(name).map(|value| context.cwd.join(value));
        let places = Places {
            flag: self.cuda_home.as_ref().map(|folder| context.cwd.join(folder)),
            cuda_home: path("CUDA_HOME"),
            cuda_path: path("CUDA_PATH"),
            path: context.variable("PATH").unwrap_or_default(),
            managed: Managed::under(&root.target()),
        };
        let mut found = search(&places, &context.cancel);
        context.go_on()?;
        let is_named_broken = first_broken(&found).is_some();
        if self.fetch && found.toolkit.is_none() && !is_named_broken {
            fetch(&places, context)?;
            found = search(&places, &context.cancel);
        }
        let rows = found.tried.iter().map(|tried| row(tried, &places.managed)).collect::<Vec<_>>();
        if self.json {
            let toolkit = found.toolkit.as_ref().map(ToolkitRow::of);
            let document = Document { schema: 1, places: rows, toolkit };
            let text = serde_json::to_string_pretty(&document);
            context.say(text.map_err(Error::system("write the toolkit's facts"))? + "\n");
        } else {
            context.say(text(&rows, found.toolkit.as_ref(), context.name, is_named_broken));
        }
        let absent = Exit::Found(Rule::ToolkitAbsent.class());
        Ok(if found.toolkit.is_some() { Exit::Holds } else { absent })
    }
}

fn fetch(places: &Places, context: &Context) -> Result<(), Error> {
    let mut progress = Progress::of_toolkit(context);
    let fetched = places.managed.provision(
        &places.path,
        &mut |event| progress.toolkit(&event),
        &context.cancel,
    );
    progress.done();
    context.go_on()?;
    let refused = |error: proofrun_runner::toolkit::ProvisionError| {
        let next = "mend what it names, or name a toolkit with `--cuda-home`";
        let place = Place::file(".");
        let finding = Finding::error(Rule::ToolkitAbsent, place, error.to_string(), next);
        Error::Refused {
            what: "the managed toolkit was not fetched".into(),
            findings: vec![finding],
        }
    };
    fetched.map(drop).map_err(refused)
}

/// The named place whose toolkit doesn't work, where there is one; the managed one is replaced by
/// fetching it.
fn first_broken(found: &Search) -> Option<&Tried> {
    found.tried.iter().find(|tried| {
        let managed = tried.origin == Origin::Managed;
        matches!(tried.verdict, Verdict::Broken(_)) && !managed
    })
}

fn row(tried: &Tried, managed: &Managed) -> PlaceRow {
    let is_managed = tried.origin == Origin::Managed;
    let (outcome, why) = match &tried.verdict {
        Verdict::Taken => ("taken", "the first place with a toolkit, and it works".to_owned()),
        Verdict::Absent if is_managed => ("absent", format!("not fetched; {}", size(managed))),
        Verdict::Absent => ("absent", unnamed(tried.origin).to_owned()),
        Verdict::Broken(reason) => ("broken", reason.to_string()),
        Verdict::NotReached => ("not looked at", "an earlier place decided".to_owned()),
    };
    PlaceRow { place: tried.origin.to_string(), folder: tried.root.clone(), outcome, why }
}

/// Why a place names no toolkit: one that is named and isn't there is broken, not absent.
fn unnamed(origin: Origin) -> &'static str {
    match origin {
        Origin::Flag => "not given",
        Origin::CudaHome | Origin::CudaPath => "not set",
        Origin::Path => "no folder of PATH has one",
        Origin::Managed => "not fetched",
    }
}

fn size(managed: &Managed) -> String {
    format!("{} MB to fetch", managed.bytes_total() / 1_000_000)
}

fn text(rows: &[PlaceRow], found: Option<&Found>, name: &str, is_broken: bool) -> String {
    let mut text = format!("{BOLD}looked for, in order{BOLD:#}\n");
    for (index, row) in rows.iter().enumerate() {
        let first = format!("  {} {:<20} ", index + 1, row.place);
        let said = format!("{}: {}", row.outcome, row.why);
        text.push_str(&wrapped(&first, 25, &escape(&said, false)));
        if let Some(folder) = &row.folder {
            text.push_str(&wrapped(&" ".repeat(25), 25, &escape(folder.as_str(), false)));
        }
    }
    match found {
        Some(found) => text.push_str(&facts(found)),
        None if is_broken => text.push_str(
            "no toolkit: the one that is named doesn't work\n\
             next: correct or unset what names it\n",
        ),
        None => {
            let _ = write!(
                text,
                "no toolkit here\nnext: `{name} toolkit --fetch`, or name one with `--cuda-home`\n"
            );
        }
    }
    text
}

fn facts(found: &Found) -> String {
    let row = ToolkitRow::of(found);
    let mut text = format!("{BOLD}toolkit{BOLD:#}\n");
    let unknown = || "not found".to_owned();
    let tool =
        |path: &Option<Utf8PathBuf>| path.as_deref().map_or_else(unknown, Utf8Path::to_string);
    let known = |text: &Option<String>| text.clone().unwrap_or_else(unknown);
    let lines = [
        ("folder", row.root.to_string()),
        ("nvcc", row.nvcc.clone()),
        ("CCCL", known(&row.cccl)),
        ("cudart", known(&row.cudart)),
        ("PTX ISA", row.ptx_isa.clone().unwrap_or_else(|| "not known of this release".into())),
        ("host", row.host_compiler.clone().unwrap_or_else(|| "no g++ on PATH".into())),
        ("machine", row.real.join(" ")),
        ("PTX", row.r#virtual.join(" ")),
        ("tools", String::new()),
        ("  cuobjdump", tool(&row.cuobjdump)),
        ("  nvdisasm", tool(&row.nvdisasm)),
        ("  compute-sanitizer", tool(&row.compute_sanitizer)),
    ];
    for (label, said) in lines {
        let line = wrapped(&format!("  {label:<20} "), 23, &escape(&said, false));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

impl ToolkitRow {
    fn of(found: &Found) -> Self {
        use proofrun_core::argv::Code;
        let codes = |real: bool| {
            let wanted = found.codes.iter().filter(|code| matches!(code, Code::Real(_)) == real);
            let mut wanted: Vec<_> = wanted.copied().collect();
            wanted.sort();
            wanted.iter().map(ToString::to_string).collect()
        };
        Self {
            root: found.root.clone(),
            nvcc: found.version.clone(),
            cccl: found.cccl.clone(),
            cudart: found.cudart.clone(),
            ptx_isa: found.ptx_isa.clone(),
            host_compiler: found.host.as_ref().map(|host| host.version.clone()),
            real: codes(true),
            r#virtual: codes(false),
            cuobjdump: found.tools.cuobjdump.clone(),
            nvdisasm: found.tools.nvdisasm.clone(),
            compute_sanitizer: found.tools.compute_sanitizer.clone(),
        }
    }
}
