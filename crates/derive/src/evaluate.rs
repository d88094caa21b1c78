//! Local expressions, evaluated over symbols.

use crate::symbol::{Word, all, any, compare, known, truth};
use linchpin_ir::program::{BinaryOp, Expr, LocalId as Local, Type, UnaryOp};
use linchpin_spec::Value;
use linchpin_subop::model::{Condition, LocalId, Place, Relation, Term};

/// A value of any type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tree {
    Word(Word),
    List(Vec<Tree>),
}

impl Tree {
    pub fn words(&self) -> Vec<Word> {
        match self {
            Tree::Word(word) => vec![word.clone()],
            Tree::List(parts) => parts.iter().flat_map(Tree::words).collect(),
        }
    }

    /// Whether two values have the same shape.
    fn is_like(&self, other: &Tree) -> bool {
        match (self, other) {
            (Tree::Word(_), Tree::Word(_)) => true,
            (Tree::List(one), Tree::List(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.is_like(b))
            }
            _ => false,
        }
    }

    /// The words in the shape of a type.
    pub fn shaped(ty: &Type, words: &mut impl Iterator<Item = Word>) -> Tree {
        match ty {
            Type::Record { fields, .. } => {
                Tree::List(fields.iter().map(|(_, ty)| Tree::shaped(ty, words)).collect())
            }
            Type::Tuple(parts) => {
                Tree::List(parts.iter().map(|ty| Tree::shaped(ty, words)).collect())
            }
            Type::Unit => Tree::List(Vec::new()),
            _ => words.next().map_or(Tree::List(Vec::new()), Tree::Word),
        }
    }
}

/// A constant.
pub fn tree_of(value: &Value) -> Tree {
    match value {
        Value::Int(value) => Tree::Word(Word::Term(Term::Int(*value))),
        Value::Bool(value) => Tree::Word(Word::Truth(truth(*value))),
        Value::List(parts) => Tree::List(parts.iter().map(tree_of).collect()),
        _ => Tree::Word(Word::Term(Term::Null)),
    }
}

/// The values that an expression may have, each with the conditions under which it has it.
pub type Cases = Vec<(Vec<Condition>, Tree)>;

/// Values of several expressions, with the conditions under which they have them.
pub type Together = (Vec<Condition>, Vec<Tree>);

/// What the locals hold.
pub struct Words<'a> {
    pub values: &'a [Tree],
    /// The symbols that are allocated objects.
    pub new: &'a [LocalId],
}

/// An expression with more cases, or a condition with more comparisons, is refused.
pub const MOST_CASES: usize = 64;

