//! Expressions on abstract values. Where the abstraction cannot decide, the answer is
//! [`Scalar::AnyBool`] or [`Scalar::Any`], never a guess.

use crate::failure::Fault;
use crate::heap::Lost;
use crate::value::{Class, Integers, Scalar, Term, constant};
use linchpin_ir::program::{BinaryOp, Expr, Type, UnaryOp, Variable};

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Undefined {
    /// It fails.
    Fault(Fault),
    /// The abstraction cannot say.
    Lost(Lost),
}

/// Where expressions are evaluated.
pub struct Environment<'a> {
    /// The variables.
    pub variables: &'a [Variable],
    /// Where the words of each start.
    pub offsets: &'a [usize],
    /// The words.
    pub words: &'a [Scalar],
    /// What integers are.
    pub integers: Integers,
}

impl Environment<'_> {
    /// The value of an expression.
    pub fn term(&self, expr: &Expr) -> Result<Term, Undefined> {
        let word = |scalar: Scalar| Ok(Term::Word(scalar));
        match expr {
            Expr::Const(value) => Ok(constant(value, None, self.integers)),
            Expr::Local(local) => {
                let at = usize::try_from(local.0).unwrap_or_default();
                let mut words = &self.words[self.offsets[at]..];
                Ok(Term::unflatten(&self.variables[at].ty, &mut words))
            }
            Expr::Me => word(Scalar::Me),
            Expr::Unary(op, inner) => word(unary(*op, self.word(inner)?)?),
            Expr::Binary(op, left, right) => word(self.binary(*op, left, right)?),
            Expr::Component(inner, at) => match self.term(inner)? {
                Term::List(items) => items.into_iter().nth(*at).ok_or(lost()),
                Term::Word(_) => Err(lost()),
            },
            Expr::List(items) => {
                Ok(Term::List(items.iter().map(|item| self.term(item)).collect::<Result<_, _>>()?))
            }
            Expr::If(condition, yes, no) => match self.word(condition)? {
                Scalar::Bool(true) => self.term(yes),
                Scalar::Bool(false) => self.term(no),
                _ => either(self.term(yes)?, self.term(no)?),
            },
            Expr::Unwrap(inner) => match self.term(inner)? {
                Term::Word(Scalar::Null) => Err(Undefined::Fault(Fault::Unwrap)),
                Term::Word(Scalar::Any) => Err(Undefined::Lost(Lost::Value)),
                other => Ok(other),
            },
            Expr::ThreadLocal(_) | Expr::Element(..) | Expr::Query(..) => Err(lost()),
        }
    }

    /// The value of an expression that is one word.
    pub fn word(&self, expr: &Expr) -> Result<Scalar, Undefined> {
        match self.term(expr)? {
            Term::Word(word) => Ok(word),
            Term::List(_) => Err(lost()),
        }
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Scalar, Undefined> {
        use BinaryOp::*;
        let left = self.term(left)?;
        // The right side of a connective counts only where the left side does not decide.
        match (op, &left) {
            (And, Term::Word(Scalar::Bool(false))) => return Ok(Scalar::Bool(false)),
            (Or, Term::Word(Scalar::Bool(true))) => return Ok(Scalar::Bool(true)),
            _ => {}
        }
        let right = self.term(right)?;
        Ok(match op {
            And => connective(&left, &right, false),
            Or => connective(&left, &right, true),
            Equal => truth(equal(&left, &right)),
            NotEqual => truth(equal(&left, &right).map(|same| !same)),
            Less => truth(less(&left, &right)),
            Greater => truth(less(&right, &left)),
            LessEqual => truth(less(&right, &left).map(|is| !is)),
            GreaterEqual => truth(less(&left, &right).map(|is| !is)),
            Add | Subtract | Multiply | Divide | Remainder => arithmetic(op, &left, &right)?,
            BitAnd | BitOr | BitXor | ShiftLeft | ShiftRight => {
                return Err(Undefined::Lost(Lost::Arithmetic));
            }
        })
    }
}

fn lost() -> Undefined {
    Undefined::Lost(Lost::Value)
}

fn truth(known: Option<bool>) -> Scalar {
    known.map_or(Scalar::AnyBool, Scalar::Bool)
}

fn unary(op: UnaryOp, word: Scalar) -> Result<Scalar, Undefined> {
    Ok(match (op, word) {
        (UnaryOp::Not, Scalar::Bool(truth)) => Scalar::Bool(!truth),
        (UnaryOp::Not, _) => Scalar::AnyBool,
        (UnaryOp::Negate, Scalar::Int(number)) => {
            number.checked_neg().map_or(Scalar::Any, Scalar::Int)
        }
        // The smallest integer has no negative: that would fail.
        (UnaryOp::Negate | UnaryOp::ThreadNumber, _) => {
            return Err(Undefined::Lost(Lost::Arithmetic));
        }
    })
}

