//! The front end: PTX text in, a [`Module`](ast::Module) out.

pub mod ast;
