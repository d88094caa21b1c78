//! Real code that is run again: the words that were read and written in this run.
//!
//! A [`Run`] knows which threads, places and cells of this run are which of the graph. It decides
//! nothing.

use super::clock::EventId;
use super::graph::{Graph, Source};
use super::label::{Effect, Label, effect};
use crate::threads::{Paused, Request, Stacks, ThreadId, Threads};
use linchpin_sync::runtime::{Action, Identity, Memory, Place};
use std::rc::Rc;

/// What an event read and wrote in this run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Words {
    pub(super) read: u64,
    /// Of marks: the mark.
    pub(super) wrote: u64,
}

/// Where a thread of this run is.
pub(super) enum State {
    /// It has not been started.
    Absent,
    /// It may go on with this reply.
    Ready(u64),
    /// It asks.
    Asks(Rc<Request>),
    Ended,
    /// It panicked, and said this.
    Panicked(String),
}

/// One run.
pub(super) struct Run {
    threads: Threads,
    generation: u64,
    /// Of each thread of the graph: its index in this run, where it is, and what its events did.
    pub(super) lanes: Vec<Lane>,
    /// The location or cell of each identity.
    bound: Vec<u32>,
    /// What locations held at first; nothing for those that no place is yet.
    initial: Vec<Option<u64>>,
}

/// A thread of the graph in this run.
pub(super) struct Lane {
    pub(super) thread: ThreadId,
    pub(super) state: State,
    pub(super) words: Vec<Words>,
}

impl Lane {
    fn absent() -> Lane {
        Lane { thread: 0, state: State::Absent, words: Vec::new() }
    }
}

impl Run {
    pub(super) fn new(body: Box<dyn FnOnce()>, stacks: &mut Stacks) -> Run {
        let first = Lane { state: State::Ready(0), ..Lane::absent() };
        Run {
            threads: Threads::new(body, stacks),
            generation: Identity::next_generation(),
            lanes: vec![first],
            bound: Vec::new(),
            initial: Vec::new(),
        }
    }

    /// Leaves the threads behind.
    pub(super) fn end(self, stacks: &mut Stacks) {
        self.threads.abandon(stacks);
    }

    /// How many threads there are.
    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Where a thread is, after it has run until its next question.
    pub(super) fn state(&mut self, thread: u32, stacks: &mut Stacks) -> &State {
        let Some(lane) = self.lanes.get_mut(thread as usize) else { return &State::Absent };
        if let State::Ready(reply) = lane.state {
            lane.state = match self.threads.resume(lane.thread, reply, stacks) {
                Paused::Asks(request) => State::Asks(Rc::new(request)),
                Paused::Ended => State::Ended,
                Paused::Panicked(panic) => State::Panicked(message(&*panic)),
            };
        }
        &lane.state
    }

    /// An event was done: the thread may go on with this reply.
    pub(super) fn reply(&mut self, thread: u32, words: Words, reply: u64) {
        let lane = &mut self.lanes[thread as usize];
        lane.words.push(words);
        lane.state = State::Ready(reply);
    }

    /// A thread of the graph is this one of the run.
    pub(super) fn start(&mut self, thread: u32, started: ThreadId) {
        let len = self.lanes.len().max(thread as usize + 1);
        self.lanes.resize_with(len, Lane::absent);
        let lane = &mut self.lanes[thread as usize];
        lane.thread = started;
        lane.state = State::Ready(0);
    }

    /// The location or cell that this is in the graph, if that is known.
    pub(super) fn bound(&self, identity: &Identity) -> Option<u32> {
        identity.index(self.generation).map(|index| self.bound[index as usize])
    }

    /// From now on this is a location of the graph, unless another place is.
    pub(super) fn bind(&mut self, place: Place<'_>, location: u32) {
        let len = self.initial.len().max(location as usize + 1);
        self.initial.resize(len, None);
        if self.initial[location as usize].is_none() {
            self.bind_identity(place.identity, location, Some(place.memory));
            self.initial[location as usize] = Some(place.memory.get());
        }
    }

    /// From now on this is a location, if it has memory, or a cell of the graph.
    pub(super) fn bind_identity(
        &mut self,
        identity: &Identity,
        number: u32,
        memory: Option<&dyn Memory>,
    ) {
        identity.register(self.generation, self.bound.len() as u32, memory);
        self.bound.push(number);
    }

    /// What a source holds.
    pub(super) fn value(&self, location: u32, source: Source) -> u64 {
        match source {
            Some(id) => self.lanes[id.thread as usize].words[id.index as usize].wrote,
            // INVARIANT: places are bound before they are read.
            None => self.initial[location as usize].unwrap_or(0),
        }
    }

    /// Whether an event was done in this run.
    pub(super) fn is_done(&self, id: EventId) -> bool {
        let lane = self.lanes.get(id.thread as usize);
        lane.is_some_and(|lane| lane.words.len() > id.index as usize)
    }

    /// Writes to memory, unless it was overwritten: code that looks without asking sees the newest.
    pub(super) fn write(&self, graph: &Graph, memory: &dyn Memory, write: EventId, value: u64) {
        let Label::Write { location, .. } = graph.event(write).label else { return };
        let position = graph.position(location, Some(write));
        let mut newer = graph.locations[location as usize].writes[position..].iter();
        if !newer.any(|other| self.is_done(*other)) {
            memory.set(value);
        }
    }

    /// How many events of a thread were done.
    pub(super) fn done(&self, thread: u32) -> usize {
        self.lanes.get(thread as usize).map_or(0, |lane| lane.words.len())
    }

    /// A read that is in the graph is done. If a write follows in the graph, that is done too; if
    /// one must follow, or the thread has to wait, it gets no reply.
    pub(super) fn read(
        &mut self,
        graph: &Graph,
        id: EventId,
        place: Place<'_>,
        action: Action<'_>,
        value: u64,
    ) {
        let words = Words { read: value, wrote: 0 };
        match effect(action, value) {
            (Effect::Updates, Some(new)) => {
                self.lanes[id.thread as usize].words.push(words);
                let write = EventId { thread: id.thread, index: id.index + 1 };
                if graph.events(id.thread).len() > write.index as usize {
                    self.write(graph, place.memory, write, new);
                    self.reply(id.thread, Words { read: value, wrote: new }, value);
                }
            }
            (Effect::Blocks, _) => self.lanes[id.thread as usize].words.push(words),
            _ => self.reply(id.thread, words, value),
        }
    }
}

/// What a panic says.
fn message(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default()
}
