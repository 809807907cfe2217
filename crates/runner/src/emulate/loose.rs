//! Building files that belong to no lesson, where they lie, with the flags that somebody typed.
//!
//! The file is the user's own and so are the flags: there is no clean copy, and nothing is refused
//! that nvcc takes. **Invariant: an earlier build is used only if the command, the toolkit and
//! every file that it read are as they were.** A build of several files is always made anew: nvcc
//! lists what one of them read.

use std::time::{Duration, Instant, SystemTime};

use camino::{Utf8Path, Utf8PathBuf};
use proofrun_core::Digest;
use proofrun_core::argv::{Arch, emulation_flags};
use serde::{Deserialize, Serialize};

use super::Error;
use crate::compile::build::{self, WorkFolder};
use crate::compile::{self, BuildStatus, Cache, Outcome, Product, cache, parse_diagnostics};
use crate::system::files;
use crate::system::process::Cancel;
use crate::toolkit::Toolkit;

/// Raised when an entry's meaning changes.
const VERSION: u32 = 1;

/// No file that is read is larger.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// What to build.
#[derive(Debug, Clone)]
pub struct Loose<'a> {
    /// The files, as they were typed.
    pub sources: &'a [Utf8PathBuf],
    /// The folder that they were typed in.
    pub folder: &'a Utf8Path,
    /// Flags for nvcc, as they were typed.
    pub flags: &'a [String],
    /// The architecture of the PTX.
    pub arch: Arch,
    /// What builds it.
    pub toolkit: &'a Toolkit,
    /// How long it may take.
    pub deadline: Duration,
}

impl Loose<'_> {
    /// The name of the executable.
    fn name(&self) -> &str {
        self.sources.first().and_then(|path| path.file_stem()).unwrap_or("program")
    }

    /// The words of the command but for the program, and where the executable goes.
    fn words(&self) -> Vec<String> {
        let optimises = |word: &String| word.starts_with("-O") || word.starts_with("--optimize");
        let debugs = |word: &String| ["-G", "--device-debug"].contains(&word.as_str());
        let plain = self.flags.iter().any(|word| optimises(word) || debugs(word));
        let mut words: Vec<String> = if plain { Vec::new() } else { vec!["-O3".into()] };
        words.extend_from_slice(self.flags);
        let more = emulation_flags(self.arch, &self.toolkit.runtime_name(), &words);
        words.extend(more);
        words.extend(self.sources.iter().map(ToString::to_string));
        words
    }

    fn key(&self) -> Result<Digest, compile::Error> {
        let mut parts = vec![format!("loose {VERSION}"), self.folder.to_string()];
        parts.extend(self.words());
        parts.push(String::new());
        parts.extend(cache::toolkit_identity(self.toolkit)?);
        Ok(Digest::of_parts(parts.into_iter().map(String::into_bytes)))
    }
}

/// A build that was kept.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    version: u32,
    wall_ms: u64,
    log: String,
    executable: Digest,
    inputs: Vec<Input>,
}

/// A file that a build read.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    path: Utf8PathBuf,
    digest: Digest,
}

/// Builds files for the emulated device, or takes from the cache what an earlier build left there.
///
/// # Errors
/// When the build can't be carried out. That the program does not compile is an [`Outcome`].
pub fn build(loose: &Loose<'_>, cache: &Cache, cancel: &Cancel) -> Result<Outcome, Error> {
    if loose.toolkit.host.is_none() {
        return Err(compile::Error::NoHostCompiler.into());
    }
    let kept = cache.folder_of(loose.key()?);
    if let Some(entry) = load(&kept) {
        return Ok(outcome(loose, &kept, entry, true));
    }
    let work = cache.work_folder()?;
    files::create_dir(work.path.join("tmp"))?;
    let start = Instant::now();
    let mut words = loose.words();
    let program = work.path.join(loose.name());
    words.extend(["-o".to_owned(), program.to_string()]);
    let list = work.path.join("inputs");
    let one = loose.sources.len() == 1;
    if one {
        words.extend(["-MD".to_owned(), "-MF".to_owned(), list.to_string()]);
    }
    let ended = build::call(loose.toolkit, &work, loose.folder, &words)
        .deadline(loose.deadline)
        .run(cancel)
        .map_err(compile::Error::from)?;
    let wall = start.elapsed();
    let log = log(loose, &work, &[&ended.stdout, &ended.stderr]);
    let mut status = build::status(&ended)?;
    if status == BuildStatus::Built && !program.is_file() {
        status = BuildStatus::Failed(0);
    }
    if status != BuildStatus::Built {
        let (diagnostics, toolkit) = (parse_diagnostics(&log), loose.toolkit.facts());
        return Ok(Outcome {
            status,
            log,
            diagnostics,
            product: None,
            toolkit,
            wall,
            cached: false,
        });
    }
    let inputs = if one { inputs(loose, &list) } else { None };
    let entry = Entry {
        version: VERSION,
        wall_ms: u64::try_from(wall.as_millis()).unwrap_or(u64::MAX),
        log,
        executable: Digest::of(files::read_capped(&program, FILE_BYTES_MAX)?),
        inputs: inputs.unwrap_or_default(),
    };
    if load(&kept).is_none() {
        files::remove_dir(&kept)?;
    }
    files::write_dir_cached(&kept, |folder| {
        let moved = std::fs::rename(&program, folder.join(loose.name()));
        moved.map_err(files::Error::system("move", &program))?;
        let text = toml::to_string(&entry).expect("an entry is plain data");
        files::write_new(&folder.join("outcome.toml"), text.as_bytes())
    })?;
    Ok(outcome(loose, &kept, entry, false))
}

