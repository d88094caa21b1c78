//! Terms, places, conditions and statements.

use super::{Checker, Scope};
use crate::model::{
    Atom, Condition, GlobalId, GlobalKind, Index, Place, Relation, Statement, StructId, Term, Type,
    Var,
};
use crate::syntax::ast::{self, Access, Ident, PlaceExpr, StatementKind, TermKind};
use linchpin_syntax::{Code, Diagnostic, Span, nearest};

/// What a name stands for.
enum Named {
    Variable(Var, Type),
    Array(GlobalId, Type),
}

impl Checker {
    /// The condition in negation normal form.
    pub(super) fn condition(&mut self, condition: &ast::Condition, scope: &Scope<'_>) -> Condition {
        match condition {
            ast::Condition::All(parts) => {
                Condition::All(parts.iter().map(|part| self.condition(part, scope)).collect())
            }
            ast::Condition::Any(parts) => {
                Condition::Any(parts.iter().map(|part| self.condition(part, scope)).collect())
            }
            ast::Condition::Not(inner) => self.condition(inner, scope).negated(),
            ast::Condition::Compare(left, relation, right, span) => {
                self.compare(left, *relation, right, *span, scope)
            }
        }
    }

    fn compare(
        &mut self,
        left: &ast::Term,
        relation: Relation,
        right: &ast::Term,
        span: Span,
        scope: &Scope<'_>,
    ) -> Condition {
        let (first, second) = (self.term(left, scope), self.term(right, scope));
        let (Some((first, first_type)), Some((second, second_type))) = (first, second) else {
            return Condition::always();
        };
        let ordered = !matches!(relation, Relation::Equal | Relation::NotEqual);
        let for_order = |ty: Option<Type>| ty == Some(Type::Int);
        if ordered && !(for_order(first_type) && for_order(second_type)) {
            let wrong = if for_order(first_type) { right } else { left };
            let mistake = Diagnostic::new(
                Code::NotComparable,
                "only integers are ordered",
                wrong.span,
                "no integer",
            );
            self.report(mistake.help("references and `NULL` are compared with `==` and `!=`"));
        } else if let (Some(one), Some(two)) = (first_type, second_type) {
            self.same_type(one, left.span, two, right.span, Code::NotComparable);
        }
        Condition::Atom(Atom { left: first, relation, right: second, span })
    }

    fn same_type(&mut self, one: Type, at: Span, two: Type, there: Span, code: Code) {
        if one != two {
            let verb = if code == Code::NotComparable { "compare" } else { "assign between" };
            let (one, two) = (self.type_name(one), self.type_name(two));
            let message = format!("cannot {verb} {one} and {two}");
            let mistake = Diagnostic::new(code, message, there, format!("this is {two}"));
            self.report(mistake.related(at, format!("this is {one}")));
        }
    }

    pub(super) fn type_name(&self, ty: Type) -> String {
        match ty {
            Type::Int => "an `int`".to_owned(),
            Type::Ref(of) => format!("a `{}`", self.model.structs[of.0].name),
        }
    }

    /// The term and its type, which `NULL` does not have. Nothing if a mistake was reported.
    pub(super) fn term(
        &mut self,
        term: &ast::Term,
        scope: &Scope<'_>,
    ) -> Option<(Term, Option<Type>)> {
        match &term.kind {
            TermKind::Int(value) => Some((Term::Int(*value), Some(Type::Int))),
            TermKind::Null => Some((Term::Null, None)),
            TermKind::Id => {
                if !scope.id {
                    let message = "`ID` is the identity of an operation instance";
                    self.report(Diagnostic::new(
                        Code::Instance,
                        message,
                        term.span,
                        "there is none here",
                    ));
                }
                Some((Term::Id, Some(Type::Int)))
            }
            TermKind::Place(place) => {
                let (place, ty) = self.place(place, scope)?;
                Some((Term::Place(place), Some(ty)))
            }
            TermKind::Plus(place, offset) => {
                let (place, ty) = self.place(place, scope)?;
                if ty != Type::Int {
                    let message = "only integers can be added to";
                    let label = format!("this is {}", self.type_name(ty));
                    self.report(Diagnostic::new(Code::WrongType, message, term.span, label));
                }
                Some((Term::Plus(place, *offset), Some(Type::Int)))
            }
            TermKind::Missing => None,
        }
    }

