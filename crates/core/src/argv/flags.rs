//! The flags of nvcc that a build command may have, and what each may say.
//!
//! From nvcc's documentation, "NVCC Command Options" (CUDA 13.0). A flag that is missing here was
//! left out because it names files or programs, changes what kind of file comes out, or nobody
//! needed it yet.

/// What a flag does, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `-o`.
    Output,
    /// `-arch`.
    Arch,
    /// `-code`.
    Code,
    /// `-gencode`.
    Gencode,
    /// `-I`: a folder of the course.
    Include,
    /// Changes what is compiled.
    Compile,
    /// Matters to the linker or to the messages only, or puts paths into the PTX.
    Link,
    /// A source, which is no flag.
    Source,
    /// Known and refused: it would otherwise look like another flag with its value joined.
    Refused,
}

impl Kind {
    pub(super) fn is_arch(self) -> bool {
        matches!(self, Self::Arch | Self::Code | Self::Gencode)
    }
}

/// How a flag's value is written, and what it may be.
#[derive(Clone, Copy)]
enum Value {
    None,
    /// Checked elsewhere.
    Any,
    /// Letters, digits and `+-_.:` only: nothing that could be a path.
    Word,
    /// One of these.
    One(&'static [&'static str]),
    /// A whole number.
    Number,
    /// A macro: `NAME` or `NAME=VALUE`.
    Macro,
    /// A list by commas of options that start with one of these and hold no path.
    Options(&'static [&'static str]),
}

/// A row of the table.
pub(super) struct Meaning {
    names: &'static [&'static str],
    pub(super) kind: Kind,
    value: Value,
}

const fn row(names: &'static [&'static str], kind: Kind, value: Value) -> Meaning {
    Meaning { names, kind, value }
}

const BOOL: Value = Value::One(&["true", "false"]);

static TABLE: &[Meaning] = &[
    row(&["-o", "--output-file"], Kind::Output, Value::Any),
    row(&["-arch", "--gpu-architecture"], Kind::Arch, Value::Any),
    row(&["-code", "--gpu-code"], Kind::Code, Value::Any),
    row(&["-gencode", "--generate-code"], Kind::Gencode, Value::Any),
    row(&["-I", "--include-path"], Kind::Include, Value::Any),
    row(&["-std", "--std"], Kind::Compile, Value::One(&["c++14", "c++17", "c++20", "c++23"])),
    row(&["-O", "--optimize"], Kind::Compile, Value::One(&["0", "1", "2", "3"])),
    row(&["-D", "--define-macro"], Kind::Compile, Value::Macro),
    row(&["-U", "--undefine-macro"], Kind::Compile, Value::Word),
    row(&["-use_fast_math", "--use_fast_math"], Kind::Compile, Value::None),
    row(&["-fmad", "--fmad"], Kind::Compile, BOOL),
    row(&["-ftz", "--ftz"], Kind::Compile, BOOL),
    row(&["-prec-div", "--prec-div"], Kind::Compile, BOOL),
    row(&["-prec-sqrt", "--prec-sqrt"], Kind::Compile, BOOL),
    row(&["-maxrregcount", "--maxrregcount"], Kind::Compile, Value::Number),
    row(&["-rdc", "--relocatable-device-code"], Kind::Compile, BOOL),
    row(&["-restrict", "--restrict"], Kind::Compile, Value::None),
    row(&["-extra-device-vectorization"], Kind::Compile, Value::None),
    row(&["-expt-relaxed-constexpr", "--expt-relaxed-constexpr"], Kind::Compile, Value::None),
    row(&["-extended-lambda", "--extended-lambda"], Kind::Compile, Value::None),
    row(&["-expt-extended-lambda", "--expt-extended-lambda"], Kind::Compile, Value::None),
    row(&["-default-stream", "--default-stream"], Kind::Compile, STREAM),
    row(&["-m64", "--m64"], Kind::Compile, Value::None),
    row(&["-w", "--disable-warnings"], Kind::Compile, Value::None),
    row(&["-Werror", "--Werror"], Kind::Compile, Value::Word),
    row(&["-Wno-deprecated-gpu-targets"], Kind::Compile, Value::None),
    row(&["-diag-suppress", "--diag-suppress"], Kind::Compile, Value::Word),
    row(&["-diag-error", "--diag-error"], Kind::Compile, Value::Word),
    row(&["-diag-warn", "--diag-warn"], Kind::Compile, Value::Word),
    row(&["-Xcompiler", "--compiler-options"], Kind::Compile, Value::Options(HOST)),
    row(&["-lineinfo", "--generate-line-info"], Kind::Link, Value::None),
    row(&["-g", "--debug"], Kind::Link, Value::None),
    row(&["-G", "--device-debug"], Kind::Link, Value::None),
    row(&["-l", "--library"], Kind::Link, Value::Word),
    row(&["-cudart", "--cudart"], Kind::Link, Value::One(&["static", "shared", "none"])),
    row(&["-Xptxas", "--ptxas-options"], Kind::Link, Value::Options(PTXAS)),
    row(&["-res-usage", "--resource-usage"], Kind::Link, Value::None),
    row(&["-t", "--threads"], Kind::Link, Value::Number),
    row(&["-lib", "--lib"], Kind::Refused, Value::None),
    row(&["-link", "--link"], Kind::Refused, Value::None),
    row(&["-ldir", "--libdevice-directory"], Kind::Refused, Value::Any),
    row(&["-lto", "--dlink-time-opt"], Kind::Refused, Value::None),
    row(&["-odir", "--output-directory"], Kind::Refused, Value::Any),
    row(&["-objtemp", "-objdir-as-tempdir"], Kind::Refused, Value::None),
    row(&["-optf", "--options-file"], Kind::Refused, Value::Any),
    row(&["-ccbin", "--compiler-bindir"], Kind::Refused, Value::Any),
];

