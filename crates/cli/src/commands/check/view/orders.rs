//! Orders for the eye: the one that explains a history, key by key, or some of what came before the
//! event that nothing explains.

use super::endings::other_endings;
use super::states::{self, Part};
use super::{
    Argument, Checked, History, Judgement, KeyVerdict, Keys, Limits, OpId, Operation, OrderView,
    Rank, Source, Unexplained, ValueId, Violation, ViolationView, moment,
};
use linchpin_history::{CheckOptions, NEVER, Recovered, check};

/// Violated keys that are explained with an order at most.
const MOST_VIOLATIONS: usize = 20;

/// An event that is not the first is corrected by what is found out on the way so often at most.
const MOST_CORRECTIONS: usize = 4;

pub struct Orders<'a> {
    source: &'a Source<'a>,
    keys: &'a Keys,
    limits: Limits,
    found: Vec<OrderView>,
    /// Whether some states are not told, or some orders not found.
    states_missing: bool,
    orders_missing: bool,
}

impl<'a> Orders<'a> {
    pub fn new(source: &'a Source<'a>, keys: &'a Keys, limits: Limits) -> Orders<'a> {
        Orders {
            source,
            keys,
            limits,
            found: Vec::new(),
            states_missing: false,
            orders_missing: false,
        }
    }

    fn history(&self) -> &'a History {
        &self.source.recording.history
    }

    /// What cannot be explained, the main one first; finds the orders that lead there.
    pub fn violations(&mut self) -> Vec<ViolationView> {
        let Checked { judgement, possible, keys, key, .. } = self.source.checked;
        let Judgement::Violated(main) = judgement else { return Vec::new() };
        let mut all = vec![(main, possible, key.and_then(|key| self.keys.number(key)))];
        for other in keys.iter().filter(|other| Some(other.key) != *key) {
            if let KeyVerdict::Violated { violation, possible } = &other.verdict
                && violation.core != main.core
            {
                all.push((violation, possible, self.keys.number(other.key)));
            }
        }
        all.truncate(MOST_VIOLATIONS);
        let view = |(violation, possible, key): (&Violation, &Vec<String>, Option<u32>)| {
            let key = key.or_else(|| self.keys.common(self.history(), &violation.core));
            let at = self.partial(violation, key);
            let event = at.map(|at| Unexplained {
                at: moment(&self.source.recording.places, at),
                operation: self.operation_at(at, &violation.core),
            });
            let core = violation.core.iter().map(|id| id.number()).collect();
            let (explanation, possible) = (violation.explanation.clone(), possible.clone());
            ViolationView { key, explanation, core, event, possible }
        };
        all.into_iter().map(view).collect()
    }

    /// The operation that an event belongs to.
    fn operation_at(&self, at: Rank, core: &[OpId]) -> Option<u32> {
        let history = self.history();
        let has = |id: &OpId| {
            let operation = &history[*id];
            operation.invoked == at || (operation.completed && operation.returned == at)
        };
        let in_core = core.iter().copied().find(has);
        in_core.or_else(|| history.ids().find(has)).map(OpId::number)
    }

    /// Finds an order of what came before the first event that nothing explains; answers which
    /// event that is, if that is known.
    fn partial(&mut self, violation: &Violation, key: Option<u32>) -> Option<Rank> {
        // INVARIANT: with the event at `at` what is known of the key cannot be explained. An event
        // that is not about the key says nothing of it.
        let named = violation.at.filter(|at| {
            let operation = self.operation_at(*at, &violation.core);
            let of = operation.map(|id| self.keys.of(&self.history()[OpId::numbered(id)]));
            key.is_none() || of == Some(key)
        });
        let mut at = named.or_else(|| last_return(self.history(), &violation.core))?;
        for _ in 0..MOST_CORRECTIONS {
            match self.judge(key, at) {
                Some((Judgement::Holds(witness), excerpt)) => {
                    self.add_partial(key, &excerpt, &witness.order, at);
                    return Some(at);
                }
                Some((Judgement::Violated(sooner), excerpt)) => {
                    let inner =
                        sooner.at.or_else(|| last_return(&excerpt.history, &sooner.core))?;
                    at = excerpt.ranks.get(inner.index()).copied().filter(|rank| *rank < at)?;
                }
                _ => {
                    self.orders_missing = true;
                    return named;
                }
            }
        }
        self.bisect(key, at).or(named)
    }

