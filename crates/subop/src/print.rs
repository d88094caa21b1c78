//! A model as text. What is printed parses to the same model, positions apart; names that were made
//! are made again.

use crate::model::{
    Claim, ClaimKind, Condition, GlobalKind, Index, Initially, Invariant, Mark, Model, Next,
    Operation, Place, Relation, SpecMapping, SpecResponse, SpecTerm, Statement, SubOperation, Term,
    Type, Var, Variable,
};
use std::fmt::{self, Display, Formatter, Write};

/// The model in the notation of Figure 4.
pub fn print(model: &Model) -> String {
    let mut text = String::new();
    write(&mut text, model).expect("writing to a string does not fail");
    text
}

fn write(out: &mut String, model: &Model) -> fmt::Result {
    for structure in &model.structs {
        let fields: Vec<String> =
            structure.fields.iter().map(|field| declaration(model, field)).collect();
        writeln!(out, "struct {} {{ {} }};", structure.name, fields.join(", "))?;
    }
    for global in &model.globals {
        let (ty, array) = match global.kind {
            GlobalKind::Scalar(ty) => (ty, ""),
            GlobalKind::Place(of) => (Type::Ref(of), ""),
            GlobalKind::Array(ty) => (ty, "[]"),
        };
        writeln!(out, "{} {}{array};", type_name(model, ty), global.name)?;
    }
    initially(out, model, &model.initially)?;
    for operation in &model.operations {
        write_operation(out, model, operation)?;
    }
    for line in &model.invariants {
        writeln!(out, "\n{}", invariant(model, line))?;
    }
    if !model.claims.is_empty() {
        out.push_str("\nrelations {\n");
        for line in &model.claims {
            writeln!(out, "    {};", claim(model, line))?;
        }
        out.push_str("}\n");
    }
    match &model.spec {
        Some(mapping) => spec(out, model, mapping),
        None => Ok(()),
    }
}

fn type_name(model: &Model, ty: Type) -> &str {
    match ty {
        Type::Int => "int",
        Type::Ref(of) => &model.structs[of.0].name,
    }
}

fn declaration(model: &Model, variable: &Variable) -> String {
    format!("{} {}", type_name(model, variable.ty), variable.name)
}

fn declarations(model: &Model, variables: &[Variable]) -> String {
    let all: Vec<String> = variables.iter().map(|var| declaration(model, var)).collect();
    all.join(", ")
}

fn initially(out: &mut String, model: &Model, initially: &Initially) -> fmt::Result {
    if *initially == Initially::default() {
        return Ok(());
    }
    let names = Names { model, locals: &initially.locals, peers: &[], bound: &[], claim: false };
    out.push_str("\ninitially {\n");
    for local in &initially.locals {
        writeln!(out, "    {};", declaration(model, local))?;
    }
    for (array, value) in &initially.fills {
        let value = names.term(*value);
        writeln!(out, "    {}[] = {value};", model.globals[array.0].name)?;
    }
    for statement in &initially.statements {
        writeln!(out, "    {};", names.statement(statement))?;
    }
    out.push_str("}\n");
    Ok(())
}

fn write_operation(out: &mut String, model: &Model, operation: &Operation) -> fmt::Result {
    let (arguments, locals) = operation.locals.split_at(operation.arguments);
    writeln!(out, "\n{}({})", operation.name, declarations(model, arguments))?;
    for local in locals {
        writeln!(out, "    {};", declaration(model, local))?;
    }
    if operation.first != [0] {
        let first = operation.first.iter().map(|index| Next::SubOperation(*index));
        writeln!(out, "    then {};", followers(operation, first))?;
    }
    let names = Names { model, locals: &operation.locals, peers: &[], bound: &[], claim: false };
    for (index, step) in operation.sub_operations.iter().enumerate() {
        let last = index + 1 == operation.sub_operations.len();
        let plain = if last { Next::Return } else { Next::SubOperation(index + 1) };
        let then = if step.next == [plain] || step.result.is_some() {
            String::new()
        } else {
            format!(" then {};", followers(operation, step.next.iter().copied()))
        };
        let name = if step.unnamed { String::new() } else { format!(" ...{}", step.name) };
        writeln!(out, "    {}{name}{then}", names.sub_operation(step))?;
    }
    Ok(())
}

