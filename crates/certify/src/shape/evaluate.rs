//! Expressions: every value that one may have. Where two words may or may not be equal, both
//! answers are among them.

use super::model::{components, constant, start, width};
use super::state::{Class, Word};
use super::wrong::What;
use linchpin_ir::program::{BinaryOp, Expr, LocalId, Type, UnaryOp, Variable};
use linchpin_spec::Value;

/// A value: a word, or a record or tuple of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Term {
    /// A word.
    Word(Word),
    /// A record or tuple.
    List(Vec<Term>),
}

impl Term {
    /// Its words.
    pub fn words(&self) -> Vec<Word> {
        match self {
            Term::Word(word) => vec![*word],
            Term::List(items) => items.iter().flat_map(Term::words).collect(),
        }
    }

    /// The value of a type whose words come next.
    fn read(ty: &Type, words: &mut impl Iterator<Item = Word>) -> Term {
        match components(ty) {
            Some(items) => Term::List(items.into_iter().map(|ty| Term::read(ty, words)).collect()),
            None => Term::Word(words.next().unwrap_or(Word::Forgotten)),
        }
    }
}

/// The largest integer that sums are followed to; the engine stops there, too.
const LARGEST: i64 = 4;

/// Where expressions are evaluated.
pub struct Environment<'a> {
    /// The variables.
    pub variables: &'a [Variable],
    /// Their words.
    pub words: &'a [Word],
    /// Whether integers are keys.
    pub keys: bool,
}

/// Index of a local variable.
pub fn local_index(local: LocalId) -> usize {
    usize::try_from(local.0).unwrap_or(usize::MAX)
}

