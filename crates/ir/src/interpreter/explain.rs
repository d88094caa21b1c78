//! What a move in progress tells people: the record of what happened, faults, and what a blocked
//! thread waits for.

use super::execution::{Actor, Execution};
use super::{ActionRecord, Fault, FaultKind, Machine, Move, State, Status, StepRecord};
use crate::print::Names;
use crate::program::{Action, Expr, Place, Type};
use linchpin_spec::Value;

impl Machine {
    /// The beginning of a record: the call with its arguments, the response.
    pub(super) fn new_record(&self, state: &State, what: &Move) -> StepRecord {
        let thread = what.thread();
        let operation = match what {
            Move::Invoke { operation, .. } => Some(*operation),
            _ => thread.and_then(|thread| state.unanswered(thread)),
        };
        let mut record = StepRecord { thread, operation, ..StepRecord::blank() };
        let mut note = |line: u32, text: &str| {
            record.actions.push(ActionRecord { line, text: text.to_owned() });
        };
        match what {
            Move::Crash => note(0, "the system crashes"),
            Move::CrashThread { .. } => note(0, "the thread crashes"),
            _ => {}
        }
        if what.is_crash() {
            return record;
        }
        if let Some(of) = operation.and_then(|operation| self.program.operations.get(operation)) {
            let names = Names { program: &self.program, body: &of.body };
            let status = thread.and_then(|thread| state.threads.get(thread));
            let status = status.map(|thread| &thread.status);
            let text = match (what, status) {
                (Move::Invoke { arguments, .. }, _) => {
                    format!("call {}({})", of.name, names.arguments(of, arguments))
                }
                (Move::Respond { .. }, Some(Status::Returning { .. }))
                    if of.response == Type::Unit =>
                {
                    format!("{} returned", of.name)
                }
                (Move::Respond { .. }, Some(Status::Returning { value, .. })) => {
                    format!("{} returned {}", of.name, names.value(value, &of.response))
                }
                (Move::Step { .. }, Some(Status::Interrupted { .. })) => {
                    format!("recover: what became of {}?", of.name)
                }
                (Move::Respond { .. }, Some(Status::Resolved { outcome: Value::Null, .. })) => {
                    format!("{} had no effect", of.name)
                }
                (Move::Respond { .. }, Some(Status::Resolved { outcome, .. })) => {
                    format!(
                        "{} took effect and returned {}",
                        of.name,
                        names.value(outcome, &of.response)
                    )
                }
                _ => return record,
            };
            record.actions.push(ActionRecord { line: of.line, text });
        }
        record
    }
}

impl<'a> Execution<'a> {
    /// Adds to the record, if one is asked for.
    pub fn note(&mut self, text: impl FnOnce(Names<'a>) -> String) {
        let names = self.names();
        let line = self.line;
        if let Some(record) = self.record.as_deref_mut() {
            record.actions.push(ActionRecord { line, text: text(names) });
        }
    }

    /// A fault of this move.
    pub fn fault(&self, kind: FaultKind, line: u32, action: String) -> Fault {
        let (thread, operation, name) = match self.actor {
            Actor::Init => (None, None, "init"),
            Actor::Recovery => (None, None, "recover"),
            Actor::Resolution { thread, .. } => (Some(thread), None, "recover"),
            Actor::Thread { thread, operation } => {
                (Some(thread), Some(operation), self.program.operations[operation].name.as_str())
            }
        };
        Fault { kind, thread, operation, name: name.to_owned(), line, action }
    }

    /// The thread that holds a lock.
    fn owner(&self, place: &Place) -> Option<i64> {
        self.resolve(place).ok().and_then(|at| self.state.get(at)).and_then(Value::as_int)
    }

    /// What a refused move waits for: the line, and the actions that could not be performed.
    pub fn refusal(&self) -> (u32, String) {
        let reasons = self.refused.iter().map(|(action, _)| match action {
            Action::Lock(place) => {
                let held =
                    self.owner(place).map_or(String::new(), |id| format!(", held by thread {id}"));
                format!("{}{held}", self.names().action(action))
            }
            _ => self.attempted(action),
        });
        let reason = reasons.collect::<Vec<_>>().join(" or ");
        match self.refused.first() {
            Some((_, line)) => (*line, reason),
            None => (self.line, "nothing: no step leads on from here".to_owned()),
        }
    }

    /// The thread that holds the lock, if one lock is all that was refused.
    pub fn lock_holder(&self) -> Option<usize> {
        match &self.refused[..] {
            [(Action::Lock(place), _)] => usize::try_from(self.owner(place)?).ok(),
            _ => None,
        }
    }

    /// An action that could not be performed, with the values of its variables.
    pub fn attempted(&self, action: &Action) -> String {
        let names = self.names();
        let text = match action {
            Action::Guard(condition) => names.expr(condition),
            Action::Read { place, .. } => format!("read {}", names.place(place)),
            _ => names.action(action),
        };
        self.with_values(text, &action.expressions())
    }

    /// `text, where t is null and i is 3`: the values of the variables in the expressions.
    pub fn with_values(&self, text: String, expressions: &[&Expr]) -> String {
        let mut variables: Vec<&Expr> = Vec::new();
        for expr in expressions {
            expr.walk(&mut |inner| {
                let variable = matches!(inner, Expr::Local(_) | Expr::ThreadLocal(_));
                if variable && !variables.contains(&inner) {
                    variables.push(inner);
                }
            });
        }
        let names = self.names();
        let environment = self.environment();
        let described = variables.into_iter().filter_map(|variable| {
            let value = environment.eval(variable).ok()?;
            Some(format!(
                "{} is {}",
                names.expr(variable),
                names.typed(&value, names.type_of(variable))
            ))
        });
        match described.collect::<Vec<_>>().as_slice() {
            [] => text,
            [first @ .., last] if !first.is_empty() => {
                format!("{text}, where {} and {last}", first.join(", "))
            }
            [only, ..] => format!("{text}, where {only}"),
        }
    }
}
