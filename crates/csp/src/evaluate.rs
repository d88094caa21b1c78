//! Values of expressions and effects of assignments, and which cells they touch.

use crate::cells::Access;
use crate::limits;
use crate::program::*;
use crate::syntax::ast::BinaryOp;
use linchpin_syntax::Span;
use linchpin_verdict::StopReason;

/// A step that goes wrong by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub message: String,
    pub span: Span,
    pub cause: Cause,
}

/// What makes a step go wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The model.
    Model,
    /// It is larger than the checker can take; the model may be right.
    TooLarge,
    /// A limit or a person; the model may be right.
    Stopped(StopReason),
}

impl Fault {
    pub fn new(message: impl Into<String>, span: Span) -> Fault {
        Fault { message: message.into(), span, cause: Cause::Model }
    }

    pub fn too_large(message: impl Into<String>, span: Span) -> Fault {
        Fault { message: message.into(), span, cause: Cause::TooLarge }
    }

    pub fn stopped(reason: StopReason) -> Fault {
        let (message, span) = (reason.to_string(), Span::default());
        Fault { message, span, cause: Cause::Stopped(reason) }
    }
}

/// Evaluates expressions of a model and notes what they access.
pub(crate) struct Evaluator<'m> {
    model: &'m Model,
    /// What has been read and written since it was cleared.
    pub access: Access,
}

impl<'m> Evaluator<'m> {
    pub fn new(model: &'m Model) -> Evaluator<'m> {
        Evaluator { model, access: Access::default() }
    }

    /// The value of an expression without variables.
    pub fn constant(&mut self, expr: &Expr) -> Result<i64, Fault> {
        self.value(expr, &[], &[])
    }

    /// The value of an expression, given the values of slots and of cells.
    pub fn value(&mut self, expr: &Expr, frame: &[i64], cells: &[i64]) -> Result<i64, Fault> {
        Ok(match &expr.kind {
            ExprKind::Value(value) => *value,
            ExprKind::Slot(slot) => frame.get(usize::from(*slot)).copied().unwrap_or(0),
            ExprKind::Variable(variable) => {
                self.read(self.model.variables[*variable as usize].start, cells)
            }
            ExprKind::Element(variable, index) => {
                let index = self.value(index, frame, cells)?;
                self.read(self.cell(*variable, index, expr.span)?, cells)
            }
            ExprKind::Not(inner) => 1 - self.value(inner, frame, cells)?,
            ExprKind::Negate(inner) => {
                self.value(inner, frame, cells)?.checked_neg().ok_or_else(|| overflow(expr.span))?
            }
            ExprKind::Binary(operator, left, right) => {
                let first = self.value(left, frame, cells)?;
                match (operator, first) {
                    (BinaryOp::And, 0) => return Ok(0),
                    (BinaryOp::Or, 1) => return Ok(1),
                    _ => {}
                }
                let second = self.value(right, frame, cells)?;
                binary(*operator, first, second, expr.span)?
            }
        })
    }

    fn read(&mut self, cell: usize, cells: &[i64]) -> i64 {
        self.access.reads.insert(cell);
        cells.get(cell).copied().unwrap_or(0)
    }

    fn cell(&self, variable: u32, index: i64, span: Span) -> Result<usize, Fault> {
        let Variable { name, start, length, .. } = &self.model.variables[variable as usize];
        let length = length.unwrap_or(1);
        match usize::try_from(index) {
            Ok(index) if index < length => Ok(start + index),
            _ => {
                let message = format!(
                    "`{name}[{index}]` does not exist: `{name}` has elements 0..{}",
                    length - 1
                );
                Err(Fault::new(message, span))
            }
        }
    }

    /// The values of a bound name.
    pub fn domain(
        &mut self,
        domain: &Domain,
        frame: &[i64],
        span: Span,
    ) -> Result<Vec<i64>, Fault> {
        match domain {
            Domain::Range(from, to) => {
                let (from, to) = (self.value(from, frame, &[])?, self.value(to, frame, &[])?);
                if to.saturating_sub(from) >= limits::BRANCHES {
                    let message = format!("{from}..{to} has more than {} values", limits::BRANCHES);
                    return Err(Fault::too_large(message, span));
                }
                Ok((from..=to).collect())
            }
            Domain::List(values) => {
                values.iter().map(|value| self.value(value, frame, &[])).collect()
            }
        }
    }

    /// Executes assignments, in order, as one step.
    pub fn execute(
        &mut self,
        statements: &[Statement],
        frame: &mut [i64],
        cells: &mut [i64],
        budget: &mut usize,
    ) -> Result<(), Fault> {
        for statement in statements {
            match statement {
                Statement::Assign { variable, index, value, span } => {
                    spend(budget, *span)?;
                    let value = self.value(value, frame, cells)?;
                    let index = match index {
                        Some(index) => self.value(index, frame, cells)?,
                        None => 0,
                    };
                    let cell = self.cell(*variable, index, *span)?;
                    let of = &self.model.variables[*variable as usize];
                    if let Some((low, high)) = of.range
                        && !(low..=high).contains(&value)
                    {
                        let message = format!(
                            "`{}` becomes {value}, outside its range {low}..{high}",
                            of.name
                        );
                        return Err(Fault::new(message, *span));
                    }
                    self.access.writes.insert(cell);
                    cells[cell] = value;
                }
                Statement::If { condition, then, otherwise } => {
                    let chosen =
                        if self.value(condition, frame, cells)? != 0 { then } else { otherwise };
                    self.execute(chosen, frame, cells, budget)?;
                }
                Statement::For { slot, domain, body, span } => {
                    for value in self.domain(domain, frame, *span)? {
                        spend(budget, *span)?;
                        frame[usize::from(*slot)] = value;
                        self.execute(body, frame, cells, budget)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// One assignment, or one round of a `for`.
fn spend(budget: &mut usize, span: Span) -> Result<(), Fault> {
    *budget = budget.checked_sub(1).ok_or_else(|| {
        let message = format!("one event takes more than {} assignments", limits::ASSIGNMENTS);
        Fault::too_large(message, span)
    })?;
    Ok(())
}

fn overflow(span: Span) -> Fault {
    Fault::new("a number leaves the range of 64 bits", span)
}

/// The value of an operator, neither operand of which decides it alone.
pub(crate) fn binary(operator: BinaryOp, left: i64, right: i64, span: Span) -> Result<i64, Fault> {
    use BinaryOp::*;
    let number = match operator {
        Or | And => Some(right),
        Equal => Some(i64::from(left == right)),
        NotEqual => Some(i64::from(left != right)),
        Less => Some(i64::from(left < right)),
        LessEqual => Some(i64::from(left <= right)),
        Greater => Some(i64::from(left > right)),
        GreaterEqual => Some(i64::from(left >= right)),
        Add => left.checked_add(right),
        Subtract => left.checked_sub(right),
        Multiply => left.checked_mul(right),
        Divide | Remainder if right == 0 => return Err(Fault::new("division by zero", span)),
        Divide => left.checked_div(right),
        Remainder => left.checked_rem(right),
    };
    number.ok_or_else(|| overflow(span))
}
