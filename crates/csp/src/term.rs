//! The process of a state: a closed term, kept in a normal form and packed to bytes.
//!
//! INVARIANT: terms are built by the functions here, which apply laws of the operators that change
//! no transition that matters: `[]` and `|||` are associative and commutative, `[]` idempotent;
//! `Stop` is a unit of `[]`, `Skip` of `|||`. So different ways of writing the same process are one
//! state.

use crate::program::{EventId, NodeId};
use smallvec::SmallVec;

/// The values of the slots that a node still looks at.
pub(crate) type Values = SmallVec<[i64; 4]>;

/// A process without open names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Term {
    /// After ✓.
    Done,
    Stop,
    Skip,
    /// A prefix or a conditional.
    Leaf(NodeId, Values),
    /// A term, and what comes when it has terminated.
    Sequence(Box<Term>, NodeId, Values),
    /// Two or more, sorted, different.
    Choice(Vec<Term>),
    /// Two or more, sorted.
    Interleave(Vec<Term>),
    Hide(Box<Term>, u32),
}

/// `[]` of terms.
pub(crate) fn choice(terms: Vec<Term>) -> Term {
    let mut flat = Vec::with_capacity(terms.len());
    for term in terms {
        match term {
            Term::Choice(inner) => flat.extend(inner),
            Term::Stop | Term::Done => {}
            other => flat.push(other),
        }
    }
    flat.sort_unstable();
    flat.dedup();
    match flat.len() {
        0 => Term::Stop,
        1 => flat.remove(0),
        _ => Term::Choice(flat),
    }
}

/// `|||` of terms.
pub(crate) fn interleave(terms: Vec<Term>) -> Term {
    let mut flat = Vec::with_capacity(terms.len());
    let mut stopped = false;
    for term in terms {
        match term {
            Term::Interleave(inner) => flat.extend(inner),
            Term::Skip => {}
            // `Stop ||| Stop` is `Stop`; it stays, because it keeps the others from terminating.
            Term::Stop if stopped => {}
            other => {
                stopped |= other == Term::Stop;
                flat.push(other);
            }
        }
    }
    flat.sort_unstable();
    match flat.len() {
        0 => Term::Skip,
        1 => flat.remove(0),
        _ => Term::Interleave(flat),
    }
}

/// `\`: hiding what is hidden already adds nothing.
pub(crate) fn hide(term: Term, set: u32, sets: &[Vec<EventId>]) -> Term {
    let within = |small: u32, large: u32| {
        let large = &sets[large as usize];
        sets[small as usize].iter().all(|event| large.binary_search(event).is_ok())
    };
    match term {
        Term::Stop | Term::Skip | Term::Done => term,
        Term::Hide(_, inner) if within(set, inner) => term,
        Term::Hide(body, inner) if within(inner, set) => Term::Hide(body, set),
        other => Term::Hide(Box::new(other), set),
    }
}

impl Term {
    /// How many operators it has and how deeply they are nested.
    pub fn size(&self) -> (usize, usize) {
        match self {
            Term::Done | Term::Stop | Term::Skip | Term::Leaf(..) => (1, 1),
            Term::Sequence(inner, ..) | Term::Hide(inner, _) => {
                let (size, depth) = inner.size();
                (size + 1, depth + 1)
            }
            Term::Choice(terms) | Term::Interleave(terms) => {
                let (mut size, mut depth) = (1, 0);
                for term in terms {
                    let inner = term.size();
                    size += inner.0;
                    depth = depth.max(inner.1);
                }
                (size, depth + 1)
            }
        }
    }

