//! A run of a model with every state along it, for people who want to step through it.
//!
//! [`InterleavingView`] is the data, and knows no engine. `replay.rs` makes it from a
//! counterexample, with the reference interpreter; `state.rs` turns a state into what is drawn;
//! `goes_on.rs` says what repeats after a run that got stuck; `json.rs` is its JSON, which scripts
//! read too. The page in `assets/verify` shows it.

mod goes_on;
mod json;
mod replay;
mod state;
#[cfg(test)]
mod tests;

pub use replay::Replay;

/// A run, step by step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InterleavingView {
    /// The threads: the role of each, empty if it has none.
    pub threads: Vec<String>,
    /// The calls, in the order in which they are made.
    pub calls: Vec<CallView>,
    /// What happens, in order.
    pub steps: Vec<StepView>,
    /// How many of the steps, from the first on, are the preload.
    pub preload: usize,
    /// What repeats for ever, if something does.
    pub cycle: Option<CycleView>,
    /// The states: the first before all steps, and one after each. None if they are not known.
    pub states: Vec<StateView>,
}

/// A call of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallView {
    /// Who calls.
    pub thread: usize,
    /// What the history calls it: after each of its crashes, a thread is another process.
    pub process: usize,
    /// The operation with its arguments.
    pub call: String,
    /// What it answers: empty if it returns without an answer, absent if it does not return.
    pub answer: Option<String>,
    /// The step in which it is called.
    pub from: usize,
    /// The step in which it returns, if it does.
    pub to: Option<usize>,
    /// Whether it is one of those that no order explains.
    pub core: bool,
}

/// What kind of step it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StepKind {
    /// A thread calls an operation.
    Invoke,
    /// A thread takes a step.
    #[default]
    Step,
    /// A thread sees the answer.
    Respond,
    /// A thread waits: nothing happens.
    Wait,
    /// The system crashes, and comes back with what survived.
    Crash,
}

impl StepKind {
    /// Its name in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            StepKind::Invoke => "invoke",
            StepKind::Step => "step",
            StepKind::Respond => "respond",
            StepKind::Wait => "wait",
            StepKind::Crash => "crash",
        }
    }
}

/// One step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StepView {
    /// What kind of step it is.
    pub kind: StepKind,
    /// Who moves, if a thread does.
    pub thread: Option<usize>,
    /// The operation; empty where there is none.
    pub operation: String,
    /// The source lines that are executed, in order.
    pub lines: Vec<u32>,
    /// What happens.
    pub text: String,
    /// What it changes in shared memory, each in a few words.
    pub changed: Vec<String>,
    /// Whether this is where it goes wrong.
    pub wrong: bool,
    /// More lines for people: of a crash, what was stored and what survived.
    pub rows: Vec<String>,
}

/// What repeats for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleView {
    /// The first step of it; it goes on to the last.
    pub from: usize,
    /// What that means, in a few words.
    pub words: String,
}

/// A state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateView {
    /// The shared variables: name and value.
    pub shared: Vec<(String, ValueView)>,
    /// The heap objects; references are indexes into these.
    pub objects: Vec<ObjectView>,
    /// What each thread is doing.
    pub threads: Vec<ThreadView>,
}

/// A heap object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectView {
    /// Its struct.
    pub of: String,
    /// Whether it may be used: false after `free`.
    pub live: bool,
    /// Its fields; none if it is not live.
    pub fields: Vec<(String, ValueView)>,
}

/// What a thread is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadView {
    /// The operation that it is in, if it is in one.
    pub operation: Option<String>,
    /// The source line that it executes next, if it is inside of one.
    pub line: Option<u32>,
    /// What it answers, where it only has to return.
    pub answer: Option<String>,
    /// The variables that it keeps between operations, and the locals that have been assigned.
    pub variables: Vec<LocalView>,
}

/// A variable of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalView {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: ValueView,
    /// Whether some way on still reads it.
    pub live: bool,
}

/// A value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueView {
    /// In words, whole.
    pub text: String,
    /// What is written beside the arrows, where there are arrows: the parts that are no references.
    pub label: String,
    /// The objects that it refers to.
    pub to: Vec<u32>,
    /// The elements of an array.
    pub items: Vec<ValueView>,
}

impl InterleavingView {
    /// Whether another thread moves than in the step before; the preload is no part of that.
    pub fn is_switch(&self, at: usize) -> bool {
        let moved = |at: usize| self.steps.get(at).and_then(|step| step.thread);
        let before = at.checked_sub(1).and_then(moved);
        before.is_some() && moved(at).is_some() && before != moved(at) && at > self.preload
    }
}
