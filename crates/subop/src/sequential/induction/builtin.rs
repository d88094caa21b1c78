//! The built-in specifications whose state is a few words: registers, counters, snapshots of a
//! fixed size.

use super::linear::{Constraint, Linear};
use super::{Answer, Branch, SymbolicSpec, Word};
use linchpin_spec::{self as spec, Value};

/// More components than this are not covered.
const MOST_COMPONENTS: usize = 16;

/// The built-in specification of that name, if it is covered.
pub fn builtin(name: &str, init: Option<&Value>) -> Option<Box<dyn SymbolicSpec>> {
    let state = spec::builtin(name, init).ok()?.initial();
    let kind = match &name.replace('_', "-")[..] {
        "register" | "cas-register" => Kind::Register,
        "counter" => Kind::Counter,
        "snapshot" => Kind::Snapshot(state.as_list()?.len()),
        _ => return None,
    };
    let spec = Words { kind };
    spec.words(&state)?;
    Some(Box::new(spec))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Register,
    Counter,
    Snapshot(usize),
}

struct Words {
    kind: Kind,
}

fn word(value: &Value) -> Option<Option<i64>> {
    match value {
        Value::Null => Some(None),
        Value::Int(value) => Some(Some(*value)),
        _ => None,
    }
}

fn silent(state: Vec<Word>) -> Branch {
    Branch { condition: Vec::new(), state, answer: Answer::One(Word::Null) }
}

fn answering(state: &[Word], answer: Answer) -> Branch {
    Branch { condition: Vec::new(), state: state.to_vec(), answer }
}

impl SymbolicSpec for Words {
    fn words(&self, state: &Value) -> Option<Vec<Option<i64>>> {
        match self.kind {
            Kind::Register | Kind::Counter => Some(vec![word(state)?]),
            Kind::Snapshot(_) => {
                let parts = state.as_list().filter(|parts| parts.len() <= MOST_COMPONENTS)?;
                parts.iter().map(word).collect()
            }
        }
    }

    fn apply(&self, method: &str, state: &[Word], arguments: &[Word]) -> Option<Vec<Branch>> {
        let method = method.replace('_', "-");
        match (self.kind, &method[..], arguments) {
            (Kind::Register, "write", [value]) => Some(vec![silent(vec![value.clone()])]),
            (Kind::Register | Kind::Counter, "read", []) => {
                Some(vec![answering(state, Answer::One(state.first()?.clone()))])
            }
            (Kind::Register, "cas", [old, new]) => swapped(state, old, new),
            (Kind::Counter, "add", [value]) => Some(vec![silent(vec![sum(state, value)?])]),
            (Kind::Counter, "fetch-add", [value]) => {
                let answer = Answer::One(state.first()?.clone());
                Some(vec![answering(&[sum(state, value)?], answer)])
            }
            (Kind::Snapshot(_), "update", [Word::Int(index), value]) => {
                let mut state = state.to_vec();
                *state.get_mut(usize::try_from(index.value()?).ok()?)? = value.clone();
                Some(vec![silent(state)])
            }
            (Kind::Snapshot(_), "scan", []) => {
                Some(vec![answering(state, Answer::List(state.to_vec()))])
            }
            _ => None,
        }
    }

    fn indexes(&self, method: &str, position: usize) -> Option<(i64, i64)> {
        match (self.kind, method, position) {
            (Kind::Snapshot(size), "update", 0) => Some((0, i64::try_from(size).ok()?)),
            _ => None,
        }
    }
}

fn sum(state: &[Word], value: &Word) -> Option<Word> {
    match (state.first()?, value) {
        (Word::Int(one), Word::Int(other)) => one.plus(1, other).map(Word::Int),
        _ => None,
    }
}

fn swapped(state: &[Word], old: &Word, new: &Word) -> Option<Vec<Branch>> {
    let done =
        Branch { condition: Vec::new(), state: vec![new.clone()], answer: Answer::Truth(true) };
    let failed = answering(state, Answer::Truth(false));
    match (state.first()?, old) {
        (Word::Int(now), Word::Int(old)) => {
            let same = Constraint::Zero(Linear::plus(now, -1, old)?);
            let other = same.negated()?;
            Some(vec![
                Branch { condition: vec![same], ..done },
                Branch { condition: vec![other], ..failed },
            ])
        }
        (now, old) if now == old => Some(vec![done]),
        _ => Some(vec![failed]),
    }
}
