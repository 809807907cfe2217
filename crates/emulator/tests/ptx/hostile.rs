//! Texts that mean harm: whatever they are, parsing ends soon, and in a result.

use std::time::{Duration, Instant};

use proofrun_emulator::ptx::parse;
use proptest::prelude::*;

const SAMPLES: [&str; 2] =
    [include_str!("samples/reduce.ptx"), include_str!("samples/oddities.ptx")];

/// Pieces that grammars trip over.
const PIECES: [&str; 32] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    ";",
    ":",
    "@",
    "!",
    "|",
    "\"",
    "/*",
    "*/",
    "//",
    "\n",
    "\0",
    "-",
    "+",
    ".reg .b32 %z<1048576>;",
    "99999999999999999999999",
    "0x",
    ".align 0",
    "%",
    "_",
    "ä",
    "= {",
    ".loc 1 1 1, inlined_at 1 1 1",
    ".global .b8 z[1][65536] = {{},{1}};",
];

/// Far longer than any of these texts takes, with optimisation or without.
const LIMIT: Duration = Duration::from_secs(10);

fn ends_soon(text: &str) {
    let start = Instant::now();
    // Either result is fine; a panic isn't.
    drop(parse(text));
    assert!(start.elapsed() < LIMIT, "{} bytes took {:?}", text.len(), start.elapsed());
}

/// One change of a text.
#[derive(Debug, Clone)]
enum Change {
    Byte(usize, u8),
    Piece(usize, usize),
    Cut(usize, usize),
    Copy(usize, usize, usize),
    Truncate(usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = || 0..8192usize;
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Byte(at, byte)),
        (at(), 0..PIECES.len()).prop_map(|(at, piece)| Change::Piece(at, piece)),
        (at(), 0..256usize).prop_map(|(at, length)| Change::Cut(at, length)),
        (at(), at(), 0..256usize).prop_map(|(to, from, length)| Change::Copy(to, from, length)),
        at().prop_map(Change::Truncate),
    ]
}

fn apply(text: &mut Vec<u8>, change: &Change) {
    let within = |at: usize| at % (text.len() + 1);
    match *change {
        Change::Byte(at, byte) => {
            let at = within(at);
            if let Some(place) = text.get_mut(at) {
                *place = byte;
            }
        }
        Change::Piece(at, piece) => {
            let at = within(at);
            text.splice(at..at, PIECES[piece].bytes());
        }
        Change::Cut(at, length) => {
            let at = within(at);
            let end = (at + length).min(text.len());
            text.drain(at..end);
        }
        Change::Copy(to, from, length) => {
            let (to, from) = (within(to), within(from));
            let copied = text[from..(from + length).min(text.len())].to_vec();
            text.splice(to..to, copied);
        }
        Change::Truncate(at) => {
            let at = within(at);
            text.truncate(at);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn changed_samples(
        sample in 0..SAMPLES.len(),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let mut text = SAMPLES[sample].as_bytes().to_vec();
        for change in &changes {
            apply(&mut text, change);
        }
        ends_soon(&String::from_utf8_lossy(&text));
    }

    #[test]
    fn pieces_in_any_order(pieces in prop::collection::vec(0..PIECES.len(), 0..64)) {
        let pieces: String = pieces.into_iter().map(|piece| PIECES[piece]).collect();
        ends_soon(&format!(".version 9.0 {pieces}"));
        ends_soon(&format!(".version 9.0 .entry k() {{ .reg .b32 a; {pieces}"));
        ends_soon(&format!(".version 9.0 .entry k() {{ x {pieces}"));
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        ends_soon(&text);
    }
}

#[test]
fn every_beginning_of_a_sample() {
    for sample in SAMPLES {
        for (end, _) in sample.char_indices() {
            ends_soon(&sample[..end]);
        }
    }
}

#[test]
fn the_samples_are_right() {
    for sample in SAMPLES {
        parse(sample).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// Nesting of each kind, far deeper than a stack would allow.
#[test]
fn nesting_is_bounded() {
    const DEEP: usize = 200_000;
    let body = |inside: String| format!(".version 9.0 .entry k() {{ {inside}");
    let texts = [
        body("{".repeat(DEEP)),
        body("{".repeat(DEEP) + &"}".repeat(DEEP + 1)),
        body(format!("x {};", "{".repeat(DEEP))),
        body(format!("x {};", "[".repeat(DEEP))),
        body(format!("call {};", "(".repeat(DEEP))),
        body(format!("x {}1;", "(".repeat(DEEP))),
        body(format!("x {}1;", "-".repeat(DEEP))),
        body(format!("x {}1;", "1?".repeat(DEEP))),
        body(format!("x {}1;", "1||1&&1|1^1&1==1<1<<1+1*".repeat(DEEP / 20))),
        body(format!("x [a{}", "+-1".repeat(DEEP))),
        format!(".version 9.0 .global .b32 a{} = {};", "[1]".repeat(DEEP), "{".repeat(DEEP)),
        format!(".version 9.0 .global .b32 a[1] = {};", "0xFF(generic(".repeat(DEEP)),
    ];
    for text in &texts {
        ends_soon(text);
        assert!(parse(text).is_err());
    }
}

#[test]
fn chains_of_inlining_are_bounded() {
    let lines: String =
        (1..50_000).map(|n| format!(".loc 1 {} 1, inlined_at 1 {n} 1 x;\n", n + 1)).collect();
    let text = format!(".version 9.0 .entry k() {{ .loc 1 1 1 {lines} }}");
    ends_soon(&text);
    let module = parse(&text).unwrap();
    let code = &module.functions[0].body.as_ref().unwrap().code;
    let mut depth = 0;
    let mut place = code.last().and_then(|one| one.place.as_deref());
    while let Some(next) = place {
        depth += 1;
        place = next.inlined_at.as_deref();
    }
    assert!((1..=65).contains(&depth), "{depth}");
}

#[test]
fn a_few_bytes_cant_ask_for_much() {
    // A million registers that aren't used take nothing.
    let functions = ".func f() { .reg .v4 .b32 %r<262144>; x %r7.x; }".repeat(5000);
    let module = parse(&format!(".version 9.0 {functions}")).unwrap();
    let registers = |index: usize| module.functions[index].body.as_ref().unwrap().registers.len();
    assert_eq!((registers(0), registers(4999)), (4, 4));
    // Zeros that fill rows are counted over the whole module.
    let rows = ".global .b8 a[2][60000] = {{}, {1}};".repeat(2);
    let error = parse(&format!(".version 9.0 {rows}")).unwrap_err();
    assert_eq!(error.expected, "an initialiser with fewer rows left short");
}
