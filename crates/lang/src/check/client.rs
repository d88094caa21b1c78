//! The client: how many threads there are, what each may call, and the other bounds.

use super::declare::operations;
use super::{Checker, quoted};
use crate::hir::Bounds;
use crate::syntax::ast::{self, Ident, Item};
use crate::{Threads, limits};
use linchpin_ir::program::{Thread, Type};
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};

/// The bounds that are not roles.
const BOUNDS: &[&str] = &["threads", "ops", "values", "size", "crashes"];

/// A role and the operations that it may call.
type Role = (String, Vec<usize>);

impl Checker<'_> {
    /// Roles and bounds: the threads, what each may call, and the bounds. Defines `threads`.
    pub(super) fn client(&mut self, model: &ast::Model) -> (Vec<Thread>, Bounds) {
        let operations: Vec<&str> = operations(model).map(|op| op.name.name.as_str()).collect();
        let roles = self.roles(model, &operations);
        let mut bounds = Bounds { ops: 2, values: 2, size: None, crashes: 0 };
        let mut counts: Vec<(String, usize)> = Vec::new();
        for item in &model.items {
            let Item::Bounds(entries, _) = item else { continue };
            self.reject_repeated("bound", &entries.iter().map(|(n, _)| n).collect::<Vec<_>>(), &[]);
            for entry in entries {
                self.bound(entry, &roles, &mut bounds, &mut counts);
            }
        }
        let threads = self.threads(&roles, &counts, operations.len());
        if !(1..=limits::THREADS).contains(&threads.len()) && self.diagnostics.is_empty() {
            let message = format!("this model has {} threads", threads.len());
            let label = format!("there must be between 1 and {}", limits::THREADS);
            self.report(Diagnostic::new(Code::Bounds, message, Span::default(), label));
        }
        let count = Value::Int(i64::try_from(threads.len()).unwrap_or(i64::MAX));
        self.constants.insert("threads".to_owned(), (count, Type::Int));
        (threads, bounds)
    }

    fn roles(&mut self, model: &ast::Model, operations: &[&str]) -> Vec<Role> {
        let mut roles: Vec<Role> = Vec::new();
        for item in &model.items {
            let Item::Role(name, members) = item else { continue };
            let mut calls = Vec::new();
            for member in members {
                match operations.iter().position(|known| *known == member.name) {
                    Some(at) if calls.contains(&at) => {
                        let message = format!("`{}` is named twice", member.name);
                        self.report(Diagnostic::new(
                            Code::Repeated,
                            message,
                            member.span,
                            "once is enough",
                        ));
                    }
                    Some(at) => calls.push(at),
                    None => self.unknown("operation", member, operations.iter().copied()),
                }
            }
            let taken = BOUNDS.contains(&name.name.as_str());
            if taken || roles.iter().any(|(known, _)| *known == name.name) {
                let message = format!("the name `{}` is taken", name.name);
                self.report(Diagnostic::new(
                    Code::Repeated,
                    message,
                    name.span,
                    "choose another name for this role",
                ));
                continue;
            }
            roles.push((name.name.clone(), calls));
        }
        roles
    }

    fn bound(
        &mut self,
        (name, value): &(Ident, ast::Expr),
        roles: &[Role],
        bounds: &mut Bounds,
        counts: &mut Vec<(String, usize)>,
    ) {
        let is_count = name.name == "threads" || roles.iter().any(|(role, _)| *role == name.name);
        if !is_count && !BOUNDS.contains(&name.name.as_str()) {
            let roles = roles.iter().map(|(role, _)| role.as_str());
            self.unknown("bound", name, BOUNDS.iter().copied().chain(roles));
            return;
        }
        let Some(number) = self.constant(value, &Type::Int).and_then(|v| v.as_int()) else {
            return;
        };
        // Without a thread every property would hold; but a role may have no thread.
        let is_role = is_count && name.name != "threads";
        let least = if is_role || name.name == "crashes" { 0 } else { 1 };
        let most = if is_count {
            i64::try_from(limits::THREADS).unwrap_or(i64::MAX)
        } else {
            limits::BOUND
        };
        if !(least..=most).contains(&number) {
            let message = format!("the bound `{}` cannot be {number}", name.name);
            let label = format!("must be between {least} and {most}");
            self.report(Diagnostic::new(Code::Bounds, message, value.span, label));
            return;
        }
        let count = usize::try_from(number).unwrap_or(usize::MAX);
        match name.name.as_str() {
            "ops" => bounds.ops = count,
            "values" => bounds.values = number,
            "size" => bounds.size = Some(count),
            "crashes" => bounds.crashes = count,
            _ => counts.push((name.name.clone(), count)),
        }
        if name.name == "threads" && !roles.is_empty() {
            let names: Vec<&str> = roles.iter().map(|(role, _)| role.as_str()).collect();
            let message = "this model has roles, so each needs a number of its own";
            self.report(
                Diagnostic::new(Code::Bounds, message, name.span, "for which role?")
                    .help(format!("name them: {}", quoted(&names))),
            );
        }
    }

    fn threads(
        &mut self,
        roles: &[Role],
        counts: &[(String, usize)],
        operations: usize,
    ) -> Vec<Thread> {
        let declared = |name: &str| counts.iter().rev().find(|(n, _)| n == name).map(|(_, c)| *c);
        let mut chosen: Vec<(&str, usize)> = match &self.config.threads {
            Threads::AsDeclared => Vec::new(),
            Threads::Count(count) => vec![("threads", *count)],
            Threads::PerRole(roles) => roles.iter().map(|(r, c)| (r.as_str(), *c)).collect(),
        };
        if let Some(mistake) = self.misfit(roles, &chosen) {
            self.report(mistake);
            chosen.clear();
        }
        let count = |name: &str, default: usize| {
            let set = chosen.iter().rev().find(|(n, _)| *n == name).map(|(_, c)| *c);
            set.or_else(|| declared(name)).unwrap_or(default).min(limits::THREADS + 1)
        };
        if roles.is_empty() {
            let thread = Thread { role: None, operations: (0..operations).collect() };
            return vec![thread; count("threads", 2)];
        }
        let of_role = |(name, calls): &Role| {
            let thread = Thread { role: Some(name.clone()), operations: calls.clone() };
            vec![thread; count(name, 1)]
        };
        roles.iter().flat_map(of_role).collect()
    }

    /// What is wrong with the `--threads` that the user chose for a model with these roles.
    fn misfit(&self, roles: &[Role], chosen: &[(&str, usize)]) -> Option<Diagnostic> {
        let names: Vec<&str> = roles.iter().map(|(role, _)| role.as_str()).collect();
        for (name, count) in chosen {
            let message = match (*name == "threads", roles.is_empty()) {
                (true, false) => format!("`--threads {count}`: this model has roles"),
                (false, _) if !names.contains(name) => {
                    format!("`--threads {name}={count}`: this model has no role `{name}`")
                }
                _ => continue,
            };
            let help = match names.first() {
                None => "say `--threads 3`".to_owned(),
                Some(first) => {
                    format!("say `--threads {first}=2`; the roles are {}", quoted(&names))
                }
            };
            return Some(
                Diagnostic::new(Code::Bounds, message, Span::default(), "in this model").help(help),
            );
        }
        None
    }
}
