//! Sequential executions of the sub-operations, tried: a few calls, one after the other, with small
//! integers and those of the text, compared with the specification that the text names.
//!
//! This is a second meaning of [`linchpin_subop::model`] as code, for one instance at a time,
//! written anew so that it shares nothing with what `linchpin verify` tries. It can only find
//! something wrong: what it did not try it says.

use linchpin_spec::{self as spec, BuiltinSpec, Call, Shape, builtin};
use linchpin_subop::Model;
use linchpin_subop::model::{
    Atom, Condition, GlobalKind, Index, LocalId, Next, Operation, Place, Relation, SpecLine,
    SpecResponse, SpecTerm, Statement, StructId, SubOperation, Term, Type, Var,
};
use linchpin_verdict::Sequential;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use thiserror::Error;

/// As many calls in a row are tried at most.
const CALLS: usize = 4;

/// After so many sub-operations no more calls are tried.
const STEPS: usize = 300_000;

/// As many different integers are passed at most.
const INTEGERS: usize = 8;

/// `ID`s start here; constants of a text are smaller.
const IDS: i64 = 1 << 40;

/// For each argument of an operation, the integers that clients pass, the last one excluded; all if
/// there is none.
pub type Ranges = Vec<Option<(i64, i64)>>;

/// Calls, one after the other, of which the last is not one of the specification.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}", .0.join(", "))]
pub struct SequentialError(pub Vec<String>);

/// Tries sequential executions, ever longer ones; an error if one is wrong.
pub fn attempt(model: &Model, ranges: &[Ranges]) -> Result<Sequential, SequentialError> {
    let not_tried = |reason: &str| Ok(Sequential::NotTried { reason: reason.to_owned() });
    let Some(mapping) = &model.spec else {
        return not_tried("the text names no specification");
    };
    let initial: Vec<spec::Value> = mapping.initial.iter().map(constant).collect();
    let initial = (!initial.is_empty()).then(|| packed(initial));
    let Ok(sequential) = builtin(&mapping.name, initial.as_ref()) else {
        return not_tried("the specification that the text names is not known");
    };
    let Some(start) = State::start(model) else {
        return not_tried("`initially` does something that is not defined");
    };
    let integers = integers(model);
    let mut trial = Trial { model, sequential, ranges, integers, executions: 0, steps: 0 };
    let calls = trial.search(&mapping.lines, start)?;
    if calls == 0 {
        return not_tried("there are too many sequential executions");
    }
    let integers = trial.integers.into_iter().collect();
    let executions = trial.executions;
    let further = Vec::new();
    Ok(Sequential::Tried { calls, executions, integers, further, all_arguments: true })
}

/// Small integers, and those of the text with their neighbours, as many as are passed.
fn integers(model: &Model) -> BTreeSet<i64> {
    let mut found: BTreeSet<i64> = [-1, 0, 1, 2].into();
    let steps = model.operations.iter().flat_map(|operation| &operation.sub_operations);
    let mut see = |term: &Term| {
        if let Term::Int(value) = term {
            let near = [value.saturating_sub(1), *value, value.saturating_add(1)];
            found.extend(near);
        }
    };
    for step in steps {
        step.precondition.atoms().iter().for_each(|atom| {
            see(&atom.left);
            see(&atom.right);
        });
        step.result.iter().flatten().for_each(&mut see);
        step.body.iter().filter_map(assigned).for_each(&mut see);
    }
    model.initially.statements.iter().filter_map(assigned).for_each(&mut see);
    model.initially.fills.iter().for_each(|(_, term)| see(term));
    // The small ones and the most remote ones; those in between are like the others.
    while found.len() > INTEGERS {
        let far = found.iter().copied().filter(|value| !(-1..=2).contains(value));
        match far.min_by_key(|value| value.unsigned_abs()) {
            Some(value) => found.remove(&value),
            None => break,
        };
    }
    found
}

