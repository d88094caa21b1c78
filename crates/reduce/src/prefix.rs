//! The prefixes of all operations: the set `I` of Algorithm 1. An operation is a graph without
//! cycles, so a prefix is a path.

use linchpin_subop::model::{
    LocalId, Model, Next, OperationId, Place, Statement, StructId, SubOperation, Term, Type, Var,
    Variable,
};

use crate::footprint::{Footprint, Kind};

/// More prefixes than this are not analysed.
pub const MOST_PREFIXES: usize = 400;

/// A path from the start of an operation.
#[derive(Clone, Debug)]
pub struct Prefix {
    pub operation: OperationId,
    /// The sub-operations executed, in order; empty at the start.
    pub steps: Vec<usize>,
    /// The prefix without its last step.
    pub parent: Option<usize>,
    /// The prefixes with one step more.
    pub next: Vec<usize>,
    /// Whether the operation may be complete here.
    pub complete: bool,
    /// Which locals are set here.
    pub set: Vec<bool>,
    /// Locals that hold an object which this instance allocated.
    pub owned: Vec<(LocalId, StructId)>,
    /// Those of `owned` whose object was never stored anywhere but in this local.
    pub private: Vec<(LocalId, StructId)>,
    /// What all its steps read and write.
    pub footprint: Footprint,
    /// The locals that its last step reads before it writes them.
    pub read_first: Vec<LocalId>,
}

/// The model and its prefixes.
#[derive(Debug)]
pub struct Prefixes<'m> {
    pub model: &'m Model,
    pub all: Vec<Prefix>,
    /// The empty prefix of each operation.
    pub empty: Vec<usize>,
}

/// The model has more prefixes than are analysed.
#[derive(Debug)]
pub struct TooManyPrefixes;

impl<'m> Prefixes<'m> {
    pub fn of(model: &'m Model) -> Result<Prefixes<'m>, TooManyPrefixes> {
        let mut prefixes = Prefixes { model, all: Vec::new(), empty: Vec::new() };
        for (operation, body) in model.operations.iter().enumerate() {
            // References that a client passes are chosen when they are first used, like guesses.
            let given = |(local, variable): (usize, &Variable)| {
                local < body.arguments && variable.ty == Type::Int
            };
            let set = body.locals.iter().enumerate().map(given).collect();
            prefixes.empty.push(prefixes.all.len());
            let start = prefixes.all.len();
            prefixes.all.push(Prefix {
                operation: OperationId(operation),
                steps: Vec::new(),
                parent: None,
                next: Vec::new(),
                complete: false,
                set,
                owned: Vec::new(),
                private: Vec::new(),
                footprint: Footprint::default(),
                read_first: Vec::new(),
            });
            let mut pending = vec![start];
            while let Some(at) = pending.pop() {
                let following: Vec<usize> = match prefixes.all[at].steps.last() {
                    None => body.first.clone(),
                    Some(step) => body.sub_operations[*step]
                        .next
                        .iter()
                        .filter_map(|next| match next {
                            Next::SubOperation(step) => Some(*step),
                            Next::Return => None,
                        })
                        .collect(),
                };
                for step in following {
                    if prefixes.all.len() >= MOST_PREFIXES {
                        return Err(TooManyPrefixes);
                    }
                    let longer = prefixes.extended(at, step);
                    let id = prefixes.all.len();
                    prefixes.all.push(longer);
                    prefixes.all[at].next.push(id);
                    pending.push(id);
                }
            }
        }
        Ok(prefixes)
    }

    fn extended(&self, parent: usize, index: usize) -> Prefix {
        let shorter = &self.all[parent];
        let step = &self.model.operations[shorter.operation.0].sub_operations[index];
        let mut longer = shorter.clone();
        longer.steps.push(index);
        longer.parent = Some(parent);
        longer.next.clear();
        longer.read_first = read_first(step);
        longer.complete = step.next.contains(&Next::Return);
        for local in mentioned(step) {
            longer.set[local.0] = true;
        }
        for statement in &step.body {
            match statement {
                Statement::Malloc { var: Var::Local(local), of, .. } => {
                    longer.owned.retain(|(owned, _)| owned != local);
                    longer.private.retain(|(owned, _)| owned != local);
                    longer.owned.push((*local, *of));
                    longer.private.push((*local, *of));
                }
                Statement::Assign { place, value, .. } => {
                    if let Term::Place(Place::Variable(Var::Local(source))) = value {
                        longer.private.retain(|(owned, _)| owned != source);
                    }
                    if let Place::Variable(Var::Local(local)) = place {
                        longer.owned.retain(|(owned, _)| owned != local);
                        longer.private.retain(|(owned, _)| owned != local);
                    }
                }
                _ => {}
            }
        }
        longer.footprint.extend(&self.step_footprint(parent, step));
        longer
    }

    /// What a step reads and writes when executed after `parent`; that objects are published and
    /// guessed included.
    pub fn step_footprint(&self, parent: usize, step: &SubOperation) -> Footprint {
        let structs = &self.model.structs;
        let mut footprint = Footprint::of(step, &|of| structs[of.0].fields.len());
        let Prefix { operation, set, .. } = &self.all[parent];
        let locals = &self.model.operations[operation.0].locals;
        for local in read_first(step) {
            if let (Type::Ref(of), false) = (locals[local.0].ty, set[local.0]) {
                footprint.reads.push(Kind::Published(of));
            }
        }
        for statement in &step.body {
            match statement {
                Statement::Assign {
                    place,
                    value: Term::Place(Place::Variable(Var::Local(source))),
                    ..
                } if !matches!(place, Place::Variable(Var::Local(_))) => {
                    if let Type::Ref(of) = locals[source.0].ty {
                        footprint.publishes.push(Kind::Published(of));
                    }
                }
                Statement::Malloc { var: Var::Global(_), of, .. } => {
                    footprint.publishes.push(Kind::Published(*of))
                }
                _ => {}
            }
        }
        footprint
    }

    /// The last sub-operation of a prefix that is not empty.
    pub fn last(&self, prefix: usize) -> Option<&'m SubOperation> {
        let Prefix { operation, steps, .. } = &self.all[prefix];
        steps.last().map(|step| &self.model.operations[operation.0].sub_operations[*step])
    }

