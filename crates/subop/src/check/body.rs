//! Operations: locals, sub-operations, and what may follow what.

use super::{Checker, Scope};
use crate::execute::guess;
use crate::limits;
use crate::model::{Condition, Next, Operation, OperationId, SubOperation, SubOperationId};
use crate::syntax::ast::{self, Ident, Item};
use linchpin_syntax::{Code, Diagnostic, nearest};

impl Checker {
    pub(super) fn operation(&mut self, operation: &ast::Operation) {
        let mut locals = self.variables(&operation.arguments, "argument", &[]);
        let arguments = locals.len();
        let declared = self.variables(&operation.locals, "local variable", &locals);
        locals.extend(declared);
        let id = OperationId(self.model.operations.len());
        let mut body = Body { id, name: &operation.name.name, reads: 0, steps: Vec::new() };
        let scope = Scope { locals: &locals, id: true, ..Scope::default() };
        self.steps(&operation.items, &scope, &mut body);
        let count = body.steps.len();
        let span = operation.name.span;
        self.limit(count, limits::SUB_OPERATIONS, "sub-operations in one operation", span);
        let mut at = 0;
        let first = self.successors(&operation.items, &mut body.steps, &mut at, &[Next::Return]);
        let (then, start) = (thens(&operation.items), &operation.start);
        for (index, names) in then.into_iter().enumerate().take(body.steps.len()) {
            let Some(names) = names else { continue };
            let next = self.targets(names, &body, Some(index));
            let step = &mut body.steps[index];
            if step.result.is_some() {
                let message = "nothing comes after `return`";
                let span = names.first().map_or(step.span, |name| name.span);
                self.report(Diagnostic::new(Code::Unreachable, message, span, "never reached"));
            } else if !next.is_empty() {
                step.next = next;
            }
        }
        let first = match start {
            Some(names) => self.targets(names, &body, None),
            None => first,
        };
        if first.contains(&Next::Return) {
            let message = if count == 0 {
                format!("`{}` has no sub-operations", operation.name.name)
            } else {
                format!("`{}` can return without doing anything", operation.name.name)
            };
            let help = "a sub-operation is `1 <condition;> statements`";
            self.report(
                Diagnostic::new(Code::EmptyOperation, message, span, "nothing to execute")
                    .help(help),
            );
        }
        self.returns(&body.steps);
        self.unreached(&first, &body.steps);
        let first = first.into_iter().filter_map(|next| match next {
            Next::SubOperation(index) => Some(index),
            Next::Return => None,
        });
        let checked = Operation {
            name: operation.name.name.clone(),
            locals,
            arguments,
            reads: body.reads,
            first: first.collect(),
            sub_operations: body.steps,
            span,
        };
        self.guesses(&checked);
        self.model.operations.push(checked);
    }

    /// No sub-operation guesses more than can be tried.
    fn guesses(&mut self, operation: &Operation) {
        let guesses = guess::guesses(operation);
        for (step, guessed) in operation.sub_operations.iter().zip(guesses) {
            if guessed.len() > limits::GUESSES {
                let message = format!("this guesses more than {} locals", limits::GUESSES);
                let names: Vec<String> =
                    guessed.iter().map(|id| format!("`{}`", operation.locals[id.0].name)).collect();
                let help = format!("assign some of {} before", names.join(", "));
                self.report(
                    Diagnostic::new(Code::TooLarge, message, step.span, "too many").help(help),
                );
            }
        }
    }

    /// Checks the sub-operations in the order in which they are written.
    fn steps(&mut self, items: &[Item], scope: &Scope<'_>, body: &mut Body<'_>) {
        for item in items {
            match item {
                Item::Step(step) => {
                    if body.steps.len() > limits::SUB_OPERATIONS {
                        return;
                    }
                    let checked = self.step(step, scope, body);
                    body.steps.push(checked);
                }
                Item::Either(branches, span) => {
                    if branches.len() < 2 {
                        let message = "`either { … }` needs an `or { … }`";
                        self.report(Diagnostic::new(Code::Next, message, *span, "only one branch"));
                    }
                    branches.iter().for_each(|branch| self.steps(branch, scope, body));
                }
            }
        }
    }

    fn step(
        &mut self,
        step: &ast::SubOperation,
        scope: &Scope<'_>,
        body: &mut Body<'_>,
    ) -> SubOperation {
        let conditions: Vec<Condition> =
            step.precondition.iter().map(|condition| self.condition(condition, scope)).collect();
        let statements = step
            .statements
            .iter()
            .filter_map(|statement| self.statement(statement, scope, &mut body.reads))
            .collect();
        let result = step.result.as_ref().map(|(terms, _)| {
            let terms = terms.iter().filter_map(|term| self.term(term, scope));
            terms.map(|(term, _)| term).collect()
        });
        let index = body.steps.len();
        let id = SubOperationId { operation: body.id, index };
        let name = match &step.name {
            Some(name) => name.name.clone(),
            None => format!("{}_{}", body.name, index + 1),
        };
        let old = self.sub_operation_names.insert(name.clone(), id);
        if let (Some(old), false) = (old, name.is_empty()) {
            let span = step.name.as_ref().map_or(step.span, |name| name.span);
            let message = format!("there are two sub-operations called `{name}`");
            let mut mistake = Diagnostic::new(Code::Repeated, message, span, "this name is taken");
            let operation = self.model.operations.get(old.operation.0);
            let steps = operation.map_or(&body.steps, |operation| &operation.sub_operations);
            if let Some(old) = steps.get(old.index) {
                mistake = mistake.related(old.span, "this is the other");
            }
            self.report(mistake.help("name a sub-operation with `...name` after it"));
        }
        let precondition = match <[Condition; 1]>::try_from(conditions) {
            Ok([Condition::All(parts)]) => Condition::All(parts),
            Ok([one]) => Condition::All(vec![one]),
            Err(all) => Condition::All(all),
        };
        SubOperation {
            name,
            unnamed: step.name.is_none(),
            mark: step.mark,
            precondition,
            body: statements,
            result,
            next: Vec::new(),
            span: step.span,
        }
    }

