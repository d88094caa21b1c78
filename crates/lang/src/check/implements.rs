//! The specification of a model, and whether the operations of the model fit it.

use super::scope::Kind;
use super::{Checker, Globals, quoted};
use crate::diagnostic::{Diagnostic, Span};
use crate::hir::{self, Bounds, Routine, Spec};
use crate::syntax::ast::{self, Item};
use linchpin_ir::program::{SpecSource, Type};
use linchpin_spec::{Shape, Signature, Value};

impl Checker<'_> {
    /// The specification that the model names or describes.
    pub(super) fn spec(&mut self, model: &ast::Model) -> Option<Spec> {
        for item in &model.items {
            match item {
                Item::SpecName(name, init) => return self.builtin(name, init.as_ref()),
                Item::SpecBlock(block) => return self.spec_block(block),
                _ => {}
            }
        }
        self.report(
            Diagnostic::new("this model does not say what it implements", Span::default(), "no `spec`")
                .help("add `spec queue;` (`linchpin specs` lists the names) or describe it in `spec { … }`"),
        );
        None
    }

    fn builtin(&mut self, name: &ast::Ident, init: Option<&ast::Expr>) -> Option<Spec> {
        if name.name.is_empty() {
            return None;
        }
        let init = match init {
            Some(init) => Some(self.any_constant(init)?),
            None => None,
        };
        match linchpin_spec::builtin(&name.name, init.as_ref()) {
            Ok(_) => Some(Spec::Builtin(SpecSource::Builtin { name: name.name.clone(), init })),
            Err(linchpin_spec::BuiltinError::Unknown { .. }) => {
                let known = linchpin_spec::BUILTINS.iter().map(|info| info.name);
                self.unknown("specification", name, known);
                let listed = self.diagnostics.last_mut().filter(|last| last.help.is_none());
                if let Some(last) = listed {
                    last.help = Some("`linchpin specs` lists the known ones".to_owned());
                }
                None
            }
            Err(error) => {
                self.report(Diagnostic::new(error.to_string(), name.span, "cannot start like this"));
                None
            }
        }
    }

    /// A constant of whatever type it has.
    fn any_constant(&mut self, expr: &ast::Expr) -> Option<Value> {
        let mut scope = super::scope::Scope::new(Kind::Constant, Type::Unit);
        let checked = match expr.kind {
            ast::ExprKind::Null | ast::ExprKind::None => return Some(Value::Null),
            _ => self.expr(&mut scope, expr, None)?,
        };
        if checked.as_const().is_none() {
            self.report(Diagnostic::new("this is not a constant", expr.span, "must be constant"));
        }
        checked.as_const().cloned()
    }

    /// A `spec { }` block, checked like a model whose shared variables are the state.
    fn spec_block(&mut self, block: &ast::SpecBlock) -> Option<Spec> {
        self.in_spec = true;
        let spec = self.spec_block_inner(block);
        self.in_spec = false;
        self.globals = Globals::default();
        spec.map(|model| Spec::Block(Box::new(model)))
    }

    fn spec_block_inner(&mut self, block: &ast::SpecBlock) -> Option<hir::Model> {
        let names: Vec<&ast::Ident> = block.state.iter().map(|v| &v.name).collect();
        self.reject_repeated("variable", &names, super::RESERVED);
        let routines = block.operations.iter().chain(&block.functions);
        let names: Vec<&ast::Ident> = routines.map(|routine| &routine.name).collect();
        self.reject_repeated("operation or function", &names, super::FUNCTIONS);
        for variable in &block.state {
            let Some(ty) = self.ty(&variable.ty) else { continue };
            if mentions_heap(&ty) {
                let message = format!("the state cannot contain {}", self.type_name(&ty));
                self.report(
                    Diagnostic::new(message, variable.ty.span, "belongs to the implementation")
                        .help("a specification has values only: `int`, `seq<int>`, `map<int, int>`, …"),
                );
                continue;
            }
            let variable = self.initialised(variable, ty);
            self.globals.shared.extend(variable);
        }
        self.functions(block.functions.iter());
        let mut routines = |list: &[ast::Routine], kind| {
            let routines: Vec<_> = list.iter().map(|r| self.routine(r, kind)).collect();
            routines.into_iter().collect::<Option<Vec<Routine>>>()
        };
        let operations = routines(&block.operations, Kind::Op);
        let functions = routines(&block.functions, Kind::Fn);
        Some(hir::Model {
            structs: Vec::new(),
            shared: std::mem::take(&mut self.globals.shared),
            thread_locals: Vec::new(),
            init: None,
            operations: operations?,
            functions: functions?,
            spec: Spec::Builtin(SpecSource::Builtin { name: String::new(), init: None }),
            threads: Vec::new(),
            bounds: Bounds { ops: 0, values: 0, size: None },
        })
    }

    /// Checks that every operation of the model has its counterpart.
    pub(super) fn implements(
        &mut self,
        model: &ast::Model,
        spec: Option<Spec>,
        operations: &[Routine],
    ) -> Option<Spec> {
        let spec = spec?;
        for routine in super::declare::operations(model) {
            let checked = operations.iter().find(|op| op.name == routine.name.name);
            let Some(checked) = checked else { continue };
            match &spec {
                Spec::Builtin(SpecSource::Builtin { name, init }) => {
                    let Ok(builtin) = linchpin_spec::builtin(name, init.as_ref()) else { continue };
                    self.fits_builtin(routine, checked, name, builtin.operations());
                }
                Spec::Builtin(SpecSource::Model(_)) => {}
                Spec::Block(block) => self.fits_block(routine, checked, &block.operations),
            }
        }
        Some(spec)
    }

    fn fits_builtin(
        &mut self,
        routine: &ast::Routine,
        checked: &Routine,
        spec: &str,
        signatures: &[Signature],
    ) {
        let Some(signature) = signatures.iter().find(|s| s.is_called(&routine.name.name)) else {
            let names: Vec<&str> = signatures.iter().map(|s| s.name.as_str()).collect();
            let what = format!("operation of the specification `{spec}`:");
            self.unknown(&what, &routine.name, names.iter().copied());
            if let Some(last) = self.diagnostics.last_mut() {
                last.label = "not part of the specification".to_owned();
                last.help = Some(format!("it has {}; helpers are declared by `fn`", quoted(&names)));
            }
            return;
        };
        let parameters: Vec<&Type> =
            checked.locals[..checked.parameters].iter().map(|v| &v.ty).collect();
        let argument = match (parameters.as_slice(), &signature.argument) {
            ([], Shape::Unit) => true,
            ([only], shape) if fits(shape, only) => true,
            (several, Shape::Tuple(shapes)) => {
                several.len() == shapes.len() && shapes.iter().zip(several).all(|(s, ty)| fits(s, ty))
            }
            _ => false,
        };
        if !argument || !fits(&signature.response, &checked.response) {
            let message = format!("`{}` does not fit the specification `{spec}`", checked.name);
            let mistake = Diagnostic::new(message, routine.name.span, "differs")
                .help(format!("the specification says: {signature}"));
            self.report(mistake);
        }
    }

    fn fits_block(&mut self, routine: &ast::Routine, checked: &Routine, specified: &[Routine]) {
        let Some(counterpart) = specified.iter().find(|op| op.name == checked.name) else {
            let names: Vec<&str> = specified.iter().map(|op| op.name.as_str()).collect();
            self.unknown("operation in `spec { }`:", &routine.name, names);
            return;
        };
        let types = |routine: &Routine| {
            routine.locals[..routine.parameters].iter().map(|v| v.ty.clone()).collect::<Vec<_>>()
        };
        if types(checked) != types(counterpart) || checked.response != counterpart.response {
            let message = format!("`{}` differs from the `{}` of the specification", checked.name, checked.name);
            let line = counterpart.line;
            self.report(
                Diagnostic::new(message, routine.name.span, "other parameters or another result")
                    .help(format!("line {line} declares what clients see; make both the same")),
            );
        }
    }
}

