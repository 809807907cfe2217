//! Which edits change the code digest, and which must not.

use super::*;

/// One per line of the table: two sources, and whether their code is the same.
#[test]
fn the_digest_tells_code_from_its_look() {
    let cases = [
        ("int a;", "int\n  a ; // b\n", true),
        ("a/**/b", "a b", true),
        ("a b", "ab", false),
        ("a+ +b", "a++b", false),
        ("a + b", "a+b", true),
        ("k<<<1>>>()", "k <<< 1 >>> ( )", true),
        ("k<<<1>>>()", "k<< <1>> >()", false),
        ("X<Y<int>>", "X<Y<int> >", false),
        ("#define X (1)", "#define X(1)", false),
        ("#define X (1)", "#define X/**/(1)", true),
        ("#define X(1)", "#define X\\\n(1)", true),
        ("#define X  \\\n (1)", "#define X (1)", true),
        ("#define X 1\n2", "#define X 1 2", false),
        ("#define X 1\n2", "#  define X /*\n*/ 1 // c\n\n\n2", true),
        ("%:define X 1\n2", "%:define X 1 2", false),
        ("a\n#define X", "a #define X", false),
        ("/*\n*/ #define X\n1", "#define X\n1", true),
        ("a\n#\nb", "a\nb", false),
        ("\"a b\"", "\"a  b\"", false),
        ("\"a\\\nb\"", "\"ab\"", true),
        ("'a'", "'b'", false),
        ("R\"(a\nb)\"", "R\"(a b)\"", false),
        ("R\"(a\r\nb)\"", "R\"(a\nb)\"", true),
        ("R\"(a\\\nb)\"", "R\"(ab)\"", false),
        ("R\"(//a)\"", "R\"(//b)\"", false),
        ("\"a\"_x", "\"a\" _x", false),
        ("1'000", "1000", false),
        ("1.5e+3", "1.5e +3", false),
        ("#include <a b>", "#include <ab>", false),
        ("#include <a>", "#include<a>", true),
        ("a // b\\\nc\nd", "a // b\nd", true),
        ("a // b\\\nc\nd", "a // b\nc\nd", false),
        ("a\r\nb\r\n", "a\nb\n", true),
        ("", "// only a comment", true),
        ("a", "", false),
    ];
    for (one, other, same) in cases {
        assert_eq!(code_digest(one) == code_digest(other), same, "{one:?} and {other:?}");
    }
}

#[test]
fn where_compilers_differ_comments_count() {
    // C++14 splices the first comment's line, C++17 doesn't: neither reading may hide the call.
    let cases = [
        ("// a??/\nf();", "// a\nf();"),
        ("// a\rf();\n", "// a\n"),
        ("#if 0\n#include <a/*b>\nf(); // */\n#endif", "#if 0\n#include <a/*b>\nf(); // b\n#endif"),
        ("\0#define X 1\n2", "\0#define X 1 2"),
        ("\u{a0}#define X 1\n2", "\u{a0}#define X 1 2"),
        ("don't // a\n", "don't // b\n"),
        ("a /* b", "a /* c"),
        ("a\\u00e9", "a \\u00e9"),
    ];
    for (one, other) in cases {
        assert_ne!(code_digest(one), code_digest(other), "{one:?} and {other:?}");
    }
    assert_eq!(code_digest("don't\r\n"), code_digest("don't\n"));
}