const STREAM: Value = Value::One(&["legacy", "null", "per-thread"]);

/// What may be said to the host compiler: no plugin, no other linker, no file.
const HOST: &[&str] =
    &["-O", "-W", "-f", "-m", "-pthread", "-fopenmp", "-pedantic", "-std=c++", "-g"];

/// What may be said to ptxas.
const PTXAS: &[&str] = &[
    "-v",
    "--verbose",
    "-O",
    "-dlcm=",
    "-dscm=",
    "--warn-on-spills",
    "-warn-spills",
    "--warn-on-local-memory-usage",
    "-warn-lmem-usage",
    "--allow-expensive-optimizations=",
];

/// Options that start like an allowed one and reach for files or programs.
const REACHING: &[&str] = &[
    "plugin",
    "use-ld",
    "-fprofile",
    "-fdump",
    "-fsave",
    "-fstack-usage",
    "-ftest",
    "-fauto-profile",
    "-fmodule",
    "-fcallgraph",
    "-fopt-info",
    "-frecord",
    "-fdiagnostics",
];

/// The row of a flag, and its value if that is joined to it. `None`: it is no flag of the table.
pub(super) fn split(word: &str) -> Option<(&'static Meaning, Option<&str>)> {
    let (name, value) = match word.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (word, None),
    };
    if let Some(row) = TABLE.iter().find(|row| row.names.contains(&name)) {
        return Some((row, value));
    }
    // `-O3`, `-DNAME=1`, `-Iinclude`: the flags of one capital letter, and `-o`, `-l`, `-t`.
    let letter = word.get(..2).filter(|_| !word.starts_with("--"))?;
    let row = TABLE.iter().find(|row| row.names[0] == letter && row.takes_value())?;
    Some((row, word.get(2..)))
}

/// Whether a flag says which CUDA runtime is linked, or asks for lines, which another flag does.
pub(super) fn chooses_runtime(word: &str) -> bool {
    let names = ["-cudart", "--cudart", "-lineinfo", "--generate-line-info"];
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    names.contains(&name)
}

impl Meaning {
    pub(super) fn takes_value(&self) -> bool {
        !matches!(self.value, Value::None)
    }

    pub(super) fn name(&self) -> &'static str {
        self.names[0]
    }

    /// Whether the flag may say this.
    pub(super) fn check(&self, value: &str) -> Result<(), &'static str> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-_.:,".contains(&byte);
        let fine = match self.value {
            Value::None | Value::Any => return Ok(()),
            Value::Word if value.bytes().all(plain) && !value.contains("..") => return Ok(()),
            Value::Word => return Err("letters, digits and `+-_.:,` only"),
            Value::One(values) => values.contains(&value),
            Value::Number => value.parse::<u16>().is_ok(),
            Value::Macro => return is_macro(value),
            Value::Options(starts) => value.split(',').all(|option| {
                let starts_well = starts.iter().any(|start| option.starts_with(start));
                let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+-_.=".contains(&byte);
                let reaches = ["-Wl", "-Wa", "-Wp"].contains(&option)
                    || REACHING.iter().any(|word| option.contains(word));
                starts_well && !reaches && option.bytes().all(plain)
            }),
        };
        if fine { Ok(()) } else { Err("that is not one of the values it may have") }
    }
}

/// A macro's value is a number, a name or a quoted text; it cannot be a path of an include.
fn is_macro(text: &str) -> Result<(), &'static str> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let starts = name.starts_with(|char: char| char.is_ascii_alphabetic() || char == '_');
    let letters = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !starts || !letters {
        return Err("write it as `NAME` or `NAME=VALUE`");
    }
    if value.contains(['/', '\\']) {
        return Err("a macro's value may not hold a path");
    }
    Ok(())
}
