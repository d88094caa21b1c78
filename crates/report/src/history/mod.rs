//! A recorded history with what was found out about it, for people who want to look at it.
//!
//! [`HistoryView`] is the data, and knows no engine. `json.rs` is its JSON, in columns, which
//! scripts read too; `page.rs` puts that into the viewer under `assets/history`.

mod json;
mod page;
#[cfg(test)]
mod tests;

use linchpin_verdict::Verdict;

/// A history, the verdict and all that explains it.
#[derive(Clone, Debug)]
pub struct HistoryView {
    /// The title, such as `linchpin check history.jsonl`.
    pub title: String,
    /// What was judged, in a few words.
    pub about: String,
    /// The verdict.
    pub verdict: Verdict,
    /// The verdict in a sentence.
    pub headline: String,
    /// What else there is to say about it, each in a sentence.
    pub sentences: Vec<String>,
    /// Names and values worth knowing: the object, the property, the method.
    pub facts: Vec<(String, String)>,
    /// What was taken for granted.
    pub assumptions: Vec<String>,
    /// What people should know about how it was read and judged.
    pub notes: Vec<String>,
    /// What this view does not have although the history does, each in a sentence.
    pub left_out: Vec<String>,
    /// The names of the processes.
    pub processes: Vec<String>,
    /// The names of the operations of the object.
    pub functions: Vec<String>,
    /// The objects, where one history records many.
    pub keys: Vec<KeyView>,
    /// How many events the history has: all ranks are smaller.
    pub events: u32,
    /// The operations, in the order of their calls.
    pub operations: Vec<OperationView>,
    /// Orders that explain the history, or as much of it as can be explained.
    pub orders: Vec<OrderView>,
    /// What cannot be explained, the main one first.
    pub violations: Vec<ViolationView>,
    /// The crashes, in order.
    pub crashes: Vec<CrashView>,
    /// What the log says beside the history.
    pub bands: Vec<BandView>,
}

/// One object of many.
#[derive(Clone, Debug)]
pub struct KeyView {
    /// The key.
    pub name: String,
    /// The answer about it, if there is one.
    pub verdict: Option<Verdict>,
    /// How many operations it has.
    pub operations: usize,
    /// The line of its first event.
    pub line: Option<u64>,
}

/// An event of the history.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Its position among all events, from 0.
    pub rank: u32,
    /// The line that it is from, from 1.
    pub line: Option<u64>,
    /// When it happened, in nanoseconds.
    pub time: Option<i64>,
}

/// An operation.
#[derive(Clone, Debug)]
pub struct OperationView {
    /// Its number in the whole history: by order of calls, from 0. All ids below are these.
    pub id: u32,
    /// Who called: index into [`HistoryView::processes`].
    pub process: u32,
    /// What was called: index into [`HistoryView::functions`].
    pub function: u32,
    /// On which object: index into [`HistoryView::keys`].
    pub key: Option<u32>,
    /// With what, as between the parentheses of a call.
    pub argument: String,
    /// What it answered: empty if it returned without an answer, absent if it did not return.
    pub answer: Option<String>,
    /// When it was called.
    pub from: Moment,
    /// When it returned, if it did.
    pub to: Option<Moment>,
}

/// Operations in an order that explains them.
#[derive(Clone, Debug)]
pub struct OrderView {
    /// The object that it is about: index into [`HistoryView::keys`]. All if absent.
    pub key: Option<u32>,
    /// Whether it explains everything, or only what came before the event that nothing explains.
    pub complete: bool,
    /// The ids of the operations.
    pub operations: Vec<u32>,
    /// The state before the first of them, if states are known.
    pub initial: Option<String>,
    /// The state after each of them. Shorter than `operations`, or without some, where that is too
    /// much.
    pub states: Vec<Option<String>>,
}

/// Why there is no order.
#[derive(Clone, Debug)]
pub struct ViolationView {
    /// The object that it is about: index into [`HistoryView::keys`].
    pub key: Option<u32>,
    /// Why, in a sentence.
    pub explanation: String,
    /// The ids of operations that no order explains.
    pub core: Vec<u32>,
    /// The first event that cannot be explained, if it is known.
    pub event: Option<Unexplained>,
    /// The states that were possible just before.
    pub possible: Vec<String>,
}

/// The first event that cannot be explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// Which event.
    pub at: Moment,
    /// The id of the operation that it belongs to.
    pub operation: Option<u32>,
}

/// A crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CrashView {
    /// When.
    pub at: Moment,
    /// Of which process; of all if absent.
    pub process: Option<u32>,
}

/// Something that went on beside the history: a fault that was injected, say.
#[derive(Clone, Debug)]
pub struct BandView {
    /// What.
    pub text: String,
    /// It began before the event with this rank.
    pub from: Moment,
    /// It ended before the event with this rank; absent if that is not known.
    pub to: Option<Moment>,
    /// Whether it is an instant and not something that goes on.
    pub instant: bool,
}
