//! Modules: directives, variables and functions from top to bottom (PTX ISA 11).

use super::ast::Module;
use super::body::Shared;
use super::constant::literal;
use super::cursor::{Cursor, Parsed};
use super::init::{MAX_ZEROS, unquote};
use super::lexer::Kind;
use super::{debug, function, types, variable};

/// The most files that `.file` may number.
const MAX_FILES: usize = 1 << 16;

/// Reads a module up to the end of the text.
pub fn module(cursor: &mut Cursor<'_>) -> Parsed<Module> {
    let shared = Shared { zeros: MAX_ZEROS, ..Shared::default() };
    let mut reader = Reader { module: Module::default(), shared };
    while cursor.kind() != Kind::End {
        reader.item(cursor)?;
    }
    if reader.module.version == (0, 0) {
        return Err(cursor.error("`.version`"));
    }
    let mut module = reader.module;
    module.prototypes.append(&mut reader.shared.prototypes);
    Ok(module)
}

struct Reader<'a> {
    module: Module,
    shared: Shared<'a>,
}

impl<'a> Reader<'a> {
    fn item(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        if cursor.kind() == Kind::Word && cursor.kind_after() == Kind::Colon {
            return self.labelled(cursor);
        }
        if cursor.kind() != Kind::Dot {
            return Err(cursor.error("a directive"));
        }
        match cursor.text() {
            ".version" => self.version(cursor),
            ".target" => self.target(cursor),
            ".address_size" => address_size(cursor),
            ".file" => self.file(cursor),
            ".section" => {
                cursor.skip();
                self.module.strings.append(&mut debug::section(cursor)?);
                Ok(())
            }
            ".pragma" => function::pragma(cursor),
            ".alias" => self.alias(cursor),
            _ => self.definition(cursor),
        }
    }

    fn version(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        cursor.skip();
        let number = |text: &str| text.parse::<u32>().ok();
        let version = match cursor.kind() {
            Kind::Decimal => cursor.text().split_once('.'),
            _ => None,
        };
        let version = version.and_then(|(major, minor)| Some((number(major)?, number(minor)?)));
        let version = version.filter(|version| *version != (0, 0));
        self.module.version = version.ok_or_else(|| cursor.error("a version, like 9.0"))?;
        cursor.skip();
        Ok(())
    }

    fn target(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        cursor.skip();
        let target = cursor.name("a target, like sm_80")?;
        target.clone_into(&mut self.module.target);
        while cursor.eat(Kind::Comma) {
            cursor.name("an option of the target")?;
        }
        Ok(())
    }

    /// `.file 1 "path"`, perhaps with a time and a size (PTX ISA 11.5.3).
    fn file(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        cursor.skip();
        let at = cursor.position();
        let number: usize = literal(cursor, "the number of a file")?;
        if number >= MAX_FILES {
            return Err(cursor.error_at(at, format!("the number of a file, below {MAX_FILES}")));
        }
        let path = unquote(cursor.expect(Kind::Text, "a path in quotes")?);
        while cursor.eat(Kind::Comma) {
            literal::<u64>(cursor, "a time or size")?;
        }
        let files = &mut self.module.files;
        if files.len() <= number {
            files.resize(number + 1, String::new());
        }
        files[number] = String::from_utf8_lossy(&path).into_owned();
        Ok(())
    }

    fn alias(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        cursor.skip();
        let name = cursor.name("the name of an alias")?.to_owned();
        cursor.expect(Kind::Comma, "`,` of an alias")?;
        let of = cursor.name("the function of an alias")?.to_owned();
        cursor.expect(Kind::Semicolon, "`;` after an alias")?;
        self.module.aliases.push((name, of));
        Ok(())
    }

    /// A prototype outside functions.
    fn labelled(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        let name = cursor.name("a label")?;
        cursor.skip();
        if !cursor.eat_text(".callprototype") {
            return Err(cursor.error("`.callprototype`"));
        }
        *self.shared.prototype_names.entry(name).or_default() += 1;
        let prototype = function::prototype(cursor)?;
        self.module.prototypes.push((name.to_owned(), prototype));
        Ok(())
    }

    /// A variable or function, perhaps with how it is linked (PTX ISA 11.6).
    fn definition(&mut self, cursor: &mut Cursor<'a>) -> Parsed<()> {
        let mut external = false;
        while matches!(cursor.text(), ".visible" | ".extern" | ".weak" | ".common") {
            external |= cursor.text() == ".extern";
            cursor.skip();
        }
        let entry = cursor.text() == ".entry";
        if entry || cursor.text() == ".func" {
            cursor.skip();
            let function = function::function(cursor, entry, &mut self.shared)?;
            self.module.functions.push(function);
            return Ok(());
        }
        self.variables(cursor, external)
    }

    fn variables(&mut self, cursor: &mut Cursor<'a>, external: bool) -> Parsed<()> {
        let Some(space) = types::space(cursor.text()) else {
            return Err(cursor.error("a directive of a module"));
        };
        cursor.skip();
        let head = variable::head(cursor, space)?;
        loop {
            let name = cursor.name("the name of a variable")?;
            let mut variable = variable::named(cursor, &head, name.to_owned())?;
            variable.external = external;
            variable::initialised(cursor, &mut variable, &mut self.shared.zeros)?;
            self.shared.variables.insert(name);
            self.module.variables.push(variable);
            if cursor.eat(Kind::Semicolon) {
                return Ok(());
            }
            cursor.expect(Kind::Comma, "`,` or `;` of a declaration")?;
        }
    }
}

fn address_size(cursor: &mut Cursor<'_>) -> Parsed<()> {
    cursor.skip();
    let at = cursor.position();
    match literal::<u64>(cursor, "64")? {
        64 => Ok(()),
        _ => Err(cursor.error_at(at, "64: other sizes of addresses aren't supported")),
    }
}
