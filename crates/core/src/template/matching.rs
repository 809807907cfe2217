//! Matching a whole output with its template.
//!
//! **Invariant: linear in the output, and every difference becomes a mismatch, up to a limit.**
//! Lines are matched one by one. Where one does not fit, [`Matcher::realign`] looks a few lines
//! ahead on both sides for the place where they fit again, so that one missing line is one
//! mismatch.

use super::checks::check;
use super::expr::{EvalError, Expr, Scope};
use super::field::{Field, FieldId, plural};
use super::line::{Line, LineFault, Token};
use super::matched::{Matched, Reading, Readings};
use super::mismatch::{Mismatch, Reason, quote};
use super::output::{Output, split};
pub(super) use super::reader::Known;
use super::reader::Reader;
use super::unordered::pair;
use super::{Item, MAX_MISMATCHES, MAX_REPEAT, Template, reader};
use crate::decimal::Decimal;
use crate::device::DeviceFacts;

/// How many lines ahead a place to go on is looked for.
const LOOK_AHEAD: usize = 8;

/// Matches `output` with `template`.
pub(super) fn matches(
    template: &Template,
    output: &[u8],
    device: Known<'_>,
) -> Result<Matched, Vec<Mismatch>> {
    let mut mismatches = Vec::new();
    let output = split(output, &mut mismatches).map_err(|mismatch| vec![mismatch])?;
    let mut matcher = Matcher::new(template, device, output, mismatches);
    matcher.items(&template.items);
    matcher.finish(template)
}

/// Matches what somebody printed on a card of his own, of which only the output tells.
///
/// `cards` are known ones; what the output doesn't tell is taken from those of its card's name.
pub(super) fn read(template: &Template, bytes: &[u8], cards: &[&DeviceFacts]) -> Reader {
    let mut mismatches = Vec::new();
    let output = match split(bytes, &mut mismatches) {
        Ok(output) => output,
        Err(mismatch) => return Reader::nothing(mismatch),
    };
    let bound = reader::bind(template, &output, cards);
    let mut matcher = Matcher::new(template, bound.known(), output, mismatches);
    matcher.items(&template.items);
    matcher.check_end();
    let readings = matcher.take_readings();
    let read = Reader {
        facts: Vec::new(),
        readings,
        mismatches: std::mem::take(&mut matcher.mismatches),
        unchecked: Vec::new(),
        lines: matcher.compared,
        partly: matcher.partly,
        resembles: matcher.resembles,
        from_card: Vec::new(),
    };
    reader::finish(template, bound, read)
}

struct Matcher<'a> {
    fields: &'a [Field],
    device: Known<'a>,
    output: Output<'a>,
    /// The index of the next line of output.
    next: usize,
    values: Vec<Option<Decimal>>,
    lists: Vec<Vec<Reading>>,
    compared: u32,
    /// Lines without a fault, of which something could not be checked.
    partly: u32,
    /// Whether any line that isn't blank has the shape of its template's.
    resembles: bool,
    mismatches: Vec<Mismatch>,
}

/// Where to go on after a line that does not fit.
enum Realign {
    /// The line of output stands where the item should: both are passed.
    Replaced,
    /// So many items are missing from the output.
    Missing(usize),
    /// So many lines of output are not in the template.
    Extra(usize),
}

impl<'a> Matcher<'a> {
    fn new(
        template: &'a Template,
        device: Known<'a>,
        output: Output<'a>,
        mismatches: Vec<Mismatch>,
    ) -> Self {
        let fields = &template.fields;
        let (values, lists) = (vec![None; fields.len()], vec![Vec::new(); fields.len()]);
        Self {
            fields,
            device,
            output,
            next: 0,
            values,
            lists,
            compared: 0,
            partly: 0,
            resembles: false,
            mismatches,
        }
    }

