//! Judging a history while it is recorded, by windows.
//!
//! A [`Stream`] keeps a *window* of operations that still matter. When as many events have come as
//! the window is large (and not fewer than an interval), or when it is asked to, it has the exact
//! monitor of the data type judge the window, and then drops the operations that provably do not
//! matter any more. A violation is reported with the first event that nothing explains, found by
//! bisection: what is not explained by some event never is later.
//!
//! The dropping is exact, because of one fact for each type, argued where it is done (`register`,
//! `queue`, `stack`, `priority_queue`, `set`, `map`, `mwcas`): with `D` what is dropped and `K`
//! what is kept, whatever follows, `K` with what follows is explained if and only if `D` and `K`
//! with what follows is. One direction is always easy: taking a value with all its operations out
//! of an order that explains a history leaves one that explains the rest. The other one is what the
//! rules are for. A value that comes again after all operations on its first life were dropped is a
//! new value, since that life had ended before it came again.
//!
//! Registers with `cas` have no such rule; what is kept of them is all that may have happened
//! (`cas_register`). Counters, locks and semaphores need no window: `tally`, `claims`, `lock` and
//! `permits` judge each event as it comes.
//!
//! What was in the object at the start, and what dropped operations left in it, is added by
//! operations of the window, or noted beside it (`past`). Types without a rule, and windows that
//! their monitor cannot judge (values that repeat while the first one still matters, operations
//! with deadlines), are left to the general [`Frontier`], which is told of the events of the window
//! first.

mod argument;
mod cas_register;
mod claims;
mod debts;
mod event_rule;
mod lives;
mod lock;
mod map;
mod mwcas;
mod past;
mod permits;
mod priority_queue;
mod queue;
mod register;
mod set;
mod stack;
mod tally;
mod window;
mod window_rule;

use crate::data_type::{Online, data_type};
use linchpin_history_data::Object;
use linchpin_history_data::OpId;
use linchpin_search::{Frontier, Ticket, Unexplained};
use linchpin_spec::{AnySpec, Builtin, Call, Mwcas, Shape, Value};
use linchpin_verdict::{Inconclusive, Limits};
use past::Past;
use window::Window;

pub(crate) use event_rule::EventRule;
pub(crate) use window_rule::{WindowRule, rules};

/// A window is judged after so many events, or as many as it has operations if these are more.
const INTERVAL: usize = 1024;

/// With more ways than this to explain what has happened, the frontier gives up.
const MAX_CONFIGURATIONS: usize = 200_000;

/// An operation in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OpenOperation(u32);

/// Why a history is violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refutation {
    /// What the caller calls the first event that nothing explains.
    pub tag: u64,
    /// Why, in a sentence.
    pub explanation: String,
    /// The states in which the object may have been just before, if known.
    pub possible: Vec<String>,
}

/// Why judging ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Nothing explains the events so far.
    Violated(Refutation),
    /// It is not known whether something does: why.
    Unknown(Inconclusive),
}

/// Judges the history of one object while it is recorded.
///
/// Every event has a *tag*, by which the caller knows it, such as the number of its line.
///
/// ```
/// use linchpin_history::online::{Ended, Stream};
/// use linchpin_history::Object;
/// use linchpin_spec::{Call, Queue, Value};
/// use linchpin_verdict::Limits;
///
/// let queue = Object::builtin("queue", None)?;
/// let mut stream = Stream::new(&queue, Limits::default());
/// let seven = Call { operation: Queue::ENQUEUE, argument: Value::Int(7) };
/// let enqueue = stream.invoke(1, "a", seven);
/// stream.response(2, enqueue, &Value::Null).unwrap();
/// let dequeue = stream.invoke(3, "b", Call { operation: Queue::DEQUEUE, argument: Value::Null });
/// stream.response(4, dequeue, &Value::Null).unwrap();
/// let Err(Ended::Violated(refutation)) = stream.finish() else { panic!("7 was lost") };
/// assert_eq!(refutation.tag, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Stream<'a> {
    spec: &'a AnySpec,
    data_type: Option<Builtin>,
    limits: Limits,
    interval: usize,
    engine: Engine<'a>,
    /// What each ticket stands for.
    open: Vec<Option<Open>>,
    free: Vec<u32>,
    handed_over: Option<String>,
}

struct Open {
    process: String,
    operation: usize,
    place: Place,
}

/// Where an open operation is.
#[derive(Clone, Copy)]
enum Place {
    Window(OpId),
    Rule,
    Frontier(Ticket),
}

enum Engine<'a> {
    Window(Box<Window>),
    Rule(Box<EventRule>),
    Frontier(Box<Frontier<'a, AnySpec>>),
}

