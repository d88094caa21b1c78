//! Names and types: the syntax tree becomes a [`hir::Model`](crate::hir::Model), or a list of mistakes.
//!
//! Parameters and thread counts are fixed before anything else, so every size is a number here. Checking goes on after a
//! mistake; `None` means that the mistake has been reported.
//!
//! Start with [`check`]; [`declare`] collects what is declared, [`statement`] and [`expression`] go through the bodies.

mod access;
mod collection;
mod declare;
mod expression;
mod formula;
mod implements;
mod place;
mod scope;
mod statement;
mod types;

use crate::diagnostic::{Diagnostic, Span, nearest};
use crate::hir;
use crate::syntax::ast;
use crate::{Config, Threads};
use linchpin_ir::program::{Struct, Type, Variable};
use linchpin_spec::Value;
use std::collections::HashMap;

/// Names that mean something everywhere and cannot be declared.
const RESERVED: &[&str] = &["me", "threads", "MIN", "MAX", "_"];

/// The built-in functions.
const FUNCTIONS: &[&str] = &[
    "cas", "swap", "faa", "ll", "sc", "lock", "unlock", "free", "choose", "assume", "assert", "unwrap",
    "reach",
];

/// Checks a model.
pub fn check(
    source: &str,
    model: &ast::Model,
    config: &Config,
) -> Result<hir::Model, Vec<Diagnostic>> {
    let mut checker = Checker::new(source, config);
    let checked = checker.model(model);
    checker.diagnostics.sort_by_key(|mistake| mistake.span);
    checker.diagnostics.dedup();
    match checked {
        Some(model) if checker.diagnostics.is_empty() => Ok(model),
        _ => Err(checker.diagnostics),
    }
}

/// Checks only the specification of a model, which needs no operations then.
pub fn check_spec(
    source: &str,
    model: &ast::Model,
    config: &Config,
) -> Result<hir::Spec, Vec<Diagnostic>> {
    let mut checker = Checker::new(source, config);
    checker.parameters(model);
    checker.client(model);
    checker.types(model);
    let spec = checker.spec(model);
    checker.diagnostics.sort_by_key(|mistake| mistake.span);
    checker.diagnostics.dedup();
    match spec {
        Some(spec) if checker.diagnostics.is_empty() => Ok(spec),
        _ => Err(checker.diagnostics),
    }
}

struct Checker<'s> {
    config: &'s Config,
    lines: Lines,
    diagnostics: Vec<Diagnostic>,
    /// Values of the parameters, and of `threads`.
    constants: HashMap<String, (Value, Type)>,
    structs: Vec<Struct>,
    records: HashMap<String, Type>,
    /// What can be named in a body: of the model, or of the `spec { }` block while that is checked.
    globals: Globals,
    /// Whether the `spec { }` block is being checked.
    in_spec: bool,
}

/// The variables and functions that bodies can name.
#[derive(Default)]
struct Globals {
    shared: Vec<Variable>,
    thread_locals: Vec<Variable>,
    functions: Vec<Function>,
}

/// The outside of a function.
struct Function {
    name: String,
    parameters: Vec<Type>,
    response: Type,
}

impl<'s> Checker<'s> {
    fn new(source: &str, config: &'s Config) -> Checker<'s> {
        Checker {
            config,
            lines: Lines::new(source),
            diagnostics: Vec::new(),
            constants: HashMap::new(),
            structs: Vec::new(),
            records: HashMap::new(),
            globals: Globals::default(),
            in_spec: false,
        }
    }

    fn model(&mut self, model: &ast::Model) -> Option<hir::Model> {
        self.parameters(model);
        let (threads, bounds) = self.client(model);
        self.types(model);
        self.reject_duplicates(model);
        let spec = self.spec(model);
        self.globals = self.variables(model);
        self.functions(model.items.iter().filter_map(|item| match item {
            ast::Item::Fn(routine) => Some(routine),
            _ => None,
        }));

        let mut operations = Vec::new();
        let mut functions = Vec::new();
        let mut init = None;
        for item in &model.items {
            match item {
                ast::Item::Op(routine) => operations.extend(self.routine(routine, scope::Kind::Op)),
                ast::Item::Fn(routine) => functions.extend(self.routine(routine, scope::Kind::Fn)),
                ast::Item::Init(block, span) => init = self.init(block, *span),
                _ => {}
            }
        }
        if operations.is_empty() && self.diagnostics.is_empty() {
            let at = Span::default();
            self.report(
                Diagnostic::new("this model has no operation", at, "nothing to call")
                    .help("declare what clients call: `op push(v: int) { … }`"),
            );
        }
        let spec = self.implements(model, spec, &operations);
        let globals = std::mem::take(&mut self.globals);
        Some(hir::Model {
            structs: std::mem::take(&mut self.structs),
            shared: globals.shared,
            thread_locals: globals.thread_locals,
            init,
            operations,
            functions,
            spec: spec?,
            threads,
            bounds,
        })
    }

    fn report(&mut self, mistake: Diagnostic) {
        self.diagnostics.push(mistake);
    }

    fn line(&self, span: Span) -> u32 {
        self.lines.line(span.start)
    }

    /// Reports an unknown name, with the nearest known one as advice.
    fn unknown<'a>(
        &mut self,
        what: &str,
        name: &ast::Ident,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        if name.name.is_empty() {
            return; // the parser has reported it
        }
        let known: Vec<&str> = known.into_iter().collect();
        let help = match nearest(&name.name, known.iter().copied()) {
            Some(near) => Some(format!("did you mean `{near}`?")),
            None if known.is_empty() || known.len() > 12 => None,
            None => Some(format!("known here: {}", quoted(&known))),
        };
        self.report(
            Diagnostic::new(format!("unknown {what} `{}`", name.name), name.span, "not found")
                .maybe_help(help),
        );
    }
}

/// `` `a`, `b`, `c` ``
fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// From byte offsets to line numbers.
struct Lines {
    /// Where each line starts.
    starts: Vec<u32>,
}

impl Lines {
    fn new(source: &str) -> Lines {
        let breaks = source.match_indices('\n').map(|(at, _)| at as u32 + 1);
        Lines { starts: std::iter::once(0).chain(breaks).collect() }
    }

    /// The line of a byte, from 1.
    fn line(&self, at: u32) -> u32 {
        self.starts.partition_point(|start| *start <= at) as u32
    }
}
