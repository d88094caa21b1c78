//! Registers whose written values are all different: which values still matter.
//!
//! The operations on a value (its write and the reads of it) take effect together. With `f` the
//! first return among them and `s` the last call, two values `u` and `v` exclude each other if
//! `f(u) < s(v)` and `f(v) < s(u)`, that is if each must come before the other; and a history is
//! explained if no two exclude each other (Gibbons and Korach, SIAM J. Comput. 1997, Theorem 3.1,
//! where zones say the same) and no read returns before the write of its value is called.
//!
//! A value `u` is dropped if
//! - it was overwritten for good: for some value `v`, `f(u) < s(v)`, and `f(v)` is before every
//!   call of a read that is open or follows. If one of these reads `u`, then `u` and `v` exclude
//!   each other, and the history is violated, as it is where no operation wrote `u`;
//! - `s(u) < f(v)` for every `v` that is kept or follows. Then `u` and `v` do not exclude each
//!   other, and will not, as `f(v)` is only the first return, and `s(u)` does not change any more.
//!
//! Operations that will never return do not hold anything up: such a read does not matter, such a
//! write has no return.

use super::past::Past;
use super::window::Fate;
use super::window_rule::{InitialOperation, WindowRule};
use linchpin_history_data::Monitored;
use linchpin_history_data::{Argument, History, NEVER, OpId, Rank, ValueId};
use linchpin_spec::Register;
use linchpin_spec::{Builtin, Value};
use linchpin_verdict::Limits;
use rustc_hash::FxHashMap;

/// What a register holds before its first write: a value that none may use, as none may read it.
const UNWRITTEN: &str = "\u{0}linchpin: unwritten\u{0}";

/// Registers, by windows.
pub(crate) struct Rule;

impl WindowRule for Rule {
    fn builtin(&self) -> Builtin {
        Builtin::Register
    }

    fn initial_operations(&self, init: Option<&Value>) -> Vec<InitialOperation> {
        let argument = init.cloned().unwrap_or_default();
        vec![InitialOperation { operation: Register::WRITE, argument, response: Value::Null }]
    }

    fn blank(&self) -> Value {
        Value::str(UNWRITTEN)
    }

    fn reserves(&self, response: &Value) -> bool {
        *response == self.blank()
    }

    fn monitor(&self, history: &History, _: &Past, limits: &Limits) -> Monitored {
        linchpin_monitor::register::check(history, &self.blank(), limits)
    }

    fn still_matter(
        &self,
        history: &History,
        fates: &[Fate],
        _: Option<&[OpId]>,
        _: &mut Past,
        _: &Limits,
    ) -> Vec<bool> {
        still_matter(history, fates)
    }
}

/// The operations on a value.
struct Cluster {
    first_returned: Rank,
    last_invoked: Rank,
    is_open: bool,
    operations: Vec<OpId>,
}

fn still_matter(history: &History, fates: &[Fate]) -> Vec<bool> {
    let mut clusters: Vec<Cluster> = Vec::new();
    let mut of_value: FxHashMap<ValueId, usize> = FxHashMap::default();
    let mut keep = vec![true; history.operations.len()];
    let mut open_read = history.events;
    for (id, operation) in history.operations.iter().enumerate() {
        let (is_read, is_open) = (
            usize::from(operation.operation) == Register::READ,
            matches!(fates[id], Fate::Open(_)),
        );
        if is_read && !operation.completed {
            match is_open {
                true => open_read = open_read.min(operation.invoked),
                false => keep[id] = false,
            }
            continue;
        }
        let seen = if is_read { operation.response } else { operation.argument };
        let Argument::One(value) = seen else { continue };
        let at = *of_value.entry(value).or_insert_with(|| {
            clusters.push(Cluster {
                first_returned: NEVER,
                last_invoked: Rank::FIRST,
                is_open: false,
                operations: Vec::new(),
            });
            clusters.len() - 1
        });
        let cluster = &mut clusters[at];
        cluster.first_returned = cluster.first_returned.min(operation.returned);
        cluster.last_invoked = cluster.last_invoked.max(operation.invoked);
        cluster.is_open |= is_open;
        cluster.operations.push(OpId::new(id));
    }
    // The two latest calls on values that no read to come is before: of these one is of another
    // value.
    let mut latest = [(Rank::FIRST, usize::MAX); 2];
    for (at, cluster) in clusters.iter().enumerate() {
        if cluster.first_returned < open_read {
            let this = (cluster.last_invoked, at);
            if this.0 >= latest[0].0 {
                latest = [this, latest[0]];
            } else if this.0 > latest[1].0 {
                latest[1] = this;
            }
        }
    }
    let mut kept: Vec<bool> = Vec::with_capacity(clusters.len());
    let mut first = NEVER;
    for (at, cluster) in clusters.iter().enumerate() {
        let other = latest.iter().find(|(_, of)| *of != at && *of != usize::MAX);
        let overwritten = other.is_some_and(|(call, _)| cluster.first_returned < *call);
        let stays = cluster.is_open || !overwritten;
        if stays {
            first = first.min(cluster.first_returned);
        }
        kept.push(stays);
    }
    loop {
        let before = first;
        for (cluster, kept) in clusters.iter().zip(&mut kept).rev().filter(|(_, kept)| !**kept) {
            if first < cluster.last_invoked {
                *kept = true;
                first = first.min(cluster.first_returned);
            }
        }
        if first == before {
            break;
        }
    }
    for (cluster, _) in clusters.iter().zip(&kept).filter(|(_, kept)| !**kept) {
        cluster.operations.iter().for_each(|id| keep[id.index()] = false);
    }
    keep
}
