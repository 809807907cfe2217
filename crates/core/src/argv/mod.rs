//! The command that builds a program, as its header and its README state it.
//!
//! **Invariant: a [`BuildCommand`] reads only files of the course, writes only its executable
//! beside its sources, and starts nothing but the compiler.** The flags that it may have are listed
//! in `flags.rs`; whatever is not listed is refused, because nvcc has many ways to run another
//! program or to take arguments from a file. Everything that is wrong is reported, not the first.
//!
//! In the flow: the header's `Build:` line → [`BuildCommand`] → `proofrun-runner` compiles it.

mod arch;
mod flags;

use camino::{Utf8Component, Utf8Path, Utf8PathBuf};

pub use crate::arch::{Arch, NotAnArch};
use crate::{Finding, Place, Rule};
pub use arch::Code;
use flags::{Kind, Meaning};

/// The longest line that is read.
const LINE_BYTES_MAX: usize = 4096;

/// What a shell would not pass on as it stands. Quotes and backslashes are understood.
const SHELL: &str = ";|&<>$`(){}*?~#!";

/// A `nvcc` command that builds one executable from sources of the course.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuildCommand {
    items: Vec<Item>,
    output: String,
    sources: Vec<Utf8PathBuf>,
    include_folders: Vec<Utf8PathBuf>,
    virtual_arch: Arch,
    codes: Vec<Code>,
}

/// One flag with its value, or one source.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Item {
    kind: Kind,
    /// As written: one word or two.
    words: Vec<String>,
}

/// What is wrong with a build command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgvError {
    /// Longer than is read.
    #[error("the build command is longer than {LINE_BYTES_MAX} bytes")]
    TooLong,
    /// A character that a shell acts upon.
    #[error("`{0}` means something to a shell; a build command is one plain call of nvcc")]
    Shell(char),
    /// Quotes that do not match.
    #[error("the build command has a quote that is not closed")]
    Quote,
    /// Another program.
    #[error("the build command starts with `{0}`; start it with `nvcc`")]
    NotNvcc(String),
    /// A flag that is not in the table.
    #[error("nvcc flag `{0}` is not one that a build command may have; leave it out")]
    UnknownFlag(String),
    /// A flag without its value.
    #[error("nvcc flag `{0}` needs a value")]
    NoValue(String),
    /// A value that the flag may not have.
    #[error("nvcc flag `{flag}` may not have the value `{value}`: {reason}")]
    BadValue {
        /// As written.
        flag: String,
        /// As written.
        value: String,
        /// What would be right.
        reason: &'static str,
    },
    /// A path that leaves the course.
    #[error("`{0}` leaves the course; name files of the course by relative paths")]
    Outside(String),
    /// An input that is no source.
    #[error("`{0}` is no source; list `.cu` files")]
    NotASource(String),
    /// Nothing to compile.
    #[error("the build command names no `.cu` file; add the program's")]
    NoSource,
    /// No executable named, or several.
    #[error("the build command needs exactly one `-o NAME`")]
    Output,
    /// No architecture: which code a bare `nvcc x.cu` makes depends on the toolkit.
    #[error("the build command names no architecture; say `-arch=sm_80` or the like")]
    NoArch,
    /// Several ways to name architectures that do not go together.
    #[error("`-arch`, `-code` and `-gencode` are mixed; use one `-arch`, or only `-gencode`")]
    MixedArch,
}

impl ArgvError {
    /// The finding at the place of the command: its header or its README.
    pub fn finding(&self, place: Place) -> Finding {
        let text = self.to_string();
        let (fact, next) = text
            .split_once("; ")
            .unwrap_or((&text, "write it as `nvcc -std=c++17 -O3 -arch=sm_80 -o NAME NAME.cu`"));
        Finding::error(Rule::BuildCommand, place, fact, next)
    }
}

