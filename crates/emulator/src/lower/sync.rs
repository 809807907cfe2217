//! Barriers, fences, collectives of a warp, asynchronous copies.

use super::access::address;
use super::form::Form;
use super::function::{Builder, Refused, unsupported};
use crate::lanes::{Row, Width};
use crate::program::{
    AsyncCopy, Bar, BarKind, Collective, Count, Fence, FenceKind, MatchKind, Mbarrier, MbarrierOp,
    Op, ReduxOp, Scope, ShflMode, Space, VoteMode,
};
use crate::ptx::ast::{Instruction, Operand, Reg};

pub(crate) fn lower(builder: &mut Builder<'_, '_>, text: &Instruction) -> Result<(), Refused> {
    let mut form = Form::new(&text.modifiers);
    let form = &mut form;
    match text.opcode.as_str() {
        "bar" | "barrier" if form.take("warp") => {
            form.take("sync");
            let mask = source(builder, text, 0, Width::B32)?;
            collective(builder, form, text, mask, Collective::Sync)
        }
        "bar" | "barrier" => bar(builder, form, text),
        "fence" | "membar" => fence(builder, form, text),
        "mbarrier" => mbarrier(builder, form, text),
        "activemask" => {
            form.take("b32");
            done(form, text)?;
            let d = result(builder, text.operands.first(), Width::B32)?;
            builder.traits.schedule_dependent = true;
            builder.emit(Op::ActiveMask(d));
            Ok(())
        }
        "nanosleep" => {
            form.take("u32");
            done(form, text)?;
            let row = source(builder, text, 0, Width::B32)?;
            builder.emit(Op::Sleep(row));
            Ok(())
        }
        "cp" => copy(builder, form, text),
        _ => warp_wide(builder, form, text),
    }
}

fn done(form: &Form<'_>, text: &Instruction) -> Result<(), Refused> {
    match form.left() {
        None => Ok(()),
        Some(left) => unsupported(format!("`{text}`: `.{left}`")),
    }
}

fn source(
    builder: &mut Builder<'_, '_>,
    text: &Instruction,
    index: usize,
    width: Width,
) -> Result<Row, Refused> {
    match text.operands.get(index) {
        Some(operand) => builder.source(operand, width),
        None => unsupported(format!("`{text}`: too few operands")),
    }
}

fn result(
    builder: &mut Builder<'_, '_>,
    operand: Option<&Operand>,
    width: Width,
) -> Result<Row, Refused> {
    match operand {
        Some(Operand::Reg(register)) => Ok(builder.row(*register)),
        Some(Operand::Sink) => Ok(builder.new_row(width)),
        other => unsupported(format!("the result `{other:?}`")),
    }
}

/// A predicate source and whether it is negated.
fn predicate(
    builder: &mut Builder<'_, '_>,
    text: &Instruction,
    index: usize,
) -> Result<(Row, bool), Refused> {
    match text.operands.get(index) {
        Some(Operand::Reg(register)) => Ok((builder.row(*register), false)),
        Some(Operand::Not(register)) => Ok((builder.row(*register), true)),
        // A constant predicate: 0 or 1.
        Some(Operand::Int(value)) => Ok((Row(0), *value != 0)),
        _ => unsupported(format!("`{text}`: its predicate")),
    }
}

fn collective(
    builder: &mut Builder<'_, '_>,
    form: &Form<'_>,
    text: &Instruction,
    mask: Row,
    op: Collective,
) -> Result<(), Refused> {
    done(form, text)?;
    builder.emit(Op::Collective(mask, Box::new(op)));
    Ok(())
}