fn assigned(statement: &Statement) -> Option<&Term> {
    match statement {
        Statement::Assign { value, .. } => Some(value),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Value {
    Int(i64),
    Null,
    /// By number, in the order of allocation.
    Object(usize),
    Poison,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Object {
    of: StructId,
    fields: Vec<Value>,
    /// Whether a reference to it was ever stored, or it was there from the start: only then may it
    /// be guessed.
    stored: bool,
}

/// What is there between two calls.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct State {
    globals: Vec<Value>,
    /// Elements that were written.
    elements: BTreeMap<(usize, i64), Value>,
    /// What the other elements hold.
    fills: Vec<Value>,
    heap: Vec<Object>,
    /// How many calls there were, for `ID`.
    calls: i64,
}

fn zero(ty: Type) -> Value {
    match ty {
        Type::Int => Value::Int(0),
        Type::Ref(_) => Value::Null,
    }
}

impl State {
    /// What `initially` leaves; nothing if it does something that is not defined.
    fn start(model: &Model) -> Option<State> {
        let mut fills: Vec<Value> = Vec::new();
        let mut state = State {
            globals: Vec::new(),
            elements: BTreeMap::new(),
            fills: Vec::new(),
            heap: Vec::new(),
            calls: 0,
        };
        for global in &model.globals {
            let (value, fill) = match global.kind {
                GlobalKind::Scalar(ty) => (zero(ty), Value::Null),
                GlobalKind::Array(ty) => (Value::Null, zero(ty)),
                GlobalKind::Place(of) => (state.allocate(model, of), Value::Null),
            };
            state.globals.push(value);
            fills.push(fill);
        }
        for (array, term) in &model.initially.fills {
            fills[array.0] = match term {
                Term::Int(value) => Value::Int(*value),
                _ => Value::Null,
            };
        }
        state.fills = fills;
        let locals = model.initially.locals.iter().map(|local| Some(zero(local.ty))).collect();
        let mut run = Run { model, state, locals };
        for statement in &model.initially.statements {
            run.execute(statement)?;
        }
        let mut state = run.state;
        state.heap.iter_mut().for_each(|object| object.stored = true);
        Some(state)
    }

    fn allocate(&mut self, model: &Model, of: StructId) -> Value {
        let fields = model.structs[of.0].fields.iter().map(|field| zero(field.ty)).collect();
        self.heap.push(Object { of, fields, stored: false });
        Value::Object(self.heap.len() - 1)
    }
}

/// One call in progress.
#[derive(Clone)]
struct Run<'m> {
    model: &'m Model,
    state: State,
    locals: Vec<Option<Value>>,
}

impl Run<'_> {
    fn variable(&self, var: Var) -> Option<Value> {
        match var {
            Var::Global(global) => Some(self.state.globals[global.0]),
            Var::Local(local) => self.locals[local.0],
            Var::Peer(_) | Var::Bound(_) => None,
        }
    }

    fn element(&self, index: Index) -> Option<i64> {
        match index {
            Index::Int(at) => Some(at),
            Index::Variable(var) => integer(self.variable(var)?),
            Index::Plus(var, more) => integer(sum(self.variable(var)?, more)),
        }
    }

    fn object(&self, var: Var) -> Option<usize> {
        match self.variable(var)? {
            Value::Object(at) => Some(at),
            _ => None,
        }
    }

    fn place(&self, place: Place) -> Option<Value> {
        match place {
            Place::Variable(var) => self.variable(var),
            Place::Field(var, _, field) => Some(self.state.heap[self.object(var)?].fields[field.0]),
            Place::Element(array, index) => {
                let key = (array.0, self.element(index)?);
                Some(*self.state.elements.get(&key).unwrap_or(&self.state.fills[array.0]))
            }
        }
    }

    fn term(&self, term: Term) -> Option<Value> {
        match term {
            Term::Int(value) => Some(Value::Int(value)),
            Term::Null => Some(Value::Null),
            Term::Id => Some(Value::Int(IDS + self.state.calls)),
            Term::Place(place) => self.place(place),
            Term::Plus(place, more) => Some(sum(self.place(place)?, more)),
        }
    }

    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::All(parts) => parts.iter().all(|part| self.holds(part)),
            Condition::Any(parts) => parts.iter().any(|part| self.holds(part)),
            Condition::Atom(atom) => match (self.term(atom.left), self.term(atom.right)) {
                (Some(left), Some(right)) => compare(left, atom.relation, right),
                // A term that is not defined: the comparison is false.
                _ => false,
            },
        }
    }

    /// Executes a statement; nothing if it is not defined here.
    fn execute(&mut self, statement: &Statement) -> Option<()> {
        match *statement {
            Statement::Assign { place, value, .. } => {
                let value = self.term(value)?;
                self.assign(place, value)
            }
            Statement::Malloc { var, of, .. } => {
                let object = self.state.allocate(self.model, of);
                self.assign(Place::Variable(var), object)
            }
            Statement::Free { var, .. } => {
                let at = self.object(var)?;
                self.state.heap[at].fields.fill(Value::Poison);
                Some(())
            }
            // What it sees goes nowhere but to the observer of an operation that returns nothing,
            // which a specification does not know.
            Statement::Read { place, .. } => self.place(place).map(|_| ()),
        }
    }

    fn assign(&mut self, place: Place, value: Value) -> Option<()> {
        match place {
            Place::Variable(Var::Local(local)) => {
                self.locals[local.0] = Some(value);
                return Some(());
            }
            Place::Variable(Var::Global(global)) => self.state.globals[global.0] = value,
            Place::Variable(_) => return None,
            Place::Field(var, _, field) => {
                let at = self.object(var)?;
                self.state.heap[at].fields[field.0] = value;
            }
            Place::Element(array, index) => {
                let key = (array.0, self.element(index)?);
                self.state.elements.insert(key, value);
            }
        }
        if let Value::Object(at) = value {
            self.state.heap[at].stored = true;
        }
        Some(())
    }

    /// Whether a local of this type may be guessed to have this value.
    fn may_guess(&self, ty: Type, value: Value) -> bool {
        match (ty, value) {
            (_, Value::Null) | (Type::Int, Value::Int(_)) => true,
            (Type::Ref(of), Value::Object(at)) => {
                let object = &self.state.heap[at];
                object.of == of && object.stored
            }
            _ => false,
        }
    }
}

