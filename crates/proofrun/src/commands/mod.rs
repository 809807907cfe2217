//! The commands, one a file. A command's doc comment is its help text.

pub mod bundle;
pub mod compare;
pub mod explain;
pub mod import;
pub mod new;
pub mod status;
pub mod sync;
pub mod toolkit;
pub mod verify;
