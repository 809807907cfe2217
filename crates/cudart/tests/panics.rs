//! A panic inside a call stays inside: the program gets an error, the harness a finding.

#![allow(clippy::unwrap_used, reason = "a test that can't be set up may panic")]
#![allow(unsafe_code, reason = "the environment is set before anything else runs")]

use std::os::fd::AsRawFd as _;

use proofrun_cudart::call::{call, take_last_error};
use proofrun_emulator::finding::Kind;
use proofrun_emulator::report::Event;

/// The only test of this file: the library reads the environment once a process.
#[test]
fn a_panic_is_an_unknown_error_and_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report");
    let file = std::fs::File::create(&path).unwrap();
    let configuration = format!(r#"{{"device":"h200","report":{}}}"#, file.as_raw_fd());
    // SAFETY: no other thread reads the environment: this is the only test here.
    unsafe { std::env::set_var("PROOFRUN_EMULATE", configuration) };
    assert_eq!(call("cudaMalloc", |_| panic!("on purpose")), 999);
    assert_eq!((take_last_error(), take_last_error()), (999, 0));
    assert_eq!(call("cudaMalloc", |_| Ok(())), 0);
    let text = std::fs::read_to_string(&path).unwrap();
    let Event::Finding(finding) = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap()
    else {
        panic!("{text}");
    };
    assert_eq!(finding.kind, Kind::Unsupported);
    let message = finding.message;
    let begins = message.starts_with("internal error in `cudaMalloc`: on purpose, at ");
    assert!(begins && message.contains("panics.rs:"), "{message}");
}
