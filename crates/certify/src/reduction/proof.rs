//! Reading a certificate: the model, its paths, and what the certificate says of each.

use linchpin_subop::Model;
use linchpin_subop::model::{
    Condition, GlobalKind, Index, Invariant, LocalId, Next, Place, Relation, Statement, StructId,
    SubOperation, Term, Type, Var,
};
use serde_json::Value;

use super::ReductionError;
use super::nature::Natures;
use super::order::Order;

/// A path from the start of an operation, and what is claimed of an instance that executed it.
#[derive(Clone, Debug, Default)]
pub struct Path {
    pub operation: usize,
    pub steps: Vec<usize>,
    pub parent: Option<usize>,
    pub next: Vec<usize>,
    pub complete: bool,
    pub set: Vec<bool>,
    /// The locals that the last step reads before it writes them.
    pub guessed: Vec<usize>,
    pub owned: Vec<(usize, StructId)>,
    pub private: Vec<usize>,
    /// The locals whose object a step stored.
    pub stored: Vec<usize>,
    /// The locals that may hold an object which was never stored: one that was allocated, or a copy
    /// of such a local.
    pub new: Vec<usize>,
    pub facts: Vec<Condition>,
    pub reaches: Vec<(usize, Vec<Place>)>,
    pub live: Vec<Condition>,
    pub enabled: bool,
}

impl Path {
    pub fn last<'m>(&self, model: &'m Model) -> Option<&'m SubOperation> {
        self.steps.last().map(|step| &model.operations[self.operation].sub_operations[*step])
    }
}

/// A path executed without interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    pub path: usize,
    pub complete: bool,
}

#[derive(Clone, Debug)]
pub struct Member {
    pub block: Block,
    /// Which locals are equal, and which are not; `None`: in all cases.
    pub cases: Option<Vec<Vec<(usize, usize, bool)>>>,
    pub before: Vec<usize>,
    pub then: Vec<usize>,
}

#[derive(Clone, Debug)]
pub struct Closure {
    pub path: usize,
    pub lasting: Vec<Condition>,
    pub members: Vec<Member>,
}

#[derive(Clone, Debug)]
pub struct Proof {
    /// The model without the reads that are replaced.
    pub model: Model,
    pub paths: Vec<Path>,
    pub invariants: Vec<(Vec<StructId>, Condition)>,
    pub closures: Vec<Closure>,
    /// What is known of the `ID`s of two instances.
    pub identities: Order,
    pub natures: Natures,
}

impl Closure {
    /// Some of the lasting conditions.
    pub fn chosen(&self, which: &[usize]) -> impl Iterator<Item = &Condition> {
        which.iter().map(|at| &self.lasting[*at])
    }
}

impl Proof {
    /// The empty path of the same operation.
    pub fn empty(&self, path: usize) -> usize {
        self.chain(path).first().map_or(path, |first| self.parent(*first))
    }

    /// The paths that lead to this one, from the first step on.
    pub fn chain(&self, path: usize) -> Vec<usize> {
        let mut chain = vec![path];
        while let Some(parent) = self.paths[chain[chain.len() - 1]].parent {
            chain.push(parent);
        }
        chain.pop();
        chain.reverse();
        chain
    }

    /// The path without its last step.
    pub fn parent(&self, path: usize) -> usize {
        self.paths[path].parent.unwrap_or(path)
    }
}

fn malformed(what: &str) -> ReductionError {
    ReductionError::Malformed(what.to_owned())
}

fn texts(value: &Value) -> Result<Vec<String>, ReductionError> {
    let items = value.as_array().ok_or_else(|| malformed("a list is missing"))?;
    items
        .iter()
        .map(|item| item.as_str().map(str::to_owned).ok_or_else(|| malformed("a text is missing")))
        .collect()
}

