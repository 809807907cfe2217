//! A whole module as nvcc writes one.

use proofrun_emulator::ptx::ast::{Base, Body, Init, Module, Operand, StateSpace};
use proofrun_emulator::ptx::parse;

fn module() -> Module {
    parse(include_str!("samples/reduce.ptx")).unwrap()
}

fn body(module: &Module) -> &Body {
    module.functions[0].body.as_ref().unwrap()
}

#[test]
fn its_head_and_variables() {
    let module = module();
    assert_eq!((module.version, module.target.as_str()), ((8, 3), "sm_80"));
    assert_eq!(module.files, ["", "/course/sum.cu", "/course/common.cuh"]);
    let [weights, dynamic] = &module.variables[..] else { panic!("two variables") };
    assert_eq!((weights.space, weights.align, &weights.dims[..]), (StateSpace::Const, 4, &[8][..]));
    assert_eq!(weights.init.len(), 8);
    assert_eq!(weights.init[2], Init::Bits(128));
    assert!(dynamic.external && !weights.external);
    assert_eq!((dynamic.dims.as_slice(), dynamic.align), (&[0][..], 16));
}

#[test]
fn its_entry() {
    let module = module();
    let entry = &module.functions[0];
    assert!(entry.entry);
    assert_eq!((entry.name.as_str(), entry.line), ("sum", 10));
    assert_eq!(entry.directives[0], ("maxntid".to_owned(), vec![128, 1, 1]));
    assert_eq!(entry.directives[1], ("minnctapersm".to_owned(), vec![2]));
    let sizes: Vec<_> = entry.prototype.params.iter().map(|p| (p.element_bytes, p.align)).collect();
    assert_eq!(sizes, [(8, 8), (8, 8), (1, 8)]);
    assert_eq!(entry.prototype.params[2].dims, [24]);
}

#[test]
fn its_code() {
    let module = module();
    let body = body(&module);
    let code: Vec<String> =
        body.code.iter().map(|one| one.shown(&body.registers).to_string()).collect();
    let expected = [
        "ld.param.u64 %rd1, [sum_param_0]",
        "ld.param.u32 %r5, [sum_param_2+8]",
        "cvta.to.global.u64 %rd2, %rd1",
        "mov.u32 %r1, %tid.x",
        "setp.gt.u32 %p1, %r1, 127",
        "@%p1 bra $L__BB0_2",
        "mul.wide.u32 %rd3, %r1, 4",
        "add.s64 %rd4, %rd2, %rd3",
        "ld.global.nc.f32 %f1, [%rd4-4]",
        "mov.u32 %r2, partial",
        "shl.b32 %r3, %r1, 2",
        "add.s32 %r4, %r2, %r3",
        "st.shared.f32 [%r4+8], %f1",
        "bar.sync 0",
        "@!%p1 bra $L__BB0_2",
        "ret",
    ];
    assert_eq!(code, expected);
    assert_eq!(body.labels, [("$L__BB0_2".to_owned(), 13)]);
    assert_eq!(body.variables[0].name, "partial");
    let load = &body.code[8];
    assert_eq!((load.opcode.as_str(), load.line), ("ld", 39));
    assert_eq!(load.modifiers, ["global", "nc", "f32"]);
    let Operand::Memory { base: Base::Reg(reg), offset: -4 } = load.operands[1] else {
        panic!("a memory operand")
    };
    assert_eq!(body.registers[reg.0 as usize].name, "%rd4");
}

#[test]
fn its_places() {
    let module = module();
    let place = body(&module).code[8].place.as_deref().unwrap();
    let mut chain = Vec::new();
    let mut next = Some(place);
    while let Some(place) = next {
        chain.push((place.file, place.line, place.column, module.function_name(place)));
        next = place.inlined_at.as_deref();
    }
    let expected = [(2, 7, 1, Some("at")), (2, 40, 3, Some("load")), (1, 12, 9, None)];
    assert_eq!(chain, expected);
}