fn integer(value: Value) -> Option<i64> {
    match value {
        Value::Int(value) => Some(value),
        _ => None,
    }
}

fn sum(value: Value, more: i64) -> Value {
    integer(value).and_then(|value| value.checked_add(more)).map_or(Value::Poison, Value::Int)
}

fn compare(left: Value, relation: Relation, right: Value) -> bool {
    let ordered = |holds: fn(&i64, &i64) -> bool| match (left, right) {
        (Value::Int(left), Value::Int(right)) => holds(&left, &right),
        _ => false,
    };
    match relation {
        Relation::Equal => left == right,
        Relation::NotEqual => left != right,
        Relation::Less => ordered(i64::lt),
        Relation::LessOrEqual => ordered(i64::le),
        Relation::Greater => ordered(i64::gt),
        Relation::GreaterOrEqual => ordered(i64::ge),
    }
}

/// The locals that a sub-operation reads before it writes them.
fn reads(step: &SubOperation) -> Vec<LocalId> {
    let (mut read, mut written): (Vec<LocalId>, Vec<LocalId>) = (Vec::new(), Vec::new());
    let mut see = |var: Var, written: &[LocalId]| {
        if let Var::Local(local) = var
            && !written.contains(&local)
            && !read.contains(&local)
        {
            read.push(local);
        }
    };
    let in_place = |place: Place| match place {
        Place::Variable(var) | Place::Field(var, ..) => Some(var),
        Place::Element(_, Index::Variable(var) | Index::Plus(var, _)) => Some(var),
        Place::Element(_, Index::Int(_)) => None,
    };
    let in_term = |term: Term| match term {
        Term::Place(place) | Term::Plus(place, _) => in_place(place),
        Term::Int(_) | Term::Null | Term::Id => None,
    };
    for atom in step.precondition.atoms() {
        for var in [in_term(atom.left), in_term(atom.right)].into_iter().flatten() {
            see(var, &written);
        }
    }
    for statement in &step.body {
        let (before, after) = match *statement {
            Statement::Assign { place: Place::Variable(to), value, .. } => {
                (vec![in_term(value)], Some(to))
            }
            Statement::Assign { place, value, .. } => (vec![in_term(value), in_place(place)], None),
            Statement::Malloc { var, .. } => (Vec::new(), Some(var)),
            Statement::Free { var, .. } => (vec![Some(var)], None),
            Statement::Read { place, .. } => (vec![in_place(place)], None),
        };
        before.into_iter().flatten().for_each(|var| see(var, &written));
        if let Some(Var::Local(local)) = after {
            written.push(local);
        }
    }
    step.result.iter().flatten().filter_map(|term| in_term(*term)).for_each(|v| see(v, &written));
    read
}