    fn items(&mut self, items: &[Item]) {
        let mut index = 0;
        while index < items.len() && !self.is_full() {
            let item = &items[index];
            if self.next == self.output.lines.len() && !self.may_be_absent(item) {
                self.too_few(&items[index..]);
                return;
            }
            index += 1;
            match item {
                Item::Line(line) if self.fits(line, self.next) => self.accept(line),
                Item::Line(line) => match self.realign(&items[index - 1..]) {
                    Realign::Replaced => self.accept(line),
                    Realign::Missing(count) => {
                        for item in &items[index - 1..index - 1 + count] {
                            self.missing(item);
                        }
                        index += count - 1;
                    }
                    Realign::Extra(count) => {
                        self.extra(count);
                        self.accept(line);
                    }
                },
                Item::Repeat { low, high, lines, number } => {
                    self.repeat((low, high), lines, *number, &items[index..]);
                }
                Item::Unordered { lines, .. } => self.unordered(lines, &items[index..]),
            }
        }
    }

    fn line(&self, at: usize) -> Option<&'a str> {
        self.output.lines.get(at).copied().flatten()
    }

    fn fits(&self, line: &Line, at: usize) -> bool {
        self.line(at).is_some_and(|text| line.read(text, self.fields, self.device.facts).is_ok())
    }

    fn entry_fits(&self, item: &Item, at: usize) -> bool {
        item.entries().iter().any(|line| self.fits(line, at))
    }

    /// Decides by the nearest place, in the template or in the output, where both fit again.
    fn realign(&self, items: &[Item]) -> Realign {
        let at = self.next;
        if items.get(1).is_some_and(|item| self.entry_fits(item, at + 1)) {
            return Realign::Replaced;
        }
        for ahead in 1..=LOOK_AHEAD {
            if items.get(ahead).is_some_and(|item| self.entry_fits(item, at)) {
                return Realign::Missing(ahead);
            }
            if self.entry_fits(&items[0], at + ahead) {
                return Realign::Extra(ahead);
            }
        }
        Realign::Replaced
    }

    /// Takes the next line of output as `line`, with a mismatch for all that is wrong with it.
    fn accept(&mut self, line: &Line) {
        let at = self.next;
        self.next += 1;
        self.compared += 1;
        let Some(text) = self.line(at) else { return };
        match line.read(text, self.fields, self.device.facts) {
            Ok(tokens) => self.enter(line, at, tokens),
            Err(fault) => self.fault(line, at, fault),
        }
    }

    fn enter(&mut self, line: &Line, at: usize, tokens: Vec<Token>) {
        self.resembles |= self.line(at).is_some_and(|text| !text.trim().is_empty());
        let faults = check(&tokens, self.fields, self.device, &mut self.values);
        let holds = faults.iter().all(|fault| fault.reason == Reason::Bounds);
        let is_open = |id: FieldId| self.device.leaves_open(&self.fields[id]);
        self.partly += u32::from(holds && line.fields().any(is_open));
        for fault in faults {
            self.fault(line, at, fault);
        }
        for Token { field, text, value, .. } in tokens {
            self.lists[field].push(Reading { text, value });
        }
    }

    fn repeat(&mut self, range: (&Expr, &Expr), lines: &[Line], number: u32, after: &[Item]) {
        let Some((low, high)) = self.range(range, number) else {
            // How often it repeats is unknown: pass all that looks like it.
            while lines.iter().any(|line| self.fits(line, self.next)) {
                self.next += 1;
            }
            return;
        };
        let mut rounds = 0;
        while rounds < high && !self.is_full() && self.goes_on(lines, rounds < low, after) {
            self.forget(lines);
            self.round(lines, after);
            rounds += 1;
        }
        if rounds < low && !self.is_full() {
            let found = plural(rounds, "time");
            let first = lines.first().map(ToString::to_string).unwrap_or_default();
            let expected = format!("`{first}` and what belongs to it {}", plural(low, "time"));
            let detail = format!("the block of line {number} came {found}");
            self.report(self.next, Some(number), Reason::TooFewLines, &expected, detail);
        }
        self.forget(lines);
    }

    /// How often a block repeats; `None` with a mismatch, or where a field that it needs has one.
    fn range(&mut self, (low, high): (&Expr, &Expr), number: u32) -> Option<(u32, u32)> {
        let scope = Scope { device: Some(self.device), values: &self.values };
        let value = |count: &Expr| Ok(count.value(scope)?.mantissa());
        let counts = value(low).and_then(|low| Ok((low, value(high)?)));
        let detail = match counts {
            Ok((low, high)) if (0..=high).contains(&low) && high <= i128::from(MAX_REPEAT) => {
                return Some((low as u32, high as u32));
            }
            Ok((low, high)) if low == high => format!("the block repeats {low} times"),
            Ok((low, high)) => format!("the block repeats from {low} to {high} times"),
            Err(EvalError::Unread) => return None,
            Err(error) => format!("how often the block repeats has no value: {error}"),
        };
        let expected = format!("a count from 0 to {MAX_REPEAT}");
        self.report(self.next, Some(number), Reason::Expression, &expected, detail);
        None
    }

    /// Whether another round of a block begins at the next line of output.
    fn goes_on(&self, lines: &[Line], is_due: bool, after: &[Item]) -> bool {
        let Some(first) = lines.first().filter(|_| self.next < self.output.lines.len()) else {
            return false;
        };
        if self.fits(first, self.next) {
            return true;
        }
        let leaves = after.first().is_some_and(|item| self.entry_fits(item, self.next));
        let resembles = self.line(self.next).is_some_and(|text| first.resembles(text));
        !leaves && (is_due || resembles)
    }

    fn round(&mut self, lines: &[Line], after: &[Item]) {
        for (index, line) in lines.iter().enumerate() {
            if self.next == self.output.lines.len() {
                let expected = format!("`{line}`");
                let detail = "the output ends inside a block".to_owned();
                let number = Some(line.number);
                self.report(self.next, number, Reason::TooFewLines, &expected, detail);
                return;
            }
            let follows = |at| match lines.get(index + 1) {
                Some(next) => self.fits(next, at),
                None => {
                    self.fits(&lines[0], at)
                        || after.first().is_some_and(|item| self.entry_fits(item, at))
                }
            };
            if self.fits(line, self.next) || follows(self.next + 1) {
                self.accept(line);
            } else if follows(self.next) {
                self.missing_line(line);
            } else {
                if self.fits(line, self.next + 1) {
                    self.extra(1);
                }
                self.accept(line);
            }
        }
    }

    /// Forgets the values of the last round, so that no later line is checked against them.
    fn forget(&mut self, lines: &[Line]) {
        for id in lines.iter().flat_map(Line::fields) {
            self.values[id] = None;
        }
    }

    fn unordered(&mut self, lines: &[Line], after: &[Item]) {
        let mut end = (self.next + lines.len()).min(self.output.lines.len());
        let found = self.next..end;
        let before = self.values.clone();
        let (fields, device) = (self.fields, self.device);
        let mut reads = |line: &Line, text: &str| {
            let tokens = line.read(text, fields, device.facts).ok()?;
            let faults = check(&tokens, fields, device, &mut self.values);
            for id in line.fields() {
                self.values[id] = before[id];
            }
            Some(faults.is_empty())
        };
        let texts = &self.output.lines[found.clone()];
        let paired = pair(lines.len(), texts.len(), &mut |line, text| {
            texts[text].and_then(|text| reads(&lines[line], text))
        });
        // Where a line of the block is missing, what follows the block is not taken for it.
        while end > found.start
            && !paired.contains(&Some(end - 1 - found.start))
            && after.first().is_some_and(|item| self.entry_fits(item, end - 1))
        {
            end -= 1;
        }
        let mut rest = (found.start..end).filter(|at| !paired.contains(&Some(at - found.start)));
        for (line, partner) in lines.iter().zip(&paired) {
            match partner {
                Some(text) => {
                    self.next = found.start + text;
                    self.accept(line);
                }
                None => {
                    let (at, reason) = match rest.next() {
                        Some(at) => (at, Reason::Text),
                        None => (end, Reason::TooFewLines),
                    };
                    let expected = format!("`{line}`, in any order with its block");
                    let detail = "no line of the block is this one".to_owned();
                    self.report(at, Some(line.number), reason, &expected, detail);
                }
            }
        }
        self.next = end;
    }

    /// Whether an item is satisfied by no line at all.
    fn may_be_absent(&self, item: &Item) -> bool {
        let Item::Repeat { low, .. } = item else { return false };
        let scope = Scope { device: Some(self.device), values: &self.values };
        low.value(scope).is_ok_and(|low| low.mantissa() == 0)
    }

    fn too_few(&mut self, items: &[Item]) {
        let first = items.first().map(Item::first_line);
        let expected = first.map_or(String::new(), |line| format!("`{line}`"));
        let detail = match items.len() - 1 {
            0 => "the output ends before this line".to_owned(),
            more => format!("the output ends before this line and {more} more lines or blocks"),
        };
        let number = first.map(|line| line.number);
        self.report(self.output.lines.len(), number, Reason::TooFewLines, &expected, detail);
    }

    fn missing(&mut self, item: &Item) {
        if self.may_be_absent(item) {
            return;
        }
        self.missing_line(item.first_line());
    }

    fn missing_line(&mut self, line: &Line) {
        let expected = format!("`{line}`");
        let detail = "the line is missing: what follows it comes here".to_owned();
        self.report(self.next, Some(line.number), Reason::TooFewLines, &expected, detail);
    }

    fn extra(&mut self, count: usize) {
        let detail = format!("{} too many", plural(count as u32, "line"));
        self.report(self.next, None, Reason::TooManyLines, "what the template says next", detail);
        self.next += count;
    }

    fn fault(&mut self, line: &Line, at: usize, fault: LineFault) {
        let expected = format!("`{line}`");
        self.report(at, Some(line.number), fault.reason, &expected, fault.detail);
    }

    fn report(
        &mut self,
        at: usize,
        template_line: Option<u32>,
        reason: Reason,
        expected: &str,
        detail: String,
    ) {
        let found = match self.output.lines.get(at) {
            Some(Some(text)) => quote(text.as_bytes()),
            Some(None) => "a line that cannot be read".to_owned(),
            None => "the end of the output".to_owned(),
        };
        let (line, expected) = (at as u32 + 1, expected.to_owned());
        self.mismatches.push(Mismatch { line, template_line, reason, expected, found, detail });
    }

    fn is_full(&self) -> bool {
        self.mismatches.len() >= MAX_MISMATCHES
    }

    /// What is left of the output, and that something of it was compared.
    fn check_end(&mut self) {
        let left = self.output.lines.len() - self.next.min(self.output.lines.len());
        if left > 0 && !self.is_full() {
            let detail = format!("{} too many", plural(left as u32, "line"));
            self.report(self.next, None, Reason::TooManyLines, "the end of the output", detail);
        }
        if self.mismatches.is_empty() && self.compared == 0 {
            let detail = "zero assertions: no line was compared".to_owned();
            self.report(0, None, Reason::Empty, "a line that is compared", detail);
        }
        self.mismatches.truncate(MAX_MISMATCHES);
        self.mismatches.sort_by_key(|mismatch| mismatch.line);
    }

    /// The readings of the numeric fields, in the template's order.
    fn take_readings(&mut self) -> Vec<Readings> {
        let numeric = |id: &FieldId| self.fields[*id].decimals().is_some();
        let ids: Vec<FieldId> = (0..self.fields.len()).filter(numeric).collect();
        let readings = ids.into_iter().map(|id| Readings {
            field: self.fields[id].clone(),
            list: std::mem::take(&mut self.lists[id]),
        });
        readings.collect()
    }

    fn finish(mut self, template: &Template) -> Result<Matched, Vec<Mismatch>> {
        self.check_end();
        if !self.mismatches.is_empty() {
            return Err(self.mismatches);
        }
        let readings = self.take_readings();
        debug_assert!(
            readings.iter().all(|of| of.field.repeated || of.list.len() == 1),
            "a line that was not compared passes"
        );
        Ok(Matched {
            readings,
            device: self.device.facts.clone(),
            template: template.digest,
            lines: self.compared,
        })
    }
}
