//! Calls, direct and indirect.

use proofrun_emulator::ptx::ast::Operand;

use super::{body, code, module};

const REGISTERS: &str = ".reg .b64 %rd<3>; .reg .b32 a; .param .b32 out, in;";

#[test]
fn direct_calls() {
    let text =
        "call.uni (out), f, (in, a, 5); call f, (in); call (out), f; call f; call (out), f, ();
        call.uni (out),\nf,\n(\nin\n);";
    let expected = [
        "call.uni (out), f, (in, a, 5)",
        "call f, (in)",
        "call (out), f",
        "call f",
        "call (out), f, ()",
        "call.uni (out), f, (in)",
    ];
    assert_eq!(code(&format!("{REGISTERS}{text}")), expected);
    let body = body(&format!("{REGISTERS}call (out), f, (in);"));
    let symbol = |name: &str| Operand::Symbol { name: name.to_owned(), offset: 0 };
    let list = |name: &str| Operand::List(vec![symbol(name)]);
    assert_eq!(body.code[0].operands, [list("out"), symbol("f"), list("in")]);
}

#[test]
fn indirect_calls_through_prototypes() {
    let text = "
        .func f() { .reg .b64 d; p: .callprototype (.param .b32 _) _ (.param .b64 _);
            call (_), d, (1), p; }
        .func g() { .reg .b64 d; {
            p: .callprototype ()_ (.param .align 8 .b8 _[24], .param .b32 _) .noreturn;
            call d, (1, 2), p; } }";
    let module = module(text);
    let [(first, p), (second, q)] = &module.prototypes[..] else { panic!("two prototypes") };
    assert_eq!((p.returns.len(), p.params.len(), p.params[0].element_bytes), (1, 1, 8));
    assert_eq!((q.returns.len(), q.params.len(), &q.params[0].dims[..]), (0, 2, &[24][..]));
    assert_ne!(first, second);
    let last = |index: usize| {
        let body = module.functions[index].body.as_ref().unwrap();
        body.code[0].operands.last().cloned().unwrap()
    };
    assert_eq!(last(0), Operand::Symbol { name: first.clone(), offset: 0 });
    assert_eq!(last(1), Operand::Symbol { name: second.clone(), offset: 0 });
}

#[test]
fn indirect_calls_through_lists() {
    let body = body(&format!("{REGISTERS} t: .calltargets f, g; call (out), %rd1, (in), t;"));
    assert_eq!(body.call_targets, [("t".to_owned(), vec!["f".to_owned(), "g".to_owned()])]);
    assert_eq!(body.code[0].to_string(), "call (out), %1, (in), t");
}

#[test]
fn parameters_in_registers() {
    let text = ".func (.reg .u32 r) f(.reg .u32 a) { add.u32 r, a, 1; }";
    let module = module(text);
    let function = &module.functions[0];
    assert_eq!(function.register_params, ["r", "a"]);
    let registers = &function.body.as_ref().unwrap().registers;
    assert_eq!(registers.iter().map(|r| r.name.as_str()).collect::<Vec<_>>(), ["r", "a"]);
}
