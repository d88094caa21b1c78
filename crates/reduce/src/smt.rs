//! The questions about pairs of steps as SMT-LIB 2 text, for solvers that know nothing of this one.
//!
//! Each is satisfiable if there is a state of the asked kind: one that lets the second step follow
//! the first (`≀`), or one that does but in which the reverse order cannot be executed or ends
//! differently (`¬ ⊖`).

use std::collections::BTreeMap;
use std::fmt::Write;

use linchpin_subop::model::{
    Atom, Condition, FieldId, GlobalId, GlobalKind, Index, LocalId, Place, Relation, Statement,
    StructId, Term, Type, Var,
};

use crate::context::Context;
use crate::{claims, nature::Nature};

/// A question about two steps of different instances.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obligation {
    /// The two prefixes and what is asked of their last steps.
    pub name: String,
    /// The question, ending in `(check-sat)`.
    pub text: String,
    /// Whether such a state may exist, as far as this crate can tell. If not, the question must not
    /// be satisfiable.
    pub satisfiable: bool,
}

/// The questions about all pairs of steps. Pairs in which one step stores an object that the other
/// may guess are left out: what may be guessed depends on what was ever stored, which is not
/// expressed here.
pub fn obligations(context: &Context) -> Vec<Obligation> {
    let mut found = Vec::new();
    for one in context.prefixes.nonempty() {
        for two in context.prefixes.nonempty() {
            let (first, second) = (context.step_footprint(one), context.step_footprint(two));
            let guesses = |of: &crate::footprint::Footprint, by: &crate::footprint::Footprint| {
                of.publishes.iter().any(|kind| by.reads.contains(kind))
            };
            if guesses(first, second) || guesses(second, first) {
                continue;
            }
            let answer = claims::steps(context, one, two);
            if answer.unknown {
                continue;
            }
            let names = (context.prefixes.name(one), context.prefixes.name(two));
            for (sign, reversed, satisfiable) in
                [("≀", false, answer.orderable), ("¬⊖", true, answer.order_matters)]
            {
                let text = Writer::new(context).question(one, two, reversed);
                found.push(Obligation {
                    name: format!("{} {sign} {}", names.0, names.1),
                    text,
                    satisfiable,
                });
            }
        }
    }
    found
}

/// A state as terms.
#[derive(Clone)]
struct State {
    globals: Vec<String>,
    arrays: Vec<String>,
    fields: BTreeMap<(StructId, FieldId), String>,
    locals: [Vec<Option<String>>; 2],
    reads: [BTreeMap<usize, String>; 2],
    results: [Option<Vec<String>>; 2],
}

struct Writer<'c> {
    context: &'c Context<'c>,
    text: String,
    names: usize,
}