fn outcome(loose: &Loose<'_>, kept: &Utf8Path, entry: Entry, cached: bool) -> Outcome {
    let product = Product {
        executable: kept.join(loose.name()),
        executable_digest: entry.executable,
        ptx: Vec::new(),
        ptx_digest: Digest::of_parts(Vec::<Vec<u8>>::new()),
    };
    Outcome {
        status: BuildStatus::Built,
        diagnostics: parse_diagnostics(&entry.log),
        log: entry.log,
        product: Some(product),
        toolkit: loose.toolkit.facts(),
        wall: Duration::from_millis(entry.wall_ms),
        cached,
    }
}

/// The entry, if all that it was made of is as it was. One without a list of inputs is for the
/// build that made it, and for no other.
fn load(kept: &Utf8Path) -> Option<Entry> {
    let file = kept.join("outcome.toml");
    let text = files::read_capped(&file, FILE_BYTES_MAX).ok()?;
    let entry: Entry = toml::from_str(std::str::from_utf8(&text).ok()?).ok()?;
    let is_same = |input: &Input| digest(&input.path) == Some(input.digest);
    let usable = entry.version == VERSION && !entry.inputs.is_empty();
    if !usable || !entry.inputs.iter().all(is_same) {
        return None;
    }
    // The entry's age is the time since it was last of use. That it cannot be told is no failure.
    let _ = std::fs::File::open(&file).map(|file| file.set_modified(SystemTime::now()));
    Some(entry)
}

fn digest(path: &Utf8Path) -> Option<Digest> {
    files::read_capped(path, FILE_BYTES_MAX).ok().map(Digest::of)
}

/// The files that nvcc says it read, but for the toolkit's own, which the key holds.
fn inputs(loose: &Loose<'_>, list: &Utf8Path) -> Option<Vec<Input>> {
    let text = String::from_utf8(files::read_capped(list, FILE_BYTES_MAX).ok()?).ok()?;
    let toolkit = loose.toolkit.root.canonicalize_utf8().ok()?;
    let mut inputs = Vec::new();
    for name in listed(&text) {
        let path = loose.folder.join(name).canonicalize_utf8().ok()?;
        if !path.starts_with(&toolkit) {
            inputs.push(Input { digest: digest(&path)?, path });
        }
    }
    Some(inputs)
}

/// The prerequisites of a make rule: words by blanks, where a backslash keeps a blank in its word
/// or goes on with the next line.
fn listed(text: &str) -> Vec<String> {
    let rule = text.split_once(" : ").or_else(|| text.split_once(": "));
    let mut words = vec![String::new()];
    let mut characters = rule.map_or("", |(_, names)| names).chars().peekable();
    while let Some(character) = characters.next() {
        let word = words.last_mut().expect("there is always one");
        match (character, characters.peek()) {
            ('\\', Some(' ' | '#')) => word.extend(characters.next()),
            ('\\', Some('\n')) => {}
            (blank, _) if blank.is_whitespace() => words.push(String::new()),
            (other, _) => word.push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// What nvcc printed, with the user's names and without names that change from build to build.
fn log(loose: &Loose<'_>, work: &WorkFolder, streams: &[&[u8]]) -> String {
    let text: Vec<_> = streams.iter().map(|stream| String::from_utf8_lossy(stream)).collect();
    let text = text
        .concat()
        .replace(&format!("{}/tmp/", work.path), "<tmp>/")
        .replace(&format!("{}/", loose.toolkit.root), "<toolkit>/");
    build::without_temporary_numbers(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_make_rule_are_read() {
        let text = "a : a.cu \\\n    /x/with\\ blank.h \\\n\t/y\n";
        assert_eq!(listed(text), ["a.cu", "/x/with blank.h", "/y"]);
        assert_eq!(listed("a: b\n"), ["b"]);
        assert!(listed("").is_empty());
    }
}
