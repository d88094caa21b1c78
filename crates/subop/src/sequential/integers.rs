//! The integers that sequential executions are tried with: what code and specification mention,
//! what lies beside it, and what makes a comparison of a sum, a product or a quotient true.

use crate::model::{Index, LocalId, Model, Place, SpecResponse, SpecTerm, Statement, Term, Var};
use std::collections::BTreeSet;

/// More integers than this are not tried.
const MOST: usize = 96;

/// Of one operation, no more constants than this are combined with each other.
const MOST_COMBINED: usize = 8;

/// A value far from all others that leaves room for sums and for a few products.
const FAR: i64 = 1 << 32;

/// What an operation or a specification does with integers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constants {
    /// The integers that it mentions.
    pub values: BTreeSet<i64>,
    /// Whether it adds or subtracts.
    pub adds: bool,
    /// Whether it multiplies, divides or takes remainders.
    pub multiplies: bool,
}

/// The integers that are tried, in sets of growing size, each sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Integers {
    /// From 1 up to the bound on values: for long executions.
    pub few: Vec<i64>,
    /// Those, 0, a negative one and the constants.
    pub some: Vec<i64>,
    /// Those, and what lies beside the constants or follows from them, and extremes.
    pub all: Vec<i64>,
}

/// Chooses the integers for code and specification, each operation's constants apart.
pub(super) fn choose(parts: &[Constants], values: i64) -> Integers {
    let few: Vec<i64> = (1..=values.max(1)).collect();
    let mut chosen = Chosen { order: Vec::new() };
    chosen.extend(few.iter().copied());
    chosen.extend([0, -1]);
    chosen.extend(parts.iter().flat_map(|part| part.values.iter().copied()));
    let some = chosen.sorted(few.len().saturating_add(MOST / 2));
    for value in parts.iter().flat_map(|part| &part.values) {
        chosen.extend(beside(*value));
    }
    // The least and the greatest integer, unless adding to them would overflow.
    let (adds, multiplies) =
        (parts.iter().any(|part| part.adds), parts.iter().any(|part| part.multiplies));
    if !adds && !multiplies {
        chosen.extend([i64::MIN, i64::MAX]);
    } else if !multiplies {
        chosen.extend([-FAR, FAR]);
    }
    parts.iter().for_each(|part| chosen.extend(combined(part)));
    Integers { few: few.clone(), some, all: chosen.sorted(few.len().saturating_add(MOST)) }
}

/// Integers in the order of their importance, each once.
struct Chosen {
    order: Vec<i64>,
}

impl Chosen {
    fn extend(&mut self, values: impl IntoIterator<Item = i64>) {
        for value in values {
            if !self.order.contains(&value) {
                self.order.push(value);
            }
        }
    }

    fn sorted(&self, most: usize) -> Vec<i64> {
        let mut values: Vec<i64> = self.order.iter().copied().take(most).collect();
        values.sort_unstable();
        values
    }
}

/// What lies beside an integer.
fn beside(value: i64) -> impl Iterator<Item = i64> {
    [value.checked_sub(1), value.checked_add(1)].into_iter().flatten()
}

/// The values that make simple comparisons of a sum, a product or a quotient true or just false: 15
/// to 17 for `v / 3 == 5`.
fn combined(part: &Constants) -> Vec<i64> {
    if !part.adds && !part.multiplies {
        return Vec::new();
    }
    let mut found: Vec<Option<i64>> = Vec::new();
    let constants: Vec<i64> = part.values.iter().copied().take(MOST_COMBINED).collect();
    for &one in &constants {
        for &other in &constants {
            found.extend([one.checked_add(other), one.checked_sub(other)]);
            if part.multiplies && other != 0 {
                let product = one.checked_mul(other);
                let rest = other.saturating_abs() - 1;
                found.push(product);
                found.push(product.and_then(|product| product.checked_add(rest)));
                found.push(product.and_then(|product| product.checked_sub(rest)));
                found.push(one.checked_div(other));
            }
        }
    }
    let found: BTreeSet<i64> = found.into_iter().flatten().collect();
    found.iter().copied().chain(found.iter().flat_map(|value| beside(*value))).collect()
}

