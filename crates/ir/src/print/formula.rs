//! Base conditions, as the model writes them.

use super::Names;
use super::names::component_name;
use super::operators::{is_equality, level, levels, parenthesize};
use super::values::component_type;
use crate::program::{Expr, Formula, Type};

impl<'a> Names<'a> {
    /// A formula.
    pub fn formula(&self, formula: &Formula) -> String {
        self.formula_within(formula, &mut Vec::new(), level::ANY)
    }

    /// A formula inside quantifiers that bind these names, the innermost last.
    fn formula_within(&self, formula: &Formula, bound: &mut Vec<String>, outer: u8) -> String {
        match formula {
            Formula::Local(expr) => self.expr_within(expr, outer),
            Formula::Bound(out) => {
                let at = bound.len().checked_sub(out + 1);
                at.map_or("?".to_owned(), |at| bound[at].clone())
            }
            Formula::Shared(variable) => self.shared(*variable).to_owned(),
            Formula::SharedElement(variable, index) => {
                let index = self.formula_within(index, bound, level::ANY);
                format!("{}[{index}]", self.shared(*variable))
            }
            Formula::Field(object, of, field) => {
                let object = self.formula_within(object, bound, level::POSTFIX);
                format!("{object}.{}", self.field(*of, *field))
            }
            Formula::Component(record, component) => {
                let name = component_name(self.type_of_formula(record), *component);
                format!("{}.{name}", self.formula_within(record, bound, level::POSTFIX))
            }
            Formula::Unary(operator, inner) => {
                let inner = self.formula_within(inner, bound, level::UNARY);
                parenthesize(format!("{operator}{inner}"), level::UNARY, outer)
            }
            Formula::Binary(operator, left, right) => {
                let (here, [on_left, on_right]) = levels(*operator);
                let mut side = |formula: &Formula, other: &Formula, level| match formula {
                    Formula::Local(expr @ Expr::Const(_)) if is_equality(*operator) => {
                        self.expr_as(expr, self.type_of_formula(other))
                    }
                    _ => self.formula_within(formula, bound, level),
                };
                let (left, right) = (side(left, right, on_left), side(right, left, on_right));
                parenthesize(format!("{left} {operator} {right}"), here, outer)
            }
            Formula::Reach { from, field: (of, field), component, to } => {
                let component = component.map_or(String::new(), |component| {
                    format!(".{}", component_name(self.field_type(*of, *field), component))
                });
                let from = self.formula_within(from, bound, level::ANY);
                let to = self.formula_within(to, bound, level::ANY);
                format!("reach({from}, {}{component}, {to})", self.field(*of, *field))
            }
            Formula::Forall(of, body) => self.quantified("forall", *of, body, bound),
            Formula::Exists(of, body) => self.quantified("exists", *of, body, bound),
        }
    }

    fn quantified(
        &self,
        quantifier: &str,
        of: usize,
        body: &Formula,
        bound: &mut Vec<String>,
    ) -> String {
        let name = self.fresh_name(bound);
        bound.push(name.clone());
        let body = self.formula_within(body, bound, level::ANY);
        bound.pop();
        format!("{quantifier} {name}: {} {{ {body} }}", self.structure(of))
    }

    /// A name for a bound object that means nothing else here: `n`, `m`, `k`, `n1`, `m1`, …
    fn fresh_name(&self, bound: &[String]) -> String {
        let taken = |name: &String| {
            let variables = self.body.locals.iter().chain(&self.program.shared);
            let mut variables = variables.chain(&self.program.thread_locals);
            bound.contains(name) || variables.any(|variable| variable.name == *name)
        };
        let plain = ["n", "m", "k"].map(str::to_owned).into_iter();
        let numbered = (1..).flat_map(|i| ["n", "m", "k"].map(|letter| format!("{letter}{i}")));
        plain.chain(numbered).find(|name| !taken(name)).unwrap_or_default()
    }

    fn type_of_formula(&self, formula: &Formula) -> Option<&'a Type> {
        match formula {
            Formula::Local(expr) => self.type_of(expr),
            Formula::Shared(variable) => Some(&self.program.shared.get(*variable)?.ty),
            Formula::SharedElement(variable, _) => match &self.program.shared.get(*variable)?.ty {
                Type::Array(item, _) => Some(item),
                _ => None,
            },
            Formula::Field(_, of, field) => self.field_type(*of, *field),
            Formula::Component(record, component) => {
                component_type(self.type_of_formula(record)?, *component)
            }
            _ => None,
        }
    }
}