/// `and` and `or`: `decides` is the value of one side that decides.
fn connective(left: &Term, right: &Term, decides: bool) -> Scalar {
    let deciding = Term::Word(Scalar::Bool(decides));
    let neutral = Term::Word(Scalar::Bool(!decides));
    match (left, right) {
        (left, right) if *left == deciding || *right == deciding => Scalar::Bool(decides),
        (left, right) if *left == neutral && *right == neutral => Scalar::Bool(!decides),
        _ => Scalar::AnyBool,
    }
}

/// One of two values: what both are.
fn either(one: Term, two: Term) -> Result<Term, Undefined> {
    let is_bool = |word: Scalar| matches!(word, Scalar::Bool(_) | Scalar::AnyBool);
    let is_integer = |word: Scalar| {
        matches!(word, Scalar::Int(_) | Scalar::Any | Scalar::Argument(_) | Scalar::ValueOf(..))
    };
    match (one, two) {
        (one, two) if one == two => Ok(one),
        (Term::Word(one), Term::Word(two)) if is_bool(one) && is_bool(two) => {
            Ok(Term::Word(Scalar::AnyBool))
        }
        (Term::Word(one), Term::Word(two)) if is_integer(one) && is_integer(two) => {
            Ok(Term::Word(Scalar::Any))
        }
        _ => Err(lost()),
    }
}

/// Whether two values are equal, if that is known.
pub fn equal(left: &Term, right: &Term) -> Option<bool> {
    match (left, right) {
        (Term::Word(left), Term::Word(right)) => equal_words(*left, *right),
        (Term::List(left), Term::List(right)) => {
            let mut all = Some(true);
            for (left, right) in left.iter().zip(right) {
                match equal(left, right) {
                    Some(false) => return Some(false),
                    None => all = None,
                    Some(true) => {}
                }
            }
            all
        }
        _ => None,
    }
}

/// Whether two words are equal, if that is known.
pub fn equal_words(left: Scalar, right: Scalar) -> Option<bool> {
    use Scalar::*;
    match (left, right) {
        (Null, Null) | (Me, Me) => Some(true),
        (Node(left), Node(right)) => Some(left == right),
        (Bool(left), Bool(right)) => Some(left == right),
        (Int(left), Int(right)) => Some(left == right),
        (Null, Node(_) | Int(_) | Argument(_) | ValueOf(..) | Key(_) | Me)
        | (Node(_) | Int(_) | Argument(_) | ValueOf(..) | Key(_) | Me, Null) => Some(false),
        (Argument(left), Argument(right)) if left == right => Some(true),
        (ValueOf(left, one), ValueOf(right, two)) if (left, one) == (right, two) => Some(true),
        (Key(left), Key(right)) if left != right => Some(false),
        (Key(Class::Min | Class::At | Class::Max), Key(_)) => Some(true),
        _ => None,
    }
}

/// Whether a value is less than another, if that is known.
fn less(left: &Term, right: &Term) -> Option<bool> {
    match (left, right) {
        (Term::Word(Scalar::Int(left)), Term::Word(Scalar::Int(right))) => Some(left < right),
        (Term::Word(Scalar::Key(left)), Term::Word(Scalar::Key(right))) => {
            match (left == right, left) {
                (false, _) => Some(left < right),
                (true, Class::Min | Class::At | Class::Max) => Some(false),
                (true, _) => None,
            }
        }
        _ => None,
    }
}

fn arithmetic(op: BinaryOp, left: &Term, right: &Term) -> Result<Scalar, Undefined> {
    // Of two integers of which nothing is known the sum may overflow, and that fails.
    let (Term::Word(Scalar::Int(left)), Term::Word(Scalar::Int(right))) = (left, right) else {
        return Err(Undefined::Lost(Lost::Arithmetic));
    };
    if matches!(op, BinaryOp::Divide | BinaryOp::Remainder) && *right == 0 {
        return Err(Undefined::Fault(Fault::Arithmetic));
    }
    let result = match op {
        BinaryOp::Add => left.checked_add(*right),
        BinaryOp::Subtract => left.checked_sub(*right),
        BinaryOp::Multiply => left.checked_mul(*right),
        BinaryOp::Divide => left.checked_div(*right),
        BinaryOp::Remainder => left.checked_rem(*right),
        _ => return Err(Undefined::Lost(Lost::Arithmetic)),
    };
    // Small integers only, so that loops that count come to an end.
    Ok(result.filter(|number| number.abs() <= SMALL).map_or(Scalar::Any, Scalar::Int))
}

/// The largest integer that arithmetic keeps.
const SMALL: i8 = 4;

/// The type of the value that a word of this type has when nothing is known.
pub fn unknown(ty: &Type) -> Scalar {
    match ty {
        Type::Bool => Scalar::AnyBool,
        _ => Scalar::Any,
    }
}
