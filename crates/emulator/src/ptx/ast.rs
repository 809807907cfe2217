//! A PTX module as written: nothing is resolved but the names of registers, which are numbered.

use std::sync::Arc;

/// One PTX module: a `.version` line and what follows it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Module {
    /// `.version 9.0` is `(9, 0)`.
    pub version: (u32, u32),
    /// The first name after `.target`: `sm_80`, `sm_90a`.
    pub target: String,
    /// Paths by the number that `.file` gives them; index 0 is unused unless a module numbers so.
    pub files: Vec<String>,
    /// Variables of module scope: `.global`, `.const`, `.shared`, in the order of the text.
    pub variables: Vec<Variable>,
    /// Functions and entries, with bodies or only declared, in the order of the text.
    pub functions: Vec<Function>,
    /// Call prototypes declared anywhere, by label: only their parameters matter.
    pub prototypes: Vec<(String, Prototype)>,
    /// Texts of `.debug_str` by label, for the names of inlined functions. Several texts under one
    /// label have NULs between; [`Module::function_name`] gives the one that a place means.
    pub strings: Vec<(String, String)>,
    /// `.alias name, of;`: functions by another name.
    pub aliases: Vec<(String, String)>,
}

impl Module {
    /// The mangled name of the function that a place lies in, if it was inlined and named.
    pub fn function_name(&self, place: &Place) -> Option<&str> {
        let (label, offset) = place.function.as_ref()?;
        let (_, text) = self.strings.iter().find(|(name, _)| name == label)?;
        text.get(*offset as usize..)?.split('\0').next()
    }
}

/// Where a variable lives (PTX ISA 5.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateSpace {
    /// `.global`
    Global,
    /// `.const`
    Const,
    /// `.shared`
    Shared,
    /// `.local`
    Local,
    /// `.param`
    Param,
}

/// A variable or a parameter. `.b8 name[16][4]` has `element_bytes` 1 and `dims` `[16, 4]`.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Where it lives.
    pub space: StateSpace,
    /// The fundamental type's name without its dot: `b8`, `f32`, `u64`. A vector's is that of its
    /// components.
    pub kind: String,
    /// Bytes of an element, a component if it is a vector.
    pub element_bytes: u32,
    /// Alignment in bytes: what `.align` says, else the size of an element or vector.
    pub align: u32,
    /// Extents; empty for a scalar. `[]` of an extern array is extent 0. A vector's components are
    /// the last extent.
    pub dims: Vec<u64>,
    /// Whether `.extern` stands before it.
    pub external: bool,
    /// Whether it is `.attribute(.managed)`.
    pub managed: bool,
    /// The initialiser, flattened in memory order; shorter than the variable where the rest is 0.
    pub init: Vec<Init>,
}

/// One element of an initialiser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Init {
    /// The low bytes of this, in the element's size. Floats are given as their bits.
    Bits(u64),
    /// The address of a variable or function, plus an offset.
    Address {
        /// Whose address.
        name: String,
        /// Bytes past it.
        offset: i64,
        /// Whether `generic(name)` is written.
        generic: bool,
        /// `0xFF(name)`-style masks: which byte of the address, if only one is meant.
        byte: Option<u8>,
    },
}

/// Parameters of a function type.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Prototype {
    /// Return values.
    pub returns: Vec<Variable>,
    /// Parameters.
    pub params: Vec<Variable>,
}

/// An `.entry` or a `.func`.
#[derive(Debug, Clone, PartialEq)]
pub struct Function {
    /// Its name, mangled as the compiler wrote it.
    pub name: String,
    /// Whether it is an `.entry`, that is a kernel.
    pub entry: bool,
    /// Return values and parameters. Those in registers (old style) have space
    /// [`StateSpace::Param`] too and are listed in `register_params`.
    pub prototype: Prototype,
    /// Names among the parameters that are declared `.reg`.
    pub register_params: Vec<String>,
    /// Directives by name without dot, with their numbers: `maxntid` (1 to 3 numbers), `reqntid`,
    /// `minnctapersm`, `maxnreg`, `explicitcluster`, `reqnctapercluster`, `noreturn`.
    pub directives: Vec<(String, Vec<u64>)>,
    /// The body, unless this is only a declaration.
    pub body: Option<Body>,
    /// The line of the PTX text where it begins, from 1.
    pub line: u32,
}

