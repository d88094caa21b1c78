//! States on their way to the worker that they belong to, some at a time.
//!
//! A batch stands for itself. A set is written where it is first needed and counted from then on;
//! of a state, what it has in common with the one before it is not written again.

use linchpin_refine::StateAt;
use std::collections::HashMap;

/// States that wait to be sent to one worker.
#[derive(Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    sets: HashMap<Box<[u8]>, u64>,
    last: Vec<u8>,
    parent: u32,
}

/// A state that was sent.
pub(crate) struct Sent<'a> {
    pub bytes: &'a [u8],
    pub set: &'a [u8],
    pub from: StateAt,
}

impl Batch {
    /// Adds a state, its set, and which state of this worker it was found from.
    pub fn push(&mut self, bytes: &[u8], set: &[u8], parent: u32) {
        let out = &mut self.bytes;
        write_number(u64::from(parent ^ self.parent), out);
        self.parent = parent;
        let known = u64::try_from(self.sets.len()).unwrap_or(u64::MAX);
        match self.sets.get(set) {
            Some(number) => write_number(*number, out),
            None => {
                write_number(known, out);
                write_bytes(set, out);
                self.sets.insert(set.into(), known);
            }
        }
        let common = bytes.iter().zip(&self.last).take_while(|(one, other)| one == other).count();
        write_number(u64::try_from(common).unwrap_or(u64::MAX), out);
        write_bytes(&bytes[common..], out);
        self.last.truncate(common);
        self.last.extend_from_slice(&bytes[common..]);
    }

    /// How many bytes they take.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// What is to be sent; nothing waits then.
    pub fn take(&mut self) -> Vec<u8> {
        self.sets.clear();
        self.last.clear();
        self.parent = 0;
        std::mem::take(&mut self.bytes)
    }
}

/// Gives the states of a batch, which `worker` has sent, to `take`, as long as it takes them;
/// `None` if the bytes are no batch.
pub(crate) fn unpack<E>(
    worker: u16,
    bytes: &[u8],
    mut take: impl FnMut(Sent<'_>) -> Result<(), E>,
) -> Option<Result<(), E>> {
    let mut rest = bytes;
    let mut sets: Vec<&[u8]> = Vec::new();
    let (mut state, mut id) = (Vec::new(), 0);
    while !rest.is_empty() {
        id ^= u32::try_from(read_number(&mut rest)?).ok()?;
        let number = usize::try_from(read_number(&mut rest)?).ok()?;
        if number == sets.len() {
            sets.push(read_bytes(&mut rest)?);
        }
        let set = sets.get(number)?;
        let common = usize::try_from(read_number(&mut rest)?).ok()?;
        if common > state.len() {
            return None;
        }
        state.truncate(common);
        state.extend_from_slice(read_bytes(&mut rest)?);
        if let Err(error) = take(Sent { bytes: &state, set, from: StateAt { worker, id } }) {
            return Some(Err(error));
        }
    }
    Some(Ok(()))
}

/// Writes a number in as few bytes as it needs, seven bits each.
fn write_number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.push(number.to_le_bytes()[0]);
}

fn write_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    write_number(u64::try_from(bytes.len()).unwrap_or(u64::MAX), out);
    out.extend_from_slice(bytes);
}

fn read_number(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(first & 0x7f) << shift;
        if *first < 0x80 {
            return Some(number);
        }
    }
    None
}

fn read_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let length = usize::try_from(read_number(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a random length, often alike.
    fn some(random: &mut fastrand::Rng) -> Vec<u8> {
        (0..random.usize(..40)).map(|_| random.u8(..2)).collect()
    }

    #[test]
    fn what_is_sent_arrives() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut batch = Batch::default();
        for _ in 0..20 {
            let states: Vec<(Vec<u8>, Vec<u8>, u32)> = (0..random.usize(..200))
                .map(|_| (some(&mut random), vec![random.u8(..5); 3], random.u32(..)))
                .collect();
            for (bytes, set, parent) in &states {
                batch.push(bytes, set, *parent);
            }
            let mut arrived = Vec::new();
            let bytes = batch.take();
            let taken = unpack::<()>(3, &bytes, |Sent { bytes, set, from }| {
                assert_eq!(from.worker, 3);
                arrived.push((bytes.to_vec(), set.to_vec(), from.id));
                Ok(())
            });
            assert_eq!(taken, Some(Ok(())));
            assert_eq!(arrived, states);
        }
    }

    #[test]
    fn damaged_batches_are_noticed_or_read_and_never_panic() {
        let mut random = fastrand::Rng::with_seed(8);
        let mut batch = Batch::default();
        for _ in 0..2000 {
            for parent in 0..5 {
                batch.push(&some(&mut random), &some(&mut random), parent);
            }
            let mut bytes = batch.take();
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
            bytes.truncate(random.usize(at..=bytes.len()));
            let _ = unpack::<()>(0, &bytes, |_| Ok(()));
        }
    }
}
