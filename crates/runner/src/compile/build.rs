//! One build: the clean copy, the two calls of nvcc, and what they said.

use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

use super::ptx::{self, Ptx};
use super::{BuildStatus, Error, Request};
use crate::system::files;
use crate::system::process::{Cancel, Command, Ended, Status};
use crate::toolkit::Toolkit;

/// How much a build may print.
const LOG_BYTES_MAX: usize = 4 << 20;
/// The folder of the clean copy within the work folder.
const COURSE: &str = "course";
/// How work folders are called in the cache's folder.
pub(super) const WORK_PREFIX: &str = ".work-";
/// The largest PTX that is read.
const PTX_BYTES_MAX: u64 = 256 << 20;

/// A build that was just done; the executable still lies in the work folder, which vanishes when
/// this is dropped.
pub(super) struct Built {
    pub(super) status: BuildStatus,
    pub(super) log: String,
    pub(super) ptx: Vec<Ptx>,
    pub(super) executable: Option<Utf8PathBuf>,
    pub(super) wall: Duration,
}

/// Builds in `work`, an empty folder that the caller removes.
pub(super) fn build(
    request: &Request<'_>,
    work: &WorkFolder,
    cancel: &Cancel,
) -> Result<Built, Error> {
    let start = Instant::now();
    let course = work.path.join(COURSE);
    let folder = course.join(request.folder);
    files::create_dir(&folder)?;
    files::create_dir(work.path.join("tmp"))?;
    for (path, bytes) in request.files {
        let path = course.join(path);
        files::create_dir(path.parent().unwrap_or(&course))?;
        files::write_new(&path, bytes)?;
    }
    // The two have nothing to wait for from each other. Both read only what is above.
    let (program, ptx) = thread::scope(|scope| {
        let ptx = scope.spawn(|| ptx_of(request, work, &folder, cancel));
        let words = request.words();
        let program = nvcc(request, work, &folder, &words[1..]).run(cancel);
        let ptx = ptx.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        (program, ptx)
    });
    let program = program?;
    let log = log(&[&program.stdout, &program.stderr], request, work);
    let executable = folder.join(request.command.output());
    let status = status(&program)?;
    let wall = start.elapsed();
    let failed = |status, log| Built { status, log, ptx: Vec::new(), executable: None, wall };
    if status != BuildStatus::Built {
        return Ok(failed(status, log));
    }
    if !executable.is_file() {
        return Ok(failed(BuildStatus::Failed(0), log));
    }
    Ok(match ptx? {
        Ok(ptx) => Built { status, log, ptx, executable: Some(executable), wall },
        Err((status, said)) => failed(status, log + "while making the PTX:\n" + &said),
    })
}

pub(crate) fn status(ended: &Ended) -> Result<BuildStatus, Error> {
    Ok(match ended.status {
        Status::Exit(0) => BuildStatus::Built,
        Status::Exit(status) => BuildStatus::Failed(status),
        Status::Signal(signal) => BuildStatus::Killed(signal),
        Status::Hung => BuildStatus::Hung,
        Status::TooMuchOutput => BuildStatus::TooMuchOutput,
        Status::Cancelled => return Err(Error::Cancelled),
    })
}

fn nvcc(request: &Request<'_>, work: &WorkFolder, folder: &Utf8Path, words: &[String]) -> Command {
    call(request.toolkit, work, folder, words).deadline(request.deadline)
}

/// A call of nvcc with nothing of this program's environment but where its own parts are found.
pub(crate) fn call(
    toolkit: &Toolkit,
    work: &WorkFolder,
    folder: &Utf8Path,
    words: &[String],
) -> Command {
    let host = toolkit.host.as_ref().and_then(|host| host.path.parent());
    let folders = [Some(toolkit.bin()), host, Some("/usr/bin".into()), Some("/bin".into())];
    let path: Vec<&str> = folders.into_iter().flatten().map(Utf8Path::as_str).collect();
    let lib = toolkit.lib.as_ref().map(|lib| format!("-L{lib}"));
    Command::new(&toolkit.nvcc)
        .args(words)
        .args(lib)
        .cwd(folder)
        .env_clear()
        .env("PATH", path.join(":"))
        .env("TMPDIR", work.path.join("tmp"))
        .env("LC_ALL", "C")
        .output_max(LOG_BYTES_MAX, LOG_BYTES_MAX)
}

type PtxOrWhyNot = Result<Vec<Ptx>, (BuildStatus, String)>;

