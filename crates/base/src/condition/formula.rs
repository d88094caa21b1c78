//! The truth of a base condition in a shared state.
//!
//! A [`Formula`] is compiled once for an operation, with all types and widths known, and then
//! evaluated on many states. What is read through a null reference has no value. A comparison in
//! which a value is missing is false, and a negation of a missing truth value is missing too, so
//! neither `x.marked` nor `!x.marked` holds of a null `x`.

use super::evaluate::{Scope, truth};
use crate::outcome::Words;
use linchpin_ir::program::{BinaryOp, Body, Expr, Formula, LocalId, Program, Type, UnaryOp};
use linchpin_space::{Flat, Space};
use linchpin_spec::Value;
use thiserror::Error;

/// Why a formula cannot be evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotEvaluated {
    /// It asks for something that is not part of a shared state.
    #[error("it mentions something that is not part of a shared state")]
    Foreign,
    /// Its parts do not fit together.
    #[error("its parts do not fit together")]
    IllTyped,
}

/// A formula, ready to be evaluated.
#[derive(Clone, Debug)]
pub struct Condition {
    term: Term,
    /// The local variables that it mentions, in the order of the operation's locals.
    pub locals: Vec<LocalId>,
}

/// What a formula is evaluated in.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The state space.
    pub space: &'a Space,
    /// A shared state.
    pub flat: &'a Flat,
    /// The thread that executes the operation.
    pub thread: usize,
}

/// A formula with every type and width resolved.
#[derive(Clone, Debug)]
pub(super) enum Term {
    Constant(Words),
    Local(usize),
    Me,
    Bound(usize),
    Shared(usize),
    SharedElement {
        variable: usize,
        width: usize,
        index: Box<Term>,
    },
    Field {
        object: Box<Term>,
        of: usize,
        field: usize,
    },
    Part {
        of: Box<Term>,
        start: usize,
        width: usize,
    },
    /// A value as one of its optional type.
    Tagged(Box<Term>),
    Not(Box<Term>),
    Negate(Box<Term>),
    Arithmetic(BinaryOp, Box<Term>, Box<Term>),
    Compare(BinaryOp, Box<Term>, Box<Term>),
    And(Box<Term>, Box<Term>),
    Or(Box<Term>, Box<Term>),
    Reach {
        from: Box<Term>,
        of: usize,
        field: usize,
        at: usize,
        to: Box<Term>,
    },
    Quantified {
        forall: bool,
        of: usize,
        body: Box<Term>,
    },
}

impl Condition {
    /// Compiles a formula of an operation.
    pub fn new(program: &Program, body: &Body, formula: &Formula) -> Result<Self, NotEvaluated> {
        let mut locals = Vec::new();
        collect_locals(formula, &mut locals);
        locals.sort_unstable();
        locals.dedup();
        let mut compiler = Compiler { program, body, locals: &locals, bound: Vec::new() };
        let (term, ty) = compiler.compile(formula, None)?;
        match ty {
            Type::Bool => Ok(Condition { term, locals }),
            _ => Err(NotEvaluated::IllTyped),
        }
    }

    /// Whether it holds with one value for each of its locals.
    pub fn holds(&self, setting: Setting, locals: &[Words]) -> bool {
        let Setting { space, flat, thread } = setting;
        truth(&self.term, Scope { space, flat, thread, locals }, &mut Vec::new()) == Some(true)
    }
}

/// Visits every part of a formula.
fn walk<'a>(formula: &'a Formula, visit: &mut dyn FnMut(&'a Formula)) {
    visit(formula);
    match formula {
        Formula::Local(_) | Formula::Bound(_) | Formula::Shared(_) => {}
        Formula::SharedElement(_, inner)
        | Formula::Field(inner, ..)
        | Formula::Component(inner, _)
        | Formula::Unary(_, inner)
        | Formula::Forall(_, inner)
        | Formula::Exists(_, inner) => walk(inner, visit),
        Formula::Binary(_, left, right) | Formula::Reach { from: left, to: right, .. } => {
            walk(left, visit);
            walk(right, visit);
        }
    }
}

fn collect_locals(formula: &Formula, out: &mut Vec<LocalId>) {
    walk(formula, &mut |part| {
        if let Formula::Local(expr) = part {
            expr.walk(&mut |expr| {
                if let Expr::Local(local) = expr {
                    out.push(*local);
                }
            });
        }
    });
}

