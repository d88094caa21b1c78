//! Steps that may fail: a field of null, an index out of range, an assertion, the value of `none`.
//!
//! Paths go on only where nothing fails. What is left to show is that nothing does: each way to a
//! place where a step would fail is an operation that only observes there, and its last step must
//! be impossible in every state that satisfies the facts. By induction on the execution of the
//! code: up to its first failing step it is one of the paths, so the facts hold just before that
//! step.

use crate::build;
use crate::evaluate::{MOST_CASES, Tree, Words};
use crate::execution::{Execution, Followed};
use crate::explorer::{Explorer, Fault};
use crate::help::{Sites, only_observing};
use crate::path::End;
use crate::simplify;
use crate::symbol::{Word, all, compare, known, symbol, symbols_of, truth};
use crate::text::has_large_constants;
use linchpin_diagnostic::Span;
use linchpin_ir::program::{Action, BinaryOp, Expr, Place as From, Type};
use linchpin_reduce::{At, Options, Questions};
use linchpin_subop::model::{
    Condition, Index, Invariant, LocalId, Model, OperationId, Place, Relation, Term, Var,
};

/// More ways to fail are not told apart.
const MOST_FAULTS: usize = 400;

impl Explorer<'_> {
    /// Notes that the way fails here if all of the conditions hold.
    pub fn may_fail(&self, execution: &Execution, conditions: Vec<Condition>, what: &str) {
        let mut branch = execution.clone();
        let line = branch.line;
        let ranges = self.program.operations[self.operation].parameters.iter().enumerate();
        for (at, parameter) in ranges {
            let Some((from, to)) = parameter.range else { continue };
            let argument = symbol(LocalId(at));
            let least = compare(argument, Relation::GreaterOrEqual, Term::Int(from), &[]);
            let most = compare(argument, Relation::Less, Term::Int(to), &[]);
            branch.current.conditions.extend([least, most]);
        }
        if branch.assume(conditions).is_err() {
            return;
        }
        branch.finish_step(line);
        let path = self.path(&branch, branch.steps.clone(), End::Fault);
        let mut faults = self.faults.borrow_mut();
        if faults.len() > MOST_FAULTS {
            return;
        }
        let mut fault = Fault { line, what: what.to_owned(), path };
        if faults.len() == MOST_FAULTS {
            // Nothing is asked about a way without steps: it counts as one that is taken.
            fault.what = "there are too many ways to fail".to_owned();
            fault.path.steps.clear();
        }
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }

    /// The same, and the way goes on where they do not all hold.
    pub fn must_not(
        &self,
        execution: &mut Execution,
        failing: Vec<Condition>,
        what: &str,
    ) -> Followed<()> {
        self.may_fail(execution, failing.clone(), what);
        execution.assume(vec![all(failing).negated()])
    }

    /// An access fails at a field of null, or at an index out of range.
    pub fn access(&self, execution: &mut Execution, place: &From, target: Place) -> Followed<()> {
        match target {
            Place::Field(Var::Local(base), ..) => {
                let null = compare(symbol(base), Relation::Equal, Term::Null, &execution.new);
                let what = format!("`{}` is null", execution.symbols[base.0].name);
                self.must_not(execution, vec![null], &what)
            }
            Place::Element(_, index) => {
                let From::SharedElement(shared, _) = place else { return Ok(()) };
                let Type::Array(_, length) = &self.program.shared[*shared].ty else {
                    return Ok(());
                };
                let length = i64::try_from(*length).unwrap_or(i64::MAX);
                if self.is_argument_below(index, length) {
                    return Ok(());
                }
                let at = match index {
                    Index::Int(at) => Term::Int(at),
                    Index::Variable(var) => Term::Place(Place::Variable(var)),
                    Index::Plus(var, plus) => Term::Plus(Place::Variable(var), plus),
                };
                let below = compare(at, Relation::Less, Term::Int(0), &execution.new);
                let beyond =
                    compare(at, Relation::GreaterOrEqual, Term::Int(length), &execution.new);
                self.must_not(execution, vec![below], "an index is out of range")?;
                self.must_not(execution, vec![beyond], "an index is out of range")
            }
            _ => Ok(()),
        }
    }

    /// Whether an index is an argument that the model restricts to indices.
    fn is_argument_below(&self, index: Index, length: i64) -> bool {
        let Index::Variable(Var::Local(id)) = index else { return false };
        let parameters = &self.program.operations[self.operation].parameters;
        let range = parameters.get(id.0).and_then(|parameter| parameter.range);
        range.is_some_and(|(from, to)| from >= 0 && to <= length)
    }

    /// A `cas` of several words fails if two of them are the same one.
    pub fn same_words(&self, execution: &mut Execution, places: &[Place]) -> Followed<()> {
        for (at, one) in places.iter().enumerate() {
            for other in &places[at + 1..] {
                let same = match (one, other) {
                    _ if !build::is_same_kind(one, other) => continue,
                    (Place::Field(Var::Local(a), ..), Place::Field(Var::Local(b), ..)) => {
                        compare(symbol(*a), Relation::Equal, symbol(*b), &execution.new)
                    }
                    (Place::Element(_, Index::Int(a)), Place::Element(_, Index::Int(b))) => {
                        truth(a == b)
                    }
                    (Place::Element(..), _) => {
                        return Err("a `cas` of two elements of one array".to_owned().into());
                    }
                    _ => truth(true),
                };
                self.must_not(execution, vec![same], "a word is twice in one `cas`")?;
            }
        }
        Ok(())
    }

    /// An expression fails that takes the value of `none`.
    pub fn takes_no_none(&self, execution: &mut Execution, expr: &Expr) -> Followed<()> {
        for conditions in execution.words().failing(expr)? {
            self.must_not(execution, conditions, "the value of `none` is taken")?;
        }
        Ok(())
    }

    /// What an action evaluates, asserts or gives back may fail.
    pub fn evaluates(&self, execution: &mut Execution, action: &Action) -> Followed<()> {
        for expr in action.expressions() {
            self.takes_no_none(execution, expr)?;
        }
        match action {
            // The way goes on where it holds.
            Action::Assert(condition) => {
                for (mut conditions, tree) in execution.words().evaluate(condition)? {
                    conditions.push(execution.words().truth(&tree)?.negated());
                    self.may_fail(execution, conditions, "an assertion fails");
                }
            }
            Action::Free(object) => {
                for (mut conditions, tree) in execution.words().evaluate(object)? {
                    conditions.push(execution.words().none(&tree)?);
                    self.must_not(execution, conditions, "what is given back is null")?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Words<'_> {
    /// That a value is `none`, or null.
    fn none(&self, tree: &Tree) -> Result<Condition, String> {
        match tree {
            Tree::Word(Word::Term(term)) => {
                Ok(compare(*term, Relation::Equal, Term::Null, self.new))
            }
            _ => Err("optional values other than `int?`".to_owned()),
        }
    }

    /// The conditions under which evaluating an expression takes the value of `none`; each list is
    /// one way to do so.
    pub fn failing(&self, expr: &Expr) -> Result<Vec<Vec<Condition>>, String> {
        let mut found = Vec::new();
        match expr {
            Expr::Const(_) | Expr::Local(_) | Expr::ThreadLocal(_) | Expr::Me => {}
            Expr::Unary(_, inner) | Expr::Component(inner, _) => found = self.failing(inner)?,
            Expr::Binary(operator, left, right) => {
                found = self.failing(left)?;
                let failing = self.failing(right)?;
                match operator {
                    BinaryOp::And | BinaryOp::Or => {
                        let goes_on = *operator == BinaryOp::And;
                        found.extend(self.provided(left, goes_on, failing)?);
                    }
                    _ => found.extend(failing),
                }
            }
            Expr::Element(list, index) => {
                found = self.failing(list)?;
                found.extend(self.failing(index)?);
            }
            Expr::List(parts) => {
                for part in parts {
                    found.extend(self.failing(part)?);
                }
            }
            Expr::If(condition, yes, no) => {
                found = self.failing(condition)?;
                for (branch, holds) in [(yes, true), (no, false)] {
                    let failing = self.failing(branch)?;
                    found.extend(self.provided(condition, holds, failing)?);
                }
            }
            Expr::Unwrap(inner) => {
                found = self.failing(inner)?;
                for (mut conditions, tree) in self.evaluate(inner)? {
                    conditions.push(self.none(&tree)?);
                    found.push(conditions);
                }
            }
            Expr::Query(_, inner, parts) => {
                found = self.failing(inner)?;
                for part in parts {
                    found.extend(self.failing(part)?);
                }
            }
        }
        found.retain(|conditions| known(&all(conditions.clone())) != Some(false));
        few(found)
    }

    /// The same, where it is evaluated only if the condition holds, or does not.
    fn provided(
        &self,
        condition: &Expr,
        holds: bool,
        failing: Vec<Vec<Condition>>,
    ) -> Result<Vec<Vec<Condition>>, String> {
        let mut found = Vec::new();
        if failing.is_empty() {
            return Ok(found);
        }
        for (conditions, tree) in self.evaluate(condition)? {
            let truth = self.truth(&tree)?;
            let provided = if holds { truth } else { truth.negated() };
            for more in &failing {
                let parts = conditions.iter().chain([&provided]).chain(more);
                found.push(parts.cloned().collect());
            }
            found = few(found)?;
        }
        Ok(found)
    }
}

/// The ways to fail, unless there are too many of them.
fn few(found: Vec<Vec<Condition>>) -> Result<Vec<Vec<Condition>>, String> {
    let atoms = |conditions: &Vec<Condition>| -> usize {
        conditions.iter().map(|condition| condition.atoms().len()).sum()
    };
    if found.iter().map(atoms).sum::<usize>() > MOST_CASES {
        return Err("an expression with too many cases".to_owned());
    }
    Ok(found)
}

/// The faults that are not shown to be impossible; `raw` are the paths as they are.
pub fn possible<'f>(
    raw: &Model,
    options: &Options,
    sites: &Sites,
    faults: &'f [Fault],
) -> Vec<&'f Fault> {
    let mut model = raw.clone();
    // For each fault that a way leads to the operation that comes to it; none if that cannot be
    // asked, and it counts as possible.
    let mut asked: Vec<(&Fault, Option<At>)> = Vec::new();
    for fault in faults {
        let Some(path) = sites.stripped(fault.path.clone()).and_then(simplify::simplified_path)
        else {
            continue;
        };
        if path.steps.is_empty() || simplify::is_expressible(&path).is_err() {
            asked.push((fault, None));
            continue;
        }
        // It fails only if such a thing is true of the shared variables: perhaps it never is.
        // Invariants are checked, not believed.
        for condition in path.steps.iter().flat_map(|step| &step.conditions) {
            if symbols_of(condition).is_empty() {
                let never = Invariant {
                    bound: Vec::new(),
                    after: None,
                    condition: condition.negated(),
                    span: Span::default(),
                };
                model.invariants.push(never);
            }
        }
        let (steps, operation) = (path.steps.len(), OperationId(model.operations.len()));
        let name = format!("x{}", operation.0);
        let built = build::operation(&model, &name, &only_observing(path), &[]);
        model.operations.push(built);
        asked.push((fault, Some(At { operation, steps })));
    }
    // Larger constants than a file may have are not decided.
    let questions =
        if has_large_constants(&model) { None } else { Questions::new(&model, options) };
    let is_possible = |at: &Option<At>| match (&questions, at) {
        (Some(questions), Some(at)) => !questions.is_never_executed(*at),
        _ => true,
    };
    asked.iter().filter(|(_, at)| is_possible(at)).map(|(fault, _)| *fault).collect()
}
