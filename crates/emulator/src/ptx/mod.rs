//! The front end: PTX text in, a [`Module`](ast::Module) out.

pub mod ast;
mod body;
mod constant;
mod cursor;
mod debug;
mod display;
mod error;
mod function;
mod init;
mod labels;
mod lexer;
mod module;
mod operand;
mod scope;
mod types;
mod variable;

pub use display::Shown;
pub use error::ParseError;

/// Reads a module. Nothing is checked but the grammar and the names of registers.
pub fn parse(text: &str) -> Result<ast::Module, ParseError> {
    let tokens = lexer::tokens(text)?;
    module::module(&mut cursor::Cursor::new(text, &tokens))
}