/// How many words a value takes.
pub fn width(ty: &Type) -> usize {
    match ty {
        Type::Unit | Type::Seq(_) | Type::Set(_) | Type::Map(..) => 0,
        Type::Int | Type::Wrapping(_) | Type::Bool | Type::Tid | Type::Lock | Type::Struct(_) => 1,
        Type::Option(inner) => usize::from(is_tagged(inner)) + width(inner),
        Type::Record { fields, .. } => fields.iter().map(|(_, ty)| width(ty)).sum(),
        Type::Tuple(items) => items.iter().map(width).sum(),
        Type::Array(item, length) => width(item) * length,
    }
}

/// Whether an optional of this type has a word that tells whether there is a value.
pub fn is_tagged(inner: &Type) -> bool {
    !matches!(inner, Type::Struct(_) | Type::Lock | Type::Option(_))
}

struct Compiler<'a> {
    program: &'a Program,
    body: &'a Body,
    locals: &'a [LocalId],
    /// The structs of the nodes that the enclosing quantifiers bind.
    bound: Vec<usize>,
}

type Compiled = Result<(Term, Type), NotEvaluated>;

impl Compiler<'_> {
    fn compile(&mut self, formula: &Formula, expected: Option<&Type>) -> Compiled {
        let ill_typed = Err(NotEvaluated::IllTyped);
        Ok(match formula {
            Formula::Local(expr) => return self.expression(expr, expected),
            Formula::Bound(out) => {
                let at = self.bound.len().checked_sub(out + 1).ok_or(NotEvaluated::IllTyped)?;
                (Term::Bound(at), Type::Struct(self.bound[at]))
            }
            Formula::Shared(variable) => {
                let ty = &self.program.shared.get(*variable).ok_or(NotEvaluated::IllTyped)?.ty;
                (Term::Shared(*variable), ty.clone())
            }
            Formula::SharedElement(variable, index) => {
                let ty = &self.program.shared.get(*variable).ok_or(NotEvaluated::IllTyped)?.ty;
                let Type::Array(item, _) = ty else { return ill_typed };
                let index = Box::new(self.index(index)?);
                let (variable, width) = (*variable, width(item));
                (Term::SharedElement { variable, width, index }, (**item).clone())
            }
            Formula::Field(object, of, field) => {
                let object = Box::new(self.compile(object, None)?.0);
                let fields = self.program.structs.get(*of).map(|object| &object.fields);
                let ty = fields.and_then(|fields| fields.get(*field));
                let ty = ty.ok_or(NotEvaluated::IllTyped)?.ty.clone();
                (Term::Field { object, of: *of, field: *field }, ty)
            }
            Formula::Component(of, component) => {
                let (of, ty) = self.compile(of, None)?;
                let types: Vec<&Type> = match &ty {
                    Type::Record { fields, .. } => fields.iter().map(|(_, ty)| ty).collect(),
                    Type::Tuple(items) => items.iter().collect(),
                    _ => return ill_typed,
                };
                let part = *types.get(*component).ok_or(NotEvaluated::IllTyped)?;
                let start = types[..*component].iter().map(|ty| width(ty)).sum();
                (Term::Part { of: Box::new(of), start, width: width(part) }, part.clone())
            }
            Formula::Unary(UnaryOp::Not, inner) => {
                (Term::Not(Box::new(self.compile(inner, None)?.0)), Type::Bool)
            }
            Formula::Unary(UnaryOp::Negate, inner) => {
                (Term::Negate(Box::new(self.compile(inner, None)?.0)), Type::Int)
            }
            Formula::Unary(UnaryOp::ThreadNumber, _) => return ill_typed,
            Formula::Binary(operator, left, right) => return self.binary(*operator, left, right),
            Formula::Reach { from, field: (of, field), component, to } => {
                let at = self.link_word(*of, *field, *component)?;
                let from = Box::new(self.compile(from, Some(&Type::Struct(*of)))?.0);
                let to = Box::new(self.compile(to, Some(&Type::Struct(*of)))?.0);
                (Term::Reach { from, of: *of, field: *field, at, to }, Type::Bool)
            }
            Formula::Forall(of, body) | Formula::Exists(of, body) => {
                let forall = matches!(formula, Formula::Forall(..));
                self.bound.push(*of);
                let body = self.compile(body, Some(&Type::Bool));
                self.bound.pop();
                (Term::Quantified { forall, of: *of, body: Box::new(body?.0) }, Type::Bool)
            }
        })
    }

    fn index(&mut self, index: &Formula) -> Result<Term, NotEvaluated> {
        let (term, ty) = self.compile(index, None)?;
        match ty {
            Type::Int => Ok(term),
            // A thread id is one more in a word than it is in a model.
            Type::Tid => {
                let one = Term::Constant(Words::from_slice(&[1]));
                Ok(Term::Arithmetic(BinaryOp::Subtract, Box::new(term), Box::new(one)))
            }
            _ => Err(NotEvaluated::IllTyped),
        }
    }

    /// Which word of a field holds the reference that is followed.
    fn link_word(
        &self,
        of: usize,
        field: usize,
        component: Option<usize>,
    ) -> Result<usize, NotEvaluated> {
        let fields = self.program.structs.get(of).map(|object| &object.fields);
        let ty = fields.and_then(|fields| fields.get(field)).map(|field| &field.ty);
        match (ty, component) {
            (Some(Type::Struct(_)), None) => Ok(0),
            (Some(Type::Record { fields, .. }), Some(component)) if component < fields.len() => {
                Ok(fields[..component].iter().map(|(_, ty)| width(ty)).sum())
            }
            _ => Err(NotEvaluated::IllTyped),
        }
    }

    fn expression(&self, expr: &Expr, expected: Option<&Type>) -> Compiled {
        let constant = |words: &[i64], ty| Ok((Term::Constant(Words::from_slice(words)), ty));
        match expr {
            Expr::Const(Value::Int(value)) => constant(&[*value], Type::Int),
            Expr::Const(Value::Bool(value)) => constant(&[i64::from(*value)], Type::Bool),
            Expr::Const(Value::Null) => {
                let ty = expected.cloned().ok_or(NotEvaluated::IllTyped)?;
                constant(&vec![0; width(&ty)], ty)
            }
            Expr::Local(local) => {
                let ty = self.body.locals.get(local.0 as usize).map(|local| local.ty.clone());
                let slot = self.locals.iter().position(|other| other == local);
                match (slot, ty) {
                    (Some(slot), Some(ty)) => Ok((Term::Local(slot), ty)),
                    _ => Err(NotEvaluated::IllTyped),
                }
            }
            Expr::Me => Ok((Term::Me, Type::Tid)),
            _ => Err(NotEvaluated::Foreign),
        }
    }

    fn binary(&mut self, operator: BinaryOp, left: &Formula, right: &Formula) -> Compiled {
        let is_null = |of: &Formula| matches!(of, Formula::Local(Expr::Const(Value::Null)));
        let (left, right) = if is_null(left) {
            let right = self.compile(right, None)?;
            (self.compile(left, Some(&right.1))?, right)
        } else {
            let left = self.compile(left, None)?;
            let right = self.compile(right, Some(&left.1))?;
            (left, right)
        };
        let boxed =
            |(left, _): (Term, Type), (right, _): (Term, Type)| (Box::new(left), Box::new(right));
        Ok(match operator {
            BinaryOp::And => {
                let (left, right) = boxed(left, right);
                (Term::And(left, right), Type::Bool)
            }
            BinaryOp::Or => {
                let (left, right) = boxed(left, right);
                (Term::Or(left, right), Type::Bool)
            }
            BinaryOp::Equal
            | BinaryOp::NotEqual
            | BinaryOp::Less
            | BinaryOp::LessEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterEqual => {
                let (left, right) = alike(left, right)?;
                (Term::Compare(operator, Box::new(left), Box::new(right)), Type::Bool)
            }
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight => {
                let (left, right) = boxed(left, right);
                (Term::Arithmetic(operator, left, right), Type::Int)
            }
        })
    }
}

/// The sides of a comparison as values of one type: a value beside an optional one becomes one.
fn alike(left: (Term, Type), right: (Term, Type)) -> Result<(Term, Term), NotEvaluated> {
    if left.1 == right.1 {
        return Ok((left.0, right.0));
    }
    let wrap = |term: Term, ty: &Type| match is_tagged(ty) {
        true => Term::Tagged(Box::new(term)),
        false => term,
    };
    match (&left.1, &right.1) {
        (Type::Option(inner), ty) if **inner == *ty => Ok((left.0, wrap(right.0, ty))),
        (ty, Type::Option(inner)) if **inner == *ty => Ok((wrap(left.0, ty), right.0)),
        _ => Err(NotEvaluated::IllTyped),
    }
}