/// Whether values of the type have the shape. A model may promise more than the specification: never `null`, say.
fn fits(shape: &Shape, ty: &Type) -> bool {
    match (shape, ty) {
        (Shape::Optional(inner), Type::Option(ty)) => fits(inner, ty),
        (Shape::Optional(inner), ty) => fits(inner, ty),
        (Shape::Any, Type::Unit) => false,
        (Shape::Any, ty) => ty.shape().is_some(),
        (Shape::List(item), Type::Array(ty, _)) => fits(item, ty),
        (Shape::List(item), Type::Tuple(types)) => types.iter().all(|ty| fits(item, ty)),
        (Shape::Tuple(shapes), Type::Tuple(types)) => {
            shapes.len() == types.len() && shapes.iter().zip(types).all(|(s, ty)| fits(s, ty))
        }
        (Shape::Int, Type::Int | Type::Tid) | (Shape::Bool, Type::Bool) | (Shape::Unit, Type::Unit) => {
            true
        }
        _ => false,
    }
}

fn mentions_heap(ty: &Type) -> bool {
    match ty {
        Type::Struct(_) | Type::Lock => true,
        Type::Option(inner) | Type::Array(inner, _) | Type::Seq(inner) | Type::Set(inner) => {
            mentions_heap(inner)
        }
        Type::Map(key, value) => mentions_heap(key) || mentions_heap(value),
        Type::Tuple(items) => items.iter().any(mentions_heap),
        Type::Record { fields, .. } => fields.iter().any(|(_, ty)| mentions_heap(ty)),
        Type::Unit | Type::Int | Type::Bool | Type::Tid => false,
    }
}
