//! What was done to one key, with the gets read.
//!
//! The beginning is a put that was called and returned before all events.

use super::lexicon::{Lexicon, Token};
use super::reading::{Node, Reader, Reading, Tree};
use crate::poll::{StopPoll, StopReason};
use linchpin_history_data::{History, NEVER, OpId, Rank};
use std::hash::Hash;

/// An instant: 0 is before all events, an event is one more than its rank.
pub(super) type Instant = u32;

/// After all events.
pub(super) const AT_THE_END: Instant = Instant::MAX;

/// The instant of an event.
pub(super) fn instant(rank: Rank) -> Instant {
    rank.number().saturating_add(1)
}

/// An operation of a [`Log`], by its position.
pub(super) type At = u32;

/// The beginning.
pub(super) const BEGINNING: At = 0;

/// What an operation did, with texts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Does<'t, S> {
    Put(&'t [S]),
    Append(&'t [S]),
    Get(&'t [S]),
}

/// What an operation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Put(Token),
    Append(Token),
    /// The readings from one position to another.
    Get(u32, u32),
}

/// An operation. What did not return and is no put or append is not here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    /// `None` for the beginning.
    pub(super) id: Option<OpId>,
    pub(super) role: Role,
    pub(super) call: Instant,
    /// When it returned, or by when it took effect if it ever did.
    pub(super) returned: Instant,
    pub(super) completed: bool,
}

/// What was done to one key.
pub(super) struct Log {
    /// In the order of the calls, the beginning first.
    pub(super) elements: Vec<Element>,
    pub(super) tree: Tree,
    readings: Vec<Reading>,
    /// The puts and the appends of each piece, in the order of their calls.
    pub(super) puts: ByToken,
    pub(super) appends: ByToken,
    /// What overwrites.
    completed_puts: Vec<Overwrite>,
    /// For each node the latest instant at which all that it shows was called at the earliest.
    pub(super) called: Vec<Instant>,
    /// The get that returned first of those that cannot be read, and of those that can be read in
    /// several ways.
    pub(super) unread: Option<At>,
    pub(super) ambiguous: Option<At>,
}

struct Overwrite {
    returned: Instant,
    /// Of those that returned by then, the one that was called last.
    latest: At,
}

/// The operations with each piece, in the order of their calls.
pub(super) struct ByToken {
    ends: Vec<u32>,
    items: Vec<At>,
    /// For each item the latest return of those up to it with its piece, of those that returned.
    returned_by: Vec<Instant>,
    /// The positions of items that never returned.
    endless: Vec<u32>,
}

impl ByToken {
    fn new(
        count: usize,
        items: impl Iterator<Item = (Token, At)> + Clone,
        elements: &[Element],
    ) -> ByToken {
        let mut ends = vec![0u32; count + 1];
        items.clone().for_each(|(token, _)| ends[token as usize + 1] += 1);
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let mut sorted = vec![0; ends.last().map_or(0, |end| *end as usize)];
        for (token, at) in items {
            let next = &mut ends[token as usize];
            sorted[*next as usize] = at;
            *next += 1;
        }
        let mut all = ByToken { ends, items: sorted, returned_by: Vec::new(), endless: Vec::new() };
        all.find_returns(count, elements);
        all
    }

    fn find_returns(&mut self, count: usize, elements: &[Element]) {
        self.returned_by.reserve(self.items.len());
        for token in 0..count {
            let mut latest = 0;
            for position in self.range(token as Token) {
                match elements[self.items[position] as usize].returned {
                    AT_THE_END => self.endless.push(position as u32),
                    returned => latest = latest.max(returned),
                }
                self.returned_by.push(latest);
            }
        }
    }

    fn range(&self, token: Token) -> std::ops::Range<usize> {
        let token = token as usize;
        let start = token.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[token] as usize
    }

    /// Those with this piece.
    pub(super) fn of(&self, token: Token) -> &[At] {
        &self.items[self.range(token)]
    }

    /// Those with this piece, without most of those that had returned before an instant.
    pub(super) fn since(&self, token: Token, instant: Instant) -> impl Iterator<Item = At> {
        let range = self.range(token);
        let over = self.returned_by[range.clone()].partition_point(|returned| *returned < instant);
        let middle = range.start + over;
        let place = |position: usize| {
            self.endless.partition_point(|endless| (*endless as usize) < position)
        };
        let endless = match self.endless.is_empty() {
            true => &[],
            false => &self.endless[place(range.start)..place(middle)],
        };
        let endless = endless.iter().map(|position| self.items[*position as usize]);
        endless.chain(self.items[middle..range.end].iter().copied())
    }
}

