//! Which names an expression may use at a place of the template.
//!
//! **Invariant: a name is defined once, and is used only below its definition, where it has one
//! value.**

use std::collections::BTreeMap;

use super::expr::Op;
use super::field::{Fact, FieldId, Unit};

/// The longest name, in bytes.
pub(super) const MAX_NAME: usize = 64;

#[derive(Debug, Clone, Copy)]
enum Known {
    Visible(FieldId),
    /// Defined, but without one value here.
    Hidden(Why),
    /// Its definition has an error of its own, so that a use of it says nothing new.
    Broken,
}

/// Why a defined name has no value here.
#[derive(Debug, Clone, Copy)]
pub(super) enum Why {
    /// It stands in a `repeat` block that ended.
    List,
    /// It stands in another line of the same `unordered` block.
    Unordered,
}

/// What a name means where it is used.
pub(super) enum Lookup {
    Field(FieldId),
    Hidden(Why),
    Broken,
    Unknown,
}

/// The names defined so far.
#[derive(Debug, Default)]
pub(super) struct Names {
    known: BTreeMap<String, Known>,
    /// Names of the open block, or of the current line of an `unordered` one.
    recent: Vec<String>,
}

impl Names {
    /// Why `name` cannot be defined, and what to do, if it can't.
    pub(super) fn refuse(&self, name: &str) -> Option<(String, &'static str)> {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        if name.len() > MAX_NAME || !name.bytes().all(plain) || name.starts_with('_') {
            let message = format!("`{name}` is no name for a field");
            return Some((
                message,
                "use at most 64 of `a-z`, `0-9` and `_`, starting with a letter",
            ));
        }
        let block = matches!(name, "in" | "width" | "bare" | "repeat" | "unordered" | "end");
        let taken = Fact::parse(name).is_some() || Op::function(name).is_some();
        if block || taken {
            let message = format!("`{name}` is a word of the template itself");
            return Some((message, "give the field another name"));
        }
        if Unit::parse(name).is_some_and(|unit| unit != Unit::S) {
            let message = format!("`{name}` is a unit");
            return Some((message, "give the field another name, such as `a:ms.3`"));
        }
        self.known
            .contains_key(name)
            .then(|| (format!("field `{name}` is defined twice"), "give one of them another name"))
    }

    /// Defines a name; `None` for a field with an error.
    pub(super) fn define(&mut self, name: &str, field: Option<FieldId>) {
        let known = field.map_or(Known::Broken, Known::Visible);
        self.known.entry(name.to_owned()).or_insert(known);
        self.recent.push(name.to_owned());
    }

    pub(super) fn look_up(&self, name: &str) -> Lookup {
        match self.known.get(name) {
            Some(Known::Visible(id)) => Lookup::Field(*id),
            Some(Known::Hidden(why)) => Lookup::Hidden(*why),
            Some(Known::Broken) => Lookup::Broken,
            None => Lookup::Unknown,
        }
    }

    /// Forgets which names are recent: a block begins, or a line outside a block ends.
    pub(super) fn settle(&mut self) {
        self.recent.clear();
    }

    /// Hides the recent names, for `why`.
    pub(super) fn hide_recent(&mut self, why: Why) {
        for name in self.recent.drain(..) {
            if let Some(known @ Known::Visible(_)) = self.known.get_mut(&name) {
                *known = Known::Hidden(why);
            }
        }
    }

    /// Shows a name again, when its `unordered` block has ended.
    pub(super) fn show(&mut self, name: &str, id: FieldId) {
        self.known.insert(name.to_owned(), Known::Visible(id));
    }
}
