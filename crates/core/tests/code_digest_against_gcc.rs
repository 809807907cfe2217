//! One code digest, one stream of tokens: `code_digest` against g++'s preprocessor.
//!
//! Sources are made of tricky pieces and edited at random in ways that may or may not change their
//! code. Wherever two of them have one digest, g++ must see the same tokens in both. The tokens are
//! cut out of `g++ -E -P` here, from the standard's list of operators, not by the crate's lexer:
//! that output holds neither comments nor splices.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, Stdio};

use proofrun_core::Digest;
use proofrun_core::source::code_digest;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

const FAMILIES: u64 = 60;
const EDITS: usize = 12;

#[test]
fn sources_of_one_digest_have_the_same_tokens() {
    let (mut equal, mut different) = (0, 0);
    for seed in 0..FAMILIES {
        let mut rng = StdRng::seed_from_u64(seed);
        let original = generate(&mut rng);
        let mut source = original.clone();
        let mut tokens: BTreeMap<Digest, (String, Preprocessed)> = BTreeMap::new();
        for _ in 0..EDITS {
            let seen = preprocess(&source);
            match tokens.get(&code_digest(&source)) {
                Some((other, expect)) => {
                    assert_eq!(&seen, expect, "seed {seed}:\n{other}\n--- and ---\n{source}");
                    equal += usize::from(*other != source && expect.0);
                }
                None => {
                    different += 1;
                    tokens.insert(code_digest(&source), (source.clone(), seen));
                }
            }
            // Edits of edits soon fail to preprocess, so most start from the sound source.
            let from = if rng.random_bool(0.7) { &original } else { &source };
            source = edit(from, &mut rng);
        }
    }
    // The test would prove nothing if no two sound sources had one digest, or all of them.
    assert!(equal > 100 && different > 100, "{equal} equal, {different} different");
}

#[test]
fn formatting_alone_keeps_the_digest() {
    for seed in 0..FAMILIES {
        let mut rng = StdRng::seed_from_u64(1000 + seed);
        let source = generate(&mut rng);
        let formatted = reformat(&source, &mut rng);
        if code_digest(&source) != code_digest(&formatted) {
            panic!("seed {seed}:\n{source}\n--- and ---\n{formatted}");
        }
        assert_eq!(preprocess(&source), preprocess(&formatted), "seed {seed}:\n{source}");
    }
}

/// Pieces that stand on lines of their own; `~` is a place where any formatting may go, `_` where a
/// blank must stay. No piece turns code into text with `#`: what becomes of blanks there is
/// documented to differ.
const PIECES: &[&str] = &[
    "#~define_A_(~1~)",
    "#~define_F(x)~x~+~+~x",
    "#~define_G(~x~)_~x~##~1",
    "#~define_E",
    "#~if_A~<~2~",
    "#~else",
    "#~endif",
    "#~undef_A",
    "#~pragma_unroll_4",
    "#~",
    "%:~define_B_2",
    "int_a~=~1'000~+~0x1e+5~;",
    "int_b~=~a~+~+~a~-~-~a~;",
    "F~(~A~)~;~G~(~c~)",
    "k~<<<~1~,~2~>>>~(~)~;",
    "X~<~Y~<~int~> >~z~;",
    "X~<~::Y~>~w~;",
    "s~=~\"a // b\"~\"/* c\"~;",
    "s~=~R\"x(// a\n#define A 3\n )y\" )x\"~;",
    "c~=~'\"'~+~'\\''~;",
    "u8\"a\"_k~L'x'_m",
    "E~A~B",
    "p~->*~q~.*~r~...~v",
    "x~?~y~:~z~,~a~<=~b~>=~c~==~d~!=~e",
    "é~=~$d~;",
];

fn generate(rng: &mut StdRng) -> String {
    let mut lines = Vec::new();
    let mut open = 0;
    for _ in 0..rng.random_range(3..12) {
        let piece = *PIECES.choose(rng).expect("there are pieces");
        // Conditionals are kept in balance, so that most sources are sound.
        match piece {
            "#~if_A~<~2~" => open += 1,
            "#~endif" | "#~else" if open == 0 => continue,
            "#~endif" => open -= 1,
            _ => {}
        }
        lines.push(piece);
    }
    lines.extend(std::iter::repeat_n("#~endif", open));
    let source = lines.join("\n") + "\n";
    source.replace('_', " ").replace('~', if rng.random() { " " } else { "" })
}

