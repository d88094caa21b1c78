//! The lines that Figure 6 does not have: `invariant`, `relations { }` and `spec`.

use super::{Checker, Scope};
use crate::model::{
    Claim, Invariant, Next, OperationId, SpecLine, SpecMapping, SpecResponse, SpecTerm,
    SubOperationId,
};
use crate::syntax::ast::{self, Ident, TermKind};
use linchpin_spec::{BUILTINS, BuiltinError, Signature, builtin};
use linchpin_syntax::{Code, Diagnostic, nearest};

impl Checker {
    fn sub_operation_called(&mut self, name: &Ident) -> Option<SubOperationId> {
        let found = self.sub_operation_names.get(&name.name).copied();
        if found.is_none() && !name.name.is_empty() {
            let known = self.sub_operation_names.keys().map(String::as_str);
            let help = nearest(&name.name, known)
                .map(|near| format!("did you mean `{near}`?"))
                .unwrap_or_else(|| {
                    "a sub-operation is named with `...name` after it; the third of `Op` is `Op_3` otherwise".to_owned()
                });
            let message = format!("there is no sub-operation `{}`", name.name);
            self.report(
                Diagnostic::new(Code::UnknownName, message, name.span, "not found").help(help),
            );
        }
        found
    }

    pub(super) fn invariants(&mut self, file: &ast::File) {
        for invariant in &file.invariants {
            let after = invariant.after.as_ref().map(|name| self.sub_operation_called(name));
            let locals = match after {
                Some(None) => continue,
                Some(Some(id)) => self.model.operations[id.operation.0].locals.clone(),
                None => Vec::new(),
            };
            let bound = self.variables(&invariant.bound, "bound variable", &locals);
            let id = after.is_some();
            let scope = Scope { locals: &locals, peers: None, bound: &bound, id };
            let condition = self.condition(&invariant.condition, &scope);
            let after = after.flatten();
            let span = invariant.span;
            self.model.invariants.push(Invariant { bound, after, condition, span });
        }
    }

    pub(super) fn claims(&mut self, file: &ast::File) {
        for claim in &file.claims {
            let first = self.sub_operation_called(&claim.first);
            let second = self.sub_operation_called(&claim.second);
            let (Some(first), Some(second)) = (first, second) else { continue };
            let locals = self.model.operations[first.operation.0].locals.clone();
            let peers = self.model.operations[second.operation.0].locals.clone();
            let scope = Scope { locals: &locals, peers: Some(&peers), ..Scope::default() };
            let condition = claim.condition.as_ref().map(|c| self.condition(c, &scope));
            if claim.boundary {
                let ends = self.model.sub_operation(first).next.contains(&Next::Return);
                let starts =
                    self.model.operations[second.operation.0].first.contains(&second.index);
                if !ends || !starts {
                    let message = "this is not a boundary case";
                    let help = "a boundary pair is the last sub-operation of an operation, then the first of one";
                    let mistake =
                        Diagnostic::new(Code::Claim, message, claim.span, "not at a boundary");
                    self.report(mistake.help(help));
                }
            }
            let (kind, boundary, span) = (claim.kind, claim.boundary, claim.span);
            self.model.claims.push(Claim { first, second, kind, condition, boundary, span });
        }
    }

