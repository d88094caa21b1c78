//! Which renamings of threads and values change nothing, found by following every word through the
//! program.
//!
//! Words that are copied into each other or compared for equality form classes. Values may be
//! renamed if the classes of the integers that clients pass and get back are only copied and
//! compared, never counted with, ordered, used as an index, or set to a constant that is itself
//! such a value. Threads may be renamed if the same holds of the classes of thread ids.
//! [`DataUse`] is what follows for any number of values: see `any_values.rs`.

use crate::any_values::{DataUse, NotAlike};
use crate::code::{Act, Address, Base, Code, Fork, Goal, Into, Mark, Op, Routine};
use crate::layout::{Kind, Layout, VARIABLES, kinds_of, resolve_at};
use crate::lines::Lines;
use crate::marks::{SpecMarks, own_spec};
use crate::spec_use::spec_use;
use linchpin_ir::program::{Program, SpecSource, Type};
use linchpin_verdict::Values;

/// What may be renamed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symmetry {
    /// Whether threads with the same role are interchangeable.
    pub threads: bool,
    /// Whether the values that clients pass are.
    pub values: bool,
    /// What the model does with them, if there may be any number of them.
    pub data: DataUse,
}

/// The specifications that treat all their integers alike: renaming them changes nothing.
const SYMMETRIC_SPECS: [&str; 5] = ["queue", "stack", "set", "register", "cas-register"];

/// Those of them that only move values: what they answer does not depend on which are equal.
const MOVING_SPECS: [&str; 3] = ["queue", "stack", "register"];

/// Finds the symmetries, and marks the words that hold renamable values as [`Kind::Data`]; with it,
/// where the specification has such values.
pub(crate) fn analyse(
    program: &Program,
    routines: &[Routine],
    layout: &mut Layout,
    lines: Option<&Lines>,
    values: Values,
) -> (Symmetry, SpecMarks) {
    let unmarked = layout.clone();
    let last = match values {
        Values::UpTo(last) => last,
        Values::Any => i64::MAX,
    };
    let mut flow = Flow::new(&unmarked, last);
    for (operation, routine) in routines.iter().enumerate() {
        flow.routine(operation, routine);
    }
    if let Some(lines) = lines {
        flow.crashes(program, lines);
    }
    let threads = flow.threads_alike(program);
    let (of_spec, marks) = match own_spec(program) {
        Some(spec) => spec_use(spec),
        None => (builtin_use(program), SpecMarks::all()),
    };
    let data = match lines {
        Some(_) => DataUse::Other(NotAlike::Crashes),
        None => flow.data_use(program, &of_spec),
    };
    let small = match values {
        Values::UpTo(last) => (1..=i64::from(u8::MAX)).contains(&last),
        Values::Any => !matches!(data, DataUse::Other(_)),
    };
    // What crashes interrupt is asked of built-in specifications only.
    let is_known = own_spec(program).is_none() || lines.is_none() && flow.has_data(program);
    let spec_alike = !matches!(of_spec, DataUse::Other(_));
    let values = small && spec_alike && is_known && flow.values_alike(program);
    if values {
        flow.mark(program, layout);
    }
    (Symmetry { threads, values, data }, marks)
}

/// What a built-in specification does with values.
fn builtin_use(program: &Program) -> DataUse {
    if is_among(&MOVING_SPECS, program) {
        DataUse::Moved
    } else if is_among(&SYMMETRIC_SPECS, program) {
        DataUse::Compared
    } else {
        DataUse::Other(NotAlike::Specification)
    }
}

fn is_among(names: &[&str], program: &Program) -> bool {
    matches!(&program.spec, SpecSource::Builtin { name, .. } if names.contains(&name.as_str()))
}

/// Where a word of a value comes from.
#[derive(Clone, Copy)]
enum Term {
    Word(usize),
    Const(i64),
    Me,
    Other,
}

#[derive(Clone, Copy, Default)]
struct Class {
    /// Counted with, ordered, used as an index, or computed.
    plain: bool,
    /// Set to or compared with a constant that is one of the values.
    constant: bool,
    /// The same, if all integers from 1 on are values.
    positive: bool,
    /// Compared for equality with what is not a constant.
    compared: bool,
    /// Set to or compared with a constant thread.
    named: bool,
    /// Holds a thread id.
    tid: bool,
    /// Holds something else.
    other: bool,
}

/// A word of a parameter or a response that holds an integer.
struct Boundary {
    word: usize,
    operation: usize,
    /// Whether clients pass other integers than the values that are bounded.
    ranged: bool,
}

