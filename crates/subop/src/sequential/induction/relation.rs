//! The relation between the states: each word of the specification's state as a function of the
//! shared words.

use super::calls::Calls;
use super::linear::Linear;
use super::symbolic::Location;
use super::{NotShown, Sample, SymbolicSpec, Word};
use crate::execute;
use crate::model::Model;

/// Relations that are looked at.
const MOST_RELATIONS: usize = 48;

/// Functions for one word that are looked at.
const MOST_FUNCTIONS: usize = 4;

/// Shared words beyond this number are not combined.
const MOST_COMBINED: usize = 8;

/// A word of the specification's state as a function of shared words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Function {
    /// What the location holds.
    Same(Location),
    /// The sum of multiples of what the locations hold, all of them integers, and a constant.
    Sum(Vec<(i64, Location)>, i64),
}

impl Function {
    /// Its value for these shared words.
    pub fn symbolic(
        &self,
        word: &mut dyn FnMut(Location) -> Result<Word, NotShown>,
    ) -> Result<Word, NotShown> {
        match self {
            Function::Same(location) => word(*location),
            Function::Sum(parts, constant) => {
                let mut sum = Linear::constant(*constant);
                for (factor, location) in parts {
                    let Word::Int(part) = word(*location)? else {
                        return Err(NotShown::NoRelation);
                    };
                    sum = sum.plus(*factor, &part).ok_or(NotShown::TooManyCases)?;
                }
                Ok(Word::Int(sum))
            }
        }
    }

    /// Its value in a state that was reached.
    fn concrete(&self, calls: &Calls<'_>, shared: &execute::Shared) -> Option<Option<i64>> {
        match self {
            Function::Same(location) => calls.value(shared, *location),
            Function::Sum(parts, constant) => {
                let mut sum = *constant;
                for (factor, location) in parts {
                    let part = calls.value(shared, *location)??;
                    sum = sum.checked_add(part.checked_mul(*factor)?)?;
                }
                Some(Some(sum))
            }
        }
    }

    /// For people.
    pub fn text(&self, model: &Model) -> String {
        let name = |location: &Location| match location {
            Location::Variable(id) => model.globals[id.0].name.clone(),
            Location::Element(id, index) => format!("{}[{index}]", model.globals[id.0].name),
            Location::Field(id, field) => {
                let global = &model.globals[id.0];
                match global.kind {
                    crate::model::GlobalKind::Place(of) => {
                        format!("{}.{}", global.name, model.field(of, *field).name)
                    }
                    _ => global.name.clone(),
                }
            }
        };
        match self {
            Function::Same(location) => name(location),
            Function::Sum(parts, constant) => {
                let mut text: Vec<String> = Vec::new();
                for (factor, location) in parts {
                    let sign = if *factor < 0 { "-" } else { "" };
                    text.push(format!("{sign}{}", name(location)));
                }
                if *constant != 0 || parts.is_empty() {
                    text.push(constant.to_string());
                }
                text.join(" + ")
            }
        }
    }
}

/// The relations that hold at the start and in every sample, the simplest first.
pub fn candidates(
    calls: &Calls<'_>,
    spec: &dyn SymbolicSpec,
    samples: &[Sample],
) -> Result<Vec<Vec<Function>>, NotShown> {
    let states: Option<Vec<Vec<Option<i64>>>> =
        samples.iter().map(|sample| spec.words(&sample.spec)).collect();
    let states = states.ok_or(NotShown::Specification)?;
    let (Some(start), Some(first)) = (states.first(), samples.first()) else {
        return Err(NotShown::NoRelation);
    };
    let locations = calls.locations();
    let mut relations: Vec<Vec<Function>> = vec![Vec::new()];
    for (at, initial) in start.iter().enumerate() {
        let mut functions = functions(calls, &locations, &first.shared, *initial);
        functions.retain(|function| {
            states.iter().zip(samples).all(|(words, sample)| {
                words.get(at).copied() == function.concrete(calls, &sample.shared)
            })
        });
        functions.truncate(MOST_FUNCTIONS);
        relations = relations
            .iter()
            .flat_map(|before| {
                functions.iter().map(move |next| [&before[..], std::slice::from_ref(next)].concat())
            })
            .take(MOST_RELATIONS)
            .collect();
    }
    Ok(relations)
}

/// The functions that a word may be which starts with this value.
fn functions(
    calls: &Calls<'_>,
    locations: &[Location],
    start: &execute::Shared,
    initial: Option<i64>,
) -> Vec<Function> {
    let mut found: Vec<Function> = locations.iter().copied().map(Function::Same).collect();
    let Some(initial) = initial else { return found };
    let mut sums: Vec<Vec<(i64, Location)>> = Vec::new();
    for factor in [1, -1] {
        sums.extend(locations.iter().map(|location| vec![(factor, *location)]));
    }
    let few = &locations[..locations.len().min(MOST_COMBINED)];
    for (at, one) in few.iter().enumerate() {
        sums.extend(few[at + 1..].iter().map(|other| vec![(1, *one), (1, *other)]));
    }
    sums.push(locations.iter().map(|location| (1, *location)).collect());
    sums.push(Vec::new());
    for parts in sums {
        let zero = Function::Sum(parts.clone(), 0);
        if let Some(Some(value)) = zero.concrete(calls, start)
            && let Some(constant) = initial.checked_sub(value)
        {
            found.push(Function::Sum(parts, constant));
        }
    }
    found
}
