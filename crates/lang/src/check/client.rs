//! The client: how many threads there are, what each may call, and the other bounds.

use super::declare::operations;
use super::{Checker, quoted};
use crate::hir::{Bounds, Ops};
use crate::syntax::ast::{self, Ident, Item};
use crate::{Threads, limits};
use linchpin_ir::program::{RoleCalls, Thread, Type};
use linchpin_spec::Value;
use linchpin_syntax::{Code, Diagnostic, Span};
use linchpin_verdict::Values;

/// The bounds that are not roles.
const BOUNDS: &[&str] = &["threads", "ops", "values", "size", "crashes"];

/// Whether a bound is this word instead of a number.
fn is_word(value: &ast::Expr, word: &str) -> bool {
    matches!(&value.kind, ast::ExprKind::Name(name) if name == word)
}

/// A role and the operations that it may call.
type Role = (String, Vec<usize>);

impl Checker<'_> {
    /// Roles and bounds: the threads, what each may call, and the bounds. Defines `threads`.
    pub(super) fn client(&mut self, model: &ast::Model) -> (Vec<Thread>, Bounds) {
        let operations: Vec<&str> = operations(model).map(|op| op.name.name.as_str()).collect();
        let roles = self.roles(model, &operations);
        let mut bounds =
            Bounds { ops: Ops::Each(2), values: Values::UpTo(2), size: None, crashes: 0 };
        let mut counts: Vec<(String, usize)> = Vec::new();
        let mut calls: Vec<(String, RoleCalls)> = Vec::new();
        for item in &model.items {
            let Item::Bounds(entries, _) = item else { continue };
            let for_all = entries.iter().filter(|entry| entry.role.is_none());
            self.reject_repeated("bound", &for_all.map(|e| &e.name).collect::<Vec<_>>(), &[]);
            let named: Vec<&Ident> = entries.iter().filter_map(|e| e.role.as_ref()).collect();
            self.reject_repeated("bound of the role", &named, &[]);
            for entry in entries {
                match &entry.role {
                    Some(role) => calls.extend(self.role_calls(entry, role, &roles)),
                    None => self.bound(entry, &roles, &mut bounds, &mut counts),
                }
            }
        }
        let mut threads = self.threads(&roles, &counts, operations.len());
        for thread in &mut threads {
            let own = calls.iter().find(|(role, _)| thread.role.as_ref() == Some(role));
            thread.calls = own.map(|(_, calls)| *calls);
        }
        if !(1..=limits::THREADS).contains(&threads.len()) && self.diagnostics.is_empty() {
            let message = format!("this model has {} threads", threads.len());
            let label = format!("there must be between 1 and {}", limits::THREADS);
            self.report(match self.config.threads {
                Threads::AsDeclared => {
                    Diagnostic::new(Code::Bounds, message, Span::default(), label)
                }
                Threads::Count(_) | Threads::PerRole(_) => {
                    let message = format!("`--threads`: {message}");
                    Diagnostic::of_flag(Code::Bounds, "--threads", message).help(label)
                }
            });
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

    /// `ops(role): e`
    fn role_calls(
        &mut self,
        ast::Bound { name, value, .. }: &ast::Bound,
        role: &Ident,
        roles: &[Role],
    ) -> Option<(String, RoleCalls)> {
        if name.name != "ops" {
            let message = format!("`{}` is not for one role", name.name);
            self.report(
                Diagnostic::new(Code::Bounds, message, role.span, "for all of them")
                    .help("only `ops` can differ: `ops(writer): 3`"),
            );
            return None;
        }
        if !roles.iter().any(|(known, _)| *known == role.name) {
            self.unknown("role", role, roles.iter().map(|(role, _)| role.as_str()));
            return None;
        }
        let calls = match self.ops(value)? {
            Ops::Each(count) => RoleCalls::Each(u16::try_from(count).unwrap_or(u16::MAX)),
            Ops::Unlimited => RoleCalls::Unlimited,
        };
        Some((role.name.clone(), calls))
    }

    /// A number of operations, or `unlimited`.
    fn ops(&mut self, value: &ast::Expr) -> Option<Ops> {
        if is_word(value, "unlimited") {
            return Some(Ops::Unlimited);
        }
        let number = self.constant(value, &Type::Int)?.as_int()?;
        let most = limits::BOUND;
        if !(1..=most).contains(&number) {
            let message = format!("the bound `ops` cannot be {number}");
            let label = format!("must be between 1 and {most}");
            self.report(
                Diagnostic::new(Code::Bounds, message, value.span, label)
                    .help("`unlimited` lets threads call for ever"),
            );
            return None;
        }
        Some(Ops::Each(usize::try_from(number).unwrap_or(usize::MAX)))
    }

    fn bound(
        &mut self,
        ast::Bound { name, value, .. }: &ast::Bound,
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
        if name.name == "ops" {
            bounds.ops = self.ops(value).unwrap_or(bounds.ops);
            return;
        }
        if name.name == "values" && is_word(value, "any") {
            bounds.values = Values::Any;
            return;
        }
        let Some(number) = self.constant(value, &Type::Int).and_then(|v| v.as_int()) else {
            return;
        };
        // Without a thread every property would hold; but a role may have no thread.
        let is_role = is_count && name.name != "threads";
        let least = if is_role || name.name == "crashes" { 0 } else { 1 };
        let most = match name.name.as_str() {
            _ if is_count => i64::try_from(limits::THREADS).unwrap_or(i64::MAX),
            "crashes" => limits::CRASHES,
            _ => limits::BOUND,
        };
        if !(least..=most).contains(&number) {
            let message = format!("the bound `{}` cannot be {number}", name.name);
            let label = format!("must be between {least} and {most}");
            self.report(Diagnostic::new(Code::Bounds, message, value.span, label));
            return;
        }
        let count = usize::try_from(number).unwrap_or(usize::MAX);
        match name.name.as_str() {
            "values" => bounds.values = Values::UpTo(number),
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
            let thread = Thread { role: None, operations: (0..operations).collect(), calls: None };
            return vec![thread; count("threads", 2)];
        }
        let of_role = |(name, calls): &Role| {
            let thread =
                Thread { role: Some(name.clone()), operations: calls.clone(), calls: None };
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
            return Some(Diagnostic::of_flag(Code::Bounds, "--threads", message).help(help));
        }
        None
    }
}
