//! The `reference { }` block: a sequential program over the structs of the model.
//!
//! It has variables of its own, and one operation for each of the model. What it can use of the
//! model are the structs, records, parameters, and those functions that need nothing else of the
//! model: while functions are checked, the first thing that a reference does not have is noted
//! ([`Need`]), and a call from the reference to a function that needs one is a mistake.

use super::implements::{difference, parameters};
use super::scope::Kind;
use super::{Checker, Function, Globals, Part, declare, quoted};
use crate::hir::{self, Bounds, Routine, Spec};
use crate::syntax::ast::{self, Item};
use linchpin_ir::program::{SpecSource, Type};
use linchpin_syntax::{Code, Diagnostic, Span, nearest};

/// A use of something that a reference does not have.
#[derive(Clone)]
pub(super) struct Need {
    kind: NeedKind,
    span: Span,
}

/// What a reference does not have.
#[derive(Clone)]
pub(super) enum NeedKind {
    /// A shared variable of the model.
    Shared(String),
    /// A variable that each thread of the model keeps.
    Local(String),
    /// `me`
    Me,
    /// `threads`
    Threads,
    /// `free`
    Free,
    /// `flush`, `fence` or `persist`
    Persistence,
}

impl NeedKind {
    fn words(&self) -> String {
        match self {
            NeedKind::Shared(name) => format!("the shared variable `{name}` of the model"),
            NeedKind::Local(name) => format!("the `local` variable `{name}` of the model"),
            NeedKind::Me => "`me`".to_owned(),
            NeedKind::Threads => "`threads`".to_owned(),
            NeedKind::Free => "`free`".to_owned(),
            NeedKind::Persistence => "persistent memory".to_owned(),
        }
    }

    fn advice(&self) -> &'static str {
        match self {
            NeedKind::Shared(_) => {
                "a function that both use gets what it needs as parameters: the reference has \
                 variables of its own"
            }
            NeedKind::Local(_) | NeedKind::Me | NeedKind::Threads => ALONE,
            NeedKind::Free => NOTHING_IS_FREED,
            NeedKind::Persistence => NO_CRASHES,
        }
    }
}

/// Why nothing about threads can be named.
pub(super) const ALONE: &str = "the operations of a `reference { }` run alone, without threads";

/// Why nothing is flushed.
pub(super) const NO_CRASHES: &str = "a `reference { }` knows no crashes";

const NOTHING_IS_FREED: &str =
    "the objects of a `reference { }` live as long as they can be reached";

