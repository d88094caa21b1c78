//! What a worker remembers of the specification, so that it rarely has to ask. What it forgets, it
//! asks again.

use crate::interned::Ids;
use linchpin_space::{Event, Renaming};
use rustc_hash::FxHashMap;

/// At most so many answers to questions of one kind are remembered, in twelve bytes each.
const MOST: usize = 1 << 17;

/// And so many at first.
const LEAST: usize = 1 << 8;

/// So many different events, or renamings, are numbered; then numbers are given out anew.
const NUMBERED: usize = 1 << 14;

/// The τ-closure of the set with a number, in increasing order.
pub(crate) type LastClosure = Option<(u32, Ids)>;

/// What a worker remembers. Workers stand beside each other: what they write all the time is not in
/// the same lines of the cache.
#[derive(Default)]
#[repr(align(128))]
pub struct Cache {
    pub(crate) after: Numbered<Event>,
    pub(crate) renamed: Numbered<Renaming>,
    pub(crate) subset: Memo,
    pub(crate) largest: Memo,
    /// The τ-closure that was looked at last.
    pub(crate) closure: LastClosure,
}

/// Answers to questions about pairs of numbers. Each has one place, where it replaces what was
/// there. There are more places once so many answers came as there are: a small search needs few.
pub(crate) struct Memo<A = u32> {
    /// The first number plus 1, the second, and the answer; zeros where there is none.
    answers: Vec<(u32, u32, A)>,
    /// How many answers came since there are so many places.
    came: usize,
    /// There are at most so many places.
    most: usize,
}

impl<A> Default for Memo<A> {
    fn default() -> Memo<A> {
        Memo::up_to(MOST)
    }
}

impl<A> Memo<A> {
    /// At most so many answers, which is a power of two.
    pub fn up_to(most: usize) -> Memo<A> {
        Memo { answers: Vec::new(), came: 0, most }
    }
}

impl<A: Clone + Default> Memo<A> {
    /// Bytes kept; what answers point to is not counted.
    pub fn bytes(&self) -> usize {
        self.answers.capacity() * size_of::<(u32, u32, A)>()
    }

    /// INVARIANT: the number of places is 0 or a power of two.
    fn place(&self, first: u32, second: u32) -> usize {
        let bits = u64::from(first) << 32 | u64::from(second);
        let bits = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (bits >> 40) as usize & self.answers.len().wrapping_sub(1)
    }

    pub fn get(&self, first: u32, second: u32) -> Option<A> {
        let (key, other, answer) = self.answers.get(self.place(first, second))?;
        (key.checked_sub(1) == Some(first) && *other == second).then(|| answer.clone())
    }

    pub fn put(&mut self, first: u32, second: u32, answer: A) {
        if self.came == self.answers.len() && self.answers.len() < self.most {
            let more = (self.answers.len() * 2).max(LEAST);
            let old = std::mem::replace(&mut self.answers, vec![Default::default(); more]);
            self.came = 0;
            for (key, second, answer) in old {
                if let Some(first) = key.checked_sub(1) {
                    self.put(first, second, answer);
                }
            }
        }
        let Some(key) = first.checked_add(1) else { return };
        self.came += 1;
        let place = self.place(first, second);
        self.answers[place] = (key, second, answer);
    }
}

/// Answers to questions about a number and a thing.
pub(crate) struct Numbered<T> {
    numbers: FxHashMap<T, u32>,
    memo: Memo,
}

impl<T> Default for Numbered<T> {
    fn default() -> Numbered<T> {
        Numbered { numbers: FxHashMap::default(), memo: Memo::default() }
    }
}

impl<T: Clone + Eq + std::hash::Hash> Numbered<T> {
    /// The number of a thing.
    pub fn number(&mut self, thing: &T) -> u32 {
        if let Some(number) = self.numbers.get(thing) {
            return *number;
        }
        if self.numbers.len() == NUMBERED {
            *self = Numbered::default();
        }
        let number = self.numbers.len() as u32;
        self.numbers.insert(thing.clone(), number);
        number
    }

    pub fn get(&self, first: u32, thing: u32) -> Option<u32> {
        self.memo.get(first, thing)
    }

    pub fn put(&mut self, first: u32, thing: u32, answer: u32) {
        self.memo.put(first, thing, answer);
    }
}
