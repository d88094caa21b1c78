//! A `spec { }` block whose state is a few words, executed with unknown integers.
//!
//! It covers straight code and branches over integers, truth values, optional integers, tuples,
//! records and arrays at constant indexes. Whatever else an operation does, nothing is concluded
//! about it.

use linchpin_ir::program::{
    Action, BinaryOp, Body, Edge, Expr, LocalTarget, NodeId, Place, Program, SpecSource, Target,
    Type, UnaryOp,
};
use linchpin_spec::Value;
use linchpin_subop::sequential::induction::{
    Answer, Branch, Constraint, Linear, SymbolicSpec, Word, builtin,
};

/// Edges that are followed for one call.
const MOST_EDGES: usize = 400;

/// Words of the state.
const MOST_WORDS: usize = 16;

/// The specification of a program for symbolic values, if it is covered.
pub fn of(program: &Program) -> Option<Box<dyn SymbolicSpec + '_>> {
    match &program.spec {
        SpecSource::Builtin { name, init } => builtin(name, init.as_ref()),
        SpecSource::Model(spec) => {
            let words: Option<Vec<usize>> =
                spec.shared.iter().map(|state| words_of(&state.ty)).collect();
            let few = words?.iter().sum::<usize>() <= MOST_WORDS;
            few.then(|| Box::new(SymbolicModel { spec }) as Box<dyn SymbolicSpec>)
        }
    }
}

/// How many words a state variable has, if it is of a type that is covered.
fn words_of(ty: &Type) -> Option<usize> {
    match ty {
        Type::Int | Type::Bool => Some(1),
        Type::Option(inner) if **inner == Type::Int => Some(1),
        Type::Array(item, length) => words_of(item)?.checked_mul(*length),
        Type::Tuple(items) => items.iter().map(words_of).sum(),
        Type::Record { fields, .. } => fields.iter().map(|(_, ty)| words_of(ty)).sum(),
        _ => None,
    }
}

struct SymbolicModel<'a> {
    spec: &'a Program,
}

/// A symbolic value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Term {
    Null,
    Int(Linear),
    Truth(bool),
    /// A truth value that is not known: 0 or 1.
    Bit(Linear),
    List(Vec<Term>),
}

/// A value, where the constraints hold.
type Case<T> = (Vec<Constraint>, T);

/// A call in the course of its execution.
#[derive(Clone)]
struct Running {
    condition: Vec<Constraint>,
    locals: Vec<Term>,
    shared: Vec<Term>,
}

impl SymbolicSpec for SymbolicModel<'_> {
    fn words(&self, state: &Value) -> Option<Vec<Option<i64>>> {
        let mut words = Vec::new();
        flatten_value(state, &mut words)?;
        Some(words)
    }

    fn typing(&self, state: &[Word]) -> Vec<Constraint> {
        let mut kinds = Vec::new();
        self.spec.shared.iter().for_each(|variable| truths(&variable.ty, &mut kinds));
        let mut found = Vec::new();
        for (word, is_truth) in state.iter().zip(kinds) {
            if let Word::Int(sum) = word
                && is_truth
            {
                found.extend(Constraint::at_most(&Linear::constant(0), sum, 0));
                found.extend(Constraint::at_most(sum, &Linear::constant(1), 0));
            }
        }
        found
    }

    fn apply(&self, method: &str, state: &[Word], arguments: &[Word]) -> Option<Vec<Branch>> {
        let operation = self.spec.operations.iter().find(|known| known.name == method)?;
        if arguments.len() != operation.parameters.len() || operation.requires.is_some() {
            return None;
        }
        let mut words = state.iter();
        let shared: Option<Vec<Term>> =
            self.spec.shared.iter().map(|variable| shaped(&variable.ty, &mut words)).collect();
        let locals = operation.body.locals.iter().map(|local| term_of(&local.initial));
        let mut locals: Vec<Term> = locals.collect::<Option<_>>()?;
        for (local, argument) in locals.iter_mut().zip(arguments) {
            *local = match argument {
                Word::Null => Term::Null,
                Word::Int(sum) => Term::Int(sum.clone()),
            };
        }
        let running = Running { condition: Vec::new(), locals, shared: shared? };
        let mut found = Vec::new();
        let mut edges = 0;
        follow(&operation.body, operation.body.entry, running, &mut edges, &mut found)?;
        Some(found)
    }
}