fn numbers(value: &Value, below: usize) -> Result<Vec<usize>, ReductionError> {
    let items = value.as_array().ok_or_else(|| malformed("a list is missing"))?;
    let number = |item: &Value| {
        item.as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .filter(|number| *number < below)
    };
    items
        .iter()
        .map(|item| number(item).ok_or_else(|| malformed("a number is out of range")))
        .collect()
}

fn list(value: &Value) -> Result<&Vec<Value>, ReductionError> {
    value.as_array().ok_or_else(|| malformed("a list is missing"))
}

pub fn parse(source: &str) -> Result<Model, ReductionError> {
    linchpin_subop::parse(source).map_err(|mistakes| {
        malformed(&mistakes.first().map_or_else(String::new, |mistake| mistake.message.clone()))
    })
}

/// The model of a certificate with one sub-operation after the other taken out; and, to be checked,
/// each of these.
pub type Replacement = (Model, Model, usize, usize);

pub fn read(source: &str, json: &Value) -> Result<(Proof, Vec<Replacement>), ReductionError> {
    let original = parse(source)?;
    let mut model = original.clone();
    let mut replaced = Vec::new();
    for name in texts(&json["replaced"])? {
        let id = original.sub_operations().find(|id| original.sub_operation(*id).name == name);
        let id = id.ok_or_else(|| malformed("no such sub-operation"))?;
        let without = without(&model, id.operation.0, id.index);
        replaced.push((model, without.clone(), id.operation.0, id.index));
        model = without;
    }
    let mut reader = Reader { source, original: &original, paths: paths(&model)? };
    let mut proof = Proof {
        identities: identities(&model),
        natures: Natures::of(&model, paths(&model)?)?,
        invariants: reader.invariants(&json["invariants"])?,
        closures: Vec::new(),
        paths: Vec::new(),
        model,
    };
    for record in list(&json["prefixes"])? {
        reader.prefix(&proof.model, record)?;
    }
    for record in list(&json["closures"])? {
        let closure = reader.closure(&proof.model, record)?;
        proof.closures.push(closure);
    }
    proof.paths = reader.paths;
    Ok((proof, replaced))
}

struct Reader<'a> {
    source: &'a str,
    original: &'a Model,
    paths: Vec<Path>,
}

