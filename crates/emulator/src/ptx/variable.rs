//! Declarations of variables and parameters (PTX ISA 5.4).

use super::ast::{Init, StateSpace, Variable};
use super::constant::{self, literal};
use super::cursor::{Cursor, Parsed};
use super::init;
use super::lexer::Kind;
use super::types;

/// The most bytes that one variable may have.
const MAX_BYTES: u64 = 1 << 40;

/// What stands before the name in a declaration.
#[derive(Debug, Clone, Copy)]
pub struct Head<'a> {
    /// Where the variable lives.
    pub space: StateSpace,
    /// The type's name without dot.
    pub kind: &'a str,
    /// Bits of one element.
    pub bits: u32,
    /// Components of a vector type, or 1.
    pub lanes: u32,
    align: Option<u32>,
    managed: bool,
}

/// Reads what stands between the state space and the name: attributes, alignment, the type.
pub fn head<'a>(cursor: &mut Cursor<'a>, space: StateSpace) -> Parsed<Head<'a>> {
    let mut head = Head { space, kind: "", bits: 0, lanes: 1, align: None, managed: false };
    if space == StateSpace::Const && cursor.eat(Kind::OpenBracket) {
        // `.const[2]`, a bank, is deprecated and means nothing any more (PTX ISA 5.1.3).
        literal::<u8>(cursor, "the number of a constant bank")?;
        cursor.expect(Kind::CloseBracket, "`]`")?;
    }
    let mut pointer = false;
    while cursor.kind() == Kind::Dot {
        pointer |= property(cursor, &mut head, pointer)?;
    }
    if head.kind.is_empty() {
        return Err(cursor.error("a type"));
    }
    Ok(head)
}

/// Reads one dotted word of a head; whether it was `.ptr`, after which the pointee is described.
fn property<'a>(cursor: &mut Cursor<'a>, head: &mut Head<'a>, pointer: bool) -> Parsed<bool> {
    let dot = cursor.text();
    match dot {
        ".ptr" => {}
        ".global" | ".const" | ".shared" | ".local" | ".generic" | ".param" if pointer => {}
        ".align" => {
            cursor.skip();
            let align = alignment(cursor)?;
            if !pointer {
                head.align = Some(align);
            }
            return Ok(false);
        }
        ".attribute" => {
            cursor.skip();
            head.managed |= attributes(cursor)?;
            return Ok(false);
        }
        _ => {
            if let Some(lanes) = types::lanes(dot) {
                head.lanes = lanes;
            } else {
                let kind = dot.get(1..).unwrap_or("");
                let bits = types::bits(kind).filter(|_| head.kind.is_empty());
                head.bits = bits.ok_or_else(|| cursor.error("a type"))?;
                head.kind = kind;
            }
        }
    }
    cursor.skip();
    Ok(dot == ".ptr")
}

fn alignment(cursor: &mut Cursor<'_>) -> Parsed<u32> {
    let at = cursor.position();
    let align: u32 = literal(cursor, "an alignment")?;
    if align.is_power_of_two() {
        Ok(align)
    } else {
        Err(cursor.error_at(at, "an alignment that is a power of two"))
    }
}

/// What stands in `.attribute(...)`; whether `.managed` does (PTX ISA 5.4.8).
pub fn attributes(cursor: &mut Cursor<'_>) -> Parsed<bool> {
    cursor.expect(Kind::OpenParen, "`(` of attributes")?;
    let managed = cursor.list(Kind::CloseParen, "`,` or `)` of attributes", |cursor| {
        let managed = cursor.text() == ".managed";
        if !managed && cursor.text() != ".unified" {
            return Err(cursor.error("the attribute `.managed` or `.unified`"));
        }
        cursor.skip();
        if cursor.eat(Kind::OpenParen) {
            cursor.list(Kind::CloseParen, "`,` or `)` of an attribute", constant::integer)?;
        }
        Ok(managed)
    })?;
    Ok(managed.contains(&true))
}

/// Reads a name's extents and gives the variable, not initialised.
pub fn named(cursor: &mut Cursor<'_>, head: &Head<'_>, name: String) -> Parsed<Variable> {
    let at = cursor.position();
    let mut dims = Vec::new();
    while cursor.eat(Kind::OpenBracket) {
        let open = dims.is_empty() && cursor.kind() == Kind::CloseBracket;
        dims.push(if open { 0 } else { constant::integer(cursor)? });
        cursor.expect(Kind::CloseBracket, "`]`")?;
    }
    if head.lanes > 1 {
        dims.push(u64::from(head.lanes));
    }
    let element_bytes = head.bits.div_ceil(8);
    let bytes = dims.iter().try_fold(u64::from(element_bytes), |sum, dim| sum.checked_mul(*dim));
    if bytes.is_none_or(|bytes| bytes > MAX_BYTES) {
        return Err(cursor.error_at(at, format!("a variable of at most {MAX_BYTES} bytes")));
    }
    Ok(Variable {
        name,
        space: head.space,
        kind: head.kind.to_owned(),
        element_bytes,
        align: head.align.unwrap_or(element_bytes * head.lanes),
        dims,
        external: false,
        managed: head.managed,
        init: Vec::new(),
    })
}

/// Reads `= ...` if it is there.
pub fn initialised(
    cursor: &mut Cursor<'_>,
    variable: &mut Variable,
    zeros: &mut u64,
) -> Parsed<()> {
    if !cursor.eat(Kind::Equal) {
        return Ok(());
    }
    variable.init = init::initialiser(cursor, variable, zeros)?;
    if variable.dims.first() == Some(&0) {
        let row: u64 = variable.dims[1..].iter().product();
        let length = variable.init.len() as u64;
        variable.dims[0] = length.div_ceil(row.max(1));
    }
    Ok(())
}

/// The variables and functions whose addresses an initialiser takes.
pub fn addressed(variable: &mut Variable) -> impl Iterator<Item = &mut String> {
    variable.init.iter_mut().filter_map(|init| match init {
        Init::Address { name, .. } => Some(name),
        Init::Bits(_) => None,
    })
}