/// Follows every edge from a node on; `None` if something is not covered.
fn follow(
    body: &Body,
    node: NodeId,
    running: Running,
    edges: &mut usize,
    found: &mut Vec<Branch>,
) -> Option<()> {
    let node = body.nodes.get(usize::try_from(node.0).ok()?)?;
    for edge in &node.edges {
        *edges += 1;
        if *edges > MOST_EDGES {
            return None;
        }
        for running in executed(edge, running.clone())? {
            match &edge.target {
                Target::Node(next) => follow(body, *next, running, edges, found)?,
                Target::Return(value) => {
                    for (more, value) in evaluate(value, &running)? {
                        let condition = [&running.condition[..], &more[..]].concat();
                        let mut state = Vec::new();
                        running.shared.iter().try_for_each(|term| flatten(term, &mut state))?;
                        found.extend(returned(condition, state, value)?);
                    }
                }
            }
        }
    }
    Some(())
}

/// The branches of a call that answers this.
fn returned(condition: Vec<Constraint>, state: Vec<Word>, value: Term) -> Option<Vec<Branch>> {
    let branch = |more: Vec<Constraint>, answer: Answer| Branch {
        condition: [&condition[..], &more[..]].concat(),
        state: state.clone(),
        answer,
    };
    Some(match value {
        Term::Null => vec![branch(Vec::new(), Answer::One(Word::Null))],
        Term::Int(sum) => vec![branch(Vec::new(), Answer::One(Word::Int(sum)))],
        Term::Truth(_) | Term::Bit(_) => truth(&value)?
            .into_iter()
            .map(|(more, value)| branch(more, Answer::Truth(value)))
            .collect(),
        Term::List(items) => {
            let mut words = Vec::new();
            for item in &items {
                // Truth values inside of an answer are not 0 and 1.
                match item {
                    Term::Null => words.push(Word::Null),
                    Term::Int(sum) => words.push(Word::Int(sum.clone())),
                    Term::Truth(_) | Term::Bit(_) | Term::List(_) => return None,
                }
            }
            vec![branch(Vec::new(), Answer::List(words))]
        }
    })
}

/// Every way in which the actions of an edge can be executed.
fn executed(edge: &Edge, running: Running) -> Option<Vec<Running>> {
    let mut all = vec![running];
    for (action, _) in &edge.actions {
        let mut next = Vec::new();
        for running in all {
            next.extend(act(action, running)?);
        }
        all = next;
        if all.len() > MOST_EDGES {
            return None;
        }
    }
    Some(all)
}

fn act(action: &Action, running: Running) -> Option<Vec<Running>> {
    let mut done = Vec::new();
    match action {
        Action::Guard(condition) => {
            for (more, value) in evaluate(condition, &running)? {
                for (further, holds) in truth(&value)? {
                    if holds {
                        let mut after = running.clone();
                        after.condition.extend(more.iter().cloned().chain(further));
                        done.push(after);
                    }
                }
            }
        }
        Action::Assign { local, value } => {
            for (more, value) in evaluate(value, &running)? {
                let mut after = running.clone();
                after.condition.extend(more);
                *local_target(local, &mut after)? = value;
                done.push(after);
            }
        }
        Action::Read { into, place } => {
            let mut after = running;
            let value = shared_target(place, &mut after)?.clone();
            *after.locals.get_mut(usize::try_from(into.0).ok()?)? = value;
            done.push(after);
        }
        Action::Write { place, value } => {
            for (more, value) in evaluate(value, &running)? {
                let mut after = running.clone();
                after.condition.extend(more);
                *shared_target(place, &mut after)? = value;
                done.push(after);
            }
        }
        _ => return None,
    }
    Some(done)
}

