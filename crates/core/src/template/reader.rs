//! Matching what a reader printed, on a card that nobody here knows.
//!
//! The device facts that the template prints are read from the output itself: the first line that
//! has the shape of a line with facts tells them, and wherever else they are printed they must be
//! the same. **Invariant: what depends on a fact that the output doesn't tell is neither right nor
//! wrong; it is listed as unchecked.**

use super::Template;
use super::expr::Expr;
use super::field::{Fact, Field, FieldKind};
use super::line::{Line, Piece};
use super::matched::Readings;
use super::mismatch::{Mismatch, Reason};
use super::output::Output;
use crate::device::{Capability, DeviceFacts};

/// A reader's output against a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    /// The device facts that the output tells, as printed.
    pub facts: Vec<(Fact, String)>,
    /// What was read in the place of each numeric field, also where other lines are wrong.
    pub readings: Vec<Readings>,
    /// What is wrong, a value outside its bounds included, in the order of lines.
    pub mismatches: Vec<Mismatch>,
    /// What could not be checked.
    pub unchecked: Vec<Unchecked>,
    /// How many lines were compared.
    pub lines: u32,
    /// How many of them hold as far as they could be checked, with a field that follows from a
    /// fact which is not known.
    pub partly: u32,
    /// Whether any line that isn't blank has the shape of a line of the template.
    pub resembles: bool,
    /// The facts that the output doesn't tell and that were taken from a known card of its name.
    pub from_card: Vec<Fact>,
}

/// A part of the template that follows from facts which the output doesn't tell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unchecked {
    /// As the template has it: `{blocks = min(2 * sm_count, 4097)}`, or the range of a block.
    pub what: String,
    /// The facts.
    pub facts: Vec<Fact>,
}

impl Reader {
    /// Of an output that holds nothing to compare.
    pub(super) fn nothing(mismatch: Mismatch) -> Self {
        Self {
            facts: Vec::new(),
            readings: Vec::new(),
            mismatches: vec![mismatch],
            unchecked: Vec::new(),
            lines: 0,
            partly: 0,
            resembles: false,
            from_card: Vec::new(),
        }
    }

    /// Whether every exact line holds: nothing is wrong but values outside the bounds that the
    /// lesson declares for the cards it knows.
    pub fn holds(&self) -> bool {
        self.mismatches.iter().all(|mismatch| mismatch.reason == Reason::Bounds)
    }

    /// A fact that the output tells.
    pub fn fact(&self, fact: Fact) -> Option<&str> {
        self.facts.iter().find(|(of, _)| *of == fact).map(|(_, text)| text.as_str())
    }
}

/// The facts of a device, and which of them are known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known<'a> {
    pub(super) facts: &'a DeviceFacts,
    unknown: &'a [Fact],
    /// Whether what is measured says something: it does on a card.
    pub(super) measures: bool,
}

impl<'a> Known<'a> {
    /// A device of which everything is known.
    pub(super) fn all(facts: &'a DeviceFacts) -> Self {
        Self { facts, unknown: &[], measures: true }
    }

    /// The same where durations, and what follows from them, are no measurements.
    pub(super) fn unmeasured(facts: &'a DeviceFacts) -> Self {
        Self { measures: false, ..Self::all(facts) }
    }

    /// Whether a field follows from a fact that is not known.
    pub(super) fn leaves_open(self, field: &Field) -> bool {
        self.unknown.iter().any(|fact| depends(field, *fact))
    }

    /// An integer fact, if it is known.
    pub(super) fn integer(self, fact: Fact) -> Option<u64> {
        if self.unknown.contains(&fact) { None } else { fact.integer(self.facts) }
    }
}

/// What an output tells of its device.
pub(super) struct Bound {
    told: Vec<(Fact, String)>,
    device: DeviceFacts,
    unknown: Vec<Fact>,
    from_card: Vec<Fact>,
}

impl Bound {
    /// Takes the integer facts that the output doesn't tell from known cards of the same name,
    /// where these agree about them.
    fn complete(&mut self, cards: &[&DeviceFacts]) {
        let says = |fact| self.told.iter().any(|(of, _)| *of == fact);
        if !says(Fact::Device) {
            return;
        }
        let is_same = |card: &&&DeviceFacts| {
            card.name == self.device.name
                && (!says(Fact::Cc) || card.compute_capability == self.device.compute_capability)
        };
        let same: Vec<&DeviceFacts> = cards.iter().filter(is_same).copied().collect();
        let Some(first) = same.first() else { return };
        for fact in [Fact::SmCount, Fact::L2Bytes, Fact::MemoryBytes] {
            let agree = same.iter().all(|card| fact.integer(card) == fact.integer(first));
            if says(fact) || !agree {
                continue;
            }
            match fact {
                Fact::SmCount => self.device.sm_count = first.sm_count,
                Fact::L2Bytes => self.device.l2_bytes = first.l2_bytes,
                _ => self.device.memory_bytes = first.memory_bytes,
            }
            self.unknown.retain(|unknown| *unknown != fact);
            self.from_card.push(fact);
        }
    }

    pub(super) fn known(&self) -> Known<'_> {
        Known { facts: &self.device, unknown: &self.unknown, measures: true }
    }
}

