//! The commands, one a file. A command's doc comment is its help text.

pub mod bundle;
pub mod import;
pub mod verify;