fn local_target<'a>(target: &LocalTarget, running: &'a mut Running) -> Option<&'a mut Term> {
    let (local, index) = match target {
        LocalTarget::Local(local) => (local, None),
        LocalTarget::Element(local, index) => (local, Some(index_of(index, running)?)),
        LocalTarget::Component(local, index) => (local, Some(*index)),
        LocalTarget::ThreadLocal(_) => return None,
    };
    let term = running.locals.get_mut(usize::try_from(local.0).ok()?)?;
    match (index, term) {
        (None, term) => Some(term),
        (Some(index), Term::List(items)) => items.get_mut(index),
        _ => None,
    }
}

fn shared_target<'a>(place: &Place, running: &'a mut Running) -> Option<&'a mut Term> {
    match place {
        Place::Shared(at) => running.shared.get_mut(*at),
        Place::SharedElement(at, index) => {
            let index = index_of(index, running)?;
            match running.shared.get_mut(*at)? {
                Term::List(items) => items.get_mut(index),
                _ => None,
            }
        }
        Place::Field { .. } | Place::FieldElement { .. } => None,
    }
}

/// An index that is a constant.
fn index_of(expr: &Expr, running: &Running) -> Option<usize> {
    match &evaluate(expr, running)?[..] {
        [(condition, Term::Int(sum))] if condition.is_empty() => usize::try_from(sum.value()?).ok(),
        _ => None,
    }
}

/// The values of an expression, which exclude each other.
fn evaluate(expr: &Expr, running: &Running) -> Option<Vec<Case<Term>>> {
    let one = |term: Term| Some(vec![(Vec::new(), term)]);
    match expr {
        Expr::Const(value) => one(term_of(value)?),
        Expr::Local(id) => one(running.locals.get(usize::try_from(id.0).ok()?)?.clone()),
        Expr::Unary(operator, inner) => {
            let mut found = Vec::new();
            for (condition, value) in evaluate(inner, running)? {
                match (operator, value) {
                    (UnaryOp::Negate, Term::Int(sum)) => {
                        found.push((condition, Term::Int(Linear::constant(0).plus(-1, &sum)?)));
                    }
                    (UnaryOp::Not, value) => {
                        for (more, value) in truth(&value)? {
                            found.push(([&condition[..], &more[..]].concat(), Term::Truth(!value)));
                        }
                    }
                    _ => return None,
                }
            }
            Some(found)
        }
        Expr::Binary(BinaryOp::And, left, right) => {
            chosen(left, running, |holds| if holds { Ok(right) } else { Err(Term::Truth(false)) })
        }
        Expr::Binary(BinaryOp::Or, left, right) => {
            chosen(left, running, |holds| if holds { Err(Term::Truth(true)) } else { Ok(right) })
        }
        Expr::If(condition, one, other) => {
            chosen(condition, running, |holds| Ok(if holds { one } else { other }))
        }
        Expr::Binary(operator, left, right) => {
            let mut found = Vec::new();
            for (before, left) in evaluate(left, running)? {
                for (after, right) in evaluate(right, running)? {
                    for (more, value) in binary(*operator, &left, &right)? {
                        found.push(([&before[..], &after[..], &more[..]].concat(), value));
                    }
                }
            }
            Some(found)
        }
        Expr::Component(inner, index) => {
            part(evaluate(inner, running)?, |items| items.get(*index).cloned())
        }
        Expr::Element(inner, index) => {
            let index = index_of(index, running)?;
            part(evaluate(inner, running)?, |items| items.get(index).cloned())
        }
        Expr::List(items) => {
            let mut all: Vec<Case<Vec<Term>>> = vec![(Vec::new(), Vec::new())];
            for item in items {
                let cases = evaluate(item, running)?;
                let mut next = Vec::new();
                for (before, list) in &all {
                    for (more, value) in &cases {
                        let list = [&list[..], std::slice::from_ref(value)].concat();
                        next.push(([&before[..], &more[..]].concat(), list));
                    }
                }
                all = next;
            }
            Some(all.into_iter().map(|(condition, list)| (condition, Term::List(list))).collect())
        }
        Expr::Unwrap(inner) => {
            let cases = evaluate(inner, running)?;
            cases.iter().all(|(_, value)| *value != Term::Null).then_some(cases)
        }
        Expr::ThreadLocal(_) | Expr::Me | Expr::Query(..) => None,
    }
}

