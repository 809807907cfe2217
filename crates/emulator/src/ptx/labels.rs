//! Labels are known before the statements are read, since branches go forwards too.

use std::collections::HashMap;

use super::cursor::{Cursor, Parsed};
use super::lexer::Kind;
use super::scope::unique;

/// Labels with the unique names they get, by the token of the brace that opens their scope.
#[derive(Debug, Default)]
pub struct Labels<'a> {
    scopes: HashMap<usize, Vec<(&'a str, String)>>,
}

impl<'a> Labels<'a> {
    /// Finds the labels of a body, at whose opening brace the cursor stands.
    ///
    /// Prototypes are kept by module: `prototypes` counts the declarations of each name.
    pub fn of(cursor: &Cursor<'a>, prototypes: &mut HashMap<&'a str, u32>) -> Parsed<Self> {
        let mut labels = Self::default();
        let mut used = HashMap::new();
        let mut open = Vec::new();
        let mut at = cursor.position();
        loop {
            let (kind, name) = cursor.look(at);
            match kind {
                Kind::OpenBrace => open.push(at),
                Kind::CloseBrace => {
                    open.pop();
                    if open.is_empty() {
                        return Ok(labels);
                    }
                }
                Kind::End => return Err(cursor.error_at(at, "`}` of a function")),
                Kind::Word if is_label(cursor, at) => {
                    let prototype = cursor.look(at + 2) == (Kind::Dot, ".callprototype");
                    let counts = if prototype { &mut *prototypes } else { &mut used };
                    let scope = open.last().copied().unwrap_or(at);
                    labels.scopes.entry(scope).or_default().push((name, unique(counts, name)));
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// The labels of the scope that the brace at this token opens.
    pub fn take(&mut self, brace: usize) -> Vec<(&'a str, String)> {
        self.scopes.remove(&brace).unwrap_or_default()
    }
}

/// A word and a colon are a label, but not in `a ? b : c`.
fn is_label(cursor: &Cursor<'_>, at: usize) -> bool {
    let after_question = at > 0 && cursor.look(at - 1).0 == Kind::Question;
    cursor.look(at + 1).0 == Kind::Colon && !after_question
}
