//! Variables, parameters, functions.

use proofrun_emulator::ptx::ast::{Init, StateSpace, Variable};

use super::module;

fn variable(text: &str) -> Variable {
    module(text).variables.remove(0)
}

fn bits(text: &str) -> Vec<u64> {
    let bits = |init| match init {
        Init::Bits(bits) => bits,
        Init::Address { name, .. } => panic!("the address of {name}"),
    };
    variable(text).init.into_iter().map(bits).collect()
}

fn address(name: &str, offset: i64, generic: bool, byte: Option<u8>) -> Init {
    Init::Address { name: name.to_owned(), offset, generic, byte }
}

#[test]
fn spaces_types_and_alignment() {
    let scalar = variable(".global .f64 a;");
    assert_eq!((scalar.space, scalar.kind.as_str()), (StateSpace::Global, "f64"));
    assert_eq!((scalar.element_bytes, scalar.align, scalar.dims.len()), (8, 8, 0));
    let array = variable(".const .align 16 .b8 a[3][4];");
    assert_eq!((array.space, array.align, array.element_bytes), (StateSpace::Const, 16, 1));
    assert_eq!(array.dims, [3, 4]);
    let vector = variable(".shared .v4 .f32 a[2];");
    assert_eq!((vector.element_bytes, vector.align, &vector.dims[..]), (4, 16, &[2, 4][..]));
    let list = module(".global .u32 a, b[2], c = 5;").variables;
    assert_eq!(list.iter().map(|v| v.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!((list[1].dims.as_slice(), &list[2].init[..]), (&[2][..], &[Init::Bits(5)][..]));
}

#[test]
fn linkage_and_attributes() {
    assert!(variable(".extern .global .b32 a;").external);
    assert!(!variable(".visible .global .b32 a;").external);
    assert!(!variable(".common .global .b32 a;").external);
    assert!(variable(".global .attribute(.managed) .align 4 .u32 a = 3;").managed);
    assert!(variable(".global .align 4 .attribute(.managed) .u32 a;").managed);
    assert!(!variable(".global .attribute(.unified(1, 0x2)) .u32 a;").managed);
    assert_eq!(variable(".const[3] .b32 a;").space, StateSpace::Const);
}

#[test]
fn integers_of_every_base() {
    let text = ".global .b64 a[] = {17, 0x1fU, 0X1F, 0b101, 017, 0, -1, 18446744073709551615};";
    assert_eq!(bits(text), [17, 31, 31, 5, 15, 0, u64::MAX, u64::MAX]);
    assert_eq!(variable(text).dims, [8]);
}

#[test]
fn constant_expressions() {
    let values = |text: &str| bits(&format!(".global .b64 a[] = {{{text}}};"));
    assert_eq!(values("1+2*3, (1+2)*3, 7/2, 7 % 4, -7/2"), [7, 9, 3, 3, (-3i64).cast_unsigned()]);
    assert_eq!(
        values("1<<4, 0x80>>3, -8>>1, 6&3, 6|3, 6^3, ~0"),
        [16, 16, u64::MAX - 3, 2, 7, 5, u64::MAX]
    );
    assert_eq!(values("1<2, 2<=1, 1==1, 1!=1, !5, 1&&0, 0||3"), [1, 0, 1, 0, 0, 0, 1]);
    assert_eq!(values("1 ? 2 : 3, 0 ? 2 : 0 ? 4 : 5, WARP_SZ"), [2, 5, 32]);
    // -1 is the largest number where it meets an unsigned one, and the smallest otherwise.
    assert_eq!(values("-1 < 1, -1 < 1U, (.u64)-1 > 5, (.s64)5U > -1"), [1, 0, 1, 1]);
}

#[test]
fn floats_have_the_bits_of_their_type() {
    let single = |value: f32| u64::from(value.to_bits());
    let text =
        ".global .f32 a[] = {0f3FC00000, 0F40000000, 2.5, -2.5, 3, -1, 1e2, 0d3FF0000000000000};";
    let expected = [1.5, 2.0, 2.5, -2.5, 3.0, -1.0, 100.0, 1.0].map(single);
    assert_eq!(bits(text), expected);
    let text = ".global .f64 a[] = {0d3FF8000000000000, 0f3FC00000, 2.5, 7, .5, 1.};";
    assert_eq!(bits(text), [1.5, 1.5, 2.5, 7.0, 0.5, 1.0].map(f64::to_bits));
    assert_eq!(bits(".global .b32 a[] = {0f3FC00000, 1.5, 7};"), [single(1.5), single(1.5), 7]);
    assert_eq!(bits(".global .b64 a[] = {1.5, 7};"), [1.5f64.to_bits(), 7]);
}

#[test]
fn short_rows_are_filled_and_texts_are_bytes() {
    assert_eq!(bits(".global .b32 a[3][2] = {{1}, {2, 3}, {4}};"), [1, 0, 2, 3, 4]);
    assert_eq!(bits(".global .b32 a[2][2][2] = {{{1}, {2}}, {{3, 4}}};"), [1, 0, 2, 0, 3, 4]);
    assert_eq!(bits(".global .b32 a[4] = {1, 2};"), [1, 2]);
    assert_eq!(bits(".global .b32 a[4] = {};"), [0u64; 0]);
    assert_eq!(bits(r#".global .b8 a[8] = "a\n\"\101";"#), [97, 10, 34, 65]);
    assert_eq!(bits(r#".global .b8 a[2][4] = {"ab", "c"};"#), [97, 98, 0, 0, 99]);
}

#[test]
fn addresses_in_initialisers() {
    let text = ".global .u64 a[5] = {f, f+4, f-4, generic(f), generic(f)+16};";
    let expected = [
        address("f", 0, false, None),
        address("f", 4, false, None),
        address("f", -4, false, None),
        address("f", 0, true, None),
        address("f", 16, true, None),
    ];
    assert_eq!(variable(text).init, expected);
    let text = ".global .b8 a[3] = {0xFF(f), 0xFF0000(generic(f)+2), 0xFF00000000000000(f)};";
    let expected = [
        address("f", 0, false, Some(0)),
        address("f", 2, true, Some(2)),
        address("f", 0, false, Some(7)),
    ];
    assert_eq!(variable(text).init, expected);
}

#[test]
fn parameters() {
    let text = ".func (.param .b32 r) f(.param .u64 .ptr .global .align 32 p, .reg .f32 x,
        .param .align 8 .b8 s[24], .param .b8 rest[]) ;";
    let function = &module(text).functions[0];
    let prototype = &function.prototype;
    assert_eq!(prototype.returns[0].name, "r");
    let shape = |v: &Variable| (v.element_bytes, v.align, v.dims.clone());
    let shapes: Vec<_> = prototype.params.iter().map(shape).collect();
    assert_eq!(shapes, [(8, 8, vec![]), (4, 4, vec![]), (1, 8, vec![24]), (1, 1, vec![0])]);
    assert!(prototype.params.iter().all(|param| param.space == StateSpace::Param));
    assert_eq!(function.register_params, ["x"]);
    assert!(function.body.is_none() && !function.entry);
}

#[test]
fn directives_of_functions() {
    let text = ".entry f .maxntid 8, 4 .minnctapersm 2 .pragma \"nounroll\"; .explicitcluster
        .reqnctapercluster 2, 1, 1 .maxnreg 40 .noreturn {}";
    let expected = [
        ("maxntid", vec![8, 4]),
        ("minnctapersm", vec![2]),
        ("explicitcluster", vec![]),
        ("reqnctapercluster", vec![2, 1, 1]),
        ("maxnreg", vec![40]),
        ("noreturn", vec![]),
    ];
    let expected = expected.map(|(name, numbers)| (name.to_owned(), numbers));
    assert_eq!(module(text).functions[0].directives, expected);
}

#[test]
fn files_aliases_and_sections() {
    let module = module(
        ".file 2 \"b \\\"x\\\".cu\", 17, 4 .alias g, f; .section .debug_info { .b8 1 .b64 a-b }
        .section .debug_str { l: .b8 104,105,0 .b8 72,105,0\nm: .b8 0 }",
    );
    assert_eq!(module.files, ["", "", "b \"x\".cu"]);
    assert_eq!(module.aliases, [("g".to_owned(), "f".to_owned())]);
    let strings = [("l", "hi\0Hi"), ("m", "")].map(|(l, t)| (l.to_owned(), t.to_owned()));
    assert_eq!(module.strings, strings);
}