fn followers(operation: &Operation, next: impl Iterator<Item = Next>) -> String {
    let names = next.map(|next| match next {
        Next::SubOperation(index) => operation.sub_operations[index].name.as_str(),
        Next::Return => "return",
    });
    names.collect::<Vec<_>>().join(", ")
}

/// An `invariant` line as text.
pub fn invariant(model: &Model, line: &Invariant) -> String {
    let mut text = "invariant ".to_owned();
    if !line.bound.is_empty() {
        text += &format!("for ({}) ", declarations(model, &line.bound));
    }
    let mut locals: &[Variable] = &[];
    if let Some(after) = line.after {
        locals = &model.operations[after.operation.0].locals;
        text += &format!("after {}: ", model.sub_operation(after).name);
    }
    let names = Names { model, locals, peers: &[], bound: &line.bound, claim: false };
    format!("{text}{};", names.condition(&line.condition))
}

/// A claim of `relations { }` as text.
pub fn claim(model: &Model, line: &Claim) -> String {
    let (not, sign) = match line.kind {
        ClaimKind::Orderable => ("", "≀"),
        ClaimKind::NotOrderable => ("¬ ", "≀"),
        ClaimKind::Reversible => ("", "⊖"),
        ClaimKind::NotReversible => ("¬ ", "⊖"),
    };
    let (first, second) = (model.sub_operation(line.first), model.sub_operation(line.second));
    let mut text = format!("{not}{} {sign} {}", first.name, second.name);
    if let Some(condition) = &line.condition {
        let names = Names {
            model,
            locals: &model.operations[line.first.operation.0].locals,
            peers: &model.operations[line.second.operation.0].locals,
            bound: &[],
            claim: true,
        };
        text += &format!(" [if ({})]", names.condition(condition));
    }
    if line.boundary {
        text += " [Boundary case]";
    }
    text
}

fn spec(out: &mut String, model: &Model, mapping: &SpecMapping) -> fmt::Result {
    let initial = match &mapping.initial[..] {
        [] => String::new(),
        values => format!("({})", spec_terms(values, &[])),
    };
    writeln!(out, "\nspec {}{initial} {{", mapping.name.replace('-', "_"))?;
    for line in &mapping.lines {
        let operation = &model.operations[line.operation.0];
        let terms = |terms: &[SpecTerm]| spec_terms(terms, &operation.locals);
        let response = match &line.response {
            SpecResponse::Returned => String::new(),
            SpecResponse::Always(values) => format!(" -> {}", terms(values)),
            SpecResponse::Whether(values) => format!(" -> result == {}", terms(values)),
        };
        let arguments = terms(&line.arguments);
        writeln!(out, "    {} = {}({arguments}){response};", operation.name, line.method)?;
    }
    out.push_str("}\n");
    Ok(())
}

fn spec_terms(terms: &[SpecTerm], arguments: &[Variable]) -> String {
    let all = terms.iter().map(|term| match term {
        SpecTerm::Argument(id) => arguments[id.0].name.clone(),
        SpecTerm::Int(value) => value.to_string(),
        SpecTerm::Bool(value) => value.to_string(),
        SpecTerm::Null => "NULL".to_owned(),
    });
    all.collect::<Vec<_>>().join(", ")
}

/// How variables are called where a term stands.
pub struct Names<'a> {
    model: &'a Model,
    locals: &'a [Variable],
    peers: &'a [Variable],
    bound: &'a [Variable],
    claim: bool,
}

