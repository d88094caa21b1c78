//! Declarations: parameters, variables, the outsides of functions. Roles and bounds are in
//! [`client`](super::client).

use super::types::default_value;
use super::{Checker, FUNCTIONS, Function, Globals, MAY_BE_DECLARED, Parameter, RESERVED, quoted};
use crate::limits;
use crate::syntax::ast::{self, Ident, Item};
use linchpin_ir::program::{Type, Variable};
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    pub(super) fn reject_too_many(&mut self, model: &ast::Model) -> Option<()> {
        let inside = model.items.iter().map(|item| match item {
            Item::SpecBlock(b) => b.state.len() + b.operations.len() + b.functions.len(),
            Item::Reference(b) => b.shared.len() + b.inits.len() + b.operations.len(),
            Item::Role(_, operations) => operations.len(),
            Item::Preload(block) => block.calls.len(),
            _ => 1,
        });
        if inside.sum::<usize>() <= limits::DECLARATIONS {
            return Some(());
        }
        let message = format!("this model has more than {} declarations", limits::DECLARATIONS);
        self.report(Diagnostic::new(Code::TooLarge, message, Span::default(), "too large"));
        None
    }

    /// Values of the parameters: what the configuration says, else the default.
    pub(super) fn parameters(&mut self, model: &ast::Model) {
        let mut known = Vec::new();
        for item in &model.items {
            let Item::Param(param) = item else { continue };
            known.push(param.name.name.as_str());
            let name = param.name.name.clone();
            if let Some(value) = self.parameter(param) {
                self.constants.insert(name, value);
            } else {
                self.mistaken.insert(name);
            }
        }
        for (name, _) in &self.config.params {
            if !known.contains(&name.as_str()) {
                let message = format!("`--set {name}=…`: this model has no parameter `{name}`");
                let help = match known.is_empty() {
                    true => "it has none".to_owned(),
                    false => format!("it has {}", quoted(&known)),
                };
                self.report(Diagnostic::of_flag(Code::Setting, "--set", message).help(help));
            }
        }
    }

    fn parameter(&mut self, param: &ast::Variable) -> Option<(Value, Type)> {
        let ty = self.ty(&param.ty)?;
        if !matches!(ty, Type::Int | Type::Bool) {
            let message = "a parameter is an `int` or a `bool`";
            self.report(Diagnostic::new(
                Code::TypeNotHere,
                message,
                param.ty.span,
                "not allowed here",
            ));
            return None;
        }
        let Some(default) = &param.value else {
            let message = format!("the parameter `{}` needs a value", param.name.name);
            self.report(
                Diagnostic::new(Code::NoDefault, message, param.name.span, "no default")
                    .help(format!("write `param {}: int = 3;`", param.name.name)),
            );
            return None;
        };
        let default = self.constant(default, &ty)?;
        let set = self.config.params.iter().rev().find(|(name, _)| *name == param.name.name);
        match set {
            Some((_, value)) if fits(value, &ty) => Some((value.clone(), ty)),
            Some((name, value)) => {
                let message = format!("`--set {name}={value}` does not fit");
                let wanted = format!("this parameter is of type {}", self.type_name(&ty));
                self.report(Diagnostic::new(Code::Setting, message, param.ty.span, wanted));
                None
            }
            None => Some((default, ty)),
        }
    }

    /// Shared and thread-local variables with their initial values.
    pub(super) fn variables(&mut self, model: &ast::Model) -> Globals {
        let mut globals = Globals::default();
        for item in &model.items {
            match item {
                Item::Shared(variable) => globals.shared.extend(self.shared(variable)),
                Item::Local(variable) => globals.thread_locals.extend(self.thread_local(variable)),
                _ => {}
            }
        }
        globals
    }

    pub(super) fn shared(&mut self, variable: &ast::Variable) -> Option<Variable> {
        let ty = self.storable(&variable.ty);
        self.initialised(variable, ty)
    }

    fn thread_local(&mut self, variable: &ast::Variable) -> Option<Variable> {
        let ty = self.storable(&variable.ty);
        let is_lock = |ty: &Type| match ty {
            Type::Array(item, _) => **item == Type::Lock,
            ty => *ty == Type::Lock,
        };
        if ty.as_ref().is_some_and(is_lock) {
            let message = "a lock that belongs to one thread excludes no other thread";
            self.report(
                Diagnostic::new(Code::Lock, message, variable.ty.span, "not shared")
                    .help(format!("declare it by `shared {}: lock;`", variable.name.name)),
            );
            self.mistaken.insert(variable.name.name.clone());
            return None;
        }
        if ty.as_ref().is_some_and(has_rows) {
            let message = "a thread keeps no arrays of arrays";
            self.report(
                Diagnostic::new(Code::TypeNotHere, message, variable.ty.span, "not shared")
                    .help("use one array and compute the index"),
            );
            self.mistaken.insert(variable.name.name.clone());
            return None;
        }
        self.initialised(variable, ty)
    }

    /// The variable with its initial value; if it has none, its name is marked as mistaken.
    pub(super) fn initialised(
        &mut self,
        variable: &ast::Variable,
        ty: Option<Type>,
    ) -> Option<Variable> {
        let initialised = ty.and_then(|ty| self.initial_value(variable, ty));
        if initialised.is_none() {
            self.mistaken.insert(variable.name.name.clone());
        }
        initialised
    }

    /// The initial value: the one written, else the default of the type.
    fn initial_value(&mut self, variable: &ast::Variable, ty: Type) -> Option<Variable> {
        self.charge(ty.words(), variable.name.span)?;
        let initial = match &variable.value {
            Some(value) => self.constant(value, &ty)?,
            None => match default_value(&ty) {
                Some(value) => value,
                None => {
                    let message = format!("{} has no default value", self.type_name(&ty));
                    self.report(
                        Diagnostic::new(
                            Code::NoDefault,
                            message,
                            variable.ty.span,
                            "needs an initial value",
                        )
                        .help("use `tid?`, which starts as `none`"),
                    );
                    return None;
                }
            },
        };
        Some(Variable { name: variable.name.name.clone(), ty, initial })
    }

    /// Collects the outsides of functions, so that bodies can call them in any order.
    pub(super) fn signatures(&mut self, functions: &[&ast::Routine]) {
        for function in functions {
            let parameters: Vec<_> =
                function.parameters.iter().map(|p| self.parameter_of_function(&p.ty)).collect();
            let parameters = parameters.into_iter().collect::<Option<Vec<_>>>();
            let response = match &function.response {
                Some(ty) => self.ty(ty),
                None => Some(Type::Unit),
            };
            let depth = function.depth.as_ref().and_then(|depth| self.depth(depth));
            self.globals.functions.push(Function {
                name: function.name.name.clone(),
                signature: parameters.zip(response),
                depth,
                need: None,
            });
        }
    }

    fn parameter_of_function(&mut self, ty: &ast::TypeExpr) -> Option<Parameter> {
        match &ty.kind {
            ast::TypeKind::Place(inner) => self.passable(inner).map(Parameter::Place),
            _ => self.ty(ty).map(Parameter::Value),
        }
    }

    /// How many calls of a function may be open at a time.
    fn depth(&mut self, depth: &ast::Expr) -> Option<usize> {
        let count = self.constant(depth, &Type::Int)?.as_int()?;
        let possible = usize::try_from(count).ok().filter(|c| (1..=limits::CALLS).contains(c));
        if possible.is_none() {
            let message = format!("a function cannot be {count} calls deep");
            let label = format!("must be between 1 and {}", limits::CALLS);
            self.report(Diagnostic::new(Code::Recursion, message, depth.span, label));
        }
        possible
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
                Item::Preload(block) => once.push(("preload", block.span)),
                Item::Reference(block) => once.push(("reference", block.span)),
                Item::Bounds(_, span) => once.push(("bounds", *span)),
                Item::Recover(_, span) => once.push(("recover", *span)),
                Item::Resolve(routine) => once.push(("recover(t)", routine.name.span)),
                Item::Role(..) => {}
            }
        }
        self.reject_repeated("variable", &values, RESERVED);
        self.reject_repeated("operation or function", &routines, &[]);
        self.reject_hidden(functions(model));
        let builtin = ["int", "bool", "tid", "lock", "seq", "set", "map"];
        self.reject_repeated("type", &types, &builtin);
        for (at, (word, span)) in once.iter().enumerate() {
            if let Some((_, first)) = once[..at].iter().find(|(other, _)| other == word) {
                let message = format!("a model has one `{word}`");
                self.report(
                    Diagnostic::new(Code::Repeated, message, *span, "second")
                        .related(*first, "first"),
                );
            }
        }
    }

    /// Operations may have the names of built-in functions, for bodies cannot call them; functions
    /// hide only those that a model may have a use for.
    pub(super) fn reject_hidden<'a>(&mut self, functions: impl Iterator<Item = &'a ast::Routine>) {
        let names: Vec<&Ident> = functions
            .map(|function| &function.name)
            .filter(|name| !MAY_BE_DECLARED.contains(&name.name.as_str()))
            .collect();
        for name in names {
            self.reject_repeated("function", &[name], FUNCTIONS);
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
                self.report(Diagnostic::new(
                    Code::BuiltIn,
                    message,
                    ident.span,
                    "choose another name",
                ));
            } else if let Some(first) = seen.insert(name, ident.span) {
                let message = format!("the {what} `{name}` is declared twice");
                self.report(
                    Diagnostic::new(Code::Repeated, message, ident.span, "declared again")
                        .related(first, "first declared here"),
                );
            }
        }
    }
}

