//! Entries, functions and their parameters (PTX ISA 11.1, 11.2, 7.1).

use super::ast::{Function, Prototype, StateSpace, Variable};
use super::body::{self, Shared};
use super::constant::literal;
use super::cursor::{Cursor, Parsed};
use super::error::ParseError;
use super::lexer::Kind;
use super::scope::{MAX_REGISTERS, Names, Refusal, RegisterType};
use super::variable::{self, Head};

/// Directives between the parameters and the body, without their dots: numbers may follow.
const DIRECTIVES: [&str; 12] = [
    "maxntid",
    "reqntid",
    "minnctapersm",
    "maxnctapersm",
    "maxnreg",
    "explicitcluster",
    "reqnctapercluster",
    "maxclusterrank",
    "blocksareclusters",
    "noreturn",
    "abi_preserve",
    "abi_preserve_control",
];

/// A parameter as it is written.
struct Parameter<'a> {
    name: &'a str,
    at: usize,
    head: Head<'a>,
    register: bool,
    variable: Variable,
}

/// Reads what follows `.entry` or `.func`.
pub fn function<'a>(
    cursor: &mut Cursor<'a>,
    entry: bool,
    shared: &mut Shared<'a>,
) -> Parsed<Function> {
    let line = cursor.line();
    while cursor.eat_text(".attribute") {
        variable::attributes(cursor)?;
    }
    let mut scope = Parameters { names: Names::default(), registers: Vec::new(), shared };
    scope.names.open();
    let returns = if cursor.kind() == Kind::OpenParen { scope.read(cursor)? } else { Vec::new() };
    let name = cursor.name("the name of a function")?.to_owned();
    let params = if cursor.kind() == Kind::OpenParen { scope.read(cursor)? } else { Vec::new() };
    let Parameters { names, registers: register_params, .. } = scope;
    let directives = directives(cursor)?;
    let body = if cursor.eat(Kind::Semicolon) {
        None
    } else if cursor.kind() == Kind::OpenBrace {
        Some(body::body(cursor, names, shared)?)
    } else {
        return Err(cursor.error("`{`, `;` or a directive of a function"));
    };
    let prototype = Prototype { returns, params };
    Ok(Function { name, entry, prototype, register_params, directives, body, line })
}

/// Parameters that are declared in the outermost scope of a function.
struct Parameters<'s, 'a> {
    names: Names<'a>,
    registers: Vec<String>,
    shared: &'s Shared<'a>,
}

impl<'a> Parameters<'_, 'a> {
    fn read(&mut self, cursor: &mut Cursor<'a>) -> Parsed<Vec<Variable>> {
        let mut variables = Vec::new();
        for parameter in parameters(cursor)? {
            let name = parameter.name;
            let refused = |refusal| refused(cursor, parameter.at, name, refusal);
            let mut variable = parameter.variable;
            if parameter.register {
                self.names.register(name, typ(&parameter.head)).map_err(refused)?;
                self.registers.push(name.to_owned());
            } else if name != "_" {
                let taken = self.shared.variables.contains(name);
                variable.name = self.names.symbol(name, taken).map_err(refused)?;
            }
            variables.push(variable);
        }
        Ok(variables)
    }
}

/// The registers that a head declares.
pub fn typ<'a>(head: &Head<'a>) -> RegisterType<'a> {
    RegisterType { kind: head.kind, bits: head.bits, lanes: head.lanes }
}

/// Reads a parenthesised list of parameters.
fn parameters<'a>(cursor: &mut Cursor<'a>) -> Parsed<Vec<Parameter<'a>>> {
    cursor.expect(Kind::OpenParen, "`(` of parameters")?;
    cursor.list(Kind::CloseParen, "`,` or `)` of parameters", |cursor| {
        let register = cursor.eat_text(".reg");
        if !register && !cursor.eat_text(".param") {
            return Err(cursor.error("`.param` or `.reg`"));
        }
        let head = variable::head(cursor, StateSpace::Param)?;
        let at = cursor.position();
        let name = cursor.name("the name of a parameter")?;
        let variable = variable::named(cursor, &head, name.to_owned())?;
        Ok(Parameter { name, at, head, register, variable })
    })
}

/// Reads what follows `.callprototype`, its semicolon included (PTX ISA 11.3.3).
pub fn prototype(cursor: &mut Cursor<'_>) -> Parsed<Prototype> {
    let list = |cursor: &mut Cursor<'_>| -> Parsed<Vec<Variable>> {
        if cursor.kind() != Kind::OpenParen {
            return Ok(Vec::new());
        }
        Ok(parameters(cursor)?.into_iter().map(|parameter| parameter.variable).collect())
    };
    let returns = list(cursor)?;
    cursor.name("`_` of a prototype")?;
    let params = list(cursor)?;
    directives(cursor)?;
    cursor.expect(Kind::Semicolon, "`;` after a prototype")?;
    Ok(Prototype { returns, params })
}

/// Reads `.maxntid 128, 1, 1 .minnctapersm 2` and the like.
fn directives(cursor: &mut Cursor<'_>) -> Parsed<Vec<(String, Vec<u64>)>> {
    let mut directives = Vec::new();
    while cursor.kind() == Kind::Dot {
        if cursor.text() == ".pragma" {
            pragma(cursor)?;
            continue;
        }
        let name = cursor.text().get(1..).unwrap_or("");
        if !DIRECTIVES.contains(&name) {
            return Err(cursor.error("`{`, `;` or a directive of a function"));
        }
        cursor.skip();
        let mut numbers = Vec::new();
        while cursor.kind() == Kind::Int {
            numbers.push(literal(cursor, "a number")?);
            if !cursor.eat(Kind::Comma) {
                break;
            }
        }
        directives.push((name.to_owned(), numbers));
    }
    Ok(directives)
}

/// Reads `.pragma "...", "...";`, which changes nothing that can be observed (PTX ISA 11.4.5).
pub fn pragma(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.skip();
    cursor.list(Kind::Semicolon, "`,` or `;` of a pragma", |cursor| {
        cursor.expect(Kind::Text, "a pragma in quotes").map(|_| ())
    })?;
    Ok(())
}

/// The error for a name that can't be declared.
pub fn refused(cursor: &Cursor<'_>, at: usize, name: &str, refusal: Refusal) -> ParseError {
    cursor.error_at(
        at,
        match refusal {
            Refusal::Twice => format!("a scope that declares `{name}` once"),
            Refusal::TooMany => format!("at most {MAX_REGISTERS} registers in a function"),
        },
    )
}
