//! Where numbered things are found by their hashes.
//!
//! A slot holds a number of 26 bits and six bits of the hash, so that hardly any thing is looked at
//! but the one that is looked for, and a lookup costs one miss of the cache for the slot. It grows
//! by half, not to the double: at most half of the slots are empty.

/// How many bits of a slot are the number.
const NUMBER_BITS: u32 = 26;

/// Numbers are smaller than this.
pub(crate) const END: u32 = (1 << NUMBER_BITS) - 1;

const NUMBER: u32 = END;

/// No number is `END`, so no slot in use has all bits set.
const EMPTY: u32 = u32::MAX;

/// The least number of slots that a table with something in it has.
const LEAST: usize = 8;

/// Numbers, found by hashes.
#[derive(Default)]
pub(crate) struct Index {
    slots: Vec<u32>,
    len: usize,
}

impl Index {
    /// The number with this hash of which `same` is true.
    pub fn find(&self, hash: u64, mut same: impl FnMut(u32) -> bool) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = place(hash, self.slots.len());
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return None;
            }
            if (slot ^ tag(hash)) & !NUMBER == 0 && same(slot & NUMBER) {
                return Some(slot & NUMBER);
            }
            at = after(at, self.slots.len());
        }
    }

    /// Adds a number that is not there; `hash_of` tells the hash of any number that is.
    pub fn insert(&mut self, hash: u64, number: u32, hash_of: impl Fn(u32) -> u64) {
        if (self.len + 1) * 4 > self.slots.len() * 3 {
            let larger = (self.slots.len() + self.slots.len() / 2).max(LEAST);
            let old = std::mem::replace(&mut self.slots, vec![EMPTY; larger]);
            for slot in old.into_iter().filter(|slot| *slot != EMPTY) {
                put(&mut self.slots, hash_of(slot & NUMBER), slot);
            }
        }
        put(&mut self.slots, hash, tag(hash) | number);
        self.len += 1;
    }

    /// Puts a number in the place of another with the same hash.
    pub fn replace(&mut self, hash: u64, old: u32, new: u32) {
        let length = self.slots.len();
        let mut at = place(hash, length);
        for _ in 0..length {
            if self.slots[at] == tag(hash) | old {
                self.slots[at] = tag(hash) | new;
                return;
            }
            at = after(at, length);
        }
    }

    /// The number that is most likely the one with this hash: asking brings its slot into the
    /// cache, while others are asked for.
    pub fn likely(&self, hash: u64) -> Option<u32> {
        let slot = *self.slots.get(place(hash, self.slots.len()))?;
        (slot != EMPTY).then_some(slot & NUMBER)
    }

    /// All numbers.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.slots.iter().filter(|slot| **slot != EMPTY).map(|slot| slot & NUMBER)
    }

    pub fn len(&self) -> usize {
        self.len
    }

    /// How many bytes are kept.
    pub fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<u32>()
    }
}

/// The lowest bits of the hash, above those of a number.
fn tag(hash: u64) -> u32 {
    (hash as u32) << NUMBER_BITS
}

/// By the upper half of the hash: any number of slots will do.
fn place(hash: u64, slots: usize) -> usize {
    (((hash >> 32) * slots as u64) >> 32) as usize
}

fn after(at: usize, slots: usize) -> usize {
    if at + 1 == slots { 0 } else { at + 1 }
}

/// INVARIANT: there is an empty slot.
fn put(slots: &mut [u32], hash: u64, slot: u32) {
    let mut at = place(hash, slots.len());
    while slots[at] != EMPTY {
        at = after(at, slots.len());
    }
    slots[at] = slot;
}
