//! Which integers can be compared with which: a *sort* is a class of variables between which values are copied or compared.
//!
//! Nothing relates integers of different sorts, so whether a key equals a mark is no question: of each sort only the equality and
//! order patterns among its own values are tried, with the constants that its values are compared with. What can be done to the values of a
//! sort says how fine the patterns must be: ordered, only if some condition orders them; near others, as far as steps can count.

use linchpin_subop::Model;
use linchpin_subop::model::{Condition, Index, Place, Relation, Statement, Term, Type, Var};
use std::collections::BTreeMap;

use super::proof::{Closure, Path};

/// A variable of the model, all objects and elements taken together. Locals: the operation and the local.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    Global(usize),
    Field(usize, usize),
    Local(usize, usize),
    /// What elements of an array are found by.
    Index(usize),
}

/// What is needed to know of one sort.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sort {
    /// The numbers that its values are compared with or set to.
    pub constants: Vec<i64>,
    /// Whether its values are compared by order.
    pub ordered: bool,
    /// Whether `ID` is among its values.
    pub identities: bool,
    /// How far apart two values may be and still become equal, or change their order, by counting.
    pub reach: i64,
}

/// Further than anything can be counted.
const FAR: i64 = 1 << 44;
/// Gaps up to so wide are filled with all the numbers in them.
const NARROW: i64 = 32;
/// More different values are not told apart: the gaps between them would become too narrow.
const MOST_VALUES: usize = 20;

/// `ID` of an instance: no constant, and no number that is tried for something else.
pub fn identity(who: usize) -> i64 {
    (1 << 60) + ((who as i64) << 54)
}

impl Sort {
    /// Numbers enough for one more variable, where those in `known` are what others hold: with them every pattern of equality, of order (if
    /// that matters) and of distances (as far as they matter) comes up. `None` if that cannot be said.
    pub fn options(&self, known: impl Iterator<Item = i64>) -> Option<Vec<i64>> {
        if self.identities && (self.ordered || self.reach > 0) {
            return None; // which of two identities is larger, and how near they are, is not known
        }
        let mut known: Vec<i64> = known.chain(self.constants.iter().copied()).collect();
        if self.identities {
            known.extend((0..2).map(identity));
        }
        known.sort();
        known.dedup();
        let (Some(least), Some(greatest)) = (known.first(), known.last()) else {
            return Some(vec![0]);
        };
        if known.len() > MOST_VALUES || self.reach > NARROW {
            return None;
        }
        let mut options: Vec<i64> =
            known.iter().flat_map(|value| value - self.reach..=value + self.reach).collect();
        options.push(greatest + FAR);
        if self.ordered {
            options.push(least - FAR);
            for pair in known.windows(2) {
                let (from, to) = (pair[0], pair[1]);
                if to - from <= NARROW {
                    options.extend(from + 1..to);
                } else if to - from > 4 * (self.reach + 1) {
                    options.push(from + (to - from) / 2);
                } else {
                    return None;
                }
            }
        }
        options.sort();
        options.dedup();
        Some(options)
    }
}

/// The sorts of a model and of what is said about it.
#[derive(Clone, Debug, Default)]
pub struct Sorts {
    class: BTreeMap<Holder, Holder>,
    sorts: BTreeMap<Holder, Sort>,
}

impl Sorts {
    /// The sorts of the steps of `model`, of what is said of paths, of invariants, and of alias cases.
    pub fn of(
        model: &Model,
        paths: &[Path],
        invariants: &[Condition],
        closures: &[Closure],
    ) -> Sorts {
        let mut said: Vec<(usize, &Condition)> =
            invariants.iter().map(|condition| (usize::MAX, condition)).collect();
        for path in paths {
            let conditions = path.facts.iter().chain(&path.live);
            said.extend(conditions.map(|condition| (path.operation, condition)));
        }
        for closure in closures {
            let operation = paths[closure.path].operation;
            said.extend(closure.lasting.iter().map(|condition| (operation, condition)));
        }
        let mut sorts = Sorts::default();
        // Twice: first who belongs together, then what is said of each class.
        for _ in 0..2 {
            sorts.sorts.clear();
            sorts.steps(model);
            for (operation, condition) in &said {
                sorts.condition(*operation, condition);
            }
            for path in paths {
                for place in path.reaches.iter().flat_map(|(_, places)| places) {
                    sorts.place(path.operation, place);
                }
            }
            closures.iter().for_each(|closure| sorts.cases(paths, closure));
        }
        sorts.count(model, paths, &said);
        sorts
    }