/// The constants of the operations of a model, of its start, and of the specification that it
/// names.
pub(super) fn of_model(model: &Model) -> Vec<Constants> {
    let mut all = Vec::new();
    for operation in &model.operations {
        let mut part = Constants::default();
        for step in &operation.sub_operations {
            for atom in step.precondition.atoms() {
                part.see_term(atom.left);
                part.see_term(atom.right);
            }
            step.body.iter().for_each(|statement| part.see_statement(statement));
            step.result.iter().flatten().for_each(|term| part.see_term(*term));
        }
        all.push(part);
    }
    let mut start = Constants::default();
    model.initially.fills.iter().for_each(|(_, term)| start.see_term(*term));
    model.initially.statements.iter().for_each(|statement| start.see_statement(statement));
    if let Some(mapping) = &model.spec {
        start.adds |= mapping.name == "counter";
        mapping.initial.iter().for_each(|term| start.see_spec_term(term));
        for line in &mapping.lines {
            line.arguments.iter().for_each(|term| start.see_spec_term(term));
            if let SpecResponse::Always(terms) | SpecResponse::Whether(terms) = &line.response {
                terms.iter().for_each(|term| start.see_spec_term(term));
            }
        }
    }
    all.push(start);
    all
}

/// For each operation and each argument, the integers that it is compared with.
pub(super) fn compared(model: &Model) -> Vec<Vec<BTreeSet<i64>>> {
    let mut all = Vec::new();
    for operation in &model.operations {
        let mut found = vec![BTreeSet::new(); operation.arguments];
        let steps = operation.sub_operations.iter();
        for atom in steps.flat_map(|step| step.precondition.atoms()) {
            for sides in [(atom.left, atom.right), (atom.right, atom.left)] {
                if let (Term::Place(Place::Variable(Var::Local(LocalId(at)))), Term::Int(value)) =
                    sides
                    && let Some(found) = found.get_mut(at)
                {
                    found.insert(value);
                }
            }
        }
        all.push(found);
    }
    all
}

impl Constants {
    fn see_term(&mut self, term: Term) {
        match term {
            Term::Int(value) => {
                self.values.insert(value);
            }
            Term::Plus(place, more) => {
                self.values.insert(more);
                self.adds = true;
                self.see_place(place);
            }
            Term::Place(place) => self.see_place(place),
            Term::Null | Term::Id => {}
        }
    }

    fn see_place(&mut self, place: Place) {
        match place {
            Place::Element(_, Index::Int(value)) => {
                self.values.insert(value);
            }
            Place::Element(_, Index::Plus(_, more)) => {
                self.values.insert(more);
                self.adds = true;
            }
            Place::Element(_, Index::Variable(_)) | Place::Variable(_) | Place::Field(..) => {}
        }
    }

    fn see_statement(&mut self, statement: &Statement) {
        match *statement {
            Statement::Assign { place, value, .. } => {
                self.see_place(place);
                self.see_term(value);
            }
            Statement::Read { place, .. } => self.see_place(place),
            Statement::Malloc { .. } | Statement::Free { .. } => {}
        }
    }

    fn see_spec_term(&mut self, term: &SpecTerm) {
        if let SpecTerm::Int(value) = term {
            self.values.insert(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constants(values: &[i64], adds: bool, multiplies: bool) -> Constants {
        Constants { values: values.iter().copied().collect(), adds, multiplies }
    }

    #[test]
    fn constants_come_with_their_neighbours() {
        let integers = choose(&[constants(&[100], false, false)], 2);
        assert_eq!(integers.few, [1, 2]);
        assert_eq!(integers.some, [-1, 0, 1, 2, 100]);
        assert_eq!(integers.all, [i64::MIN, -1, 0, 1, 2, 99, 100, 101, i64::MAX]);
    }

    #[test]
    fn quotients_are_solved() {
        let all = choose(&[constants(&[3, 5], false, true)], 1).all;
        assert!((14..=18).all(|value| all.contains(&value)), "{all:?}");
        assert!(!all.contains(&i64::MAX));
    }

    #[test]
    fn sums_leave_room() {
        let all = choose(&[constants(&[3, 50], true, false)], 1).all;
        assert!(all.contains(&47) && all.contains(&FAR) && !all.contains(&i64::MAX), "{all:?}");
    }
}
