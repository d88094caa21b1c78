//! What is known of a state when those that come of it are packed: most steps change nothing that
//! the shared variables reach, and then the shared part of the bytes is as it was.

use super::needed::Need;
use super::{Form, Parts, Scratch};
use crate::flat::Flat;
use crate::roles::WordSet;

/// What is known of a state when it is packed.
#[derive(Clone, Copy)]
pub struct Before<'a> {
    /// The state that it comes of.
    pub(crate) origin: &'a Origin<'a>,
    /// Which words are needed in it, if that was found out, and whether its shared part is that of
    /// the state that it comes of.
    pub(crate) needed: Option<(&'a [WordSet], bool)>,
}

/// A state whose bytes are known.
pub(crate) struct Origin<'a> {
    words: &'a [i64],
    /// The shared part of the bytes.
    pub(super) shared: &'a [u8],
    /// The objects that the shared variables reach are the first so many, in their order: names in
    /// the bytes are numbers in the state that was read from them.
    pub(super) reached: usize,
    /// The values that have names in the shared part are the first so many.
    pub(super) values: u8,
    kept: &'a Kept,
}

/// Which words are needed in a state; empty if all are. Memory that is used again.
#[derive(Default)]
pub(crate) struct Kept {
    /// Because shared variables hold something.
    by_shared: Vec<WordSet>,
    needed: Vec<WordSet>,
    grown: Vec<(usize, WordSet)>,
}

impl Form {
    /// What those that come of a state may take from it; `None` if models like this one take
    /// nothing: what links and images are about is named with the shared part.
    pub fn origin<'a>(
        &self,
        (bytes, parts): (&'a [u8], &Parts),
        flat: &'a Flat,
        kept: &'a mut Kept,
    ) -> Option<Origin<'a>> {
        if !self.heap || self.links || self.lines.is_some() {
            return None;
        }
        let Kept { by_shared, needed, grown } = &mut *kept;
        by_shared.clear();
        needed.clear();
        if let Some(mut need) = Need::new(self, flat, needed, grown) {
            need.by_shared();
            by_shared.extend_from_slice(need.needed);
            need.by_threads();
        }
        let shared = &bytes[parts.shared..];
        let Parts { reached, values, .. } = *parts;
        Some(Origin { words: &flat.words, shared, reached, values, kept })
    }
}

impl Before<'_> {
    /// Finds out which words of a state are needed; whether the shared part of its bytes is that of
    /// the state before.
    pub(super) fn is_kept(&self, form: &Form, flat: &Flat, scratch: &mut Scratch) -> bool {
        let Some((needed, is_kept)) = self.needed else {
            return self.origin.is_kept(form, flat, scratch);
        };
        scratch.needed.0.clear();
        scratch.needed.0.extend_from_slice(needed);
        is_kept
    }
}

impl Origin<'_> {
    /// Finds out which words of a state are needed; whether the shared part of its bytes is that of
    /// the state before.
    pub(super) fn is_kept(&self, form: &Form, flat: &Flat, scratch: &mut Scratch) -> bool {
        let layout = &form.layout;
        let objects = layout.heap..layout.object(self.reached);
        let same_words = flat.words[..layout.shared_words] == self.words[..layout.shared_words]
            && flat.words.get(objects.clone()) == self.words.get(objects);
        // Whatever the shared variables reach is among those objects.
        let by_shared = (same_words && form.roles.is_some()).then_some(&self.kept.by_shared[..]);
        form.find_needed(flat, by_shared.map(|all| &all[..self.reached]), scratch);
        same_words
            && (scratch.needed.is_all()
                || scratch.needed.0[..self.reached] == self.kept.needed[..self.reached])
    }
}