fn bar(
    builder: &mut Builder<'_, '_>,
    form: &mut Form<'_>,
    text: &Instruction,
) -> Result<(), Refused> {
    form.take("cta");
    let aligned = form.take("aligned") || text.opcode == "bar";
    let kind = if form.take("sync") {
        BarKind::Sync
    } else if form.take("arrive") {
        BarKind::Arrive
    } else if form.take("red") {
        let kinds = [("popc", BarKind::Popc), ("and", BarKind::And), ("or", BarKind::Or)];
        let Some(kind) = form.take_any(&kinds) else { return unsupported(format!("`{text}`")) };
        kind
    } else {
        return unsupported(format!("`{text}`"));
    };
    form.take("u32");
    form.take("pred");
    done(form, text)?;
    let reduces = matches!(kind, BarKind::Popc | BarKind::And | BarKind::Or);
    let first = usize::from(reduces);
    let (result, source_predicate) = if reduces {
        let width = if kind == BarKind::Popc { Width::B32 } else { Width::Pred };
        let d = result(builder, text.operands.first(), width)?;
        (d, predicate(builder, text, text.operands.len() - 1)?)
    } else {
        (Row(0), (Row(0), false))
    };
    let id = source(builder, text, first, Width::B32)?;
    let with_count = text.operands.len() > first + 1 + usize::from(reduces);
    let count = match with_count {
        true => Count::Row(source(builder, text, first + 1, Width::B32)?),
        false => Count::All,
    };
    let bar = Bar { kind, aligned, id, count, result, source: source_predicate };
    builder.emit(Op::Bar(Box::new(bar)));
    Ok(())
}

fn fence(
    builder: &mut Builder<'_, '_>,
    form: &mut Form<'_>,
    text: &Instruction,
) -> Result<(), Refused> {
    let kinds = [
        ("sc", FenceKind::SequentiallyConsistent),
        ("acq_rel", FenceKind::AcquireRelease),
        ("acquire", FenceKind::Acquire),
        ("release", FenceKind::Release),
    ];
    if form.take("proxy") {
        while form.take_with(|_| Some(())).is_some() {}
        builder.emit(Op::Fence(Fence { kind: FenceKind::Proxy, scope: Scope::Block }));
        return Ok(());
    }
    if form.take("mbarrier_init") {
        while form.take_with(|_| Some(())).is_some() {}
        builder.emit(Op::Fence(Fence { kind: FenceKind::Release, scope: Scope::Cluster }));
        return Ok(());
    }
    let kind = form.take_any(&kinds).unwrap_or(match text.opcode.as_str() {
        "membar" => FenceKind::SequentiallyConsistent,
        _ => FenceKind::AcquireRelease,
    });
    let Some(scope) = form.scope() else { return unsupported(format!("`{text}`: its scope")) };
    done(form, text)?;
    builder.emit(Op::Fence(Fence { kind, scope }));
    Ok(())
}