    /// The first event that nothing explains, which is at `at` or before: what can be explained can
    /// be explained up to any event before, too.
    fn bisect(&mut self, key: Option<u32>, at: Rank) -> Option<Rank> {
        let history = self.history();
        let is_known = |operation: &&Operation| {
            operation.completed
                && operation.returned <= at
                && (key.is_none() || self.keys.of(operation) == key)
        };
        let known = history.operations.iter().filter(is_known);
        let mut returns: Vec<Rank> = known.map(|operation| operation.returned).collect();
        returns.sort_unstable();
        // INVARIANT: before the return at `low` all can be explained, with that at `high` it
        // cannot.
        let (mut low, mut high) = (0, returns.len().checked_sub(1)?);
        let mut best = None;
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            match self.judge(key, returns[middle]) {
                Some((Judgement::Holds(witness), excerpt)) => {
                    (low, best) = (middle, Some((witness, excerpt)));
                }
                Some((Judgement::Violated(_), _)) => high = middle - 1,
                _ => {
                    self.orders_missing = true;
                    return None;
                }
            }
        }
        if let Some((witness, excerpt)) = best {
            self.add_partial(key, &excerpt, &witness.order, returns[low]);
        }
        Some(returns[low])
    }

    /// Judges what is known of a key before an event.
    fn judge(&self, key: Option<u32>, before: Rank) -> Option<(Judgement, Excerpt)> {
        if self.limits.exceeded(0).is_some() {
            return None;
        }
        let wanted = |operation: &Operation| key.is_none() || self.keys.of(operation) == key;
        let mut excerpt = Excerpt::new(self.history(), wanted, before);
        let options = CheckOptions {
            property: self.source.property,
            limits: self.limits.clone(),
            ..CheckOptions::default()
        };
        let checked = check(&self.source.subject.object, &mut excerpt.history, &options).ok()?;
        Some((checked.judgement, excerpt))
    }

    /// Adds an order of what came before a return, and others that end in other states.
    fn add_partial(&mut self, key: Option<u32>, excerpt: &Excerpt, order: &[OpId], at: Rank) {
        self.add(key, excerpt, order, false);
        let spec = &*self.source.subject.object.spec;
        let returns_then = |id: &OpId| {
            let operation = &self.history()[excerpt.ids[id.index()]];
            operation.completed && operation.returned == at
        };
        let wrong = excerpt.history.ids().find(returns_then);
        for other in other_endings(spec, &excerpt.history, order, wrong, &self.limits) {
            self.add(key, excerpt, &other, false);
        }
    }

    fn add(&mut self, key: Option<u32>, excerpt: &Excerpt, order: &[OpId], complete: bool) {
        let part = if complete { Part::First } else { Part::Last };
        let spec = &*self.source.subject.object.spec;
        let states = states::follow(spec, &excerpt.history, order, part, &self.limits);
        self.states_missing |= !states.is_complete;
        self.found.push(OrderView {
            key,
            complete,
            operations: order.iter().map(|id| excerpt.ids[id.index()].number()).collect(),
            initial: states.initial,
            states: states.after,
        });
    }

    /// All orders.
    pub fn finish(mut self, left_out: &mut Vec<String>) -> Vec<OrderView> {
        match &self.source.checked.judgement {
            Judgement::Holds(witness) => self.split(&witness.order),
            Judgement::Violated(_) => self.holding_keys(),
            Judgement::Inconclusive(_) => {}
        }
        if self.orders_missing {
            left_out.push("orders that would have taken long to find".to_owned());
        }
        if self.states_missing {
            left_out.push("states along orders, where they are many or large".to_owned());
        }
        self.found
    }

    /// An order of everything, key by key.
    fn split(&mut self, order: &[OpId]) {
        let history = self.history();
        let spec = &*self.source.subject.object.spec;
        let mut parts: Vec<Vec<OpId>> = vec![Vec::new(); self.keys.all.len().max(1)];
        for id in order {
            let key = self.keys.of(&history[*id]).map_or(0, super::index);
            if let Some(part) = parts.get_mut(key) {
                part.push(*id);
            }
        }
        for (at, part) in parts.into_iter().enumerate() {
            let states = states::follow(spec, history, &part, Part::First, &self.limits);
            self.states_missing |= !states.is_complete;
            let key = u32::try_from(at).ok().filter(|_| !self.keys.all.is_empty());
            self.found.push(OrderView {
                key,
                complete: true,
                operations: part.into_iter().map(OpId::number).collect(),
                initial: states.initial,
                states: states.after,
            });
        }
    }

    /// Orders of the keys that hold, in a history that does not.
    fn holding_keys(&mut self) {
        let numbers = 0..u32::try_from(self.keys.all.len()).unwrap_or(u32::MAX);
        let known: Vec<u32> = self.found.iter().filter_map(|order| order.key).collect();
        for key in numbers.filter(|key| !known.contains(key)) {
            match self.judge(Some(key), NEVER) {
                Some((Judgement::Holds(witness), excerpt)) => {
                    self.add(Some(key), &excerpt, &witness.order, true);
                }
                Some((Judgement::Violated(_), _)) => {}
                _ => self.orders_missing = true,
            }
        }
    }
}