    /// Appends the term, packed.
    pub fn pack(&self, out: &mut Vec<u8>) {
        let list = |out: &mut Vec<u8>, tag: u8, terms: &[Term]| {
            out.push(tag);
            pack_number(terms.len() as i64, out);
            terms.iter().for_each(|term| term.pack(out));
        };
        let closure = |out: &mut Vec<u8>, node: NodeId, values: &Values| {
            pack_number(i64::from(node), out);
            pack_number(values.len() as i64, out);
            values.iter().for_each(|value| pack_number(*value, out));
        };
        match self {
            Term::Done => out.push(0),
            Term::Stop => out.push(1),
            Term::Skip => out.push(2),
            Term::Leaf(node, values) => {
                out.push(3);
                closure(out, *node, values);
            }
            Term::Sequence(first, node, values) => {
                out.push(4);
                first.pack(out);
                closure(out, *node, values);
            }
            Term::Choice(terms) => list(out, 5, terms),
            Term::Interleave(terms) => list(out, 6, terms),
            Term::Hide(body, set) => {
                out.push(7);
                pack_number(i64::from(*set), out);
                body.pack(out);
            }
        }
    }

    /// The term at the start of `bytes`, which [`Term::pack`] has written.
    pub fn unpack(bytes: &mut &[u8]) -> Term {
        let Some((&tag, rest)) = bytes.split_first() else { return Term::Stop };
        *bytes = rest;
        let closure = |bytes: &mut &[u8]| {
            let node = unpack_number(bytes) as NodeId;
            let count = unpack_number(bytes);
            (node, (0..count).map(|_| unpack_number(bytes)).collect::<Values>())
        };
        let list = |bytes: &mut &[u8]| {
            let count = unpack_number(bytes);
            (0..count).map(|_| Term::unpack(bytes)).collect()
        };
        match tag {
            0 => Term::Done,
            2 => Term::Skip,
            3 => {
                let (node, values) = closure(bytes);
                Term::Leaf(node, values)
            }
            4 => {
                let first = Box::new(Term::unpack(bytes));
                let (node, values) = closure(bytes);
                Term::Sequence(first, node, values)
            }
            5 => Term::Choice(list(bytes)),
            6 => Term::Interleave(list(bytes)),
            7 => {
                let set = unpack_number(bytes) as u32;
                Term::Hide(Box::new(Term::unpack(bytes)), set)
            }
            _ => Term::Stop,
        }
    }
}

/// Appends a number: small ones, of either sign, take one byte.
pub(crate) fn pack_number(number: i64, out: &mut Vec<u8>) {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// The number at the start of `bytes`, which [`pack_number`] has written.
pub(crate) fn unpack_number(bytes: &mut &[u8]) -> i64 {
    let (mut number, mut shift) = (0u64, 0);
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 || shift > 63 {
            break;
        }
    }
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_any_size_survive_packing() {
        for number in [0, 1, -1, 63, 64, -64, -65, 300, i64::MAX, i64::MIN] {
            let mut bytes = Vec::new();
            pack_number(number, &mut bytes);
            assert_eq!(unpack_number(&mut bytes.as_slice()), number);
        }
    }

    #[test]
    fn terms_survive_packing() {
        let leaf = |node, value| Term::Leaf(node, Values::from_slice(&[value, -7]));
        let term = Term::Hide(
            Box::new(interleave(vec![
                Term::Stop,
                choice(vec![leaf(300, 5), leaf(2, i64::MIN), Term::Skip]),
                Term::Sequence(Box::new(leaf(1, 1)), 9, Values::new()),
            ])),
            4,
        );
        let mut bytes = Vec::new();
        term.pack(&mut bytes);
        let mut rest = bytes.as_slice();
        assert_eq!(Term::unpack(&mut rest), term);
        assert!(rest.is_empty());
    }

    #[test]
    fn units_and_copies_disappear() {
        let leaf = Term::Leaf(1, Values::new());
        assert_eq!(choice(vec![leaf.clone(), Term::Stop, leaf.clone()]), leaf);
        assert_eq!(interleave(vec![Term::Skip, leaf.clone(), Term::Skip]), leaf);
        assert_eq!(interleave(vec![Term::Skip, Term::Skip]), Term::Skip);
        let twice = interleave(vec![leaf.clone(), leaf]);
        assert!(matches!(twice, Term::Interleave(terms) if terms.len() == 2));
    }
}
