//! A stand-in for the library of the emulated device: it tells what a test wants told, and lets the
//! program run without a device. What the real one finds is its own tests' business.

use std::fs;

use camino::{Utf8Path, Utf8PathBuf};

use super::course::LESSON;
use super::{NOW, Ran, Scratch, run_with};

/// The calls that the programs of these tests make.
const CALLS: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const char told[] =
#include "told.h"
;
__attribute__((constructor)) static void start(void) {
    const char *text = getenv("PROOFRUN_EMULATE");
    const char *at = text ? strstr(text, "\"report\":") : 0;
    if (at && write(atoi(at + 9), told, sizeof told - 1) < 0) abort();
}
void **__cudaRegisterFatBinary(void *p) { static void *h; (void)p; return &h; }
void __cudaRegisterFatBinaryEnd(void **h) { (void)h; }
void __cudaUnregisterFatBinary(void **h) { (void)h; }
void __cudaRegisterFunction(void) {}
int __cudaPushCallConfiguration(void) { return 0; }
int __cudaPopCallConfiguration(void) { return 0; }
int __cudaGetKernel(void **k) { *k = 0; return 0; }
int __cudaLaunchKernel(void) { return 0; }
int cudaDeviceSynchronize(void) { return 0; }
"#;

/// The event of a library that was loaded.
pub const STARTED: &str = r#"{"event":"started","device":"h200"}"#;

/// The event of a program that ended in order.
pub const ENDED: &str = r#"{"event":"ended","calls":5}"#;

/// The event of a launch that ran.
pub const LAUNCH: &str = concat!(
    r#"{"event":"launch","index":0,"kernel":"k(int*)","grid":[1,1,1],"block":[64,1,1],"#,
    r#""dynamic_shared_bytes":0,"end":"ran","steps":12345,"schedules":1}"#
);

/// The repository's managed toolkit serves scratch courses too, so that nothing is fetched twice.
pub fn with_toolkit(course: &Scratch) {
    let root = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/proofrun");
    fs::create_dir_all(root.join("toolkit")).unwrap();
    let target = course.path().join("target/proofrun");
    fs::create_dir_all(&target).unwrap();
    let shared: Utf8PathBuf = root.canonicalize_utf8().unwrap();
    std::os::unix::fs::symlink(shared.join("toolkit"), target.join("toolkit")).unwrap();
}

/// A library that tells these events; each is one line.
pub fn library(course: &Scratch, events: &[&str]) -> Utf8PathBuf {
    let text: String =
        events.iter().map(|event| format!("{}\n", event.replace('\n', ""))).collect();
    let folder = course.outside("library");
    fs::create_dir_all(&folder).unwrap();
    let literal = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    fs::write(folder.join("told.h"), format!("\"{literal}\"")).unwrap();
    fs::write(folder.join("calls.c"), CALLS).unwrap();
    fs::write(folder.join("versions"), "libcudart.so.13 { global: *; };\n").unwrap();
    let built = std::process::Command::new("cc")
        .args(["-shared", "-fPIC", "-o", "libfake.so", "calls.c"])
        .args(["-Wl,-soname,libcudart.so.13", "-Wl,--version-script=versions"])
        .current_dir(&folder)
        .status();
    assert!(built.unwrap().success());
    folder.join("libfake.so")
}

/// Runs `emulate` in a course, with a library.
pub fn emulate(course: &Scratch, library: Option<&Utf8Path>, arguments: &[&str]) -> Ran {
    let all: Vec<&str> = ["emulate"].into_iter().chain(arguments.iter().copied()).collect();
    let library = library.map(ToString::to_string);
    run_with(course.path(), NOW, &all, move |mut context| {
        context.environment = Box::new(move |name| match name {
            "PATH" => std::env::var_os(name),
            "PROOFRUN_CUDART" => library.as_ref().map(Into::into),
            _ => None,
        });
        context
    })
}

/// Makes the lesson's program print what is to be printed on a device of `sm_count`.
pub fn prints(course: &Scratch, text: &str, rest: &str) {
    let text = text.replace('\n', "\\n");
    let body = format!(
        "int main() {{ scale<<<1, 1>>>(nullptr, 0); std::printf(\"%s\", \"{text}\"); {rest} }}"
    );
    course.edit(format!("lessons/{LESSON}/scale.cu"), "int main() { return 0; }", &body);
}

/// What the scratch lesson's program prints on an H200, with times that nobody measured.
pub const ON_H200: &str = "GPU: NVIDIA H200 (compute capability 9.0)\n264 blocks\none: 7.000 ms\n\
                       two: 0.001 ms\ntwo/one: 9.999\n";
