//! What the emulated device found, as data: for JSON, for terminals, for tests.

use serde::{Deserialize, Serialize};

/// What kind of fault a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Conflicting accesses that nothing orders (PTX ISA 8.7.1).
    Race,
    /// An access outside of every allocation, or to freed memory; a bad free.
    Bounds,
    /// Memory was read that nothing wrote.
    Uninitialised,
    /// An address that is no multiple of the access's size.
    Alignment,
    /// A barrier used against its rules.
    Barrier,
    /// No live thread can go on.
    Deadlock,
    /// Memory that was never freed.
    Leak,
    /// What this device doesn't emulate.
    Unsupported,
    /// A call of the runtime, or an instruction, with arguments it does not take; a trap.
    Api,
}

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The program is wrong.
    Error,
    /// Odd, and the outcome can't differ for it.
    Warning,
}

/// A place in a source file that takes part in a finding.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct At {
    /// The file, as the compiler named it; of inlined code of the toolkit's headers, the place in
    /// the program that called it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1; 0 where it isn't known.
    pub column: u32,
    /// What was done there: `write of 4 bytes`, `waits at barrier 0`.
    pub what: String,
    /// The block, if one is meant.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub block: Option<[u32; 3]>,
    /// The threads in the block: ranges in linear order, `0..32, 64`.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub threads: String,
    /// Where the code was inlined from, innermost first, if it was: `file:line`.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inlined: Vec<String>,
}

/// One finding. Equal ones are folded, `count` says how many there were.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What kind of fault.
    pub kind: Kind,
    /// How much it weighs.
    pub severity: Severity,
    /// The kernel, demangled where that is possible; none for calls of the runtime outside kernels.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub kernel: Option<String>,
    /// One sentence, lower case, without a full stop.
    pub message: String,
    /// The places, the later access first.
    pub at: Vec<At>,
    /// What was accessed: ``element 1664 of the 8 KiB shared array `tiles` ``.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub object: Option<String>,
    /// More, a line each: the phase of a barrier, who arrived, who waits.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub notes: Vec<String>,
    /// What to do next, if something general can be said.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub next: Option<String>,
    /// Which launch of the program, from 0.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub launch: Option<u64>,
    /// The token that replays the schedule that showed it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub schedule: Option<String>,
    /// How many equal ones were folded into this one.
    pub count: u64,
}