/// The PTX of each `.cu` source.
fn ptx_of(
    request: &Request<'_>,
    work: &WorkFolder,
    folder: &Utf8Path,
    cancel: &Cancel,
) -> Result<PtxOrWhyNot, Error> {
    let mut made = Vec::new();
    if request.emulated.is_some() {
        // The executable itself is little else than PTX.
        return Ok(Ok(made));
    }
    let sources = request.command.sources().iter();
    for (index, source) in sources.filter(|source| source.extension() == Some("cu")).enumerate() {
        let output = work.path.join(format!("tmp/{index}.ptx"));
        let words = request.command.ptx_words(source, output.as_str());
        let ended = nvcc(request, work, folder, &words[1..]).run(cancel)?;
        match status(&ended)? {
            BuildStatus::Built => {}
            status => {
                let said = log(&[&ended.stdout, &ended.stderr], request, work);
                return Ok(Err((status, said)));
            }
        }
        let bytes = files::read_capped(&output, PTX_BYTES_MAX)?;
        let text = plain(&String::from_utf8_lossy(&bytes), request, work);
        made.push(Ptx { source: source.clone(), digest: ptx::digest(&text), text });
    }
    Ok(Ok(made))
}

fn log(streams: &[&[u8]], request: &Request<'_>, work: &WorkFolder) -> String {
    let mut text = String::new();
    for stream in streams {
        text += &String::from_utf8_lossy(stream);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
    }
    plain(&text, request, work)
}

/// The text with paths as the course knows them, and without names that change from build to build.
fn plain(text: &str, request: &Request<'_>, work: &WorkFolder) -> String {
    let course = work.path.join(COURSE);
    let folder = course.join(request.folder);
    let text = text
        .replace(&format!("{folder}/"), "")
        .replace(&format!("{course}/"), "<course>/")
        .replace(&format!("{}/tmp/", work.path), "<tmp>/")
        .replace(&format!("{}/", request.toolkit.root), "<toolkit>/");
    without_temporary_numbers(&text)
}

/// `tmpxft_000030d3_00000000-11_x.o` → `tmpxft_x.o`: nvcc numbers its temporary files by process.
pub(crate) fn without_temporary_numbers(text: &str) -> String {
    const MARK: &str = "tmpxft_";
    let mut parts = text.split(MARK);
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += MARK;
        let number = |char: char| char.is_ascii_hexdigit() || matches!(char, '_' | '-');
        let digits = part.find(|char: char| !number(char)).unwrap_or(part.len());
        let name = part[..digits].rfind('_').map_or(0, |last| last + 1);
        plain += &part[name..];
    }
    plain
}

/// The path of a file of the course from its root, as it is called in the PTX of an emulated
/// build: there it lies in the clean copy of some work folder. `None` for any other file.
pub fn course_path(named: &str) -> Option<Utf8PathBuf> {
    let mut parts = Utf8Path::new(named).components();
    parts.find(|part| part.as_str().starts_with(WORK_PREFIX))?;
    (parts.next()?.as_str() == COURSE).then(|| normal(parts.as_path()))
}

/// The path without `.` and `..`, which must not lead above its start.
pub(crate) fn normal(path: &Utf8Path) -> Utf8PathBuf {
    let mut normal = Utf8PathBuf::new();
    for part in path.components() {
        match part {
            Utf8Component::ParentDir => {
                normal.pop();
            }
            Utf8Component::CurDir => {}
            part => normal.push(part.as_str()),
        }
    }
    normal
}

/// A folder for one build, removed when dropped.
pub(crate) struct WorkFolder {
    pub(crate) path: Utf8PathBuf,
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = files::remove_dir(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_temporary_files_vanish_and_names_stay() {
        let check = |text: &str, expect| assert_eq!(without_temporary_numbers(text), expect);
        check("<tmp>/tmpxft_000030d3_00000000-11_x_y.o: in main", "<tmp>/tmpxft_x_y.o: in main");
        check("tmpxft_1_2-3_a.o tmpxft_4_5-6_b.o", "tmpxft_a.o tmpxft_b.o");
        check("none at all", "none at all");
        check("tmpxft_", "tmpxft_");
    }

    #[test]
    fn a_file_of_a_clean_copy_is_one_of_the_course() {
        let check = |named: &str, expect: Option<&str>| {
            assert_eq!(course_path(named).as_deref(), expect.map(Utf8Path::new), "{named}");
        };
        check("/c/.work-a1/course/lessons/x/../common/y.cuh", Some("lessons/common/y.cuh"));
        check("/c/.work-a1/tmp/course/y.cuh", None);
        check("/c/course/y.cuh", None);
        check("", None);
    }

    #[test]
    fn a_path_is_made_plain() {
        assert_eq!(normal(Utf8Path::new("a/b/../c/./d.cu")), "a/c/d.cu");
        assert_eq!(normal(Utf8Path::new("lessons/x/../common/y.cu")), "lessons/common/y.cu");
    }
}
