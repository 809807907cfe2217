//! What in a source the lexer cannot be sure of.
//!
//! Each of these has two consequences: [`super::code_digest`] covers the whole text instead of the
//! tokens, and [`check_lexing`] says so. So a reading that differs from the compiler's can never
//! hide a change of code.

use camino::Utf8Path;

use super::lex::Lexed;
use crate::finding::{Finding, Findings, Place, Rule, Severity};

/// A place that the lexer cannot be sure of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What is so.
    pub kind: ProblemKind,
    /// The physical line, from 1.
    pub line: u32,
}

/// What is so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// `/*` without `*/`.
    UnterminatedComment,
    /// A string literal that its line does not close.
    UnterminatedString,
    /// A character literal that its line does not close.
    UnterminatedChar,
    /// A raw string literal that is not closed.
    UnterminatedRawString,
    /// A raw string's delimiter that C++ does not allow.
    RawDelimiter,
    /// A raw string of several lines in a directive: g++ 12 ends the directive inside of it.
    RawStringInDirective,
    /// A trigraph: before C++17 compilers replace it, since C++17 they don't.
    Trigraph,
    /// A carriage return that no line feed follows: a line end to some compilers only.
    LoneCarriageReturn,
    /// Blanks between a backslash and the line end: a splice to some compilers only.
    BlankAfterBackslash,
    /// A control character anywhere, or in code a character outside ASCII that is neither letter
    /// nor digit: white space to some compilers only.
    UnusualCharacter,
    /// A backslash outside literals that is no splice: the start of a universal character name.
    StrayBackslash,
    /// A header's name with a quote, a backslash or a comment's start in it.
    OddHeaderName,
    /// `#include` of something else than a name in `<>` or `""`: what it reads cannot be bound.
    ComputedInclude,
    /// A place where a macro may turn what follows into a header's name.
    HiddenHeaderName,
    /// A literal, an identifier and a quote without blanks: the identifier is a suffix or a prefix.
    AmbiguousSuffix,
}

impl ProblemKind {
    fn severity(self) -> Severity {
        use ProblemKind as K;
        match self {
            K::UnterminatedComment
            | K::UnterminatedString
            | K::UnterminatedChar
            | K::UnterminatedRawString
            | K::RawDelimiter
            | K::ComputedInclude => Severity::Error,
            _ => Severity::Warning,
        }
    }

    /// The fact, and what to do about it.
    fn texts(self) -> (&'static str, &'static str) {
        use ProblemKind as K;
        match self {
            K::UnterminatedComment => ("a `/*` comment is never closed", "add `*/`"),
            K::UnterminatedString => ("a string is not closed on its line", "add the quote"),
            K::UnterminatedChar => {
                ("a character literal is not closed on its line", "add the quote")
            }
            K::UnterminatedRawString => {
                ("a raw string is never closed", "close it with `)`, its delimiter and a quote")
            }
            K::RawDelimiter => (
                "a raw string's delimiter is not one",
                "use at most 16 letters, digits or underscores before `(`",
            ),
            K::RawStringInDirective => (
                "a raw string of several lines stands in a directive",
                "move it out of the directive: g++ 12 does not accept it",
            ),
            K::Trigraph => ("a trigraph: C++17 keeps it, older C++ replaces it", "split the `??`"),
            K::LoneCarriageReturn => {
                ("a carriage return without a line feed", "end lines with a line feed")
            }
            K::BlankAfterBackslash => {
                ("blanks between a backslash and the line end", "remove the blanks")
            }
            K::UnusualCharacter => {
                ("a character that some compilers take for white space", "remove the character")
            }
            K::StrayBackslash => (
                "a backslash outside of literals that does not end its line",
                "write the character itself instead of a universal character name",
            ),
            K::OddHeaderName => (
                "a header's name with a quote, a backslash or a comment's start in it",
                "rename the header",
            ),
            K::ComputedInclude => (
                "an include whose file is not named in `<>` or quotes",
                "name the file: a digest can only bind a file that is named",
            ),
            K::HiddenHeaderName => (
                "a macro or a pragma here may take what follows for a header's name",
                "use `__has_include` in `#if` only, and no `dependency` pragma",
            ),
            K::AmbiguousSuffix => (
                "a literal's suffix runs into the next literal",
                "put a blank between the two literals",
            ),
        }
    }
}

/// The lexer's problems as findings: errors for what does not compile or cannot be bound, else
/// warnings.
pub fn check_lexing(path: &Utf8Path, lexed: &Lexed) -> Findings {
    let finding = |problem: &Problem| {
        let (fact, next) = problem.kind.texts();
        let place = Place::line(path, problem.line);
        let finding = match problem.kind.severity() {
            Severity::Error => Finding::error(Rule::SourceLexing, place, fact, next),
            Severity::Warning => Finding::warning(Rule::SourceLexing, place, fact, next),
        };
        finding.because("until this is mended the code digest covers comments and blanks too")
    };
    lexed.problems.iter().map(finding).collect()
}