/// The value of the expression that a condition chooses, or the value that it decides.
fn chosen<'a>(
    condition: &Expr,
    running: &Running,
    choose: impl Fn(bool) -> Result<&'a Box<Expr>, Term>,
) -> Option<Vec<Case<Term>>> {
    let mut found = Vec::new();
    for (before, value) in evaluate(condition, running)? {
        for (more, holds) in truth(&value)? {
            let condition = [&before[..], &more[..]].concat();
            match choose(holds) {
                Err(value) => found.push((condition, value)),
                Ok(expr) => {
                    for (further, value) in evaluate(expr, running)? {
                        found.push(([&condition[..], &further[..]].concat(), value));
                    }
                }
            }
        }
    }
    Some(found)
}

fn part(cases: Vec<Case<Term>>, get: impl Fn(&[Term]) -> Option<Term>) -> Option<Vec<Case<Term>>> {
    let one = |(condition, value): Case<Term>| match value {
        Term::List(items) => Some((condition, get(&items)?)),
        _ => None,
    };
    cases.into_iter().map(one).collect()
}

fn truth(term: &Term) -> Option<Vec<Case<bool>>> {
    match term {
        Term::Truth(value) => Some(vec![(Vec::new(), *value)]),
        Term::Bit(sum) => Some(vec![
            (vec![Constraint::Zero(sum.clone())], false),
            (vec![Constraint::NotZero(sum.clone())], true),
        ]),
        _ => None,
    }
}

/// Both outcomes of a comparison.
fn either(holds: Constraint) -> Option<Vec<Case<Term>>> {
    let not = holds.negated()?;
    Some(vec![(vec![holds], Term::Truth(true)), (vec![not], Term::Truth(false))])
}

fn binary(operator: BinaryOp, left: &Term, right: &Term) -> Option<Vec<Case<Term>>> {
    use BinaryOp::{
        Add, And, BitAnd, BitOr, BitXor, Divide, Equal, Greater, GreaterEqual, Less, LessEqual,
        Multiply, NotEqual, Or, Remainder, ShiftLeft, ShiftRight, Subtract,
    };
    if matches!(operator, Equal | NotEqual) {
        let cases = equal(left, right)?;
        let flip =
            |(condition, value): Case<bool>| (condition, Term::Truth(value == (operator == Equal)));
        return Some(cases.into_iter().map(flip).collect());
    }
    let (Term::Int(left), Term::Int(right)) = (left, right) else { return None };
    let sum = |sum: Option<Linear>| Some(vec![(Vec::new(), Term::Int(sum?))]);
    match operator {
        Add => sum(left.plus(1, right)),
        Subtract => sum(left.plus(-1, right)),
        Multiply => match (left.value(), right.value()) {
            (Some(factor), _) => sum(Linear::constant(0).plus(factor, right)),
            (_, Some(factor)) => sum(Linear::constant(0).plus(factor, left)),
            _ => None,
        },
        Divide => sum(left.value()?.checked_div(right.value()?).map(Linear::constant)),
        Remainder => sum(left.value()?.checked_rem(right.value()?).map(Linear::constant)),
        Less => either(Constraint::at_most(left, right, -1)?),
        LessEqual => either(Constraint::at_most(left, right, 0)?),
        Greater => either(Constraint::at_most(right, left, -1)?),
        GreaterEqual => either(Constraint::at_most(right, left, 0)?),
        Equal | NotEqual | And | Or | BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight => None,
    }
}

