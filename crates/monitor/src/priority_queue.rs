//! Priority queues of distinct values: the smallest first.
//!
//! A value may be removed in a gap in which no smaller one is certainly inside. Going up from the
//! smallest value, the gaps of each one's stay are painted, and the removal of the next needs an
//! unpainted gap. That the removal may then happen later than possible changes nothing for larger
//! values: the gaps it skipped are painted for them too.
//!
//! [`check`] judges.

use super::intervals::{
    self, Collection, Conflict, Gap, Life, Object, Pairing, Part, Places, Span, Speech, Unpaired,
    cover,
};
use super::poll::{Halt, StopPoll, StopReason};
use super::sorting;
use linchpin_history_data::{History, Monitored, OpId, ValueId, Witness};
use linchpin_spec::{PriorityQueue, Value};
use linchpin_verdict::Limits;

/// Checks a history of a priority queue that contains `initial`, in any order, at the start. Exact,
/// unless many removals without an answer are needed to explain it and the obvious choice of what
/// they removed does not.
///
/// Not applicable if a value is inserted twice or `null` is inserted.
pub fn check(history: &History, initial: &[ValueId], limits: &Limits) -> Monitored {
    let poll = StopPoll::new(limits);
    intervals::check(&Smallest { history, poll: &poll }, history, initial, limits, &poll)
}

/// An order that explains a history of a priority queue that is empty at the start, in which values
/// may repeat, if a guess which of equal values was removed when is good enough. That none is found
/// means nothing.
pub fn guess(history: &History, limits: &Limits) -> Option<Witness> {
    let poll = StopPoll::new(limits);
    let mut unpaired = Unpaired::new::<Smallest<'_>>(history)?;
    let order = unpaired.explain(&Smallest { history, poll: &poll }, Pairing::FirstIn, &poll)?;
    Some(Witness { order })
}

struct Smallest<'a> {
    history: &'a History,
    poll: &'a StopPoll<'a>,
}

impl Collection for Smallest<'_> {
    const OBJECT: Object = Object {
        name: "priority queue",
        add: (PriorityQueue::INSERT, "insert"),
        remove: (PriorityQueue::REMOVE_MIN, "remove-min"),
        peek: None,
        participles: ("inserted", "removed"),
    };

    fn order(&self, mut part: Part) -> Result<Vec<OpId>, Halt<Conflict>> {
        part.tune(self.poll)?;
        part.drain(self.poll)?;
        let ascending = self.ascending(&part.lives, self.poll)?;
        let mut unpainted = Unpainted(Places::all(part.end as usize + 1));
        let mut removed_at = vec![0; part.lives.len()];
        let mut stuck = Vec::new();
        for (place, &at) in ascending.iter().enumerate() {
            self.poll.step()?;
            let life = &part.lives[at as usize];
            match unpainted.first_in(life.removed) {
                Some(gap) => removed_at[at as usize] = gap,
                None => stuck.push(place),
            }
            unpainted.paint(life.inside(), self.poll)?;
        }
        let mut empty_at = Vec::with_capacity(part.empties.len());
        for empty in &part.empties {
            self.poll.step()?;
            empty_at.push(unpainted.first_in(empty.span));
        }
        match empty_at.iter().copied().collect::<Option<Vec<Gap>>>() {
            Some(empty_at) if stuck.is_empty() => {
                Ok(emit(&part, &ascending, &removed_at, &empty_at, self.poll)?)
            }
            _ => Err(Halt::Fault(stuck_on(&part, &ascending, &stuck, &empty_at))),
        }
    }

    fn explain(&self, part: &Part, speech: &Speech) -> String {
        let tuned = part.tuned_and_drained();
        let ascending = self.ascending(&tuned.lives, &StopPoll::unlimited()).unwrap_or_default();
        if let Some(empty) = part.empties.first() {
            let lives = cover(empty.span, inside(&tuned, &ascending));
            return speech.not_empty(part, empty.op, &lives);
        }
        // In a smallest part all others are there because of the largest value.
        let Some((&largest, smaller)) = ascending.split_last() else { return String::new() };
        let life = &tuned.lives[largest as usize];
        let lives = cover(life.removed, inside(&tuned, smaller));
        let verb = if lives.len() == 1 { "is" } else { "are" };
        let op = speech.maybe(life.remove);
        let stays = speech.stays(part, &lives);
        format!("whenever {op} took effect, {stays}, and {verb} smaller")
    }
}

