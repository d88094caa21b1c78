//! Scenarios: all of them within bounds, or one drawn by chance.

use crate::definition::OperationInfo;
use crate::scenario::{Call, Scenario};
use fastrand::Rng;

/// What one thread can call next: every operation with every choice of its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Alphabet<'a>(&'a [OperationInfo]);

impl<'a> Alphabet<'a> {
    /// Of these operations.
    pub fn new(operations: &'a [OperationInfo]) -> Alphabet<'a> {
        Alphabet(operations)
    }

    /// How many different calls there are. All fresh values are one choice.
    pub fn len(self) -> u128 {
        self.0.iter().fold(0, |sum, operation| sum.saturating_add(operation.choices()))
    }

    /// Whether nothing can be called.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The call with this number.
    fn call(self, mut number: u128, fresh: &mut u64) -> Option<Call> {
        for (operation, info) in self.0.iter().enumerate() {
            if number < info.choices() {
                return Some(Call { operation, arguments: info.arguments_of(number, fresh) });
            }
            number -= info.choices();
        }
        None
    }

    /// A call by chance: an operation first, so that one with many choices is not preferred.
    pub fn draw(self, random: &mut Rng, fresh: &mut u64) -> Option<Call> {
        let possible = self.0.iter().filter(|info| info.choices() > 0).count();
        let chosen = random.usize(0..possible.max(1));
        let (operation, info) =
            self.0.iter().enumerate().filter(|(_, info)| info.choices() > 0).nth(chosen)?;
        let number = random.u128(0..info.choices());
        Some(Call { operation, arguments: info.arguments_of(number, fresh) })
    }

    /// All scenarios of so many calls by at most so many threads, the longest thread first; none if
    /// there are more than `most`.
    pub(crate) fn scenarios(
        self,
        threads: usize,
        calls: usize,
        most: u128,
    ) -> Option<Vec<Scenario>> {
        let letters = self.len();
        let words = letters.checked_pow(u32::try_from(calls).ok()?)?;
        let lengths = partitions(calls, calls, threads);
        if words.checked_mul(lengths.len() as u128)? > most {
            return None;
        }
        let mut all = Vec::new();
        for lengths in &lengths {
            for word in 0..words {
                let (mut left, mut fresh) = (word, 1);
                let mut call = || {
                    let letter = left % letters;
                    left /= letters;
                    self.call(letter, &mut fresh)
                };
                let threads =
                    lengths.iter().map(|length| (0..*length).filter_map(|_| call()).collect());
                all.push(Scenario { before: Vec::new(), threads: threads.collect() });
            }
        }
        Some(all)
    }

    /// Threads with so many calls each, by chance. Fresh values are numbered in order.
    pub fn scenario(self, random: &mut Rng, threads: usize, ops: usize, fresh: u64) -> Scenario {
        let mut next = fresh;
        let mut thread = || (0..ops).filter_map(|_| self.draw(random, &mut next)).collect();
        Scenario { before: Vec::new(), threads: (0..threads).map(|_| thread()).collect() }
    }
}

/// The ways to write a sum as at most so many summands that do not grow, none above `largest`.
fn partitions(sum: usize, largest: usize, summands: usize) -> Vec<Vec<usize>> {
    if sum == 0 {
        return vec![Vec::new()];
    }
    if summands == 0 {
        return Vec::new();
    }
    let first = (1..=largest.min(sum)).rev();
    first
        .flat_map(|first| {
            let rest = partitions(sum - first, first, summands - 1);
            rest.into_iter().map(move |rest| [vec![first], rest].concat())
        })
        .collect()
}

/// Every scenario with so many threads and so many calls of each, up to the order of threads.
/// Fresh values are numbered in the order of threads and calls.
#[derive(Clone, Debug)]
pub struct Scenarios<'a> {
    alphabet: Alphabet<'a>,
    ops: usize,
    /// How many different threads there are: sequences of calls.
    programs: u128,
    /// Which one each thread is.
    ///
    /// INVARIANT: in rising order, so that no two differ in the order of threads only.
    next: Option<Vec<u128>>,
}

impl<'a> Scenarios<'a> {
    /// All of these bounds.
    pub fn new(operations: &'a [OperationInfo], threads: usize, ops: usize) -> Scenarios<'a> {
        let alphabet = Alphabet::new(operations);
        let exponent = u32::try_from(ops).unwrap_or(u32::MAX);
        let programs = alphabet.len().saturating_pow(exponent);
        let next = (programs > 0).then(|| vec![0; threads]);
        Scenarios { alphabet, ops, programs, next }
    }

    /// How many there are, if that is a number that fits: the multisets of threads.
    pub fn count(threads: usize, programs: u128) -> Option<u128> {
        let mut count: u128 = 1;
        for chosen in 0..threads as u128 {
            count = count.checked_mul(programs.checked_add(chosen)?)? / (chosen + 1);
        }
        Some(count)
    }

    /// How many there are in all, if that is a number that fits.
    pub fn total(&self, threads: usize) -> Option<u128> {
        Scenarios::count(threads, self.programs)
    }

    fn thread(&self, mut program: u128, fresh: &mut u64) -> Vec<Call> {
        let letters = self.alphabet.len();
        let mut calls = Vec::with_capacity(self.ops);
        for _ in 0..self.ops {
            calls.extend(self.alphabet.call(program % letters, fresh));
            program /= letters;
        }
        calls
    }

    fn advance(&mut self) {
        let Some(current) = &mut self.next else { return };
        let last = self.programs - 1;
        match current.iter().rposition(|program| *program < last) {
            Some(at) => {
                let program = current[at] + 1;
                current[at..].fill(program);
            }
            None => self.next = None,
        }
    }
}

impl Iterator for Scenarios<'_> {
    type Item = Scenario;

    fn next(&mut self) -> Option<Scenario> {
        let mut fresh = 1;
        let programs = self.next.clone()?;
        let threads = programs.iter().map(|program| self.thread(*program, &mut fresh)).collect();
        self.advance();
        Some(Scenario { before: Vec::new(), threads })
    }
}