impl Environment<'_> {
    /// All values that an expression may have.
    pub fn all(&self, expr: &Expr) -> Result<Vec<Term>, What> {
        match expr {
            Expr::Const(value) => Ok(vec![self.constant(value)]),
            Expr::Local(local) => self.local(*local),
            Expr::Me => Ok(vec![Term::Word(Word::Me)]),
            Expr::Unary(op, inner) => {
                let mut all = Vec::new();
                for word in self.words(inner)? {
                    all.extend(unary(*op, word)?.into_iter().map(Term::Word));
                }
                Ok(distinct(all.into_iter()))
            }
            Expr::Binary(op, left, right) => {
                Ok(distinct(self.binary(*op, left, right)?.into_iter().map(Term::Word)))
            }
            Expr::Component(inner, at) => {
                let part = |term: Term| match term {
                    Term::List(items) => items.into_iter().nth(*at),
                    Term::Word(_) => None,
                };
                let parts = self.all(inner)?.into_iter().map(part).collect::<Option<Vec<_>>>();
                parts.ok_or(What::Beyond("a component of something that is not followed"))
            }
            Expr::List(items) => {
                let mut all = vec![Vec::new()];
                for item in items {
                    let terms = self.all(item)?;
                    let longer = |list: &Vec<Term>| {
                        let list = list.clone();
                        terms.iter().map(move |term| [list.clone(), vec![term.clone()]].concat())
                    };
                    all = all.iter().flat_map(longer).collect();
                }
                Ok(all.into_iter().map(Term::List).collect())
            }
            Expr::If(condition, yes, no) => {
                let mut all = Vec::new();
                for truth in self.truths(condition)? {
                    all.extend(self.all(if truth { yes } else { no })?);
                }
                Ok(distinct(all.into_iter()))
            }
            Expr::Unwrap(inner) => {
                let all = self.all(inner)?;
                if all.contains(&Term::Word(Word::Null)) {
                    return Err(What::Fault("`unwrap` of `none`"));
                }
                let open = |term: &Term| matches!(term, Term::Word(Word::Any | Word::Forgotten));
                match all.iter().any(open) {
                    true => Err(What::Beyond("`unwrap` of a value that may be `none`")),
                    false => Ok(all),
                }
            }
            Expr::ThreadLocal(_) | Expr::Element(..) | Expr::Query(..) => {
                Err(What::Beyond("an expression that is not followed"))
            }
        }
    }

    /// All words that an expression may be.
    pub fn words(&self, expr: &Expr) -> Result<Vec<Word>, What> {
        let word = |term: Term| match term {
            Term::Word(word) => Ok(word),
            Term::List(_) => Err(What::Beyond("a record where a word is expected")),
        };
        self.all(expr)?.into_iter().map(word).collect()
    }

    /// All truth values that a condition may have.
    pub fn truths(&self, expr: &Expr) -> Result<Vec<bool>, What> {
        let mut all = Vec::new();
        for word in self.words(expr)? {
            all.extend(truths(word)?);
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn constant(&self, value: &Value) -> Term {
        match value {
            Value::List(items) => {
                Term::List(items.iter().map(|item| self.constant(item)).collect())
            }
            other => {
                let words = constant(other, None, self.keys);
                Term::Word(words.first().copied().unwrap_or(Word::Any))
            }
        }
    }

    fn local(&self, local: LocalId) -> Result<Vec<Term>, What> {
        let at = local_index(local);
        let variable =
            self.variables.get(at).ok_or(What::Beyond("a variable that is not there"))?;
        let from = start(self.variables, at);
        let words = self.words.get(from..from + width(&variable.ty)).unwrap_or_default();
        Ok(vec![Term::read(&variable.ty, &mut words.iter().copied())])
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Vec<Word>, What> {
        let mut out = Vec::new();
        if let BinaryOp::And | BinaryOp::Or = op {
            let decides = op == BinaryOp::Or;
            for truth in self.truths(left)? {
                match truth == decides {
                    true => out.push(Word::Bool(decides)),
                    false => out.extend(self.truths(right)?.into_iter().map(Word::Bool)),
                }
            }
            return Ok(out);
        }
        for left in self.all(left)? {
            for right in &self.all(right)? {
                let answers = |known: Option<bool>, negated: bool| match known {
                    Some(truth) => vec![Word::Bool(truth != negated)],
                    None => vec![Word::Bool(false), Word::Bool(true)],
                };
                out.extend(match op {
                    BinaryOp::Equal => answers(equal_terms(&left, right), false),
                    BinaryOp::NotEqual => answers(equal_terms(&left, right), true),
                    BinaryOp::Less => answers(less(&left, right), false),
                    BinaryOp::GreaterEqual => answers(less(&left, right), true),
                    BinaryOp::Greater => answers(less(right, &left), false),
                    BinaryOp::LessEqual => answers(less(right, &left), true),
                    _ => vec![arithmetic(op, &left, right)?],
                });
            }
        }
        Ok(out)
    }
}

fn distinct(terms: impl Iterator<Item = Term>) -> Vec<Term> {
    let mut out = Vec::new();
    for term in terms {
        if !out.contains(&term) {
            out.push(term);
        }
    }
    out
}

fn truths(word: Word) -> Result<Vec<bool>, What> {
    match word {
        Word::Bool(truth) => Ok(vec![truth]),
        Word::Any | Word::Forgotten => Ok(vec![false, true]),
        _ => Err(What::Beyond("a condition that is not a truth value")),
    }
}

fn unary(op: UnaryOp, word: Word) -> Result<Vec<Word>, What> {
    match (op, word) {
        (UnaryOp::Not, word) => {
            Ok(truths(word)?.into_iter().map(|truth| Word::Bool(!truth)).collect())
        }
        (UnaryOp::Negate, Word::Int(number)) => match number.checked_neg() {
            Some(number) => Ok(vec![Word::Int(number)]),
            None => Err(What::Fault("arithmetic")),
        },
        (UnaryOp::Negate | UnaryOp::ThreadNumber, _) => {
            Err(What::Beyond("arithmetic that may overflow"))
        }
    }
}

fn equal_terms(left: &Term, right: &Term) -> Option<bool> {
    match (left, right) {
        (Term::Word(left), Term::Word(right)) => equal(*left, *right),
        (Term::List(left), Term::List(right)) if left.len() == right.len() => {
            let parts: Vec<_> = left.iter().zip(right).map(|(l, r)| equal_terms(l, r)).collect();
            if parts.contains(&Some(false)) {
                return Some(false);
            }
            parts.iter().all(|part| *part == Some(true)).then_some(true)
        }
        _ => None,
    }
}

/// Whether two words are equal, if that is known. Different names are different nodes.
pub fn equal(left: Word, right: Word) -> Option<bool> {
    let something = |word: Word| {
        matches!(
            word,
            Word::Node(_)
                | Word::Int(_)
                | Word::Argument(_)
                | Word::ValueOf(..)
                | Word::Key(_)
                | Word::Me
        )
    };
    match (left, right) {
        (Word::Null, Word::Null) | (Word::Me, Word::Me) => Some(true),
        (Word::Node(left), Word::Node(right)) => Some(left == right),
        (Word::Bool(left), Word::Bool(right)) => Some(left == right),
        (Word::Int(left), Word::Int(right)) => Some(left == right),
        (Word::Null, other) | (other, Word::Null) if something(other) => Some(false),
        (Word::Argument(_), Word::Argument(_)) | (Word::ValueOf(..), Word::ValueOf(..))
            if left == right =>
        {
            Some(true)
        }
        (Word::Key(left), Word::Key(right)) if left != right => Some(false),
        (Word::Key(left), Word::Key(_)) if is_one_key(left) => Some(true),
        _ => None,
    }
}

/// Whether a class has one key only.
fn is_one_key(class: Class) -> bool {
    matches!(class, Class::Min | Class::At | Class::Max)
}

fn less(left: &Term, right: &Term) -> Option<bool> {
    match (left, right) {
        (Term::Word(Word::Int(left)), Term::Word(Word::Int(right))) => Some(left < right),
        (Term::Word(Word::Key(left)), Term::Word(Word::Key(right))) if left != right => {
            Some(left < right)
        }
        (Term::Word(Word::Key(left)), Term::Word(Word::Key(_))) => {
            is_one_key(*left).then_some(false)
        }
        _ => None,
    }
}

/// Sums of small integers. Of others it is not known that they do not overflow.
fn arithmetic(op: BinaryOp, left: &Term, right: &Term) -> Result<Word, What> {
    let (Term::Word(Word::Int(left)), Term::Word(Word::Int(right))) = (left, right) else {
        return Err(What::Beyond("arithmetic that may overflow or divide by zero"));
    };
    let result = match op {
        BinaryOp::Add => left.checked_add(*right),
        BinaryOp::Subtract => left.checked_sub(*right),
        BinaryOp::Multiply => left.checked_mul(*right),
        BinaryOp::Divide => left.checked_div(*right),
        BinaryOp::Remainder => left.checked_rem(*right),
        _ => return Err(What::Beyond("arithmetic on bits")),
    };
    match result {
        Some(number) if number.abs() <= LARGEST => Ok(Word::Int(number)),
        Some(_) => Ok(Word::Any),
        None => Err(What::Fault("arithmetic")),
    }
}
