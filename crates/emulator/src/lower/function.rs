//! One function: registers to rows, instructions to operations, labels to program counters.

use std::collections::HashMap;

use super::layout::{ParamLayout, align_up, bytes_of};
use super::{LowerError, Shared, access, calls, data, flow, sync};
use crate::alu;
use crate::lanes::{Row, Width};
use crate::program::{
    Branch, Function, Guard, Instr, NOWHERE, Op, Place, Preset, PresetValue, Traits,
};
use crate::ptx::ast::{self, Operand, StateSpace};

/// A thread has at most this much local memory (CUDA's technical specifications).
const LOCAL_BYTES_MAX: u64 = 512 << 10;

/// Why one instruction is not emulated, or what it names that isn't there.
#[derive(Debug)]
pub(crate) enum Refused {
    /// Not emulated.
    Unsupported(String),
    /// An error of the whole module.
    Module(LowerError),
}

impl From<LowerError> for Refused {
    fn from(error: LowerError) -> Self {
        Self::Module(error)
    }
}

/// A refusal by name.
pub(crate) fn unsupported<T>(what: impl Into<String>) -> Result<T, Refused> {
    Err(Refused::Unsupported(what.into()))
}

/// What a function becomes, while it does.
pub(crate) struct Builder<'b, 'm> {
    pub(crate) shared: &'b mut Shared<'m>,
    pub(crate) function: &'b ast::Function,
    pub(crate) body: &'b ast::Body,
    rows: Vec<Row>,
    units: u32,
    /// Units of the row that begins at a unit; 0 inside of one.
    row_units: Vec<u8>,
    presets: Vec<Preset>,
    known: HashMap<String, Row>,
    pub(crate) params: ParamLayout,
    pub(super) locals: Vec<(String, u32)>,
    local_bytes: u32,
    pub(super) own_shared: Vec<(String, usize)>,
    pub(crate) used_shared: Vec<usize>,
    code: Vec<Instr>,
    pub(super) places: Vec<Place>,
    pub(crate) traits: Traits,
    pub(crate) callees: Vec<usize>,
    carry: Option<Row>,
    guard: Option<Guard>,
}

/// Lowers a function with a body.
pub(crate) fn lower_function(
    shared: &mut Shared<'_>,
    function: &ast::Function,
    body: &ast::Body,
) -> Result<Function, LowerError> {
    let mut builder = Builder::new(shared, function, body)?;
    let mut meets = flow::immediate_postdominators(&successors(body));
    for meet in &mut meets {
        // Lanes that would meet only to return need not meet: an early return.
        let returns = |index: &usize| {
            let instruction = &body.code[*index];
            instruction.guard.is_none() && matches!(instruction.opcode.as_str(), "ret" | "exit")
        };
        *meet = meet.filter(|index| !(function.entry && returns(index)));
    }
    let mut joins = vec![false; body.code.len()];
    for (index, instruction) in body.code.iter().enumerate() {
        if (instruction.guard.is_some() || instruction.opcode == "brx")
            && let Some(meet) = meets[index]
        {
            joins[meet] = true;
        }
    }
    let mut starts = Vec::with_capacity(body.code.len() + 1);
    for (index, instruction) in body.code.iter().enumerate() {
        starts.push(builder.code.len() as u32);
        builder.begin(instruction);
        if joins[index] {
            builder.emit_unguarded(Op::Join);
        }
        builder.instruction(instruction, meets[index])?;
    }
    starts.push(builder.code.len() as u32);
    builder.emit_unguarded(Op::Return);
    builder.resolve_branches(&starts);
    Ok(builder.finish())
}

/// The target of a branch by its label.
fn label_index(body: &ast::Body, name: &str) -> Option<usize> {
    body.labels.iter().find(|(label, _)| label == name).map(|(_, index)| *index)
}

/// Labels a branch may go to.
fn branch_labels<'a>(body: &'a ast::Body, instruction: &'a ast::Instruction) -> Vec<&'a str> {
    let last = instruction.operands.last();
    let Some(Operand::Symbol { name, .. }) = last else { return Vec::new() };
    if instruction.opcode == "bra" {
        return vec![name];
    }
    let targets = body.branch_targets.iter().find(|(label, _)| label == name);
    targets.map(|(_, targets)| targets.iter().map(String::as_str).collect()).unwrap_or_default()
}

