//! `new`: a small lesson that holds from the start, to be turned into a real one.

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::source::snippets;
use proofrun_runner::course::{COMMON_FOLDER, course_files, lesson_folders};
use proofrun_runner::system::files;

use crate::cli::Root;
use crate::context::Context;
use crate::error::Error;
use crate::exit::Exit;
use crate::loaded::recover;

/// The folder of a course's lessons, from its root.
const LESSONS_FOLDER: &str = "lessons";

const PROGRAM: &str = include_str!("new/program.cu");
const MANIFEST: &str = include_str!("new/lesson.toml");
const PAGE: &str = include_str!("new/README.md");

/// The error macro of this course, for a course that has none yet.
const CUDA_CHECK: &str = include_str!("../../../../lessons/common/cuda_check.cuh");

/// The file of the error macro within the folder of canonical copies.
const CUDA_CHECK_FILE: &str = "cuda_check.cuh";

/// The longest slug.
const SLUG_CHARS_MAX: usize = 60;

/// Makes a lesson: a small program that is correct, its manifest, and its page.
///
/// What it makes passes `verify` at once, compiled included. Change the kernel, the output template
/// in `lesson.toml` and the page together; `verify` says what doesn't fit.
#[derive(Debug, clap::Args)]
pub struct New {
    /// The day, from 1.
    #[arg(value_name = "DAY", value_parser = clap::value_parser!(u32).range(1..=9999))]
    day: u32,
    /// What the lesson is about: lower-case words with `-` between them.
    #[arg(value_name = "SLUG")]
    slug: String,
}

impl New {
    /// Runs the command.
    ///
    /// # Errors
    /// When the lesson or its day is there already, the slug is none, or a file can't be written.
    pub fn run(self, root: &Root, context: &Context) -> Result<Exit, Error> {
        check_slug(&self.slug)?;
        recover(root, context)?;
        let name = format!("day-{}-{}", self.day, self.slug);
        let folder = Utf8Path::new(LESSONS_FOLDER).join(&name);
        let home = root.path().join(&folder);
        self.check_free(root, &home)?;
        let mut made = Vec::new();
        let canonical = canonical(root, &mut made)?;
        let program = self.slug.replace('-', "_");
        let texts = self.texts(&program, &canonical, context.name);
        let whole = files::write_dir_atomic::<Error>(&home, |temporary| {
            for (name, text) in &texts {
                files::write_atomic(temporary.join(name), text)?;
            }
            Ok(())
        })?;
        if !whole {
            return Err(Error::Usage(format!("`{folder}` is there already; nothing was changed")));
        }
        made.extend(texts.iter().map(|(name, _)| folder.join(name)));
        let mut told: String = made.iter().map(|path| format!("made  {path}\n")).collect();
        told.push_str(&format!("next: {} verify {name}\n", context.name));
        context.say(told);
        Ok(Exit::Holds)
    }

    /// A lesson of this name or day must not be there, nor anything else in its place.
    fn check_free(&self, root: &Root, home: &Utf8Path) -> Result<(), Error> {
        let day_of = |folder: &Utf8PathBuf| {
            let name = folder.file_name()?.strip_prefix("day-")?;
            name.split('-').next()?.parse::<u32>().ok()
        };
        let folders = lesson_folders(root.path())?;
        if let Some(other) = folders.iter().find(|folder| day_of(folder) == Some(self.day)) {
            let day = self.day;
            return Err(Error::Usage(format!(
                "day {day} is `{other}` already; choose another day"
            )));
        }
        if home.symlink_metadata().is_ok() {
            return Err(Error::Usage(format!(
                "`{home}` is there already and no lesson; move it away, or choose another slug"
            )));
        }
        Ok(())
    }

    /// The lesson's files by their names.
    fn texts(&self, program: &str, cuda_check: &str, called: &str) -> [(Utf8PathBuf, String); 3] {
        let fill = |template: &str| {
            template
                .replace("@DAY@", &self.day.to_string())
                .replace("@WORDS@", &words(&self.slug))
                .replace("@PROGRAM@", program)
                .replace("@CALLED@", called)
                .replace("@CUDA_CHECK@", cuda_check)
        };
        let source = fill(PROGRAM);
        let path = Utf8PathBuf::from(format!("{program}.cu"));
        let kernel = snippets(&path, &source).0.remove("kernel");
        let kernel = kernel.map(|snippet| snippet.text).unwrap_or_default();
        let page = fill(PAGE).replace("@KERNEL@", &kernel);
        [(path, source), ("lesson.toml".into(), fill(MANIFEST)), ("README.md".into(), page)]
    }
}

/// The course's error macro; written first where the course has none.
fn canonical(root: &Root, made: &mut Vec<Utf8PathBuf>) -> Result<String, Error> {
    let (course, _) = course_files(root.path())?.into_course();
    if let Some(text) = course.common.get(CUDA_CHECK_FILE) {
        let text = text.replace("\r\n", "\n");
        return Ok(if text.ends_with('\n') { text } else { text + "\n" });
    }
    let folder = Utf8Path::new(COMMON_FOLDER);
    let path = folder.join(CUDA_CHECK_FILE);
    files::create_dir(root.path().join(folder))?;
    files::write_atomic(root.path().join(&path), CUDA_CHECK)?;
    made.push(path);
    Ok(CUDA_CHECK.to_owned())
}

/// A slug names a folder, a program and a file, so it is letters, digits and single hyphens.
fn check_slug(slug: &str) -> Result<(), Error> {
    let word = |word: &str| {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        !word.is_empty() && word.bytes().all(plain)
    };
    if slug.len() <= SLUG_CHARS_MAX && slug.split('-').all(word) {
        return Ok(());
    }
    let shown: String = slug.chars().take(SLUG_CHARS_MAX).collect();
    Err(Error::Usage(format!(
        "`{shown}` is no slug; write at most {SLUG_CHARS_MAX} lower-case letters, digits and \
         single hyphens, such as `async-barriers`"
    )))
}

/// `vector-scale` → `Vector scale`.
fn words(slug: &str) -> String {
    let mut text = slug.replace('-', " ");
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    text
}
