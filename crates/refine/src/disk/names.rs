//! Numbers of sets for their bytes, and bytes for their numbers.

use crate::portable::Portable;
use rustc_hash::FxHashMap;

/// What a name costs beside its bytes.
const OVERHEAD: usize = 48;

/// The sets that were met since they were last forgotten.
#[derive(Default)]
pub(crate) struct SetNames {
    numbers: FxHashMap<Box<[u8]>, u32>,
    bytes: usize,
}

impl SetNames {
    /// The number of a set; `None` if the bytes are of none.
    pub fn number<P: Portable>(&mut self, product: &P, bytes: &[u8]) -> Option<u32> {
        if let Some(number) = self.numbers.get(bytes) {
            return Some(*number);
        }
        let number = product.read_set(bytes)?;
        self.numbers.insert(bytes.into(), number);
        self.bytes += bytes.len() + OVERHEAD;
        Some(number)
    }

    /// About how many bytes of memory they take.
    pub fn size(&self) -> usize {
        self.bytes
    }

    pub fn forget(&mut self) {
        *self = SetNames::default();
    }
}

/// The bytes of the sets that one worker has met.
#[derive(Default)]
pub(crate) struct SetBytes {
    bytes: FxHashMap<u32, Box<[u8]>>,
    size: usize,
}

impl SetBytes {
    pub fn of<P: Portable>(&mut self, product: &P, set: u32) -> &[u8] {
        let size = &mut self.size;
        self.bytes.entry(set).or_insert_with(|| {
            let mut bytes = Vec::new();
            product.write_set(set, &mut bytes);
            *size += bytes.len() + OVERHEAD;
            bytes.into()
        })
    }

    /// About how many bytes of memory they take.
    pub fn size(&self) -> usize {
        self.size
    }
}