impl Log {
    /// The log of a key that holds `init` at the beginning. The operations are given in the order
    /// of their calls.
    pub(super) fn new<'t, S: Ord + Hash>(
        history: &History,
        init: &'t [S],
        operations: &[(OpId, Does<'t, S>)],
        poll: &StopPoll,
    ) -> Result<Log, StopReason> {
        let mut lexicon = Lexicon::new();
        let start = Role::Put(lexicon.intern(init));
        let beginning = Element { id: None, role: start, call: 0, returned: 0, completed: true };
        let mut elements = vec![beginning];
        for (id, does) in operations {
            poll.step()?;
            let role = match does {
                Does::Put(text) => Role::Put(lexicon.intern(text)),
                Does::Append(text) => Role::Append(lexicon.intern(text)),
                Does::Get(_) => Role::Get(0, 0),
            };
            let operation = &history[*id];
            elements.push(Element {
                id: Some(*id),
                role,
                call: instant(operation.invoked),
                returned: if operation.returned == NEVER {
                    AT_THE_END
                } else {
                    instant(operation.returned)
                },
                completed: operation.completed,
            });
        }
        lexicon.sort(poll)?;
        let with = |which: fn(Role) -> Option<Token>| {
            let items = elements.iter().zip(0..);
            let items = items.filter_map(move |(e, at)| Some((which(e.role)?, at)));
            ByToken::new(lexicon.len(), items, &elements)
        };
        let mut log = Log {
            puts: with(|role| if let Role::Put(token) = role { Some(token) } else { None }),
            appends: with(|role| if let Role::Append(token) = role { Some(token) } else { None }),
            elements,
            tree: Tree::default(),
            readings: Vec::new(),
            completed_puts: Vec::new(),
            called: Vec::new(),
            unread: None,
            ambiguous: None,
        };
        log.read_gets(&lexicon, operations, poll)?;
        log.find_calls();
        log.find_overwrites(poll)?;
        Ok(log)
    }

    fn read_gets<S: Ord + Hash>(
        &mut self,
        lexicon: &Lexicon<'_, S>,
        operations: &[(OpId, Does<'_, S>)],
        poll: &StopPoll,
    ) -> Result<(), StopReason> {
        let reader = Reader { lexicon, empty: lexicon.find(&[]) };
        for (at, (_, does)) in operations.iter().enumerate().map(|(at, it)| (at + 1, it)) {
            let Does::Get(text) = does else { continue };
            let returned = self.elements[at].returned;
            let elements = &self.elements;
            // Only what was called before the get returned can be what it shows.
            let in_time = |first: Option<&At>| {
                first.is_some_and(|first| elements[*first as usize].call < returned)
            };
            let is_base = |token| in_time(self.puts.of(token).first());
            let is_piece = |token| in_time(self.appends.of(token).first());
            let start = self.readings.len();
            match reader.read(&mut self.tree, text, is_base, is_piece, poll)? {
                Ok(readings) if readings.is_empty() => {
                    let first = self.unread.is_none_or(|other| returned < self[other].returned);
                    self.unread = if first { Some(at as At) } else { self.unread };
                }
                Ok(readings) => self.readings.extend(readings),
                Err(_) => {
                    let first = self.ambiguous.is_none_or(|other| returned < self[other].returned);
                    self.ambiguous = if first { Some(at as At) } else { self.ambiguous };
                }
            }
            self.elements[at].role = Role::Get(start as u32, self.readings.len() as u32);
        }
        Ok(())
    }

    fn find_calls(&mut self) {
        for node in 0..self.tree.len() as Node {
            let called = match self.tree.parent(node) {
                None => 0,
                Some(parent) => {
                    let first = self.appends.of(self.tree.token(node)).first();
                    let first = first.map_or(AT_THE_END, |first| self[*first].call);
                    first.max(self.called[parent as usize])
                }
            };
            self.called.push(called);
        }
    }

    fn find_overwrites(&mut self, poll: &StopPoll) -> Result<(), StopReason> {
        poll.ask(0)?;
        let mut puts: Vec<(Instant, At)> = Vec::new();
        for (element, at) in self.elements.iter().zip(0..) {
            if matches!(element.role, Role::Put(_)) && element.completed {
                puts.push((element.returned, at));
            }
        }
        puts.sort_unstable();
        let mut latest = BEGINNING;
        for (returned, at) in puts {
            poll.step()?;
            if self[at].call > self[latest].call {
                latest = at;
            }
            self.completed_puts.push(Overwrite { returned, latest });
        }
        Ok(())
    }

    /// The ways to read a get.
    pub(super) fn readings(&self, get: At) -> &[Reading] {
        match self[get].role {
            Role::Get(start, end) => &self.readings[start as usize..end as usize],
            _ => &[],
        }
    }

    /// Of the puts that had returned before an instant, the one that was called last.
    pub(super) fn last_put_before(&self, instant: Instant) -> At {
        let after = self.completed_puts.partition_point(|put| put.returned < instant);
        after.checked_sub(1).map_or(BEGINNING, |at| self.completed_puts[at].latest)
    }
}

impl std::ops::Index<At> for Log {
    type Output = Element;

    fn index(&self, at: At) -> &Element {
        &self.elements[at as usize]
    }
}

/// The log as it was known right after an event.
#[derive(Clone, Copy)]
pub(super) struct Known<'l> {
    pub(super) log: &'l Log,
    pub(super) cut: Instant,
    /// How many operations had been called.
    pub(super) count: At,
}

impl<'l> Known<'l> {
    /// What was known by this instant.
    pub(super) fn by(log: &'l Log, cut: Instant) -> Known<'l> {
        let count = log.elements.partition_point(|element| element.call <= cut) as At;
        Known { log, cut, count }
    }

    /// When an operation was called.
    pub(super) fn call(&self, at: At) -> Instant {
        self.log[at].call
    }

    /// Whether an operation had returned.
    pub(super) fn is_completed(&self, at: At) -> bool {
        let element = &self.log[at];
        element.completed && element.returned <= self.cut
    }

    /// By when an operation took effect, if it did.
    pub(super) fn returned(&self, at: At) -> Instant {
        let element = &self.log[at];
        match element.completed && element.returned > self.cut {
            true => AT_THE_END,
            false => element.returned,
        }
    }

    /// The appends of a piece.
    pub(super) fn appends(&self, token: Token) -> &'l [At] {
        let all = self.log.appends.of(token);
        match all {
            [.., last] if *last >= self.count => &all[..all.partition_point(|at| *at < self.count)],
            _ => all,
        }
    }
}