/// Whether this is an array of arrays.
pub(super) fn has_rows(ty: &Type) -> bool {
    matches!(ty, Type::Array(item, _) if matches!(**item, Type::Array(..)))
}

/// The variable with its rows behind each other: what follows knows no arrays of arrays.
pub(super) fn flat(mut variable: Variable) -> Variable {
    while let Type::Array(row, count) = &variable.ty
        && let Type::Array(item, length) = &**row
    {
        variable.ty = Type::Array(item.clone(), count * length);
        let rows = variable.initial.as_list().unwrap_or_default().iter();
        let words = rows.flat_map(|row| row.as_list().unwrap_or_default().iter().cloned());
        variable.initial = Value::list(words);
    }
    variable
}

/// The shared and thread-local variables of the model, in order.
pub(super) fn variables(model: &ast::Model) -> impl Iterator<Item = &ast::Variable> {
    model.items.iter().filter_map(|item| match item {
        Item::Shared(variable) | Item::Local(variable) => Some(variable),
        _ => None,
    })
}

/// The operations of the model, in order.
pub(super) fn operations(model: &ast::Model) -> impl Iterator<Item = &ast::Routine> {
    model.items.iter().filter_map(|item| match item {
        Item::Op(routine) => Some(routine),
        _ => None,
    })
}

/// The functions of the model, in order.
pub(super) fn functions(model: &ast::Model) -> impl Iterator<Item = &ast::Routine> {
    model.items.iter().filter_map(|item| match item {
        Item::Fn(routine) => Some(routine),
        _ => None,
    })
}

fn fits(value: &Value, ty: &Type) -> bool {
    matches!((value, ty), (Value::Int(_), Type::Int) | (Value::Bool(_), Type::Bool))
}
