//! The nouns of Proofrun and the rules between them.
//!
//! Everything here is a pure function of its arguments. **Deliberately absent: a clock, a file, a
//! process, the terminal, the environment, a device.** Bytes come in, findings and values come out;
//! `proofrun-runner` is the door to the system, and `proofrun` shows what was found.
//!
//! The flow, each step taking the type that the step before returned:
//! lesson.toml → `Lesson` → `Build` → `Gate` → `Run` → `Record` → `Review` → `Publication`.

pub mod card;
pub mod checks;
pub mod device;
pub mod digest;
pub mod finding;
pub mod gate;
pub mod kernels;
pub mod page;
pub mod reference;
pub mod source;
pub mod template;
pub mod trust;

pub use digest::Digest;
pub use finding::{Class, Finding, Place, Rule, Severity};