impl Words<'_> {
    pub fn evaluate(&self, expr: &Expr) -> Result<Cases, String> {
        let cases = self.cases(expr)?;
        let large = |(conditions, tree): &(Vec<Condition>, Tree)| {
            let truths = tree.words().into_iter().map(|word| match word {
                Word::Truth(condition) => condition.atoms().len(),
                Word::Term(_) => 0,
            });
            conditions.iter().map(|part| part.atoms().len()).chain(truths).sum::<usize>()
                > MOST_CASES
        };
        if cases.len() > MOST_CASES || cases.iter().any(large) {
            return Err("an expression with too many cases".to_owned());
        }
        Ok(cases)
    }

    fn cases(&self, expr: &Expr) -> Result<Cases, String> {
        Ok(match expr {
            Expr::Const(value) => vec![(Vec::new(), tree_of(value))],
            Expr::Local(local) => vec![(Vec::new(), self.local(*local))],
            Expr::ThreadLocal(_) => {
                return Err("variables that threads keep between operations".to_owned());
            }
            Expr::Me => return Err("`me`, the id of the thread".to_owned()),
            Expr::Unary(UnaryOp::ThreadNumber, _) => return Err("numbers of threads".to_owned()),
            Expr::Unary(UnaryOp::Not, inner) => self.map(inner, |words, tree| {
                Ok(Tree::Word(Word::Truth(words.truth(tree)?.negated())))
            })?,
            Expr::Unary(UnaryOp::Negate, inner) => self.map(inner, |_, tree| match tree {
                Tree::Word(Word::Term(Term::Int(value))) => match value.checked_neg() {
                    Some(value) => Ok(Tree::Word(Word::Term(Term::Int(value)))),
                    None => Err("arithmetic that fails".to_owned()),
                },
                _ => Err("arithmetic other than adding a constant".to_owned()),
            })?,
            Expr::Binary(operator, left, right) => self.operator(*operator, left, right)?,
            Expr::Component(inner, at) => self.map(inner, |_, tree| match tree {
                Tree::List(parts) if *at < parts.len() => Ok(parts[*at].clone()),
                _ => Err("a component of a value that has none".to_owned()),
            })?,
            Expr::Element(list, index) => {
                let Some(at) = self.constant(index).and_then(|at| usize::try_from(at).ok()) else {
                    return Err("an array at an index that is not constant".to_owned());
                };
                self.map(list, |_, tree| match tree {
                    Tree::List(parts) if at < parts.len() => Ok(parts[at].clone()),
                    _ => Err("an array at an index that is out of range".to_owned()),
                })?
            }
            Expr::List(parts) => self
                .together(parts)?
                .into_iter()
                .map(|(conditions, parts)| (conditions, Tree::List(parts)))
                .collect(),
            Expr::If(condition, yes, no) => {
                let mut found = Vec::new();
                for (conditions, tree) in self.evaluate(condition)? {
                    let holds = self.truth(&tree)?;
                    for (branch, holds) in [(yes, holds.clone()), (no, holds.negated())] {
                        if known(&holds) == Some(false) {
                            continue;
                        }
                        for (more, tree) in self.evaluate(branch)? {
                            let parts = conditions.iter().cloned().chain([holds.clone()]);
                            found.push((parts.chain(more).collect(), tree));
                        }
                    }
                }
                found
            }
            Expr::Unwrap(inner) => self.evaluate(inner)?,
            Expr::Query(..) => return Err("collections".to_owned()),
        })
    }

    /// The values of an operator applied to two expressions.
    fn operator(&self, operator: BinaryOp, left: &Expr, right: &Expr) -> Result<Cases, String> {
        let decides = match operator {
            BinaryOp::And => Some(false),
            BinaryOp::Or => Some(true),
            _ => None,
        };
        let rights = self.evaluate(right)?;
        let plain = matches!(&rights[..], [(conditions, _)] if conditions.is_empty());
        let mut found = Vec::new();
        for (mut conditions, left) in self.evaluate(left)? {
            // Where the left side decides, nothing is known of what the right side would
            // need.
            if let (Some(decides), false) = (decides, plain) {
                let holds = self.truth(&left)?;
                let (short, goes_on) = match decides {
                    true => (holds.clone(), holds.negated()),
                    false => (holds.negated(), holds.clone()),
                };
                if known(&short) != Some(false) {
                    let decided = Tree::Word(Word::Truth(truth(decides)));
                    let mut conditions = conditions.clone();
                    conditions.push(short);
                    found.push((conditions, decided));
                }
                if known(&goes_on) == Some(false) {
                    continue;
                }
                conditions.push(goes_on);
            }
            for (more, right) in &rights {
                let both = conditions.iter().chain(more).cloned().collect();
                found.push((both, self.binary(operator, &left, right)?));
            }
        }
        Ok(found)
    }

    /// The values that several expressions may have together.
    pub fn together(&self, parts: &[Expr]) -> Result<Vec<Together>, String> {
        let mut found = vec![(Vec::new(), Vec::new())];
        for part in parts {
            let cases = self.evaluate(part)?;
            if let [(more, tree)] = &cases[..] {
                for (conditions, trees) in &mut found {
                    conditions.extend(more.iter().cloned());
                    trees.push(tree.clone());
                }
                continue;
            }
            found = found
                .into_iter()
                .flat_map(|(conditions, trees): Together| {
                    cases.iter().map(move |(more, tree)| {
                        let both = conditions.iter().chain(more).cloned().collect();
                        (both, trees.iter().chain([tree]).cloned().collect())
                    })
                })
                .collect();
            if found.len() > MOST_CASES {
                return Err("an expression with too many cases".to_owned());
            }
        }
        Ok(found)
    }

    /// The value of an expression that has only one.
    pub fn single(&self, expr: &Expr) -> Result<Tree, String> {
        let mut cases = self.evaluate(expr)?;
        if cases.len() == 1 && cases[0].0.is_empty() {
            return Ok(cases.remove(0).1);
        }
        Err("a conditional value where one is needed".to_owned())
    }

    /// The value of an expression that is a constant integer.
    pub fn constant(&self, expr: &Expr) -> Option<i64> {
        match self.single(expr) {
            Ok(Tree::Word(Word::Term(Term::Int(value)))) => Some(value),
            _ => None,
        }
    }

    fn local(&self, local: Local) -> Tree {
        self.values[local.0 as usize].clone()
    }

    fn map(
        &self,
        inner: &Expr,
        f: impl Fn(&Self, &Tree) -> Result<Tree, String>,
    ) -> Result<Cases, String> {
        self.evaluate(inner)?
            .into_iter()
            .map(|(conditions, tree)| Ok((conditions, f(self, &tree)?)))
            .collect()
    }

    /// A truth value as a condition.
    pub fn truth(&self, tree: &Tree) -> Result<Condition, String> {
        match tree {
            Tree::Word(Word::Truth(condition)) => Ok(condition.clone()),
            _ => Err("a truth value that is not one".to_owned()),
        }
    }

    /// Whether two values are equal, word by word.
    pub fn equal(&self, left: &Tree, right: &Tree) -> Result<Condition, String> {
        // A record of one word is not that word.
        if !left.is_like(right) {
            return Err("a comparison of different types".to_owned());
        }
        let (left, right) = (left.words(), right.words());
        let pairs = left.iter().zip(&right).map(|(left, right)| match (left, right) {
            (Word::Term(left), Word::Term(right)) => {
                Ok(compare(*left, Relation::Equal, *right, self.new))
            }
            (Word::Truth(left), Word::Truth(right)) => Ok(match (known(left), known(right)) {
                (Some(true), _) => right.clone(),
                (_, Some(true)) => left.clone(),
                (Some(false), _) => right.negated(),
                (_, Some(false)) => left.negated(),
                _ => any([
                    all([left.clone(), right.clone()]),
                    all([left.negated(), right.negated()]),
                ]),
            }),
            _ => Err("a comparison of different types".to_owned()),
        });
        Ok(all(pairs.collect::<Result<Vec<_>, _>>()?))
    }

    /// An integer plus a constant.
    pub fn plus(&self, tree: &Tree, more: i64) -> Result<Tree, String> {
        let sum = match tree {
            Tree::Word(Word::Term(Term::Int(value))) => value.checked_add(more).map(Term::Int),
            Tree::Word(Word::Term(Term::Place(place @ Place::Variable(_)))) => {
                Some(if more == 0 { Term::Place(*place) } else { Term::Plus(*place, more) })
            }
            Tree::Word(Word::Term(Term::Plus(place, plus))) => {
                plus.checked_add(more).map(|plus| Term::Plus(*place, plus))
            }
            _ => None,
        };
        sum.map(|term| Tree::Word(Word::Term(term)))
            .ok_or_else(|| "arithmetic other than adding a constant".to_owned())
    }

    fn binary(&self, operator: BinaryOp, left: &Tree, right: &Tree) -> Result<Tree, String> {
        let constant = |tree: &Tree| match tree {
            Tree::Word(Word::Term(Term::Int(value))) => Some(*value),
            _ => None,
        };
        let order = |relation: Relation| match (left, right) {
            (Tree::Word(Word::Term(left)), Tree::Word(Word::Term(right))) => {
                Ok(compare(*left, relation, *right, self.new))
            }
            _ => Err("a comparison of different types".to_owned()),
        };
        let condition = match operator {
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::ShiftLeft
            | BinaryOp::ShiftRight => {
                return match (operator, constant(left), constant(right)) {
                    (BinaryOp::Add, _, Some(more)) => self.plus(left, more),
                    (BinaryOp::Add, Some(more), _) => self.plus(right, more),
                    (BinaryOp::Subtract, _, Some(less)) if less != i64::MIN => {
                        self.plus(left, -less)
                    }
                    (_, Some(a), Some(b)) => {
                        let value = match operator {
                            BinaryOp::Add => a.checked_add(b),
                            BinaryOp::Subtract => a.checked_sub(b),
                            BinaryOp::Multiply => a.checked_mul(b),
                            BinaryOp::Divide => a.checked_div(b),
                            BinaryOp::Remainder => a.checked_rem(b),
                            bits => bits.on_bits(a, b),
                        };
                        value
                            .map(|value| Tree::Word(Word::Term(Term::Int(value))))
                            .ok_or_else(|| "arithmetic that fails".to_owned())
                    }
                    _ => Err("arithmetic other than adding a constant".to_owned()),
                };
            }
            BinaryOp::Equal => self.equal(left, right)?,
            BinaryOp::NotEqual => self.equal(left, right)?.negated(),
            BinaryOp::Less => order(Relation::Less)?,
            BinaryOp::LessEqual => order(Relation::LessOrEqual)?,
            BinaryOp::Greater => order(Relation::Greater)?,
            BinaryOp::GreaterEqual => order(Relation::GreaterOrEqual)?,
            BinaryOp::And => all([self.truth(left)?, self.truth(right)?]),
            BinaryOp::Or => any([self.truth(left)?, self.truth(right)?]),
        };
        Ok(Tree::Word(Word::Truth(condition)))
    }
}