    /// A variable, field or element, and its type.
    fn place(&mut self, place: &PlaceExpr, scope: &Scope<'_>) -> Option<(Place, Type)> {
        let named = self.named(&place.name, place.side, scope)?;
        match (named, &place.access) {
            (Named::Variable(var, ty), None) => Some((Place::Variable(var), ty)),
            (Named::Variable(var, ty), Some(Access::Field(field))) => {
                self.field(var, ty, &place.name, field)
            }
            (Named::Variable(var, ty), Some(Access::Index(index))) => {
                // Figure 12 prints `P[next]` for `P.next`, Section V `Q[tail]`.
                match &index.kind {
                    TermKind::Place(PlaceExpr { name: field, side: None, access: None })
                        if ty != Type::Int =>
                    {
                        self.field(var, ty, &place.name, field)
                    }
                    _ => {
                        let message = format!("`{}` is not an array", place.name.name);
                        let mistake = Diagnostic::new(
                            Code::WrongType,
                            message,
                            place.name.span,
                            "not an array",
                        );
                        self.report(mistake.help("an array is declared `int A[];`"));
                        None
                    }
                }
            }
            (Named::Array(array, ty), Some(Access::Index(index))) => {
                let index = self.index(index, scope)?;
                Some((Place::Element(array, index), ty))
            }
            (Named::Array(..), _) => {
                let message = format!("`{}` is an array", place.name.name);
                let mistake =
                    Diagnostic::new(Code::NotOneWord, message, place.name.span, "which element?");
                self.report(mistake.help(format!("write `{}[i]`", place.name.name)));
                None
            }
        }
    }

    fn field(&mut self, var: Var, ty: Type, base: &Ident, field: &Ident) -> Option<(Place, Type)> {
        if field.name.is_empty() {
            return None;
        }
        let Type::Ref(of) = ty else {
            let message = format!("`{}` is an `int` and has no fields", base.name);
            self.report(Diagnostic::new(Code::UnknownField, message, field.span, "not a struct"));
            return None;
        };
        let Some(id) = self.field_of(of, &field.name) else {
            let fields = self.model.structs[of.0].fields.iter().map(|field| field.name.as_str());
            let help = nearest(&field.name, fields).map(|near| format!("did you mean `{near}`?"));
            let name = &self.model.structs[of.0].name;
            let message = format!("`{name}` has no field `{}`", field.name);
            self.report(
                Diagnostic::new(Code::UnknownField, message, field.span, "not found")
                    .maybe_help(help),
            );
            return None;
        };
        Some((Place::Field(var, of, id), self.model.field(of, id).ty))
    }

    fn index(&mut self, index: &ast::Term, scope: &Scope<'_>) -> Option<Index> {
        let (term, ty) = self.term(index, scope)?;
        let found = match term {
            Term::Int(value) => Some(Index::Int(value)),
            Term::Place(Place::Variable(var)) => Some(Index::Variable(var)),
            Term::Plus(Place::Variable(var), offset) => Some(Index::Plus(var, offset)),
            _ => None,
        };
        if found.is_none() || ty != Some(Type::Int) {
            let message = "an index is a number, an `int` variable, or one plus or minus a number";
            let help = match term {
                Term::Id => Some("put `ID` into a local first: `me = ID;`".to_owned()),
                Term::Place(_) | Term::Plus(..) if ty == Some(Type::Int) => {
                    Some("put it into a local first".to_owned())
                }
                _ => None,
            };
            self.report(
                Diagnostic::new(Code::WrongType, message, index.span, "not an index")
                    .maybe_help(help),
            );
            return None;
        }
        found
    }

    fn named(&mut self, name: &Ident, side: Option<u8>, scope: &Scope<'_>) -> Option<Named> {
        if name.name.is_empty() {
            return None;
        }
        if let Some(index) = scope.bound.iter().position(|var| var.name == name.name) {
            return Some(Named::Variable(Var::Bound(index), scope.bound[index].ty));
        }
        if let Some(named) = self.named_local(name, side, scope) {
            return named;
        }
        if let Some(&id) = self.global_names.get(&name.name) {
            let var = Var::Global(id);
            return Some(match self.model.globals[id.0].kind {
                GlobalKind::Scalar(ty) => Named::Variable(var, ty),
                GlobalKind::Place(of) => Named::Variable(var, Type::Ref(of)),
                GlobalKind::Array(ty) => Named::Array(id, ty),
            });
        }
        let locals = scope.locals.iter().map(|local| local.name.as_str());
        let globals = self.model.globals.iter().map(|global| global.name.as_str());
        let help = nearest(&name.name, locals.chain(globals))
            // Any letter is near any other.
            .filter(|_| name.name.chars().count() > 1)
            .map(|near| format!("did you mean `{near}`?"))
            .or_else(|| habit(&name.name));
        let message = format!("there is no variable `{}`", name.name);
        self.report(
            Diagnostic::new(Code::UnknownName, message, name.span, "not found").maybe_help(help),
        );
        None
    }

