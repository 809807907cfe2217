//! The grammar of markers: HTML comments that mean something on a page.

/// What may stand in a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RegionKind {
    /// From reviewed records only.
    Record,
    /// From a run on the emulated device.
    Emulated,
    /// A region of a program.
    Snippet,
}

impl RegionKind {
    /// Every kind.
    pub const ALL: [RegionKind; 3] =
        [RegionKind::Record, RegionKind::Emulated, RegionKind::Snippet];

    /// As it is written in markers.
    pub fn as_str(self) -> &'static str {
        match self {
            RegionKind::Record => "record",
            RegionKind::Emulated => "emulated",
            RegionKind::Snippet => "snippet",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }
}

/// `MODEL/VARIANT`: which evidence something is about.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Target {
    /// The slug of a device's name, `h200`.
    pub model: String,
    /// The name of a build variant, `sm_80`.
    pub variant: String,
}

/// The comparison of an assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldsOp {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// The right side of an assertion.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HoldsTerm {
    /// A decimal number as written: `-?\d+(\.\d+)?`, at most 40 bytes.
    Number(String),
    /// A field of the output template.
    Field(String),
}

/// The text of a comment that is a marker or is meant as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Marker {
    Start {
        kind: RegionKind,
        name: String,
        program: Option<String>,
        target: Option<Target>,
    },
    End(RegionKind),
    Holds {
        left: String,
        op: HoldsOp,
        right: HoldsTerm,
        target: Option<Target>,
    },
    /// A known word with a fault: the cause.
    Faulty(String),
    /// An unknown word near this known one.
    Misspelt(&'static str),
}

/// Reads a whole comment, from `<!--` to `-->`; `None` where it is no marker and not meant as one.
pub(super) fn parse(comment: &str) -> Option<Marker> {
    let inner = comment.strip_prefix("<!--")?.strip_suffix("-->")?;
    let content = inner.trim();
    let exact = inner.strip_prefix(' ').and_then(|s| s.strip_suffix(' ')) == Some(content);
    let mut marker = match content.split_once(char::is_whitespace) {
        Some((end, kind)) if end.eq_ignore_ascii_case("end") => end_marker(kind.trim())?,
        _ => {
            let (word, rest) = content.split_once(':')?;
            start_marker(word.trim(), rest)?
        }
    };
    if matches!(marker, Marker::End(kind) if content != format!("end {}", kind.as_str())) {
        marker = Marker::Faulty("`end` and the kind stand apart by one blank".to_owned());
    }
    if !exact && !matches!(marker, Marker::Faulty(_) | Marker::Misspelt(_)) {
        marker = Marker::Faulty("one blank stands after `<!--` and before `-->`".to_owned());
    }
    Some(marker)
}

fn end_marker(word: &str) -> Option<Marker> {
    if let Some(kind) = RegionKind::of(word) {
        return Some(Marker::End(kind));
    }
    let near = near_word(word)?;
    Some(match word.eq_ignore_ascii_case(near) {
        true => Marker::Faulty(format!("there is no end marker `end {word}`")),
        false => Marker::Misspelt(near),
    })
}

fn start_marker(word: &str, rest: &str) -> Option<Marker> {
    let words = || -> Result<Vec<&str>, String> {
        let rest = rest.strip_prefix(' ').ok_or("one blank stands after the colon")?;
        let words: Vec<_> = rest.trim_end().split(' ').collect();
        match words.iter().any(|word| word.is_empty() || word.contains(char::is_whitespace)) {
            true => Err("its words stand apart by one blank each".to_owned()),
            false => Ok(words),
        }
    };
    let parsed = match (RegionKind::of(word), word) {
        (Some(kind), _) => words().and_then(|words| region(kind, &words)),
        (None, "holds") => words().and_then(|words| holds(&words)),
        (None, _) => {
            let near = near_word(word)?;
            if !word.eq_ignore_ascii_case(near) {
                return Some(Marker::Misspelt(near));
            }
            Err(format!("`{near}` is written in lower case"))
        }
    };
    Some(parsed.unwrap_or_else(Marker::Faulty))
}

