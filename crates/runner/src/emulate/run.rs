//! One run of a program over the emulated device, within bounds, followed as it goes.

use std::collections::BTreeMap;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_emulator::configuration::{Configuration, VARIABLE};
use proofrun_emulator::report::Event;

use crate::record::environment;
use crate::system::process::{Cancel, Command, Status, Stream};

use super::{Error, Library, Told};

/// How much a program may print on each of its streams.
const OUTPUT_BYTES_MAX: usize = 64 << 20;

/// How much the library may tell.
const REPORT_BYTES_MAX: usize = 256 << 20;

/// A run to make.
#[derive(Debug, Clone)]
pub struct Run<'a> {
    /// What was built for the emulated device.
    pub executable: &'a Utf8Path,
    /// Its arguments.
    pub args: &'a [String],
    /// Variables of its own.
    pub environment: &'a BTreeMap<String, String>,
    /// The folder that it runs in.
    pub folder: &'a Utf8Path,
    /// The library in place of NVIDIA's.
    pub library: &'a Library,
    /// The name that the executable asks for.
    pub runtime_name: String,
    /// How the device works; the descriptor in it is this function's own choice.
    pub configuration: &'a Configuration,
    /// How long it may take.
    pub deadline: Duration,
    /// Whether it reads this program's standard input, or nothing.
    pub own_stdin: bool,
}

/// A program that ran over the emulated device. It is no run of a record, and never becomes one.
#[derive(Debug, Clone, PartialEq)]
pub struct Emulated {
    /// How the program ended.
    pub status: Status,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it printed beside that.
    pub stderr: Vec<u8>,
    /// How long it took here.
    pub wall: Duration,
    /// What the emulated device told.
    pub told: Told,
}

/// News of a run.
#[derive(Debug)]
pub enum News<'a> {
    /// Bytes of the program, as they came.
    Bytes(Stream, &'a [u8]),
    /// Something that the emulated device told.
    Event(&'a Event),
}

/// A configuration as JSON, but for the number of the descriptor that the report goes to: what
/// stands before and what after it.
pub(super) fn around_descriptor(configuration: &Configuration) -> [String; 2] {
    let value = serde_json::to_value(configuration).expect("a configuration is plain data");
    let serde_json::Value::Object(mut fields) = value else { unreachable!("it is a struct") };
    fields.remove("report");
    let text = serde_json::Value::Object(fields).to_string();
    let open = text.strip_suffix('}').unwrap_or(&text);
    [format!("{open},\"report\":"), "}".to_owned()]
}

/// Runs a program over the emulated device.
///
/// # Errors
/// When it can't be started or followed, or somebody asks to stop. How it ends is no error.
pub fn run(
    run: &Run<'_>,
    cancel: &Cancel,
    on_news: &mut dyn FnMut(News<'_>),
) -> Result<Emulated, Error> {
    let private = run.library.laid_out_as(&run.runtime_name)?;
    let [before, after] = around_descriptor(run.configuration);
    let mut command = environment::scrubbed(Command::new(run.executable))
        .args(run.args)
        .cwd(run.folder)
        .deadline(run.deadline)
        .output_max(OUTPUT_BYTES_MAX, OUTPUT_BYTES_MAX)
        .report_within(VARIABLE, [&before, &after], REPORT_BYTES_MAX)
        .env("LD_LIBRARY_PATH", private.path());
    for (name, value) in run.environment {
        command = command.env(name, value);
    }
    if run.own_stdin {
        command = command.own_stdin();
    }
    let mut told = Told::default();
    let ended = command.run_streamed(cancel, &mut |stream, bytes| match stream {
        Stream::Report => {
            for event in told.take(bytes) {
                on_news(News::Event(&event));
            }
        }
        stream => on_news(News::Bytes(stream, bytes)),
    })?;
    if ended.status == Status::Cancelled {
        return Err(Error::Cancelled);
    }
    let (status, wall) = (ended.status, ended.wall);
    Ok(Emulated { status, stdout: ended.stdout, stderr: ended.stderr, wall, told })
}

impl Emulated {
    /// The same with the files of its findings by other names.
    #[must_use]
    pub fn with_files(self, named: impl Fn(&str) -> String) -> Self {
        Self { told: self.told.with_files(named), ..self }
    }
}

/// The names by which files of the course, of the toolkit and of a folder are shown.
#[derive(Debug, Clone)]
pub struct Names {
    /// Files below it are named from it.
    pub folder: Utf8PathBuf,
    /// The toolkit's folder.
    pub toolkit: Utf8PathBuf,
}

impl Names {
    /// The name of a file as the compiler called it.
    pub fn of(&self, file: &str) -> String {
        if let Some(path) = crate::compile::course_path(file) {
            return path.into_string();
        }
        let path = crate::compile::build::normal(Utf8Path::new(file));
        if let Ok(path) = path.strip_prefix(&self.toolkit) {
            return format!("<toolkit>/{path}");
        }
        path.strip_prefix(&self.folder).map_or_else(|_| path.to_string(), ToString::to_string)
    }
}