impl Reader<'_> {
    fn path(&self, model: &Model, names: &Value) -> Result<usize, ReductionError> {
        let names = texts(names)?;
        let matches = |path: &Path| {
            let steps = path
                .steps
                .iter()
                .map(|step| &model.operations[path.operation].sub_operations[*step].name);
            path.steps.len() == names.len() && steps.eq(names.iter())
        };
        self.paths
            .iter()
            .position(matches)
            .filter(|_| !names.is_empty())
            .ok_or_else(|| malformed("no such prefix"))
    }

    /// Conditions about an instance that executed a path, in the language of the model.
    fn conditions(
        &self,
        model: &Model,
        path: usize,
        texts: &[String],
    ) -> Result<Vec<Condition>, ReductionError> {
        let Some(step) = self.paths[path].last(model) else {
            return Err(malformed("an empty prefix"));
        };
        let mut source = self.source.to_owned();
        // INVARIANT: each text is one condition, about this instance.
        if texts.iter().any(|text| text.contains([';', '/', '*', '#', '\n', '{'])) {
            return Err(malformed("a condition is not one"));
        }
        for text in texts {
            source += &format!("\ninvariant after {}: {text};", step.name);
        }
        let parsed = parse(&source)?;
        let added = self.added(&parsed)?;
        let about = |line: &Invariant| {
            let after = line.after.map(|after| (after.operation.0, after.index));
            let last = (self.paths[path].operation, self.paths[path].steps.last().copied());
            line.bound.is_empty() && after.map(|(of, at)| (of, Some(at))) == Some(last)
        };
        if added.len() != texts.len() || !added.iter().all(about) {
            return Err(malformed("a condition is not one"));
        }
        let conditions: Vec<Condition> = added.iter().map(|line| line.condition.clone()).collect();
        let set = |local: &usize| self.paths[path].set.get(*local) == Some(&true);
        if !conditions
            .iter()
            .all(|condition| condition.atoms().iter().all(|atom| locals_of(atom).iter().all(set)))
        {
            return Err(malformed("a condition mentions a local that is not set"));
        }
        Ok(conditions)
    }

    /// The invariants that a text has more than the model; it must be the same model otherwise.
    fn added<'t>(&self, parsed: &'t Model) -> Result<&'t [Invariant], ReductionError> {
        let written = self.original.invariants.len();
        let mut rest = parsed.clone();
        rest.invariants.truncate(written);
        if rest != *self.original {
            return Err(malformed("a condition says more than a condition"));
        }
        Ok(&parsed.invariants[written..])
    }

    fn invariants(&self, value: &Value) -> Result<Vec<(Vec<StructId>, Condition)>, ReductionError> {
        let lines = texts(value)?;
        let parsed = parse(&format!("{}\n{}", self.source, lines.join("\n")))?;
        let mut found = Vec::new();
        for line in self.added(&parsed)? {
            let structs = line.bound.iter().map(|variable| match variable.ty {
                Type::Ref(of) => Ok(of),
                Type::Int => Err(malformed("an invariant about integers")),
            });
            let bound: Vec<StructId> = structs.collect::<Result<_, _>>()?;
            if line.after.is_some() {
                return Err(malformed("an invariant about a sub-operation"));
            }
            if bound.len() > 2 {
                return Err(malformed("an invariant about more than two objects"));
            }
            found.push((bound, line.condition.clone()));
        }
        Ok(found)
    }

    fn prefix(&mut self, model: &Model, record: &Value) -> Result<(), ReductionError> {
        let path = self.path(model, &record["steps"])?;
        // INVARIANT: what is said of an instance is asked about; nothing is asked of one that has
        // ended.
        if self.paths[path].next.is_empty() {
            return Err(malformed("something is said of an operation that has ended"));
        }
        let facts = self.conditions(model, path, &texts(&record["facts"])?)?;
        let live = self.conditions(model, path, &texts(&record["live"])?)?;
        let mut reaches = Vec::new();
        for reach in list(&record["reaches"])? {
            let local = self.local(model, self.paths[path].operation, &reach["local"])?;
            let name = &model.operations[self.paths[path].operation].locals[local].name;
            let lines: Vec<String> =
                texts(&reach["places"])?.iter().map(|place| format!("{name} == {place}")).collect();
            let mut places = Vec::new();
            for condition in self.conditions(model, path, &lines)? {
                match condition.atoms().as_slice() {
                    [atom] if atom.relation == Relation::Equal => match atom.right {
                        Term::Place(place) if stays(model, &place) => places.push(place),
                        _ => return Err(malformed("a place is not one")),
                    },
                    _ => return Err(malformed("a place is not one")),
                }
            }
            reaches.push((local, places));
        }
        let enabled = record["pending"] == "enabled";
        let known = &mut self.paths[path];
        (known.facts, known.live, known.reaches, known.enabled) = (facts, live, reaches, enabled);
        Ok(())
    }

    fn local(
        &self,
        model: &Model,
        operation: usize,
        name: &Value,
    ) -> Result<usize, ReductionError> {
        let locals = &model.operations[operation].locals;
        locals
            .iter()
            .position(|local| *name == *local.name)
            .ok_or_else(|| malformed("no such local"))
    }

    fn closure(&self, model: &Model, record: &Value) -> Result<Closure, ReductionError> {
        let path = self.path(model, &record["steps"])?;
        let lasting = self.conditions(model, path, &texts(&record["lasting"])?)?;
        let mut members = Vec::new();
        for member in list(&record["members"])? {
            let block = Block {
                path: self.path(model, &member["steps"])?,
                complete: member["complete"] == true,
            };
            let (mine, theirs) = (self.paths[path].operation, self.paths[block.path].operation);
            let cases = if member["cases"].is_null() {
                None
            } else {
                let mut cases = Vec::new();
                for case in list(&member["cases"])? {
                    let mut pairs = Vec::new();
                    for pair in list(case)? {
                        let equal =
                            pair[2].as_bool().ok_or_else(|| malformed("a case is not one"))?;
                        pairs.push((
                            self.local(model, mine, &pair[0])?,
                            self.local(model, theirs, &pair[1])?,
                            equal,
                        ));
                    }
                    cases.push(pairs);
                }
                Some(cases)
            };
            let (before, then) = (
                numbers(&member["before"], lasting.len())?,
                numbers(&member["then"], lasting.len())?,
            );
            members.push(Member { block, cases, before, then });
        }
        Ok(Closure { path, lasting, members })
    }
}