    /// The class that a variable belongs to.
    pub fn class(&self, holder: Holder) -> Holder {
        let mut at = holder;
        while let Some(next) = self.class.get(&at) {
            at = *next;
        }
        at
    }

    /// What is known of a class.
    pub fn sort(&self, class: Holder) -> &Sort {
        static NOTHING: Sort =
            Sort { constants: Vec::new(), ordered: false, identities: false, reach: 0 };
        self.sorts.get(&class).unwrap_or(&NOTHING)
    }

    fn known(&mut self, holder: Holder) -> &mut Sort {
        let class = self.class(holder);
        self.sorts.entry(class).or_default()
    }

    fn join(&mut self, one: Holder, other: Holder) {
        let (one, other) = (self.class(one), self.class(other));
        if one != other {
            self.class.insert(one, other);
        }
    }

    fn cases(&mut self, paths: &[Path], closure: &Closure) {
        let mine = paths[closure.path].operation;
        for member in &closure.members {
            let theirs = paths[member.block.path].operation;
            for (one, other, _) in member.cases.iter().flatten().flatten() {
                self.join(Holder::Local(mine, *one), Holder::Local(theirs, *other));
            }
        }
    }

    fn steps(&mut self, model: &Model) {
        for (operation, body) in model.operations.iter().enumerate() {
            for step in &body.sub_operations {
                self.condition(operation, &step.precondition);
                for (at, statement) in step.body.iter().enumerate() {
                    match statement {
                        Statement::Assign { place, value, .. } => {
                            self.place(operation, place);
                            self.related(operation, holder(operation, place), value);
                        }
                        Statement::Read { place, .. } => self.place(operation, place),
                        Statement::Malloc { var, of, .. } => {
                            for (field, variable) in model.structs[of.0].fields.iter().enumerate() {
                                let rest = &step.body[at + 1..];
                                if variable.ty == Type::Int && !set_at_once(rest, *var, of.0, field)
                                {
                                    self.known(Holder::Field(of.0, field)).constants.push(0);
                                }
                            }
                        }
                        Statement::Free { .. } => {}
                    }
                }
                for term in step.result.iter().flatten() {
                    self.term(operation, term);
                }
            }
        }
    }

    fn condition(&mut self, operation: usize, condition: &Condition) {
        for atom in condition.atoms() {
            self.term(operation, &atom.left);
            self.term(operation, &atom.right);
            let ordered = !matches!(atom.relation, Relation::Equal | Relation::NotEqual);
            for (term, other) in [(&atom.left, &atom.right), (&atom.right, &atom.left)] {
                if let Term::Place(place) | Term::Plus(place, _) = term {
                    let holder = holder(operation, place);
                    self.related(operation, holder, other);
                    self.known(holder).ordered |= ordered;
                }
            }
        }
    }

    /// The holder gets, or is compared with, what the term says.
    fn related(&mut self, operation: usize, to: Holder, term: &Term) {
        match term {
            Term::Int(value) => self.known(to).constants.push(*value),
            Term::Null => {}
            Term::Id => self.known(to).identities = true,
            Term::Place(place) | Term::Plus(place, _) => {
                self.place(operation, place);
                self.join(to, holder(operation, place));
            }
        }
    }

    fn term(&mut self, operation: usize, term: &Term) {
        if let Term::Place(place) | Term::Plus(place, _) = term {
            self.place(operation, place);
        }
    }