impl<'c> Writer<'c> {
    fn new(context: &'c Context<'c>) -> Writer<'c> {
        let text = "(set-logic ALL)\n(declare-datatypes ((V 0)) (((int (num Int)) (null) (poison) (ref (obj Int)))))\n\
                    (declare-const top Int)\n(assert (> top 0))\n";
        Writer { context, text: text.to_owned(), names: 0 }
    }

    fn assert(&mut self, condition: &str) {
        let _ = writeln!(self.text, "(assert {condition})");
    }

    fn define(&mut self, sort: &str, value: &str) -> String {
        self.names += 1;
        let name = format!("t{}", self.names);
        let _ = writeln!(self.text, "(define-fun {name} () {sort} {value})");
        name
    }

    /// A value of this type that existed before the run.
    fn typed(ty: Type, nature: Nature, value: &str) -> String {
        let mut parts = match ty {
            Type::Int => vec![format!("(not ((_ is ref) {value}))")],
            Type::Ref(_) => vec![
                format!("(not ((_ is int) {value}))"),
                format!("(=> ((_ is ref) {value}) (< (obj {value}) top))"),
            ],
        };
        if !nature.null {
            parts.push(format!("(not (= {value} null))"));
        }
        if !nature.poison {
            parts.push(format!("(not (= {value} poison))"));
        }
        format!("(and {})", parts.join(" "))
    }

    fn declare(&mut self, name: &str, ty: Type, nature: Nature) -> String {
        let _ = writeln!(self.text, "(declare-const {name} V)");
        self.assert(&Self::typed(ty, nature, name));
        name.to_owned()
    }

    fn declare_map(&mut self, name: &str, ty: Type, nature: Nature) -> String {
        let _ = writeln!(self.text, "(declare-const {name} (Array Int V))");
        let each = Self::typed(ty, nature, &format!("(select {name} i)"));
        self.assert(&format!("(forall ((i Int)) {each})"));
        name.to_owned()
    }

    fn start(&mut self, prefixes: [usize; 2]) -> State {
        let context = self.context;
        let model = context.model;
        let mut state = State {
            globals: Vec::new(),
            arrays: Vec::new(),
            fields: BTreeMap::new(),
            locals: [Vec::new(), Vec::new()],
            reads: Default::default(),
            results: [None, None],
        };
        for (at, global) in model.globals.iter().enumerate() {
            let id = GlobalId(at);
            let (global, array) = match global.kind {
                GlobalKind::Place(_) => (format!("(ref (- {}))", at + 1), String::new()),
                GlobalKind::Scalar(ty) => {
                    (self.declare(&format!("g{at}"), ty, context.natures.global(id)), String::new())
                }
                GlobalKind::Array(ty) => (
                    String::new(),
                    self.declare_map(&format!("a{at}"), ty, context.natures.array(id)),
                ),
            };
            state.globals.push(global);
            state.arrays.push(array);
        }
        for (of, structure) in model.structs.iter().enumerate() {
            for (field, variable) in structure.fields.iter().enumerate() {
                let (of, field) = (StructId(of), FieldId(field));
                let name = self.declare_map(
                    &format!("f{}_{}", of.0, field.0),
                    variable.ty,
                    context.natures.field(of, field),
                );
                state.fields.insert((of, field), name);
            }
        }
        self.text += "(declare-const id0 Int)\n(declare-const id1 Int)\n(assert (and (> id0 0) (> id1 0) (not (= id0 id1))))\n";
        for constant in &context.constants {
            self.assert(&format!("(and (not (= id0 {0})) (not (= id1 {0})))", integer(*constant)));
        }
        for (who, prefix) in prefixes.into_iter().enumerate() {
            let data = &context.prefixes.all[prefix];
            let operation = &model.operations[data.operation.0];
            for (local, variable) in operation.locals.iter().enumerate() {
                let nature = if data.set[local] {
                    context.natures.local(data.operation.0, LocalId(local))
                } else {
                    Nature { null: true, poison: false }
                };
                // Whether it is set or will be guessed: the value is the same in both orders.
                let name = self.declare(&format!("l{who}_{local}"), variable.ty, nature);
                state.locals[who].push(Some(name));
            }
        }
        for (who, prefix) in prefixes.into_iter().enumerate() {
            self.ownership(&state, who, prefixes, prefix);
        }
        for (who, prefix) in prefixes.into_iter().enumerate() {
            self.facts(&state, who, prefix);
        }
        self.invariants(&state);
        state
    }

    /// What is known of the objects that an instance allocated.
    fn ownership(&mut self, state: &State, who: usize, prefixes: [usize; 2], prefix: usize) {
        let context = self.context;
        let data = &context.prefixes.all[prefix];
        for (local, of) in &data.owned {
            let Some(object) = state.locals[who][local.0].clone() else { continue };
            self.assert(&format!("((_ is ref) {object})"));
            let private = data.private.contains(&(*local, *of));
            for (peer, other) in prefixes.into_iter().enumerate() {
                let theirs = &context.prefixes.all[other];
                let operation = &context.model.operations[theirs.operation.0];
                for (at, variable) in operation.locals.iter().enumerate() {
                    let owned = theirs.owned.iter().any(|(known, _)| known.0 == at);
                    // What is not set yet will be guessed, and cannot be something that was never
                    // stored either.
                    let apart = variable.ty == Type::Ref(*of)
                        && (peer, at) != (who, local.0)
                        && (private || owned);
                    if apart && let Some(value) = &state.locals[peer][at] {
                        self.assert(&format!("(not (= {object} {value}))"));
                    }
                }
            }
            let places: Option<Vec<Place>> = if private {
                Some(Vec::new())
            } else {
                context
                    .facts
                    .reaches(prefix)
                    .find(|reach| reach.local == *local)
                    .map(|reach| reach.places.clone())
            };
            if let Some(places) = places {
                self.reach(state, who, &object, *of, &places);
            }
        }
    }

    fn reach(&mut self, state: &State, who: usize, object: &str, of: StructId, places: &[Place]) {
        let model = self.context.model;
        for (at, global) in model.globals.iter().enumerate() {
            let named = places.contains(&Place::Variable(Var::Global(GlobalId(at))));
            match global.kind {
                GlobalKind::Scalar(Type::Ref(ty)) if ty == of && !named => {
                    self.assert(&format!("(not (= {} {object}))", state.globals[at]));
                }
                GlobalKind::Array(Type::Ref(ty)) if ty == of => {
                    self.assert(&format!(
                        "(forall ((i Int)) (not (= (select {} i) {object})))",
                        state.arrays[at]
                    ));
                }
                _ => {}
            }
        }
        for ((holder, field), name) in &state.fields {
            if model.field(*holder, *field).ty != Type::Ref(of) {
                continue;
            }
            let mut allowed = vec!["false".to_owned()];
            for place in places {
                if let Place::Field(var, known, at) = place
                    && (known, at) == (holder, field)
                    && let Some(base) = self.variable(state, who, None, *var)
                {
                    allowed.push(format!("(= i (obj {base}))"));
                }
            }
            let allowed = allowed.join(" ");
            self.assert(&format!(
                "(forall ((i Int)) (=> (= (select {name} i) {object}) (or {allowed})))"
            ));
        }
    }

    fn facts(&mut self, state: &State, who: usize, prefix: usize) {
        let context = self.context;
        for condition in context.facts.conditions(prefix) {
            let condition = self.condition(state, who, None, condition);
            self.assert(&condition);
        }
    }

    fn invariants(&mut self, state: &State) {
        let context = self.context;
        for condition in context.facts.invariants() {
            let condition = self.condition(state, 0, None, condition);
            self.assert(&condition);
        }
        for (_, condition) in context.facts.quantified() {
            let condition = self.condition(state, 0, Some("(ref n)"), condition);
            self.assert(&format!("(forall ((n Int)) (=> (< n top) {condition}))"));
        }
    }

    fn question(mut self, one: usize, two: usize, reversed: bool) -> String {
        let context = self.context;
        let parent = |prefix: usize| context.prefixes.all[prefix].parent.unwrap_or(prefix);
        let (before, peer) = (parent(one), parent(two));
        let start = self.start([before, peer]);
        let mut there = start.clone();
        let first = self.step(&mut there, 0, one);
        self.assert(&first);
        self.facts(&there, 0, one);
        self.facts(&there, 1, peer);
        self.invariants(&there);
        let second = self.step(&mut there, 1, two);
        self.assert(&second);
        self.facts(&there, 0, one);
        self.facts(&there, 1, two);
        self.invariants(&there);
        if reversed {
            let mut back = start;
            let second = self.step(&mut back, 1, two);
            let first = self.step(&mut back, 0, one);
            let same = same(&there, &back);
            self.assert(&format!("(not (and {second} {first} {same}))"));
        }
        self.text += "(check-sat)\n";
        self.text
    }

    /// Executes the last step of a prefix; returns when it can be.
    fn step(&mut self, state: &mut State, who: usize, prefix: usize) -> String {
        let context = self.context;
        let Some(step) = context.prefixes.last(prefix) else { return "true".to_owned() };
        let mut conditions = vec![self.condition(state, who, None, &step.precondition)];
        for (at, statement) in step.body.iter().enumerate() {
            match statement {
                Statement::Assign { place, value, .. } => {
                    let (value, defined) = self.term(state, who, None, value);
                    conditions.push(defined);
                    let value = self.define("V", &value);
                    conditions.push(self.assign(state, who, place, &value));
                }
                Statement::Malloc { var, of, .. } => {
                    let object = format!("(ref (+ top {}))", who * 64 + at);
                    for (field, variable) in context.model.structs[of.0].fields.iter().enumerate() {
                        let value = if variable.ty == Type::Int { "(int 0)" } else { "null" };
                        self.store(state, (*of, FieldId(field)), &object, value);
                    }
                    self.assign(state, who, &Place::Variable(*var), &object);
                }
                Statement::Free { var, of, .. } => {
                    let object = self.variable(state, who, None, *var).unwrap_or_default();
                    conditions.push(format!("((_ is ref) {object})"));
                    for field in 0..context.model.structs[of.0].fields.len() {
                        self.store(state, (*of, FieldId(field)), &object, "poison");
                    }
                }
                Statement::Read { place, slot, .. } => {
                    let (value, defined) = self.place(state, who, None, place);
                    conditions.push(defined);
                    let value = self.define("V", &value);
                    state.reads[who].insert(*slot, value);
                }
            }
        }
        if let Some(terms) = &step.result {
            let mut results = Vec::new();
            for term in terms {
                let (value, defined) = self.term(state, who, None, term);
                conditions.push(defined);
                results.push(value);
            }
            state.results[who] = Some(results);
        }
        format!("(and {})", conditions.join(" "))
    }

    fn store(&mut self, state: &mut State, key: (StructId, FieldId), object: &str, value: &str) {
        let before = state.fields[&key].clone();
        let after =
            self.define("(Array Int V)", &format!("(store {before} (obj {object}) {value})"));
        state.fields.insert(key, after);
    }

    /// Writes a value; returns when that is defined.
    fn assign(&mut self, state: &mut State, who: usize, place: &Place, value: &str) -> String {
        match place {
            Place::Variable(Var::Local(local)) => {
                state.locals[who][local.0] = Some(value.to_owned())
            }
            Place::Variable(Var::Global(global)) => state.globals[global.0] = value.to_owned(),
            Place::Variable(_) => {}
            Place::Field(var, of, field) => {
                let object = self.variable(state, who, None, *var).unwrap_or_default();
                self.store(state, (*of, *field), &object, value);
                return format!("((_ is ref) {object})");
            }
            Place::Element(array, index) => {
                let (at, defined) = self.index(state, who, None, index);
                let before = state.arrays[array.0].clone();
                state.arrays[array.0] =
                    self.define("(Array Int V)", &format!("(store {before} {at} {value})"));
                return defined;
            }
        }
        "true".to_owned()
    }

    fn variable(&self, state: &State, who: usize, bound: Option<&str>, var: Var) -> Option<String> {
        match var {
            Var::Global(global) => Some(state.globals[global.0].clone()),
            Var::Local(local) => state.locals[who][local.0].clone(),
            Var::Bound(_) => bound.map(str::to_owned),
            Var::Peer(_) => None,
        }
    }

    /// The integer of an index, and when it is defined.
    fn index(
        &self,
        state: &State,
        who: usize,
        bound: Option<&str>,
        index: &Index,
    ) -> (String, String) {
        match index {
            Index::Int(at) => (integer(*at), "true".to_owned()),
            Index::Variable(var) | Index::Plus(var, _) => {
                let value = self.variable(state, who, bound, *var).unwrap_or_default();
                let offset = if let Index::Plus(_, offset) = index { *offset } else { 0 };
                (format!("(+ (num {value}) {})", integer(offset)), format!("((_ is int) {value})"))
            }
        }
    }

    /// The value of a place, and when it is defined.
    fn place(
        &self,
        state: &State,
        who: usize,
        bound: Option<&str>,
        place: &Place,
    ) -> (String, String) {
        match place {
            Place::Variable(var) => {
                (self.variable(state, who, bound, *var).unwrap_or_default(), "true".to_owned())
            }
            Place::Field(var, of, field) => {
                let object = self.variable(state, who, bound, *var).unwrap_or_default();
                let map = &state.fields[&(*of, *field)];
                (format!("(select {map} (obj {object}))"), format!("((_ is ref) {object})"))
            }
            Place::Element(array, index) => {
                let (at, defined) = self.index(state, who, bound, index);
                (format!("(select {} {at})", state.arrays[array.0]), defined)
            }
        }
    }

    fn term(
        &self,
        state: &State,
        who: usize,
        bound: Option<&str>,
        term: &Term,
    ) -> (String, String) {
        let always = |value: String| (value, "true".to_owned());
        match term {
            Term::Int(value) => always(format!("(int {})", integer(*value))),
            Term::Null => always("null".to_owned()),
            Term::Id => always(format!("(int id{who})")),
            Term::Place(place) => self.place(state, who, bound, place),
            Term::Plus(place, offset) => {
                let (value, defined) = self.place(state, who, bound, place);
                let sum = format!("(int (+ (num {value}) {}))", integer(*offset));
                (format!("(ite ((_ is int) {value}) {sum} poison)"), defined)
            }
        }
    }

    fn condition(
        &self,
        state: &State,
        who: usize,
        bound: Option<&str>,
        condition: &Condition,
    ) -> String {
        let all = |parts: &[Condition]| {
            parts
                .iter()
                .map(|part| self.condition(state, who, bound, part))
                .collect::<Vec<_>>()
                .join(" ")
        };
        match condition {
            Condition::All(parts) => format!("(and true {})", all(parts)),
            Condition::Any(parts) => format!("(or false {})", all(parts)),
            Condition::Atom(Atom { left, relation, right, .. }) => {
                let (left, one) = self.term(state, who, bound, left);
                let (right, two) = self.term(state, who, bound, right);
                let order = |sign: &str| {
                    format!(
                        "(and ((_ is int) {left}) ((_ is int) {right}) ({sign} (num {left}) (num {right})))"
                    )
                };
                let holds = match relation {
                    Relation::Equal => format!("(= {left} {right})"),
                    Relation::NotEqual => format!("(not (= {left} {right}))"),
                    Relation::Less => order("<"),
                    Relation::LessOrEqual => order("<="),
                    Relation::Greater => order(">"),
                    Relation::GreaterOrEqual => order(">="),
                };
                format!("(and {one} {two} {holds})")
            }
        }
    }
}

fn integer(value: i64) -> String {
    if value < 0 { format!("(- {})", value.unsigned_abs()) } else { value.to_string() }
}

/// That two states are the same.
fn same(one: &State, other: &State) -> String {
    let mut parts = vec!["true".to_owned()];
    let mut equal = |left: &str, right: &str| {
        if left != right {
            parts.push(format!("(= {left} {right})"));
        }
    };
    one.globals.iter().zip(&other.globals).for_each(|(a, b)| equal(a, b));
    one.arrays.iter().zip(&other.arrays).for_each(|(a, b)| equal(a, b));
    one.fields.values().zip(other.fields.values()).for_each(|(a, b)| equal(a, b));
    for who in 0..2 {
        let locals = one.locals[who].iter().flatten().zip(other.locals[who].iter().flatten());
        locals.for_each(|(a, b)| equal(a, b));
        one.reads[who].values().zip(other.reads[who].values()).for_each(|(a, b)| equal(a, b));
        let results = one.results[who].iter().flatten().zip(other.results[who].iter().flatten());
        results.for_each(|(a, b)| equal(a, b));
    }
    format!("(and {})", parts.join(" "))
}
