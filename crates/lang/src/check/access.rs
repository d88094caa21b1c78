//! Calls: functions, and the built-in ones that touch shared memory or choose.

use super::collection::is_method;
use super::scope::{Kind, Scope};
use super::{Checker, FUNCTIONS, Parameter, Part, counted};
use crate::hir::{self, Cell, Expr, ExprKind};
use crate::syntax::ast::{self, BinaryOp, Ident};
use linchpin_ir::program::Type;
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    pub(super) fn call(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        arguments: &[ast::Expr],
        span: Span,
        expected: Option<&Type>,
    ) -> Option<Expr> {
        if scope.kind == Kind::Constant {
            let message = format!("`{}(…)` is not a constant", name.name);
            self.report(
                Diagnostic::new(Code::NotConstant, message, span, "known only during the run")
                    .help("give the variable its value in `init { }`"),
            );
            return None;
        }
        if let Some(at) = self.globals.functions.iter().position(|f| f.name == name.name) {
            return self.function_call(scope, at, arguments, span);
        }
        if self.globals.operations.contains(&name.name) && !FUNCTIONS.contains(&name.name.as_str())
        {
            let message = format!("`{}` is an operation, which only clients call", name.name);
            self.report(
                Diagnostic::new(Code::OperationCalled, message, name.span, "cannot be called here")
                    .help("move what both need into a `fn`"),
            );
            return None;
        }
        if let Some(mistake) = self.persistence_call(name, arguments, span) {
            self.report(mistake);
            return None;
        }
        if !FUNCTIONS.contains(&name.name.as_str()) {
            if is_method(&name.name) {
                let message = format!("unknown function `{}`", name.name);
                let help = format!("of a collection it is a method: `items.{}(…)`", name.name);
                self.report(
                    Diagnostic::new(Code::UnknownName, message, name.span, "not found").help(help),
                );
                return None;
            }
            let known: Vec<String> =
                self.globals.functions.iter().map(|f| f.name.clone()).collect();
            let builtin = FUNCTIONS.iter().copied();
            self.unknown("function", name, known.iter().map(String::as_str).chain(builtin));
            return None;
        }
        self.builtin_call(scope, name, arguments, span, expected)
    }

    fn builtin_call(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        arguments: &[ast::Expr],
        span: Span,
        expected: Option<&Type>,
    ) -> Option<Expr> {
        if let Some(block) = scope.without_threads()
            && matches!(name.name.as_str(), "ll" | "sc")
        {
            let message = format!("`{block}` has no thread that could use `{}`", name.name);
            self.report(Diagnostic::new(Code::NoThread, message, name.span, "not here"));
            return None;
        }
        let line = self.line(span);
        let make = |kind, ty| Some(Expr { kind, ty, line });
        match (name.name.as_str(), arguments) {
            ("int", [value]) => self.number(scope, name, value, line),
            ("choose", [range]) => self.choose(scope, range, line),
            ("unwrap", [value]) => self.unwrap(scope, value, line, expected),
            ("cas", [place, old, new]) => {
                let cells = match (&place.kind, &old.kind, &new.kind) {
                    (
                        ast::ExprKind::Array(places),
                        ast::ExprKind::Array(olds),
                        ast::ExprKind::Array(news),
                    ) => self.cells(scope, places, olds, news, span)?,
                    _ => vec![self.cell(scope, place, old, new)?],
                };
                self.reject_in_spec(name, span)?;
                make(ExprKind::Cas(cells), Type::Bool)
            }
            ("swap", [place, value]) => {
                let (place, ty) = self.value_word(scope, place)?;
                let value = Box::new(self.expr(scope, value, Some(&ty))?);
                self.reject_in_spec(name, span)?;
                make(ExprKind::Swap(place, value), ty)
            }
            ("faa", [place, value]) => {
                let (word, ty) = self.value_word(scope, place)?;
                if !matches!(ty, Type::Int | Type::Wrapping(_)) {
                    let message = format!("`faa` adds to an `int`, not to {}", self.type_name(&ty));
                    self.report(Diagnostic::new(
                        Code::WrongType,
                        message,
                        place.span,
                        "cannot be added to",
                    ));
                    return None;
                }
                let value = Box::new(self.expr(scope, value, Some(&ty))?);
                self.reject_in_spec(name, span)?;
                let modulus = match ty {
                    Type::Wrapping(modulus) => Some(modulus),
                    _ => None,
                };
                make(ExprKind::FetchAdd(word, value, modulus), ty)
            }
            ("ll", [place]) => {
                let (place, ty) = self.value_word(scope, place)?;
                self.reject_in_spec(name, span)?;
                make(ExprKind::LoadLinked(place), ty)
            }
            ("sc", [place, value]) => {
                let (place, ty) = self.value_word(scope, place)?;
                let value = Box::new(self.expr(scope, value, Some(&ty))?);
                self.reject_in_spec(name, span)?;
                make(ExprKind::StoreConditional(place, value), Type::Bool)
            }
            ("lock" | "unlock" | "free" | "assume" | "assert", [_]) => {
                let message = format!("`{}` has no value", name.name);
                self.report(
                    Diagnostic::new(Code::NoValue, message, span, "is a statement")
                        .help(format!("write `{}(…);` on its own", name.name)),
                );
                None
            }
            ("reach", [_, _, _]) => {
                let message = "`reach` is only for `#[base(…)]`";
                self.report(Diagnostic::new(
                    Code::BaseCondition,
                    message,
                    span,
                    "cannot be executed",
                ));
                None
            }
            (builtin, _) => {
                self.wrong_count(builtin, usage(builtin), arguments.len(), span);
                None
            }
        }
    }

    fn unwrap(
        &mut self,
        scope: &mut Scope,
        value: &ast::Expr,
        line: u32,
        expected: Option<&Type>,
    ) -> Option<Expr> {
        // Knowing the wanted type helps a `none` inside, and nothing else.
        let wanted = expected.map(|ty| Type::Option(Box::new(ty.clone())));
        let inner = self.expr(scope, value, wanted.as_ref().filter(|_| is_nothing(value)))?;
        let Type::Option(ty) = &inner.ty else {
            let message = format!("{} is not optional", self.type_name(&inner.ty));
            self.report(Diagnostic::new(Code::WrongType, message, value.span, "nothing to unwrap"));
            return None;
        };
        let ty = (**ty).clone();
        Some(Expr { kind: ExprKind::Unwrap(Box::new(inner)), ty, line })
    }

    pub(super) fn wrong_count(&mut self, name: &str, usage: &str, found: usize, span: Span) {
        let message = format!("`{name}` cannot take {}", counted(found, "argument"));
        self.report(
            Diagnostic::new(Code::ArgumentCount, message, span, "wrong number of arguments")
                .help(format!("write `{usage}`")),
        );
    }

    fn function_call(
        &mut self,
        scope: &mut Scope,
        at: usize,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Expr> {
        self.reject_bound_function(at, span)?;
        if let Some(caller) = self.globals.current {
            self.globals.calls.push((caller, at, span));
        }
        let function = &self.globals.functions[at];
        let (parameters, response) = function.signature.clone()?;
        if parameters.len() != arguments.len() {
            let types: Vec<String> = parameters.iter().map(|ty| self.parameter_name(ty)).collect();
            let usage = format!("{}({})", function.name, types.join(", "));
            let name = function.name.clone();
            self.wrong_count(&name, &usage, arguments.len(), span);
            return None;
        }
        let mut checked = Vec::new();
        for (argument, parameter) in arguments.iter().zip(&parameters) {
            checked.push(match parameter {
                Parameter::Value(ty) => {
                    self.expr(scope, argument, Some(ty)).map(hir::Argument::Value)
                }
                Parameter::Place(ty) => {
                    self.passed_place(scope, argument, ty).map(hir::Argument::Place)
                }
            });
        }
        let checked = checked.into_iter().collect::<Option<Vec<_>>>()?;
        let line = self.line(span);
        Some(Expr { kind: ExprKind::Call(at, checked), ty: response, line })
    }

    fn parameter_name(&self, parameter: &Parameter) -> String {
        match parameter {
            Parameter::Value(ty) => self.bare_type_name(ty),
            Parameter::Place(ty) => format!("&{}", self.bare_type_name(ty)),
        }
    }

    fn choose(&mut self, scope: &mut Scope, range: &ast::Expr, line: u32) -> Option<Expr> {
        let ast::ExprKind::Range(range) = &range.kind else {
            self.report(
                Diagnostic::new(
                    Code::WrongType,
                    "`choose` takes a range",
                    range.span,
                    "not a range",
                )
                .help("write `choose(0..3)` for any of 0, 1, 2"),
            );
            return None;
        };
        let from = self.expr(scope, &range.from, Some(&Type::Int));
        let to = self.expr(scope, &range.to, Some(&Type::Int));
        let (from, mut to) = (from?, to?);
        if range.inclusive {
            to = successor(to);
        }
        Some(Expr { kind: ExprKind::Choose(Box::new(from), Box::new(to)), ty: Type::Int, line })
    }

    fn cells(
        &mut self,
        scope: &mut Scope,
        places: &[ast::Expr],
        olds: &[ast::Expr],
        news: &[ast::Expr],
        span: Span,
    ) -> Option<Vec<Cell>> {
        if places.is_empty() || places.len() != olds.len() || places.len() != news.len() {
            let message = format!(
                "this `cas` has {}, {} and {}",
                counted(places.len(), "place"),
                counted(olds.len(), "old value"),
                counted(news.len(), "new value"),
            );
            self.report(
                Diagnostic::new(Code::UnevenLists, message, span, "numbers differ")
                    .help("write `cas([p, q], [old_p, old_q], [new_p, new_q])`"),
            );
            return None;
        }
        let cells = places.iter().zip(olds).zip(news);
        let cells: Vec<_> = cells.map(|((p, o), n)| self.cell(scope, p, o, n)).collect();
        cells.into_iter().collect()
    }

    fn cell(
        &mut self,
        scope: &mut Scope,
        place: &ast::Expr,
        old: &ast::Expr,
        new: &ast::Expr,
    ) -> Option<Cell> {
        let (place, ty) = self.value_word(scope, place)?;
        let expected = self.expr(scope, old, Some(&ty));
        let new = self.expr(scope, new, Some(&ty));
        Some(Cell { place, expected: expected?, new: new? })
    }

    /// A shared word that is not a lock.
    fn value_word(
        &mut self,
        scope: &mut Scope,
        expr: &ast::Expr,
    ) -> Option<(crate::hir::Place, Type)> {
        let (place, ty) = self.word(scope, expr)?;
        if ty == Type::Lock {
            self.report(
                Diagnostic::new(
                    Code::Lock,
                    "a lock has no value",
                    expr.span,
                    "cannot be read or swapped",
                )
                .help("use `lock(…)` and `unlock(…)`, or a `tid?` variable"),
            );
            return None;
        }
        Some((place, ty))
    }

    /// Specifications are executed in one go, so they need no synchronisation.
    pub(super) fn reject_in_spec(&mut self, name: &Ident, span: Span) -> Option<()> {
        if self.part != Part::Spec {
            return Some(());
        }
        let message = format!("`{}` has no place in a specification", name.name);
        self.report(Diagnostic::new(Code::NotInSpec, message, span, "not needed").help(
            "operations of a `spec { }` happen in one go: read and assign the state directly",
        ));
        None
    }
}