    /// What an element is found by.
    fn place(&mut self, operation: usize, place: &Place) {
        let Place::Element(array, index) = place else { return };
        let found_by = Holder::Index(array.0);
        match index {
            Index::Int(at) => self.known(found_by).constants.push(*at),
            Index::Variable(var) | Index::Plus(var, _) => {
                self.join(found_by, holder(operation, &Place::Variable(*var)));
            }
        }
    }

    /// How far values can be counted: by all that two instances can add on their longest ways, and by what one comparison adds.
    fn count(&mut self, model: &Model, paths: &[Path], said: &[(usize, &Condition)]) {
        let mut by_steps: BTreeMap<Holder, i64> = BTreeMap::new();
        for path in paths {
            let steps = &model.operations[path.operation].sub_operations;
            let all = path.steps.iter().flat_map(|at| terms(&steps[*at]));
            for (class, added) in self.added(path.operation, all) {
                let most = by_steps.entry(class).or_default();
                *most = added.max(*most);
            }
        }
        let mut by_comparison: BTreeMap<Holder, i64> = BTreeMap::new();
        for (operation, condition) in said {
            for atom in condition.atoms() {
                for (class, added) in self.added(*operation, [atom.left, atom.right]) {
                    let most = by_comparison.entry(class).or_default();
                    *most = added.max(*most);
                }
            }
        }
        for (class, sort) in &mut self.sorts {
            let get = |all: &BTreeMap<Holder, i64>| all.get(class).copied().unwrap_or(0);
            sort.reach = 2 * get(&by_steps) + get(&by_comparison);
            sort.constants.sort();
            sort.constants.dedup();
        }
    }

    /// By how much the terms together are off the values of each class.
    fn added(
        &self,
        operation: usize,
        terms: impl IntoIterator<Item = Term>,
    ) -> BTreeMap<Holder, i64> {
        let mut added = BTreeMap::new();
        for term in terms {
            let (Term::Place(place) | Term::Plus(place, _)) = &term else { continue };
            if let Term::Plus(_, offset) = &term {
                *added.entry(self.class(holder(operation, place))).or_default() += offset.abs();
            }
            if let Place::Element(array, Index::Plus(_, offset)) = place {
                *added.entry(self.class(Holder::Index(array.0))).or_default() += offset.abs();
            }
        }
        added
    }
}

/// Whether the zero in a field of a new object is overwritten before anybody can look at it.
fn set_at_once(rest: &[Statement], var: Var, of: usize, field: usize) -> bool {
    for statement in rest {
        match statement {
            Statement::Assign { place: Place::Field(base, _, at), value, .. } => {
                if *base == var && at.0 == field {
                    return !mentions(value, of, field);
                }
                if mentions(value, of, field) {
                    return false;
                }
            }
            _ => return false,
        }
    }
    false
}

fn mentions(term: &Term, of: usize, field: usize) -> bool {
    matches!(term, Term::Place(Place::Field(_, s, f)) | Term::Plus(Place::Field(_, s, f), _)
        if s.0 == of && f.0 == field)
}

/// All terms of a step.
fn terms(step: &linchpin_subop::model::SubOperation) -> Vec<Term> {
    let atoms = step.precondition.atoms();
    let mut found: Vec<Term> = atoms.iter().flat_map(|atom| [atom.left, atom.right]).collect();
    for statement in &step.body {
        match statement {
            Statement::Assign { place, value, .. } => found.extend([Term::Place(*place), *value]),
            Statement::Read { place, .. } => found.push(Term::Place(*place)),
            _ => {}
        }
    }
    found.extend(step.result.iter().flatten());
    found
}

/// The variable that a place belongs to.
pub fn holder(operation: usize, place: &Place) -> Holder {
    match place {
        Place::Variable(Var::Global(global)) | Place::Element(global, _) => {
            Holder::Global(global.0)
        }
        Place::Variable(Var::Local(local) | Var::Peer(local)) => Holder::Local(operation, local.0),
        Place::Variable(Var::Bound(at)) => Holder::Local(usize::MAX, *at),
        Place::Field(_, of, field) => Holder::Field(of.0, field.0),
    }
}