/// Edits anywhere, most of which may change the code.
fn edit(source: &str, rng: &mut StdRng) -> String {
    let mut edited = source.to_owned();
    let boundaries: Vec<usize> = source.char_indices().map(|(at, _)| at).collect();
    let Some(at) = boundaries.choose(rng).copied() else { return " ".to_owned() };
    let insertions = [
        " ",
        "\n",
        "/**/",
        "/* a\n*/",
        "// c\n",
        "// c\\\nd\n",
        "\\\n",
        "\\\r\n",
        "\t",
        "\r\n",
        "/",
        "*",
        "\"",
        "'",
        "\\",
        "#",
        "<",
        "(",
        "1",
        "R",
        "// ??/\n",
        "\\ \n",
        "+",
        "/* * / ' \" */",
        "\x0c",
    ];
    match rng.random_range(0..10) {
        0..7 => {
            // Mostly where a blank or a line end is: that is where formatting happens.
            let blank = source[at..].find([' ', '\n']).map_or(at, |length| at + length);
            let at = if rng.random_bool(0.6) { blank } else { at };
            edited.insert_str(at, insertions.choose(rng).expect("there are insertions"));
        }
        7..9 => {
            if let Some(length) = source[at..].find([' ', '\n', '\\', '\t']) {
                edited.remove(at + length);
            }
        }
        _ => drop(edited.remove(at)),
    }
    edited
}

/// Formatting where the standard allows it: instead of blanks outside literals and directives'
/// starts.
fn reformat(source: &str, rng: &mut StdRng) -> String {
    let (mut out, mut quoted) = (String::new(), false);
    for line in source.split_inclusive('\n') {
        let raw = line.contains("R\"") || line.contains(")x\"") || line.contains("#define A 3");
        let directive = line.starts_with(['#', '%']);
        for c in line.chars() {
            quoted ^= c == '"' && !line.contains("'\"'");
            let blanks: &[&str] = match c {
                ' ' if raw || quoted || line.contains('\'') => &[" "],
                ' ' if directive => &["  ", "\t", "/* c */", " \\\n ", "/*\n*/", " "],
                ' ' => &["\n", "  ", "/**/", "// c\n", "// \" \\\n ' c\n", "\r\n", " \\\n", " "],
                '\n' if raw => &["\n"],
                '\n' => &["\n", "\n\n", " // ' c\n", "\r\n", "/* \n */\n", "\n\t"],
                _ => {
                    out.push(c);
                    continue;
                }
            };
            out.push_str(blanks.choose(rng).expect("there is a choice"));
        }
        quoted = false;
    }
    out
}

/// Whether g++ was content, and the tokens it saw.
type Preprocessed = (bool, Vec<String>);

fn preprocess(source: &str) -> Preprocessed {
    let mut child = Command::new("g++")
        .args(["-E", "-P", "-w", "-std=c++17", "-x", "c++", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("g++ is needed to test against");
    child.stdin.take().expect("it is piped").write_all(source.as_bytes()).expect("g++ reads");
    let output = child.wait_with_output().expect("g++ ends");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let tokens = if output.status.success() { tokens(&text) } else { Vec::new() };
    (output.status.success(), tokens)
}

/// The tokens of a text without comments and splices.
fn tokens(text: &str) -> Vec<String> {
    const OPERATORS: &[&str] = &[
        "%:%:", "<<<", ">>>", "...", "->*", "<<=", ">>=", "::", ".*", "->", "++", "--", "+=", "-=",
        "*=", "/=", "%=", "^=", "&=", "|=", "!=", "==", "<=", ">=", "&&", "||", "##", "<<", ">>",
        "%:", "<%", "%>",
    ];
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
        let length = if let Some(raw) = rest.strip_prefix("R\"x(") {
            raw.find(")x\"").map_or(rest.len(), |length| length + 7)
        } else if first == '"' || first == '\'' {
            quoted_length(rest, first)
        } else if first.is_ascii_digit() {
            let mut before = ' ';
            rest.find(|c: char| {
                let sign = matches!(c, '+' | '-') && matches!(before, 'e' | 'E' | 'p' | 'P');
                before = c;
                !(word(c) || sign || matches!(c, '.' | '\''))
            })
            .unwrap_or(rest.len())
        } else if word(first) {
            rest.find(|c: char| !word(c)).unwrap_or(rest.len())
        } else {
            let operator = OPERATORS.iter().find(|operator| rest.starts_with(**operator));
            operator.map_or(first.len_utf8(), |operator| operator.len())
        };
        tokens.push(rest[..length].to_owned());
        rest = rest[length..].trim_start();
    }
    tokens
}

fn quoted_length(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}
