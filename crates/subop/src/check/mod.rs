//! From the tree to the [model](crate::model): names are resolved, types are checked, choices
//! become successors.
//!
//! `mod.rs` declares; [`term`] resolves terms and conditions; [`body`] checks operations; [`claim`]
//! the lines that are not in Figure 6.

mod body;
mod claim;
mod term;

use crate::execute::Machine;
use crate::limits;
use crate::model::{
    FieldId, Global, GlobalId, GlobalKind, Initially, LocalId, Model, OperationId, Struct,
    StructId, SubOperationId, Type, Variable,
};
use crate::syntax::ast::{self, Ident};
use linchpin_syntax::{Code, Diagnostic, Mistakes, Span, nearest};
use std::collections::{HashMap, HashSet};

/// Checks a file; the model makes sense only if there are no mistakes.
pub(crate) fn check(file: &ast::File) -> (Model, Vec<Diagnostic>) {
    let mut checker = Checker::default();
    checker.structs(file);
    checker.globals(file);
    checker.operation_names(file);
    checker.initially(file);
    for operation in &file.operations {
        checker.operation(operation);
    }
    checker.places(file);
    checker.invariants(file);
    checker.claims(file);
    checker.spec(file);
    if checker.diagnostics.is_empty() {
        checker.start();
    }
    (checker.model, checker.diagnostics.into_vec())
}

#[derive(Default)]
struct Checker {
    model: Model,
    struct_names: HashMap<String, StructId>,
    global_names: HashMap<String, GlobalId>,
    sub_operation_names: HashMap<String, SubOperationId>,
    diagnostics: Mistakes,
}

/// The variables that a term may mention, apart from the globals.
#[derive(Default)]
struct Scope<'a> {
    locals: &'a [Variable],
    /// In a claim, the locals of the second sub-operation.
    peers: Option<&'a [Variable]>,
    /// In an invariant, the bound variables.
    bound: &'a [Variable],
    /// Whether there is an instance that `ID` may mean.
    id: bool,
}

impl Checker {
    fn report(&mut self, mistake: Diagnostic) {
        self.diagnostics.push(mistake);
    }

    fn structs(&mut self, file: &ast::File) {
        self.limit(file.structs.len(), limits::DECLARATIONS, "structs", Span::default());
        for declared in file.structs.iter().take(limits::DECLARATIONS) {
            let name = &declared.name;
            let id = StructId(self.model.structs.len());
            if let Some(old) = self.struct_names.get(&name.name) {
                let old = self.model.structs[old.0].span;
                self.twice("struct", name, old);
                continue;
            }
            self.struct_names.insert(name.name.clone(), id);
            let (name, span) = (name.name.clone(), name.span);
            self.model.structs.push(Struct { name, fields: Vec::new(), span });
        }
        // Fields may mention structs declared later, so they come second.
        let mut done = HashSet::new();
        for declared in &file.structs {
            let Some(&id) = self.struct_names.get(&declared.name.name) else { continue };
            if done.insert(id) {
                let fields = self.variables(&declared.fields, "field", &[]);
                self.model.structs[id.0].fields = fields;
            }
        }
    }

    /// Declares variables of one kind, none of them an array, none of them called like one of
    /// `others`.
    fn variables(
        &mut self,
        declared: &[ast::Declaration],
        what: &str,
        others: &[Variable],
    ) -> Vec<Variable> {
        let mut variables: Vec<Variable> = others.to_vec();
        if let Some(first) = declared.first() {
            let count = declared.len() + others.len();
            self.limit(count, limits::VARIABLES, "variables in one place", first.name.span);
        }
        for declaration in declared.iter().take(limits::VARIABLES) {
            let name = &declaration.name;
            let ty = self.ty(&declaration.ty);
            if declaration.array {
                let message = format!("a {what} cannot be an array");
                let mistake = Diagnostic::new(
                    Code::TypeNotHere,
                    message,
                    name.span,
                    "arrays are shared variables",
                );
                self.report(mistake.help("declare it before the first operation"));
            }
            if let Some(old) = variables.iter().find(|old| old.name == name.name) {
                let span = old.span;
                self.twice(what, name, span);
                continue;
            }
            if what != "field"
                && let Some(global) = self.global_names.get(&name.name)
            {
                let old = self.model.globals[global.0].span;
                self.twice("variable", name, old);
                continue;
            }
            variables.push(Variable { name: name.name.clone(), ty, span: name.span });
        }
        variables.split_off(others.len())
    }

    fn globals(&mut self, file: &ast::File) {
        self.limit(file.globals.len(), limits::DECLARATIONS, "shared variables", Span::default());
        for declared in file.globals.iter().take(limits::DECLARATIONS) {
            let ty = self.ty(&declared.ty);
            let name = &declared.name;
            if let Some(old) = self.global_names.get(&name.name) {
                let old = self.model.globals[old.0].span;
                self.twice("variable", name, old);
                continue;
            }
            let id = GlobalId(self.model.globals.len());
            self.global_names.insert(name.name.clone(), id);
            let kind = if declared.array { GlobalKind::Array(ty) } else { GlobalKind::Scalar(ty) };
            self.model.globals.push(Global { name: name.name.clone(), kind, span: name.span });
        }
    }

    fn ty(&mut self, name: &Ident) -> Type {
        if name.name == "int" || name.name.is_empty() {
            return Type::Int;
        }
        if let Some(id) = self.struct_names.get(&name.name) {
            return Type::Ref(*id);
        }
        let known = self.struct_names.keys().map(String::as_str).chain(["int"]);
        let help = nearest(&name.name, known).map(|near| format!("did you mean `{near}`?"));
        let help = help.unwrap_or_else(|| "a type is `int` or the name of a struct".to_owned());
        let message = format!("there is no type `{}`", name.name);
        self.report(Diagnostic::new(Code::UnknownName, message, name.span, "not found").help(help));
        Type::Int
    }