impl<'a> Names<'a> {
    /// The names inside an operation.
    pub fn of(model: &'a Model, operation: &'a Operation) -> Names<'a> {
        Names { model, locals: &operation.locals, peers: &[], bound: &[], claim: false }
    }

    /// A sub-operation on one line: mark, precondition, statements.
    pub fn sub_operation(&self, step: &SubOperation) -> String {
        let mut text = match step.mark {
            Mark::Invoker => "1".to_owned(),
            Mark::Anyone => "*".to_owned(),
        };
        let parts = match &step.precondition {
            Condition::All(parts) => &parts[..],
            other => std::slice::from_ref(other),
        };
        if !parts.is_empty() || (step.body.is_empty() && step.result.is_none()) {
            let parts: Vec<String> =
                parts.iter().map(|part| format!("{};", self.condition(part))).collect();
            text += &format!(" <{}>", parts.join(" "));
        }
        for statement in &step.body {
            text += &format!(" {};", self.statement(statement));
        }
        if let Some(result) = &step.result {
            let terms: Vec<String> = result.iter().map(|term| self.term(*term)).collect();
            let space = if terms.is_empty() { "" } else { " " };
            text += &format!(" return{space}{};", terms.join(", "));
        }
        text
    }

    /// A condition.
    pub fn condition(&self, condition: &Condition) -> String {
        match condition {
            Condition::Atom(atom) => {
                format!("{} {} {}", self.term(atom.left), atom.relation, self.term(atom.right))
            }
            Condition::All(parts) => self.join(parts, " && ", "0 == 0"),
            Condition::Any(parts) => self.join(parts, " || ", "0 == 1"),
        }
    }

    fn join(&self, parts: &[Condition], sign: &str, empty: &str) -> String {
        let inner = |part: &Condition| match part {
            Condition::Atom(_) => self.condition(part),
            _ => format!("({})", self.condition(part)),
        };
        match parts {
            [] => empty.to_owned(),
            parts => parts.iter().map(inner).collect::<Vec<_>>().join(sign),
        }
    }

    /// A statement without its semicolon.
    pub fn statement(&self, statement: &Statement) -> String {
        match statement {
            Statement::Assign { place, value, .. } => {
                format!("{} = {}", self.place(*place), self.term(*value))
            }
            Statement::Malloc { var, of, .. } => {
                format!("{} = malloc {}", self.var(*var), self.model.structs[of.0].name)
            }
            Statement::Free { var, .. } => format!("free {}", self.var(*var)),
            Statement::Read { place, .. } => format!("READ {}", self.place(*place)),
        }
    }

    /// A term.
    pub fn term(&self, term: Term) -> String {
        match term {
            Term::Int(value) => value.to_string(),
            Term::Null => "NULL".to_owned(),
            Term::Id => "ID".to_owned(),
            Term::Place(place) => self.place(place),
            Term::Plus(place, offset) => self.place(place) + &plus(offset),
        }
    }

    /// A variable, field or element.
    pub fn place(&self, place: Place) -> String {
        match place {
            Place::Variable(var) => self.var(var),
            Place::Field(var, of, field) => {
                format!("{}.{}", self.var(var), self.model.field(of, field).name)
            }
            Place::Element(array, index) => {
                let index = match index {
                    Index::Int(value) => value.to_string(),
                    Index::Variable(var) => self.var(var),
                    Index::Plus(var, offset) => self.var(var) + &plus(offset),
                };
                format!("{}[{index}]", self.model.globals[array.0].name)
            }
        }
    }

    fn var(&self, var: Var) -> String {
        match var {
            Var::Global(id) => self.model.globals[id.0].name.clone(),
            Var::Local(id) if self.claim => format!("{}@1", self.locals[id.0].name),
            Var::Local(id) => self.locals[id.0].name.clone(),
            Var::Peer(id) => format!("{}@2", self.peers[id.0].name),
            Var::Bound(index) => match self.bound.get(index) {
                Some(variable) => variable.name.clone(),
                None => format!("n{index}"),
            },
        }
    }
}

fn plus(offset: i64) -> String {
    if offset < 0 { format!(" - {}", offset.unsigned_abs()) } else { format!(" + {offset}") }
}

impl Display for Relation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Relation::Equal => "==",
            Relation::NotEqual => "!=",
            Relation::Less => "<",
            Relation::LessOrEqual => "<=",
            Relation::Greater => ">",
            Relation::GreaterOrEqual => ">=",
        })
    }
}
