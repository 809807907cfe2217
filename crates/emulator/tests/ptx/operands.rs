//! Operands and the forms of instructions.

use proofrun_emulator::ptx::ast::{Base, Operand, Reg};

use super::{body, code};

/// The operands of the one instruction in a kernel with some registers.
fn operands(instruction: &str) -> Vec<Operand> {
    let text = format!(".reg .b32 a, b; .reg .pred p, q; .reg .v4 .f32 v;\n{instruction}");
    body(&text).code.remove(0).operands
}

const A: Reg = Reg(0);
const B: Reg = Reg(1);
const P: Reg = Reg(2);
const Q: Reg = Reg(3);

fn symbol(name: &str, offset: i64) -> Operand {
    Operand::Symbol { name: name.to_owned(), offset }
}

#[test]
fn registers_and_predicates() {
    assert_eq!(operands("mov.b32 a, b;"), [Operand::Reg(A), Operand::Reg(B)]);
    let expected = [Operand::Pair(Some(P), Some(Q)), Operand::Reg(A), Operand::Not(P)];
    assert_eq!(operands("x p|q, a, !p;"), expected);
    assert_eq!(operands("x _|q;"), [Operand::Pair(None, Some(Q))]);
    assert_eq!(operands("x p | _;"), [Operand::Pair(Some(P), None)]);
    assert_eq!(operands("x _;"), [Operand::Sink]);
}

#[test]
fn immediates() {
    let bits = |value: i64| Operand::Int(value.cast_unsigned());
    assert_eq!(operands("x 5, -5, 0xFFU, -(2+3), WARP_SZ;"), [5, -5, 255, -5, 32].map(bits));
    let expected = [
        Operand::F32(0x3F80_0000),
        Operand::F32(0xBF80_0000),
        Operand::F64(1.5f64.to_bits()),
        Operand::F64((-0.25f64).to_bits()),
    ];
    assert_eq!(operands("x 0f3F800000, -0f3F800000, 0d3FF8000000000000, -0.25;"), expected);
}

#[test]
fn special_registers() {
    let names =
        ["%tid.x", "%laneid", "%envreg31", "%clock64", "%pm3_64", "%cluster_ctaid.z", "%tid"];
    for name in names {
        assert_eq!(operands(&format!("x {name};")), [Operand::Special(name.to_owned())]);
    }
    // A declared register hides one.
    let code = code(".reg .b32 %laneid; mov.u32 %laneid, %warpid;");
    assert_eq!(code, ["mov.u32 %laneid, %warpid"]);
    assert_eq!(body(".reg .b32 %clock; x %clock;").code[0].operands, [Operand::Reg(A)]);
}

#[test]
fn symbols() {
    let expected = [symbol("given", 0), symbol("other", 8), symbol("other", -8)];
    assert_eq!(operands("x given, other+8, other - 8;"), expected);
}

#[test]
fn memory() {
    let memory = |base, offset| Operand::Memory { base, offset };
    let name = || Base::Symbol("other".to_owned());
    let expected = [
        memory(Base::Reg(A), 0),
        memory(Base::Reg(A), 4),
        memory(Base::Reg(A), -4),
        memory(Base::Reg(A), -4),
        memory(Base::Reg(A), 24),
        memory(name(), 0),
        memory(name(), 12),
        memory(Base::None, 64),
    ];
    let text = "x [a], [a+4], [a+-4], [a - 4], [a+2*8+8], [other], [other+4+8], [0x40];";
    assert_eq!(operands(text), expected);
}

#[test]
fn lists() {
    let reg = Operand::Reg;
    let expected = [
        Operand::List(vec![reg(A), Operand::Sink, Operand::Int(3)]),
        Operand::List(vec![]),
        Operand::MemoryList(vec![reg(A), Operand::List(vec![reg(B), Operand::Int(1)])]),
        Operand::MemoryList(vec![
            symbol("tex", 0),
            symbol("sampler", 0),
            Operand::List(vec![reg(B)]),
        ]),
    ];
    assert_eq!(operands("x {a, _, 3}, {}, [a, {b, 1}], [tex, sampler, {b}];"), expected);
    let expected = [Operand::List(vec![Operand::List(vec![reg(A), reg(B)]), reg(P)])];
    assert_eq!(operands("x {a, b}|p;"), expected);
}

#[test]
fn vectors_are_their_components() {
    let body = body(".reg .v4 .f32 %v; .reg .v2 .b16 w<3>; x %v, %v.x, %v.a, w2.y, w0;");
    let names: Vec<_> = body.registers.iter().map(|r| (r.name.as_str(), r.bits)).collect();
    let expected = [
        ("%v.x", 32),
        ("%v.y", 32),
        ("%v.z", 32),
        ("%v.w", 32),
        ("w2.x", 16),
        ("w2.y", 16),
        ("w0.x", 16),
        ("w0.y", 16),
    ];
    assert_eq!(names, expected);
    let all = |regs: &[u32]| Operand::List(regs.iter().map(|&n| Operand::Reg(Reg(n))).collect());
    let reg = |number| Operand::Reg(Reg(number));
    assert_eq!(body.code[0].operands, [all(&[0, 1, 2, 3]), reg(0), reg(3), reg(5), all(&[6, 7])]);
}

#[test]
fn selections_of_video_instructions() {
    let expected = [
        Operand::Reg(A),
        Operand::Selection(A, "b3".to_owned()),
        Operand::Selection(B, "h1".to_owned()),
        Operand::Selection(B, "b7520".to_owned()),
    ];
    assert_eq!(operands("vadd a, a.b3, b.h1, b.b7520;"), expected);
}

#[test]
fn names_and_suffixes() {
    let body = body(
        ".reg .b64 d; .reg .b32 a;
        ld.shared::cta.L2::128B.b32 a, [d].unified, d; add .u32 a, a, a;setp .eq .u32 a, a, a;",
    );
    let words: Vec<_> = body.code.iter().map(|i| (i.opcode.as_str(), &i.modifiers[..])).collect();
    assert_eq!(words[0].0, "ld");
    assert_eq!(words[0].1, ["shared::cta", "L2::128B", "b32", "unified"]);
    assert_eq!(words[2], ("setp", &["eq".to_owned(), "u32".to_owned()][..]));
}