impl<'a> Stream<'a> {
    /// A judge of an object, before the first event.
    pub fn new(object: &'a Object, limits: Limits) -> Stream<'a> {
        let spec: &AnySpec = &*object.spec;
        let init = object.init.as_ref();
        let online =
            object.data_type().map_or(Online::Search, |builtin| data_type(builtin).online(init));
        let engine = match online {
            Online::Window(rule) => Engine::Window(Box::new(Window::new(rule, init))),
            Online::Events(rule) => Engine::Rule(Box::new(rule)),
            Online::Search => Engine::Frontier(Box::new(Frontier::new(spec))),
        };
        Stream {
            spec,
            data_type: object.data_type(),
            limits,
            interval: INTERVAL,
            engine,
            open: Vec::new(),
            free: Vec::new(),
            handed_over: None,
        }
    }

    /// Judges after so many events, instead of the usual number, if the window is not larger.
    #[must_use]
    pub fn with_interval(mut self, events: usize) -> Self {
        self.interval = events;
        self
    }

    /// Where there is no rule what still matters, but a set of ways to explain what has happened
    /// (`cas-register`), follows about so many of them for each value instead of the usual number:
    /// what is judged is judged right, but more is left unknown.
    #[must_use]
    pub fn with_ways(mut self, ways: usize) -> Self {
        if let Engine::Window(window) = &mut self.engine
            && let Past::Register(frozen) = &mut window.past
        {
            frozen.follow(ways.max(1));
        }
        self
    }

    /// How many operations, or ways to explain what has happened, are kept.
    pub fn kept(&self) -> usize {
        match &self.engine {
            Engine::Window(window) => window.len(),
            Engine::Rule(rule) => rule.len(),
            Engine::Frontier(frontier) => frontier.configurations(),
        }
    }

    /// How many events wait to be judged.
    pub fn unjudged(&self) -> usize {
        match &self.engine {
            Engine::Window(window) => window.unjudged(),
            Engine::Rule(_) | Engine::Frontier(_) => 0,
        }
    }

    /// Whether what is special about the type is used, not the general frontier.
    pub fn is_special(&self) -> bool {
        !matches!(self.engine, Engine::Frontier(_))
    }

    /// Why the window was left to the general frontier, if it was.
    pub fn handed_over(&self) -> Option<&str> {
        self.handed_over.as_deref()
    }

    /// A process calls.
    pub fn invoke(&mut self, tag: u64, process: &str, call: Call) -> OpenOperation {
        let ticket = self.free.pop().unwrap_or(self.open.len() as u32);
        if ticket as usize == self.open.len() {
            self.open.push(None);
        }
        let operation = call.operation;
        if let Engine::Rule(rule) = &mut self.engine {
            match rule.invoke(ticket, &call) {
                true => {
                    let (process, place) = (process.to_owned(), Place::Rule);
                    self.open[ticket as usize] = Some(Open { process, operation, place });
                    return OpenOperation(ticket);
                }
                false => self.leave_rule("not everybody adds the same amount in the same way"),
            }
        }
        let place = match &mut self.engine {
            Engine::Rule(_) => Place::Rule,
            Engine::Window(window) => {
                let shape = shape(self.spec, operation, |signature| &signature.argument);
                Place::Window(window.invoke(tag, ticket, process, &call, shape))
            }
            Engine::Frontier(frontier) => Place::Frontier(frontier.invoke(call)),
        };
        let process = process.to_owned();
        self.open[ticket as usize] = Some(Open { process, operation, place });
        OpenOperation(ticket)
    }

    fn close(&mut self, open: OpenOperation) -> Option<Open> {
        let closed = self.open.get_mut(open.0 as usize)?.take()?;
        self.free.push(open.0);
        Some(closed)
    }

    /// The operation returns. Nothing changes if it is not in progress.
    ///
    /// # Errors
    ///
    /// If that ends the judging. What is told later means nothing then.
    pub fn response(
        &mut self,
        tag: u64,
        open: OpenOperation,
        response: &Value,
    ) -> Result<(), Ended> {
        let ticket = open.0;
        let Some(open) = self.close(open) else {
            return Ok(());
        };
        if let Engine::Window(window) = &self.engine
            && window.rule.reserves(response)
        {
            let reason = format!("the value {response} is reserved");
            return Err(Ended::Unknown(Inconclusive::Undecided(reason)));
        }
        let is_memory = self.data_type == Some(Builtin::Mwcas);
        match (&mut self.engine, open.place) {
            (Engine::Window(window), Place::Window(id)) => {
                let shape = shape(self.spec, open.operation, |signature| &signature.response);
                window.response(tag, id, response.clone(), shape);
                self.judge_if_due()
            }
            (Engine::Rule(rule), Place::Rule) => rule.response(ticket, response).map_err(|what| {
                let signature = self.spec.operations().get(open.operation);
                let name = signature.map_or("?", |signature| signature.name.as_str());
                let explanation = format!("{name}() by process {} {what}", open.process);
                Ended::Violated(Refutation { tag, explanation, possible: Vec::new() })
            }),
            (Engine::Frontier(frontier), Place::Frontier(ticket)) => {
                let event = FrontierEvent { tag, process: &open.process, ticket, is_memory };
                event.pass(frontier, Some(response), MAX_CONFIGURATIONS)
            }
            _ => Ok(()),
        }
    }

    /// The operation turns out not to have happened.
    ///
    /// # Errors
    ///
    /// If that ends the judging.
    pub fn retract(&mut self, tag: u64, open: OpenOperation) -> Result<(), Ended> {
        let ticket = open.0;
        let Some(open) = self.close(open) else {
            return Ok(());
        };
        let is_memory = self.data_type == Some(Builtin::Mwcas);
        match (&mut self.engine, open.place) {
            (Engine::Window(window), Place::Window(id)) => {
                window.retract(tag, id);
                self.judge_if_due()
            }
            (Engine::Rule(rule), Place::Rule) => match rule.retract(ticket) {
                true => Ok(()),
                false => Err(did_not_happen(tag, &open.process)),
            },
            (Engine::Frontier(frontier), Place::Frontier(ticket)) => {
                let event = FrontierEvent { tag, process: &open.process, ticket, is_memory };
                event.pass(frontier, None, MAX_CONFIGURATIONS)
            }
            _ => Ok(()),
        }
    }

    /// The operation will not return: it takes effect at any later time or never.
    pub fn crash(&mut self, open: OpenOperation) {
        let ticket = open.0;
        if let Some(open) = self.close(open) {
            match (&mut self.engine, open.place) {
                (Engine::Window(window), Place::Window(id)) => window.crash(id),
                (Engine::Rule(rule), Place::Rule) => rule.crash(ticket),
                (Engine::Frontier(frontier), Place::Frontier(ticket)) => frontier.crash(ticket),
                _ => {}
            }
        }
    }

    /// The operation will not return: it has taken effect by now, or never does.
    ///
    /// # Errors
    ///
    /// If that ends the judging.
    pub fn expire(&mut self, open: OpenOperation) -> Result<(), Ended> {
        // Monitors know deadlines, but what they make matter is not worked out.
        let reason = "an operation has a deadline";
        self.finish()?;
        self.hand_over(reason.to_owned())?;
        self.leave_rule(reason);
        let known = open.0;
        if let Some(open) = self.close(open) {
            match (&mut self.engine, open.place) {
                (Engine::Frontier(frontier), Place::Frontier(ticket)) => frontier.expire(ticket),
                (Engine::Rule(rule), Place::Rule) => rule.crash(known),
                _ => {}
            }
        }
        Ok(())
    }

    fn judge_if_due(&mut self) -> Result<(), Ended> {
        let Engine::Window(window) = &self.engine else {
            return Ok(());
        };
        match window.untried() >= window.len().max(self.interval) {
            true => self.judge(),
            false => Ok(()),
        }
    }

    /// Judges all events so far, unless the monitor needs to see more.
    ///
    /// # Errors
    ///
    /// If that ends the judging.
    pub fn judge(&mut self) -> Result<(), Ended> {
        self.judge_or(false)
    }

    /// Judges all events: no more will follow.
    ///
    /// # Errors
    ///
    /// If that ends the judging.
    pub fn finish(&mut self) -> Result<(), Ended> {
        self.judge_or(true)
    }

    /// Judges all events so far. If the monitor refuses, and more events do not help or there are
    /// none, the frontier goes on.
    fn judge_or(&mut self, is_last: bool) -> Result<(), Ended> {
        let Engine::Window(window) = &mut self.engine else {
            return Ok(());
        };
        if window.unjudged() == 0 || !is_last && window.untried() == 0 {
            return Ok(());
        }
        let open = &mut self.open;
        let moved = |ticket: u32, id: OpId| {
            if let Some(Some(open)) = open.get_mut(ticket as usize) {
                open.place = Place::Window(id);
            }
        };
        match window.judge(&self.limits, moved)? {
            Ok(()) => Ok(()),
            Err(_) if !is_last && !window.is_hopeless() => Ok(()),
            Err(_) if is_last && window.is_memory() && !window.suits_frontier() => {
                window.search(&self.limits)
            }
            Err(refused) => self.hand_over(refused.reason),
        }
    }

    /// Leaves what is judged event by event to the general frontier, unless there is no need to.
    fn leave_rule(&mut self, reason: &str) {
        let Engine::Rule(rule) = &self.engine else {
            return;
        };
        if let Some((frontier, open)) = rule.frontier(self.spec) {
            self.go_on_with(frontier, open, reason.to_owned());
        }
    }

    fn go_on_with(
        &mut self,
        frontier: Frontier<'a, AnySpec>,
        open: Vec<(u32, Ticket)>,
        reason: String,
    ) {
        for (ticket, at) in open {
            if let Some(Some(open)) = self.open.get_mut(ticket as usize) {
                open.place = Place::Frontier(at);
            }
        }
        self.engine = Engine::Frontier(Box::new(frontier));
        self.handed_over = Some(reason);
    }

    /// Leaves the window to the general frontier.
    fn hand_over(&mut self, reason: String) -> Result<(), Ended> {
        let Engine::Window(window) = &self.engine else {
            return Ok(());
        };
        let start = window.rule.start(self.spec, &window.past).filter(|_| window.suits_frontier());
        let Some(start) = start else {
            let reason = format!("{reason}; judge a file instead");
            return Err(window
                .found
                .clone()
                .unwrap_or(Ended::Unknown(Inconclusive::Undecided(reason))));
        };
        let mut frontier = Frontier::starting_from(self.spec, start);
        let open = match (window.replay(&mut frontier, MAX_CONFIGURATIONS), &window.found) {
            (Ok(_) | Err(Ended::Unknown(_)), Some(found)) => return Err(found.clone()),
            (open, _) => open?,
        };
        self.go_on_with(frontier, open, reason);
        Ok(())
    }
}

/// The shape of an argument or a response.
fn shape<'s>(
    spec: &'s AnySpec,
    operation: usize,
    of: impl Fn(&'s linchpin_spec::Signature) -> &'s Shape,
) -> &'s Shape {
    spec.operations().get(operation).map_or(&Shape::Any, of)
}