impl BuildCommand {
    /// Reads a command line that is run in `folder`, a lesson's folder relative to the course's
    /// root.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn parse(line: &str, folder: &Utf8Path) -> Result<Self, Vec<ArgvError>> {
        if line.len() > LINE_BYTES_MAX {
            return Err(vec![ArgvError::TooLong]);
        }
        let mut errors: Vec<_> = line
            .chars()
            .filter(|char| SHELL.contains(*char) || char.is_control())
            .map(ArgvError::Shell)
            .collect();
        errors.dedup();
        let words = match shell_words::split(line) {
            Ok(words) if errors.is_empty() => words,
            Ok(_) => return Err(errors),
            Err(_) => {
                errors.push(ArgvError::Quote);
                return Err(errors);
            }
        };
        Self::from_words(&words, folder)
    }

    /// Reads the words of a command.
    fn from_words(words: &[String], folder: &Utf8Path) -> Result<Self, Vec<ArgvError>> {
        let mut errors = Vec::new();
        match words.first().map(String::as_str) {
            Some("nvcc") => {}
            first => errors.push(ArgvError::NotNvcc(first.unwrap_or_default().into())),
        }
        let mut found = Found::default();
        let mut rest = words.get(1..).unwrap_or_default();
        while let Some(word) = rest.first() {
            let used = match flags::split(word) {
                Some((meaning, value)) => found.flag(meaning, value, rest, folder, &mut errors),
                None => {
                    found.source(word, folder, &mut errors);
                    1
                }
            };
            rest = rest.get(used..).unwrap_or_default();
        }
        found.finish(errors)
    }

    /// The words, the first of them `nvcc`.
    pub fn words(&self) -> Vec<String> {
        let items = self.items.iter().flat_map(|item| item.words.iter().cloned());
        std::iter::once("nvcc".into()).chain(items).collect()
    }

    /// The executable's name, without folder.
    pub fn output(&self) -> &str {
        &self.output
    }

    /// The sources, relative to the lesson's folder.
    pub fn sources(&self) -> &[Utf8PathBuf] {
        &self.sources
    }

    /// The folders of `-I` in their order, relative to the lesson's folder.
    pub fn include_folders(&self) -> &[Utf8PathBuf] {
        &self.include_folders
    }

    /// The lowest compute capability that the executable can run on.
    pub fn floor(&self) -> Arch {
        self.codes.iter().map(|code| code.arch()).min().unwrap_or(self.virtual_arch)
    }

    /// What the executable holds: machine code and PTX.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }

    /// The same command for one other architecture, `sm_90` for example, and its PTX.
    ///
    /// # Errors
    /// When that is no architecture.
    pub fn with_arch(&self, arch: &str) -> Result<Self, NotAnArch> {
        let real = match arch.parse()? {
            Code::Real(real) => real,
            Code::Virtual(_) => return Err(NotAnArch(arch.into())),
        };
        let mut changed = self.clone();
        let place = self.items.iter().position(|item| item.kind.is_arch()).unwrap_or(0);
        changed.items.retain(|item| !item.kind.is_arch());
        let words = vec![format!("-arch={arch}")];
        changed.items.insert(place, Item { kind: Kind::Arch, words });
        changed.virtual_arch = real;
        changed.codes = vec![Code::Real(real), Code::Virtual(real)];
        Ok(changed)
    }

    /// The architecture whose PTX is made: that of the lowest code.
    pub fn virtual_arch(&self) -> Arch {
        self.virtual_arch
    }

    /// The command that builds the same program for the emulated device: PTX of one architecture,
    /// as it is and with lines, and `runtime` linked in place of a CUDA runtime of its own.
    pub fn emulation_words(&self, arch: Arch, runtime: &str) -> Vec<String> {
        let is_replaced = |item: &Item| {
            let first = item.words.first().map_or("", String::as_str);
            item.kind.is_arch() || flags::chooses_runtime(first)
        };
        let kept = self.items.iter().filter(|item| !is_replaced(item));
        let mut words: Vec<String> = vec!["nvcc".into()];
        words.extend(kept.flat_map(|item| item.words.iter().cloned()));
        let more = emulation_flags(arch, runtime, &words);
        words.extend(more);
        words
    }

    /// The command that makes the plain PTX of one source: the same flags without those that only
    /// matter to the linker, and without line information, which holds paths.
    pub fn ptx_words(&self, source: &Utf8Path, output: &str) -> Vec<String> {
        let kept = self.items.iter().filter(|item| item.kind == Kind::Compile);
        let mut words: Vec<String> = vec!["nvcc".into()];
        words.extend(kept.flat_map(|item| item.words.iter().cloned()));
        words.extend([format!("-arch={}", Code::Virtual(self.virtual_arch)), "-ptx".into()]);
        words.extend(["-o".into(), output.into(), source.to_string()]);
        words
    }
}

