//! Constraints `body => head` on structures, and those that follow from a definition.

use crate::formula::{Atom, Footprint, Formula, Literal, Variable};
use crate::{Predicate, Truth};

/// How many clauses the normal form of a definition may have.
const MOST_CLAUSES: usize = 16;

/// `body => head`, for all values of the variables.
#[derive(Clone, Debug)]
pub struct Constraint {
    pub(crate) body: Formula,
    pub(crate) head: Literal,
    /// The variables of body and head.
    pub(crate) variables: Vec<Variable>,
    /// What it reads, the head included.
    pub(crate) footprint: Footprint,
}

impl Constraint {
    /// `body => head`.
    #[must_use]
    pub fn new(body: Formula, head: Literal) -> Self {
        let variables = body.clone().and(Formula::from(head)).variables();
        let mut footprint = body.footprint();
        footprint.extend(Formula::Atom(head.atom).footprint());
        // A head `p(v, v)` can be enforced once the individual is no summary any more.
        if matches!(head.atom, Atom::Binary(_, v, w) if v == w) {
            footprint.insert_summary();
        }
        Self { body, head, variables, footprint }
    }
}

/// What follows from a definition `p(v) <=> ∃ū.φ` or `p(v) <=> ∀ū.φ` with a φ without quantifiers:
/// from the stored value of `p`, literals of φ (the closure of constraints of SRW).
///
/// The other direction, from φ to `p`, needs no constraint: coerce evaluates the definition.
pub(crate) fn consequences(predicate: Predicate, definition: &Formula) -> Vec<Constraint> {
    let (mut exists, mut forall, mut matrix) = (false, false, definition);
    loop {
        matrix = match matrix {
            Formula::Exists(_, body) => {
                exists = true;
                body
            }
            Formula::Forall(_, body) => {
                forall = true;
                body
            }
            _ => break,
        };
    }
    let atom = match predicate {
        Predicate::Nullary(p) => Atom::Nullary(p),
        Predicate::Unary(p) => Atom::Unary(p, Variable::V),
        Predicate::Binary(p) => Atom::Binary(p, Variable::V, Variable::W),
    };
    let mut found = Vec::new();
    for holds in [true, false] {
        // ∃ says nothing of one individual when it holds, ∀ when it does not. A bound variable that
        // hides an argument does no harm: the two are then the same individual, which is one case.
        if holds && exists || !holds && forall {
            continue;
        }
        for clause in clauses(matrix, holds).unwrap_or_default() {
            found.extend(from_clause(atom.literal(holds), &clause));
        }
    }
    found
}

/// An atom or closure, and whether it is said to hold.
type Signed = (Formula, bool);

/// `given` implies the disjunction of `clause`: where all but one are false, the last one holds.
fn from_clause(given: Literal, clause: &[Signed]) -> impl Iterator<Item = Constraint> {
    clause.iter().enumerate().filter_map(move |(i, (head, holds))| {
        let Formula::Atom(head) = head else { return None };
        let mut body = vec![Formula::from(given)];
        for (j, (other, holds)) in clause.iter().enumerate() {
            if i != j {
                body.push(if *holds { other.clone().negated() } else { other.clone() });
            }
        }
        Some(Constraint::new(Formula::And(body), head.literal(*holds)))
    })
}

/// The conjunctive normal form of `formula`, or of its negation; `None` if it has quantifiers or is
/// too long.
fn clauses(formula: &Formula, holds: bool) -> Option<Vec<Vec<Signed>>> {
    let found = match formula {
        Formula::Constant(Truth::Half) | Formula::Exists(..) | Formula::Forall(..) => return None,
        Formula::Constant(value) if *value == Truth::from(holds) => Vec::new(),
        Formula::Constant(_) => vec![Vec::new()],
        Formula::Atom(_) | Formula::Closure(..) => vec![vec![(formula.clone(), holds)]],
        Formula::Not(inner) => return clauses(inner, !holds),
        Formula::And(parts) if holds => concatenated(parts, holds)?,
        Formula::Or(parts) if !holds => concatenated(parts, holds)?,
        Formula::And(parts) | Formula::Or(parts) => {
            let mut all = vec![Vec::new()];
            for part in parts {
                let choices = clauses(part, holds)?;
                all = all
                    .iter()
                    .flat_map(|left| choices.iter().map(|right| [&left[..], right].concat()))
                    .collect();
                if all.len() > MOST_CLAUSES {
                    return None;
                }
            }
            all
        }
    };
    (found.len() <= MOST_CLAUSES).then_some(found)
}

fn concatenated(parts: &[Formula], holds: bool) -> Option<Vec<Vec<Signed>>> {
    let parts: Option<Vec<_>> = parts.iter().map(|part| clauses(part, holds)).collect();
    Some(parts?.concat())
}
