//! The specification of a model, and whether the operations of the model fit it.

use super::scope::Kind;
use super::{Checker, Globals, Part, quoted};
use crate::hir::{self, Bounds, Ops, Routine, Spec};
use crate::syntax::ast::{self, Item};
use linchpin_ir::program::{SpecSource, Type};
use linchpin_spec::{Shape, Signature};
use linchpin_syntax::{Code, Diagnostic, Span, nearest};
use linchpin_verdict::Values;

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
            Diagnostic::new(Code::NoSpec, "this model does not say what it implements", Span::default(), "no `spec`")
                .help("add `spec queue;` (`linchpin specs` lists the names) or describe it in `spec { … }`"),
        );
        None
    }

    fn builtin(&mut self, name: &ast::Ident, init: Option<&ast::Expr>) -> Option<Spec> {
        let init = match init {
            Some(init) => Some(self.any_constant(init)?),
            None => None,
        };
        match linchpin_spec::builtin(&name.name, init.as_ref()) {
            Ok(_) => Some(Spec::Builtin(SpecSource::Builtin { name: name.name.clone(), init })),
            Err(linchpin_spec::BuiltinError::Unknown { .. }) => {
                let known = linchpin_spec::BUILTINS.iter().map(|info| info.name);
                let help = match nearest(&name.name, known) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "`linchpin specs` lists the known ones".to_owned(),
                };
                let message = format!("unknown specification `{}`", name.name);
                self.report(
                    Diagnostic::new(Code::UnknownSpec, message, name.span, "not found").help(help),
                );
                None
            }
            Err(error) => {
                self.report(Diagnostic::new(
                    Code::UnknownSpec,
                    error.to_string(),
                    name.span,
                    "cannot start like this",
                ));
                None
            }
        }
    }

    /// A `spec { }` block, checked like a model whose shared variables are the state.
    fn spec_block(&mut self, block: &ast::SpecBlock) -> Option<Spec> {
        self.part = Part::Spec;
        let spec = self.spec_block_inner(block);
        self.part = Part::Model;
        self.globals = Globals::default();
        spec.map(|model| Spec::Block(Box::new(model)))
    }

    fn spec_block_inner(&mut self, block: &ast::SpecBlock) -> Option<hir::Model> {
        let names: Vec<&ast::Ident> = block.state.iter().map(|v| &v.name).collect();
        self.reject_repeated("variable", &names, super::RESERVED);
        let routines = block.operations.iter().chain(&block.functions);
        let names: Vec<&ast::Ident> = routines.map(|routine| &routine.name).collect();
        self.reject_repeated("operation or function", &names, &[]);
        self.reject_hidden(block.functions.iter());
        for variable in &block.state {
            let ty = self.state_type(&variable.ty);
            let variable = self.initialised(variable, ty);
            self.globals.shared.extend(variable);
        }
        self.globals.operations = block.operations.iter().map(|op| op.name.name.clone()).collect();
        let functions: Vec<&ast::Routine> = block.functions.iter().collect();
        self.signatures(&functions);
        let functions = self.function_bodies(&functions);
        let operations: Vec<_> =
            block.operations.iter().map(|routine| self.routine(routine, Kind::Op)).collect();
        let operations = operations.into_iter().collect::<Option<Vec<Routine>>>();
        Some(hir::Model {
            structs: Vec::new(),
            shared: std::mem::take(&mut self.globals.shared),
            thread_locals: Vec::new(),
            init: None,
            preload: Vec::new(),
            operations: operations?,
            functions: functions?,
            spec: Spec::Builtin(SpecSource::Builtin { name: String::new(), init: None }),
            threads: Vec::new(),
            bounds: Bounds { ops: Ops::Each(0), values: Values::UpTo(0), size: None, crashes: 0 },
            persistence: None,
            reference: None,
        })
    }

    fn state_type(&mut self, ty: &ast::TypeExpr) -> Option<Type> {
        let resolved = self.ty(ty)?;
        if !mentions_heap(&resolved) {
            return Some(resolved);
        }
        let message = format!("the state cannot contain {}", self.type_name(&resolved));
        self.report(
            Diagnostic::new(Code::NotInSpec, message, ty.span, "belongs to the implementation")
                .help("a specification has values only: `int`, `seq<int>`, `map<int, int>`, …"),
        );
        None
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
            // What no client can see has been reported already.
            let Some(checked) = checked.filter(|op| is_visible(op)) else { continue };
            match &spec {
                Spec::Builtin(SpecSource::Builtin { name, init }) => {
                    let Ok(builtin) = linchpin_spec::builtin(name, init.as_ref()) else { continue };
                    self.fits_builtin(routine, checked, name, builtin.operations());
                }
                Spec::Builtin(SpecSource::Model(_)) => {}
                Spec::Block(block) => self.fits_block(model, routine, checked, &block.operations),
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
            let names: Vec<String> = signatures.iter().map(|s| s.name.replace('-', "_")).collect();
            self.not_specified(&routine.name, &format!("the specification `{spec}`"), &names);
            return;
        };
        let argument = match (parameters(checked).as_slice(), &signature.argument) {
            ([], Shape::Unit) => true,
            ([only], shape) if fits(shape, only) => true,
            (several, Shape::Tuple(shapes)) => {
                several.len() == shapes.len()
                    && shapes.iter().zip(several).all(|(s, ty)| fits(s, ty))
            }
            _ => false,
        };
        let response = fits(&signature.response, &checked.response);
        if let Some(difference) = difference(argument, response) {
            let message = format!("`{}` does not fit the specification `{spec}`", checked.name);
            self.report(
                Diagnostic::new(Code::Signature, message, routine.name.span, difference)
                    .help(format!("it should look like `{}`", declaration(signature))),
            );
        }
    }

    fn not_specified(&mut self, name: &ast::Ident, spec: &str, known: &[String]) {
        let message = format!("{spec} has no operation `{}`", name.name);
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let help = match nearest(&name.name, known.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it has {}; helpers are declared by `fn`", quoted(&known)),
        };
        self.report(
            Diagnostic::new(Code::NotSpecified, message, name.span, "not specified").help(help),
        );
    }

    fn fits_block(
        &mut self,
        model: &ast::Model,
        routine: &ast::Routine,
        checked: &Routine,
        specified: &[Routine],
    ) {
        let Some(counterpart) = specified.iter().find(|op| op.name == checked.name) else {
            let names: Vec<String> = specified.iter().map(|op| op.name.clone()).collect();
            self.not_specified(&routine.name, "the specification", &names);
            return;
        };
        let argument = parameters(checked) == parameters(counterpart);
        let response = checked.response == counterpart.response;
        if let Some(difference) = difference(argument, response) {
            let name = &checked.name;
            let message = format!("`{name}` differs from the `{name}` of the specification");
            let mut mistake =
                Diagnostic::new(Code::Signature, message, routine.name.span, difference);
            if let Some(span) = specified_at(model, name) {
                mistake = mistake.related(span, "specified here");
            }
            self.report(mistake.help("both say what clients see: make them the same"));
        }
    }
}