/// The flags that make a build of such words one for the emulated device. Where they ask for device
/// debugging, that brings the lines.
pub fn emulation_flags(arch: Arch, runtime: &str, words: &[String]) -> Vec<String> {
    let code = Code::Virtual(arch);
    let target = format!("arch={code},code={code}");
    let runtime = format!("-l:{runtime}");
    let debugs = words.iter().any(|word| ["-G", "--device-debug"].contains(&word.as_str()));
    let lines = (!debugs).then_some("-lineinfo");
    let flags = ["-gencode", &target].into_iter().chain(lines);
    let more = ["--no-compress", "-cudart", "none", "-cudadevrt", "none", &runtime];
    flags.chain(more).map(str::to_owned).collect()
}

/// What was read so far.
#[derive(Default)]
struct Found {
    items: Vec<Item>,
    outputs: Vec<String>,
    sources: Vec<Utf8PathBuf>,
    include_folders: Vec<Utf8PathBuf>,
    arch: Vec<Code>,
    code: Vec<Code>,
    gencode: Vec<(Arch, Vec<Code>)>,
}

impl Found {
    /// Takes a flag, and returns how many words it used.
    fn flag(
        &mut self,
        meaning: &Meaning,
        joined: Option<&str>,
        rest: &[String],
        folder: &Utf8Path,
        errors: &mut Vec<ArgvError>,
    ) -> usize {
        let word = &rest[0];
        let (value, used) = match (meaning.takes_value(), joined) {
            (false, None) => ("", 1),
            (true, Some(value)) if !value.is_empty() => (value, 1),
            (true, None) if rest.len() > 1 => (rest[1].as_str(), 2),
            (false, Some(_)) => {
                errors.push(ArgvError::UnknownFlag(word.clone()));
                return 1;
            }
            _ => {
                errors.push(ArgvError::NoValue(word.clone()));
                return 1;
            }
        };
        let bad = |reason| ArgvError::BadValue {
            flag: meaning.name().into(),
            value: value.into(),
            reason,
        };
        let kind = meaning.kind;
        let read = match kind {
            Kind::Refused => Err(ArgvError::UnknownFlag(word.clone())),
            Kind::Output => self.output(value).map_err(bad),
            Kind::Include if !stays_inside(folder, value) => Err(ArgvError::Outside(value.into())),
            Kind::Include => self.include_folder(value).map_err(bad),
            Kind::Arch => value.parse().map(|code| self.arch.push(code)).map_err(|_| {
                bad("name one, such as `sm_80`; `native` and `all` depend on the machine")
            }),
            Kind::Code => arch::codes(value)
                .map(|codes| self.code.extend(codes))
                .ok_or_else(|| bad("list architectures, such as `sm_80,compute_80`")),
            Kind::Gencode => arch::gencode(value)
                .map(|pair| self.gencode.push(pair))
                .ok_or_else(|| bad("write it as `arch=compute_80,code=[sm_80,compute_80]`")),
            _ => meaning.check(value).map_err(bad),
        };
        match read {
            Ok(()) => {
                let kind = if kind == Kind::Include { Kind::Compile } else { kind };
                self.items.push(Item { kind, words: rest[..used].to_vec() });
            }
            Err(error) => errors.push(error),
        }
        used
    }