    /// The local that `name` means, if any; in a claim `@1` and `@2` say whose. The inner option is
    /// empty if a mistake was reported.
    fn named_local(
        &mut self,
        name: &Ident,
        side: Option<u8>,
        scope: &Scope<'_>,
    ) -> Option<Option<Named>> {
        let own = Self::local_of(scope.locals, &name.name);
        let peer = scope.peers.and_then(|peers| Self::local_of(peers, &name.name));
        match (scope.peers, side) {
            (None, Some(_)) => {
                let message = "`@1` and `@2` have a meaning only in `relations { }`";
                self.report(Diagnostic::new(Code::Instance, message, name.span, "which instance?"));
                Some(None)
            }
            (None, None) | (Some(_), Some(1)) => {
                own.map(|id| Some(Named::Variable(Var::Local(id), scope.locals[id.0].ty)))
            }
            (Some(peers), Some(_)) => {
                peer.map(|id| Some(Named::Variable(Var::Peer(id), peers[id.0].ty)))
            }
            (Some(_), None) if own.is_some() || peer.is_some() => {
                let message = format!("whose `{}`?", name.name);
                let help = format!(
                    "write `{0}@1` for the first sub-operation's, `{0}@2` for the second's",
                    name.name
                );
                self.report(
                    Diagnostic::new(Code::Instance, message, name.span, "a local").help(help),
                );
                Some(None)
            }
            (Some(_), None) => None,
        }
    }

    pub(super) fn statement(
        &mut self,
        statement: &ast::Statement,
        scope: &Scope<'_>,
        reads: &mut usize,
    ) -> Option<Statement> {
        let span = statement.span;
        match &statement.kind {
            StatementKind::Assign(target, value) => {
                let place = self.target(target, scope);
                let value_of = self.term(value, scope);
                let ((place, ty), (term, value_type)) = (place?, value_of?);
                if let Some(value_type) = value_type {
                    self.same_type(ty, target.span, value_type, value.span, Code::WrongType);
                }
                Some(Statement::Assign { place, value: term, span })
            }
            StatementKind::Malloc(name, of) => {
                let var = self.reference(name, scope);
                let ty = self.ty(of);
                let (var, declared) = var?;
                if ty != Type::Ref(declared) {
                    let declared = Type::Ref(declared);
                    self.same_type(declared, name.span, ty, of.span, Code::WrongType);
                    return None;
                }
                Some(Statement::Malloc { var, of: declared, span })
            }
            StatementKind::Free(name) => {
                let (var, of) = self.reference(name, scope)?;
                Some(Statement::Free { var, of, span })
            }
            StatementKind::Read(term) => {
                let (place, _) = self.target(term, scope)?;
                let slot = *reads;
                *reads += 1;
                Some(Statement::Read { place, slot, span })
            }
            StatementKind::Fill(name, _) => {
                let message = "all elements at once can be set only in `initially`";
                self.report(Diagnostic::new(Code::Initially, message, name.span, "which element?"));
                None
            }
        }
    }

    /// A term that must be a variable, field or element.
    fn target(&mut self, term: &ast::Term, scope: &Scope<'_>) -> Option<(Place, Type)> {
        match &term.kind {
            TermKind::Place(place) => self.place(place, scope),
            TermKind::Missing => None,
            _ => {
                let message = "expected a variable, a field or an element";
                self.report(Diagnostic::new(
                    Code::NotAssignable,
                    message,
                    term.span,
                    "this is only a value",
                ));
                None
            }
        }
    }

    /// A variable of struct type.
    fn reference(&mut self, name: &Ident, scope: &Scope<'_>) -> Option<(Var, StructId)> {
        match self.named(name, None, scope)? {
            Named::Variable(var, Type::Ref(of)) => Some((var, of)),
            _ => {
                let message = format!("`{}` does not refer to an object", name.name);
                let mistake =
                    Diagnostic::new(Code::WrongType, message, name.span, "not of struct type");
                self.report(mistake.help("declare it with the name of a struct"));
                None
            }
        }
    }

    pub(super) fn fill(&mut self, array: &Ident, value: &ast::Term) -> Option<(GlobalId, Term)> {
        let (term, value_type) = self.term(value, &Scope::default())?;
        match self.named(array, None, &Scope::default())? {
            Named::Array(id, ty) => {
                if !matches!(term, Term::Int(_) | Term::Null) {
                    let message = "all elements start as a number or `NULL`";
                    self.report(Diagnostic::new(
                        Code::NotConstant,
                        message,
                        value.span,
                        "not a constant",
                    ));
                    return None;
                }
                if let Some(value_type) = value_type {
                    self.same_type(ty, array.span, value_type, value.span, Code::WrongType);
                }
                Some((id, term))
            }
            Named::Variable(..) => {
                let message = format!("`{}` is not an array", array.name);
                self.report(Diagnostic::new(Code::WrongType, message, array.span, "not an array"));
                None
            }
        }
    }
}

/// Advice for words that other languages have.
fn habit(name: &str) -> Option<String> {
    let advice = match name {
        "null" | "Null" | "nil" | "None" | "none" => "the null reference is `NULL`",
        "true" => "there are no truth values: use 1",
        "false" => "there are no truth values: use 0",
        "id" | "tid" | "self" => "the identity of the operation instance is `ID`",
        _ => return None,
    };
    Some(advice.to_owned())
}
