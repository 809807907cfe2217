//! Makes what the list of exports says is still missing: a stub for each function of the runtime
//! that `src/api` doesn't implement, the per-thread-stream names of those it does, and the table
//! of errors. Gives the library NVIDIA's name and symbol versions.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    println!("cargo::rerun-if-changed=exports.txt");
    println!("cargo::rerun-if-changed=errors.txt");
    println!("cargo::rerun-if-changed=src/api");
    let exports: BTreeSet<String> =
        fs::read_to_string("exports.txt")?.lines().map(str::to_owned).collect();
    let written = written_by_hand(Path::new("src/api"))?;
    if let Some(stranger) = written.iter().find(|name| !exports.contains(*name)) {
        return Err(format!("src/api has `{stranger}`, which exports.txt doesn't list").into());
    }
    let out = env::var("OUT_DIR")?;
    fs::write(Path::new(&out).join("stubs.rs"), stubs(&exports, &written)?)?;
    fs::write(Path::new(&out).join("errors.rs"), errors(&fs::read_to_string("errors.txt")?)?)?;
    link();
    Ok(())
}

/// The names of the functions that are defined there: lines `pub extern "C" fn NAME(`.
fn written_by_hand(folder: &Path) -> Result<BTreeSet<String>, Failure> {
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        for line in fs::read_to_string(entry?.path())?.lines() {
            let Some(rest) = line.strip_prefix("pub extern \"C\" fn ") else { continue };
            let name = rest.split('(').next().unwrap_or_default();
            let exported = name.starts_with("cuda") || name.starts_with("__cuda");
            if exported && !names.insert(name.to_owned()) {
                return Err(format!("`{name}` is written twice").into());
            }
        }
    }
    Ok(names)
}

/// A stub reports its name and returns an error, whatever it is called with: in the C calling
/// conventions of the supported machines the caller clears the arguments away. A
/// per-thread-stream name of a function that is there jumps to it, as all streams run in program
/// order.
fn stubs(exports: &BTreeSet<String>, written: &BTreeSet<String>) -> Result<String, Failure> {
    let jump = match env::var("CARGO_CFG_TARGET_ARCH")?.as_str() {
        "aarch64" => "b",
        _ => "jmp",
    };
    let mut text = String::new();
    let mut missing = Vec::new();
    for name in exports.difference(written) {
        let base = name.strip_suffix("_ptsz").or_else(|| name.strip_suffix("_ptds"));
        match base.filter(|base| written.contains(*base)) {
            Some(base) => writeln!(
                text,
                "#[unsafe(no_mangle)] #[unsafe(naked)] unsafe extern \"C\" fn {name}() \
                 {{ naked_asm!(\"{jump} {{}}\", sym crate::api::{base}) }}"
            )?,
            None => {
                missing.push(name);
                writeln!(
                    text,
                    "#[unsafe(no_mangle)] extern \"C\" fn {name}() -> i32 {{ missing(\"{name}\") }}"
                )?;
            }
        }
    }
    writeln!(text, "/// The functions of the runtime that are stubs.")?;
    writeln!(text, "pub const MISSING: &[&str] = &{missing:?};")?;
    Ok(text)
}

/// `errors.txt` has a code, a name and what is said of it on each line.
fn errors(table: &str) -> Result<String, Failure> {
    let mut text =
        "/// Codes, names and texts, by code.\npub const TABLE: &[Row] = &[\n".to_owned();
    for line in table.lines() {
        let mut parts = line.splitn(3, ' ');
        let (Some(code), Some(name), Some(what)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(format!("errors.txt: `{line}`").into());
        };
        let code: i32 = code.parse()?;
        writeln!(text, "Row {{ code: {code}, name: c{name:?}, text: c{what:?} }},")?;
    }
    text.push_str("];\n");
    Ok(text)
}

/// `--default-symver` makes each symbol `NAME@@libcudart.so.13`, as NVIDIA's library has it:
/// without, ld.so warns into the program's standard error. Of the linkers only GNU's has the
/// flag.
fn link() {
    if env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    let mut arguments = vec!["-Wl,-soname,libcudart.so.13", "-Wl,-z,nodelete"];
    let path = env::var_os("PATH").unwrap_or_default();
    if env::split_paths(&path).any(|folder| folder.join("ld.bfd").is_file()) {
        arguments.extend(["-fuse-ld=bfd", "-Wl,--default-symver"]);
    } else {
        println!("cargo::warning=no ld.bfd: libproofrun_cudart.so has no symbol versions");
    }
    for argument in arguments {
        println!("cargo::rustc-cdylib-link-arg={argument}");
    }
}
