//! Through types, statements and expressions: every name meets its definition, and every
//! expression gets its type where that is known.

use super::{Kind, Resolver};
use crate::types::Ty;
use linchpin_lang::syntax::ast::{
    Annotation, AnnotationKind, BinaryOp, Block, Expr, ExprKind, Ident, Range, Routine, Statement,
    StatementKind, TypeExpr, TypeKind, UnaryOp, Variable,
};
use linchpin_syntax::Span;

impl Resolver<'_> {
    /// The type and the value of a variable.
    pub(super) fn variable_parts(&mut self, variable: &Variable) {
        self.ty(&variable.ty);
        if let Some(value) = &variable.value {
            self.expr(value);
        }
    }

    pub(super) fn routine(&mut self, routine: &Routine) {
        self.blocks.push(Vec::new());
        for parameter in &routine.parameters {
            self.ty(&parameter.ty);
            if let Some(range) = &parameter.range {
                self.range(range);
            }
        }
        for parameter in &routine.parameters {
            let ty = Ty::written(&parameter.ty, self.source);
            self.bind(&parameter.name, Kind::Parameter, ty);
        }
        if let Some(ty) = &routine.response {
            self.ty(ty);
        }
        if let Some(condition) = &routine.requires {
            self.expr(condition);
        }
        if let Some(depth) = &routine.depth {
            self.expr(depth);
        }
        self.block(&routine.body);
        self.blocks.pop();
    }

    pub(super) fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Name(name) => self.use_of(self.types.get(name).copied(), ty.span),
            TypeKind::Wrapping(modulus) => {
                self.expr(modulus);
            }
            TypeKind::Option(inner) | TypeKind::Place(inner) => self.ty(inner),
            TypeKind::Array(item, length) => {
                self.ty(item);
                self.expr(length);
            }
            TypeKind::Tuple(parts) | TypeKind::Collection(_, parts) => {
                parts.iter().for_each(|part| self.ty(part));
            }
            TypeKind::Missing => {}
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.blocks.push(Vec::new());
        block.statements.iter().for_each(|statement| self.statement(statement));
        self.blocks.pop();
    }

    /// Base conditions are about arriving here, points about what the statement does: they see what
    /// it declares.
    fn statement(&mut self, statement: &Statement) {
        let is_base = |one: &&Annotation| matches!(one.kind, AnnotationKind::Base(_));
        let (bases, points): (Vec<_>, Vec<_>) = statement.annotations.iter().partition(is_base);
        bases.into_iter().for_each(|annotation| self.annotation(annotation));
        self.statement_kind(&statement.kind);
        points.into_iter().for_each(|annotation| self.annotation(annotation));
    }

    fn annotation(&mut self, annotation: &Annotation) {
        match &annotation.kind {
            AnnotationKind::Lin => {}
            AnnotationKind::LinWhen(expr)
            | AnnotationKind::LinReturns(expr)
            | AnnotationKind::Base(expr) => drop(self.expr(expr)),
        }
    }

    fn statement_kind(&mut self, kind: &StatementKind) {
        match kind {
            StatementKind::Let(name, ty, value) => {
                ty.iter().for_each(|ty| self.ty(ty));
                let inferred = value.as_ref().and_then(|value| self.expr(value));
                let written = ty.as_ref().map(|ty| Ty::written(ty, self.source));
                self.bind(name, Kind::Local, written.unwrap_or(inferred));
            }
            StatementKind::LetTuple(names, value) => {
                let parts = match self.expr(value) {
                    Some(Ty::Tuple(parts)) => parts,
                    _ => Vec::new(),
                };
                for (at, name) in names.iter().enumerate() {
                    self.bind(name, Kind::Local, parts.get(at).cloned());
                }
            }
            StatementKind::Assign(target, _, value) => {
                self.expr(target);
                self.expr(value);
            }
            StatementKind::Expr(expr) => drop(self.expr(expr)),
            StatementKind::If(condition, then, otherwise) => {
                self.expr(condition);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            StatementKind::While(condition, body) => {
                self.expr(condition);
                self.block(body);
            }
            StatementKind::Loop(body) | StatementKind::Atomic(body) => self.block(body),
            StatementKind::For(name, range, body) => {
                self.range(range);
                self.blocks.push(Vec::new());
                self.bind(name, Kind::Local, Some(Ty::named("int")));
                self.block(body);
                self.blocks.pop();
            }
            StatementKind::Return(value) => value.iter().for_each(|value| drop(self.expr(value))),
            StatementKind::Break | StatementKind::Continue => {}
        }
    }

    fn range(&mut self, range: &Range) {
        self.expr(&range.from);
        self.expr(&range.to);
    }

    fn bind(&mut self, name: &Ident, kind: Kind, ty: Option<Ty>) {
        if name.name == "_" {
            return;
        }
        let word = if kind == Kind::Local { "let " } else { "" };
        let shown = match &ty {
            Some(ty) => format!("{word}{}: {ty}", name.name),
            None => format!("{word}{}", name.name),
        };
        let id = self.define(name, kind, ty, shown);
        if let Some(block) = self.blocks.last_mut() {
            block.push((name.name.clone(), id));
        }
    }

    /// Goes through an expression; answers its type, if that is known.
    pub(super) fn expr(&mut self, expr: &Expr) -> Option<Ty> {
        match &expr.kind {
            ExprKind::Int(_) => Some(Ty::named("int")),
            ExprKind::Bool(_) => Some(Ty::named("bool")),
            ExprKind::Null | ExprKind::None | ExprKind::Missing => None,
            ExprKind::Name(name) => self.name(name, expr.span),
            ExprKind::Field(of, field) => {
                let ty = self.expr(of);
                self.field(ty.as_ref(), field)
            }
            ExprKind::Index(of, index) => {
                let ty = self.expr(of);
                self.expr(index);
                ty?.item()
            }
            ExprKind::Unary(operator, of) => {
                self.expr(of);
                Some(Ty::named(if *operator == UnaryOp::Not { "bool" } else { "int" }))
            }
            ExprKind::Binary(operator, left, right) => {
                self.expr(left);
                self.expr(right);
                use BinaryOp::{Add, Divide, Multiply, Remainder, Subtract};
                let is_number = operator.is_on_bits()
                    || matches!(operator, Add | Subtract | Multiply | Divide | Remainder);
                Some(Ty::named(if is_number { "int" } else { "bool" }))
            }
            ExprKind::Call(name, arguments) => self.call(name, arguments),
            ExprKind::MethodCall(of, method, arguments) => {
                let ty = self.expr(of);
                arguments.iter().for_each(|argument| drop(self.expr(argument)));
                ty?.method(&method.name)
            }
            ExprKind::New(name, fields) => self.literal(name, fields, None),
            ExprKind::Record(name, fields, base) => self.literal(name, fields, base.as_deref()),
            ExprKind::Array(items) => {
                let types: Vec<_> = items.iter().map(|item| self.expr(item)).collect();
                let item = types.into_iter().flatten().next()?;
                Some(Ty::Array(Box::new(item), items.len().to_string()))
            }
            ExprKind::Repeat(item, length) => {
                let item = self.expr(item);
                self.expr(length);
                let length = length.span.text(self.source).to_owned();
                Some(Ty::Array(Box::new(item?), length))
            }
            ExprKind::Tuple(parts) => {
                let types: Vec<_> = parts.iter().map(|part| self.expr(part)).collect();
                Some(Ty::Tuple(types.into_iter().collect::<Option<_>>()?))
            }
            ExprKind::If(condition, then, otherwise) => {
                self.expr(condition);
                let then = self.expr(then);
                let otherwise = self.expr(otherwise);
                then.or(otherwise)
            }
            ExprKind::Range(range) => {
                self.range(range);
                None
            }
            ExprKind::Quantifier { name, of, body, .. } => {
                self.use_of(self.types.get(&of.name).copied(), of.span);
                self.blocks.push(Vec::new());
                self.bind(name, Kind::Local, Some(Ty::named(&of.name)));
                self.expr(body);
                self.blocks.pop();
                Some(Ty::named("bool"))
            }
        }
    }

    fn name(&mut self, name: &str, span: Span) -> Option<Ty> {
        let names = self.blocks.iter().rev().flat_map(|block| block.iter().rev());
        let local = names.into_iter().find(|(known, _)| known == name).map(|(_, id)| *id);
        match local.or_else(|| self.part.variables.get(name).copied()) {
            Some(id) => {
                self.use_of(Some(id), span);
                self.index.definitions[id].ty.clone()
            }
            None => match name {
                "me" => Some(Ty::named("tid")),
                "threads" | "MIN" | "MAX" => Some(Ty::named("int")),
                _ => None,
            },
        }
    }

    fn field(&mut self, of: Option<&Ty>, field: &Ident) -> Option<Ty> {
        let Some(Ty::Name(of)) = of else {
            if !field.name.is_empty() {
                self.index.open_fields.push(field.name.clone());
            }
            return None;
        };
        let id = self.fields.get(&(of.clone(), field.name.clone())).copied()?;
        self.use_of(Some(id), field.span);
        self.index.definitions[id].ty.clone()
    }

    /// `new Node { … }` or `Mark { … }`.
    fn literal(
        &mut self,
        name: &Ident,
        fields: &[(Ident, Expr)],
        base: Option<&Expr>,
    ) -> Option<Ty> {
        self.use_of(self.types.get(&name.name).copied(), name.span);
        let ty = Ty::named(&name.name);
        for (field, value) in fields {
            self.field(Some(&ty), field);
            self.expr(value);
        }
        base.into_iter().for_each(|base| drop(self.expr(base)));
        Some(ty)
    }

    fn call(&mut self, name: &Ident, arguments: &[Expr]) -> Option<Ty> {
        if let ("reach", [from, path, to]) = (name.name.as_str(), arguments) {
            self.reach(from, path, to);
            return Some(Ty::named("bool"));
        }
        let types: Vec<_> = arguments.iter().map(|argument| self.expr(argument)).collect();
        if let Some(id) = self.part.functions.get(&name.name).copied() {
            self.use_of(Some(id), name.span);
            return self.index.definitions[id].ty.clone();
        }
        // An operation cannot be called, but an editor may be asked where it is.
        self.use_of(self.operations.get(&name.name).copied(), name.span);
        let first = || types.first().cloned().flatten();
        match name.name.as_str() {
            "cas" | "sc" => Some(Ty::named("bool")),
            "faa" | "choose" => Some(Ty::named("int")),
            "swap" | "ll" => first(),
            "unwrap" => match first()? {
                Ty::Option(inner) => Some(*inner),
                _ => None,
            },
            _ => None,
        }
    }

    /// `reach(from, path, to)`: the path is a field of what `from` refers to, perhaps of a record
    /// in it.
    fn reach(&mut self, from: &Expr, path: &Expr, to: &Expr) {
        let ty = self.expr(from);
        match &path.kind {
            ExprKind::Name(field) => {
                self.field(ty.as_ref(), &Ident { name: field.clone(), span: path.span });
            }
            ExprKind::Field(outer, inner) => {
                if let ExprKind::Name(field) = &outer.kind {
                    let field = Ident { name: field.clone(), span: outer.span };
                    let ty = self.field(ty.as_ref(), &field);
                    self.field(ty.as_ref(), inner);
                }
            }
            _ => {}
        }
        self.expr(to);
    }
}