/// The classes of words: a union-find over all words of the program.
struct Flow<'a> {
    layout: &'a Layout,
    values: i64,
    parents: Vec<usize>,
    classes: Vec<Class>,
    /// Where the nodes of each part start.
    variables: usize,
    locals: Vec<usize>,
    responses: Vec<usize>,
    fields: Vec<usize>,
}

impl Flow<'_> {
    fn new(layout: &Layout, values: i64) -> Flow<'_> {
        let mut kinds: Vec<Kind> = layout.shared_kinds.clone();
        let mut part = |more: &Vec<Kind>| {
            let start = kinds.len();
            kinds.extend(more);
            start
        };
        let variables = part(&layout.variable_kinds);
        let locals = layout.local_kinds.iter().map(&mut part).collect();
        let responses = layout.response_kinds.iter().map(&mut part).collect();
        let fields = layout.field_kinds.iter().map(&mut part).collect();
        let class = |kind: &Kind| Class {
            tid: *kind == Kind::Tid,
            other: *kind != Kind::Tid,
            ..Class::default()
        };
        let classes = kinds.iter().map(class).collect();
        let parents = (0..kinds.len()).collect();
        Flow { layout, values, parents, classes, variables, locals, responses, fields }
    }

    fn find(&mut self, mut node: usize) -> usize {
        while self.parents[node] != node {
            self.parents[node] = self.parents[self.parents[node]];
            node = self.parents[node];
        }
        node
    }

    fn class(&mut self, node: usize) -> &mut Class {
        let root = self.find(node);
        &mut self.classes[root]
    }

    fn fresh(&mut self) -> usize {
        self.parents.push(self.parents.len());
        self.classes.push(Class::default());
        self.parents.len() - 1
    }

    fn meet(&mut self, left: Term, right: Term) {
        match (left, right) {
            (Term::Word(left), Term::Word(right)) => {
                let (left, right) = (self.find(left), self.find(right));
                if left != right {
                    let (a, b) = (self.classes[left], self.classes[right]);
                    self.parents[left] = right;
                    self.classes[right] = Class {
                        plain: a.plain || b.plain,
                        constant: a.constant || b.constant,
                        positive: a.positive || b.positive,
                        compared: a.compared || b.compared,
                        named: a.named || b.named,
                        tid: a.tid || b.tid,
                        other: a.other || b.other,
                    };
                }
            }
            (Term::Word(word), Term::Const(value)) | (Term::Const(value), Term::Word(word)) => {
                let renamable = (1..=self.values).contains(&value);
                let class = self.class(word);
                class.constant |= renamable;
                class.positive |= value >= 1;
                class.named |= value != 0;
            }
            (Term::Word(word), Term::Me) | (Term::Me, Term::Word(word)) => {
                self.class(word).tid = true;
            }
            (Term::Word(word), Term::Other) | (Term::Other, Term::Word(word)) => {
                self.class(word).plain = true;
            }
            (Term::Me, Term::Const(_)) | (Term::Const(_), Term::Me) => {
                // The executing thread compared with a constant one: as if it were in a word.
                let word = self.fresh();
                *self.class(word) = Class { tid: true, named: true, ..Class::default() };
            }
            _ => {}
        }
    }

    fn meet_all(&mut self, left: &[Term], right: &[Term]) {
        for (left, right) in left.iter().zip(right) {
            self.meet(*left, *right);
        }
    }

    /// The two are compared for equality.
    fn compare(&mut self, left: &[Term], right: &[Term]) {
        self.meet_all(left, right);
        for pair in left.iter().zip(right) {
            if let (Term::Word(word), Term::Word(_)) = pair {
                self.class(*word).compared = true;
            }
        }
    }

    fn plain(&mut self, terms: &[Term]) {
        for term in terms {
            match term {
                Term::Word(word) => self.class(*word).plain = true,
                Term::Me => {
                    let word = self.fresh();
                    *self.class(word) = Class { tid: true, plain: true, ..Class::default() };
                }
                Term::Const(_) | Term::Other => {}
            }
        }
    }

    fn routine(&mut self, operation: usize, routine: &Routine) {
        for node in &routine.nodes {
            for fork in &node.forks {
                self.fork(operation, fork);
            }
            for goal in &node.goals {
                if let Goal::Return(value) = goal {
                    let value = self.terms(operation, value);
                    self.answer(operation, &value);
                }
            }
        }
        let locals = self.locals[operation];
        let parameters: usize = routine.parameters.iter().map(|(slot, _)| slot.width).sum();
        for (at, word) in routine.start.iter().enumerate().skip(parameters) {
            // What a local starts with is dead if it is written first, which it nearly always is; a
            // constant other than zero is taken seriously.
            if *word != 0 {
                self.meet(Term::Word(locals + at), Term::Const(*word));
            }
        }
        if let Some(requires) = &routine.requires {
            self.terms(operation, requires);
        }
    }

    fn answer(&mut self, operation: usize, value: &[Term]) {
        let response = self.responses[operation];
        for (at, term) in value.iter().enumerate() {
            self.meet(Term::Word(response + at), *term);
        }
    }

    fn fork(&mut self, operation: usize, fork: &Fork) {
        for act in &fork.acts {
            self.act(operation, act);
        }
        for (_, mark) in &fork.points {
            match mark {
                Mark::When(condition) => {
                    self.terms(operation, condition);
                }
                Mark::Returns { value, .. } => {
                    // A guess is compared with what the operation goes on to answer.
                    let value = self.terms(operation, value);
                    self.answer(operation, &value);
                    self.compare(&value, &value);
                }
            }
        }
        for next in &fork.then {
            self.fork(operation, next);
        }
    }

    fn act(&mut self, operation: usize, act: &Act) {
        match act {
            Act::Guard(code) | Act::Assert(code) | Act::Free { object: code, .. } => {
                self.terms(operation, code);
            }
            Act::Assign { at, value } => {
                let value = self.terms(operation, value);
                self.set(operation, *at, &value);
            }
            Act::AssignElement { at, length, index, value } => {
                let index = self.terms(operation, index);
                self.plain(&index);
                let value = self.terms(operation, value);
                for element in 0..*length {
                    self.set(operation, at + element * value.len(), &value);
                }
            }
            Act::Choose { into, from, to } => {
                for code in [from, to] {
                    let terms = self.terms(operation, code);
                    self.plain(&terms);
                }
                self.set(operation, *into, &[Term::Other]);
            }
            Act::New { of, fields, .. } => {
                let mut at = self.fields[*of];
                for field in fields {
                    for term in self.terms(operation, field) {
                        self.meet(Term::Word(at), term);
                        at += 1;
                    }
                }
            }
            Act::Read { into, from } | Act::LoadLinked { into, from } => {
                let value = self.address(operation, from);
                self.receive(operation, *into, &value);
            }
            Act::Write { to, value } | Act::StoreConditional { to, value, .. } => {
                let place = self.address(operation, to);
                let value = self.terms(operation, value);
                self.meet_all(&place, &value);
            }
            Act::Cas { cells, .. } => {
                for (address, expected, new) in cells {
                    let place = self.address(operation, address);
                    let expected = self.terms(operation, expected);
                    self.compare(&place, &expected);
                    let new = self.terms(operation, new);
                    self.meet_all(&place, &new);
                }
            }
            Act::Swap { into, at, value } => {
                let place = self.address(operation, at);
                let value = self.terms(operation, value);
                self.meet_all(&place, &value);
                self.receive(operation, *into, &place);
            }
            Act::FetchAdd { into, at, value } => {
                let place = self.address(operation, at);
                let value = self.terms(operation, value);
                self.plain(&place);
                self.plain(&value);
                self.receive(operation, *into, &place);
            }
            Act::Lock(at) | Act::Unlock(at) | Act::Flush(at) | Act::Persist(at) => {
                self.address(operation, at);
            }
            Act::Fence => {}
        }
    }

    /// A word of the region.
    fn word(&self, operation: usize, at: usize) -> usize {
        match at.checked_sub(self.layout.locals_at) {
            Some(local) => self.locals[operation] + local,
            None => self.variables + at - VARIABLES,
        }
    }

    fn set(&mut self, operation: usize, at: usize, value: &[Term]) {
        for (offset, term) in value.iter().enumerate() {
            let word = self.word(operation, at + offset);
            self.meet(Term::Word(word), *term);
        }
    }

    fn receive(&mut self, operation: usize, into: Into, value: &[Term]) {
        if into.wrap {
            self.set(operation, into.at, &[Term::Const(1)]);
        }
        self.set(operation, into.at + usize::from(into.wrap), value);
    }

    /// The words that an address may name: with an element, those of all of them.
    fn address(&mut self, operation: usize, address: &Address) -> Vec<Term> {
        let start = match &address.base {
            Base::Shared(at) => *at,
            Base::Object { object, of, at } => {
                self.terms(operation, object);
                self.fields[*of] + at - 1
            }
        };
        let words: Vec<Term> = (start..start + address.width).map(Term::Word).collect();
        if let Some((index, length)) = &address.element {
            let index = self.terms(operation, index);
            self.plain(&index);
            for element in 1..*length {
                for (offset, word) in words.iter().enumerate() {
                    self.meet(*word, Term::Word(start + element * address.width + offset));
                }
            }
        }
        words
    }

    fn terms(&mut self, operation: usize, code: &Code) -> Vec<Term> {
        match &code.op {
            Op::Const(words) => words.iter().map(|word| Term::Const(*word)).collect(),
            Op::Slot(at) => {
                (*at..at + code.width).map(|at| Term::Word(self.word(operation, at))).collect()
            }
            Op::Me => vec![Term::Me],
            Op::Not(inner) => {
                self.terms(operation, inner);
                vec![Term::Other]
            }
            Op::Negate(inner) | Op::NumberOfTid(inner) | Op::TidOfNumber(inner) => {
                let inner = self.terms(operation, inner);
                self.plain(&inner);
                vec![Term::Other]
            }
            Op::And(left, right) | Op::Or(left, right) => {
                self.terms(operation, left);
                self.terms(operation, right);
                vec![Term::Other]
            }
            Op::Arithmetic(_, left, right) | Op::Compare(_, left, right) => {
                for code in [left, right] {
                    let terms = self.terms(operation, code);
                    self.plain(&terms);
                }
                vec![Term::Other]
            }
            Op::Equal { left, right, .. } => {
                let (left, right) = (self.terms(operation, left), self.terms(operation, right));
                self.compare(&left, &right);
                vec![Term::Other]
            }
            Op::Part(of, at) => self.terms(operation, of)[*at..at + code.width].to_vec(),
            Op::Element { of, index, length } => {
                let index = self.terms(operation, index);
                self.plain(&index);
                let all = self.terms(operation, of);
                let mut one: Vec<Term> =
                    (0..code.width).map(|_| Term::Word(self.fresh())).collect();
                for element in 0..*length {
                    let start = element * code.width;
                    self.meet_all(&one, &all[start..start + code.width]);
                }
                one.truncate(code.width);
                one
            }
            Op::List(items) => items.iter().flat_map(|item| self.terms(operation, item)).collect(),
            Op::If(condition, yes, no) => {
                self.terms(operation, condition);
                let (yes, no) = (self.terms(operation, yes), self.terms(operation, no));
                let one: Vec<Term> = yes.iter().map(|_| Term::Word(self.fresh())).collect();
                self.meet_all(&one, &yes);
                self.meet_all(&one, &no);
                one
            }
            Op::Unwrap { of, tagged } => {
                let whole = self.terms(operation, of);
                whole[usize::from(*tagged)..].to_vec()
            }
            Op::Wrap(inner) => {
                let mut terms = vec![Term::Const(1)];
                terms.extend(self.terms(operation, inner));
                terms
            }
        }
    }

    /// A crash gives words constant values, and `recover(t)` answers for operations.
    fn crashes(&mut self, program: &Program, lines: &Lines) {
        for (word, value) in &lines.reset {
            self.meet(Term::Word(*word), Term::Const(*value));
        }
        for (of, words) in lines.blank.iter().enumerate() {
            let start = self.fields[of];
            for (at, value) in words.iter().enumerate() {
                self.meet(Term::Word(start + at), Term::Const(*value));
            }
        }
        for (at, value) in lines.variables.iter().enumerate() {
            self.meet(Term::Word(self.variables + at), Term::Const(*value));
        }
        let Some(resolve) = resolve_at(program) else { return };
        for operation in (0..program.operations.len()).filter(|&at| program.is_resolvable(at)) {
            let width = self.layout.response_kinds[operation].len();
            let answer =
                self.responses[resolve] + self.layout.response_kinds[resolve].len() - width;
            for at in 0..width {
                let response = self.responses[operation] + at;
                self.meet(Term::Word(answer + at), Term::Word(response));
            }
        }
    }

    fn threads_alike(&mut self, program: &Program) -> bool {
        let crosses = program.operations.iter().any(|operation| {
            let mut types = operation.parameters.iter().map(|p| &p.ty).chain([&operation.response]);
            types.any(mentions_tid)
        });
        !crosses
            && self.classes.iter().enumerate().all(|(node, class)| {
                self.parents[node] != node
                    || !(class.tid && (class.plain || class.named || class.other))
            })
    }

    /// The words of parameters and responses that hold integers.
    fn boundary(&self, program: &Program) -> Vec<Boundary> {
        let mut words = Vec::new();
        for (index, operation) in program.operations.iter().enumerate() {
            for (slot, parameter) in self.layout.locals[index].iter().zip(&operation.parameters) {
                let start = self.word(index, slot.at);
                let ranged = parameter.range.is_some() || wraps(&parameter.ty);
                let of = |at: &usize| Boundary { word: start + at, operation: index, ranged };
                words.extend(integers(&parameter.ty).iter().map(of));
            }
            let start = self.responses[index];
            let of = |at: &usize| Boundary { word: start + at, operation: index, ranged: false };
            words.extend(integers(&operation.response).iter().map(of));
        }
        words
    }

    fn values_alike(&mut self, program: &Program) -> bool {
        let boundary = self.boundary(program);
        boundary.into_iter().all(|Boundary { word, ranged, .. }| {
            let class = *self.class(word);
            !ranged && !class.plain && !class.constant && !class.tid
        })
    }

    /// Whether clients pass integers or get some back.
    fn has_data(&self, program: &Program) -> bool {
        !self.boundary(program).is_empty()
    }

    /// What the program does with its clients' integers, if these may be any from 1 on and the
    /// specification does this with them.
    fn data_use(&mut self, program: &Program, of_spec: &DataUse) -> DataUse {
        let mut found = of_spec.clone();
        if matches!(found, DataUse::Other(_)) {
            return found;
        }
        for Boundary { word, operation, ranged } in self.boundary(program) {
            let class = *self.class(word);
            let name = || program.operations[operation].name.clone();
            if ranged {
                return DataUse::Other(NotAlike::Ranged(name()));
            }
            if class.plain || class.tid {
                return DataUse::Other(NotAlike::Computed(name()));
            }
            if class.positive {
                return DataUse::Other(NotAlike::Constant(name()));
            }
            if class.compared {
                found = DataUse::Compared;
            }
        }
        found
    }

    /// Marks every word in a class with an integer that clients see.
    fn mark(mut self, program: &Program, layout: &mut Layout) {
        let boundary = self.boundary(program);
        let roots: Vec<usize> = boundary.into_iter().map(|of| self.find(of.word)).collect();
        let (variables, locals) = (self.variables, self.locals.clone());
        let (responses, fields) = (self.responses.clone(), self.fields.clone());
        let nodes = self.parents.len();
        let data: Vec<bool> = (0..nodes).map(|node| roots.contains(&self.find(node))).collect();
        let set = |start: usize, kinds: &mut Vec<Kind>| {
            for (at, kind) in kinds.iter_mut().enumerate() {
                if data[start + at] && *kind == Kind::Plain {
                    *kind = Kind::Data;
                }
            }
        };
        set(0, &mut layout.shared_kinds);
        set(variables, &mut layout.variable_kinds);
        for (start, kinds) in locals.iter().zip(&mut layout.local_kinds) {
            set(*start, kinds);
        }
        for (start, kinds) in responses.iter().zip(&mut layout.response_kinds) {
            set(*start, kinds);
        }
        for (start, kinds) in fields.iter().zip(&mut layout.field_kinds) {
            set(*start, kinds);
        }
    }
}

