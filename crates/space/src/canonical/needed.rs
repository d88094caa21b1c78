//! Which words of objects are needed in a state (see `roles.rs`): what may be read through a shared
//! variable, a variable of a thread or a needed field that holds the object.

use super::before::Origin;
use super::{Form, Scratch};
use crate::flat::{Flat, operation_of};
use crate::layout::{Layout, NODE, STATUS};
use crate::lines::struct_of;
use crate::roles::{Holders, Roles, WordSet};

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

/// What is found out about a state.
pub(super) struct Need<'a> {
    roles: &'a Roles,
    readers: &'a Holders,
    layout: &'a Layout,
    words: &'a [i64],
    pub needed: &'a mut Vec<WordSet>,
    /// Objects of which more is needed than was known.
    grown: &'a mut Vec<(usize, WordSet)>,
}

impl<'a> Need<'a> {
    /// Nothing is needed yet; `None` if all is, in any state. `needed` is empty.
    pub fn new(
        form: &'a Form,
        flat: &'a Flat,
        needed: &'a mut Vec<WordSet>,
        grown: &'a mut Vec<(usize, WordSet)>,
    ) -> Option<Need<'a>> {
        let (roles, readers) = form.roles.as_ref()?;
        let (layout, words) = (&form.layout, &flat.words[..]);
        needed.resize(layout.objects(words.len()), 0);
        Some(Need { roles, readers, layout, words, needed, grown })
    }

    /// What is needed because shared variables hold it.
    pub fn by_shared(&mut self) {
        for &(word, role) in &self.readers.shared {
            self.held(self.words[word], role);
        }
        self.further();
    }

    /// What is needed because threads hold it.
    pub fn by_threads(&mut self) {
        for thread in 0..self.layout.threads {
            let region = &self.words[self.layout.thread(thread)..][..self.layout.region];
            for &(word, role) in &self.readers.variables {
                self.held(region[word], role);
            }
            if let Some((operation, false)) = operation_of(region[STATUS]) {
                for &(word, role) in &self.readers.live[operation][region[NODE] as usize] {
                    self.held(region[word], role);
                }
            }
        }
        self.further();
    }

    /// Notes what may be read of an object through a role that holds it.
    #[inline(always)]
    fn held(&mut self, word: i64, role: usize) {
        let Ok(object) = usize::try_from(word - 1) else { return };
        let Some(of) = struct_of(self.words[self.layout.object(object)]) else { return };
        let more = self.roles.read(role, of) & !self.needed[object];
        if more != 0 {
            self.needed[object] |= more;
            self.grown.push((object, more));
        }
    }

    /// What is needed through the fields that are.
    fn further(&mut self) {
        while let Some((object, more)) = self.grown.pop() {
            let at = self.layout.object(object);
            let Some(of) = struct_of(self.words[at]) else { continue };
            for &(word, role) in &self.readers.fields[of] {
                if more >> word & 1 == 1 {
                    self.held(self.words[at + 1 + word], role);
                }
            }
        }
    }
}

impl Form {
    /// Finds out which words of objects are needed in a state; `None` if all are, in any.
    pub fn needed_in(
        &self,
        flat: &Flat,
        needed: &mut Vec<WordSet>,
        grown: &mut Vec<(usize, WordSet)>,
    ) -> Option<()> {
        needed.clear();
        let mut need = Need::new(self, flat, needed, grown)?;
        need.by_shared();
        need.by_threads();
        Some(())
    }

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
        let Some(mut need) = Need::new(self, flat, needed, grown) else { return };
        match by_shared {
            Some(known) => need.needed[..known.len()].copy_from_slice(known),
            None => need.by_shared(),
        }
        need.by_threads();
    }

    /// Empties the words of objects that are not needed, in a state that comes of one of which so
    /// much is known; whether the shared part of its bytes is that of the one before.
    pub fn forget_dead_fields(
        &self,
        flat: &mut Flat,
        origin: Option<&Origin<'_>>,
        scratch: &mut Scratch,
    ) -> bool {
        let is_kept = match origin {
            Some(origin) => origin.is_kept(self, flat, scratch),
            None => {
                self.find_needed(flat, None, scratch);
                false
            }
        };
        let Layout { heap, stride, .. } = self.layout;
        for (words, needed) in flat.words[heap..].chunks_exact_mut(stride).zip(&scratch.needed.0) {
            let mut rest = *needed;
            for word in &mut words[1..] {
                if rest & 1 == 0 {
                    *word = 0;
                }
                rest >>= 1;
            }
        }
        is_kept
    }
}
