//! Processes: from trees to nodes.

use super::Checker;
use crate::limits;
use crate::program::*;
use crate::syntax::ast;
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    pub(super) fn processes(&mut self, tree: &ast::Source) {
        for (id, definition) in tree.processes.iter().enumerate() {
            self.scope.clear();
            self.frame = 0;
            for (at, parameter) in definition.parameters.iter().enumerate() {
                if definition.parameters[..at].iter().any(|other| other.name == parameter.name) {
                    let message = format!("`{}` is a parameter twice", parameter.name);
                    self.report(Diagnostic::new(Code::Repeated, message, parameter.span, "again"));
                }
                self.bind(parameter);
            }
            let first = self.model.nodes.len();
            let body = self.process(&definition.body);
            let frame = self.frame;
            for node in &mut self.model.nodes[first..] {
                node.frame = frame;
            }
            let process = &mut self.model.processes[id];
            process.body = body;
            process.frame = frame;
        }
    }

    fn add(&mut self, kind: NodeKind, span: Span, text: String) -> NodeId {
        let line = self.line(span);
        self.model.nodes.push(Node { kind, span, line, text, free: Vec::new(), frame: 0 });
        (self.model.nodes.len() - 1) as NodeId
    }

    /// INVARIANT: a node is added after its children. After a mistake it is a `Stop`.
    pub(super) fn process(&mut self, process: &ast::Process) -> NodeId {
        let kind = self.kind(process).unwrap_or(NodeKind::Stop);
        let text = match &process.kind {
            ast::ProcessKind::Prefix { next, .. } => {
                let head = Span { start: process.span.start, end: next.span.start };
                let text = self.text(head);
                // What is left of `-> (` once the next process is cut off.
                text.trim_end_matches(['(', ' ']).trim_end_matches(['>', '-', '→', ' ']).to_owned()
            }
            ast::ProcessKind::If { condition, .. } => format!("if ({})", self.text(condition.span)),
            _ => String::new(),
        };
        self.add(kind, process.span, text)
    }

    /// The source there, on one line.
    pub(super) fn text(&self, span: Span) -> String {
        let text = span.text(self.source);
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn kind(&mut self, process: &ast::Process) -> Option<NodeKind> {
        Some(match &process.kind {
            ast::ProcessKind::Missing => return None,
            ast::ProcessKind::Stop => NodeKind::Stop,
            ast::ProcessKind::Skip => NodeKind::Skip,
            ast::ProcessKind::Prefix { event, update, next } => {
                let (event, data) = match event {
                    ast::Event::Tau => (None, Some(Vec::new())),
                    ast::Event::Visible(name, data) => self.event(name, data),
                };
                let update = self.statements(update);
                let next = self.process(next);
                NodeKind::Prefix { event, data: data?, update, next }
            }
            ast::ProcessKind::Hide(body, names) => {
                let body = self.process(body);
                let set = self.model.hidden.len();
                self.model.hidden.push(Vec::new());
                self.hidden.extend(names.iter().map(|name| (name.name.clone(), name.span, set)));
                NodeKind::Hide { body, set: set as u32 }
            }
            ast::ProcessKind::Sequence(first, then) => {
                NodeKind::Sequence { first: self.process(first), then: self.process(then) }
            }
            ast::ProcessKind::Choice(branches) => {
                NodeKind::Choice(branches.iter().map(|branch| self.process(branch)).collect())
            }
            ast::ProcessKind::Interleave(parts) => {
                NodeKind::Interleave(parts.iter().map(|part| self.process(part)).collect())
            }
            ast::ProcessKind::If { condition, then, otherwise, atomic } => {
                let condition = self.typed(condition, Type::Bool);
                let (then, otherwise) = (self.process(then), self.process(otherwise));
                NodeKind::If { condition: condition?, then, otherwise, atomic: *atomic }
            }
            ast::ProcessKind::Call(name, arguments) => self.call(name, arguments, process.span)?,
            ast::ProcessKind::Indexed { choice, name, domain, body } => {
                let domain = self.domain(domain);
                let slot = self.bind(name);
                let body = self.process(body);
                self.scope.pop();
                NodeKind::Indexed { choice: *choice, slot, domain: domain?, body }
            }
        })
    }

    fn call(&mut self, name: &ast::Ident, arguments: &[ast::Expr], span: Span) -> Option<NodeKind> {
        let checked: Vec<_> =
            arguments.iter().map(|argument| self.typed(argument, Type::Int)).collect();
        let Some((process, declared)) = self.processes.get(&name.name).copied() else {
            self.unknown("process", &name.name, name.span);
            return None;
        };
        let expected = self.model.processes[process as usize].parameters;
        if expected != arguments.len() {
            let message = format!(
                "`{}` has {expected} parameter{}, not {}",
                name.name,
                if expected == 1 { "" } else { "s" },
                arguments.len()
            );
            self.report(
                Diagnostic::new(Code::ArgumentCount, message, span, "called so")
                    .related(declared, "declared so"),
            );
            return None;
        }
        let arguments = checked.into_iter().collect::<Option<_>>()?;
        Some(NodeKind::Call { process, arguments })
    }

    /// An event; its data must have the same types wherever it occurs.
    fn event(
        &mut self,
        name: &ast::Ident,
        data: &[ast::Expr],
    ) -> (Option<EventId>, Option<Vec<Expr>>) {
        if data.len() > limits::PARAMETERS {
            let message = format!("an event carries at most {} data", limits::PARAMETERS);
            self.report(Diagnostic::new(Code::TooLarge, message, name.span, "too many"));
        }
        let checked: Vec<_> = data.iter().map(|datum| self.expression(datum)).collect();
        let Some(checked) = checked.into_iter().collect::<Option<Vec<_>>>() else {
            return (None, None);
        };
        let (data, types): (Vec<Expr>, Vec<Type>) = checked.into_iter().unzip();
        let next = self.model.events.len() as EventId;
        let &mut (event, first) = self.events.entry(name.name.clone()).or_insert((next, name.span));
        if event == next {
            self.model.events.push(EventName { name: name.name.clone(), data: types });
        } else if self.model.events[event as usize].data != types {
            let expected = &self.model.events[event as usize].data;
            let describe = |types: &[Type]| match types {
                [] => "no data".to_owned(),
                types => types.iter().map(|of| of.describe()).collect::<Vec<_>>().join(" and "),
            };
            let message = format!("`{}` carries {} here", name.name, describe(&types));
            let label = format!("{} here", describe(expected));
            let mistake = Diagnostic::new(Code::EventData, message, name.span, "not as before")
                .related(first, label)
                .help("an event carries the same data everywhere, or it is another event");
            self.report(mistake);
        }
        (Some(event), Some(data))
    }

    /// Looks the names in `\ { }` up, now that all events are known.
    pub(super) fn hidden_names(&mut self) {
        for (name, span, set) in std::mem::take(&mut self.hidden) {
            match self.events.get(&name) {
                Some((event, _)) => self.model.hidden[set].push(*event),
                None => self.unknown("event", &name, span),
            }
        }
        for set in &mut self.model.hidden {
            set.sort_unstable();
            set.dedup();
        }
    }
}

