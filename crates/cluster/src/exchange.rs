//! The dataflow: messages from any worker to any other, in epochs.
//!
//! An epoch is over when its frontier has passed: then every message of it has arrived, wherever it
//! was sent to. Messages of later epochs, from workers that are ahead, wait.

use crate::wire::Status;
use linchpin_refine::search::Wrong;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use timely::WorkerConfig;
use timely::communication::Allocator;
use timely::communication::allocator::zero_copy::allocator::TcpBuilder;
use timely::container::CapacityContainerBuilder;
use timely::dataflow::channels::pact::Exchange as ByWorker;
use timely::dataflow::operators::generic::Operator;
use timely::dataflow::operators::{Input, Probe};
use timely::dataflow::{InputHandle, ProbeHandle};
use timely::worker::Worker;

/// A message from worker to worker.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Message {
    to: u16,
    pub from: u16,
    epoch: u64,
    pub body: Body,
}

/// What it says.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Body {
    /// States, as a batch.
    States(#[serde(with = "serde_bytes")] Vec<u8>),
    /// The search is about to end: expand no more.
    Halt,
    /// What a level has brought.
    Level(Summary),
    /// A state on the way to one where something goes wrong, if it was there.
    Step(Option<PathStep>),
    /// What is said in the end.
    Last(Last),
}

/// What a level has brought to a worker, and what it has had in all.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Summary {
    /// States that are new.
    pub new: u64,
    /// The state where something goes wrong next, and whether that is a fault.
    pub found: Option<(u32, bool)>,
    pub stopped: Option<Stopped>,
    pub states: u64,
    pub implementation_states: u64,
    pub transitions: u64,
    pub bytes: u64,
}

/// Why a worker does not go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Stopped {
    Time,
    Memory,
    Interrupt,
    Budget,
    Full,
    Damaged,
}

/// A state on a way: its bytes, its set, and from which state of which worker it was found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PathStep {
    #[serde(with = "serde_bytes")]
    pub bytes: Vec<u8>,
    #[serde(with = "serde_bytes")]
    pub set: Vec<u8>,
    pub parent: Option<(u16, u32)>,
}

/// What a worker says in the end.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Last {
    pub is_closed: bool,
    /// What its process has seen, from the first worker of each.
    pub seen: Vec<bool>,
    /// How many bytes its process has sent, from the first worker of each.
    pub sent: u64,
}

/// What went wrong, as it is sent.
pub(crate) fn wrong(is_fault: bool) -> Wrong {
    if is_fault { Wrong::Fault } else { Wrong::Unexplained }
}

type MessageInput = InputHandle<u64, CapacityContainerBuilder<Vec<Message>>>;

/// One worker's end of the dataflow.
pub(crate) struct Exchange {
    // Dropped before the worker.
    input: Option<MessageInput>,
    probe: ProbeHandle<u64>,
    inbox: Rc<RefCell<VecDeque<Message>>>,
    worker: Worker,
    epoch: u64,
    own: u16,
    workers: u16,
}

impl Exchange {
    pub fn new(builder: TcpBuilder, own: u16, workers: u16) -> Exchange {
        let allocator = Allocator::Tcp(builder.build());
        let mut worker = Worker::new(WorkerConfig::default(), allocator, Some(Instant::now()));
        let inbox: Rc<RefCell<VecDeque<Message>>> = Rc::default();
        let probe = ProbeHandle::new();
        let input = worker.dataflow::<u64, _, _>(|scope| {
            let (input, messages) = scope.new_input::<Vec<Message>>();
            let inbox = inbox.clone();
            let to = ByWorker::new(|message: &Message| u64::from(message.to));
            messages
                .unary::<CapacityContainerBuilder<Vec<()>>, _, _, _>(to, "receive", |_, _| {
                    move |arriving, _| {
                        arriving.for_each(|_, messages| {
                            inbox.borrow_mut().extend(messages.drain(..));
                        });
                    }
                })
                .probe_with(&probe);
            input
        });
        Exchange { input: Some(input), probe, inbox, worker, epoch: 0, own, workers }
    }

    /// Sends a message in this epoch.
    pub fn send(&mut self, to: u16, body: Body) {
        let message = Message { to, from: self.own, epoch: self.epoch, body };
        if let Some(input) = &mut self.input {
            input.send(message);
            input.flush();
        }
    }

    /// Sends a message to all workers, this one too.
    pub fn send_to_all(&mut self, body: &Body) {
        (0..self.workers).for_each(|to| self.send(to, body.clone()));
    }

    /// Lets messages arrive and leave.
    pub fn step(&mut self) {
        self.worker.step();
    }

    /// The same; waits a little if there is nothing to do.
    pub fn step_or_wait(&mut self) {
        self.worker.step_or_park(Some(Duration::from_millis(5)));
    }

    /// A message of this epoch, or one that must not wait.
    pub fn take(&mut self) -> Option<Message> {
        let mut inbox = self.inbox.borrow_mut();
        let is_now =
            |message: &Message| message.epoch == self.epoch || matches!(message.body, Body::Halt);
        let at = inbox.iter().position(is_now)?;
        inbox.remove(at)
    }

    /// Nothing more is sent in this epoch.
    pub fn close_epoch(&mut self) {
        if let Some(input) = &mut self.input {
            input.advance_to(self.epoch + 1);
        }
    }

    /// Whether all messages of this epoch have arrived.
    pub fn epoch_is_over(&self) -> bool {
        !self.probe.less_than(&(self.epoch + 1))
    }

    /// Goes on to the next epoch.
    pub fn next_epoch(&mut self) {
        self.epoch += 1;
    }

    /// Ends the dataflow together with all others.
    pub fn end(mut self, status: &Arc<Status>) {
        self.input = None;
        while self.worker.has_dataflows() && status.broken().is_none() {
            self.step_or_wait();
        }
    }
}
