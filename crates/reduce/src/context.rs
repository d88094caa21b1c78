//! What every question about a model needs: its prefixes, which variables hold what, and the facts
//! found so far.

use std::cell::Cell;

use linchpin_subop::model::{
    Condition, FieldId, GlobalId, GlobalKind, Index, Model, Place, Statement, Term, Type, Var,
};

use linchpin_verdict::{Limits, StopReason};

use crate::Options;
use crate::facts::Facts;
use crate::footprint::{Footprint, Kind};
use crate::nature::Natures;
use crate::prefix::{Prefixes, TooManyPrefixes};

/// The limits are asked once in so many cases.
const ASK_EVERY: usize = 32;

#[derive(Debug)]
pub struct Context<'m> {
    pub model: &'m Model,
    pub prefixes: Prefixes<'m>,
    pub natures: Natures,
    pub facts: Facts,
    pub constants: Vec<i64>,
    pub uses_identity: bool,
    /// Whether integers are added to or ordered.
    pub uses_order: bool,
    /// How many cases a question may have.
    pub most_cases: usize,
    /// How many all questions may have together.
    pub most_in_total: usize,
    cases: Cell<usize>,
    limits: Limits,
    /// What stopped the work: then no question is answered any more.
    stopped: Cell<Option<StopReason>>,
    footprints: Vec<Footprint>,
}

impl<'m> Context<'m> {
    pub fn new(model: &'m Model, options: &Options) -> Result<Context<'m>, TooManyPrefixes> {
        let prefixes = Prefixes::of(model)?;
        let footprints = (0..prefixes.all.len())
            .map(|prefix| match (prefixes.all[prefix].parent, prefixes.last(prefix)) {
                (Some(parent), Some(step)) => prefixes.step_footprint(parent, step),
                _ => Footprint::default(),
            })
            .collect();
        let mut survey = Survey::default();
        survey.model(model);
        survey.constants.sort();
        survey.constants.dedup();
        Ok(Context {
            model,
            natures: Natures::of(model),
            facts: Facts::none(prefixes.all.len()),
            prefixes,
            constants: survey.constants,
            uses_identity: survey.identity,
            uses_order: survey.order,
            most_cases: options.most_cases,
            most_in_total: options.most_in_total,
            cases: Cell::new(0),
            limits: options.limits.clone(),
            stopped: Cell::new(None),
            footprints,
        })
    }

    /// Counts a case; false if there were too many altogether, or something asks to stop.
    pub fn count_case(&self) -> bool {
        let cases = self.cases.get();
        self.cases.set(cases + 1);
        if cases.is_multiple_of(ASK_EVERY) && self.stopped.get().is_none() {
            // Little is kept from one question to the next, so memory is not what ends this.
            self.stopped.set(self.limits.exceeded(0));
        }
        self.stopped.get().is_none() && cases < self.most_in_total
    }

    /// What stopped the work, if something did.
    pub fn stopped(&self) -> Option<StopReason> {
        self.stopped.get()
    }

    /// How many cases were looked at.
    pub fn cases(&self) -> usize {
        self.cases.get()
    }

    /// The type of what such a location holds; none for a structure in place.
    pub fn type_of(&self, kind: Kind) -> Option<Type> {
        match kind {
            Kind::Global(global) => match self.model.globals[global.0].kind {
                GlobalKind::Scalar(ty) => Some(ty),
                GlobalKind::Place(_) | GlobalKind::Array(_) => None,
            },
            Kind::Array(global) => match self.model.globals[global.0].kind {
                GlobalKind::Array(ty) => Some(ty),
                _ => None,
            },
            Kind::Field(of, field) => Some(self.model.field(of, field).ty),
            Kind::Published(_) => None,
        }
    }

    /// The shared variables that operations name, fields of structures in place included.
    pub fn shared_variables(&self) -> Vec<(Place, Type)> {
        let mut found = Vec::new();
        for (at, global) in self.model.globals.iter().enumerate() {
            let var = Var::Global(GlobalId(at));
            match global.kind {
                GlobalKind::Scalar(ty) => found.push((Place::Variable(var), ty)),
                GlobalKind::Place(of) => {
                    for (field, variable) in self.model.structs[of.0].fields.iter().enumerate() {
                        found.push((Place::Field(var, of, FieldId(field)), variable.ty));
                    }
                }
                GlobalKind::Array(_) => {}
            }
        }
        found.retain(|(place, _)| {
            let mut named = Footprint::default();
            named.place(place);
            let uses = |kinds: &[Kind]| named.reads.iter().all(|kind| kinds.contains(kind));
            self.prefixes.all.iter().any(|prefix| {
                let both: Vec<Kind> = prefix
                    .footprint
                    .reads
                    .iter()
                    .chain(&prefix.footprint.writes)
                    .copied()
                    .collect();
                uses(&both)
            })
        });
        found
    }

    /// What the last step of a prefix reads and writes.
    pub fn step_footprint(&self, prefix: usize) -> &Footprint {
        &self.footprints[prefix]
    }

    /// The prefixes on the way to this one, itself included, without the empty one.
    pub fn path(&self, prefix: usize) -> Vec<usize> {
        let mut path = Vec::new();
        let mut at = prefix;
        while let Some(parent) = self.prefixes.all[at].parent {
            path.push(at);
            at = parent;
        }
        path.reverse();
        path
    }
}

/// Which constants and operators a model uses.
#[derive(Default)]
struct Survey {
    constants: Vec<i64>,
    identity: bool,
    order: bool,
}

impl Survey {
    fn model(&mut self, model: &Model) {
        // What integers start as.
        self.constants.push(0);
        for operation in &model.operations {
            for step in &operation.sub_operations {
                self.condition(&step.precondition);
                step.body.iter().for_each(|statement| self.statement(statement));
                step.result.iter().flatten().for_each(|term| self.term(term));
            }
        }
        model.initially.statements.iter().for_each(|statement| self.statement(statement));
        model.initially.fills.iter().for_each(|(_, term)| self.term(term));
        model.invariants.iter().for_each(|invariant| self.condition(&invariant.condition));
        model
            .claims
            .iter()
            .filter_map(|claim| claim.condition.as_ref())
            .for_each(|part| self.condition(part));
    }

    fn condition(&mut self, condition: &Condition) {
        use linchpin_subop::model::Relation::{Equal, NotEqual};
        for atom in condition.atoms() {
            self.order |= !matches!(atom.relation, Equal | NotEqual);
            self.term(&atom.left);
            self.term(&atom.right);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        if let Statement::Assign { place, value, .. } = statement {
            self.place(place);
            self.term(value);
        }
    }

    fn term(&mut self, term: &Term) {
        match term {
            Term::Int(value) => self.constants.push(*value),
            Term::Null => {}
            Term::Id => self.identity = true,
            Term::Place(place) => self.place(place),
            Term::Plus(place, _) => {
                self.order = true;
                self.place(place);
            }
        }
    }

    fn place(&mut self, place: &Place) {
        if let Place::Element(_, Index::Int(at)) = place {
            self.constants.push(*at);
        }
    }
}