/// When the last of these operations returned, all of them were known.
fn last_return(history: &History, ids: &[OpId]) -> Option<Rank> {
    let completed = ids.iter().map(|id| &history[*id]).filter(|operation| operation.completed);
    completed.map(|operation| operation.returned).max()
}

/// Some operations as they were known before an event, as a history of their own.
struct Excerpt {
    history: History,
    /// For each operation, that of the whole.
    ids: Vec<OpId>,
    /// For each rank, that of the whole.
    ranks: Vec<Rank>,
}

impl Excerpt {
    fn new(whole: &History, wanted: impl Fn(&Operation) -> bool, before: Rank) -> Excerpt {
        let ids: Vec<OpId> = whole
            .iter()
            .take_while(|(_, operation)| operation.invoked < before)
            .filter(|(_, operation)| wanted(operation))
            .map(|(id, _)| id)
            .collect();
        let is_known = |operation: &Operation| operation.completed && operation.returned < before;
        let crashes = whole.crashes.iter().copied().filter(|crash| crash.at < before);
        let mut ranks: Vec<Rank> = crashes.clone().map(|crash| crash.at).collect();
        for id in &ids {
            let operation = &whole[*id];
            ranks.push(operation.invoked);
            ranks.extend(Some(operation.returned).filter(|_| is_known(operation)));
        }
        ranks.sort_unstable();
        ranks.dedup();
        let rank = |at: Rank| Rank::at(ranks.partition_point(|known| *known < at));
        let operation = |id: &OpId| {
            let mut operation = whole[*id];
            operation.key = ValueId::NULL;
            if is_known(&operation) {
                operation.returned = rank(operation.returned);
            } else {
                operation.completed = false;
                operation.response = Argument::None;
                operation.returned = NEVER;
            }
            operation.invoked = rank(operation.invoked);
            operation
        };
        // An operation without an effect is not in the history any more.
        let recovered = |recovered: &Recovered| {
            let Recovered { at, called, outcome } = *recovered;
            let is_here = at < before && ids.iter().any(|id| whole[*id].invoked == called);
            is_here.then(|| Recovered { at: rank(at), called: rank(called), outcome })
        };
        let operations = ids.iter().map(operation).collect();
        let history = History {
            operations,
            values: whole.values.clone(),
            words: whole.words.clone(),
            crashes: crashes
                .map(|mut crash| {
                    crash.at = rank(crash.at);
                    crash
                })
                .collect(),
            recovered: whole.recovered.iter().filter_map(recovered).collect(),
            events: Rank::at(ranks.len()),
            processes: whole.processes.clone(),
            origin: whole.origin,
        };
        Excerpt { history, ids, ranks }
    }
}