/// The operation of a process did not happen, and that cannot be.
fn did_not_happen(tag: u64, process: &str) -> Ended {
    let explanation = format!(
        "the operation of process {process} did not happen, but what others were answered needs its effect"
    );
    Ended::Violated(Refutation { tag, explanation, possible: Vec::new() })
}

/// Whether a memory lists such an answer of `mwcas` when it is asked without one, as the frontier
/// does: one that fails without saying where, or says what it read, answers otherwise.
fn is_listed(answer: &Value) -> bool {
    let says_where = |field: &Value| *field == Value::str("failed");
    match answer {
        Value::Map(fields) => fields.keys().all(says_where),
        answer => *answer == Value::Bool(true),
    }
}

/// The end of an operation, for a frontier.
struct FrontierEvent<'a> {
    tag: u64,
    process: &'a str,
    ticket: Ticket,
    is_memory: bool,
}

impl FrontierEvent<'_> {
    /// The operation answered this, or did not happen if that is nothing.
    fn pass(
        &self,
        frontier: &mut Frontier<'_, AnySpec>,
        response: Option<&Value>,
        most: usize,
    ) -> Result<(), Ended> {
        let Some(response) = response else {
            return match frontier.retract(self.ticket) {
                true => Ok(()),
                false => Err(did_not_happen(self.tag, self.process)),
            };
        };
        if let Err(stuck) = frontier.response(self.ticket, response) {
            return Err(self.unexplained(frontier, response, stuck));
        }
        if frontier.configurations() > most {
            let reason = "there are too many ways to explain what has happened so far; judge a \
                          file instead";
            return Err(Ended::Unknown(Inconclusive::Undecided(reason.to_owned())));
        }
        Ok(())
    }

    /// Nothing explains the answer, unless it is one that a memory does not list.
    fn unexplained(
        &self,
        frontier: &Frontier<'_, AnySpec>,
        response: &Value,
        stuck: Unexplained,
    ) -> Ended {
        if self.is_memory && stuck.call.operation == Mwcas::MWCAS && !is_listed(&stuck.response) {
            let reason = format!("{response} is an answer that is only judged in a file");
            return Ended::Unknown(Inconclusive::Undecided(reason));
        }
        let signature = frontier.spec().operations().get(stuck.call.operation);
        let argument = match &stuck.call.argument {
            Value::Null => String::new(),
            argument => argument.brief(),
        };
        let explanation = format!(
            "{}({argument}) → {} by process {} cannot be explained",
            signature.map_or("?", |signature| signature.name.as_str()),
            stuck.response.brief(),
            self.process
        );
        Ended::Violated(Refutation { tag: self.tag, explanation, possible: stuck.possible })
    }
}
