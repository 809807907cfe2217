//! Where in a logical line the lexer is: in text, or how far into which preprocessor directive.

use super::spans::SpanKind;

/// The directives that change how a line is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Directive {
    /// `#` was seen, its name was not.
    Hash,
    /// `#include` and its kin, which take a header's name.
    Include,
    /// `#define`.
    Define,
    /// `#pragma`.
    Pragma,
    /// Any other.
    Other,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Query {
    #[default]
    None,
    Name,
    Open,
}

/// The state of a logical line, fed with every span.
#[derive(Clone, Copy, Default)]
pub(super) struct Line {
    /// How many tokens it has so far.
    pub tokens: usize,
    /// The directive it is, if it is one.
    pub directive: Option<Directive>,
    query: Query,
}

impl Line {
    /// Takes the next span.
    pub fn push(&mut self, kind: SpanKind, spelling: &str) {
        if kind == SpanKind::Newline {
            *self = Self::default();
        }
        if !kind.is_code() {
            return;
        }
        self.directive = match (self.tokens, self.directive) {
            (0, _) if kind == SpanKind::Punct && matches!(spelling, "#" | "%:") => {
                Some(Directive::Hash)
            }
            (1, Some(Directive::Hash)) => Some(named(spelling)),
            (_, directive) => directive,
        };
        self.query = match (self.query, spelling) {
            (_, "__has_include" | "__has_include_next" | "__has_embed") => Query::Name,
            (Query::Name, "(") => Query::Open,
            _ => Query::None,
        };
        self.tokens += 1;
    }

    /// Whether the next token is the operand of an include directive.
    pub fn expects_include_operand(&self) -> bool {
        self.tokens == 2 && self.directive == Some(Directive::Include)
    }

    /// Whether the next token is the operand of `__has_include(`.
    pub fn expects_query_operand(&self) -> bool {
        self.query == Query::Open
    }
}

fn named(spelling: &str) -> Directive {
    match spelling {
        "include" | "include_next" | "import" | "embed" => Directive::Include,
        "define" => Directive::Define,
        "pragma" => Directive::Pragma,
        _ => Directive::Other,
    }
}
