//! What a program and its specification do with integers, also where the sub-operations no longer
//! say so.

use linchpin_ir::program::{
    Action, BinaryOp, Body, Expr, Program, SpecSource, Target, UnaryOp, Variable,
};
use linchpin_spec::Value;
use linchpin_subop::model::LARGEST_CONSTANT;
use linchpin_subop::sequential::Constants;
use std::collections::BTreeSet;

/// What a program does with integers.
#[derive(Clone, Debug, Default)]
pub struct Integers {
    /// The constants of each operation, of the start, and of the specification.
    pub constants: Vec<Constants>,
    /// The code computes with them.
    pub are_added: bool,
    /// The code has constants that a `.subop` file cannot have.
    pub are_large: bool,
}

pub fn of(program: &Program) -> Integers {
    let mut constants = of_operations(program);
    let is_added = |part: &Constants| part.adds || part.multiplies;
    let are_added = constants.iter().any(is_added);
    let are_large = constants.iter().flat_map(|part| &part.values).any(|value| is_large(*value));
    let mut start = Constants::default();
    see_start(program, &mut start);
    match &program.spec {
        SpecSource::Builtin { name, init } => {
            init.iter().for_each(|value| see_value(value, &mut start));
            start.adds |= name == "counter";
        }
        SpecSource::Model(spec) => {
            see_start(spec, &mut start);
            constants.extend(of_operations(spec));
        }
    }
    constants.push(start);
    Integers { constants, are_added, are_large }
}

/// The constants of each operation.
fn of_operations(program: &Program) -> Vec<Constants> {
    let mut all = Vec::new();
    for operation in &program.operations {
        let mut part = Constants::default();
        for (from, to) in operation.parameters.iter().filter_map(|parameter| parameter.range) {
            part.values.extend([from, to]);
        }
        see_variables(&operation.body.locals, &mut part);
        see_body(&operation.body, &mut part);
        all.push(part);
    }
    all
}

/// For each argument of an operation, the integers that code and specification compare it with.
pub fn compared(program: &Program, operation: &str) -> Vec<BTreeSet<i64>> {
    let spec = match &program.spec {
        SpecSource::Model(spec) => Some(&**spec),
        SpecSource::Builtin { .. } => None,
    };
    let mut all: Vec<BTreeSet<i64>> = Vec::new();
    let programs = std::iter::once(program).chain(spec);
    for operation in
        programs.flat_map(|program| &program.operations).filter(|of| of.name == operation)
    {
        let count = operation.parameters.len().max(all.len());
        all.resize_with(count, BTreeSet::new);
        for edge in operation.body.nodes.iter().flat_map(|node| &node.edges) {
            let returned = match &edge.target {
                Target::Return(value) => Some(value),
                Target::Node(_) => None,
            };
            let actions = edge.actions.iter().flat_map(|(action, _)| action.expressions());
            actions.chain(returned).for_each(|expr| see_compared(expr, &mut all));
        }
    }
    all
}

fn see_compared(expr: &Expr, all: &mut [BTreeSet<i64>]) {
    use BinaryOp::{Equal, Greater, GreaterEqual, Less, LessEqual, NotEqual};
    expr.walk(&mut |inner| {
        let Expr::Binary(operator, left, right) = inner else { return };
        let is_equality = matches!(operator, Equal | NotEqual);
        if !is_equality && !matches!(operator, Less | LessEqual | Greater | GreaterEqual) {
            return;
        }
        for sides in [(&**left, &**right), (&**right, &**left)] {
            if let (Expr::Local(local), Expr::Const(Value::Int(value))) = sides
                && let Some(found) = usize::try_from(local.0).ok().and_then(|at| all.get_mut(at))
            {
                found.insert(*value);
                if !is_equality {
                    found.extend([value.saturating_sub(1), value.saturating_add(1)]);
                }
            }
        }
    });
}

/// The initial values of the shared variables or of the state.
fn see_start(program: &Program, part: &mut Constants) {
    see_variables(&program.shared, part);
    program.init.iter().for_each(|body| see_body(body, part));
}

fn see_variables(variables: &[Variable], part: &mut Constants) {
    variables.iter().for_each(|variable| see_value(&variable.initial, part));
}

fn see_body(body: &Body, part: &mut Constants) {
    for edge in body.nodes.iter().flat_map(|node| &node.edges) {
        for (action, _) in &edge.actions {
            part.adds |= matches!(action, Action::FetchAdd { .. });
            action.expressions().into_iter().for_each(|expr| see(expr, part));
        }
        if let Target::Return(value) = &edge.target {
            see(value, part);
        }
    }
}

fn see(expr: &Expr, part: &mut Constants) {
    use BinaryOp::{Add, Divide, Multiply, Remainder, Subtract};
    expr.walk(&mut |inner| match inner {
        Expr::Const(value) => see_value(value, part),
        Expr::Unary(UnaryOp::Negate, _) | Expr::Binary(Add | Subtract, ..) => part.adds = true,
        Expr::Binary(Multiply | Divide | Remainder, ..) => part.multiplies = true,
        _ => {}
    });
}

fn see_value(value: &Value, part: &mut Constants) {
    match value {
        Value::Int(value) => {
            part.values.insert(*value);
        }
        Value::List(items) => items.iter().for_each(|item| see_value(item, part)),
        Value::Set(items) => items.iter().for_each(|item| see_value(item, part)),
        Value::Map(items) => items.iter().for_each(|(key, item)| {
            see_value(key, part);
            see_value(item, part);
        }),
        _ => {}
    }
}

fn is_large(value: i64) -> bool {
    value.unsigned_abs() > LARGEST_CONSTANT.unsigned_abs()
}
