//! Which words of objects are needed in a state (see `roles.rs`): what may be read through a shared
//! variable, a variable of a thread or a needed field that holds the object.

use super::{Form, Scratch};
use crate::flat::{Flat, operation_of};
use crate::layout::{Layout, NODE, STATUS};
use crate::lines::struct_of;
use crate::roles::WordSet;

/// For each object, the words that are needed. Empty if all are.
#[derive(Default)]
pub(super) struct Needed(pub Vec<WordSet>);

impl Needed {
    /// Whether all words of all objects are needed.
    pub fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// The words of an object that are needed.
    #[inline]
    pub fn of(&self, object: usize) -> WordSet {
        self.0.get(object).copied().unwrap_or(WordSet::MAX)
    }

    /// What counts of a word of an object: 0 if it is not needed.
    #[inline]
    pub fn shown(&self, object: usize, word: usize, value: i64) -> i64 {
        match self.0.get(object) {
            Some(words) if words.checked_shr(word as u32).unwrap_or(0) & 1 == 0 => 0,
            _ => value,
        }
    }
}

impl Form {
    /// Finds out which words of objects are needed. If what the shared variables need is known, and
    /// nothing that they reach has changed, it is not found out again.
    pub(super) fn find_needed(
        &self,
        flat: &Flat,
        by_shared: Option<&[WordSet]>,
        scratch: &mut Scratch,
    ) {
        let Scratch { needed: Needed(needed), grown, .. } = scratch;
        needed.clear();
        if self.roles.is_none() {
            return;
        }
        let objects = self.layout.objects(flat.words.len());
        match by_shared {
            Some(known) => {
                needed.extend_from_slice(known);
                needed.resize(objects, 0);
            }
            None => {
                needed.resize(objects, 0);
                self.need_by_shared(flat, needed, grown);
            }
        }
        self.need_by_threads(flat, needed, grown);
    }

    /// What is needed because shared variables hold it.
    pub(super) fn need_by_shared(
        &self,
        flat: &Flat,
        needed: &mut [WordSet],
        grown: &mut Vec<(usize, WordSet)>,
    ) {
        for &(word, role) in &self.holders.shared {
            self.need(flat, flat.words[word], role, needed, grown);
        }
        self.need_further(flat, needed, grown);
    }

    /// What is needed because threads hold it.
    pub(super) fn need_by_threads(
        &self,
        flat: &Flat,
        needed: &mut [WordSet],
        grown: &mut Vec<(usize, WordSet)>,
    ) {
        let layout = &self.layout;
        for thread in 0..layout.threads {
            let region = &flat.words[layout.thread(thread)..][..layout.region];
            for &(word, role) in &self.holders.variables {
                self.need(flat, region[word], role, needed, grown);
            }
            if let Some((operation, false)) = operation_of(region[STATUS]) {
                for &(word, role) in &self.holders.live[operation][region[NODE] as usize] {
                    self.need(flat, region[word], role, needed, grown);
                }
            }
        }
        self.need_further(flat, needed, grown);
    }

    /// What may be read of an object through a role that holds it.
    #[inline]
    fn need(
        &self,
        flat: &Flat,
        word: i64,
        role: usize,
        needed: &mut [WordSet],
        grown: &mut Vec<(usize, WordSet)>,
    ) {
        let (Some(roles), Ok(object)) = (&self.roles, usize::try_from(word - 1)) else { return };
        let Some(of) = struct_of(flat.words[self.layout.object(object)]) else { return };
        let more = roles.read(role, of) & !needed[object];
        if more != 0 {
            needed[object] |= more;
            grown.push((object, more));
        }
    }

    /// What is needed through the fields that are.
    fn need_further(&self, flat: &Flat, needed: &mut [WordSet], grown: &mut Vec<(usize, WordSet)>) {
        while let Some((object, more)) = grown.pop() {
            let at = self.layout.object(object);
            let Some(of) = struct_of(flat.words[at]) else { continue };
            for &(word, role) in &self.holders.fields[of] {
                if more >> word & 1 == 1 {
                    self.need(flat, flat.words[at + 1 + word], role, needed, grown);
                }
            }
        }
    }

    /// Empties the words of objects that are not needed.
    pub fn forget_dead_fields(&self, flat: &mut Flat, scratch: &mut Scratch) {
        self.find_needed(flat, None, scratch);
        let Layout { heap, stride, .. } = self.layout;
        for (object, words) in flat.words[heap..].chunks_mut(stride).enumerate() {
            for (number, word) in words[1..].iter_mut().enumerate() {
                *word = scratch.needed.shown(object, number, *word);
            }
        }
    }
}
