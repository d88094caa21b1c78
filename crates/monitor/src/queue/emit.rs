//! The order of the operations of a queue, from that of its values.

use super::super::intervals::{FOREVER, Gap, Part};
use super::super::poll::{StopPoll, StopReason};
use super::super::sorting;
use linchpin_history_data::OpId;

/// Merges additions, looks and removals, each in the order of the values and each as early as
/// possible, and the operations that found nothing, in the gaps where they did.
pub(super) fn emit(
    part: &Part,
    values: &[u32],
    empty_at: &[Gap],
    poll: &StopPoll,
) -> Result<Vec<OpId>, StopReason> {
    let looks = looks_by_life(part, values, poll)?;
    let mut empties: Vec<(Gap, OpId)> =
        empty_at.iter().copied().zip(part.empties.iter().map(|empty| empty.op)).collect();
    sorting::in_rows(&mut empties, poll)?;
    let mut empties = empties.into_iter().peekable();
    let mut looks = looks.into_iter().peekable();
    let total = 2 * part.lives.len() + part.looks.len() + part.empties.len();
    let mut emitter =
        Emitter { part, values, order: Vec::with_capacity(total), added: 0, last_added: 0 };
    let mut now = 0;
    let mut added = 0;
    for (place, &value) in values.iter().enumerate() {
        poll.step()?;
        let life = &part.lives[value as usize];
        added = added.max(life.added.lo);
        while let Some((_, op)) = empties.next_if(|&(gap, _)| gap <= added) {
            poll.step()?;
            emitter.order.push(op);
        }
        now = now.max(added);
        while let Some((_, at)) = looks.next_if(|&(of, _)| of == place as u32) {
            poll.step()?;
            let look = &part.looks[at as usize];
            now = now.max(look.span.lo);
            emitter.chain(place, now, Some(look.op));
        }
        now = now.max(life.removed.lo);
        emitter.chain(place, now, life.remove.filter(|_| now != FOREVER));
    }
    emitter.order.extend(empties.map(|(_, op)| op));
    Ok(emitter.order)
}

/// The looks in the order of the values, those at one value in the order of their invocations.
fn looks_by_life(
    part: &Part,
    values: &[u32],
    poll: &StopPoll,
) -> Result<Vec<(u32, u32)>, StopReason> {
    if part.looks.is_empty() {
        return Ok(Vec::new());
    }
    let mut places = vec![0; values.len()];
    for (place, &value) in values.iter().enumerate() {
        poll.step()?;
        places[value as usize] = place as u32;
    }
    let looks = part.looks.iter().enumerate();
    let mut by_life: Vec<(u32, u32)> =
        looks.map(|(at, look)| (places[look.life as usize], at as u32)).collect();
    // INVARIANT: the looks of a part are in the order of their invocations.
    sorting::in_rows(&mut by_life, poll)?;
    Ok(by_life)
}

struct Emitter<'a> {
    part: &'a Part,
    values: &'a [u32],
    order: Vec<OpId>,
    /// How many values are added.
    added: usize,
    /// The gap of the last of these additions.
    last_added: Gap,
}

impl Emitter<'_> {
    /// The operation `op` on the value at this place happens in this gap, after all additions in
    /// earlier gaps and that of the value. An operation in the same gap as a later addition comes
    /// before it, because the queue may be empty in between.
    fn chain(&mut self, place: usize, gap: Gap, op: Option<OpId>) {
        while self.added < self.values.len() {
            let life = &self.part.lives[self.values[self.added] as usize];
            let gap_of_addition = self.last_added.max(life.added.lo);
            if self.added > place && gap_of_addition >= gap {
                break;
            }
            self.last_added = gap_of_addition;
            self.added += 1;
            self.order.extend(life.add);
        }
        self.order.extend(op);
    }
}