/// Reads the facts that the template prints from the first line of output that has such a line's
/// shape.
pub(super) fn bind(template: &Template, output: &Output<'_>, cards: &[&DeviceFacts]) -> Bound {
    let mut told: Vec<(Fact, String)> = Vec::new();
    let is_fact = |line: &&Line| {
        line.fields().any(|id| matches!(template.fields[id].kind, FieldKind::Fact(_)))
    };
    for line in template.lines().filter(is_fact) {
        let texts = output.lines.iter().flatten();
        let Some(found) = texts.map(|text| facts_in(line, text, &template.fields)).find_map(|f| f)
        else {
            continue;
        };
        for (fact, text) in found {
            if !told.iter().any(|(of, _)| *of == fact) {
                told.push((fact, text));
            }
        }
    }
    let unknown = Fact::ALL.into_iter().filter(|fact| !told.iter().any(|(of, _)| of == fact));
    let unknown = unknown.collect();
    let mut bound = Bound { unknown, device: device(&told), told, from_card: Vec::new() };
    bound.complete(cards);
    bound
}

/// The facts in a line of output, if it has this line's literal text and something in the place of
/// each field.
fn facts_in(line: &Line, output: &str, fields: &[Field]) -> Option<Vec<(Fact, String)>> {
    let mut found = Vec::new();
    let mut rest = output;
    let mut pieces = line.pieces.iter().peekable();
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Text(text) => rest = rest.strip_prefix(text.as_str())?,
            Piece::Field { id, .. } => {
                let end = match pieces.peek() {
                    Some(Piece::Text(next)) => rest.find(next.as_str())?,
                    // Two fields side by side: where the first one ends is not told.
                    Some(Piece::Field { .. }) => return None,
                    None => rest.len(),
                };
                let (text, after) = rest.split_at(end);
                rest = after;
                if let FieldKind::Fact(fact) = fields[(*id)?].kind {
                    found.push((fact, is_fact(fact, text).then(|| text.to_owned())?));
                }
            }
        }
    }
    rest.is_empty().then_some(found)
}

/// Whether a text can be this fact.
fn is_fact(fact: Fact, text: &str) -> bool {
    match fact {
        Fact::Device | Fact::Driver => !text.is_empty(),
        Fact::Cc => text.parse::<Capability>().is_ok(),
        Fact::SmCount => text.parse::<u32>().is_ok_and(|value| value.to_string() == text),
        Fact::L2Bytes | Fact::MemoryBytes => {
            text.parse::<u64>().is_ok_and(|value| value.to_string() == text)
        }
    }
}

/// A device of the facts that are told; the others are blank, and nothing is computed from them.
fn device(told: &[(Fact, String)]) -> DeviceFacts {
    let text = |fact| told.iter().find(|(of, _)| *of == fact).map(|(_, text)| text.as_str());
    let number = |fact| text(fact).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
    let blank = Capability { major: 0, minor: 0 };
    DeviceFacts {
        name: text(Fact::Device).unwrap_or_default().to_owned(),
        compute_capability: text(Fact::Cc).and_then(|text| text.parse().ok()).unwrap_or(blank),
        sm_count: u32::try_from(number(Fact::SmCount)).unwrap_or(0),
        l2_bytes: number(Fact::L2Bytes),
        memory_bytes: number(Fact::MemoryBytes),
        driver: text(Fact::Driver).unwrap_or_default().to_owned(),
    }
}

/// Whether the value of a field follows from this fact itself.
fn depends(field: &Field, fact: Fact) -> bool {
    match &field.kind {
        FieldKind::Derived(expr) | FieldKind::Rate { bytes: expr, .. } => {
            expr.any(&|part| matches!(part, Expr::Fact(of) if *of == fact))
        }
        _ => false,
    }
}

/// Puts a reader's result together.
pub(super) fn finish(template: &Template, bound: Bound, read: Reader) -> Reader {
    let mut unchecked = Vec::new();
    let mut look = |what: &dyn Fn() -> String, expr: &Expr| {
        let facts: Vec<Fact> = bound
            .unknown
            .iter()
            .copied()
            .filter(|fact| expr.any(&|part| matches!(part, Expr::Fact(of) if of == fact)))
            .collect();
        if !facts.is_empty() {
            unchecked.push(Unchecked { what: what(), facts });
        }
    };
    for field in &template.fields {
        if let FieldKind::Derived(expr) | FieldKind::Rate { bytes: expr, .. } = &field.kind {
            look(&|| format!("{{{}}}", field.source), expr);
        }
    }
    for item in &template.items {
        if let super::Item::Repeat { low, high, number, .. } = item {
            let what =
                || format!("how often the block of line {number} repeats, and what is in it");
            let both = Expr::Binary(super::Op::Max, Box::new(low.clone()), Box::new(high.clone()));
            look(&what, &both);
        }
    }
    // Only what the template uses is worth a word.
    let uses = |fact: &Fact| template.fields.iter().any(|field| depends(field, *fact));
    let from_card = bound.from_card.into_iter().filter(uses).collect();
    Reader { facts: bound.told, unchecked, from_card, ..read }
}