/// An execution of some calls: what it leaves, the states that the specification may be in, and the
/// calls in words.
struct Execution {
    state: State,
    allowed: BTreeSet<spec::Value>,
    calls: Vec<String>,
}

/// There are more executions than are tried.
struct TooMany;

struct Trial<'m> {
    model: &'m Model,
    sequential: BuiltinSpec,
    ranges: &'m [Ranges],
    integers: BTreeSet<i64>,
    executions: usize,
    steps: usize,
}

impl<'m> Trial<'m> {
    /// Tries ever more calls; returns how many in a row were all tried.
    fn search(&mut self, lines: &[SpecLine], start: State) -> Result<usize, SequentialError> {
        let allowed = BTreeSet::from([self.sequential.initial()]);
        let mut met: HashSet<spec::Value> = allowed.iter().cloned().collect();
        let mut seen = HashSet::new();
        let mut ends = vec![Execution { state: start, allowed, calls: Vec::new() }];
        for tried in 0..CALLS {
            let mut longer = Vec::new();
            for before in &ends {
                for line in lines {
                    let Ok(found) = self.call(line, before, &met)? else { return Ok(tried) };
                    longer.extend(found);
                }
            }
            longer.retain(|end| seen.insert((end.state.clone(), end.allowed.clone())));
            met.extend(longer.iter().flat_map(|end| end.allowed.iter().cloned()));
            ends = longer;
        }
        Ok(CALLS)
    }

    /// Every execution of one more call, each compared with the specification.
    fn call(
        &mut self,
        line: &SpecLine,
        before: &Execution,
        met: &HashSet<spec::Value>,
    ) -> Result<Result<Vec<Execution>, TooMany>, SequentialError> {
        let operation = &self.model.operations[line.operation.0];
        let mut found = Vec::new();
        for locals in self.arguments(line, operation) {
            let arguments = locals.clone();
            let mut state = before.state.clone();
            state.calls += 1;
            let mut ended = Vec::new();
            let run = Run { model: self.model, state, locals };
            if self.go_on(operation, &operation.first, run, &mut ended).is_err() {
                return Ok(Err(TooMany));
            }
            self.executions += ended.len();
            for (run, result) in ended {
                // What was passed, whatever became of it; references were guessed on the way.
                let both = arguments.iter().zip(&run.locals);
                let passed: Vec<_> = both.map(|(passed, guessed)| passed.or(*guessed)).collect();
                if let Some(end) = self.compare(line, before, met, &passed, &run.state, &result)? {
                    found.push(end);
                }
            }
        }
        Ok(Ok(found))
    }

