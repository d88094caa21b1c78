//! What is known of a condition, for people: as an entry of the roadmap, with the refuting state
//! drawn.

use super::claim::{Claim, Judgement, Refutation, Verdict};
use super::{Answer, At, CheckedCondition, Stated, SuggestedCondition};
use crate::outcome::{Ending, Words};
use crate::picture::{LocalValue, picture};
use crate::roadmap::source_line;
use linchpin_engine::{Origin, Status, StepCondition, Witness};
use linchpin_ir::print::Names;
use linchpin_ir::program::{Expr, Formula, LocalId, Operation, Program, Type};
use linchpin_space::Space;
use linchpin_spec::Value;

/// A formula of an operation in the language of models.
pub fn text(program: &Program, operation: usize, formula: &Formula) -> String {
    names(program, operation).formula(formula)
}

fn names(program: &Program, operation: usize) -> Names<'_> {
    Names { program, body: &program.operations[operation].body }
}

impl CheckedCondition {
    /// The condition as the roadmap of this source has it: what is known from the explored states.
    pub fn to_roadmap(&self, space: &Space, source: &str) -> StepCondition {
        let step = match self.stated.returns {
            Some(_) => self.stated.step.clone(),
            None => source_line(source, self.stated.line),
        };
        StepCondition {
            line: self.stated.line,
            step,
            condition: self.text.clone(),
            origin: Origin::Stated,
            status: status(
                space,
                &self.stated.claim,
                self.stated.line,
                &self.explored,
                Known::Explored,
            ),
            exact: self.explored.exact,
        }
    }

    /// A well-formed state that refutes the condition where no explored one does.
    pub fn refuted_beyond(&self, space: &Space) -> Option<Witness> {
        let further = self.well_formed.as_ref()?;
        match (&self.explored.verdict, &further.verdict) {
            (Verdict::Refuted(_), _) => None,
            (_, Verdict::Refuted(of)) => {
                let Stated { claim, line, .. } = &self.stated;
                Some(witness(space, claim, *line, of, Known::WellFormed))
            }
            _ => None,
        }
    }
}

impl SuggestedCondition {
    /// The condition as the roadmap of this source has it: what is known from the explored states;
    /// none if none was found.
    pub fn to_roadmap(&self, space: &Space, source: &str) -> Option<StepCondition> {
        let found = self.found.as_ref().ok()?;
        let step = self.step.clone().unwrap_or_else(|| source_line(source, self.line));
        Some(StepCondition {
            line: self.line,
            step,
            condition: found.text.clone(),
            origin: Origin::Suggested,
            status: status(space, &found.claim, self.line, &found.explored, Known::Explored),
            exact: found.explored.exact,
        })
    }
}

/// A return with what it answers, where steps are told apart by that; none where what it returns
/// has no name.
pub(super) fn return_text(
    space: &Space,
    operation: usize,
    value: &Expr,
    at: &At,
) -> Option<String> {
    let program = space.program();
    let response = &program.operations[operation].response;
    let names = names(program, operation);
    Some(match (at, response) {
        (At::Return(_, Answer::Truth(answer)), _) => format!("return {answer}"),
        (At::Return(_, Answer::Nothing), Type::Option(_)) => "return none".to_owned(),
        (At::Return(_, Answer::Nothing), _) => "return null".to_owned(),
        _ => {
            let mut is_named = true;
            value.walk(&mut |part| {
                if let Expr::Local(local) = part {
                    is_named &= !names.is_temporary(*local);
                }
            });
            return is_named.then(|| names.returned(value, response));
        }
    })
}

/// Where a state comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// An execution within the bounds reaches it.
    Explored,
    /// It is well-formed; no execution within the bounds reaches it.
    WellFormed,
}

/// What is known of a condition.
pub(super) fn status(
    space: &Space,
    claim: &Claim,
    line: u32,
    judgement: &Judgement,
    known: Known,
) -> Status {
    match &judgement.verdict {
        Verdict::Holds { cases } => Status::Explored { cases: *cases },
        Verdict::Refuted(refutation) => {
            Status::Refuted(Box::new(witness(space, claim, line, refutation, known)))
        }
        Verdict::NeverMet => Status::NeverMet,
        Verdict::NotChecked(why) => Status::NotChecked { why: why.to_string() },
    }
}

fn witness(
    space: &Space,
    claim: &Claim,
    line: u32,
    refutation: &Refutation,
    known: Known,
) -> Witness {
    let program = space.program();
    let operation = &program.operations[claim.operation];
    let Refutation { state, call, locals, instead, ending } = refutation;
    let local = |local: LocalId, words: &Words| LocalValue {
        name: operation.body.locals[local.0 as usize].name.clone(),
        ty: operation.body.locals[local.0 as usize].ty.clone(),
        words: words.to_vec(),
    };
    let shown: Vec<LocalValue> = locals.iter().map(|(id, words)| local(*id, words)).collect();
    let name = call_text(space, operation, claim.operation, &call.arguments);
    let ended = ending_text(space, claim.operation, ending);
    let reached = match instead {
        Some(_) => format!("reaches line {line} with other values of its locals and {ended}"),
        None => format!("{ended} and never comes to line {line}"),
    };
    let whence = match known {
        Known::Explored => "The condition holds in this state, which an execution reaches",
        Known::WellFormed => {
            "The condition holds in this state, which is well-formed although no execution within \
             the bounds reaches it"
        }
    };
    let text = format!("{whence}; but from it `{name}` alone {reached}.");
    let mut states = vec![picture(
        space,
        state,
        format!("the condition of line {line} holds here for `{name}`"),
        &shown,
    )];
    if let Some(values) = instead {
        let other = locals.iter().zip(values).map(|((id, _), words)| local(*id, words));
        let other: Vec<LocalValue> = other.collect();
        let caption = format!("what `{name}` has at line {line}");
        states.push(picture(space, state, caption, &other));
    }
    Witness { text, states, run: None }
}

fn call_text(space: &Space, operation: &Operation, at: usize, arguments: &[i64]) -> String {
    let names = names(space.program(), at);
    let values = space.arguments(at, arguments);
    let types = operation.parameters.iter().map(|parameter| &parameter.ty);
    let shown: Vec<String> =
        values.iter().zip(types).map(|(value, ty)| names.value(value, ty)).collect();
    format!("{}({})", operation.name, shown.join(", "))
}

fn ending_text(space: &Space, operation: usize, ending: &Ending) -> String {
    match ending {
        Ending::Returns(words) => {
            let response = space.response_type(operation);
            match (response, space.response(operation, words)) {
                (Type::Unit, Value::Null) => "returns".to_owned(),
                (ty, value) => {
                    format!("returns {}", names(space.program(), operation).value(&value, ty))
                }
            }
        }
        Ending::Blocks => "blocks".to_owned(),
        Ending::Fails => "fails".to_owned(),
        Ending::Endless => "never ends".to_owned(),
    }
}
