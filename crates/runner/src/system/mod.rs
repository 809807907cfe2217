//! The one door to the system: processes, files, transactions, the clock.
//!
//! **Invariant: no other module of this workspace spawns a process, and none writes a file that
//! somebody else reads, except through here.** What passes through is bounded (time, bytes), can be
//! cancelled, and leaves either the whole of what was asked or nothing.

pub mod clock;
pub mod files;
pub mod process;
pub mod terminal;
pub mod transaction;
