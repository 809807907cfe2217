//! Registers, variables and labels in nested scopes.

use proofrun_emulator::ptx::ast::{Base, Operand};

use super::{body, code, module};

#[test]
fn ranges_give_the_registers_that_are_used() {
    let body = body(".reg .b32 %r<1000>; .reg .pred %p<2>; x %r999, %r0, %p1, %r999;");
    let registers: Vec<_> =
        body.registers.iter().map(|r| (r.name.as_str(), r.kind.as_str(), r.bits)).collect();
    assert_eq!(registers, [("%r999", "b32", 32), ("%r0", "b32", 32), ("%p1", "pred", 1)]);
    assert_eq!(code(".reg .b32 a1<20>, a<3>; x a119, a2, a10;"), ["x a119, a2, a10"]);
}

#[test]
fn inner_registers_hide_outer_ones() {
    let body = body(
        ".reg .b32 %r<4>; .reg .u64 tmp;
        x %r1, tmp;
        { .reg .b16 %r1; .reg .b16 tmp; x %r1, %r2, tmp; { .reg .f32 %r<2>; x %r1, %r3; } }
        x %r1, %r2, tmp;",
    );
    let kinds: Vec<Vec<&str>> = body
        .code
        .iter()
        .map(|one| {
            one.operands
                .iter()
                .map(|operand| match operand {
                    Operand::Reg(reg) => body.registers[reg.0 as usize].kind.as_str(),
                    other => panic!("{other:?}"),
                })
                .collect()
        })
        .collect();
    let expected: [&[&str]; 4] =
        [&["b32", "u64"], &["b16", "b32", "b16"], &["f32", "b32"], &["b32", "b32", "u64"]];
    assert_eq!(kinds, expected);
    assert_eq!(body.code[0].operands[0], body.code[3].operands[0]);
    assert_eq!(body.code[1].operands[1], body.code[3].operands[1]);
}

#[test]
fn variables_of_one_name_are_told_apart() {
    let body = body(
        "{ .param .b32 out; st.param.b32 [out], 1; }
        { .param .b64 out; st.param.b64 [out+4], 2; mov.b64 out, out; }
        .local .b32 given; st.local.b32 [given], 3;",
    );
    let names: Vec<_> = body.variables.iter().map(|v| (&v.name, v.element_bytes)).collect();
    assert_eq!(names.len(), 3);
    let used = |index: usize| match &body.code[index].operands[0] {
        Operand::Memory { base: Base::Symbol(name), .. } => name,
        other => panic!("{other:?}"),
    };
    for (variable, instruction) in [(0, 0), (1, 1), (2, 3)] {
        assert_eq!(names[variable].0, used(instruction));
    }
    assert_eq!(names[0].0, "out");
    assert_ne!(names[0].0, names[1].0);
    // The third hides a parameter of the kernel.
    assert_ne!(names[2].0, "given");
}

#[test]
fn a_local_name_of_the_module_is_renamed_and_extern_ones_are_not() {
    let text = ".global .b32 g; .extern .shared .b8 e[];
        .entry k() { .shared .b32 g; .extern .shared .b8 e[]; x [g], [e], [e]; }
        .entry l() { x [g]; }";
    let module = module(text);
    let shown = |index: usize| module.functions[index].body.as_ref().unwrap().code[0].to_string();
    assert_eq!(shown(0), "x [g#2], [e], [e]");
    assert_eq!(shown(1), "x [g]");
}

#[test]
fn labels_go_forwards_and_are_told_apart() {
    let body = body(
        "bra DONE;
        { bra DONE; { bra DONE; DONE: x; } DONE: }
        { DONE: bra DONE; bra END; }
        DONE: x; END:",
    );
    let target = |index: usize| match &body.code[index].operands[0] {
        Operand::Symbol { name, offset: 0 } => {
            body.labels.iter().find(|(label, _)| label == name).unwrap().1
        }
        other => panic!("{other:?}"),
    };
    assert_eq!([0, 1, 2, 4, 5].map(target), [6, 4, 3, 4, 7]);
    let mut names: Vec<_> = body.labels.iter().map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 5);
}

#[test]
fn targets_of_indexed_branches() {
    let body = body("{ t: .branchtargets A, B, A; brx.idx 0, t; B: } A: x;");
    let targets: Vec<_> = body.branch_targets[0].1.clone();
    assert_eq!(targets, ["A", "B", "A"]);
    assert_eq!(body.branch_targets[0].0, "t");
    assert_eq!(body.labels, [("B".to_owned(), 1), ("A".to_owned(), 1)]);
}

#[test]
fn statements_need_no_lines_of_their_own() {
    let expected = ["mov.u32 a, 1", "@p mov.u32 a, 2", "@!p exit", "ret"];
    let text =
        ".reg .u32 a;.reg .pred p;mov.u32 a,1;@p\tmov.u32\na\n,2 // end\n;@ ! p exit;/* ; */ret;;";
    assert_eq!(code(text), expected);
}

#[test]
fn lines_of_instructions() {
    let body = body(".reg .u32 a;\n\n mov.u32\na, 1; x;\n/* \n */ x;");
    let lines: Vec<_> = body.code.iter().map(|one| one.line).collect();
    // The first three lines are the module's, the next two the kernel's.
    assert_eq!(lines, [8, 9, 11]);
}
