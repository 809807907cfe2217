//! Bodies of functions: statements in nested scopes (PTX ISA 4.3).

use std::collections::{HashMap, HashSet};

use super::ast::{Body, Guard, Instruction, Prototype, StateSpace};
use super::constant::literal;
use super::cursor::{Cursor, Parsed};
use super::debug::Places;
use super::function;
use super::labels::Labels;
use super::lexer::Kind;
use super::operand::Operands;
use super::scope::Names;
use super::{types, variable};

/// What a module's functions share while they are read.
#[derive(Debug, Default)]
pub struct Shared<'a> {
    /// Names of variables of module scope.
    pub variables: HashSet<&'a str>,
    /// How often each label of a prototype was declared.
    pub prototype_names: HashMap<&'a str, u32>,
    /// The prototypes.
    pub prototypes: Vec<(String, Prototype)>,
    /// How many more filling zeros initialisers may take.
    pub zeros: u64,
}

/// Reads a body, at whose opening brace the cursor stands. `names` knows the parameters.
pub fn body<'a>(
    cursor: &mut Cursor<'a>,
    names: Names<'a>,
    shared: &mut Shared<'a>,
) -> Parsed<Body> {
    let labels = Labels::of(cursor, &mut shared.prototype_names)?;
    let mut reader =
        Reader { names, labels, shared, places: Places::default(), body: Body::default(), open: 0 };
    reader.open(cursor)?;
    while reader.open > 0 {
        reader.statement(cursor)?;
    }
    reader.body.registers = reader.names.into_registers();
    Ok(reader.body)
}

struct Reader<'s, 'a> {
    names: Names<'a>,
    labels: Labels<'a>,
    shared: &'s mut Shared<'a>,
    places: Places,
    body: Body,
    /// Scopes that are open, the body's own included.
    open: usize,
}