fn mentions_tid(ty: &Type) -> bool {
    kinds_of(ty).is_ok_and(|kinds| kinds.contains(&Kind::Tid))
}

/// Whether clients pass other integers for this type than the values that are bounded.
fn wraps(ty: &Type) -> bool {
    match ty {
        Type::Wrapping(_) => true,
        Type::Option(inner) | Type::Array(inner, _) => wraps(inner),
        Type::Record { fields, .. } => fields.iter().any(|(_, ty)| wraps(ty)),
        Type::Tuple(items) => items.iter().any(wraps),
        _ => false,
    }
}

/// The words of a type that hold integers, not truth values or tags.
pub(crate) fn integers(ty: &Type) -> Vec<usize> {
    let mut found = Vec::new();
    collect(ty, &mut 0, &mut found);
    found
}

fn collect(ty: &Type, at: &mut usize, found: &mut Vec<usize>) {
    match ty {
        Type::Int | Type::Wrapping(_) => {
            found.push(*at);
            *at += 1;
        }
        Type::Option(inner) => {
            if crate::layout::tagged(ty) {
                *at += 1;
            }
            collect(inner, at, found);
        }
        Type::Record { fields, .. } => fields.iter().for_each(|(_, ty)| collect(ty, at, found)),
        Type::Tuple(items) => items.iter().for_each(|ty| collect(ty, at, found)),
        Type::Array(item, length) => (0..*length).for_each(|_| collect(item, at, found)),
        other => *at += kinds_of(other).map_or(0, |kinds| kinds.len()),
    }
}
