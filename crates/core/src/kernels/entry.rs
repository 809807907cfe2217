//! Finding a kernel by the name that its source gives it: compilers mangle names, C linkage keeps
//! them.

/// Why a kernel was not found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoEntry {
    /// No entry of this name.
    #[error("no kernel `{name}`: the code has {held}")]
    Absent {
        /// The name looked for.
        name: String,
        /// The entries there are, for people.
        held: String,
    },
    /// Several entries fit, such as instances of a template.
    #[error("several kernels `{name}`: {held}; give the mangled name")]
    Ambiguous {
        /// The name looked for.
        name: String,
        /// The entries that fit, for people.
        held: String,
    },
}

/// The entry of PTX text that is, or as C++ mangles it holds, this name.
///
/// # Errors
/// If none fits or several do.
pub fn entry_name<'a>(ptx: &'a str, name: &str) -> Result<&'a str, NoEntry> {
    choose_entry(&entries_of_ptx(ptx), name)
}

/// The entry among these names that is this name; failing that, the one whose mangled form holds
/// it.
///
/// An Itanium-mangled name holds each identifier after its length, so that `19pipelineSyncthreads`
/// is found and a longer name that merely contains it is not.
///
/// # Errors
/// If none fits or several do.
pub fn choose_entry<'a>(entries: &[&'a str], name: &str) -> Result<&'a str, NoEntry> {
    if let Some(exact) = entries.iter().find(|entry| **entry == name) {
        return Ok(exact);
    }
    let fitting: Vec<&str> =
        entries.iter().copied().filter(|entry| mangled_holds(entry, name)).collect();
    match fitting.as_slice() {
        [one] => Ok(one),
        [] => Err(NoEntry::Absent { name: name.to_owned(), held: list(entries) }),
        several => Err(NoEntry::Ambiguous { name: name.to_owned(), held: list(several) }),
    }
}

fn mangled_holds(entry: &str, name: &str) -> bool {
    let counted = format!("{}{name}", name.len());
    let is_start = |at: usize| !entry[..at].ends_with(|c: char| c.is_ascii_digit());
    entry.starts_with("_Z")
        && !name.is_empty()
        && entry.match_indices(&counted).any(|(at, _)| is_start(at))
}

fn list(entries: &[&str]) -> String {
    const SHOWN: usize = 8;
    let mut text =
        entries.iter().take(SHOWN).map(|e| format!("`{e}`")).collect::<Vec<_>>().join(", ");
    match entries.len() {
        0 => "no kernel".clone_into(&mut text),
        len if len > SHOWN => text.push_str(&format!(" and {} more", len - SHOWN)),
        _ => {}
    }
    text
}

/// The names of all `.entry` functions of PTX text, in order, each once (a declaration may precede
/// its definition).
pub fn entries_of_ptx(ptx: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let mut in_comment = false;
    for line in ptx.lines() {
        for code in code_of(line, &mut in_comment) {
            let mut words = code.split(|c: char| c.is_whitespace() || c == '(');
            while let Some(word) = words.next() {
                if word != ".entry" {
                    continue;
                }
                let next = words.find(|word| !word.is_empty());
                if let Some(name) = next.filter(|name| !names.contains(name)) {
                    names.push(name);
                }
            }
        }
    }
    names
}

/// The parts of a line outside comments.
fn code_of<'a>(mut line: &'a str, in_comment: &mut bool) -> Vec<&'a str> {
    let mut parts = Vec::new();
    loop {
        if *in_comment {
            let Some(end) = line.find("*/") else { return parts };
            line = &line[end + 2..];
            *in_comment = false;
        }
        match (line.find("//"), line.find("/*")) {
            (Some(end), open) if open.is_none_or(|open| end < open) => {
                parts.push(&line[..end]);
                return parts;
            }
            (_, Some(open)) => {
                parts.push(&line[..open]);
                line = &line[open + 2..];
                *in_comment = true;
            }
            _ => {
                parts.push(line);
                return parts;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PTX: &str = "\
.version 9.0
.target sm_80
// .visible .entry commented(
/* .visible .entry also_commented(
*/ .visible .entry _Z19pipelineSyncthreadsPKfPfm(
	.param .u64 .ptr .align 1 a
)
{ // .entry
}
	// .globl	_Z20pipelineSplitBarrierPKfPfm
.visible .entry _Z20pipelineSplitBarrierPKfPfm
(
)
.entry plain(.param .u64 x) {}
.visible .func helper() {}
.entry _Z1tILi1EEvv() {}
.entry _Z1tILi2EEvv() {}
.entry _Z26myPipelineSyncthreadsThingv() {}
.entry _ZN5space4deepEPf() {}
.entry plain(.param .u64 x) {}
";

    #[test]
    fn entries_are_found_outside_comments() {
        let expect = [
            "_Z19pipelineSyncthreadsPKfPfm",
            "_Z20pipelineSplitBarrierPKfPfm",
            "plain",
            "_Z1tILi1EEvv",
            "_Z1tILi2EEvv",
            "_Z26myPipelineSyncthreadsThingv",
            "_ZN5space4deepEPf",
        ];
        assert_eq!(entries_of_ptx(PTX), expect);
    }

    #[test]
    fn a_name_finds_its_entry_exactly_or_mangled() {
        for (name, expect) in [
            ("pipelineSyncthreads", "_Z19pipelineSyncthreadsPKfPfm"),
            ("pipelineSplitBarrier", "_Z20pipelineSplitBarrierPKfPfm"),
            ("_Z1tILi2EEvv", "_Z1tILi2EEvv"),
            ("plain", "plain"),
            ("deep", "_ZN5space4deepEPf"),
        ] {
            assert_eq!(entry_name(PTX, name), Ok(expect));
        }
    }

    #[test]
    fn a_part_of_a_name_or_several_instances_find_nothing() {
        for name in ["pipeline", "pipelineSync", "helper", "commented", "also_commented", "", "e"] {
            assert!(matches!(entry_name(PTX, name), Err(NoEntry::Absent { .. })), "{name}");
        }
        let error = entry_name(PTX, "t").unwrap_err();
        assert_eq!(
            error.to_string(),
            "several kernels `t`: `_Z1tILi1EEvv`, `_Z1tILi2EEvv`; give the mangled name"
        );
        let error = entry_name("", "k").unwrap_err().to_string();
        assert_eq!(error, "no kernel `k`: the code has no kernel");
        assert!(choose_entry(&["_Z119pipeline"], "pipeline").is_err());
    }

    proptest! {
        #[test]
        fn no_text_panics(text in r"(\PC|[/*.(\n]|\.entry ){0,60}", name in r"\PC{0,8}") {
            let _ = entry_name(&text, &name);
        }
    }
}
