//! The library under programs in C, for what needs no kernel: how it starts, fails and ends.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]

mod support;

use std::collections::BTreeSet;
use std::os::unix::process::ExitStatusExt as _;

use proofrun_emulator::finding::{Kind, Severity};
use proofrun_emulator::report::Event;
use support::Program;

/// Declarations that the programs share, as the toolkit's headers have them.
const DECLARED: &str = r#"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int cudaMalloc(void **, size_t);
int cudaFree(void *);
int cudaMemcpy(void *, const void *, size_t, int);
int cudaMemcpy_ptds(void *, const void *, size_t, int);
int cudaMemset(void *, int, size_t);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
int cudaGetDeviceCount(int *);
int cudaGraphCreate(void **, unsigned);
const char *cudaGetErrorString(int);
"#;

fn program(body: &str) -> Program {
    Program::c(&format!("{DECLARED}{body}"))
}

#[test]
fn loaded_by_accident_every_call_fails_and_one_line_says_why() {
    let program = program(
        r#"int main(void) { int n = 7; void *p;
            printf("%d %d %d\n", cudaGetDeviceCount(&n), n, cudaMalloc(&p, 4));
            printf("%s\n", cudaGetErrorString(cudaGetLastError())); }"#,
    );
    let output = program.command(&[]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "3 7 3\ninitialization error\n");
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "proofrun: PROOFRUN_EMULATE isn't set: this library runs under `proofrun emulate`\n"
    );
}

#[test]
fn a_clean_program_has_no_finding_and_nothing_on_standard_error() {
    let program = program(
        r#"int main(void) { char a[64], b[64]; void *p; memset(a, 5, 64);
            cudaMalloc(&p, 64); cudaMemcpy(p, a, 64, 1); cudaMemcpy_ptds(b, p, 64, 2); cudaFree(p);
            printf("%d\n", memcmp(a, b, 64)); }"#,
    );
    let ran = program.run("t4", &[]);
    assert_eq!((ran.out().as_str(), ran.err().as_str()), ("0\n", ""));
    assert_eq!(ran.events.first(), Some(&Event::Started { device: "t4".to_owned() }));
    assert_eq!(ran.events.last(), Some(&Event::Ended { calls: 4 }));
    assert_eq!(ran.events.len(), 2);
}

#[test]
fn a_crash_leaves_what_was_found() {
    let program = program(
        r#"int main(void) { int *p; cudaMalloc((void **)&p, 64); cudaMemset(p, 0, 65); return *p; }"#,
    );
    let ran = program.run("h200", &[]);
    assert_eq!(ran.output.status.signal(), Some(libc::SIGSEGV));
    assert!(!ran.ended());
    let findings = ran.findings();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!((findings[0].kind, findings[0].severity), (Kind::Bounds, Severity::Error));
}

#[test]
fn memory_that_is_freed_in_an_exit_handler_is_no_leak() {
    let body = |free: &str| {
        format!(
            "void *p; void end(void) {{ {free} printf(\"%d\\n\", cudaPeekAtLastError()); }}\n\
             int main(void) {{ atexit(end); cudaMalloc(&p, 64); }}"
        )
    };
    let ran = program(&body("cudaFree(p);")).run("h200", &[]);
    assert_eq!((ran.out().as_str(), ran.findings().len()), ("0\n", 0));
    assert!(ran.ended());
    let ran = program(&body("")).run("h200", &[]);
    let findings = ran.findings();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    assert_eq!((findings[0].kind, findings[0].severity), (Kind::Leak, Severity::Warning));
    assert!(ran.ended());
}

#[test]
fn the_last_error_is_the_threads_own() {
    let program = program(
        r#"void *other(void *unused) { printf("%d\n", cudaGetLastError()); return unused; }
        int main(void) { pthread_t t; cudaFree((void *)8);
            pthread_create(&t, 0, other, 0); pthread_join(t, 0);
            printf("%d\n", cudaPeekAtLastError()); printf("%d\n", cudaGetLastError());
            printf("%d\n", cudaGetLastError()); }"#,
    );
    assert_eq!(program.run("h200", &[]).out(), "0\n1\n1\n0\n");
}

/// Each of them, called with nothing: it says its name and fails.
#[test]
fn every_stub_reports_itself() {
    let program = Program::c(
        r#"#include <dlfcn.h>
        #include <stdio.h>
        #include <stdlib.h>
        int cudaGetLastError(void);
        int main(int count, char **names) {
            for (int i = 1; i < count; i++) {
                int (*function)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, names[i]);
                if (!function) abort();
                int returned = function(), last = cudaGetLastError();
                printf("%d %d\n", returned, last);
            } }"#,
    );
    let missing = proofrun_cudart::stubs::MISSING;
    assert!(missing.contains(&"cudaGraphCreate"));
    let ran = program.run("h200", missing);
    assert_eq!(ran.out(), "801 801\n".repeat(missing.len()));
    let told: BTreeSet<String> =
        ran.findings().iter().map(|finding| finding.message.clone()).collect();
    let expected = missing.iter().map(|name| format!("`{name}` is not emulated")).collect();
    assert_eq!(told, expected);
    let all = |finding: &&proofrun_emulator::finding::Finding| {
        (finding.kind, finding.severity) == (Kind::Unsupported, Severity::Error)
    };
    assert!(ran.findings().iter().all(all));
}

/// What lessons and NVIDIA's basic samples import.
#[test]
fn the_common_functions_are_there() {
    let missing: BTreeSet<&str> = proofrun_cudart::stubs::MISSING.iter().copied().collect();
    for name in [
        "__cudaRegisterFatBinary",
        "__cudaRegisterFunction",
        "__cudaRegisterVar",
        "__cudaRegisterManagedVar",
        "__cudaInitModule",
        "__cudaPushCallConfiguration",
        "__cudaPopCallConfiguration",
        "__cudaGetKernel",
        "__cudaLaunchKernel",
        "__cudaLaunchKernel_ptsz",
        "cudaLaunchKernel",
        "cudaLaunchKernelExC",
        "cudaLaunchCooperativeKernel",
        "cudaMalloc",
        "cudaMallocAsync",
        "cudaMallocPitch",
        "cudaMalloc3D",
        "cudaMallocManaged",
        "cudaMallocHost",
        "cudaHostAlloc",
        "cudaHostRegister",
        "cudaFree",
        "cudaFreeAsync",
        "cudaFreeHost",
        "cudaMemcpy",
        "cudaMemcpyAsync",
        "cudaMemcpyAsync_ptsz",
        "cudaMemcpy2D",
        "cudaMemcpy3D",
        "cudaMemcpyToSymbol",
        "cudaMemcpyFromSymbol",
        "cudaMemcpyPeer",
        "cudaMemset",
        "cudaMemset2D",
        "cudaMemset3D",
        "cudaMemGetInfo",
        "cudaPointerGetAttributes",
        "cudaGetDeviceProperties",
        "cudaDeviceGetAttribute",
        "cudaDeviceSynchronize",
        "cudaDeviceReset",
        "cudaStreamCreate",
        "cudaStreamSynchronize",
        "cudaStreamWaitEvent",
        "cudaLaunchHostFunc",
        "cudaEventRecord",
        "cudaEventElapsedTime",
        "cudaGetLastError",
        "cudaGetErrorString",
        "cudaFuncGetAttributes",
        "cudaFuncSetAttribute",
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor",
    ] {
        assert!(!missing.contains(name), "{name}");
    }
}