/// The body of a function.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Body {
    /// Registers, each name of the source once a scope it is declared in; [`Reg`] is an index. Of a
    /// range like `%r<100>` only those that are used are here. A vector's components are registers
    /// of their own, named `%v.x`.
    pub registers: Vec<Register>,
    /// Variables declared inside: `.shared`, `.local`, `.param`, `.global`, `.const`. A name that
    /// two scopes declare, or one and the module, is made unique, and so are its uses; an extern
    /// one keeps its name.
    pub variables: Vec<Variable>,
    /// The instructions in the order of the text.
    pub code: Vec<Instruction>,
    /// Labels: the index of the instruction that follows each. Labels are function-wide and unique:
    /// one that two scopes declare is made unique by the parser.
    pub labels: Vec<(String, usize)>,
    /// Targets of `brx.idx` by the label of their `.branchtargets`.
    pub branch_targets: Vec<(String, Vec<String>)>,
    /// `.calltargets` by label.
    pub call_targets: Vec<(String, Vec<String>)>,
}

/// A register of one function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reg(pub u32);

/// A declared register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Register {
    /// With its `%` if it has one.
    pub name: String,
    /// The type's name without dot: `pred`, `b32`, `f64`, `b128`.
    pub kind: String,
    /// Bits: 1 for predicates, else 8 to 128.
    pub bits: u32,
}

/// `@%p1` or `@!%p1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guard {
    /// The predicate.
    pub register: Reg,
    /// Whether it is negated.
    pub negated: bool,
}

/// One instruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// The guard.
    pub guard: Option<Guard>,
    /// What stands before the first dot: `ld`, `mbarrier`, `cp`.
    pub opcode: String,
    /// What follows, split at dots (`::` stays inside): `["arrive", "shared::cta", "b64"]`.
    pub modifiers: Vec<String>,
    /// The operands from left to right. Of a call: see [`Operand::List`].
    pub operands: Vec<Operand>,
    /// The source place of the last `.loc` before it.
    pub place: Option<Arc<Place>>,
    /// The line of the PTX text, from 1.
    pub line: u32,
}

/// An operand.
#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    /// A register.
    Reg(Reg),
    /// A negated predicate source, `!%p1`.
    Not(Reg),
    /// A pair `%p1|%p2`, of setp, shfl, match, or the like. `None` is the sink `_`.
    Pair(Option<Reg>, Option<Reg>),
    /// An integer; negative ones are in two's complement.
    Int(u64),
    /// `0fXXXXXXXX`.
    F32(u32),
    /// `0dXXXXXXXXXXXXXXXX` or a decimal float, as bits.
    F64(u64),
    /// A special register with its `%`, dimension included: `%tid.x`, `%laneid`, `%envreg1`.
    Special(String),
    /// The name of a variable, function or label, plus an offset.
    Symbol {
        /// The name.
        name: String,
        /// Bytes past it.
        offset: i64,
    },
    /// `[base + offset]`.
    Memory {
        /// What stands first.
        base: Base,
        /// The offset in bytes.
        offset: i64,
    },
    /// `[name, {...}]` and other bracketed lists, of textures and tensor copies.
    MemoryList(Vec<Operand>),
    /// `{%r1, %r2}`, a whole vector register, or the parenthesised lists of a call, which are there
    /// only if they are written: a call whose first operand is a list returns it.
    List(Vec<Operand>),
    /// Parts of a register, of video instructions: `%r1.b0`, `%r2.h1`, the selector without dot.
    Selection(Reg, String),
    /// The sink `_`.
    Sink,
}

/// The base of a memory operand.
#[derive(Debug, Clone, PartialEq)]
pub enum Base {
    /// A register.
    Reg(Reg),
    /// A variable or parameter.
    Symbol(String),
    /// An absolute address; the number is the offset.
    None,
}

/// A place in a source file (`.loc`), with the places it was inlined at, innermost first.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The number of the file.
    pub file: u32,
    /// From 1; 0 where the compiler knows none.
    pub line: u32,
    /// From 1; 0 where the compiler knows none.
    pub column: u32,
    /// The label of the inlined function's name in the strings, plus its offset.
    pub function: Option<(String, u32)>,
    /// Where it was inlined.
    pub inlined_at: Option<Arc<Place>>,
}