    /// nvcc reads a list at each comma, so that what is checked as one path would be several.
    fn include_folder(&mut self, value: &str) -> Result<(), &'static str> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte);
        if !value.bytes().all(plain) || value.starts_with('-') {
            return Err("name one folder by letters, digits, `_`, `-`, `.` and `/`");
        }
        self.include_folders.push(value.into());
        Ok(())
    }

    fn output(&mut self, value: &str) -> Result<(), &'static str> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
        if !value.bytes().all(plain) || value.starts_with(['-', '.']) {
            return Err("name the executable by letters, digits, `_`, `-` and `.`, without folder");
        }
        if is_source(value) || value.contains(".cuh") || value.ends_with(".h") {
            return Err("that would overwrite a source");
        }
        self.outputs.push(value.into());
        Ok(())
    }

    fn source(&mut self, word: &str, folder: &Utf8Path, errors: &mut Vec<ArgvError>) {
        if word.starts_with('-') {
            errors.push(ArgvError::UnknownFlag(word.into()));
        } else if word.starts_with('@') || !is_source(word) {
            errors.push(ArgvError::NotASource(word.into()));
        } else if !stays_inside(folder, word) {
            errors.push(ArgvError::Outside(word.into()));
        } else {
            self.sources.push(word.into());
            self.items.push(Item { kind: Kind::Source, words: vec![word.into()] });
        }
    }

    fn finish(mut self, mut errors: Vec<ArgvError>) -> Result<BuildCommand, Vec<ArgvError>> {
        let arch = self.targets();
        // What follows from an error that is already known is not reported again.
        if errors.is_empty() {
            if self.sources.is_empty() {
                errors.push(ArgvError::NoSource);
            }
            if self.outputs.len() != 1 {
                errors.push(ArgvError::Output);
            }
            if let Err(error) = &arch {
                errors.push(error.clone());
            }
        }
        match (arch, self.outputs.pop()) {
            (Ok((virtual_arch, codes)), Some(output)) if errors.is_empty() => Ok(BuildCommand {
                items: self.items,
                output,
                sources: self.sources,
                include_folders: self.include_folders,
                virtual_arch,
                codes,
            }),
            _ => Err(errors),
        }
    }

    /// The virtual architecture of the lowest code, and all codes. That `-arch=sm_80` alone means
    /// both machine code and PTX is in nvcc's documentation of `--gpu-code`.
    fn targets(&self) -> Result<(Arch, Vec<Code>), ArgvError> {
        match (self.arch.as_slice(), self.code.as_slice(), self.gencode.as_slice()) {
            ([], [], []) => Err(ArgvError::NoArch),
            ([Code::Real(arch)], [], []) => {
                Ok((*arch, vec![Code::Real(*arch), Code::Virtual(*arch)]))
            }
            ([Code::Virtual(arch)], [], []) => Ok((*arch, vec![Code::Virtual(*arch)])),
            ([Code::Virtual(arch)], codes, []) => Ok((*arch, codes.to_vec())),
            ([], [], pairs) => {
                let codes: Vec<Code> = pairs.iter().flat_map(|(_, codes)| codes.clone()).collect();
                let arch = pairs.iter().map(|(arch, _)| *arch).min();
                arch.map(|arch| (arch, codes)).ok_or(ArgvError::NoArch)
            }
            _ => Err(ArgvError::MixedArch),
        }
    }
}

fn is_source(word: &str) -> bool {
    matches!(Utf8Path::new(word).extension(), Some("cu" | "cpp" | "cc" | "cxx" | "c"))
}

/// Whether a path, taken from `folder`, stays within the course's root.
fn stays_inside(folder: &Utf8Path, path: &str) -> bool {
    let mut depth = 0_usize;
    for part in folder.components().chain(Utf8Path::new(path).components()) {
        match part {
            Utf8Component::Normal(_) => depth += 1,
            Utf8Component::CurDir => {}
            Utf8Component::ParentDir if depth > 0 => depth -= 1,
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests;
