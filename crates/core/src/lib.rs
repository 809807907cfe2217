//! The nouns of Proofrun and the rules between them.
//!
//! Everything here is a pure function of its arguments. **Deliberately absent: a clock, a file, a
//! process, the terminal, the environment, a device.** Bytes come in, findings and values come out;
//! `proofrun-runner` is the door to the system, and `proofrun` shows what was found.
//!
//! The flow, each step taking the type that the step before returned: lesson.toml → `Lesson` →
//! `Build` → `Gate` → `Run` → `Record` → `Review` → `Publication`.
//!
//! What makes a record stale is a change of code, not of words about it:
//!
//! ```
//! use proofrun_core::source::code_digest;
//!
//! assert_eq!(code_digest("int n = 1024; // a thousand\n"), code_digest("int n = 1024;\n"));
//! assert_ne!(code_digest("int n = 1024;\n"), code_digest("int n = 2048;\n"));
//! ```

pub mod arch;
pub mod argv;
pub mod assess;
pub mod bundle;
pub mod card;
pub mod checks;
pub mod decimal;
pub mod device;
pub mod digest;
pub mod escape;
pub mod finding;
pub mod gate;
pub mod kernels;
pub mod lesson;
pub mod page;
pub mod publication;
pub mod record;
pub mod reference;
pub mod review;
pub mod source;
pub mod state;
pub mod template;
pub mod toolkit;
pub mod trust;

pub use decimal::{CompareOp, Decimal};
pub use device::{Capability, DeviceFacts};
pub use digest::Digest;
pub use finding::{Class, Finding, Place, Rule, Severity};
