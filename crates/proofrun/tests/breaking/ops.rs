//! The ways to break bytes and values.

use toml::Value;

/// A way to break the bytes of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ByteOp {
    FlipFirst,
    FlipMiddle,
    FlipLast,
    FlipDigit,
    Truncate,
    Halve,
    Empty,
    Grow,
    Duplicate,
    Reorder,
}

impl ByteOp {
    pub const ALL: [Self; 10] = [
        Self::FlipFirst,
        Self::FlipMiddle,
        Self::FlipLast,
        Self::FlipDigit,
        Self::Truncate,
        Self::Halve,
        Self::Empty,
        Self::Grow,
        Self::Duplicate,
        Self::Reorder,
    ];

    /// The broken bytes; `None` where there is nothing to break.
    pub fn apply(self, bytes: &[u8]) -> Option<Vec<u8>> {
        let flip = |at: Option<usize>| {
            let mut changed = bytes.to_vec();
            *changed.get_mut(at?)? ^= 1;
            Some(changed)
        };
        match self {
            Self::FlipFirst => flip(Some(0)),
            Self::FlipMiddle => flip(Some(bytes.len() / 2)),
            Self::FlipLast => flip(bytes.len().checked_sub(1)),
            Self::FlipDigit => flip(bytes.iter().position(u8::is_ascii_digit)),
            Self::Truncate => Some(bytes.split_last()?.1.to_vec()),
            Self::Halve => Some(bytes[..bytes.len() / 2].to_vec()),
            Self::Empty => Some(Vec::new()),
            Self::Grow => Some([bytes, b"\n"].concat()),
            Self::Duplicate => Some([bytes, bytes].concat()),
            Self::Reorder => {
                let mut lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
                lines.reverse();
                Some(lines.concat())
            }
        }
    }
}

/// A way to break a line of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineOp {
    /// Its first letter or digit is another one.
    Flip,
    /// Gone.
    Drop,
    /// Blank.
    Empty,
    /// Its first half.
    Truncate,
    /// Twice.
    Duplicate,
    /// Behind the next line.
    Reorder,
}

impl LineOp {
    pub const ALL: [Self; 6] =
        [Self::Flip, Self::Drop, Self::Empty, Self::Truncate, Self::Duplicate, Self::Reorder];

    /// The text with this line broken; `None` where there is nothing to break.
    pub fn apply(self, text: &str, at: usize) -> Option<String> {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let line = lines.get(at)?.clone();
        match self {
            Self::Flip => {
                let letter = line.find(|c: char| c.is_ascii_alphanumeric())?;
                let other = char::from(line.as_bytes()[letter] ^ 1);
                lines[at] = format!("{}{other}{}", &line[..letter], &line[letter + 1..]);
            }
            Self::Drop => drop(lines.remove(at)),
            Self::Empty => lines[at].clear(),
            Self::Truncate => lines[at].truncate(line.len() / 2),
            Self::Duplicate => lines.insert(at, line),
            Self::Reorder if at + 1 < lines.len() => lines.swap(at, at + 1),
            Self::Reorder => return None,
        }
        Some(lines.join("\n") + "\n").filter(|changed| changed != text)
    }
}

/// A way to break a value of a TOML file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// Another value of the same kind and, for texts, the same length.
    Flip,
    /// Gone.
    Drop,
    /// The nothing of its kind: no text, zero, no elements.
    Empty,
    /// Half of a text.
    Truncate,
    /// A value of another kind.
    Retype,
    /// The other lesson's.
    Swap,
    /// A list with its first element twice.
    Duplicate,
    /// A list backwards.
    Reorder,
    /// A table with a key more.
    Unknown,
}

impl Op {
    pub const ALL: [Self; 9] = [
        Self::Flip,
        Self::Drop,
        Self::Empty,
        Self::Truncate,
        Self::Retype,
        Self::Swap,
        Self::Duplicate,
        Self::Reorder,
        Self::Unknown,
    ];