/// The slots that a node looks at, those of its children included.
pub(super) fn free(model: &Model, id: usize, free: &mut Vec<Slot>) {
    let child = |free: &mut Vec<Slot>, id: NodeId| {
        free.extend_from_slice(&model.nodes[id as usize].free);
    };
    match &model.nodes[id].kind {
        NodeKind::Stop | NodeKind::Skip => {}
        NodeKind::Prefix { data, update, next, .. } => {
            data.iter().for_each(|datum| of_expression(datum, free));
            of_statements(update, free);
            child(free, *next);
        }
        NodeKind::Hide { body, .. } => child(free, *body),
        NodeKind::Sequence { first, then } => {
            child(free, *first);
            child(free, *then);
        }
        NodeKind::Choice(nodes) | NodeKind::Interleave(nodes) => {
            nodes.iter().for_each(|node| child(free, *node));
        }
        NodeKind::If { condition, then, otherwise, .. } => {
            of_expression(condition, free);
            child(free, *then);
            child(free, *otherwise);
        }
        NodeKind::Call { arguments, .. } => {
            arguments.iter().for_each(|argument| of_expression(argument, free));
        }
        NodeKind::Indexed { slot, domain, body, .. } => {
            child(free, *body);
            free.retain(|bound| bound != slot);
            of_domain(domain, free);
        }
    }
}

fn of_expression(expr: &Expr, free: &mut Vec<Slot>) {
    match &expr.kind {
        ExprKind::Value(_) | ExprKind::Variable(_) => {}
        ExprKind::Slot(slot) => free.push(*slot),
        ExprKind::Element(_, inner) | ExprKind::Not(inner) | ExprKind::Negate(inner) => {
            of_expression(inner, free);
        }
        ExprKind::Binary(_, left, right) => {
            of_expression(left, free);
            of_expression(right, free);
        }
    }
}

fn of_domain(domain: &Domain, free: &mut Vec<Slot>) {
    match domain {
        Domain::Range(from, to) => {
            of_expression(from, free);
            of_expression(to, free);
        }
        Domain::List(values) => values.iter().for_each(|value| of_expression(value, free)),
    }
}

fn of_statements(statements: &[Statement], free: &mut Vec<Slot>) {
    for statement in statements {
        match statement {
            Statement::Assign { index, value, .. } => {
                index.iter().for_each(|index| of_expression(index, free));
                of_expression(value, free);
            }
            Statement::If { condition, then, otherwise } => {
                of_expression(condition, free);
                of_statements(then, free);
                of_statements(otherwise, free);
            }
            Statement::For { slot, domain, body, .. } => {
                let mut inner = Vec::new();
                of_statements(body, &mut inner);
                inner.retain(|bound| bound != slot);
                free.append(&mut inner);
                of_domain(domain, free);
            }
        }
    }
}
