//! From a history to the lives of its values, and what is wrong whatever the order of removal is.

use super::super::poll::{Halt, StopPoll, StopReason};
use super::{FOREVER, Gap, Life, Look, Object, Part, Span, Speech};
use linchpin_history_data::{
    Argument, History, NotApplicable, OpId, Operation, Rank, ValueId, Violation,
};

/// What was gathered.
pub(super) enum Gathered {
    /// The lives of all values.
    Part(Part),
    /// No collection at all can have this history.
    Violated(Violation),
    /// Nothing is known yet.
    Stopped(StopReason),
}

/// The lives of the values of a history up to, not including, the event `cut`.
pub(super) fn gather(
    history: &History,
    initial: &[ValueId],
    object: &Object,
    cut: Rank,
    poll: &StopPoll,
) -> Result<Gathered, NotApplicable> {
    let mut gathering = Gathering::new(history, initial, object, cut)?;
    for (id, operation) in history.operations.iter().enumerate() {
        if operation.invoked >= cut {
            break;
        }
        if let Err(stopped) = poll.step() {
            return Ok(Gathered::Stopped(stopped));
        }
        gathering.operation(OpId::new(id), operation)?;
    }
    Ok(match gathering.finish(poll) {
        Ok(part) => Gathered::Part(part),
        Err(Halt::Fault(violation)) => Gathered::Violated(violation),
        Err(Halt::Stopped(stopped)) => Gathered::Stopped(stopped),
    })
}

/// Operations that are wrong together, whatever the order, and why.
type Mistake = (Vec<Option<OpId>>, String);

/// Longer histories are not judged, so that orders can be sorted as single words.
const LONGEST: usize = 1 << 30;

/// Numbers as smaller numbers in the same order: by table if they are dense anyway, else by search.
enum Dense {
    AsTheyAre,
    Sorted(Vec<u32>),
}

impl Dense {
    /// A numbering for numbers below `bound`.
    fn new(bound: usize, operations: usize, numbers: impl Iterator<Item = u32>) -> Dense {
        if bound <= 8 * operations + 64 {
            return Dense::AsTheyAre;
        }
        let mut sorted: Vec<u32> = numbers.collect();
        sorted.sort_unstable();
        sorted.dedup();
        Dense::Sorted(sorted)
    }

    fn of(&self, number: u32) -> u32 {
        match self {
            Dense::AsTheyAre => number,
            Dense::Sorted(sorted) => sorted.partition_point(|&other| other < number) as u32,
        }
    }

    fn bound(&self, bound: usize) -> usize {
        match self {
            Dense::AsTheyAre => bound,
            Dense::Sorted(sorted) => sorted.len(),
        }
    }
}

struct Gathering<'a> {
    speech: Speech<'a>,
    cut: Rank,
    ranks: Dense,
    values: Dense,
    /// The first gap of the history itself; the values that are there from the start are added
    /// before it.
    start: Gap,
    /// For each value its life plus one; 0 if it has none.
    slots: Vec<u32>,
    /// What is gathered so far. Here a `seen_by` of 0 says that something saw or removed the value.
    part: Part,
    /// The first removal of a value that another operation removed.
    removed_again: Option<(u32, OpId)>,
}