    fn operation_names(&mut self, file: &ast::File) {
        let count = file.operations.len();
        self.limit(count, limits::DECLARATIONS, "operations", Span::default());
        if count == 0 {
            let message = "this file has no operations";
            let help =
                "an operation is `name(arguments)` and its sub-operations, such as `1 x = 1;`";
            self.report(
                Diagnostic::new(Code::NoOperation, message, Span::default(), "no operation")
                    .help(help),
            );
        }
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for operation in &file.operations {
            let name = &operation.name;
            if let Some(old) = seen.insert(&name.name, name.span) {
                self.twice("operation", name, old);
            }
        }
    }

    /// Globals of struct type that nothing assigns are structures in place.
    fn places(&mut self, file: &ast::File) {
        let mut assigned = HashSet::new();
        for statement in every_statement(file) {
            match &statement.kind {
                ast::StatementKind::Malloc(name, _) => {
                    assigned.insert(name.name.as_str());
                }
                ast::StatementKind::Assign(target, _) => {
                    if let ast::TermKind::Place(place) = &target.kind
                        && place.access.is_none()
                    {
                        assigned.insert(&place.name.name);
                    }
                }
                _ => {}
            }
        }
        for global in &mut self.model.globals {
            if let GlobalKind::Scalar(Type::Ref(of)) = global.kind
                && !assigned.contains(global.name.as_str())
            {
                global.kind = GlobalKind::Place(of);
            }
        }
    }

    fn initially(&mut self, file: &ast::File) {
        if let [first, second, ..] = &file.initially[..] {
            let mistake = Diagnostic::new(
                Code::Repeated,
                "a file starts once",
                second.span,
                "another `initially`",
            );
            self.report(mistake.related(first.span, "the first"));
        }
        let Some(block) = file.initially.first() else { return };
        let locals = self.variables(&block.locals, "local variable", &[]);
        let scope = Scope { locals: &locals, ..Scope::default() };
        let mut initially = Initially::default();
        for statement in &block.statements {
            if let ast::StatementKind::Fill(array, value) = &statement.kind {
                if !initially.statements.is_empty() {
                    let message = "arrays are filled before anything else is assigned";
                    let label = "move this to the beginning of `initially`";
                    self.report(Diagnostic::new(Code::Initially, message, statement.span, label));
                }
                initially.fills.extend(self.fill(array, value));
                continue;
            }
            if let ast::StatementKind::Read(_) = statement.kind {
                let message = "`initially` belongs to no thread, so it cannot `READ`";
                self.report(Diagnostic::new(
                    Code::Initially,
                    message,
                    statement.span,
                    "no operation",
                ));
                continue;
            }
            initially.statements.extend(self.statement(statement, &scope, &mut 0));
        }
        initially.locals = locals;
        self.model.initially = initially;
    }

    /// `initially` can be executed.
    fn start(&mut self) {
        let machine = Machine::new(&self.model);
        let Some(statement) = machine.undefined_at_start().map(|statement| statement.span()) else {
            return;
        };
        let message = "this is not defined when it is executed";
        let help = "a field needs an object: `x = malloc node;` first; an index needs an integer";
        self.report(
            Diagnostic::new(Code::Initially, message, statement, "accesses nothing").help(help),
        );
    }

    fn twice(&mut self, what: &str, name: &Ident, old: Span) {
        if name.name.is_empty() {
            return;
        }
        let message = format!("there are two declarations of `{}`", name.name);
        let label = format!("this {what} has a name that is taken");
        self.report(
            Diagnostic::new(Code::Repeated, message, name.span, label)
                .related(old, "declared here"),
        );
    }

    fn limit(&mut self, count: usize, limit: usize, what: &str, span: Span) {
        if count > limit {
            let message = format!("more than {limit} {what}");
            self.report(Diagnostic::new(Code::TooLarge, message, span, "too many"));
        }
    }

    fn field_of(&self, of: StructId, name: &str) -> Option<FieldId> {
        self.model.structs[of.0].fields.iter().position(|field| field.name == name).map(FieldId)
    }

    fn local_of(locals: &[Variable], name: &str) -> Option<LocalId> {
        locals.iter().position(|local| local.name == name).map(LocalId)
    }

    fn operation_called(&mut self, name: &Ident) -> Option<OperationId> {
        let found = self.model.operation(&name.name);
        if found.is_none() && !name.name.is_empty() {
            let known = self.model.operations.iter().map(|operation| operation.name.as_str());
            let help = nearest(&name.name, known).map(|near| format!("did you mean `{near}`?"));
            let message = format!("there is no operation `{}`", name.name);
            self.report(
                Diagnostic::new(Code::UnknownName, message, name.span, "not found")
                    .maybe_help(help),
            );
        }
        found
    }
}

/// Every statement of every operation and of `initially`.
fn every_statement(file: &ast::File) -> Vec<&ast::Statement> {
    fn collect<'a>(items: &'a [ast::Item], into: &mut Vec<&'a ast::Statement>) {
        for item in items {
            match item {
                ast::Item::Step(step) => into.extend(&step.statements),
                ast::Item::Either(branches, _) => {
                    branches.iter().for_each(|branch| collect(branch, into));
                }
            }
        }
    }
    let mut statements: Vec<_> =
        file.initially.iter().flat_map(|block| &block.statements).collect();
    file.operations.iter().for_each(|operation| collect(&operation.items, &mut statements));
    statements
}