fn mbarrier(
    builder: &mut Builder<'_, '_>,
    form: &mut Form<'_>,
    text: &Instruction,
) -> Result<(), Refused> {
    let space = match form.space() {
        Space::Generic => Space::Generic,
        Space::Shared => Space::Shared,
        _ => return unsupported(format!("`{text}`: its state space")),
    };
    form.take("b64");
    let scope = form.scope();
    if matches!(scope, Some(Scope::Cluster)) {
        // One block a cluster: the same as the block's scope.
    }
    let relaxed = form.take("relaxed");
    form.take("release");
    form.take("acquire");
    let verb = form.take_any(&[
        ("init", "init"),
        ("inval", "inval"),
        ("arrive", "arrive"),
        ("arrive_drop", "arrive_drop"),
        ("expect_tx", "expect_tx"),
        ("complete_tx", "complete_tx"),
        ("test_wait", "test_wait"),
        ("try_wait", "try_wait"),
        ("pending_count", "pending_count"),
    ]);
    let Some(verb) = verb else { return unsupported(format!("`{text}`")) };
    builder.traits.schedule_dependent = true;
    let operands = &text.operands;
    let (op, at) = match verb {
        "init" => (MbarrierOp::Init(source(builder, text, 1, Width::B32)?), 0),
        "inval" => (MbarrierOp::Inval, 0),
        "arrive" | "arrive_drop" => {
            let no_complete = form.take("noComplete");
            let expects = form.take("expect_tx");
            let (state, at) = match operands.first() {
                Some(Operand::Memory { .. }) => (None, 0),
                Some(Operand::Sink) => (None, 1),
                other => (Some(result(builder, other, Width::B64)?), 1),
            };
            let last = operands.get(at + 1);
            let last = last.map(|operand| builder.source(operand, Width::B32)).transpose()?;
            let (count, expect) = if expects { (None, last) } else { (last, None) };
            let drop = verb == "arrive_drop";
            let release = !relaxed;
            (MbarrierOp::Arrive { state, count, drop, no_complete, expect, release }, at)
        }
        "expect_tx" => (MbarrierOp::ExpectTx(source(builder, text, 1, Width::B32)?), 0),
        "complete_tx" => (MbarrierOp::CompleteTx(source(builder, text, 1, Width::B32)?), 0),
        "pending_count" => {
            let d = result(builder, operands.first(), Width::B32)?;
            let state = source(builder, text, 1, Width::B64)?;
            done(form, text)?;
            let op = MbarrierOp::PendingCount { d, state };
            let at = Mbarrier { op, space, base: Row(0), wide: true, offset: 0 };
            builder.emit(Op::Mbarrier(Box::new(at)));
            return Ok(());
        }
        _ => {
            let parity = form.take("parity");
            let done = result(builder, operands.first(), Width::Pred)?;
            let width = if parity { Width::B32 } else { Width::B64 };
            let state = source(builder, text, 2, width)?;
            let (may_block, acquire) = (verb == "try_wait", !relaxed);
            (MbarrierOp::Wait { done, state, parity, may_block, acquire }, 1)
        }
    };
    done(form, text)?;
    let (base, wide, offset) = address(builder, operands.get(at), text)?;
    builder.emit(Op::Mbarrier(Box::new(Mbarrier { op, space, base, wide, offset })));
    Ok(())
}

/// The two results of `shfl` and `match`.
fn pair(
    builder: &mut Builder<'_, '_>,
    operand: Option<&Operand>,
) -> Result<(Row, Option<Row>), Refused> {
    match operand {
        Some(Operand::Pair(d, p)) => {
            let d = builder.result_or_scratch(*d, Width::B32);
            Ok((d, p.map(|register: Reg| builder.row(register))))
        }
        other => Ok((result(builder, other, Width::B32)?, None)),
    }
}

fn warp_wide(
    builder: &mut Builder<'_, '_>,
    form: &mut Form<'_>,
    text: &Instruction,
) -> Result<(), Refused> {
    if !form.take("sync") {
        return unsupported(format!(
            "`{text}`: without `.sync`, which architectures before 7.0 had"
        ));
    }
    let wide = form.take("b64");
    form.take("b32");
    let last = text.operands.len().saturating_sub(1);
    let mask = source(builder, text, last, Width::B32)?;
    let op = match text.opcode.as_str() {
        "shfl" => shfl(builder, form, text)?,
        "vote" => {
            form.take("pred");
            let modes = [
                ("all", VoteMode::All),
                ("any", VoteMode::Any),
                ("uni", VoteMode::Uni),
                ("ballot", VoteMode::Ballot),
            ];
            let Some(mode) = form.take_any(&modes) else { return unsupported(format!("`{text}`")) };
            let width = if mode == VoteMode::Ballot { Width::B32 } else { Width::Pred };
            let d = result(builder, text.operands.first(), width)?;
            Collective::Vote { mode, d, source: predicate(builder, text, 1)? }
        }
        "match" => {
            let kinds = [("any", MatchKind::Any), ("all", MatchKind::All)];
            let Some(kind) = form.take_any(&kinds) else {
                return unsupported(format!("`{text}`"));
            };
            let (d, p) = pair(builder, text.operands.first())?;
            let a = source(builder, text, 1, if wide { Width::B64 } else { Width::B32 })?;
            Collective::Match { kind, d, p, a, wide }
        }
        "redux" => {
            let signed = form.take("s32");
            form.take("u32");
            let ops = [
                ("add", ReduxOp::Add),
                ("min", if signed { ReduxOp::MinSigned } else { ReduxOp::MinUnsigned }),
                ("max", if signed { ReduxOp::MaxSigned } else { ReduxOp::MaxUnsigned }),
                ("and", ReduxOp::And),
                ("or", ReduxOp::Or),
                ("xor", ReduxOp::Xor),
            ];
            let Some(op) = form.take_any(&ops) else { return unsupported(format!("`{text}`")) };
            let d = result(builder, text.operands.first(), Width::B32)?;
            Collective::Redux { op, d, a: source(builder, text, 1, Width::B32)? }
        }
        "elect" => match text.operands.first() {
            Some(Operand::Pair(d, Some(p))) => {
                Collective::Elect { d: d.map(|d| builder.row(d)), p: builder.row(*p) }
            }
            _ => return unsupported(format!("`{text}`")),
        },
        _ => return unsupported(format!("`{text}`")),
    };
    collective(builder, form, text, mask, op)
}