impl<'a> Gathering<'a> {
    fn new(
        history: &'a History,
        initial: &[ValueId],
        object: &'a Object,
        cut: Rank,
    ) -> Result<Gathering<'a>, NotApplicable> {
        let operations = &history.operations;
        let ends = operations.iter().flat_map(|op| [op.invoked.number(), op.returned.number()]);
        let ranks = Dense::new(history.events.index(), operations.len(), ends);
        let mentioned = operations.iter().flat_map(|op| [op.argument, op.response]);
        let ids = mentioned.filter_map(value_of).chain(initial.iter().copied()).map(|id| id.0);
        let values = Dense::new(history.values.len(), operations.len() + initial.len(), ids);
        let events = ranks.bound(history.events.index());
        let end = initial.len() + events + 1;
        if end >= FOREVER as usize || operations.len() + initial.len() >= LONGEST {
            let reason = "the history is too long for this checker".to_owned();
            return Err(NotApplicable { reason });
        }
        let mut gathering = Gathering {
            speech: Speech::new(history, object),
            cut,
            ranks,
            start: initial.len() as Gap,
            slots: vec![0; values.bound(history.values.len())],
            values,
            part: Part { end: end as Gap, ..Part::default() },
            removed_again: None,
        };
        for (gap, &value) in initial.iter().enumerate() {
            let gap = gap as Gap;
            gathering.add(value, None, Span { lo: gap, hi: gap })?;
        }
        Ok(gathering)
    }

    fn operation(&mut self, id: OpId, operation: &Operation) -> Result<(), NotApplicable> {
        let object = self.speech.object;
        let kind = usize::from(operation.operation);
        let span = self.span(operation);
        let completed = operation.completed && operation.returned < self.cut;
        if kind == object.add.0 {
            let value = self.single(operation.argument)?;
            self.add(value, Some(id), span)?;
        } else if kind == object.remove.0 && !completed {
            self.part.removers.push(Look { life: 0, op: id, span });
        } else if kind == object.remove.0 {
            match self.single(operation.response)? {
                ValueId::NULL => self.part.empties.push(Look { life: 0, op: id, span }),
                value => self.remove(value, id, span),
            }
        } else if object.peek.is_some_and(|(peek, _)| kind == peek) {
            if completed {
                match self.single(operation.response)? {
                    ValueId::NULL => self.part.empties.push(Look { life: 0, op: id, span }),
                    value => {
                        let life = self.life(value);
                        self.part.lives[life as usize].seen_by = 0;
                        self.part.looks.push(Look { life, op: id, span });
                    }
                }
            }
        } else {
            let reason = format!("operation {kind} is none of a {}", object.name);
            return Err(NotApplicable { reason });
        }
        Ok(())
    }

    fn single(&self, argument: Argument) -> Result<ValueId, NotApplicable> {
        value_of(argument).ok_or_else(|| NotApplicable {
            reason: format!("{} is not one value", self.speech.history.value(argument)),
        })
    }

    /// The gaps in which an operation may take effect.
    fn span(&self, operation: &Operation) -> Span {
        let last = self.part.end - 1;
        let hi = if operation.returned >= self.cut {
            last
        } else {
            (self.start + self.ranks.of(operation.returned.number())).min(last)
        };
        Span { lo: self.start + self.ranks.of(operation.invoked.number()) + 1, hi }
    }

    /// The life of a value; the first mention makes it.
    fn life(&mut self, value: ValueId) -> u32 {
        let slot = &mut self.slots[self.values.of(value.0) as usize];
        if *slot == 0 {
            let never = Span { lo: FOREVER, hi: FOREVER };
            self.part.lives.push(Life {
                value,
                add: None,
                remove: None,
                added: never,
                removed: never,
                seen_by: FOREVER,
            });
            *slot = self.part.lives.len() as u32;
        }
        *slot - 1
    }

    fn add(&mut self, value: ValueId, op: Option<OpId>, span: Span) -> Result<(), NotApplicable> {
        let object = self.speech.object;
        if value == ValueId::NULL {
            let reason = format!(
                "null is {}, which looks like an empty {}",
                object.participles.0, object.name
            );
            return Err(NotApplicable { reason });
        }
        let life = self.life(value);
        let life = &mut self.part.lives[life as usize];
        if life.added.lo != FOREVER {
            let (value, participle) = (self.speech.value(value), object.participles.0);
            let reason = if life.add.is_none() {
                format!("the value {value} is there from the start and {participle} again")
            } else {
                format!("the value {value} is {participle} twice")
            };
            return Err(NotApplicable { reason });
        }
        (life.add, life.added) = (op, span);
        Ok(())
    }

    fn remove(&mut self, value: ValueId, op: OpId, span: Span) {
        let at = self.life(value);
        let life = &mut self.part.lives[at as usize];
        if life.remove.is_none() {
            (life.remove, life.removed, life.seen_by) = (Some(op), span, 0);
        } else {
            self.removed_again.get_or_insert((at, op));
        }
    }

    fn finish(mut self, poll: &StopPoll) -> Result<Part, Halt<Violation>> {
        if let Some((core, explanation)) = self.obviously_wrong(poll)? {
            let mut core: Vec<OpId> = core.into_iter().flatten().collect();
            core.sort_unstable();
            let blamed = core.clone();
            return Err(Halt::Fault(Violation { core, blamed, explanation, at: None }));
        }
        self.drop_unobserved(poll)?;
        Ok(self.part)
    }

    /// What no collection allows: a value removed twice, or before or without its addition, or seen
    /// after its removal.
    fn obviously_wrong(&self, poll: &StopPoll) -> Result<Option<Mistake>, StopReason> {
        let (speech, part) = (&self.speech, &self.part);
        let (added, removed) = speech.object.participles;
        if let Some((life, again)) = self.removed_again {
            let life = &part.lives[life as usize];
            let (once, twice) = (speech.maybe(life.remove), speech.by(again));
            let value = speech.value(life.value);
            let explanation =
                format!("{value} was {added} once but {removed} twice: {once}, and again {twice}");
            return Ok(Some((vec![life.add, life.remove, Some(again)], explanation)));
        }
        let removals = part.lives.iter();
        let removals = removals.filter_map(|life| Some((life, life.remove?, life.removed)));
        let looks =
            part.looks.iter().map(|look| (&part.lives[look.life as usize], look.op, look.span));
        for (life, op, span) in removals.chain(looks) {
            poll.step()?;
            if life.added.lo == FOREVER {
                let explanation = format!(
                    "{} cannot be explained: no {}({}) had been called before it returned",
                    speech.operation(op),
                    speech.object.add.1,
                    speech.value(life.value)
                );
                return Ok(Some((vec![Some(op)], explanation)));
            }
            if span.hi < life.added.lo {
                let (early, add) = (speech.operation(op), speech.maybe(life.add));
                let explanation = format!("{early} returned before {add} was called");
                return Ok(Some((vec![life.add, Some(op)], explanation)));
            }
            if life.removed.hi < span.lo {
                let (late, remove) = (speech.operation(op), speech.maybe(life.remove));
                let explanation = format!("{remove} returned before {late} was called");
                return Ok(Some((vec![life.add, life.remove, Some(op)], explanation)));
            }
        }
        Ok(None)
    }

    /// Drops the pending additions that nothing observed: a history with them has a witness iff one
    /// without them has.
    fn drop_unobserved(&mut self, poll: &StopPoll) -> Result<(), StopReason> {
        let (operations, cut) = (&self.speech.history.operations, self.cut);
        let is_kept = |life: &Life| {
            let pending = |op: OpId| {
                let op = &operations[op.index()];
                !op.completed || op.returned >= cut
            };
            life.seen_by == 0 || !life.add.is_some_and(pending)
        };
        // why first to look for one: mostly there is none.
        let mut all_kept = true;
        for life in &self.part.lives {
            poll.step()?;
            all_kept &= is_kept(life);
        }
        if all_kept {
            return Ok(());
        }
        let mut moved = vec![0; self.part.lives.len()];
        let mut kept = 0;
        for (at, life) in self.part.lives.iter().enumerate() {
            poll.step()?;
            moved[at] = kept;
            kept += u32::from(is_kept(life));
        }
        self.part.lives.retain(is_kept);
        for look in &mut self.part.looks {
            look.life = moved[look.life as usize];
        }
        Ok(())
    }
}

/// The value of an argument that is one value.
pub(super) fn value_of(argument: Argument) -> Option<ValueId> {
    match argument {
        Argument::None => Some(ValueId::NULL),
        Argument::One(value) => Some(value),
        _ => None,
    }
}
