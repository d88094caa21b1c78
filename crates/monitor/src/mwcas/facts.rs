//! What a history says for certain: who wrote and who replaced each version, and which pending
//! swaps took effect.
//!
//! This is where the two assumptions are checked and structural properties ii and iii of Cepeda et
//! al.: every version that is seen has one writer (a reads-from edge), and is replaced once (the
//! reads-from edges of a location have no fork, and with property i they form one path from the
//! beginning).

use super::super::poll::StopPoll;
use super::Stop;
use super::explain;
use super::names::Names;
use super::uses::{Role, Uses, read};
use super::versions::{VersionId, Versions};
use linchpin_history_data::crash::Interrupted;
use linchpin_history_data::{History, NEVER, OpId, Rank, ValueId};
use linchpin_spec::Value;
use rustc_hash::{FxHashMap, FxHashSet};

/// Who wrote a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Writer {
    /// No operation did, as far as is known.
    None,
    /// The location held it at the start.
    Genesis,
    /// This operation.
    Operation(OpId),
}

/// In place of the initial value of a location: not asked for yet, it is not known, or no
/// operation mentions it.
const UNASKED: u32 = u32::MAX;
const UNKNOWN: u32 = u32::MAX - 1;
const UNMENTIONED: u32 = u32::MAX - 2;

/// The history in arrays by operation and by version.
pub(super) struct Facts<'h> {
    pub(super) history: &'h History,
    pub(super) names: Names<'h>,
    pub(super) versions: Versions,
    pub(super) uses: Uses,
    /// For each version who wrote it.
    pub(super) writer: Vec<Writer>,
    /// For each version the operation, of those that took effect, that replaced it.
    pub(super) next: Vec<Option<OpId>>,
    /// Whether an operation took effect: the completed ones, and the pending swaps whose values
    /// were seen.
    pub(super) kept: Vec<bool>,
    /// For each pending swap that was kept an operation that saw a value of it.
    pub(super) observer: FxHashMap<OpId, OpId>,
    /// Failures that need no explanation unless this pending swap, which no operation saw, took
    /// effect: it wrote what they expected.
    pub(super) doubts: Vec<(OpId, OpId)>,
    /// Whether some operation may have failed because a version was not there yet.
    pub(super) has_absent: bool,
    /// For each location, by the id of its address, what it held at the start.
    initial: Vec<u32>,
    /// For each location whose initial value was not given an operation that saw it.
    pub(super) beginning: FxHashMap<ValueId, OpId>,
    pub(super) interrupted: &'h [Interrupted],
}

/// What is given about the initial values.
enum Given<'a> {
    All(u32),
    Some(&'a std::collections::BTreeMap<Value, Value>),
    Nothing,
}