fn is_nothing(expr: &ast::Expr) -> bool {
    matches!(expr.kind, ast::ExprKind::None)
}

/// How a built-in function is called.
pub(super) fn usage(name: &str) -> &'static str {
    match name {
        "cas" => "cas(place, old, new)",
        "swap" => "swap(place, value)",
        "faa" => "faa(place, number)",
        "ll" => "ll(place)",
        "sc" => "sc(place, value)",
        "choose" => "choose(from..to)",
        "int" => "int(thread)",
        "unwrap" => "unwrap(value)",
        "lock" => "lock(place)",
        "unlock" => "unlock(place)",
        "free" => "free(object)",
        "assume" => "assume(condition)",
        "assert" => "assert(condition)",
        _ => "reach(from, field, to)",
    }
}

/// `e + 1`.
fn successor(expr: Expr) -> Expr {
    let line = expr.line;
    if let Some(value) = expr.as_const().and_then(Value::as_int).and_then(|i| i.checked_add(1)) {
        return Expr { kind: ExprKind::Const(Value::Int(value)), ty: Type::Int, line };
    }
    let one = Expr { kind: ExprKind::Const(Value::Int(1)), ty: Type::Int, line };
    let kind = ExprKind::Binary(BinaryOp::Add, Box::new(expr), Box::new(one));
    Expr { kind, ty: Type::Int, line }
}
