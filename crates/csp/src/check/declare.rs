//! Constants, variables, the heads of processes, assertions.

use super::{Checker, Constant};
use crate::evaluate::{Evaluator, Fault};
use crate::limits;
use crate::program::*;
use crate::syntax::ast;
use linchpin_syntax::{Code, Diagnostic, Span, nearest};

impl Checker<'_> {
    pub(super) fn constants(&mut self, tree: &ast::Source, replaced: &[(String, i64)]) {
        for (name, value) in &tree.constants {
            let before = self.constants.get(&name.name).map(|constant| constant.span);
            self.once(name, before);
            let value_span = value.span;
            let Some((value, of)) = self.constant(value) else {
                // It is known, with a value that is never wrong: one mistake is enough.
                let constant = Constant { value: 1, of: Type::Int, span: name.span };
                self.constants.insert(name.name.clone(), constant);
                continue;
            };
            let value = match replaced.iter().rev().find(|(given, _)| *given == name.name) {
                Some((_, given)) if of == Type::Bool && !(0..=1).contains(given) => {
                    let message = format!("`{}` is a boolean: 0 or 1, not {given}", name.name);
                    self.report(Diagnostic::new(Code::Setting, message, value_span, "a boolean"));
                    value
                }
                Some((_, given)) => *given,
                None => value,
            };
            self.model.constants.push((name.name.clone(), of.show(value)));
            self.constants.insert(name.name.clone(), Constant { value, of, span: name.span });
        }
        for (given, _) in replaced {
            if !self.constants.contains_key(given) {
                let mut known: Vec<&str> = self.constants.keys().map(String::as_str).collect();
                known.sort_unstable();
                let help = match nearest(given, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => "it declares no constants".to_owned(),
                    None => format!("its constants are {}", known.join(", ")),
                };
                let message =
                    format!("a value was given for `{given}`, but there is no such constant");
                self.report(
                    Diagnostic::new(Code::Setting, message, Span::default(), "in this file")
                        .help(help),
                );
            }
        }
    }

    pub(super) fn variables(&mut self, tree: &ast::Source) {
        for variable in &tree.variables {
            let before = self.declared(&variable.name.name);
            self.once(&variable.name, before);
            let length = variable.size.as_ref().map(|size| self.length(size));
            let range = variable.range.as_ref().and_then(|(from, to)| {
                let low = self.constant_int(from)?;
                let high = self.constant_int(to)?;
                if low > high {
                    let message = format!("the range {low}..{high} is empty");
                    self.report(Diagnostic::new(
                        Code::Range,
                        message,
                        from.span.to(to.span),
                        "empty",
                    ));
                }
                Some((low, high))
            });
            let start = self.model.initial.len();
            let count = length.unwrap_or(1);
            if start + count > limits::CELLS as usize {
                let message =
                    format!("all variables together hold more than {} values", limits::CELLS);
                self.report(Diagnostic::new(
                    Code::TooLarge,
                    message,
                    variable.name.span,
                    "too much",
                ));
                continue;
            }
            let default = range.map_or(0, |(low, high)| 0.clamp(low, high.max(low)));
            let (values, of) = self.initial(variable, length, default);
            if let (Some(_), Type::Bool, Some((from, _))) = (range, of, &variable.range) {
                let mistake =
                    Diagnostic::new(Code::Range, "a boolean has no range", from.span, "not needed");
                self.report(mistake.help("leave it out"));
            } else if let Some((low, high)) = range
                && let Some(wrong) = values.iter().find(|value| !(low..=high).contains(*value))
            {
                let message = format!(
                    "`{}` starts with {wrong}, outside its range {low}..{high}",
                    variable.name.name
                );
                self.report(Diagnostic::new(
                    Code::Range,
                    message,
                    variable.name.span,
                    "outside its range",
                ));
            }
            self.model.initial.extend(values);
            let id = self.model.variables.len() as u32;
            let name = variable.name.name.clone();
            self.variables.insert(name.clone(), id);
            self.model.variables.push(Variable { name, start, length, of, range });
        }
    }

    fn length(&mut self, size: &ast::Expr) -> usize {
        let Some(length) = self.constant_int(size) else { return 1 };
        if !(1..=limits::CELLS).contains(&length) {
            let message = format!("an array cannot have {length} elements");
            let label = format!("1 to {} elements are possible", limits::CELLS);
            self.report(Diagnostic::new(Code::ArrayLength, message, size.span, label));
            return 1;
        }
        length as usize
    }

    fn initial(
        &mut self,
        variable: &ast::Variable,
        length: Option<usize>,
        default: i64,
    ) -> (Vec<i64>, Type) {
        let count = length.unwrap_or(1);
        match &variable.initial {
            None => (vec![default; count], Type::Int),
            Some(ast::Initial::Value(value)) => {
                let (value, of) = self.constant(value).unwrap_or((default, Type::Int));
                (vec![value; count], of)
            }
            Some(ast::Initial::List(items, span)) => {
                let (mut values, mut of) = (Vec::new(), None);
                for (item, times) in items {
                    let (value, found) = self.constant(item).unwrap_or((default, Type::Int));
                    if *of.get_or_insert(found) != found {
                        let mistake = Diagnostic::new(
                            Code::InitialValues,
                            "an array holds integers or booleans, not both",
                            item.span,
                            found.describe(),
                        );
                        self.report(mistake);
                    }
                    let times = match times {
                        None => 1,
                        Some(times) => {
                            self.constant_int(times).unwrap_or(1).clamp(0, limits::CELLS)
                        }
                    };
                    if values.len() <= limits::CELLS as usize {
                        values.extend(std::iter::repeat_n(value, times as usize));
                    }
                }
                if length.is_none() {
                    let mistake = Diagnostic::new(
                        Code::InitialValues,
                        format!("`{}` is no array but starts with a list", variable.name.name),
                        *span,
                        "a list",
                    )
                    .help(format!(
                        "write `var {}[{}] = …;`",
                        variable.name.name,
                        values.len()
                    ));
                    self.report(mistake);
                } else if values.len() != count {
                    let message = format!(
                        "`{}` has {count} elements but {} initial values",
                        variable.name.name,
                        values.len()
                    );
                    let mistake =
                        Diagnostic::new(Code::InitialValues, message, *span, "not as many")
                            .help("`v(n)` in the list stands for n times `v`");
                    self.report(mistake);
                }
                values.resize(count, default);
                (values, of.unwrap_or(Type::Int))
            }
        }
    }

    /// The heads of all processes, so that they can call each other.
    pub(super) fn signatures(&mut self, tree: &ast::Source) {
        for definition in &tree.processes {
            let name = &definition.name;
            let before = self.processes.get(&name.name).map(|(_, span)| *span);
            self.once(name, before);
            if definition.parameters.len() > limits::PARAMETERS {
                let message = format!("a process has at most {} parameters", limits::PARAMETERS);
                self.report(Diagnostic::new(Code::TooLarge, message, name.span, "too many"));
            }
            let id = self.model.processes.len() as u32;
            self.processes.entry(name.name.clone()).or_insert((id, name.span));
            self.model.processes.push(Process {
                parameters: definition.parameters.len(),
                frame: definition.parameters.len(),
                body: 0,
            });
        }
    }

    pub(super) fn assertions(&mut self, tree: &ast::Source) {
        for assertion in &tree.assertions {
            self.scope.clear();
            self.frame = 0;
            let first = self.model.nodes.len();
            let process = self.process(&assertion.process);
            let specification =
                assertion.specification.as_ref().map(|specification| self.process(specification));
            for node in &mut self.model.nodes[first..] {
                node.frame = self.frame;
            }
            let text = self.text(assertion.span);
            let line = self.line(assertion.span);
            self.model.assertions.push(Assertion { text, line, process, specification });
        }
    }

    fn declared(&self, name: &str) -> Option<Span> {
        self.constants.get(name).map(|constant| constant.span)
    }

    fn once(&mut self, name: &ast::Ident, before: Option<Span>) {
        let again = before.is_some() || self.variables.contains_key(&name.name);
        if again && !name.name.is_empty() {
            let message = format!("`{}` is declared twice", name.name);
            let mut mistake = Diagnostic::new(Code::Repeated, message, name.span, "again");
            if let Some(before) = before {
                mistake = mistake.related(before, "first here");
            }
            self.report(mistake);
        }
    }

    /// The value of an expression that only constants may occur in.
    pub(super) fn constant(&mut self, expr: &ast::Expr) -> Option<(i64, Type)> {
        let reported = self.mistakes.len();
        let scope = std::mem::take(&mut self.scope);
        let variables = std::mem::take(&mut self.variables);
        let checked = self.expression(expr);
        self.variables = variables;
        self.scope = scope;
        let (checked, of) = checked?;
        if self.mistakes.len() > reported {
            return None;
        }
        match Evaluator::new(&self.model).constant(&checked) {
            Ok(value) => Some((value, of)),
            Err(Fault { message, span, .. }) => {
                self.report(Diagnostic::new(Code::NotConstant, message, span, "no value"));
                None
            }
        }
    }

    fn constant_int(&mut self, expr: &ast::Expr) -> Option<i64> {
        let (value, of) = self.constant(expr)?;
        if of != Type::Int {
            self.mismatch(expr.span, Type::Int, of);
        }
        Some(value)
    }
}