    /// Its sub-operations by name: `a.b.c`.
    pub fn name(&self, prefix: usize) -> String {
        let Prefix { operation, steps, .. } = &self.all[prefix];
        let operation = &self.model.operations[operation.0];
        if steps.is_empty() {
            return format!("start of {}", operation.name);
        }
        let names: Vec<&str> =
            steps.iter().map(|step| operation.sub_operations[*step].name.as_str()).collect();
        names.join(".")
    }

    /// Whether an instance here has something left to do.
    pub fn is_proper(&self, prefix: usize) -> bool {
        !self.all[prefix].next.is_empty()
    }

    /// The proper prefixes that are not empty.
    pub fn proper(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.all.len()).filter(|at| !self.all[*at].steps.is_empty() && self.is_proper(*at))
    }

    /// All prefixes that are not empty.
    pub fn nonempty(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.all.len()).filter(|at| !self.all[*at].steps.is_empty())
    }
}

/// Every local that the step reads or writes.
pub fn mentioned(step: &SubOperation) -> Vec<LocalId> {
    let mut locals = Vec::new();
    for atom in step.precondition.atoms() {
        term(&atom.left, &mut locals);
        term(&atom.right, &mut locals);
    }
    for statement in &step.body {
        match statement {
            Statement::Assign { place: to, value, .. } => {
                term(value, &mut locals);
                place(to, &mut locals);
            }
            Statement::Malloc { var, .. } | Statement::Free { var, .. } => {
                variable(*var, &mut locals)
            }
            Statement::Read { place: from, .. } => place(from, &mut locals),
        }
    }
    for value in step.result.iter().flatten() {
        term(value, &mut locals);
    }
    locals
}

/// The locals that the step reads before it writes them: those that it guesses if they are unset.
pub fn read_first(step: &SubOperation) -> Vec<LocalId> {
    let mut reads = Vec::new();
    for atom in step.precondition.atoms() {
        term(&atom.left, &mut reads);
        term(&atom.right, &mut reads);
    }
    let mut written: Vec<LocalId> = Vec::new();
    let mut read = |found: Vec<LocalId>, written: &[LocalId]| {
        reads.extend(found.into_iter().filter(|local| !written.contains(local)));
    };
    for statement in &step.body {
        let mut found = Vec::new();
        match statement {
            Statement::Assign { place: to, value, .. } => {
                term(value, &mut found);
                match to {
                    Place::Variable(Var::Local(local)) => {
                        read(found, &written);
                        written.push(*local);
                        continue;
                    }
                    _ => place(to, &mut found),
                }
            }
            Statement::Malloc { var: Var::Local(local), .. } => written.push(*local),
            Statement::Malloc { .. } => {}
            Statement::Free { var, .. } => variable(*var, &mut found),
            Statement::Read { place: from, .. } => place(from, &mut found),
        }
        read(found, &written);
    }
    let mut found = Vec::new();
    for value in step.result.iter().flatten() {
        term(value, &mut found);
    }
    read(found, &written);
    reads.sort();
    reads.dedup();
    reads
}

pub fn term(term: &Term, into: &mut Vec<LocalId>) {
    if let Term::Place(from) | Term::Plus(from, _) = term {
        place(from, into);
    }
}

pub fn place(place: &Place, into: &mut Vec<LocalId>) {
    use linchpin_subop::model::Index;
    match place {
        Place::Variable(var) | Place::Field(var, ..) => variable(*var, into),
        Place::Element(_, Index::Variable(var) | Index::Plus(var, _)) => variable(*var, into),
        Place::Element(_, Index::Int(_)) => {}
    }
}

fn variable(var: Var, into: &mut Vec<LocalId>) {
    if let Var::Local(local) = var {
        into.push(local);
    }
}