/// Whether two values are equal, in every case.
fn equal(left: &Term, right: &Term) -> Option<Vec<Case<bool>>> {
    match (left, right) {
        (Term::Int(left), Term::Int(right)) => {
            let same = Constraint::equal(left, right)?;
            let not = same.negated()?;
            Some(vec![(vec![same], true), (vec![not], false)])
        }
        (Term::Null, Term::Null) => Some(vec![(Vec::new(), true)]),
        (Term::Null, Term::Int(_)) | (Term::Int(_), Term::Null) => Some(vec![(Vec::new(), false)]),
        (Term::Truth(_) | Term::Bit(_), Term::Truth(_) | Term::Bit(_)) => {
            let mut found = Vec::new();
            for (before, one) in truth(left)? {
                for (more, other) in truth(right)? {
                    found.push(([&before[..], &more[..]].concat(), one == other));
                }
            }
            Some(found)
        }
        _ => None,
    }
}

fn term_of(value: &Value) -> Option<Term> {
    match value {
        Value::Null => Some(Term::Null),
        Value::Int(value) => Some(Term::Int(Linear::constant(*value))),
        Value::Bool(value) => Some(Term::Truth(*value)),
        Value::List(items) => items.iter().map(term_of).collect::<Option<_>>().map(Term::List),
        _ => None,
    }
}

/// A value of the type, made of the next words.
fn shaped<'w>(ty: &Type, words: &mut impl Iterator<Item = &'w Word>) -> Option<Term> {
    match ty {
        Type::Bool => match words.next()? {
            Word::Int(sum) => Some(Term::Bit(sum.clone())),
            Word::Null => None,
        },
        Type::Int | Type::Option(_) => match words.next()? {
            Word::Int(sum) => Some(Term::Int(sum.clone())),
            Word::Null => Some(Term::Null),
        },
        Type::Array(item, length) => {
            (0..*length).map(|_| shaped(item, words)).collect::<Option<_>>().map(Term::List)
        }
        Type::Tuple(items) => {
            items.iter().map(|ty| shaped(ty, words)).collect::<Option<_>>().map(Term::List)
        }
        Type::Record { fields, .. } => {
            fields.iter().map(|(_, ty)| shaped(ty, words)).collect::<Option<_>>().map(Term::List)
        }
        _ => None,
    }
}

fn flatten(term: &Term, words: &mut Vec<Word>) -> Option<()> {
    match term {
        Term::Null => words.push(Word::Null),
        Term::Int(sum) | Term::Bit(sum) => words.push(Word::Int(sum.clone())),
        Term::Truth(value) => words.push(Word::Int(Linear::constant(i64::from(*value)))),
        Term::List(items) => items.iter().try_for_each(|item| flatten(item, words))?,
    }
    Some(())
}

fn flatten_value(value: &Value, words: &mut Vec<Option<i64>>) -> Option<()> {
    match value {
        Value::Null => words.push(None),
        Value::Int(value) => words.push(Some(*value)),
        Value::Bool(value) => words.push(Some(i64::from(*value))),
        Value::List(items) => items.iter().try_for_each(|item| flatten_value(item, words))?,
        _ => return None,
    }
    Some(())
}

/// For each word of a type, whether it is a truth value.
fn truths(ty: &Type, kinds: &mut Vec<bool>) {
    match ty {
        Type::Array(item, length) => (0..*length).for_each(|_| truths(item, kinds)),
        Type::Tuple(items) => items.iter().for_each(|ty| truths(ty, kinds)),
        Type::Record { fields, .. } => fields.iter().for_each(|(_, ty)| truths(ty, kinds)),
        other => kinds.push(*other == Type::Bool),
    }
}