    pub(super) fn spec(&mut self, file: &ast::File) {
        if let [first, second, ..] = &file.specs[..] {
            let mistake = Diagnostic::new(
                Code::Repeated,
                "a file has one spec",
                second.name.span,
                "another `spec`",
            );
            self.report(mistake.related(first.name.span, "the first"));
        }
        let Some(spec) = file.specs.first() else { return };
        // Names in `BUILTINS` may have hyphens, which are no letters here.
        let wanted = spec.name.name.replace('_', "-");
        let initial: Vec<SpecTerm> =
            spec.initial.iter().filter_map(|term| self.spec_term(term, None)).collect();
        let sequential = builtin(&wanted, crate::sequential::initial(&initial).as_ref());
        let unknown = matches!(sequential, Err(BuiltinError::Unknown { .. }));
        let Ok(sequential) = sequential else {
            if !unknown {
                let message = format!("`{wanted}` cannot start like this");
                self.report(Diagnostic::new(
                    Code::UnknownSpec,
                    message,
                    spec.name.span,
                    "unsuitable initial value",
                ));
                return;
            }
            let known = BUILTINS.iter().map(|info| info.name);
            let help = nearest(&wanted, known)
                .map(|near| format!("did you mean `{}`?", near.replace('-', "_")))
                .unwrap_or_else(|| "`linchpin specs` lists them".to_owned());
            let message = format!("there is no specification `{}`", spec.name.name);
            self.report(
                Diagnostic::new(Code::UnknownSpec, message, spec.name.span, "not found").help(help),
            );
            return;
        };
        let mut lines: Vec<SpecLine> = Vec::new();
        for line in &spec.lines {
            let Some(line) = self.spec_line(line, sequential.operations()) else { continue };
            if let Some(old) = lines.iter().find(|old| old.operation == line.operation) {
                let message = "an operation has one line in the spec";
                let mistake = Diagnostic::new(Code::Repeated, message, line.span, "another line");
                let mistake = mistake.related(old.span, "the first");
                self.report(mistake);
                continue;
            }
            lines.push(line);
        }
        for index in 0..self.model.operations.len() {
            if !lines.iter().any(|line| line.operation.0 == index) {
                let operation = &self.model.operations[index];
                let message = format!("the spec does not mention `{}`", operation.name);
                let help = format!("add a line such as `{} = method();`", operation.name);
                let mistake =
                    Diagnostic::new(Code::SpecLine, message, spec.name.span, "no line for it");
                let mistake = mistake.related(operation.span, "this operation").help(help);
                self.report(mistake);
            }
        }
        self.model.spec = Some(SpecMapping { name: wanted, initial, lines, span: spec.name.span });
    }

    fn spec_line(&mut self, line: &ast::SpecLine, known: &[Signature]) -> Option<SpecLine> {
        let operation = self.operation_called(&line.operation)?;
        if !known.iter().any(|signature| signature.is_called(&line.method.name)) {
            let names = known.iter().map(|signature| signature.name.as_str());
            let all: Vec<&str> = names.clone().collect();
            let help = nearest(&line.method.name, names)
                .map(|near| format!("did you mean `{near}`?"))
                .unwrap_or_else(|| format!("it has {}", all.join(", ")));
            let message = format!("the specification has no operation `{}`", line.method.name);
            self.report(
                Diagnostic::new(Code::NotSpecified, message, line.method.span, "not found")
                    .help(help),
            );
            return None;
        }
        let mut terms = |terms: &[ast::Term]| -> Vec<SpecTerm> {
            terms.iter().filter_map(|term| self.spec_term(term, Some(operation))).collect()
        };
        let arguments = terms(&line.arguments);
        let response = match &line.response {
            None => SpecResponse::Returned,
            Some(response) if line.whether => SpecResponse::Whether(terms(response)),
            Some(response) => SpecResponse::Always(terms(response)),
        };
        let method = line.method.name.clone();
        Some(SpecLine { operation, method, arguments, response, span: line.span })
    }

    fn spec_term(&mut self, term: &ast::Term, of: Option<OperationId>) -> Option<SpecTerm> {
        let body = of.map(|operation| &self.model.operations[operation.0]);
        match &term.kind {
            TermKind::Int(value) => return Some(SpecTerm::Int(*value)),
            TermKind::Null => return Some(SpecTerm::Null),
            TermKind::Missing => return None,
            TermKind::Place(place) if place.access.is_none() => {
                let arguments = body.map_or(&[][..], |body| &body.locals[..body.arguments]);
                if let Some(id) = Self::local_of(arguments, &place.name.name) {
                    return Some(SpecTerm::Argument(id));
                }
                match place.name.name.as_str() {
                    "true" => return Some(SpecTerm::Bool(true)),
                    "false" => return Some(SpecTerm::Bool(false)),
                    _ => {}
                }
            }
            _ => {}
        }
        let message = match body {
            Some(body) => format!("expected an argument of `{}` or a constant", body.name),
            None => "expected a constant".to_owned(),
        };
        self.report(Diagnostic::new(Code::SpecLine, message, term.span, "neither"));
        None
    }
}
