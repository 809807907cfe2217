//! Source places of instructions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::program::{Place, PlaceFrame};
use crate::ptx::ast;

/// More levels of inlining than anybody writes.
const FRAMES_MAX: usize = 64;

/// The files of a module, and where inlined places were themselves inlined.
pub(crate) struct Sources {
    files: Vec<Arc<str>>,
    /// What a place that code was inlined at was itself: its `.loc`, by file, line and column.
    seen: HashMap<(u32, u32, u32), ast::Place>,
}

impl Sources {
    pub(crate) fn new(module: &ast::Module) -> Self {
        let files = module.files.iter().map(|file| Arc::from(file.as_str())).collect();
        Self { files, seen: HashMap::new() }
    }

    /// The place of an instruction, its inlining resolved as far as the text tells.
    pub(crate) fn place(
        &mut self,
        place: Option<&Arc<ast::Place>>,
        line: u32,
        text: String,
    ) -> Place {
        let mut frames: Vec<PlaceFrame> = Vec::new();
        let mut next = place.map(|place| ast::Place::clone(place));
        if let Some(place) = place {
            let own = ast::Place::clone(place);
            self.seen.insert((place.file, place.line, place.column), own);
        }
        while let Some(place) = next.take()
            && frames.len() < FRAMES_MAX
        {
            if place.line > 0 {
                frames.push(PlaceFrame {
                    file: self.file(place.file),
                    line: place.line,
                    column: place.column,
                });
            }
            next = place.inlined_at.map(|at| {
                // Only a place that says where itself was inlined tells more.
                let known = self.seen.get(&(at.file, at.line, at.column));
                match known {
                    Some(known) if at.inlined_at.is_none() && known.inlined_at.is_some() => {
                        known.clone()
                    }
                    _ => ast::Place::clone(&at),
                }
            });
        }
        frames.dedup();
        Place { frames, ptx_line: line, text }
    }

    fn file(&self, number: u32) -> Arc<str> {
        let known = self.files.get(number as usize);
        known.cloned().unwrap_or_else(|| Arc::from(""))
    }
}
