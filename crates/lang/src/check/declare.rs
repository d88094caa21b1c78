//! Declarations: parameters, variables, functions, roles and bounds.

use super::scope::{Kind, Scope};
use super::types::default_value;
use super::{Checker, FUNCTIONS, Function, Globals, RESERVED, Threads, quoted};
use crate::diagnostic::{Diagnostic, Span};
use crate::hir::{self, Bounds};
use crate::syntax::ast::{self, Ident, Item};
use linchpin_ir::program::{Thread, Type, Variable};
use linchpin_spec::Value;

/// More threads than this make no sense for exhaustive engines and only cost memory for the others.
const MAX_THREADS: i64 = 256;

impl Checker<'_> {
    /// Values of the parameters: what the configuration says, else the default.
    pub(super) fn parameters(&mut self, model: &ast::Model) {
        let mut known = Vec::new();
        for item in &model.items {
            let Item::Param(param) = item else { continue };
            known.push(param.name.name.as_str());
            let Some(ty) = self.ty(&param.ty) else { continue };
            if !matches!(ty, Type::Int | Type::Bool) {
                let message = "a parameter is an `int` or a `bool`";
                self.report(Diagnostic::new(message, param.ty.span, "not allowed here"));
                continue;
            }
            let default = match &param.value {
                Some(value) => self.constant(value, &ty),
                None => {
                    let message = format!("the parameter `{}` needs a value", param.name.name);
                    self.report(
                        Diagnostic::new(message, param.name.span, "no default")
                            .help(format!("write `param {}: int = 3;`", param.name.name)),
                    );
                    None
                }
            };
            let set = self.config.params.iter().rev().find(|(name, _)| *name == param.name.name);
            let value = match set {
                Some((_, value)) if fits(value, &ty) => Some(value.clone()),
                Some((name, value)) => {
                    let message = format!("`--set {name}={value}` does not fit");
                    let wanted = format!("this parameter is of type {}", self.type_name(&ty));
                    self.report(Diagnostic::new(message, param.ty.span, wanted));
                    None
                }
                None => default,
            };
            if let Some(value) = value {
                self.constants.insert(param.name.name.clone(), (value, ty));
            }
        }
        for (name, _) in &self.config.params {
            if !known.contains(&name.as_str()) {
                let message = format!("`--set {name}=…`: this model has no parameter `{name}`");
                let help = match known.is_empty() {
                    true => "it has none".to_owned(),
                    false => format!("it has {}", quoted(&known)),
                };
                let mistake = Diagnostic::new(message, Span::default(), "in this model").help(help);
                self.diagnostics.push(mistake);
            }
        }
    }

    /// Roles and bounds: the threads, what each may call, and the bounds. Defines `threads`.
    pub(super) fn client(&mut self, model: &ast::Model) -> (Vec<Thread>, Bounds) {
        let operations: Vec<&str> = operations(model).map(|op| op.name.name.as_str()).collect();
        let roles = self.roles(model, &operations);
        let mut bounds = Bounds { ops: 2, values: 2, size: None };
        let mut counts: Vec<(String, usize)> = Vec::new();
        for item in &model.items {
            let Item::Bounds(entries, _) = item else { continue };
            for (name, value) in entries {
                self.bound(name, value, &roles, &mut bounds, &mut counts);
            }
        }
        let threads = self.threads(&roles, &counts, operations.len());
        let count = Value::Int(threads.len() as i64);
        self.constants.insert("threads".to_owned(), (count, Type::Int));
        (threads, bounds)
    }

    fn roles(&mut self, model: &ast::Model, operations: &[&str]) -> Vec<(String, Vec<usize>)> {
        let mut roles: Vec<(String, Vec<usize>)> = Vec::new();
        for item in &model.items {
            let Item::Role(name, members) = item else { continue };
            let mut calls = Vec::new();
            for member in members {
                match operations.iter().position(|known| *known == member.name) {
                    Some(at) => calls.push(at),
                    None => self.unknown("operation", member, operations.iter().copied()),
                }
            }
            let taken = ["threads", "ops", "values", "size"].contains(&name.name.as_str());
            if taken || roles.iter().any(|(known, _)| *known == name.name) {
                let message = format!("the name `{}` is taken", name.name);
                self.report(Diagnostic::new(message, name.span, "choose another name for this role"));
                continue;
            }
            roles.push((name.name.clone(), calls));
        }
        roles
    }

    fn bound(
        &mut self,
        name: &Ident,
        value: &ast::Expr,
        roles: &[(String, Vec<usize>)],
        bounds: &mut Bounds,
        counts: &mut Vec<(String, usize)>,
    ) {
        let is_count = name.name == "threads" || roles.iter().any(|(role, _)| *role == name.name);
        if !is_count && !["ops", "values", "size"].contains(&name.name.as_str()) {
            let roles = roles.iter().map(|(role, _)| role.as_str());
            self.unknown("bound", name, ["threads", "ops", "values", "size"].into_iter().chain(roles));
            return;
        }
        let Some(number) = self.constant(value, &Type::Int).and_then(|v| v.as_int()) else { return };
        let limit = if is_count { MAX_THREADS } else { 1_000_000_000 };
        if number < 0 || number > limit {
            let message = format!("the bound `{}` cannot be {number}", name.name);
            let label = format!("must be between 0 and {limit}");
            self.report(Diagnostic::new(message, value.span, label));
            return;
        }
        match name.name.as_str() {
            "ops" => bounds.ops = number as usize,
            "values" => bounds.values = number,
            "size" => bounds.size = Some(number as usize),
            _ => counts.push((name.name.clone(), number as usize)),
        }
        if name.name == "threads" && !roles.is_empty() {
            let names: Vec<&str> = roles.iter().map(|(role, _)| role.as_str()).collect();
            let message = "this model has roles, so each needs a number of its own";
            self.report(
                Diagnostic::new(message, name.span, "for which role?")
                    .help(format!("name them: {}", quoted(&names))),
            );
        }
    }

    fn threads(
        &mut self,
        roles: &[(String, Vec<usize>)],
        counts: &[(String, usize)],
        operations: usize,
    ) -> Vec<Thread> {
        let declared = |name: &str| counts.iter().rev().find(|(n, _)| n == name).map(|(_, c)| *c);
        let mut chosen: Vec<(&str, usize)> = match &self.config.threads {
            Threads::AsDeclared => Vec::new(),
            Threads::Count(count) => vec![("threads", *count)],
            Threads::PerRole(roles) => roles.iter().map(|(r, c)| (r.as_str(), *c)).collect(),
        };
        if let Some(mistake) = self.misfit(roles, &chosen) {
            self.report(mistake);
            chosen.clear();
        }
        let count = |name: &str, default: usize| {
            let set = chosen.iter().rev().find(|(n, _)| *n == name).map(|(_, c)| *c);
            set.or_else(|| declared(name)).unwrap_or(default).min(MAX_THREADS as usize)
        };
        if roles.is_empty() {
            let thread = Thread { role: None, operations: (0..operations).collect() };
            return vec![thread; count("threads", 2)];
        }
        let of_role = |(name, calls): &(String, Vec<usize>)| {
            let thread = Thread { role: Some(name.clone()), operations: calls.clone() };
            vec![thread; count(name, 1)]
        };
        roles.iter().flat_map(of_role).collect()
    }

    /// What is wrong with the `--threads` that the user chose for a model with these roles.
    fn misfit(
        &self,
        roles: &[(String, Vec<usize>)],
        chosen: &[(&str, usize)],
    ) -> Option<Diagnostic> {
        let names: Vec<&str> = roles.iter().map(|(role, _)| role.as_str()).collect();
        for (name, count) in chosen {
            let message = match (*name == "threads", roles.is_empty()) {
                (true, false) => format!("`--threads {count}`: this model has roles"),
                (false, _) if !names.contains(name) => {
                    format!("`--threads {name}={count}`: this model has no role `{name}`")
                }
                _ => continue,
            };
            let help = match names.first() {
                None => "say `--threads 3`".to_owned(),
                Some(first) => format!("say `--threads {first}=2`; the roles are {}", quoted(&names)),
            };
            return Some(Diagnostic::new(message, Span::default(), "in this model").help(help));
        }
        None
    }

    /// Shared and thread-local variables with their initial values.
    pub(super) fn variables(&mut self, model: &ast::Model) -> Globals {
        let mut globals = Globals::default();
        for item in &model.items {
            match item {
                Item::Shared(variable) => globals.shared.extend(self.shared(variable)),
                Item::Local(variable) => globals.thread_locals.extend(self.shared(variable)),
                _ => {}
            }
        }
        globals
    }

    fn shared(&mut self, variable: &ast::Variable) -> Option<Variable> {
        let ty = self.storable(&variable.ty)?;
        self.initialised(variable, ty)
    }

    /// The variable with its initial value: the one written, else the default of its type.
    pub(super) fn initialised(&mut self, variable: &ast::Variable, ty: Type) -> Option<Variable> {
        let initial = match &variable.value {
            Some(value) => self.constant(value, &ty)?,
            None => match default_value(&ty) {
                Some(value) => value,
                None => {
                    let message = format!("{} has no default value", self.type_name(&ty));
                    self.report(
                        Diagnostic::new(message, variable.ty.span, "needs an initial value")
                            .help("use `tid?`, which starts as `none`"),
                    );
                    return None;
                }
            },
        };
        Some(Variable { name: variable.name.name.clone(), ty, initial })
    }

    /// Collects the outsides of functions, so that bodies can call them in any order.
    pub(super) fn functions<'a>(&mut self, functions: impl Iterator<Item = &'a ast::Routine>) {
        for function in functions {
            let parameters =
                function.parameters.iter().map(|p| self.ty(&p.ty)).collect::<Option<Vec<_>>>();
            let response = match &function.response {
                Some(ty) => self.ty(ty),
                None => Some(Type::Unit),
            };
            // Functions that do not check keep their place, so that indexes stay right.
            self.globals.functions.push(Function {
                name: function.name.name.clone(),
                parameters: parameters.unwrap_or_default(),
                response: response.unwrap_or(Type::Unit),
            });
        }
    }

    /// A name may be declared once, and not be one that already means something.
    pub(super) fn reject_duplicates(&mut self, model: &ast::Model) {
        let mut values: Vec<&Ident> = Vec::new();
        let mut routines: Vec<&Ident> = Vec::new();
        let mut types: Vec<&Ident> = Vec::new();
        let mut once: Vec<(&str, Span)> = Vec::new();
        for item in &model.items {
            match item {
                Item::Param(v) | Item::Shared(v) | Item::Local(v) => values.push(&v.name),
                Item::Op(routine) | Item::Fn(routine) => routines.push(&routine.name),
                Item::Struct(fields) | Item::Record(fields) => types.push(&fields.name),
                Item::SpecName(name, _) => once.push(("spec", name.span)),
                Item::SpecBlock(block) => once.push(("spec", block.span)),
                Item::Init(_, span) => once.push(("init", *span)),
                Item::Bounds(_, span) => once.push(("bounds", *span)),
                Item::Role(..) => {}
            }
        }
        self.reject_repeated("variable", &values, RESERVED);
        self.reject_repeated("operation or function", &routines, FUNCTIONS);
        let builtin = ["int", "bool", "tid", "lock", "seq", "set", "map"];
        self.reject_repeated("type", &types, &builtin);
        for (at, (word, span)) in once.iter().enumerate() {
            if let Some((_, first)) = once[..at].iter().find(|(other, _)| other == word) {
                let message = format!("a model has one `{word}`");
                self.report(Diagnostic::new(message, *span, "second").related(*first, "first"));
            }
        }
    }

    pub(super) fn reject_repeated(&mut self, what: &str, names: &[&Ident], reserved: &[&str]) {
        let mut seen = std::collections::HashMap::new();
        for ident in names {
            let name = ident.name.as_str();
            if name.is_empty() {
                continue;
            }
            if reserved.contains(&name) {
                let message = format!("`{name}` is built in and cannot be declared");
                self.report(Diagnostic::new(message, ident.span, "choose another name"));
            } else if let Some(first) = seen.insert(name, ident.span) {
                let message = format!("the {what} `{name}` is declared twice");
                self.report(
                    Diagnostic::new(message, ident.span, "declared again").related(first, "first declared here"),
                );
            }
        }
    }

    /// Evaluates a constant expression of the given type.
    pub(super) fn constant(&mut self, expr: &ast::Expr, ty: &Type) -> Option<Value> {
        let mut scope = Scope::new(Kind::Constant, Type::Unit);
        let checked: hir::Expr = self.expr(&mut scope, expr, Some(ty))?;
        let Some(value) = checked.as_const() else {
            self.report(
                Diagnostic::new("this is not a constant", expr.span, "must be known before the run")
                    .help("constants are made of numbers, parameters, `threads`, `null`, `none`; use `init { }` for the rest"),
            );
            return None;
        };
        Some(value.clone())
    }
}

/// The operations of the model, in order.
pub(super) fn operations(model: &ast::Model) -> impl Iterator<Item = &ast::Routine> {
    model.items.iter().filter_map(|item| match item {
        Item::Op(routine) => Some(routine),
        _ => None,
    })
}

fn fits(value: &Value, ty: &Type) -> bool {
    matches!((value, ty), (Value::Int(_), Type::Int) | (Value::Bool(_), Type::Bool))
}
