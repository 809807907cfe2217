//! Runs a form over tuples of operands.

use proofrun_emulator::alu::{Rows, select};
use proofrun_emulator::lanes::{Lanes, Row, Width};

use crate::forms::Form;
use crate::values::bits;

/// The register of a letter.
pub fn width(letter: char) -> Option<Width> {
    match letter {
        'p' | 'c' => Some(Width::Pred),
        'b' | 'h' => Some(Width::B16),
        'r' => Some(Width::B32),
        'd' => Some(Width::B64),
        'q' => Some(Width::B128),
        _ => None,
    }
}

/// Finds a form, with the words after its opcode in the order of the text.
pub fn find(form: &Form) -> proofrun_emulator::alu::Form {
    let modifiers: Vec<String> = form.modifiers().iter().map(|word| (*word).to_owned()).collect();
    let operands = form.results.chars().chain(form.sources.chars()).filter(|c| *c != 'c');
    let widths: Vec<_> = operands.map(width).collect();
    match select(form.opcode(), &modifiers, &widths) {
        Ok(Some(found)) => found,
        other => panic!("{form:?}: {other:?}"),
    }
}

/// Where each operand's row lies: at fixed places, far enough from each other.
const PLACES: [Row; 6] = [Row(8), Row(16), Row(24), Row(32), Row(40), Row(48)];

fn put(lanes: &mut Lanes, row: Row, letter: char, lane: usize, value: u128) {
    match bits(letter) {
        1 => lanes.set_pred(row, (value as u32 & 1) << lane, 1 << lane),
        8 | 16 => lanes.get_mut::<u16>(row)[lane] = value as u16,
        32 => lanes.get_mut::<u32>(row)[lane] = value as u32,
        64 => lanes.get_mut::<u64>(row)[lane] = value as u64,
        _ => lanes.get_mut::<u128>(row)[lane] = value,
    }
}

fn take(lanes: &Lanes, row: Row, letter: char, lane: usize) -> u128 {
    match bits(letter) {
        1 => u128::from(lanes.pred(row) >> lane & 1),
        // The upper half of an 8-bit register's row means nothing.
        8 => u128::from(lanes.get::<u16>(row)[lane] & 0xff),
        16 => u128::from(lanes.get::<u16>(row)[lane]),
        32 => u128::from(lanes.get::<u32>(row)[lane]),
        64 => u128::from(lanes.get::<u64>(row)[lane]),
        _ => lanes.get::<u128>(row)[lane],
    }
}

/// The results of a form over up to 32 tuples, one a lane, in the lanes of a mask; elsewhere what
/// the rows held before, which is all ones. Operands `i` are the same in all tuples.
pub fn run(
    form: &Form,
    found: &proofrun_emulator::alu::Form,
    tuples: &[Vec<u128>],
    mask: u32,
    negated: bool,
) -> Vec<Vec<u128>> {
    let mut lanes = Lanes::new(64);
    let mut rows = Rows { extra: found.extra, ..Rows::default() };
    if negated {
        rows.extra += proofrun_emulator::alu::NEGATED;
    }
    let mut slot = 0;
    for (at, letter) in form.sources.chars().enumerate() {
        if letter == 'i' {
            rows.extra += tuples[0][at] as u32;
            assert_eq!(found.immediate, Some(at));
            continue;
        }
        let place = if letter == 'c' { 3 } else { slot };
        let row = PLACES[place];
        for (lane, tuple) in tuples.iter().enumerate() {
            put(&mut lanes, row, letter, lane, tuple[at]);
        }
        *[&mut rows.a, &mut rows.b, &mut rows.c, &mut rows.f][place] = row;
        slot += 1;
    }
    for (at, letter) in form.results.chars().enumerate() {
        let row = PLACES[4 + at];
        *[&mut rows.d, &mut rows.e][at] = row;
        for lane in 0..32 {
            put(&mut lanes, row, letter, lane, u128::MAX);
        }
    }
    (found.compute)(&mut lanes, &rows, mask);
    let results = form.results.chars().enumerate();
    let of_lane = |lane| {
        results.clone().map(|(at, letter)| take(&lanes, PLACES[4 + at], letter, lane)).collect()
    };
    (0..tuples.len()).map(of_lane).collect()
}
