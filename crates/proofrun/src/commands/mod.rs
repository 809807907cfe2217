//! The commands, one a file. A command's doc comment is its help text.

pub mod bundle;
pub mod import;
pub mod keys;
pub mod publish;
pub mod review;
pub mod verify;
pub mod withdraw;
