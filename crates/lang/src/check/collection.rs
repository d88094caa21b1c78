//! Methods of the collections that specifications keep as their state.

use super::scope::Scope;
use super::{Checker, counted};
use crate::hir::{Expr, ExprKind};
use crate::syntax::ast::{self, Ident};
use linchpin_ir::program::{Method, Query, Type};
use linchpin_syntax::{Code, Diagnostic};

/// What a method does, with the types of its arguments and its answer.
enum Meaning {
    Query(Query, Vec<Type>, Type),
    Update(Method, Vec<Type>, Type),
}

fn meaning(collection: &Type, method: &str) -> Option<Meaning> {
    use Meaning::{Query as Q, Update as U};
    let optional = |ty: &Type| match ty {
        // A reference or optional already says when it is absent.
        Type::Option(_) => ty.clone(),
        _ => Type::Option(Box::new(ty.clone())),
    };
    Some(match (collection, method) {
        (Type::Seq(_) | Type::Set(_) | Type::Map(..) | Type::Array(..), "len") => {
            Q(Query::Len, vec![], Type::Int)
        }
        (Type::Seq(item) | Type::Set(item), "contains") => {
            Q(Query::Contains, vec![(**item).clone()], Type::Bool)
        }
        (Type::Seq(item) | Type::Set(item), "first") => Q(Query::First, vec![], optional(item)),
        (Type::Seq(item) | Type::Set(item), "last") => Q(Query::Last, vec![], optional(item)),
        (Type::Map(key, _), "contains") => Q(Query::Contains, vec![(**key).clone()], Type::Bool),
        (Type::Map(key, value), "get") => Q(Query::Get, vec![(**key).clone()], optional(value)),
        (Type::Seq(item), "push_back") => U(Method::PushBack, vec![(**item).clone()], Type::Unit),
        (Type::Seq(item), "push_front") => U(Method::PushFront, vec![(**item).clone()], Type::Unit),
        (Type::Seq(item), "pop_back") => U(Method::PopBack, vec![], optional(item)),
        (Type::Seq(item), "pop_front") => U(Method::PopFront, vec![], optional(item)),
        (Type::Seq(item), "remove_at") => U(Method::RemoveAt, vec![Type::Int], (**item).clone()),
        (Type::Set(item), "insert") => U(Method::Insert, vec![(**item).clone()], Type::Bool),
        (Type::Set(item), "remove") => U(Method::Remove, vec![(**item).clone()], Type::Bool),
        (Type::Map(key, value), "remove") => {
            U(Method::Remove, vec![(**key).clone()], optional(value))
        }
        (Type::Map(key, value), "put") => {
            U(Method::Put, vec![(**key).clone(), (**value).clone()], optional(value))
        }
        _ => return None,
    })
}

fn methods(collection: &Type) -> &'static [&'static str] {
    match collection {
        Type::Seq(_) => &[
            "push_back",
            "push_front",
            "pop_back",
            "pop_front",
            "remove_at",
            "len",
            "contains",
            "first",
            "last",
        ],
        Type::Set(_) => &["insert", "remove", "len", "contains", "first", "last"],
        Type::Map(..) => &["put", "remove", "len", "contains", "get"],
        Type::Array(..) => &["len"],
        _ => &[],
    }
}

/// Whether some collection has a method of this name.
pub(super) fn is_method(name: &str) -> bool {
    let item = || Box::new(Type::Int);
    let collections = [Type::Seq(item()), Type::Set(item()), Type::Map(item(), item())];
    collections.iter().any(|collection| methods(collection).contains(&name))
}

impl Checker<'_> {
    pub(super) fn method(
        &mut self,
        scope: &mut Scope,
        object: &ast::Expr,
        name: &Ident,
        arguments: &[ast::Expr],
        line: u32,
    ) -> Option<Expr> {
        let checked = self.expr(scope, object, None)?;
        let Some(meaning) = meaning(&checked.ty, &name.name) else {
            let known = methods(&checked.ty);
            if known.is_empty() {
                let message = format!("{} has no methods", self.type_name(&checked.ty));
                self.report(Diagnostic::new(
                    Code::WrongType,
                    message,
                    name.span,
                    "only collections have methods",
                ));
            } else {
                self.unknown("method", name, known.iter().copied());
            }
            return None;
        };
        let (Meaning::Query(_, types, _) | Meaning::Update(_, types, _)) = &meaning;
        if types.len() != arguments.len() {
            let wanted = counted(types.len(), "argument");
            let message = format!("`{}` takes {wanted}, not {}", name.name, arguments.len());
            self.report(Diagnostic::new(
                Code::ArgumentCount,
                message,
                name.span,
                "wrong number of arguments",
            ));
            return None;
        }
        let arguments: Vec<_> =
            arguments.iter().zip(types).map(|(a, ty)| self.expr(scope, a, Some(ty))).collect();
        let arguments = arguments.into_iter().collect::<Option<Vec<_>>>()?;
        match meaning {
            Meaning::Query(query, _, ty) => {
                Some(Expr { kind: ExprKind::Query(query, Box::new(checked), arguments), ty, line })
            }
            Meaning::Update(method, _, ty) => {
                let ExprKind::Read(place) = checked.kind else {
                    self.report(
                        Diagnostic::new(
                            Code::NotAssignable,
                            "only the state can be changed",
                            object.span,
                            "a copy",
                        )
                        .help("call the method on the `state` variable itself"),
                    );
                    return None;
                };
                Some(Expr { kind: ExprKind::Update(place, method, arguments), ty, line })
            }
        }
    }
}