fn successors(body: &ast::Body) -> Vec<Vec<usize>> {
    let count = body.code.len();
    let mut all = Vec::with_capacity(count);
    let labels: HashMap<&str, usize> =
        body.labels.iter().map(|(label, index)| (label.as_str(), *index)).collect();
    for (index, instruction) in body.code.iter().enumerate() {
        let mut nexts: Vec<usize> = Vec::new();
        let falls_through = match instruction.opcode.as_str() {
            "bra" | "brx" => {
                for label in branch_labels(body, instruction) {
                    nexts.extend(labels.get(label).copied());
                }
                instruction.opcode == "bra" && instruction.guard.is_some()
            }
            "ret" | "exit" | "trap" => {
                nexts.push(count);
                instruction.guard.is_some()
            }
            _ => true,
        };
        if falls_through {
            nexts.push(index + 1);
        }
        all.push(nexts);
    }
    all
}

impl<'b, 'm> Builder<'b, 'm> {
    fn new(
        shared: &'b mut Shared<'m>,
        function: &'b ast::Function,
        body: &'b ast::Body,
    ) -> Result<Self, LowerError> {
        let mut params = ParamLayout::of(function)?;
        let mut locals = Vec::new();
        let mut local_end = 0u64;
        let mut own_shared = Vec::new();
        let too_much = |bytes| LowerError::Storage { function: function.name.clone(), bytes };
        for variable in &body.variables {
            let bytes = bytes_of(variable).unwrap_or(u64::MAX);
            match variable.space {
                StateSpace::Param => params.add(function, variable)?,
                StateSpace::Local => {
                    let at = align_up(local_end, variable.align);
                    local_end = at.saturating_add(bytes);
                    if local_end > LOCAL_BYTES_MAX {
                        return Err(too_much(local_end));
                    }
                    locals.push((variable.name.clone(), at as u32));
                }
                StateSpace::Shared => {
                    let index = shared.add_shared(variable).ok_or_else(|| too_much(bytes))?;
                    own_shared.push((variable.name.clone(), index));
                }
                StateSpace::Global | StateSpace::Const => {}
            }
        }
        let mut builder = Self {
            shared,
            function,
            body,
            rows: Vec::with_capacity(body.registers.len()),
            // Row 0 reads as zero in every width.
            units: Width::B128.units(),
            row_units: vec![0; Width::B128.units() as usize],
            presets: Vec::new(),
            known: HashMap::new(),
            params,
            locals,
            local_bytes: align_up(local_end, 16) as u32,
            own_shared,
            used_shared: Vec::new(),
            code: Vec::new(),
            places: Vec::new(),
            traits: Traits::default(),
            callees: Vec::new(),
            carry: None,
            guard: None,
        };
        for register in &body.registers {
            let row = builder.new_row(width_of_bits(register.bits));
            builder.rows.push(row);
        }
        // A kernel's shared variables are there whether or not it names them: they take room.
        builder.used_shared = builder.own_shared.iter().map(|(_, index)| *index).collect();
        Ok(builder)
    }

    /// A row that nothing else uses.
    pub(crate) fn new_row(&mut self, width: Width) -> Row {
        let row = Row(self.units);
        self.units += width.units();
        self.row_units.resize(self.units as usize, 0);
        self.row_units[row.0 as usize] = width.units() as u8;
        row
    }

    /// A register's row.
    pub(crate) fn row(&self, register: ast::Reg) -> Row {
        self.rows[register.0 as usize]
    }

    /// A register's width.
    pub(crate) fn width(&self, register: ast::Reg) -> Width {
        width_of_bits(self.body.registers[register.0 as usize].bits)
    }

    /// A row that always holds a value, one for each value.
    pub(crate) fn preset(&mut self, width: Width, value: PresetValue) -> Row {
        let key = format!("{width:?} {value:?}");
        if let Some(row) = self.known.get(&key) {
            return *row;
        }
        let row = self.new_row(width);
        self.presets.push(Preset { row, width, value });
        self.known.insert(key, row);
        row
    }

    /// A constant's row.
    pub(crate) fn constant(&mut self, width: Width, bits: u128) -> Row {
        self.preset(width, PresetValue::Bits(bits))
    }

