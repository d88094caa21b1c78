//! Names and types: the syntax tree becomes a [`hir::Model`](crate::hir::Model), or a list of
//! mistakes.
//!
//! Parameters and thread counts are fixed before anything else, so every size is a number here.
//! Checking goes on after a mistake; `None` means that the mistake has been reported. A name whose
//! declaration is mistaken is remembered, so that its uses are not reported too.
//!
//! Start with [`check`]; [`declare`] collects what is declared, [`statement`] and [`expression`] go
//! through the bodies.

mod access;
mod aggregate;
mod annotation;
mod binding;
mod client;
mod collection;
mod constant;
mod declare;
mod expression;
mod formula;
mod implements;
mod persistence;
mod place;
mod preload;
mod recursion;
mod reference;
mod routine;
mod scope;
mod statement;
#[cfg(test)]
mod tests;
mod types;
mod wrapping;

use crate::hir;
use crate::syntax::ast;
use crate::{Config, limits};
use linchpin_ir::program::{Struct, Type, Variable};
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Lines, Mistakes, Span, nearest};
use std::collections::{BTreeMap, HashSet};

/// Names that mean something everywhere and cannot be declared.
pub const RESERVED: &[&str] = &["me", "threads", "MIN", "MAX", "_"];

/// The built-in functions.
pub const FUNCTIONS: &[&str] = &[
    "cas", "swap", "faa", "ll", "sc", "lock", "unlock", "free", "choose", "assume", "assert",
    "unwrap", "reach", "int",
];

/// Those of them that a model may declare as functions of its own, which then hide them.
const MAY_BE_DECLARED: &[&str] = &["ll", "sc"];

/// Checks a model.
pub fn check(
    source: &str,
    model: &ast::Model,
    config: &Config,
) -> Result<hir::Model, Vec<Diagnostic>> {
    let mut checker = Checker::new(source, config);
    let checked = checker.model(model);
    checker.conclude(checked)
}

/// Checks only the specification of a model; it may have no operations then.
pub fn check_spec(
    source: &str,
    model: &ast::Model,
    config: &Config,
) -> Result<hir::Spec, Vec<Diagnostic>> {
    let mut checker = Checker::new(source, config);
    let checked = checker.spec_alone(model);
    checker.conclude(checked)
}

struct Checker<'s> {
    source: &'s str,
    config: &'s Config,
    lines: Lines,
    diagnostics: Mistakes,
    /// The shared and thread-local variables of the model, known before their types are.
    variables: HashSet<String>,
    /// What is declared, but with a mistake that has been reported: variables, types, and fields as
    /// `Node.next`.
    mistaken: HashSet<String>,
    /// Values of the parameters, and of `threads`.
    constants: BTreeMap<String, (Value, Type)>,
    structs: Vec<Struct>,
    /// Which of the structs are persistent.
    persistent_structs: HashSet<usize>,
    records: BTreeMap<String, Type>,
    /// What can be named in a body of the part that is being checked.
    globals: Globals,
    /// What is being checked.
    part: Part,
    /// How many words the variables and array literals hold so far.
    words: usize,
    /// The operations whose specification looks at the thread that calls them.
    seen_callers: HashSet<String>,
}

/// The parts of a model that have bodies. Each has its own variables and operations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    /// The model itself.
    Model,
    /// Its `spec { }` block.
    Spec,
    /// Its `reference { }` block.
    Reference,
}

/// The variables and routines that bodies can name.
#[derive(Default)]
struct Globals {
    shared: Vec<Variable>,
    thread_locals: Vec<Variable>,
    functions: Vec<Function>,
    /// The names of the operations, which bodies cannot call.
    operations: Vec<String>,
    /// Which of the shared variables are persistent.
    persistent: HashSet<usize>,
    /// The function being checked, if it is one.
    current: Option<usize>,
    /// Which function calls which, and where.
    calls: Vec<(usize, usize, Span)>,
    /// The variables of the model, while its `reference { }` is checked: they cannot be named.
    outside: HashSet<String>,
}