    /// The broken value; `None` where the operation does not apply to such a value. [`Op::Drop`] is
    /// the tree's.
    pub fn apply(self, value: &Value, other: Option<&Value>) -> Option<Value> {
        Some(match (self, value) {
            (Self::Flip, Value::String(text)) => flip_text(text)?.into(),
            (Self::Flip, Value::Integer(number)) => (number + 1).into(),
            (Self::Flip, Value::Boolean(truth)) => (!truth).into(),
            (Self::Empty, Value::String(_)) => "".into(),
            (Self::Empty, Value::Integer(_)) => 0.into(),
            (Self::Empty, Value::Boolean(_)) => false.into(),
            (Self::Empty, Value::Array(_)) => Value::Array(Vec::new()),
            (Self::Truncate, Value::String(text)) => text[..text.len() / 2].into(),
            (Self::Retype, Value::String(_)) => 7.into(),
            (Self::Retype, _) => "seven".into(),
            (Self::Swap, _) => other?.clone(),
            (Self::Duplicate, Value::Array(all)) => {
                let mut all = all.clone();
                all.push(all.first()?.clone());
                Value::Array(all)
            }
            (Self::Reorder, Value::Array(all)) => {
                let mut all = all.clone();
                all.reverse();
                Value::Array(all)
            }
            (Self::Unknown, Value::Table(table)) => {
                let mut table = table.clone();
                table.insert("unknown".into(), "x".into());
                Value::Table(table)
            }
            _ => return None,
        })
    }
}

/// The text with its last digit another digit, or else its last character another letter.
fn flip_text(text: &str) -> Option<String> {
    let digit = text.rfind(|c: char| c.is_ascii_digit());
    let at = digit.or_else(|| text.rfind(|c: char| c.is_ascii_alphanumeric()))?;
    let other = char::from(text.as_bytes()[at] ^ 1);
    Some(format!("{}{other}{}", &text[..at], &text[at + 1..]))
}

/// A step from a value to one within it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    Key(String),
    Index(usize),
}

/// A way from the root of a tree to a value.
pub type Way = Vec<Step>;

/// The ways to every value of a tree, the root first; of a list's elements, which are alike, to the
/// first and the last.
pub fn ways(root: &Value) -> Vec<Way> {
    let mut found = Vec::new();
    let mut waiting = vec![(Way::new(), root)];
    while let Some((way, value)) = waiting.pop() {
        let further = |step: Step| way.iter().cloned().chain([step]).collect::<Way>();
        match value {
            Value::Table(table) => waiting
                .extend(table.iter().map(|(key, inner)| (further(Step::Key(key.clone())), inner))),
            Value::Array(all) => waiting.extend(
                all.iter()
                    .enumerate()
                    .filter(|(at, _)| *at == 0 || at + 1 == all.len())
                    .map(|(at, inner)| (further(Step::Index(at)), inner)),
            ),
            _ => {}
        }
        found.push(way);
    }
    found
}

/// `program[].run[].stdout`: what a way leads to, whichever of a list it takes.
pub fn pattern(way: &[Step]) -> String {
    let mut text = String::new();
    for step in way {
        match step {
            Step::Index(_) => text.push_str("[]"),
            Step::Key(key) if text.is_empty() => text.push_str(key),
            Step::Key(key) => text.extend([".", key]),
        }
    }
    text
}

/// The value that a way leads to.
pub fn get<'a>(root: &'a Value, way: &[Step]) -> Option<&'a Value> {
    way.iter().try_fold(root, |value, step| match step {
        Step::Key(key) => value.get(key),
        Step::Index(at) => value.get(at),
    })
}

/// The tree with one value broken.
pub fn broken(root: &Value, way: &[Step], op: Op, other: &Value) -> Option<Value> {
    let mut tree = root.clone();
    if op == Op::Drop {
        let (last, above) = way.split_last()?;
        match (slot(&mut tree, above)?, last) {
            (Value::Table(table), Step::Key(key)) => {
                table.remove(key)?;
            }
            (Value::Array(all), Step::Index(at)) => {
                all.remove(*at);
            }
            _ => return None,
        }
        return Some(tree);
    }
    let value = slot(&mut tree, way)?;
    *value = op.apply(value, get(other, way))?;
    (tree != *root).then_some(tree)
}

fn slot<'a>(root: &'a mut Value, way: &[Step]) -> Option<&'a mut Value> {
    way.iter().try_fold(root, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(at) => value.get_mut(at),
    })
}
