//! The commands, one a file. A command's doc comment is its help text.

pub mod bundle;
pub mod compare;
pub mod emulate;
pub mod explain;
pub mod import;
pub mod keys;
pub mod new;
pub mod publish;
pub mod review;
pub mod status;
pub mod sync;
pub mod toolkit;
pub mod verify;
pub mod withdraw;