impl<'a> Reader<'_, 'a> {
    fn open(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        if !self.names.open() {
            return Err(cursor.error("scopes that nest less deep"));
        }
        self.open += 1;
        for (name, unique) in self.labels.take(cursor.position()) {
            if self.names.alias(name, unique).is_err() {
                return Err(cursor.error(format!("a scope that declares `{name}` once")));
            }
        }
        cursor.expect(Kind::OpenBrace, "`{`")?;
        Ok(())
    }

    fn statement(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        match cursor.kind() {
            Kind::OpenBrace => self.open(cursor),
            Kind::CloseBrace => {
                cursor.skip();
                self.open -= 1;
                self.names.close();
                Ok(())
            }
            Kind::Semicolon => {
                cursor.skip();
                Ok(())
            }
            Kind::Dot => self.directive(cursor),
            Kind::Word if cursor.kind_after() == Kind::Colon => self.label(cursor),
            Kind::At | Kind::Word => self.instruction(cursor),
            _ => Err(cursor.error("a statement")),
        }
    }

    fn directive(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        let dot = cursor.text();
        match dot {
            ".loc" => {
                cursor.skip();
                self.places.read(cursor)
            }
            ".pragma" => function::pragma(cursor),
            ".reg" => self.registers(cursor),
            ".extern" | ".visible" | ".weak" => {
                cursor.skip();
                self.variables(cursor, dot == ".extern")
            }
            _ => self.variables(cursor, false),
        }
    }

    /// `.reg .b32 %r<100>, tmp;`
    fn registers(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        cursor.skip();
        let typ = function::typ(&variable::head(cursor, StateSpace::Local)?);
        loop {
            let at = cursor.position();
            let name = cursor.name("the name of a register")?;
            let declared = if cursor.eat(Kind::Less) {
                let count: u64 = literal(cursor, "a count of registers")?;
                cursor.expect(Kind::Greater, "`>` of a count")?;
                self.names.range(name, count, typ)
            } else {
                self.names.register(name, typ)
            };
            declared.map_err(|refusal| function::refused(cursor, at, name, refusal))?;
            if cursor.eat(Kind::Semicolon) {
                return Ok(());
            }
            cursor.expect(Kind::Comma, "`,` or `;` of a declaration")?;
        }
    }

    /// `.shared .align 4 .b8 buffer[16], other;`
    fn variables(&mut self, cursor: &mut Cursor<'a>, external: bool) -> Parsed<()> {
        let Some(space) = types::space(cursor.text()) else {
            return Err(cursor.error("a directive of a function's body"));
        };
        cursor.skip();
        let head = variable::head(cursor, space)?;
        loop {
            let at = cursor.position();
            let name = cursor.name("the name of a variable")?;
            // An extern variable is the one that other functions and modules name so.
            let unique = if external {
                self.names.alias(name, name.to_owned()).map(|()| name.to_owned())
            } else {
                self.names.symbol(name, self.shared.variables.contains(name))
            };
            let unique = unique.map_err(|refusal| function::refused(cursor, at, name, refusal))?;
            let mut variable = variable::named(cursor, &head, unique)?;
            variable.external = external;
            variable::initialised(cursor, &mut variable, &mut self.shared.zeros)?;
            for addressed in variable::addressed(&mut variable) {
                *addressed = self.names.symbol_of(addressed);
            }
            self.body.variables.push(variable);
            if cursor.eat(Kind::Semicolon) {
                return Ok(());
            }
            cursor.expect(Kind::Comma, "`,` or `;` of a declaration")?;
        }
    }

    fn label(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        let name = cursor.name("a label")?;
        cursor.skip();
        let unique = self.names.symbol_of(name);
        let directive = if cursor.kind() == Kind::Dot { cursor.text() } else { "" };
        match directive {
            ".callprototype" => {
                cursor.skip();
                let prototype = function::prototype(cursor)?;
                self.shared.prototypes.push((unique, prototype));
            }
            ".branchtargets" => {
                cursor.skip();
                let targets = self.targets(cursor)?;
                self.body.branch_targets.push((unique, targets));
            }
            ".calltargets" => {
                cursor.skip();
                let targets = self.targets(cursor)?;
                self.body.call_targets.push((unique, targets));
            }
            _ => self.body.labels.push((unique, self.body.code.len())),
        }
        Ok(())
    }

    /// Names up to a semicolon.
    fn targets(&mut self, cursor: &mut Cursor<'a>) -> Parsed<Vec<String>> {
        cursor.list(Kind::Semicolon, "`,` or `;` of a list of targets", |cursor| {
            let name = cursor.name("the name of a target")?;
            Ok(self.names.symbol_of(name))
        })
    }

    fn instruction(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        let line = cursor.line();
        let guard = self.guard(cursor)?;
        let mut words = cursor.expect(Kind::Word, "an instruction")?.split('.');
        let opcode = words.next().unwrap_or("").to_owned();
        let mut modifiers: Vec<String> = words.map(str::to_owned).collect();
        while cursor.kind() == Kind::Dot {
            modifiers.push(cursor.text().get(1..).unwrap_or("").to_owned());
            cursor.skip();
        }
        let mut operands = Operands { names: &mut self.names, call: opcode == "call" };
        let operands = operands.all(cursor, &mut modifiers)?;
        cursor.expect(Kind::Semicolon, "`;` after an instruction")?;
        let place = self.places.current.clone();
        let instruction = Instruction { guard, opcode, modifiers, operands, place, line };
        self.body.code.push(instruction);
        Ok(())
    }

    fn guard(&mut self, cursor: &mut Cursor<'a>) -> Parsed<Option<Guard>> {
        if !cursor.eat(Kind::At) {
            return Ok(None);
        }
        let negated = cursor.eat(Kind::Bang);
        let register = Operands { names: &mut self.names, call: false }.predicate(cursor)?;
        Ok(Some(Guard { register, negated }))
    }
}