    /// The locals of every call of an operation: integers are passed, references are guessed.
    fn arguments(&self, line: &SpecLine, operation: &Operation) -> Vec<Vec<Option<Value>>> {
        let mut calls = vec![vec![None; operation.locals.len()]];
        let ranges = self.ranges.get(line.operation.0);
        for at in (0..operation.arguments).filter(|at| operation.locals[*at].ty == Type::Int) {
            let range = ranges.and_then(|ranges| ranges.get(at).copied().flatten());
            let passed: Vec<i64> = match range {
                Some((from, to)) => (from..to).take(INTEGERS).collect(),
                None => self.integers.iter().copied().collect(),
            };
            let extended = |call: Vec<Option<Value>>| {
                passed.iter().map(move |value| {
                    let mut call = call.clone();
                    call[at] = Some(Value::Int(*value));
                    call
                })
            };
            calls = calls.into_iter().flat_map(extended).collect();
        }
        calls
    }

    /// Executes the rest of a call in every way, from one of the sub-operations in `next` on.
    fn go_on(
        &mut self,
        operation: &'m Operation,
        next: &[usize],
        run: Run<'m>,
        ended: &mut Vec<(Run<'m>, Vec<Value>)>,
    ) -> Result<(), TooMany> {
        for at in next {
            let step = &operation.sub_operations[*at];
            let mut choices = Vec::new();
            self.guess(operation, step, &reads(step), run.clone(), &mut choices)?;
            for mut run in choices {
                let defined = run.holds(&step.precondition)
                    && step.body.iter().all(|statement| run.execute(statement).is_some());
                let result = step.result.iter().flatten().map(|term| run.term(*term));
                let Some(result) = result.collect::<Option<Vec<Value>>>() else { continue };
                if !defined {
                    continue;
                }
                if step.next.contains(&Next::Return) {
                    ended.push((run.clone(), result));
                }
                let after = step.next.iter().filter_map(|next| match next {
                    Next::SubOperation(at) => Some(*at),
                    Next::Return => None,
                });
                self.go_on(operation, &after.collect::<Vec<_>>(), run, ended)?;
            }
        }
        Ok(())
    }

    /// Every choice of the locals in `read` that are not set: what an equality demands, or else
    /// some values.
    fn guess(
        &mut self,
        operation: &Operation,
        step: &SubOperation,
        read: &[LocalId],
        run: Run<'m>,
        found: &mut Vec<Run<'m>>,
    ) -> Result<(), TooMany> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(TooMany);
        }
        let open: Vec<LocalId> =
            read.iter().copied().filter(|local| run.locals[local.0].is_none()).collect();
        let Some(first) = open.first() else {
            found.push(run);
            return Ok(());
        };
        let demanded = open.iter().find_map(|local| Some((*local, demanded(&run, step, *local)?)));
        let (local, values) = match demanded {
            Some((local, value)) => (local, vec![value]),
            None => (*first, self.candidates(&run)),
        };
        for value in values {
            if run.may_guess(operation.locals[local.0].ty, value) {
                let mut run = run.clone();
                run.locals[local.0] = Some(value);
                self.guess(operation, step, read, run, found)?;
            }
        }
        Ok(())
    }

    /// Values that a guess is tried with.
    fn candidates(&self, run: &Run) -> Vec<Value> {
        let objects = (0..run.state.heap.len()).map(Value::Object);
        let integers = self.integers.iter().copied().map(Value::Int);
        std::iter::once(Value::Null).chain(objects).chain(integers).collect()
    }

    /// Compares a call that ended with the specification; `None` if it is no call of a client.
    fn compare(
        &self,
        line: &SpecLine,
        before: &Execution,
        met: &HashSet<spec::Value>,
        locals: &[Option<Value>],
        after: &State,
        result: &[Value],
    ) -> Result<Option<Execution>, SequentialError> {
        let term = |term: &SpecTerm| match term {
            SpecTerm::Argument(local) => locals[local.0].map_or(spec::Value::Null, shown),
            term => constant(term),
        };
        let argument = packed(line.arguments.iter().map(term).collect());
        let returned: Vec<spec::Value> = result.iter().copied().map(shown).collect();
        let mut response = match &line.response {
            SpecResponse::Returned => packed(returned),
            SpecResponse::Always(values) => packed(values.iter().map(term).collect()),
            SpecResponse::Whether(values) => {
                spec::Value::Bool(returned == values.iter().map(term).collect::<Vec<_>>())
            }
        };
        let method = self.sequential.operation(&line.method);
        let shape = method.map(|method| &self.sequential.operations()[method].response);
        if let (Some(Shape::Bool), spec::Value::Int(number @ (0 | 1))) = (shape, &response) {
            response = spec::Value::Bool(*number == 1);
        }
        let name = &self.model.operations[line.operation.0].name;
        let mut calls = before.calls.clone();
        calls.push(format!("{name}({argument}) → {response}"));
        let Some(operation) = method else { return Err(SequentialError(calls)) };
        let call = Call { operation, argument };
        let answers = |state: &spec::Value, answer: Option<&spec::Value>| {
            self.sequential.apply(state, &call, answer)
        };
        let fitting = before.allowed.iter().flat_map(|state| answers(state, Some(&response)));
        let fitting = fitting.filter(|outcome| outcome.response == response);
        let allowed: BTreeSet<spec::Value> = fitting.map(|outcome| outcome.state).collect();
        if !allowed.is_empty() {
            return Ok(Some(Execution { state: after.clone(), allowed, calls }));
        }
        // An argument that the specification answers in no state, like an index that is not there,
        // is passed by no client, unless the certificate says what clients pass.
        let limited = self.ranges.get(line.operation.0).is_some();
        let mut known = before.allowed.iter().chain(met);
        match limited || known.any(|state| !answers(state, None).is_empty()) {
            true => Err(SequentialError(calls)),
            false => Ok(None),
        }
    }
}

