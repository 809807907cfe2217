//! Source places and debugging sections (PTX ISA 11.5).

use std::collections::HashMap;
use std::sync::Arc;

use super::ast::Place;
use super::constant::{self, literal};
use super::cursor::{Cursor, Parsed};
use super::init::unquote;
use super::lexer::Kind;

/// The most inlined calls that a place remembers; outer ones are left out.
const MAX_INLINED: u32 = 64;

/// The places of a function's `.loc` lines so far.
#[derive(Debug, Default)]
pub struct Places {
    /// The last one.
    pub current: Option<Arc<Place>>,
    /// The last for each file, line and column, with how many it was inlined in.
    seen: HashMap<[u32; 3], (Arc<Place>, u32)>,
}

impl Places {
    /// Reads what follows `.loc`: `1 92 5, function_name $L__info_string0, inlined_at 1 134 5`.
    ///
    /// `inlined_at` names a line that was given before: so the chain of calls is found.
    pub fn read(&mut self, cursor: &mut Cursor<'_>) -> Parsed<()> {
        let key = triple(cursor)?;
        let mut place =
            Place { file: key[0], line: key[1], column: key[2], function: None, inlined_at: None };
        let mut depth = 0;
        while cursor.kind() == Kind::Comma {
            cursor.skip();
            if cursor.eat_text("function_name") {
                place.function = Some(function(cursor)?);
            } else if cursor.eat_text("inlined_at") {
                let (caller, below) = self.caller(triple(cursor)?);
                if below < MAX_INLINED {
                    place.inlined_at = Some(caller);
                    depth = below + 1;
                }
            } else {
                return Err(cursor.error("`function_name` or `inlined_at`"));
            }
        }
        let place = Arc::new(place);
        self.seen.insert(key, (Arc::clone(&place), depth));
        self.current = Some(place);
        Ok(())
    }

    fn caller(&self, [file, line, column]: [u32; 3]) -> (Arc<Place>, u32) {
        self.seen.get(&[file, line, column]).cloned().unwrap_or_else(|| {
            (Arc::new(Place { file, line, column, function: None, inlined_at: None }), 0)
        })
    }
}

fn triple(cursor: &mut Cursor<'_>) -> Parsed<[u32; 3]> {
    Ok([
        literal(cursor, "the number of a file")?,
        literal(cursor, "a line")?,
        literal(cursor, "a column")?,
    ])
}

/// A label of `.debug_str`, or the section itself, and an offset.
fn function(cursor: &mut Cursor<'_>) -> Parsed<(String, u32)> {
    let at = cursor.position();
    if !matches!(cursor.kind(), Kind::Word | Kind::Dot) {
        return Err(cursor.error("a label of `.debug_str`"));
    }
    let label = cursor.text().to_owned();
    cursor.skip();
    let offset = constant::offset(cursor)?;
    let offset = u32::try_from(offset).map_err(|_| cursor.error_at(at, "a label and offset"))?;
    Ok((label, offset))
}

/// Reads what follows `.section`, and gives the texts by label if it is `.debug_str`.
pub fn section(cursor: &mut Cursor<'_>) -> Parsed<Vec<(String, String)>> {
    if !matches!(cursor.kind(), Kind::Word | Kind::Dot) {
        return Err(cursor.error("the name of a section"));
    }
    let strings = cursor.text() == ".debug_str";
    cursor.skip();
    cursor.expect(Kind::OpenBrace, "`{` of a section")?;
    if strings {
        return texts(cursor);
    }
    while !cursor.eat(Kind::CloseBrace) {
        if cursor.kind() == Kind::End {
            return Err(cursor.error("`}` of a section"));
        }
        cursor.skip();
    }
    Ok(Vec::new())
}

/// The labelled bytes of `.debug_str`, up to its closing brace.
fn texts(cursor: &mut Cursor<'_>) -> Parsed<Vec<(String, String)>> {
    let mut texts: Vec<(String, Vec<u8>)> = vec![(".debug_str".to_owned(), Vec::new())];
    loop {
        let bytes = match texts.last_mut() {
            Some((_, bytes)) => bytes,
            None => return Ok(Vec::new()),
        };
        match (cursor.kind(), cursor.kind_after()) {
            (Kind::CloseBrace, _) => break,
            (Kind::Word, Kind::Colon) => {
                texts.push((cursor.text().to_owned(), Vec::new()));
                cursor.skip();
            }
            (Kind::Dot, _) if cursor.text() == ".b8" => {}
            (Kind::Int, _) => {
                bytes.push(literal(cursor, "a byte")?);
                continue;
            }
            (Kind::Text, _) => bytes.extend(unquote(cursor.text())),
            (Kind::Comma, _) => {}
            _ => return Err(cursor.error("a label, bytes or `}` of `.debug_str`")),
        }
        cursor.skip();
        cursor.eat(Kind::Colon);
    }
    cursor.skip();
    texts.retain(|(_, bytes)| !bytes.is_empty());
    Ok(texts.into_iter().map(|(label, bytes)| (label, text(&bytes))).collect())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.strip_suffix(&[0]).unwrap_or(bytes)).into_owned()
}