impl<'h> Facts<'h> {
    /// Reads the history.
    pub(super) fn new(
        history: &'h History,
        interrupted: &'h [Interrupted],
        init: Option<&Value>,
        poll: &StopPoll,
    ) -> Result<Facts<'h>, Stop> {
        let mut names = Names::new(history);
        let mut versions = Versions::with_capacity(history.words.len() / 4);
        let uses = read(history, &mut names, &mut versions, poll)?;
        let mut facts = Facts {
            history,
            writer: vec![Writer::None; versions.len()],
            next: vec![None; versions.len()],
            kept: history.operations.iter().map(|operation| operation.completed).collect(),
            observer: FxHashMap::default(),
            doubts: Vec::new(),
            has_absent: false,
            initial: vec![UNASKED; names.len()],
            beginning: FxHashMap::default(),
            interrupted,
            names,
            versions,
            uses,
        };
        facts.start_from(init, poll)?;
        facts.find_writers(poll)?;
        facts.find_beginnings(poll)?;
        facts.keep_what_was_seen(poll)?;
        facts.check_beginnings()?;
        let first_end = facts.find_replacements(poll)?;
        facts.explain_failures(&first_end, poll)?;
        Ok(facts)
    }

    /// All operations.
    pub(super) fn ids(&self) -> impl Iterator<Item = OpId> + use<> {
        self.history.ids()
    }

    /// The operation that wrote a version.
    pub(super) fn written_by(&self, version: VersionId) -> Option<OpId> {
        match self.writer[version as usize] {
            Writer::Operation(id) => Some(id),
            Writer::None | Writer::Genesis => None,
        }
    }

    /// Whether what this location held at the start was not given and is not told by what was read.
    pub(super) fn is_unknown(&self, location: ValueId) -> bool {
        self.initial[location.index()] == UNKNOWN
    }

    /// Fills in what is given about the locations that occur.
    fn start_from(&mut self, init: Option<&Value>, poll: &StopPoll) -> Result<(), Stop> {
        let id = |value: &Value| self.history.values.find(value).map_or(UNMENTIONED, |id| id.0);
        let given = match init {
            None => Given::Nothing,
            Some(Value::Map(given)) => Given::Some(given),
            Some(value) => Given::All(id(value)),
        };
        for version in 0..self.versions.len() as VersionId {
            poll.step()?;
            let location = self.versions.location(version);
            if self.initial[location.index()] != UNASKED {
                continue;
            }
            self.initial[location.index()] = match &given {
                Given::All(value) => *value,
                Given::Nothing => UNKNOWN,
                Given::Some(given) => {
                    let address = self.names.value(location);
                    // The keys of a JSON object are strings: "3" is given for 3 too.
                    let as_string = || match &address {
                        Value::Int(int) => given.get(&Value::str(&int.to_string())),
                        _ => None,
                    };
                    given.get(&address).or_else(as_string).map_or(UNKNOWN, id)
                }
            };
        }
        Ok(())
    }

    /// Who wrote each version. Assumption 1: one operation did, and it is not the initial one.
    fn find_writers(&mut self, poll: &StopPoll) -> Result<(), Stop> {
        for version in 0..self.versions.len() {
            poll.step()?;
            let location = self.versions.location(version as VersionId);
            if self.initial[location.index()] == self.versions.value(version as VersionId).0 {
                self.writer[version] = Writer::Genesis;
            }
        }
        for id in self.ids() {
            poll.step()?;
            for version in self.uses.with(id, Role::Write) {
                match self.writer[version as usize] {
                    Writer::None => self.writer[version as usize] = Writer::Operation(id),
                    other => return Err(self.written_twice(id, version, other)),
                }
            }
        }
        Ok(())
    }

    fn written_twice(&self, id: OpId, version: VersionId, other: Writer) -> Stop {
        let (location, value) = self.show(version);
        let other = match other {
            Writer::None | Writer::Genesis => "it held at the start".to_owned(),
            Writer::Operation(other) => format!("the {} writes too", self.names.operation(other)),
        };
        let operation = self.names.operation(id);
        Stop::not_applicable(format!("the {operation} writes {value} to {location}, which {other}"))
    }

    /// What a location held at the start, if it was not given: what was seen there and no operation
    /// wrote.
    fn find_beginnings(&mut self, poll: &StopPoll) -> Result<(), Stop> {
        for id in self.ids() {
            poll.step()?;
            if !self.history[id].completed {
                continue;
            }
            for version in self.uses.seen(id) {
                let location = self.versions.location(version);
                if self.writer[version as usize] != Writer::None {
                    continue;
                }
                if self.initial[location.index()] != UNKNOWN {
                    return Err(self.never_written(id, version));
                }
                self.writer[version as usize] = Writer::Genesis;
                self.initial[location.index()] = self.versions.value(version).0;
                self.beginning.insert(location, id);
            }
        }
        Ok(())
    }

    /// An operation saw a value that no operation wrote and that was not there at the start.
    fn never_written(&self, id: OpId, version: VersionId) -> Stop {
        let (location, value) = self.show(version);
        let operation = self.names.operation(id);
        let mut core = vec![id];
        let mut why = format!(
            "the {operation} saw {location} = {value}, which no operation had been called to write"
        );
        if let Some(&start) = self.beginning.get(&self.versions.location(version)) {
            let start_value = self.initial[self.versions.location(version).index()];
            why += &format!(
                ", and which {location} did not hold at the start either, as the {} saw {} there, which no operation had been called to \
                 write either",
                self.names.operation(start),
                self.names.show(ValueId(start_value)),
            );
            core.push(start);
        }
        explain::close(self, &mut core);
        Stop::violated(core, why)
    }

    /// Pending swaps whose values were seen took effect, and so did those whose values *they* saw.
    fn keep_what_was_seen(&mut self, poll: &StopPoll) -> Result<(), Stop> {
        if self.history.operations.iter().all(|operation| operation.completed) {
            return Ok(());
        }
        poll.ask(0)?;
        let mut found: Vec<OpId> = self.ids().filter(|&id| self.kept[id.index()]).collect();
        while let Some(id) = found.pop() {
            poll.step()?;
            for version in self.uses.seen(id) {
                if let Some(writer) = self.written_by(version)
                    && !self.kept[writer.index()]
                {
                    self.kept[writer.index()] = true;
                    self.observer.insert(writer, id);
                    found.push(writer);
                }
            }
        }
        Ok(())
    }

    /// Who replaced each version; returns for each version the first end of an operation that saw
    /// or wrote it.
    fn find_replacements(&mut self, poll: &StopPoll) -> Result<Vec<Rank>, Stop> {
        let mut first_end = vec![NEVER; self.versions.len()];
        for id in self.ids().filter(|&id| self.kept[id.index()]) {
            poll.step()?;
            let returned = self.history[id].returned;
            for (version, role) in self.uses.of(id) {
                let at = version as usize;
                if role.is_miss() {
                    continue;
                }
                first_end[at] = first_end[at].min(returned);
                if role == Role::Write {
                    continue;
                }
                if self.writer[at] == Writer::None {
                    return Err(self.never_written(id, version));
                }
                if role == Role::Replace
                    && let Some(other) = self.next[at].replace(id)
                {
                    return Err(self.replaced_twice(other, id, version));
                }
            }
        }
        Ok(first_end)
    }

    /// Where nothing tells what a location held at the start, a value that was seen there may have
    /// been there before it was written, against assumption 1.
    fn check_beginnings(&self) -> Result<(), Stop> {
        if !self.initial.contains(&UNKNOWN) {
            return Ok(());
        }
        for id in self.ids().filter(|&id| self.kept[id.index()]) {
            let unknown = |version: &VersionId| self.is_unknown(self.versions.location(*version));
            if let Some(version) = self.uses.seen(id).find(unknown) {
                let (location, value) = self.show(version);
                let operation = self.names.operation(id);
                return Err(Stop::not_applicable(format!(
                    "nothing tells what {location} held at the start: it may have been the {value} that the {operation} saw \
                     there, although that was also written"
                )));
            }
        }
        Ok(())
    }

    /// A fork: two swaps replaced the same value.
    fn replaced_twice(&self, first: OpId, second: OpId, version: VersionId) -> Stop {
        let (location, value) = self.show(version);
        let (a, b) = (self.names.operation(first), self.names.operation(second));
        let mut core = vec![first, second];
        explain::close(self, &mut core);
        Stop::violated(
            core,
            format!(
                "the {a} and the {b} both replaced {location} = {value}, but {value} was there only once"
            ),
        )
    }

    /// Finds out which failures need an explanation, and where assumption 2 does not help: where it
    /// is not certain that the expected value was there before.
    fn explain_failures(&mut self, first_end: &[Rank], poll: &StopPoll) -> Result<(), Stop> {
        let follows: FxHashSet<OpId> = self.interrupted.iter().map(|pair| pair.next).collect();
        let mut absent = Vec::new();
        for id in self.ids() {
            poll.step()?;
            let operation = self.history[id];
            let (mut excused, mut doubtful) = (false, None);
            absent.clear();
            for version in self.uses.with(id, Role::Miss) {
                match self.writer[version as usize] {
                    Writer::Genesis => {}
                    Writer::None => excused = true,
                    Writer::Operation(writer) => {
                        let start = self.history[writer].invoked;
                        if operation.returned < start {
                            excused = true;
                        } else if !self.kept[writer.index()] {
                            doubtful = Some(writer);
                            absent.push(version);
                        } else if first_end[version as usize] >= operation.invoked {
                            absent.push(version);
                        }
                    }
                }
            }
            if excused {
                self.uses.excuse(id);
                continue;
            }
            let Some(&version) = absent.first() else { continue };
            // INVARIANT: an operation that may have failed too early waits for nothing else (see
            // `Run::forced`).
            if self.uses.seen(id).next().is_none() && !follows.contains(&id) {
                absent.iter().for_each(|&version| self.uses.doubt(id, version));
                self.has_absent = true;
            } else if let Some(writer) = doubtful {
                self.doubts.push((id, writer));
                self.uses.excuse(id);
            } else {
                let (location, value) = self.show(version);
                return Err(Stop::not_applicable(format!(
                    "the {} expected {location} = {value} without anyone having seen or written that before it was called, so \
                     it may have failed because {value} was not there yet or because it was not there any more, and it also \
                     depends on what others did",
                    self.names.operation(id),
                )));
            }
        }
        Ok(())
    }

    /// If the operation failed for one reason only, and that is that the version was not there yet:
    /// who wrote it.
    pub(super) fn failed_before(&self, id: OpId) -> Option<(VersionId, OpId)> {
        let mut missed = self.uses.missed(id);
        let (version, role) = missed.next()?;
        // INVARIANT: what may have been absent was written by an operation.
        let writer = self.written_by(version)?;
        let early = role == Role::Absent
            && self.next[version as usize].is_none()
            && self.kept[writer.index()]
            && missed.next().is_none();
        early.then_some((version, writer))
    }

    /// An operation that shows that the location held this version before `id` was called; nothing
    /// if that was given.
    pub(super) fn shown_before(&self, id: OpId, version: VersionId) -> Option<OpId> {
        if self.writer[version as usize] == Writer::Genesis {
            return self.beginning.get(&self.versions.location(version)).copied();
        }
        let operations = &self.history.operations;
        let mentions =
            |other: &OpId| self.uses.of(*other).any(|(at, role)| at == version && !role.is_miss());
        let before = |other: &OpId| {
            self.kept[other.index()] && operations[other.index()].precedes(&operations[id.index()])
        };
        self.ids().filter(before).find(mentions)
    }

    /// Adds, for each pending swap in a core that took effect, an operation that saw its value.
    pub(super) fn add_observers(&self, core: &mut Vec<OpId>) {
        let mut at = 0;
        while at < core.len() {
            if let Some(&observer) = self.observer.get(&core[at])
                && !core.contains(&observer)
            {
                core.push(observer);
            }
            at += 1;
        }
    }

    /// A version as location and value, for sentences.
    pub(super) fn show(&self, version: VersionId) -> (String, String) {
        let show = |id| self.names.show(id);
        (show(self.versions.location(version)), show(self.versions.value(version)))
    }

    /// What the process of an interrupted operation did next, of what took effect.
    pub(super) fn next_of_process(&self, id: OpId) -> Option<OpId> {
        let next = |id: OpId| {
            let at = self.interrupted.binary_search_by_key(&id, |other| other.operation).ok()?;
            Some(self.interrupted[at].next)
        };
        let mut at = next(id)?;
        while !self.kept[at.index()] {
            at = next(at)?;
        }
        Some(at)
    }
}