/// Whether a place stays where it is, whatever others do.
fn stays(model: &Model, place: &Place) -> bool {
    match place {
        Place::Variable(Var::Global(_)) | Place::Field(Var::Local(_), ..) => true,
        Place::Field(Var::Global(global), ..) => {
            matches!(model.globals[global.0].kind, GlobalKind::Place(_))
        }
        _ => false,
    }
}

/// What is known of `ID`s: they are no numbers of the file. What only the certificate mentions may
/// be one.
pub fn identities(model: &Model) -> Order {
    let steps = || model.operations.iter().flat_map(|operation| &operation.sub_operations);
    let conditions = steps()
        .map(|step| &step.precondition)
        .chain(model.invariants.iter().map(|line| &line.condition))
        .chain(model.claims.iter().filter_map(|claim| claim.condition.as_ref()));
    let mut terms: Vec<Term> = conditions
        .flat_map(|condition| condition.atoms())
        .flat_map(|atom| [atom.left, atom.right])
        .collect();
    let bodies = steps().map(|step| &step.body).chain([&model.initially.statements]);
    for statement in bodies.flatten() {
        match statement {
            Statement::Assign { place, value, .. } => terms.extend([Term::Place(*place), *value]),
            Statement::Read { place, .. } => terms.push(Term::Place(*place)),
            Statement::Malloc { .. } | Statement::Free { .. } => {}
        }
    }
    terms.extend(steps().flat_map(|step| step.result.iter().flatten()));
    terms.extend(model.initially.fills.iter().map(|(_, term)| *term));
    let constant = |term: &Term| match term {
        Term::Int(value) | Term::Place(Place::Element(_, Index::Int(value))) => Some(*value),
        _ => None,
    };
    Order::of_identities(&terms.iter().filter_map(constant).collect())
}

/// The model in which what led to the step leads to what follows it.
fn without(model: &Model, operation: usize, step: usize) -> Model {
    let mut model = model.clone();
    let body = &mut model.operations[operation];
    let following = body.sub_operations[step].next.clone();
    for other in &mut body.sub_operations {
        if other.next.contains(&Next::SubOperation(step)) {
            other.next.retain(|next| *next != Next::SubOperation(step));
            other.next.extend(&following);
            other.next.sort();
            other.next.dedup();
        }
    }
    if body.first.contains(&step) {
        body.first.retain(|first| *first != step);
        for next in following {
            if let Next::SubOperation(next) = next {
                body.first.push(next);
            }
        }
        body.first.sort();
        body.first.dedup();
    }
    model
}