impl Checker<'_> {
    /// The `reference { }` block, if there is one and it is right; its structs, functions,
    /// specification and bounds are for the caller to fill in. `model_globals` gives its functions
    /// away.
    pub(super) fn reference(
        &mut self,
        model: &ast::Model,
        model_globals: &mut Globals,
        operations: &[Routine],
    ) -> Option<hir::Model> {
        let block = model.items.iter().find_map(|item| match item {
            Item::Reference(block) => Some(block),
            _ => None,
        })?;
        let mut functions = std::mem::take(&mut model_globals.functions);
        spread_needs(&mut functions, &model_globals.calls);
        let own = block.shared.iter().map(|variable| variable.name.name.clone()).collect();
        let outside = std::mem::replace(&mut self.variables, own);
        let names = block.operations.iter().map(|routine| routine.name.name.clone());
        let names = names.collect();
        self.globals = Globals { functions, operations: names, outside, ..Globals::default() };
        self.part = Part::Reference;
        let checked = self.reference_block(model, block, operations);
        self.part = Part::Model;
        self.globals = Globals::default();
        checked
    }

    fn reference_block(
        &mut self,
        model: &ast::Model,
        block: &ast::ReferenceBlock,
        operations: &[Routine],
    ) -> Option<hir::Model> {
        self.reject_repeated_in_reference(model, block);
        for variable in &block.shared {
            let variable = self.shared(variable);
            self.globals.shared.extend(variable);
        }
        let checked: Vec<Option<Routine>> =
            block.operations.iter().map(|routine| self.routine(routine, Kind::Op)).collect();
        let init = block.inits.first().map(|(body, span)| self.init(body, *span));
        self.counterparts(model, block, operations, &checked);
        let mut checked = checked.into_iter().collect::<Option<Vec<Routine>>>()?;
        checked.sort_by_key(|routine| operations.iter().position(|op| op.name == routine.name));
        Some(hir::Model {
            structs: Vec::new(),
            shared: std::mem::take(&mut self.globals.shared),
            thread_locals: Vec::new(),
            init: match init {
                Some(init) => Some(init?),
                None => None,
            },
            preload: Vec::new(),
            operations: checked,
            functions: Vec::new(),
            spec: Spec::Builtin(SpecSource::Builtin { name: String::new(), init: None }),
            threads: Vec::new(),
            bounds: Bounds {
                ops: hir::Ops::Each(0),
                values: hir::Values::UpTo(0),
                size: None,
                crashes: 0,
            },
            persistence: None,
            reference: None,
        })
    }

    fn reject_repeated_in_reference(&mut self, model: &ast::Model, block: &ast::ReferenceBlock) {
        // Parameters can be named here too.
        let params = model.items.iter().filter_map(|item| match item {
            Item::Param(param) => Some(param),
            _ => None,
        });
        let names: Vec<&ast::Ident> = params.chain(&block.shared).map(|v| &v.name).collect();
        self.reject_repeated("variable", &names, super::RESERVED);
        let names: Vec<&ast::Ident> = block.operations.iter().map(|op| &op.name).collect();
        self.reject_repeated("operation", &names, super::FUNCTIONS);
        if let [(_, first), second, ..] = block.inits.as_slice() {
            let message = "a reference has one `init`";
            self.report(
                Diagnostic::new(Code::Repeated, message, second.1, "second")
                    .related(*first, "first"),
            );
        }
    }

    /// The operations of the reference are those of the model.
    fn counterparts(
        &mut self,
        model: &ast::Model,
        block: &ast::ReferenceBlock,
        operations: &[Routine],
        checked: &[Option<Routine>],
    ) {
        let of_model: Vec<&ast::Routine> = declare::operations(model).collect();
        for routine in &of_model {
            let model_side = operations.iter().find(|op| op.name == routine.name.name);
            match block.operations.iter().position(|op| op.name.name == routine.name.name) {
                None => self.missing_counterpart(block, routine, model_side),
                Some(at) => {
                    if let (Some(model_side), Some(own)) = (model_side, &checked[at]) {
                        self.fits_model(&block.operations[at], own, routine, model_side);
                    }
                }
            }
        }
        let known: Vec<&str> = of_model.iter().map(|op| op.name.name.as_str()).collect();
        for routine in &block.operations {
            let name = &routine.name;
            // The parser has spoken about an operation without a name.
            if known.contains(&name.name.as_str()) || name.name.is_empty() {
                continue;
            }
            let message = format!("the model has no operation `{}`", name.name);
            let help = match nearest(&name.name, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!(
                    "it has {}; helpers are declared by `fn`, outside `reference {{ }}`",
                    quoted(&known)
                ),
            };
            self.report(
                Diagnostic::new(
                    Code::ReferenceOperations,
                    message,
                    name.span,
                    "only in the reference",
                )
                .help(help),
            );
        }
    }

    fn missing_counterpart(
        &mut self,
        block: &ast::ReferenceBlock,
        routine: &ast::Routine,
        checked: Option<&Routine>,
    ) {
        let message = format!("the reference has no operation `{}`", routine.name.name);
        let help = match checked {
            Some(checked) => format!("add `{} {{ … }}`", self.declaration(checked)),
            None => "it needs one for each operation of the model".to_owned(),
        };
        self.report(
            Diagnostic::new(Code::ReferenceOperations, message, block.span, "not in this block")
                .related(routine.name.span, "the model has it")
                .help(help),
        );
    }

    fn fits_model(
        &mut self,
        routine: &ast::Routine,
        own: &Routine,
        in_model: &ast::Routine,
        model_side: &Routine,
    ) {
        let argument = parameters(own) == parameters(model_side);
        let response = own.response == model_side.response;
        if let Some(difference) = difference(argument, response) {
            let name = &own.name;
            let message = format!("`{name}` differs from the `{name}` of the model");
            self.report(
                Diagnostic::new(Code::Signature, message, routine.name.span, difference)
                    .related(in_model.name.span, "the operation of the model")
                    .help(format!("declare it as `{}`", self.declaration(model_side))),
            );
        }
    }

    /// `op pop() -> int?`
    fn declaration(&self, routine: &Routine) -> String {
        let parameters = routine.locals[..routine.parameters].iter();
        let parameters =
            parameters.map(|local| format!("{}: {}", local.name, self.bare_type_name(&local.ty)));
        let parameters = parameters.collect::<Vec<_>>().join(", ");
        match &routine.response {
            Type::Unit => format!("op {}({parameters})", routine.name),
            ty => format!("op {}({parameters}) -> {}", routine.name, self.bare_type_name(ty)),
        }
    }

    /// Notes that the function being checked, if it is one, uses this.
    pub(super) fn note_need(&mut self, kind: NeedKind, span: Span) {
        if let (Part::Model, Some(current)) = (self.part, self.globals.current) {
            self.globals.functions[current].need.get_or_insert(Need { kind, span });
        }
    }

    /// Checks an annotation. What it names is no need of the function around it: a reference that
    /// calls the function leaves the annotation out.
    pub(super) fn claimed<T>(&mut self, check: impl FnOnce(&mut Self) -> T) -> T {
        let current = self.globals.current.take();
        let checked = check(self);
        self.globals.current = current;
        checked
    }

    /// Rejects a call from the reference to a function that needs what a reference does not have.
    pub(super) fn reject_bound_function(&mut self, at: usize, span: Span) -> Option<()> {
        let Function { name, need: Some(need), .. } = &self.globals.functions[at] else {
            return Some(());
        };
        if self.part != Part::Reference {
            return Some(());
        }
        let message = format!("a reference cannot call `{name}`");
        let label = format!("it uses {}", need.kind.words());
        let mistake = Diagnostic::new(Code::NotInReference, message, span, label)
            .related(need.span, "used here")
            .help(need.kind.advice());
        self.report(mistake);
        None
    }

    /// Rejects a variable of the model, while the reference is checked.
    pub(super) fn reject_outside(&mut self, name: &str, span: Span) -> Option<()> {
        if !self.globals.outside.contains(name) || self.mistaken.contains(name) {
            return Some(());
        }
        let message = format!("`{name}` is a variable of the model, not of its reference");
        self.report(Diagnostic::new(Code::NotInReference, message, span, "not in scope").help(
            format!("a reference has variables of its own: declare `shared {name}: …;` inside it"),
        ));
        None
    }

    pub(super) fn reject_threads(&mut self, span: Span) -> Option<()> {
        if self.part != Part::Reference {
            return Some(());
        }
        let message = "a reference does not know how many threads there are";
        self.report(Diagnostic::new(Code::NotInReference, message, span, "not here").help(ALONE));
        None
    }

    pub(super) fn reject_free(&mut self, span: Span) -> Option<()> {
        if self.part != Part::Reference {
            return Some(());
        }
        let message = "`free` has no place in a reference";
        self.report(
            Diagnostic::new(Code::NotInReference, message, span, "not needed")
                .help(NOTHING_IS_FREED),
        );
        None
    }
}

/// Functions need what the functions need that they call.
fn spread_needs(functions: &mut [Function], calls: &[(usize, usize, Span)]) {
    let mut callers: Vec<Vec<usize>> = vec![Vec::new(); functions.len()];
    for (caller, callee, _) in calls {
        callers[*callee].push(*caller);
    }
    let mut todo: Vec<usize> =
        (0..functions.len()).filter(|at| functions[*at].need.is_some()).collect();
    // INVARIANT: a function is added when it gets its need, so at most once.
    while let Some(callee) = todo.pop() {
        let need = functions[callee].need.clone();
        for caller in &callers[callee] {
            if functions[*caller].need.is_none() {
                functions[*caller].need.clone_from(&need);
                todo.push(*caller);
            }
        }
    }
}

#[cfg(test)]
mod tests;