fn region(kind: RegionKind, words: &[&str]) -> Result<Marker, String> {
    let (words, target) = target(words)?;
    let (name, program) = match words {
        [name] => (*name, None),
        [name, program] => (*name, Some(*program)),
        _ => return Err("a name and at most a program's name are expected".to_owned()),
    };
    let is_part = matches!(name, "state" | "output" | "spread");
    if kind == RegionKind::Record && !is_part {
        return Err(format!("a record has `state`, `output` and `spread`, not `{}`", clip(name)));
    }
    let is_slug = |c: char| matches!(c, 'a'..='z' | '0'..='9' | '_' | '-');
    if name.len() > 64 || !name.chars().all(is_slug) {
        return Err(format!("`{}` is no name: `[a-z0-9_-]+` expected", clip(name)));
    }
    if let Some(program) = program.filter(|program| !is_word(program)) {
        return Err(format!("`{}` is no program's name", clip(program)));
    }
    if kind != RegionKind::Record && target.is_some() {
        return Err("only records are `on` a device".to_owned());
    }
    if kind == RegionKind::Snippet && program.is_some() {
        return Err("a snippet is found by its name alone".to_owned());
    }
    let (name, program) = (name.to_owned(), program.map(str::to_owned));
    Ok(Marker::Start { kind, name, program, target })
}

fn holds(words: &[&str]) -> Result<Marker, String> {
    let (words, target) = target(words)?;
    let &[left, op, right] = words else {
        return Err("a field, a comparison and a value are expected".to_owned());
    };
    let op = match op {
        "<" => HoldsOp::Less,
        "<=" => HoldsOp::LessOrEqual,
        ">" => HoldsOp::Greater,
        ">=" => HoldsOp::GreaterOrEqual,
        _ => return Err(format!("`{}` is none of `<` `<=` `>` `>=`", clip(op))),
    };
    if !is_field(left) {
        return Err(format!("`{}` is no field's name", clip(left)));
    }
    let right = match (is_number(right), is_field(right)) {
        (true, _) => HoldsTerm::Number(right.to_owned()),
        (_, true) => HoldsTerm::Field(right.to_owned()),
        _ => return Err(format!("`{}` is neither a number nor a field's name", clip(right))),
    };
    Ok(Marker::Holds { left: left.to_owned(), op, right, target })
}

/// Splits `… on MODEL/VARIANT` off.
fn target<'a, 'b>(words: &'b [&'a str]) -> Result<(&'b [&'a str], Option<Target>), String> {
    let [before @ .., "on", place] = words else { return Ok((words, None)) };
    let parts = place.split_once('/').filter(|(model, variant)| is_word(model) && is_word(variant));
    let Some((model, variant)) = parts else {
        return Err(format!("`{}` is not MODEL/VARIANT", clip(place)));
    };
    let target = Target { model: model.to_owned(), variant: variant.to_owned() };
    Ok((before, Some(target)))
}

fn is_word(text: &str) -> bool {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (1..=64).contains(&text.len()) && text.chars().all(allowed)
}

fn is_field(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let magnitude = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = magnitude.split_once('.').unwrap_or((magnitude, "0"));
    text.len() <= 40 && digits(whole) && digits(fraction)
}

fn clip(text: &str) -> String {
    text.chars().take(40).collect()
}

/// The known word that this one is, or is nearest to: at most two edits, case aside.
fn near_word(word: &str) -> Option<&'static str> {
    let word = word.to_ascii_lowercase();
    let known = ["record", "emulated", "snippet", "holds"];
    let near = known.map(|known| (edits(&word, known), known)).into_iter().min()?;
    (near.0 <= 2).then_some(near.1)
}

/// The Levenshtein distance, where it is small; otherwise some number above 2.
fn edits(word: &str, known: &str) -> usize {
    let word: Vec<char> = word.chars().take(known.len() + 3).collect();
    let mut row: Vec<usize> = (0..=word.len()).collect();
    for (above, expected) in known.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (at, found) in word.iter().enumerate() {
            let replaced = diagonal + usize::from(*found != expected);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(diagonal + 1).min(row[at] + 1);
        }
    }
    row[word.len()]
}