    /// Links the sub-operations of `items`, the first of which is number `at`, so that `after`
    /// follows them. Returns what may come first.
    fn successors(
        &mut self,
        items: &[Item],
        steps: &mut [SubOperation],
        at: &mut usize,
        after: &[Next],
    ) -> Vec<Next> {
        // The numbers were given in the order of the source, but what follows is known only from
        // the end.
        let starts: Vec<usize> = items
            .iter()
            .map(|item| {
                let start = *at;
                *at += count(item);
                start
            })
            .collect();
        let mut next = after.to_vec();
        for (item, start) in items.iter().zip(starts).rev() {
            next = match item {
                Item::Step(step) => {
                    let Some(linked) = steps.get_mut(start) else { continue };
                    linked.next = next.clone();
                    if step.result.is_some() {
                        linked.next = vec![Next::Return];
                    }
                    vec![Next::SubOperation(start)]
                }
                Item::Either(branches, _) => {
                    let mut inner = start;
                    let mut firsts = Vec::new();
                    for branch in branches {
                        firsts.extend(self.successors(branch, steps, &mut inner, &next));
                    }
                    firsts.sort_unstable();
                    firsts.dedup();
                    firsts
                }
            };
        }
        next
    }

    /// What `then` names: sub-operations of the same operation, further down than `from`.
    fn targets(&mut self, names: &[Ident], body: &Body<'_>, from: Option<usize>) -> Vec<Next> {
        let mut next = Vec::new();
        for name in names {
            if name.name == "return" {
                next.push(Next::Return);
                continue;
            }
            match body.steps.iter().position(|step| step.name == name.name) {
                Some(index) if from.is_none_or(|from| index > from) => {
                    next.push(Next::SubOperation(index));
                }
                Some(_) => {
                    let message = "operations have no loops";
                    let help =
                        "write the last iteration only; failing ones must not change anything";
                    let mistake =
                        Diagnostic::new(Code::Next, message, name.span, "not further down");
                    self.report(mistake.help(help));
                }
                None if name.name.is_empty() => {}
                None => {
                    let known = body.steps.iter().map(|step| step.name.as_str());
                    let help = nearest(&name.name, known);
                    let help = help.map(|near| format!("did you mean `{near}`?"));
                    let message = format!("`{}` has no sub-operation `{}`", body.name, name.name);
                    let mistake =
                        Diagnostic::new(Code::UnknownName, message, name.span, "not found");
                    self.report(mistake.maybe_help(help));
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        next
    }

    /// Every sub-operation can be reached from the first ones.
    fn unreached(&mut self, first: &[Next], steps: &[SubOperation]) {
        let mut reached = vec![false; steps.len()];
        let mark = |next: &[Next], reached: &mut [bool]| {
            for next in next {
                if let Next::SubOperation(index) = next {
                    reached[*index] = true;
                }
            }
        };
        mark(first, &mut reached);
        for (index, step) in steps.iter().enumerate() {
            // All that lead here stand further up, so this is known by now.
            if reached[index] {
                mark(&step.next, &mut reached);
            } else {
                let message = "this sub-operation is never executed";
                let help = "what stands before it returns, or goes on elsewhere with `then`";
                self.report(
                    Diagnostic::new(Code::Unreachable, message, step.span, "not reached")
                        .help(help),
                );
            }
        }
    }

    /// If an operation returns something somewhere, it does so wherever it ends.
    fn returns(&mut self, steps: &[SubOperation]) {
        let Some(returning) = steps.iter().find(|step| step.result.is_some()) else { return };
        for step in steps {
            if step.result.is_none() && step.next.contains(&Next::Return) {
                let message = "the operation may end here without `return`";
                let mistake = Diagnostic::new(Code::NoReturn, message, step.span, "no `return`")
                    .related(returning.span, "returns here")
                    .help("return wherever it ends; `return;` returns nothing");
                self.report(mistake);
            }
        }
    }
}

struct Body<'a> {
    id: OperationId,
    name: &'a str,
    reads: usize,
    steps: Vec<SubOperation>,
}

/// The `then` of every sub-operation, in the order of the source.
fn thens(items: &[Item]) -> Vec<Option<&[Ident]>> {
    let mut all = Vec::new();
    for item in items {
        match item {
            Item::Step(step) => all.push(step.then.as_deref()),
            Item::Either(branches, _) => {
                branches.iter().for_each(|branch| all.extend(thens(branch)));
            }
        }
    }
    all
}

/// How many sub-operations stand in `item`.
fn count(item: &Item) -> usize {
    match item {
        Item::Step(_) => 1,
        Item::Either(branches, _) => branches.iter().flatten().map(count).sum(),
    }
}
