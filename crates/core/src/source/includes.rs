//! The files that a source includes by name: a record binds those of the repository as well.

use super::directive::Line;
use super::lex::lex;
use super::spans::SpanKind;

/// `#include "path"` or `#include <path>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// The line of the name, from 1.
    pub line: u32,
    /// As written between the quotes.
    pub path: String,
    /// Whether the quotes are `"`: then the file is looked for beside the source first.
    pub quoted: bool,
}

/// The includes of a source, in order: from code only, and from groups that are compiled out
/// too.
pub fn includes(source: &str) -> Vec<Include> {
    let (mut line, mut found) = (Line::default(), Vec::new());
    for span in lex(source).spans {
        let spelling = span.spelling(source);
        if line.expects_include_operand() {
            let (open, close) = match span.kind {
                SpanKind::HeaderName => ('<', '>'),
                _ => ('"', '"'),
            };
            let path = spelling.strip_prefix(open).and_then(|rest| rest.split_once(close));
            found.extend(path.map(|(path, _)| Include {
                line: span.line,
                path: path.to_owned(),
                quoted: open == '"',
            }));
        }
        line.push(span.kind, &spelling);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_includes_in_code_count() {
        let cases: [(&str, &[(u32, &str)]); 8] = [
            (
                "#include \"a.cuh\"\n  #  include\t\"b/c.cuh\" // why\n",
                &[(1, "a.cuh"), (2, "b/c.cuh")],
            ),
            ("#include <cstdio>\n", &[(1, "cstdio")]),
            ("// #include \"a\"\n/*\n#include \"a\"\n*/\n", &[]),
            ("const char* s = R\"(\n#include \"a\"\n)\";\n", &[]),
            ("const char* s = \"\\\n#include \\\"a\\\"\";\n", &[]),
            ("x #include \"a\"\n", &[]),
            ("/* c\n*/ %:inc\\\nlude \"a\\\nb\"\n", &[(3, "ab")]),
            ("#if 0\n#include \"a\"\n#endif\n#include \"unclosed\n", &[(2, "a")]),
        ];
        for (source, expect) in cases {
            let found: Vec<_> = includes(source).into_iter().map(|i| (i.line, i.path)).collect();
            let expect: Vec<_> = expect.iter().map(|(line, p)| (*line, (*p).to_owned())).collect();
            assert_eq!(found, expect, "{source:?}");
        }
    }
}