/// The value that an equality of the precondition demands of a local that is not set.
fn demanded(run: &Run, step: &SubOperation, local: LocalId) -> Option<Value> {
    let parts = match &step.precondition {
        Condition::All(parts) => parts.as_slice(),
        other => std::slice::from_ref(other),
    };
    let wanted = Place::Variable(Var::Local(local));
    parts.iter().find_map(|part| {
        let Condition::Atom(Atom { left, relation: Relation::Equal, right, .. }) = part else {
            return None;
        };
        let side = |one: &Term, other: &Term| match *one {
            Term::Place(place) if place == wanted => run.term(*other),
            Term::Plus(place, more) if place == wanted => {
                integer(run.term(*other)?)?.checked_sub(more).map(Value::Int)
            }
            _ => None,
        };
        side(left, right).or_else(|| side(right, left))
    })
}

fn constant(term: &SpecTerm) -> spec::Value {
    match term {
        SpecTerm::Int(value) => spec::Value::Int(*value),
        SpecTerm::Bool(value) => spec::Value::Bool(*value),
        SpecTerm::Null | SpecTerm::Argument(_) => spec::Value::Null,
    }
}

/// Nothing, one value, or a list of several.
fn packed(values: Vec<spec::Value>) -> spec::Value {
    match <[spec::Value; 1]>::try_from(values) {
        Ok([value]) => value,
        Err(values) if values.is_empty() => spec::Value::Null,
        Err(values) => spec::Value::list(values),
    }
}

/// A value as the specification sees it; it knows no references and no poison.
fn shown(value: Value) -> spec::Value {
    match value {
        Value::Int(value) => spec::Value::Int(value),
        Value::Null => spec::Value::Null,
        Value::Object(_) => spec::Value::str("a reference"),
        Value::Poison => spec::Value::str("poison"),
    }
}