impl Smallest<'_> {
    /// The lives by value.
    fn ascending(&self, lives: &[Life], poll: &StopPoll) -> Result<Vec<u32>, StopReason> {
        let mut ints = Vec::with_capacity(lives.len());
        for (at, life) in lives.iter().enumerate() {
            poll.step()?;
            match self.history.values.get(life.value) {
                Value::Int(int) => ints.push((int, at as u32)),
                _ => break,
            }
        }
        if ints.len() == lives.len() {
            return Self::sorted(ints, poll);
        }
        let mut values = Vec::with_capacity(lives.len());
        for (at, life) in lives.iter().enumerate() {
            poll.step()?;
            values.push((self.history.values.get(life.value), at as u32));
        }
        Self::sorted(values, poll)
    }

    fn sorted<V: Ord>(mut values: Vec<(V, u32)>, poll: &StopPoll) -> Result<Vec<u32>, StopReason> {
        sorting::in_rows(&mut values, poll)?;
        let mut lives = Vec::with_capacity(values.len());
        for (_, life) in values {
            poll.step()?;
            lives.push(life);
        }
        Ok(lives)
    }
}

/// When each of some values is certainly inside.
fn inside(part: &Part, lives: &[u32]) -> impl Iterator<Item = (u32, Span)> {
    lives.iter().map(|&at| (at, part.lives[at as usize].inside()))
}

/// The first operation without a gap, with the values that leave it none. All that leave some
/// operation none are blockers.
fn stuck_on(part: &Part, ascending: &[u32], stuck: &[usize], empty_at: &[Option<Gap>]) -> Conflict {
    let removals = stuck
        .iter()
        .map(|&place| (part.lives[ascending[place] as usize].removed, &ascending[..place]));
    let bad_empties = empty_at.iter().enumerate().filter(|(_, gap)| gap.is_none());
    let bad_empties: Vec<u32> = bad_empties.map(|(at, _)| at as u32).collect();
    let empties = bad_empties.iter().map(|&at| (part.empties[at as usize].span, ascending));
    let bad: Vec<(Span, &[u32])> = removals.chain(empties).collect();
    let (span, smaller) = bad[0];
    let mut lives = cover(span, inside(part, smaller));
    lives.extend(stuck.first().map(|&place| ascending[place]));
    // What may stay until the end covers all that comes after its addition.
    let last = bad.iter().map(|(span, _)| span.hi).max().unwrap_or(0);
    let longest = bad.iter().map(|(_, smaller)| smaller.len()).max().unwrap_or(0);
    let blockers = inside(part, &ascending[..longest]);
    let blockers = blockers.filter(|(_, span)| span.lo <= last).map(|(at, _)| at).collect();
    let empty = if stuck.is_empty() { bad_empties.first().copied() } else { None };
    Conflict { lives, empty, blockers }
}

/// The order of the operations. In each gap: the values that are inside are removed, smallest
/// first; then nothing is found; then values that are removed in the gap of their insertion come
/// and go; then values are inserted that stay.
fn emit(
    part: &Part,
    ascending: &[u32],
    removed_at: &[Gap],
    empty_at: &[Gap],
    poll: &StopPoll,
) -> Result<Vec<OpId>, StopReason> {
    const REMOVE: u64 = 0;
    const FIND_NOTHING: u64 = 1;
    const COME_AND_GO: u64 = 2;
    const INSERT: u64 = 3;
    // INVARIANT: there are fewer than 2^30 operations, so all of it fits.
    let pack = |gap: Gap, what: u64, at: usize| u64::from(gap) << 32 | what << 30 | at as u64;
    let mut events = Vec::with_capacity(2 * ascending.len() + empty_at.len());
    for (place, &at) in ascending.iter().enumerate() {
        poll.step()?;
        let life = &part.lives[at as usize];
        let removed = removed_at[at as usize];
        if removed <= life.added.hi {
            events.push(pack(removed, COME_AND_GO, place));
            continue;
        }
        if life.add.is_some() {
            events.push(pack(life.added.hi, INSERT, place));
        }
        // What is imagined to leave after the end stays.
        if life.remove.is_some() && removed < part.end {
            events.push(pack(removed, REMOVE, place));
        }
    }
    events.extend(empty_at.iter().enumerate().map(|(at, &gap)| pack(gap, FIND_NOTHING, at)));
    let events = sorting::by_upper_bits(events, 30, poll)?;
    let mut order = Vec::with_capacity(2 * ascending.len() + empty_at.len());
    for event in events {
        poll.step()?;
        let at = event as usize & ((1 << 30) - 1);
        let life = || &part.lives[ascending[at] as usize];
        match event >> 30 & 3 {
            REMOVE => order.extend(life().remove),
            FIND_NOTHING => order.push(part.empties[at].op),
            COME_AND_GO => order.extend([life().add, life().remove].into_iter().flatten()),
            _ => order.extend(life().add),
        }
    }
    Ok(order)
}

/// The gaps in which nothing so far is certainly inside.
struct Unpainted(Places);

impl Unpainted {
    fn first_in(&self, span: Span) -> Option<Gap> {
        self.0.first_from(span.lo).filter(|&gap| gap <= span.hi)
    }

    fn paint(&mut self, span: Span, poll: &StopPoll) -> Result<(), StopReason> {
        while let Some(gap) = self.first_in(span) {
            poll.step()?;
            self.0.remove(gap);
        }
        Ok(())
    }
}