/// What a function takes.
#[derive(Clone, PartialEq, Eq)]
enum Parameter {
    /// A value of this type.
    Value(Type),
    /// A place that holds a value of this type.
    Place(Type),
}

/// The outside of a function.
struct Function {
    name: String,
    /// The types of the parameters and of the result, unless they are mistaken.
    signature: Option<(Vec<Parameter>, Type)>,
    /// How many calls of it may be open at a time, if it may call itself.
    depth: Option<usize>,
    /// What it uses that a `reference { }` does not have, if anything.
    need: Option<reference::Need>,
}

impl<'s> Checker<'s> {
    fn new(source: &'s str, config: &'s Config) -> Checker<'s> {
        Checker {
            source,
            config,
            lines: Lines::new(source),
            diagnostics: Mistakes::default(),
            variables: HashSet::new(),
            mistaken: HashSet::new(),
            constants: BTreeMap::new(),
            structs: Vec::new(),
            persistent_structs: HashSet::new(),
            records: BTreeMap::new(),
            globals: Globals::default(),
            part: Part::Model,
            words: 0,
            seen_callers: HashSet::new(),
        }
    }

    /// What was checked, if there is no mistake.
    fn conclude<T>(self, checked: Option<T>) -> Result<T, Vec<Diagnostic>> {
        match checked {
            Some(checked) if self.diagnostics.is_empty() => Ok(checked),
            _ => {
                let mut mistakes = self.diagnostics.into_vec();
                mistakes.sort_by_key(|mistake| mistake.span);
                Err(mistakes)
            }
        }
    }

    fn spec_alone(&mut self, model: &ast::Model) -> Option<hir::Spec> {
        self.reject_too_many(model)?;
        self.variables = declare::variables(model).map(|v| v.name.name.clone()).collect();
        self.parameters(model);
        self.client(model);
        self.types(model);
        self.spec(model)
    }

    fn model(&mut self, model: &ast::Model) -> Option<hir::Model> {
        self.reject_too_many(model)?;
        self.variables = declare::variables(model).map(|v| v.name.name.clone()).collect();
        self.parameters(model);
        let (threads, bounds) = self.client(model);
        self.types(model);
        self.reject_duplicates(model);
        let spec = self.spec(model);
        self.globals = self.variables(model);
        let lines = self.lines(model);
        self.globals.operations =
            declare::operations(model).map(|routine| routine.name.name.clone()).collect();
        let declared: Vec<&ast::Routine> = declare::functions(model).collect();
        self.signatures(&declared);
        let functions = self.function_bodies(&declared);
        let operations: Vec<hir::Routine> = declare::operations(model)
            .filter_map(|routine| self.routine(routine, scope::Kind::Op))
            .collect();
        let init = model.items.iter().find_map(|item| match item {
            ast::Item::Init(block, span) => Some(self.init(block, *span)),
            _ => None,
        });
        let preload = self.preload(model, &operations);
        let persistence = self.recovery(model, lines, &operations);
        if operations.is_empty() && self.diagnostics.is_empty() {
            self.no_operation(declared.first().map(|function| &function.name));
        }
        let spec = self.implements(model, spec, &operations);
        let mut globals = std::mem::take(&mut self.globals);
        let reference = self.reference(model, &mut globals, &operations);
        let (functions, spec) = (functions?, spec?);
        let flat = |variables: Vec<Variable>| variables.into_iter().map(declare::flat).collect();
        let structs: Vec<Struct> = std::mem::take(&mut self.structs)
            .into_iter()
            .map(|object| Struct { name: object.name, fields: flat(object.fields) })
            .collect();
        let reference = reference.map(|reference| {
            let (structs, functions) = (structs.clone(), functions.clone());
            let (shared, spec) = (flat(reference.shared), spec.clone());
            Box::new(hir::Model { structs, functions, shared, spec, bounds, ..reference })
        });
        Some(hir::Model {
            structs,
            shared: flat(globals.shared),
            thread_locals: globals.thread_locals,
            init: init.flatten(),
            preload,
            operations,
            functions,
            spec,
            threads,
            bounds,
            reference,
            persistence,
        })
    }

    /// Says that there is nothing to call; perhaps the first function was meant as an operation.
    fn no_operation(&mut self, function: Option<&ast::Ident>) {
        let message = "this model has no operation";
        self.report(match function {
            Some(ast::Ident { name, span }) => Diagnostic::new(
                Code::NoOperation,
                message,
                *span,
                "a `fn` is called by operations, not by clients",
            )
            .help(format!("if clients call `{name}`, declare it as `op {name}(…)`")),
            None => Diagnostic::new(Code::NoOperation, message, Span::default(), "nothing to call")
                .help("declare what clients call: `op push(v: int) { … }`"),
        });
    }

    fn report(&mut self, mistake: Diagnostic) {
        if !self.diagnostics.contains(&mistake) {
            self.diagnostics.push(mistake);
        }
    }

    fn line(&self, span: Span) -> u32 {
        self.lines.line(span)
    }

    /// Counts the words of a variable or array literal, before they are made. Says so if they
    /// become too many.
    fn charge(&mut self, words: usize, span: Span) -> Option<()> {
        let before = self.words;
        self.words = before.saturating_add(words);
        if self.words <= limits::WORDS {
            return Some(());
        }
        if before <= limits::WORDS {
            let message = format!(
                "the variables and arrays of this model hold more than {} words",
                limits::WORDS
            );
            self.report(
                Diagnostic::new(Code::TooLarge, message, span, "one too many")
                    .help("use shorter arrays: a few elements show how an algorithm behaves"),
            );
        }
        None
    }

    /// Reports an unknown name, with the nearest known one as advice.
    fn unknown<'a>(
        &mut self,
        what: &str,
        name: &ast::Ident,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        if !self.mistaken.contains(&name.name) {
            let message = format!("unknown {what} `{}`", name.name);
            self.not_found(
                Diagnostic::new(Code::UnknownName, message, name.span, "not found"),
                name,
                known,
            );
        }
    }

    /// Reports an unknown field or component of the type named `of`.
    fn unknown_field<'a>(
        &mut self,
        of: &str,
        field: &ast::Ident,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        if !self.mistaken.contains(&format!("{of}.{}", field.name)) {
            let message = format!("`{of}` has no field `{}`", field.name);
            self.not_found(
                Diagnostic::new(Code::UnknownField, message, field.span, "not found"),
                field,
                known,
            );
        }
    }

    fn not_found<'a>(
        &mut self,
        mistake: Diagnostic,
        name: &ast::Ident,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        if self.diagnostics.is_full() {
            return;
        }
        if let Some(help) = foreign_word(&name.name) {
            return self.report(mistake.help(help));
        }
        let known: Vec<&str> = known.into_iter().collect();
        let help = match nearest(&name.name, known.iter().copied()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if known.is_empty() || known.len() > 12 => None,
            None => Some(format!("known here: {}", quoted(&known))),
        };
        self.report(mistake.maybe_help(help));
    }
}

/// Advice for a name that means something in C, Java or Rust.
fn foreign_word(name: &str) -> Option<&'static str> {
    Some(match name {
        "NULL" | "Null" | "nil" | "nullptr" => "the null reference is `null`",
        "None" | "Nothing" => "the empty optional is `none`",
        "Some" | "Just" => "an optional needs no wrapper: where `T?` is expected, write the value",
        "this" | "self" => {
            "shared variables are named directly; the thread that runs the operation is `me`"
        }
        "void" => "what has no result has no `->`",
        "boolean" => "the type is `bool`",
        "i32" | "i64" | "u32" | "u64" | "usize" | "long" | "Integer" => "the type is `int`",
        "CAS" | "compareAndSet" | "compare_and_swap" | "compare_exchange" => {
            "write `cas(place, old, new)`"
        }
        "fetch_add" | "getAndAdd" => "write `faa(place, value)`",
        "exchange" | "getAndSet" => "write `swap(place, value)`",
        _ => return None,
    })
}

/// `1 place`, `2 places`.
fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// `` `a`, `b`, `c` ``
fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
