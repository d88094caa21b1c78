//! Whether what is in progress can remove what stands in the way.

use super::contents::Call;
use super::slices::Number;

/// Counts removals in progress, by value.
#[derive(Default)]
pub(super) struct Removals {
    /// By value. All are zero between two questions.
    counts: Vec<u32>,
    /// The values that were counted.
    counted: Vec<Number>,
    /// How many have an unknown answer.
    any: u32,
}

impl Removals {
    /// Whether all these values, which are to be removed one after the other, may be. If one is
    /// `wanted`, it is enough to remove those before it. If none is, it has to be added.
    pub(super) fn uncover(
        &mut self,
        wanted: Option<Number>,
        in_the_way: impl Iterator<Item = Number>,
        in_progress: impl Iterator<Item = Call>,
    ) -> bool {
        let mut is_added = false;
        for call in in_progress {
            match call {
                Call::Remove(value) => self.count(value),
                Call::RemoveAny => self.any += 1,
                Call::Add(value) => is_added |= wanted == Some(value),
                Call::Peek(_) | Call::Empty => {}
            }
        }
        let mut answer = wanted.is_none() || is_added;
        for value in in_the_way {
            if wanted == Some(value) {
                answer = true;
                break;
            }
            if !self.removes(value) {
                answer = false;
                break;
            }
        }
        self.forget();
        answer
    }

    fn count(&mut self, value: Number) {
        let at = usize::from(value);
        if self.counts.len() <= at {
            self.counts.resize(at + 1, 0);
        }
        self.counts[at] += 1;
        self.counted.push(value);
    }

    /// Whether one that is left removes this value, which it does then.
    fn removes(&mut self, value: Number) -> bool {
        let left = match self.counts.get_mut(usize::from(value)) {
            Some(left) if *left > 0 => left,
            _ => &mut self.any,
        };
        let removes = *left > 0;
        *left -= u32::from(removes);
        removes
    }

    fn forget(&mut self) {
        for value in self.counted.drain(..) {
            self.counts[usize::from(value)] = 0;
        }
        self.any = 0;
    }
}