    fn begin(&mut self, instruction: &ast::Instruction) {
        let place = instruction.place.as_ref();
        let place = self.shared.places.place(place, instruction.line, instruction.to_string());
        self.places.push(place);
        self.guard = None;
    }

    /// Adds an operation under the instruction's guard.
    pub(crate) fn emit(&mut self, op: Op) {
        let guard = self.guard;
        self.push(guard, op);
    }

    /// Adds an operation that all lanes run.
    pub(crate) fn emit_unguarded(&mut self, op: Op) {
        self.push(None, op);
    }

    fn push(&mut self, guard: Option<Guard>, op: Op) {
        let place = (self.places.len().max(1) - 1) as u32;
        self.code.push(Instr { guard, op, place });
    }

    fn instruction(
        &mut self,
        instruction: &ast::Instruction,
        meet: Option<usize>,
    ) -> Result<(), LowerError> {
        self.guard = instruction
            .guard
            .map(|guard| Guard { row: self.row(guard.register), negated: guard.negated });
        match self.dispatch(instruction, meet) {
            Ok(()) => Ok(()),
            Err(Refused::Module(error)) => Err(error),
            Err(Refused::Unsupported(what)) => {
                self.emit(Op::Unsupported(what));
                Ok(())
            }
        }
    }

    fn dispatch(
        &mut self,
        instruction: &ast::Instruction,
        meet: Option<usize>,
    ) -> Result<(), Refused> {
        match instruction.opcode.as_str() {
            "bra" | "brx" => self.branch(instruction, meet),
            "ret" => {
                self.emit(Op::Return);
                Ok(())
            }
            "exit" => {
                self.emit(Op::Exit);
                Ok(())
            }
            "trap" => {
                self.emit(Op::Trap);
                Ok(())
            }
            "brkpt" | "pmevent" | "prefetch" | "prefetchu" | "applypriority" | "discard"
            | "createpolicy" | "griddepcontrol" | "setmaxnreg" => {
                self.emit(Op::Nothing);
                Ok(())
            }
            "ld" | "ldu" | "st" | "atom" | "red" => access::lower(self, instruction),
            "call" => calls::lower(self, instruction),
            "bar" | "barrier" | "fence" | "membar" | "mbarrier" | "shfl" | "vote" | "match"
            | "redux" | "elect" | "activemask" | "nanosleep" | "cp" => {
                sync::lower(self, instruction)
            }
            "cvta" | "isspacep" => data::lower_address(self, instruction),
            "mov" if data::is_special(self, instruction) => data::lower_mov(self, instruction),
            _ => self.compute(instruction),
        }
    }

    fn branch(
        &mut self,
        instruction: &ast::Instruction,
        meet: Option<usize>,
    ) -> Result<(), Refused> {
        let labels = branch_labels(self.body, instruction);
        let mut targets = Vec::with_capacity(labels.len());
        for label in labels {
            // Indices into the text; `resolve_branches` makes program counters of them.
            let index = label_index(self.body, label);
            targets.push(index.ok_or_else(|| self.unknown(label, instruction.line))? as u32);
        }
        if targets.is_empty() {
            return unsupported(format!("`{instruction}` with no target"));
        }
        let index = match (instruction.opcode.as_str(), instruction.operands.first()) {
            ("brx", Some(operand)) => Some(self.source(operand, Width::B32)?),
            _ => None,
        };
        let join = meet.map_or(NOWHERE, |meet| meet as u32);
        self.emit(Op::Branch(Box::new(Branch { targets, index, join })));
        Ok(())
    }

    fn resolve_branches(&mut self, starts: &[u32]) {
        for instr in &mut self.code {
            if let Op::Branch(branch) = &mut instr.op {
                for target in &mut branch.targets {
                    *target = starts[*target as usize];
                }
                if branch.join != NOWHERE {
                    branch.join = starts[branch.join as usize];
                }
            }
        }
    }

    pub(crate) fn unknown(&self, name: &str, line: u32) -> LowerError {
        LowerError::UnknownName { name: name.to_owned(), line }
    }

