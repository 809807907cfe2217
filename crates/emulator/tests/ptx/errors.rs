//! What is said about texts that are wrong.

use proofrun_emulator::ptx::{ParseError, parse};

fn error(text: &str) -> ParseError {
    parse(&format!(".version 9.0\n{text}")).unwrap_err()
}

/// What is expected and found in a kernel of this text.
fn in_body(text: &str) -> (String, String) {
    let error = error(&format!(".entry k() {{ .reg .b32 a; .reg .pred p; {text} }}"));
    (error.expected, error.found)
}

#[test]
fn the_place_and_the_text_are_told() {
    let error = error("\n.global .b32 ä;\n");
    assert_eq!((error.line, error.column), (3, 14));
    let error = parse(".version 9.0\n.entry k() {\n  add.u32 %r1, %r2, %r3;\n}").unwrap_err();
    let expected = "PTX line 3, column 11: expected a declared or special register, found `%r1`";
    assert_eq!(error.to_string(), expected);
    let error = parse(".version 9.0 .entry k() {").unwrap_err();
    assert_eq!(error.found, "");
    assert!(error.to_string().ends_with("expected `}` of a function, found the end of the text"));
    assert!(!error.to_string().contains("``"));
}

#[test]
fn a_long_or_strange_text_is_quoted_in_part_and_escaped() {
    let long = error(&"x".repeat(1000));
    assert_eq!(long.found.len(), 48);
    assert!(error("\u{1b}[31m").to_string().contains("found `\\u{1b}`"));
}

#[test]
fn modules() {
    let cases = [
        ("", "`.version`"),
        (".version nine", "a version, like 9.0"),
        (".version 9", "a version, like 9.0"),
        (".version 9.0 .address_size 32", "64: other sizes of addresses aren't supported"),
        (".version 9.0 .unknown", "a directive of a module"),
        (".version 9.0 add.u32 a, b;", "a directive"),
        (".version 9.0 l: .b8 1;", "`.callprototype`"),
        (".version 9.0 .section .debug_info { .b8 1", "`}` of a section"),
        (".version 9.0 .file 99999999999999999999 \"a\"", "the number of a file in range"),
        (".version 9.0 .file 70000 \"a\"", "the number of a file, below 65536"),
        (".version 9.0 .entry k() .maxfoo {}", "`{`, `;` or a directive of a function"),
        (".version 9.0 .entry k(.b32 a) {}", "`.param` or `.reg`"),
        (".version 9.0 .func f(.param .b32 a, .param .b32 a);", "a scope that declares `a` once"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text).unwrap_err().expected, expected, "{text}");
    }
}

#[test]
fn variables() {
    let cases = [
        (".global .b33 a;", "a type"),
        (".global a;", "a type"),
        (".global .align 3 .b32 a;", "an alignment that is a power of two"),
        (".global .align 0 .b32 a;", "an alignment that is a power of two"),
        (".global .b32 a[2] = {1, 2, 3};", "an initialiser of at most 2 elements"),
        (".global .b32 a[2][1] = {{1, 2}};", "a row of at most 1 elements"),
        (".global .b32 a[2] = {{{1}}};", "an initialiser with no more braces than dimensions"),
        (".global .u32 a = 1.5;", "a constant for type .u32"),
        (".global .f16 a = 1.5;", "a constant for type .f16"),
        (".global .b32 a = \"x\";", "a number, since elements aren't bytes"),
        (".global .b8 a = 0xFFF(b);", "a mask of one byte, like 0xFF00"),
        (".global .b32 a = 1/0;", "an operator that has a value here"),
        (".global .b32 a = 18446744073709551616;", "a number of at most 64 bits"),
        (".global .b32 a = 08;", "a number of at most 64 bits"),
        (".global .b32 a b;", "`,` or `;` of a declaration"),
        (".global .b64 a[1 << 40];", "a variable of at most 1099511627776 bytes"),
        (".global .b64 a[1 << 33][1 << 33];", "a variable of at most 1099511627776 bytes"),
        (".global .attribute(.other) .b32 a;", "the attribute `.managed` or `.unified`"),
    ];
    for (text, expected) in cases {
        assert_eq!(error(text).expected, expected, "{text}");
    }
}

#[test]
fn statements() {
    let cases = [
        (".reg .b32 a;", "a scope that declares `a` once", "a"),
        ("a: x;", "a scope that declares `a` once", "a"),
        ("L: x; L: x;", "a scope that declares `L` once", "{"),
        (".local .b32 b, b;", "a scope that declares `b` once", "b"),
        (".reg .b32 %r<1048577>;", "at most 1048576 registers in a function", "%r"),
        (
            ".reg .b32 %r<99999999999999999999>;",
            "a count of registers in range",
            "99999999999999999999",
        ),
        (".reg .b32 %r<4>; mov.b32 a, %r4;", "a declared or special register", "%r4"),
        (".reg .b32 %r<4>; mov.b32 a, %r01;", "a declared or special register", "%r01"),
        ("{ .reg .b32 b; } @b x;", "a declared register", "b"),
        ("@given x;", "a declared register", "given"),
        ("mov.b32 a", "`,` or `;` after an operand", "}"),
        ("mov.b32 a b;", "`,` or `;` after an operand", "b"),
        ("mov.b32 a, ;", "an operand", ";"),
        ("mov.b32 a.x, 1;", "an operand", "a.x"),
        ("ld.b32 a, [a;", "`]` of an address", ";"),
        ("ld.b32 a, [{a}];", "a register, variable or integer address", "{"),
        ("x {{{{{{{a}}}}}}};", "an operand that nests less deep", "{"),
        ("ld.b32 a, [a+1.5];", "an integer offset", "1.5"),
        (".unknown 5;", "a directive of a function's body", ".unknown"),
        (".loc 1 2;", "a column", ";"),
        (".loc 1 2 3, is_stmt 1;", "`function_name` or `inlined_at`", "is_stmt"),
        ("5;", "a statement", "5"),
        ("@p { x; }", "an instruction", "{"),
        ("b: .callprototype _ (.reg a);", "a type", "a"),
    ];
    for (text, expected, found) in cases {
        assert_eq!(in_body(text), (expected.to_owned(), found.to_owned()), "{text}");
    }
}

#[test]
fn a_text_that_is_too_long_is_refused() {
    let text = " ".repeat((64 << 20) + 1);
    assert_eq!(parse(&text).unwrap_err().expected, "at most 67108864 bytes of PTX");
}
