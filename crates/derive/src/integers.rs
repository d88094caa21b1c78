//! What a program does with integers, also where the sub-operations no longer say so.

use linchpin_ir::program::{Action, BinaryOp, Expr, Program, SpecSource, Target, UnaryOp};
use linchpin_spec::Value;
use linchpin_subop::model::LARGEST_CONSTANT;

/// What a program does with integers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Integers {
    /// It computes with them.
    pub are_added: bool,
    /// It has constants that a `.subop` file cannot have.
    pub are_large: bool,
}

pub fn of(program: &Program) -> Integers {
    let mut found = Integers::default();
    for operation in &program.operations {
        let ranges = operation.parameters.iter().filter_map(|parameter| parameter.range);
        found.are_large |= ranges.into_iter().any(|(from, to)| is_large(from) || is_large(to));
        let initial = operation.body.locals.iter().map(|local| &local.initial);
        found.are_large |= initial.into_iter().any(has_large);
        for edge in operation.body.nodes.iter().flat_map(|node| &node.edges) {
            for (action, _) in &edge.actions {
                found.are_added |= matches!(action, Action::FetchAdd { .. });
                action.expressions().into_iter().for_each(|expr| found.see(expr));
            }
            if let Target::Return(value) = &edge.target {
                found.see(value);
            }
        }
    }
    found
}

/// The constants of the operations of a specification that is written in the model.
pub fn of_spec(program: &Program) -> Vec<i64> {
    let SpecSource::Model(spec) = &program.spec else { return Vec::new() };
    let mut found = Vec::new();
    for operation in &spec.operations {
        let edges = operation.body.nodes.iter().flat_map(|node| &node.edges);
        for (action, _) in edges.flat_map(|edge| &edge.actions) {
            for expr in action.expressions() {
                expr.walk(&mut |inner| {
                    if let Expr::Const(Value::Int(value)) = inner {
                        found.push(*value);
                    }
                });
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

impl Integers {
    fn see(&mut self, expr: &Expr) {
        use BinaryOp::{Add, Divide, Multiply, Remainder, Subtract};
        expr.walk(&mut |inner| match inner {
            Expr::Const(value) => self.are_large |= has_large(value),
            Expr::Unary(UnaryOp::Negate, _)
            | Expr::Binary(Add | Subtract | Multiply | Divide | Remainder, ..) => {
                self.are_added = true;
            }
            _ => {}
        });
    }
}

fn is_large(value: i64) -> bool {
    value.unsigned_abs() > LARGEST_CONSTANT.unsigned_abs()
}

fn has_large(value: &Value) -> bool {
    match value {
        Value::Int(value) => is_large(*value),
        Value::List(parts) => parts.iter().any(has_large),
        _ => false,
    }
}
