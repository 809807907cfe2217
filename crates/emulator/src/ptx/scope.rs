//! Names inside a function: registers, variables, labels, in scopes that nest.

use std::collections::HashMap;

use super::ast::{Reg, Register};

/// The most registers that one function may declare.
pub const MAX_REGISTERS: u64 = 1 << 20;

/// The most scopes inside one another.
pub const MAX_SCOPES: usize = 128;

/// What a name stands for.
#[derive(Debug, Clone)]
pub enum Named {
    /// A register.
    Register(Reg),
    /// The components of a vector register.
    Vector(Vec<Reg>),
    /// A variable, parameter or label, by its unique name.
    Symbol(String),
}

/// The type of declared registers.
#[derive(Debug, Clone, Copy)]
pub struct RegisterType<'a> {
    /// Without its dot.
    pub kind: &'a str,
    /// Of one component.
    pub bits: u32,
    /// 1, or the components of a vector.
    pub lanes: u32,
}

/// `%r<100>`: the names `%r0` to `%r99`, numbered when they are first used.
#[derive(Debug, Clone, Copy)]
struct Range<'a> {
    count: u64,
    typ: RegisterType<'a>,
}

#[derive(Debug, Default)]
struct Scope<'a> {
    names: HashMap<&'a str, Named>,
    ranges: HashMap<&'a str, Range<'a>>,
}

/// All names of a function, and the registers that they led to.
#[derive(Debug, Default)]
pub struct Names<'a> {
    scopes: Vec<Scope<'a>>,
    registers: Vec<Register>,
    declared: u64,
    /// How many declarations of each symbol's name there were.
    used: HashMap<&'a str, u32>,
}

/// Why a name can't be declared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The scope declares it already.
    Twice,
    /// There are too many registers.
    TooMany,
}

impl<'a> Names<'a> {
    /// Opens a scope; whether that was possible.
    pub fn open(&mut self) -> bool {
        let room = self.scopes.len() < MAX_SCOPES;
        if room {
            self.scopes.push(Scope::default());
        }
        room
    }

    /// Closes the innermost scope.
    pub fn close(&mut self) {
        self.scopes.pop();
    }

    /// The registers numbered so far.
    pub fn into_registers(self) -> Vec<Register> {
        self.registers
    }

    /// Declares a variable in the innermost scope and gives its unique name. If it is `taken` by
    /// the module, it is another one.
    pub fn symbol(&mut self, name: &'a str, taken: bool) -> Result<String, Refusal> {
        self.used.entry(name).or_insert(u32::from(taken));
        let unique = unique(&mut self.used, name);
        self.alias(name, unique.clone())?;
        Ok(unique)
    }

    /// Declares a name for a symbol that is already unique.
    pub fn alias(&mut self, name: &'a str, unique: String) -> Result<(), Refusal> {
        self.insert(name, Named::Symbol(unique))
    }

    /// Declares one register, or one vector of them.
    pub fn register(&mut self, name: &'a str, typ: RegisterType<'a>) -> Result<(), Refusal> {
        self.count(1, typ)?;
        let named = number(&mut self.registers, name, typ);
        self.insert(name, named)
    }

    /// Declares the registers `prefix0` to `prefixN`, N being `count` less one.
    pub fn range(
        &mut self,
        prefix: &'a str,
        count: u64,
        typ: RegisterType<'a>,
    ) -> Result<(), Refusal> {
        self.count(count, typ)?;
        let scope = self.scopes.last_mut().ok_or(Refusal::Twice)?;
        match scope.ranges.insert(prefix, Range { count, typ }) {
            None => Ok(()),
            Some(_) => Err(Refusal::Twice),
        }
    }

    fn count(&mut self, count: u64, typ: RegisterType<'_>) -> Result<(), Refusal> {
        let added = count.saturating_mul(u64::from(typ.lanes));
        self.declared = self.declared.saturating_add(added);
        if self.declared > MAX_REGISTERS { Err(Refusal::TooMany) } else { Ok(()) }
    }

    fn insert(&mut self, name: &'a str, named: Named) -> Result<(), Refusal> {
        let scope = self.scopes.last_mut().ok_or(Refusal::Twice)?;
        match scope.names.insert(name, named) {
            None => Ok(()),
            Some(_) => Err(Refusal::Twice),
        }
    }

    /// The unique name of a variable or label, or the name itself if the function has none such.
    pub fn symbol_of(&self, name: &str) -> String {
        let mut scopes = self.scopes.iter().rev();
        match scopes.find_map(|scope| scope.names.get(name)) {
            Some(Named::Symbol(unique)) => unique.clone(),
            _ => name.to_owned(),
        }
    }

    /// What a name stands for in the innermost scope that knows it.
    pub fn find(&mut self, name: &'a str) -> Option<Named> {
        for scope in self.scopes.iter_mut().rev() {
            if let Some(named) = scope.names.get(name) {
                return Some(named.clone());
            }
            if let Some(range) = scope.range_of(name) {
                let named = number(&mut self.registers, name, range.typ);
                scope.names.insert(name, named.clone());
                return Some(named);
            }
        }
        None
    }
}

impl<'a> Scope<'a> {
    /// The range that a name like `%r17` belongs to.
    fn range_of(&self, name: &str) -> Option<Range<'a>> {
        if self.ranges.is_empty() {
            return None;
        }
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count().min(7);
        (1..=digits).find_map(|length| {
            let (prefix, number) = name.split_at(name.len() - length);
            if length > 1 && number.starts_with('0') {
                return None;
            }
            let index: u64 = number.parse().ok()?;
            self.ranges.get(prefix).filter(|range| index < range.count).copied()
        })
    }
}

/// A name that no other declaration has: `#` is in no name of PTX.
pub fn unique<'a>(used: &mut HashMap<&'a str, u32>, name: &'a str) -> String {
    let count = used.entry(name).or_insert(0);
    *count += 1;
    if *count == 1 { name.to_owned() } else { format!("{name}#{count}") }
}

/// Numbers a register, or the components of a vector.
fn number(registers: &mut Vec<Register>, name: &str, typ: RegisterType<'_>) -> Named {
    let mut push = |name: String| {
        let reg = Reg(u32::try_from(registers.len()).unwrap_or(u32::MAX));
        registers.push(Register { name, kind: typ.kind.to_owned(), bits: typ.bits });
        reg
    };
    if typ.lanes == 1 {
        return Named::Register(push(name.to_owned()));
    }
    let components = "xyzwabcd".chars().take(typ.lanes as usize);
    Named::Vector(components.map(|letter| push(format!("{name}.{letter}"))).collect())
}