fn shfl(
    builder: &mut Builder<'_, '_>,
    form: &mut Form<'_>,
    text: &Instruction,
) -> Result<Collective, Refused> {
    let modes = [
        ("idx", ShflMode::Idx),
        ("up", ShflMode::Up),
        ("down", ShflMode::Down),
        ("bfly", ShflMode::Bfly),
    ];
    let Some(mode) = form.take_any(&modes) else { return unsupported(format!("`{text}`")) };
    let (d, p) = pair(builder, text.operands.first())?;
    let a = source(builder, text, 1, Width::B32)?;
    let b = source(builder, text, 2, Width::B32)?;
    let c = source(builder, text, 3, Width::B32)?;
    Ok(Collective::Shfl { mode, d, p, a, b, c })
}

fn copy(
    builder: &mut Builder<'_, '_>,
    form: &mut Form<'_>,
    text: &Instruction,
) -> Result<(), Refused> {
    if !form.take("async") || form.take("bulk") || form.take("reduce") {
        return unsupported(format!("`{text}`"));
    }
    builder.traits.schedule_dependent = true;
    let op = if form.take("commit_group") {
        AsyncCopy::Commit
    } else if form.take("wait_all") {
        AsyncCopy::WaitAll
    } else if form.take("wait_group") {
        match text.operands.first() {
            Some(Operand::Int(groups)) => {
                AsyncCopy::Wait(u32::try_from(*groups).unwrap_or(u32::MAX))
            }
            _ => return unsupported(format!("`{text}`")),
        }
    } else if form.take("mbarrier") {
        form.take("arrive");
        form.take("b64");
        form.space();
        let no_increment = form.take("noinc");
        let (base, wide, offset) = address(builder, text.operands.first(), text)?;
        AsyncCopy::Arrive { base, wide, offset, no_increment }
    } else {
        async_copy(builder, form, text)?
    };
    done(form, text)?;
    builder.emit(Op::AsyncCopy(Box::new(op)));
    Ok(())
}

fn async_copy(
    builder: &mut Builder<'_, '_>,
    form: &mut Form<'_>,
    text: &Instruction,
) -> Result<AsyncCopy, Refused> {
    form.take_cache_hints();
    form.take("global");
    form.take("shared");
    form.take("shared::cta");
    let to = address(builder, text.operands.first(), text)?;
    let from = address(builder, text.operands.get(1), text)?;
    let bytes = match text.operands.get(2) {
        Some(Operand::Int(bytes @ (4 | 8 | 16))) => *bytes as u8,
        _ => return unsupported(format!("`{text}`: its size")),
    };
    let (mut source_bytes, mut ignore) = (None, None);
    match text.operands.get(3) {
        None => {}
        Some(Operand::Reg(register)) if builder.width(*register) == Width::Pred => {
            ignore = Some((builder.row(*register), false));
        }
        Some(Operand::Not(register)) => ignore = Some((builder.row(*register), true)),
        Some(operand) => source_bytes = Some(builder.source(operand, Width::B32)?),
    }
    if text.operands.len() > 4 {
        return unsupported(format!("`{text}`: a cache policy"));
    }
    Ok(AsyncCopy::Copy { to, from, bytes, source_bytes, ignore })
}
