//! Persistent memory: what is persistent, on which lines, and what runs after a crash.

use super::reference::{NO_CRASHES, NeedKind};
use super::scope::{Kind, Scope};
use super::{Checker, Part};
use crate::hir::{self, Place, StatementKind};
use crate::syntax::ast::{self, Ident, Item, LineName};
use linchpin_ir::persistence::{ObjectLines, SharedLines};
use linchpin_ir::program::Type;
use linchpin_syntax::{Code, Diagnostic, Span};

impl Checker<'_> {
    /// The lines of everything that is persistent; `None` if nothing is. Types and variables are
    /// known.
    pub(super) fn lines(&mut self, model: &ast::Model) -> Option<hir::Persistence> {
        self.note_persistent(model);
        let nothing = self.globals.persistent.is_empty() && self.persistent_structs.is_empty();
        let mut lines = hir::Persistence {
            shared: vec![None; self.globals.shared.len()],
            structs: vec![None; self.structs.len()],
            lines: Vec::new(),
            recover: None,
            resolve: None,
        };
        let mut named: Vec<(String, usize)> = Vec::new();
        for item in &model.items {
            match item {
                Item::Shared(variable) => self.shared_lines(variable, &mut lines, &mut named),
                Item::Struct(fields) => self.object_lines(fields, &mut lines),
                Item::Record(fields) => {
                    for line in fields.lines.iter().flatten() {
                        self.volatile_line(line, "a record is a value, wherever it is stored");
                    }
                }
                _ => {}
            }
        }
        (!nothing).then_some(lines)
    }

    /// Notes which variables and structs are persistent.
    fn note_persistent(&mut self, model: &ast::Model) {
        for item in &model.items {
            match item {
                Item::Shared(variable) if variable.persistent.is_some() => {
                    let at = self.shared_index(&variable.name.name);
                    self.globals.persistent.extend(at);
                }
                Item::Struct(fields) if fields.persistent.is_some() => {
                    let at = self.struct_index(&fields.name.name);
                    self.persistent_structs.extend(at);
                }
                _ => {}
            }
        }
    }

    fn shared_index(&self, name: &str) -> Option<usize> {
        self.globals.shared.iter().position(|known| known.name == name)
    }

    fn struct_index(&self, name: &str) -> Option<usize> {
        self.structs.iter().position(|known| known.name == name)
    }

    fn shared_lines(
        &mut self,
        variable: &ast::Variable,
        lines: &mut hir::Persistence,
        named: &mut Vec<(String, usize)>,
    ) {
        let name = &variable.name.name;
        if variable.persistent.is_none() {
            if let Some(line) = &variable.line {
                self.volatile_line(line, &format!("declare it by `persistent shared {name}: …;`"));
            }
            return;
        }
        let Some(at) = self.shared_index(name) else { return };
        let ty = self.globals.shared[at].ty.clone();
        if matches!(&ty, Type::Lock) || matches!(&ty, Type::Array(item, _) if **item == Type::Lock)
        {
            let message = "a lock does not survive a crash: it is free afterwards";
            self.report(
                Diagnostic::new(Code::Volatile, message, variable.ty.span, "cannot be persistent")
                    .help(format!("declare it by `shared {name}: …;`")),
            );
            return;
        }
        self.reject_volatile_reference(&ty, variable.ty.span);
        let mut line = |name: &str| {
            lines.lines.push(name.to_owned());
            lines.lines.len() - 1
        };
        lines.shared[at] = Some(match (&variable.line, &ty) {
            (Some(of), _) => {
                let known = named.iter().find(|(known, _)| *known == of.name.name);
                let number = known.map(|(_, number)| *number);
                let number = number.unwrap_or_else(|| {
                    let number = line(&of.name.name);
                    named.push((of.name.name.clone(), number));
                    number
                });
                SharedLines::One(number)
            }
            (None, Type::Array(..)) => SharedLines::Elements,
            (None, _) => SharedLines::One(line(name)),
        });
    }

    fn object_lines(&mut self, declared: &ast::Fields, lines: &mut hir::Persistence) {
        let name = &declared.name.name;
        if declared.persistent.is_none() {
            for line in declared.lines.iter().flatten() {
                self.volatile_line(
                    line,
                    &format!("declare it by `persistent struct {name} {{ … }}`"),
                );
            }
            return;
        }
        let Some(at) = self.struct_index(name) else { return };
        let mut names: Vec<Option<String>> = Vec::new();
        let mut fields = Vec::new();
        for (field, line) in declared.fields.iter().zip(&declared.lines) {
            let fields_known = &self.structs[at].fields;
            let Some(known) = fields_known.iter().find(|known| known.name == field.0.name) else {
                continue;
            };
            let ty = known.ty.clone();
            self.reject_volatile_reference(&ty, field.1.span);
            let line = line.as_ref().map(|line| line.name.name.clone());
            fields.push(names.iter().position(|known| *known == line).unwrap_or_else(|| {
                names.push(line);
                names.len() - 1
            }));
        }
        lines.structs[at] = Some(ObjectLines { fields, names });
    }

    fn volatile_line(&mut self, line: &LineName, help: &str) {
        let message = "only persistent memory lies on lines";
        self.report(
            Diagnostic::new(Code::Volatile, message, line.span, "this is volatile").help(help),
        );
    }

    /// A reference that survives a crash must not lead to an object that does not.
    fn reject_volatile_reference(&mut self, ty: &Type, span: Span) {
        let Some(of) = self.volatile_struct(ty) else { return };
        let name = self.structs[of].name.clone();
        let message = format!("a persistent reference to the volatile struct `{name}`");
        self.report(
            Diagnostic::new(Code::Volatile, message, span, "would lead nowhere after a crash")
                .help(format!("declare it by `persistent struct {name} {{ … }}`")),
        );
    }

    fn volatile_struct(&self, ty: &Type) -> Option<usize> {
        match ty {
            Type::Struct(of) => (!self.persistent_structs.contains(of)).then_some(*of),
            Type::Option(inner) | Type::Array(inner, _) => self.volatile_struct(inner),
            Type::Tuple(items) => items.iter().find_map(|ty| self.volatile_struct(ty)),
            Type::Record { fields, .. } => {
                fields.iter().find_map(|(_, ty)| self.volatile_struct(ty))
            }
            _ => None,
        }
    }

    /// What is persistent, with what runs after a crash.
    pub(super) fn recovery(
        &mut self,
        model: &ast::Model,
        lines: Option<hir::Persistence>,
        operations: &[hir::Routine],
    ) -> Option<hir::Persistence> {
        let (mut recover, mut resolve) = (None, None);
        for item in &model.items {
            let span = match item {
                Item::Recover(_, span) => *span,
                Item::Resolve(routine) => routine.name.span,
                _ => continue,
            };
            if lines.is_none() {
                let message = "`recover` runs after a crash, and nothing here would survive one";
                let help = "declare what survives by `persistent shared` and `persistent struct`";
                self.report(
                    Diagnostic::new(Code::Volatile, message, span, "nothing is persistent")
                        .help(help),
                );
            }
            match item {
                Item::Recover(block, span) if recover.is_none() => {
                    recover = self.block_alone("recover", Kind::Recover, block, *span);
                }
                Item::Resolve(routine) if resolve.is_none() => {
                    resolve = self.resolution(routine, operations);
                }
                _ => {}
            }
        }
        lines.map(|lines| hir::Persistence { recover, resolve, ..lines })
    }

    fn resolution(
        &mut self,
        declared: &ast::Routine,
        operations: &[hir::Routine],
    ) -> Option<hir::Routine> {
        let routine = self.routine(declared, Kind::Resolve)?;
        let help = "it is declared by `recover(t: tid) -> R? { … }`, where `R` is what operations \
                    return";
        let mut report = |message: String, span: Span, label: &str| {
            self.report(Diagnostic::new(Code::Recover, message, span, label).help(help));
        };
        let parameter = &routine.locals[..routine.parameters];
        if !matches!(parameter, [thread] if thread.ty == Type::Tid) {
            let message = "`recover` asks about the call of one thread".to_owned();
            report(message, declared.name.span, "takes one `tid`");
            return None;
        }
        let span = declared.response.as_ref().map_or(declared.name.span, |ty| ty.span);
        let Type::Option(response) = &routine.response else {
            let message = "`recover` answers `none` for a call that had no effect".to_owned();
            report(message, span, "not optional");
            return None;
        };
        if operations.iter().all(|operation| operation.response != **response) {
            let message = format!("no operation returns {}", self.type_name(response));
            self.report(
                Diagnostic::new(Code::Recover, message, span, "the outcome of which call?")
                    .help(help),
            );
            return None;
        }
        Some(routine)
    }

    /// Whether this name means what it means for persistent memory, and is not declared.
    pub(super) fn is_persistence(&self, name: &Ident) -> bool {
        let declared = self.globals.functions.iter().any(|f| f.name == name.name)
            || self.globals.operations.contains(&name.name);
        !declared && matches!(name.name.as_str(), "flush" | "persist" | "fence")
    }

    /// What is wrong with a call of `flush`, `persist` or `fence` that is no statement of its own.
    pub(super) fn persistence_call(
        &mut self,
        name: &Ident,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<Diagnostic> {
        if !self.is_persistence(name) {
            return None;
        }
        let word = &name.name;
        Some(match (word.as_str(), arguments) {
            ("fence", _) => {
                Diagnostic::new(Code::NoValue, "`fence` takes nothing", span, "is a statement")
                    .help("write `fence;` on its own")
            }
            (_, [_]) => Diagnostic::new(
                Code::NoValue,
                format!("`{word}` has no value"),
                span,
                "is a statement",
            )
            .help(format!("write `{word}(…);` on its own")),
            _ => {
                let message = format!("`{word}` takes one place");
                Diagnostic::new(Code::ArgumentCount, message, span, "wrong number of arguments")
                    .help(format!("write `{word}(place)`"))
            }
        })
    }

    /// `flush(p)`, `persist(p)`
    pub(super) fn flush(
        &mut self,
        scope: &mut Scope,
        name: &Ident,
        argument: &ast::Expr,
    ) -> Option<StatementKind> {
        self.reject_persistence_in_part(name)?;
        let place = self.word(scope, argument)?.0;
        self.note_need(NeedKind::Persistence, name.span);
        let persistent = match &place {
            Place::Shared(at) | Place::SharedElement(at, _) => self.globals.persistent.contains(at),
            Place::Field { of, .. } => self.persistent_structs.contains(of),
            Place::Parameter { .. } => false,
        };
        if !persistent {
            let help = match &place {
                Place::Shared(at) | Place::SharedElement(at, _) => {
                    format!(
                        "declare it by `persistent shared {}: …;`",
                        self.globals.shared[*at].name
                    )
                }
                Place::Parameter { .. } => {
                    "whether what is passed survives is not known: name the variable or field here"
                        .to_owned()
                }
                Place::Field { of, .. } => {
                    format!("declare it by `persistent struct {} {{ … }}`", self.structs[*of].name)
                }
            };
            let message = format!("`{}` of a volatile place", name.name);
            self.report(
                Diagnostic::new(
                    Code::Volatile,
                    message,
                    argument.span,
                    "does not survive a crash anyway",
                )
                .help(help),
            );
            return None;
        }
        Some(match name.name.as_str() {
            "flush" => StatementKind::Flush(place),
            _ => StatementKind::Persist(place),
        })
    }

    /// `fence;`, where no variable has that name.
    pub(super) fn fence(
        &mut self,
        scope: &Scope,
        expr: &ast::Expr,
    ) -> Option<Option<StatementKind>> {
        let ast::ExprKind::Name(word) = &expr.kind else { return None };
        let variable = scope.find(word).is_some() || self.variables.contains(word);
        if word != "fence" || variable || self.constants.contains_key(word) {
            return None;
        }
        let name = Ident { name: word.clone(), span: expr.span };
        if self.reject_persistence_in_part(&name).is_none() {
            return Some(None);
        }
        if self.globals.persistent.is_empty() && self.persistent_structs.is_empty() {
            let message = "`fence` guarantees what was flushed, and nothing here is persistent";
            let help = "declare what survives a crash by `persistent shared` and \
                        `persistent struct`; memory is sequentially consistent without fences";
            self.report(
                Diagnostic::new(Code::Volatile, message, expr.span, "not needed").help(help),
            );
            return Some(None);
        }
        self.note_need(NeedKind::Persistence, expr.span);
        Some(Some(StatementKind::Fence))
    }

    /// Specifications and references know no crashes.
    fn reject_persistence_in_part(&mut self, name: &Ident) -> Option<()> {
        self.reject_in_spec(name, name.span)?;
        if self.part != Part::Reference {
            return Some(());
        }
        let message = format!("`{}` has no place in a reference", name.name);
        self.report(
            Diagnostic::new(Code::NotInReference, message, name.span, "not needed")
                .help(NO_CRASHES),
        );
        None
    }
}