/// The types of the parameters.
pub(super) fn parameters(routine: &Routine) -> Vec<&Type> {
    routine.locals[..routine.parameters].iter().map(|variable| &variable.ty).collect()
}

fn is_visible(routine: &Routine) -> bool {
    let types = parameters(routine).into_iter().chain([&routine.response]);
    types.into_iter().all(|ty| ty.shape().is_some())
}

/// What differs, given what fits.
pub(super) fn difference(argument: bool, response: bool) -> Option<&'static str> {
    match (argument, response) {
        (true, true) => None,
        (true, false) => Some("the result differs"),
        (false, true) => Some("the parameters differ"),
        (false, false) => Some("parameters and result differ"),
    }
}

/// Where the `spec { }` block declares this operation.
fn specified_at(model: &ast::Model, name: &str) -> Option<Span> {
    let blocks = model.items.iter().filter_map(|item| match item {
        Item::SpecBlock(block) => Some(block),
        _ => None,
    });
    let mut operations = blocks.flat_map(|block| &block.operations);
    operations.find(|op| op.name.name == name).map(|op| op.name.span)
}

/// How a model declares an operation like this.
fn declaration(signature: &Signature) -> String {
    let parameters = match &signature.argument {
        Shape::Unit => String::new(),
        Shape::Record(fields) => {
            let named = fields.iter().map(|(name, shape)| format!("{name}: {}", ty(shape)));
            named.collect::<Vec<_>>().join(", ")
        }
        Shape::Tuple(shapes) => {
            let named =
                shapes.iter().zip('a'..).map(|(shape, name)| format!("{name}: {}", ty(shape)));
            named.collect::<Vec<_>>().join(", ")
        }
        shape => format!("v: {}", ty(shape)),
    };
    let name = signature.name.replace('-', "_");
    match &signature.response {
        Shape::Unit => format!("op {name}({parameters})"),
        shape => format!("op {name}({parameters}) -> {}", ty(shape)),
    }
}

/// A type whose values have this shape.
fn ty(shape: &Shape) -> String {
    match shape {
        Shape::Unit => "()".to_owned(),
        Shape::Bool => "bool".to_owned(),
        Shape::Int | Shape::Any | Shape::Str | Shape::Word(_) => "int".to_owned(),
        Shape::Optional(inner) => format!("{}?", ty(inner)),
        Shape::Tuple(items) => {
            format!("({})", items.iter().map(ty).collect::<Vec<_>>().join(", "))
        }
        Shape::Record(fields) => {
            format!(
                "({})",
                fields.iter().map(|(_, shape)| ty(shape)).collect::<Vec<_>>().join(", ")
            )
        }
        Shape::List(item) => format!("[{}; N]", ty(item)),
    }
}

/// Whether values of the type have the shape. A model may promise more than the specification:
/// never `null`, say.
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
        (Shape::Record(fields), Type::Tuple(types)) => {
            fields.len() == types.len() && fields.iter().zip(types).all(|((_, s), ty)| fits(s, ty))
        }
        (Shape::Int, Type::Int | Type::Wrapping(_) | Type::Tid)
        | (Shape::Bool, Type::Bool)
        | (Shape::Unit, Type::Unit) => true,
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
        Type::Unit | Type::Int | Type::Wrapping(_) | Type::Bool | Type::Tid => false,
    }
}