/// All paths of all operations; the empty one of each operation comes before its others.
pub fn paths(model: &Model) -> Result<Vec<Path>, ReductionError> {
    let mut all: Vec<Path> = Vec::new();
    for (operation, body) in model.operations.iter().enumerate() {
        let given = |(at, local): (usize, &linchpin_subop::model::Variable)| {
            at < body.arguments && local.ty == Type::Int
        };
        let set = body.locals.iter().enumerate().map(given).collect();
        let mut open = vec![all.len()];
        all.push(Path { operation, set, ..Path::default() });
        while let Some(at) = open.pop() {
            let following: Vec<usize> = match all[at].last(model) {
                None => body.first.clone(),
                Some(step) => step
                    .next
                    .iter()
                    .filter_map(|next| {
                        if let Next::SubOperation(step) = next { Some(*step) } else { None }
                    })
                    .collect(),
            };
            for step in following {
                if all.len() > 400 {
                    return Err(ReductionError::TooLarge("too many prefixes".to_owned()));
                }
                let mut longer = Path {
                    parent: Some(at),
                    steps: [&all[at].steps[..], &[step]].concat(),
                    next: Vec::new(),
                    ..all[at].clone()
                };
                extend(&mut longer, &body.sub_operations[step]);
                let id = all.len();
                all[at].next.push(id);
                open.push(id);
                all.push(longer);
            }
        }
    }
    Ok(all)
}

fn extend(path: &mut Path, step: &SubOperation) {
    path.complete = step.next.contains(&Next::Return);
    let mut written: Vec<usize> = Vec::new();
    path.guessed.clear();
    let seen = |term: &Term, written: &[usize], path: &mut Path| {
        for local in locals_in(term) {
            path.set[local] = true;
            if !written.contains(&local) && !path.guessed.contains(&local) {
                path.guessed.push(local);
            }
        }
    };
    for atom in step.precondition.atoms() {
        seen(&atom.left, &written, path);
        seen(&atom.right, &written, path);
    }
    for statement in &step.body {
        match statement {
            Statement::Assign { place, value, .. } => {
                seen(value, &written, path);
                let mut copied = false;
                if let Term::Place(Place::Variable(Var::Local(source))) = value {
                    path.private.retain(|local| *local != source.0);
                    copied = path.new.contains(&source.0);
                    if !matches!(place, Place::Variable(Var::Local(_))) {
                        path.stored.push(source.0);
                        path.new.retain(|local| *local != source.0);
                    }
                }
                match place {
                    Place::Variable(Var::Local(local)) => {
                        written.push(local.0);
                        path.set[local.0] = true;
                        path.owned.retain(|(owned, _)| *owned != local.0);
                        path.private.retain(|owned| *owned != local.0);
                        path.stored.retain(|stored| *stored != local.0);
                        path.new.retain(|new| *new != local.0);
                        path.new.extend(copied.then_some(local.0));
                    }
                    _ => seen(&Term::Place(*place), &written, path),
                }
            }
            Statement::Malloc { var: Var::Local(local), of, .. } => {
                written.push(local.0);
                path.set[local.0] = true;
                path.owned.retain(|(owned, _)| *owned != local.0);
                path.private.retain(|owned| *owned != local.0);
                path.stored.retain(|stored| *stored != local.0);
                path.new.retain(|new| *new != local.0);
                path.new.push(local.0);
                path.owned.push((local.0, *of));
                path.private.push(local.0);
            }
            Statement::Malloc { .. } => {}
            Statement::Free { var, .. } => {
                seen(&Term::Place(Place::Variable(*var)), &written, path)
            }
            Statement::Read { place, .. } => seen(&Term::Place(*place), &written, path),
        }
    }
    for term in step.result.iter().flatten() {
        seen(term, &written, path);
    }
}

fn locals_of(atom: &linchpin_subop::model::Atom) -> Vec<usize> {
    [locals_in(&atom.left), locals_in(&atom.right)].concat()
}

fn locals_in(term: &Term) -> Vec<usize> {
    let (Term::Place(place) | Term::Plus(place, _)) = term else { return Vec::new() };
    let var = match place {
        Place::Variable(var) | Place::Field(var, ..) => *var,
        Place::Element(_, Index::Variable(var) | Index::Plus(var, _)) => *var,
        Place::Element(_, Index::Int(_)) => return Vec::new(),
    };
    match var {
        Var::Local(LocalId(local)) => vec![local],
        _ => Vec::new(),
    }
}
