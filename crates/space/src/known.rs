//! What an expression comes to where not every local is known: what a thread on its way through an
//! attempt (`attempt.rs`) decides whatever other threads do.

use crate::attempt::{Attempt, Not};
use crate::code::{Code, Op};
use crate::execute::{Words, arithmetic};
use linchpin_ir::program::BinaryOp;
use smallvec::SmallVec;

/// What is known about a word of the region of a thread on its way through an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Word {
    /// It holds this.
    Is(i64),
    /// It was read from this shared variable, at some time.
    ReadFrom(usize),
    /// It was read once more from where this was read before.
    Again(i64),
    /// It was read from what has its last value then, which is not null.
    Settled,
    /// Nothing.
    Unknown,
    /// It is dead, and nothing was put there yet.
    Dead,
}

/// The words of the region of a thread, from its start.
pub(crate) type Region = SmallVec<[Word; 24]>;

impl Attempt<'_, '_, '_> {
    pub fn never_again(&mut self, variable: usize, value: i64) -> bool {
        self.of.never_again(self.flat, self.thread, variable, value, self.reach)
    }

    /// What an expression of one word comes to, if that is known. It must not go wrong.
    pub fn scalar(&mut self, code: &Code, words: &Region) -> Result<Option<i64>, Not> {
        let truth = |holds: bool| Some(i64::from(holds));
        Ok(match &code.op {
            Op::Const(words) => Some(words.first().copied().unwrap_or(0)),
            Op::Slot(at) => known(words[*at]),
            Op::Me => Some(self.thread as i64 + 1),
            Op::Not(inner) => self.scalar(inner, words)?.and_then(|word| truth(word == 0)),
            Op::And(left, right) => match (self.scalar(left, words)?, self.scalar(right, words)?) {
                (Some(0), _) | (_, Some(0)) => Some(0),
                (Some(_), Some(_)) => Some(1),
                _ => None,
            },
            Op::Or(left, right) => match (self.scalar(left, words)?, self.scalar(right, words)?) {
                (Some(0), Some(0)) => Some(0),
                (Some(word), _) | (_, Some(word)) if word != 0 => Some(1),
                _ => None,
            },
            Op::Equal { left, right, negated } => {
                self.equal(left, right, words)?.and_then(|same| truth(same != *negated))
            }
            Op::Compare(operator, left, right) => {
                let sides = (self.scalar(left, words)?, self.scalar(right, words)?);
                let (Some(left), Some(right)) = sides else { return Ok(None) };
                truth(compare(*operator, left, right))
            }
            // What is not known might overflow.
            Op::Arithmetic(operator, left, right) => {
                let sides = (self.scalar(left, words)?, self.scalar(right, words)?);
                let (Some(left), Some(right)) = sides else { return Err(Not) };
                Some(arithmetic(*operator, left, right).map_err(|_| Not)?)
            }
            Op::Part(..) | Op::List(_) | Op::Wrap(_) => {
                self.value(code, words)?.and_then(|words| words.first().copied())
            }
            _ => return Err(Not),
        })
    }

    /// Whether two values are the same, now or later.
    fn equal(&mut self, left: &Code, right: &Code, words: &Region) -> Result<Option<bool>, Not> {
        if left.width != 1 {
            let values = (self.value(left, words)?, self.value(right, words)?);
            return Ok(values.0.zip(values.1).map(|(left, right)| left == right));
        }
        let values = (self.scalar(left, words)?, self.scalar(right, words)?);
        let word = |code: &Code| match code.op {
            Op::Slot(at) => Some(words[at]),
            _ => None,
        };
        let (unknown, value) = match values {
            (Some(left), Some(right)) => return Ok(Some(left == right)),
            (Some(value), None) => (word(right), value),
            (None, Some(value)) => (word(left), value),
            (None, None) => return Ok(None),
        };
        Ok(match unknown {
            Some(Word::ReadFrom(variable)) => self.never_again(variable, value).then_some(false),
            Some(Word::Settled) if value == 0 => Some(false),
            _ => None,
        })
    }

    /// What an expression comes to, if that is known. It must not go wrong.
    pub fn value(&mut self, code: &Code, words: &Region) -> Result<Option<Words>, Not> {
        let all = |words: &[Word]| words.iter().map(|word| known(*word)).collect::<Option<Words>>();
        Ok(match &code.op {
            Op::Const(words) => Some(Words::from_slice(words)),
            Op::Slot(at) => all(&words[*at..*at + code.width]),
            Op::Part(of, at) => match of.op {
                Op::Slot(from) => all(&words[from + at..from + at + code.width]),
                _ => {
                    let whole = self.value(of, words)?;
                    whole.map(|whole| Words::from_slice(&whole[*at..*at + code.width]))
                }
            },
            Op::List(items) => {
                let items: Result<Vec<Option<Words>>, Not> =
                    items.iter().map(|item| self.value(item, words)).collect();
                let items: Option<Vec<Words>> = items?.into_iter().collect();
                items.map(|items| items.into_iter().flatten().collect())
            }
            Op::Wrap(inner) => self.value(inner, words)?.map(|mut words| {
                words.insert(0, 1);
                words
            }),
            _ => self.scalar(code, words)?.map(|word| Words::from_slice(&[word])),
        })
    }
}

/// What a word holds, if that is known.
fn known(word: Word) -> Option<i64> {
    match word {
        Word::Is(word) => Some(word),
        Word::ReadFrom(_) | Word::Again(_) | Word::Settled | Word::Unknown | Word::Dead => None,
    }
}

fn compare(operator: BinaryOp, left: i64, right: i64) -> bool {
    match operator {
        BinaryOp::Less => left < right,
        BinaryOp::LessEqual => left <= right,
        BinaryOp::Greater => left > right,
        _ => left >= right,
    }
}