    /// Everything that the ALU computes.
    fn compute(&mut self, instruction: &ast::Instruction) -> Result<(), Refused> {
        let widths = self.widths(&instruction.operands);
        let form = match alu::select(&instruction.opcode, &instruction.modifiers, &widths) {
            Ok(Some(form)) => form,
            Ok(None) => return unsupported(format!("`{instruction}`")),
            Err(refused) => return unsupported(format!("`{instruction}` ({refused})")),
        };
        let mut rows = alu::Rows { extra: form.extra, ..alu::Rows::default() };
        let mut operands = instruction.operands.iter();
        let results = self.results(&mut operands, &form)?;
        rows.d = results[0];
        rows.e = results[1];
        let mut sources = [Row(0); 4];
        let mut slots = form.sources.iter().enumerate();
        for (position, operand) in operands.by_ref().enumerate() {
            if form.immediate == Some(position) {
                let Operand::Int(value) = operand else {
                    return unsupported(format!("`{instruction}`"));
                };
                rows.extra = rows.extra.wrapping_add(*value as u32);
                continue;
            }
            let Some((index, slot)) = slots.next() else {
                return unsupported(format!("`{instruction}`: more operands than the form has"));
            };
            let into = sources.get_mut(index);
            let Some(into) = into else { return unsupported(format!("`{instruction}`")) };
            *into = self.source_as(operand, *slot)?;
        }
        if slots.next().is_some() {
            return unsupported(format!("`{instruction}`: fewer operands than the form has"));
        }
        [rows.a, rows.b, rows.c, rows.f] = sources;
        if form.reads_carry {
            rows.f = self.carry();
        }
        if form.writes_carry {
            rows.e = self.carry();
        }
        self.emit(Op::Compute(form.compute, rows));
        Ok(())
    }

    fn carry(&mut self) -> Row {
        if let Some(row) = self.carry {
            return row;
        }
        let row = self.new_row(Width::B32);
        self.carry = Some(row);
        row
    }

    fn results<'o>(
        &mut self,
        operands: &mut impl Iterator<Item = &'o Operand>,
        form: &alu::Form,
    ) -> Result<[Row; 2], Refused> {
        let mut rows = [Row(0); 2];
        let first = form.results.first().map(|slot| slot.width);
        match operands.next() {
            Some(Operand::Reg(register)) => rows[0] = self.row(*register),
            Some(Operand::Pair(d, e)) => {
                let width = first.unwrap_or(Width::Pred);
                rows[0] = self.result_or_scratch(*d, width);
                let second = form.results.get(1).map_or(width, |slot| slot.width);
                rows[1] = self.result_or_scratch(*e, second);
                return Ok(rows);
            }
            Some(Operand::Sink) => {
                rows[0] = self.new_row(first.unwrap_or(Width::B32));
            }
            other => return unsupported(format!("the result `{other:?}`")),
        }
        if let Some(second) = form.results.get(1) {
            rows[1] = self.new_row(second.width);
        }
        Ok(rows)
    }

    /// A result's row; of the sink, one that nobody reads.
    pub(crate) fn result_or_scratch(&mut self, register: Option<ast::Reg>, width: Width) -> Row {
        match register {
            Some(register) => self.row(register),
            None => self.new_row(width),
        }
    }

    fn finish(self) -> Function {
        let max_threads = self.function.directives.iter().find_map(|(name, numbers)| {
            let product = numbers.iter().fold(1u64, |all, one| all.saturating_mul(*one));
            matches!(name.as_str(), "maxntid" | "reqntid")
                .then(|| u32::try_from(product).unwrap_or(u32::MAX))
        });
        let mut code = self.code;
        super::decides::mark(&mut code, self.units);
        let steady = super::steady::ranges(&code, &self.row_units);
        Function {
            steady,
            name: self.function.name.clone(),
            entry: self.function.entry,
            code,
            units: self.units,
            presets: self.presets,
            params: self.params.params(),
            returns: self.params.returns(),
            param_bytes: self.params.bytes,
            local_bytes: self.local_bytes,
            shared: self.used_shared,
            callees: self.callees,
            places: self.places,
            max_threads,
            traits: self.traits,
            defined: true,
        }
    }
}

/// The width of a register of so many bits.
pub(crate) fn width_of_bits(bits: u32) -> Width {
    match bits {
        1 => Width::Pred,
        2..=16 => Width::B16,
        17..=32 => Width::B32,
        33..=64 => Width::B64,
        _ => Width::B128,
    }
}
