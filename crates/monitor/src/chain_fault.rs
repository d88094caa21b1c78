//! Why the values of a cell cannot have followed one another like that: the operations that show
//! it, and a sentence.

use super::chain::{Block, Cell, Fault, Role};
use linchpin_history_data::{NEVER, OpId, Rank, Sentences, ValueId, Violation};
use rustc_hash::FxHashSet;

/// The fault as a violation. With `open_last`, blocks that no operation closed last for ever.
pub(crate) fn violation<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    say: &Sentences,
    fault: Fault,
    open_last: bool,
) -> Violation {
    let (mut seeds, mut others) = (Vec::new(), Vec::new());
    match fault {
        Fault::Unwritten(id) => seeds.push(id),
        Fault::Fork(one, other) | Fault::Backwards(one, other) => seeds.extend([one, other]),
        Fault::Cycle(value) => seeds.extend(cell.entries[value as usize].writer),
        Fault::Blocks(one, other) => {
            limits(cell, &one, open_last, &mut seeds);
            limits(cell, &other, open_last, &mut seeds);
            for (open, end) in [(one, other.last), (other, one.last)] {
                not_removed_by(cell, &open, end, open_last, &mut others);
            }
        }
        Fault::Covered(id, block) => {
            seeds.push(id);
            limits(cell, &block, open_last, &mut seeds);
            not_removed_by(cell, &block, Some(id), open_last, &mut others);
        }
    }
    let core = close(cell, [&seeds[..], &others].concat());
    let explanation = explain(cell, say, fault, open_last, &core);
    Violation { core, blamed: seeds, explanation, at: None }
}

/// The operations that say from when to when a block is there.
fn limits<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    block: &Block,
    open_last: bool,
    seeds: &mut Vec<OpId>,
) {
    if block.root != cell.initial {
        seeds.extend(block.first);
    }
    match open_last && block.open {
        // No operation replaced the last value: the whole chain shows it.
        true => seeds.extend(cell.entries[block.tail as usize].writer),
        false => seeds.extend(block.last),
    }
}

/// If no operation closed a block: the operations that closed others, from when its last value may
/// have been there to the return of `end`. What they answered shows that they left it alone.
fn not_removed_by<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    block: &Block,
    end: Option<OpId>,
    open_last: bool,
    others: &mut Vec<OpId>,
) {
    if !open_last || !block.open {
        return;
    }
    let writer = cell.entries[block.tail as usize].writer;
    let since = writer.map_or(Rank::FIRST, |writer| cell.invoked(writer));
    let until = end.map_or(NEVER, |end| cell.returned(end));
    let in_time = |id: &OpId| cell.returned(*id) > since && cell.invoked(*id) < until;
    others.extend(cell.closers().filter(in_time));
}

/// The operations, with all that they need: who wrote what they found and, if one is pending, who
/// found what it wrote. Only with these is it certain that no other operation can help.
pub(crate) fn close<R: Fn(OpId) -> Role>(cell: &Cell<R>, mut seeds: Vec<OpId>) -> Vec<OpId> {
    let mut core = FxHashSet::default();
    while let Some(id) = seeds.pop() {
        if !core.insert(id) {
            continue;
        }
        let role = (cell.role)(id);
        if let Role::Read(found) | Role::Swap(found, _) | Role::Close(found) = role {
            seeds.extend(cell.entries[found as usize].writer);
        }
        if let Role::Write(value) | Role::Swap(_, value) = role {
            let entry = &cell.entries[value as usize];
            if !cell.history[id].completed {
                seeds.extend(entry.reads.or(entry.next));
            }
        }
    }
    let mut core: Vec<OpId> = core.into_iter().collect();
    core.sort_unstable();
    core
}

fn explain<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    say: &Sentences,
    fault: Fault,
    open_last: bool,
    core: &[OpId],
) -> String {
    let op = |id| say.operation(id);
    let maybe = |id: Option<OpId>| id.map(op).unwrap_or_default();
    match fault {
        Fault::Unwritten(id) => {
            format!("{} found a value that no operation had been called to write", op(id))
        }
        Fault::Fork(one, other) => {
            format!(
                "{} and {} both replaced the same value, which was written once",
                op(one),
                op(other)
            )
        }
        Fault::Cycle(_) if core.len() == 1 => {
            format!(
                "{} found the value that it wrote itself, and no other operation did",
                op(core[0])
            )
        }
        Fault::Cycle(_) => {
            let few = &core[..core.len().min(4)];
            format!("{}: each needs another of them to take effect before it", say.operations(few))
        }
        Fault::Backwards(before, after) => {
            let why = match (cell.role)(after) {
                Role::Read(value) if cell.entries[value as usize].writer == Some(before) => {
                    "which wrote what it found"
                }
                _ => "but can only take effect after it: the values between say who replaced whom",
            };
            format!("{} before {} was called, {why}", ended(cell, say, after), op(before))
        }
        Fault::Blocks(one, other) => {
            let both = precedes(cell, say, &one, &other, open_last);
            format!("{both}; but {}", precedes(cell, say, &other, &one, open_last))
        }
        Fault::Covered(id, block) => {
            let mut why = Vec::new();
            if block.root != cell.initial {
                why.extend(
                    block
                        .first
                        .map(|first| format!("{} before it was called", ended(cell, say, first))),
                );
            }
            why.push(match open_last && block.open {
                true => "nothing took the value away".to_owned(),
                false => format!("{} was called only after it returned", maybe(block.last)),
            });
            format!("{} found nothing, although there was a value: {}", op(id), why.join(" and "))
        }
    }
}

/// That an operation was over by some time: it returned, or was interrupted and took effect before
/// that or not at all.
fn ended<R: Fn(OpId) -> Role>(cell: &Cell<R>, say: &Sentences, id: OpId) -> String {
    let how = if cell.history[id].completed { "returned" } else { "was interrupted" };
    format!("{} {how}", say.operation(id))
}

/// Why block `one` is before block `other`.
fn precedes<R: Fn(OpId) -> Role>(
    cell: &Cell<R>,
    say: &Sentences,
    one: &Block,
    other: &Block,
    open_last: bool,
) -> String {
    let name = |block: &Block| match block.root {
        root if root == cell.initial => "the initial value".to_owned(),
        root => cell.history.values.get(ValueId(root)).to_string(),
    };
    let (one_is, other_is) = (name(one), name(other));
    if one.root == cell.initial {
        return format!("{one_is} was there before {other_is}");
    }
    if open_last && other.open {
        return format!("nothing took {other_is} away, so {one_is} was there before it");
    }
    let op = |id| say.operation(id);
    format!(
        "{} before {} was called, so {one_is} was there before {other_is}",
        one.first.map(|first| ended(cell, say, first)).unwrap_or_default(),
        other.last.map(op).unwrap_or_default()
    )
}
