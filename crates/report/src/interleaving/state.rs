//! A state of the interpreter as what is drawn of it.

use super::{LocalView, ObjectView, StateView, ThreadView, ValueView};
use linchpin_ir::interpreter::{Object, State, Status, ThreadState};
use linchpin_ir::liveness::live_locals;
use linchpin_ir::print::Names;
use linchpin_ir::program::{Body, NodeId, Program, Type, Variable};
use linchpin_spec::Value;
use std::collections::BTreeSet;

/// The locals of a thread that were assigned since its call, by index.
pub type Assigned = BTreeSet<usize>;

/// What states of a program are made of.
pub struct Drawing<'a> {
    program: &'a Program,
    /// For each operation, node and local, whether some way on reads it.
    live: Vec<Vec<Vec<bool>>>,
}

impl<'a> Drawing<'a> {
    pub fn new(program: &'a Program) -> Drawing<'a> {
        let live = |operation: &linchpin_ir::program::Operation| live_locals(&operation.body);
        Drawing { program, live: program.operations.iter().map(live).collect() }
    }

    /// The state; `assigned` says which locals each thread has.
    pub fn state(&self, state: &State, assigned: &[Assigned]) -> StateView {
        let Some(operation) = self.program.operations.first() else {
            return StateView::default();
        };
        let names = Names { program: self.program, body: &operation.body };
        let shared = self.program.shared.iter().zip(&state.shared);
        let threads = state.threads.iter().enumerate();
        StateView {
            shared: shared.map(|(variable, value)| named(&names, variable, value)).collect(),
            objects: state.heap.iter().map(|object| self.object(&names, object)).collect(),
            threads: threads.map(|(at, thread)| self.thread(thread, assigned.get(at))).collect(),
        }
    }

    fn object(&self, names: &Names<'_>, object: &Object) -> ObjectView {
        let fields = self.program.structs.get(object.of).map_or(&[][..], |of| &of.fields);
        let fields = fields.iter().zip(&object.fields);
        ObjectView {
            of: names.structure(object.of).to_owned(),
            live: object.live,
            fields: fields.map(|(field, value)| named(names, field, value)).collect(),
        }
    }

    fn thread(&self, thread: &ThreadState, assigned: Option<&Assigned>) -> ThreadView {
        let mut view = ThreadView::default();
        let operation = match &thread.status {
            Status::Idle => None,
            Status::Running { operation, .. }
            | Status::Returning { operation, .. }
            | Status::Interrupted { operation }
            | Status::Resolving { operation, .. }
            | Status::Resolved { operation, .. } => self.program.operations.get(*operation),
        };
        let body = operation.or(self.program.operations.first()).map(|operation| &operation.body);
        let Some(body) = body else { return view };
        let names = Names { program: self.program, body };
        view.operation = operation.map(|operation| operation.name.clone());
        let kept = self.program.thread_locals.iter().zip(&thread.variables);
        view.variables.extend(kept.map(|(variable, value)| {
            let (name, value) = named(&names, variable, value);
            LocalView { name, value, live: true }
        }));
        match &thread.status {
            Status::Idle
            | Status::Interrupted { .. }
            | Status::Resolving { .. }
            | Status::Resolved { .. } => {}
            Status::Returning { value, .. } => {
                let ty = operation.map_or(&Type::Unit, |operation| &operation.response);
                view.answer = Some(match ty {
                    Type::Unit => String::new(),
                    ty => names.value(value, ty),
                });
            }
            Status::Running { operation, node, locals } => {
                view.line = line(body, *node);
                let live = self.live.get(*operation).and_then(|of| of.get(index(*node)));
                let locals = body.locals.iter().zip(locals).enumerate();
                view.variables.extend(locals.filter_map(|(at, (variable, value))| {
                    let is_shown = assigned.is_some_and(|assigned| assigned.contains(&at))
                        && !variable.is_temporary();
                    let (name, value) = named(&names, variable, value);
                    let live = live.and_then(|live| live.get(at)).copied().unwrap_or(true);
                    is_shown.then_some(LocalView { name, value, live })
                }));
                without_doubles(&mut view.variables);
            }
        }
        view
    }
}

/// Functions are inlined, so two locals may have one name: what some way on reads is kept, and the
/// same value is told once.
fn without_doubles(variables: &mut Vec<LocalView>) {
    let all = variables.clone();
    let mut kept: Vec<LocalView> = Vec::new();
    for variable in variables.drain(..) {
        let hides = |other: &LocalView| other.name == variable.name && other.live && !variable.live;
        let is_told =
            kept.iter().any(|known| known.name == variable.name && known.value == variable.value);
        if !is_told && !all.iter().any(hides) {
            kept.push(variable);
        }
    }
    *variables = kept;
}

fn index(node: NodeId) -> usize {
    usize::try_from(node.0).unwrap_or(usize::MAX)
}

fn line(body: &Body, node: NodeId) -> Option<u32> {
    body.nodes.get(index(node)).map(|node| node.line).filter(|line| *line > 0)
}

fn named(names: &Names<'_>, variable: &Variable, value: &Value) -> (String, ValueView) {
    (variable.name.clone(), view(names, value, &variable.ty))
}

/// A value as its type says.
fn view(names: &Names<'_>, value: &Value, ty: &Type) -> ValueView {
    let mut to = Vec::new();
    references(value, &mut to);
    let items = match (ty, value) {
        (Type::Array(item, _), Value::List(items)) => {
            items.iter().map(|value| view(names, value, item)).collect()
        }
        _ => Vec::new(),
    };
    let text = names.value(value, ty);
    let label = label(names, value, ty).unwrap_or_else(|| text.clone());
    ValueView { text, label, to, items }
}

/// What is left to say where references are arrows; `None` if all of it is.
fn label(names: &Names<'_>, value: &Value, ty: &Type) -> Option<String> {
    match (ty, value) {
        (Type::Struct(_), Value::Null) => Some("∅".to_owned()),
        (Type::Struct(_), _) => Some(String::new()),
        (Type::Option(inner), value) if *value != Value::Null => label(names, value, inner),
        (Type::Lock, Value::Int(thread)) => Some(format!("thread {thread}")),
        (Type::Record { fields, .. }, Value::List(items)) => {
            let parts = fields.iter().zip(items.iter()).filter_map(|((name, ty), item)| {
                let part = label(names, item, ty).unwrap_or_else(|| names.value(item, ty));
                match (ty, part.as_str()) {
                    (_, "") => None,
                    (Type::Struct(_), part) => Some(part.to_owned()),
                    (Type::Bool, "true") => Some(name.clone()),
                    (Type::Bool, "false") => Some(format!("!{name}")),
                    (_, part) => Some(format!("{name} {part}")),
                }
            });
            Some(parts.collect::<Vec<_>>().join(" "))
        }
        _ => None,
    }
}

fn references(value: &Value, into: &mut Vec<u32>) {
    match value {
        Value::Ref(object) => into.push(*object),
        Value::List(items) => items.iter().for_each(|item| references(item, into)),
        _ => {}
    }
}
