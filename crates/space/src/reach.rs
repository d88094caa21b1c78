//! Which objects threads can reach in a state, and which the shared variables lead to.

use crate::flat::Flat;
use crate::layout::Kind;
use crate::space::Space;

/// The bit of what any thread can reach: through a shared variable, or through what a crash may
/// leave. Threads for which there is no bit are taken to be any thread.
const ALL: u64 = 1 << 63;

/// What is known.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Known {
    #[default]
    Nothing,
    /// What any thread can reach.
    ByAll,
    Everything,
}

/// For each object of a state, who can reach it; found out as far as it is asked for.
#[derive(Default)]
pub(crate) struct Reach {
    known: Known,
    /// For each object, a bit for each thread. INVARIANT: what an object with [`ALL`] leads to has
    /// it too, so the other bits do not matter there.
    by: Vec<u64>,
    stack: Vec<usize>,
}

impl Reach {
    /// About a state that nothing was asked about yet.
    pub fn forget(&mut self) {
        self.known = Known::Nothing;
    }

    /// Whether other threads, or what runs after a crash, can reach an object of a state.
    pub fn beyond(&mut self, space: &Space, flat: &Flat, thread: usize, object: usize) -> bool {
        if self.known == Known::Nothing {
            self.find_by_all(space, flat);
            self.known = Known::ByAll;
        }
        // An object that is not there yet belongs to no other thread.
        let Some(by) = self.by.get(object) else { return false };
        if by & ALL != 0 {
            return true;
        }
        if self.known == Known::ByAll {
            self.find_by_threads(space, flat);
            self.known = Known::Everything;
        }
        self.by[object] & !own(thread) != 0
    }

    fn find_by_all(&mut self, space: &Space, flat: &Flat) {
        let form = &space.form;
        self.by.clear();
        self.by.resize(form.layout.objects(flat.words.len()), 0);
        for (word, _) in &form.holders.shared {
            self.held(flat.words[*word], ALL);
        }
        // What a crash may leave of the shared variables; that of objects as they are met.
        form.image_words(flat, |word, kind, of| {
            if kind == Kind::Ref && of.is_none() {
                self.held(word, ALL);
            }
        });
        self.follow(space, flat, ALL);
    }

    fn find_by_threads(&mut self, space: &Space, flat: &Flat) {
        for thread in 0..space.form.layout.threads {
            let by = match own(thread) {
                0 => ALL,
                bit => bit,
            };
            space.form.thread_references(flat, thread, |word| self.held(word, by));
            self.follow(space, flat, by);
        }
    }

    /// Notes who holds a reference.
    #[inline]
    fn held(&mut self, word: i64, by: u64) {
        if let Ok(object) = usize::try_from(word - 1) {
            let known = &mut self.by[object];
            if *known & (by | ALL) == 0 {
                *known |= by;
                self.stack.push(object);
            }
        }
    }

    /// Notes who reaches what the objects on the stack lead to.
    fn follow(&mut self, space: &Space, flat: &Flat, by: u64) {
        let form = &space.form;
        while let Some(object) = self.stack.pop() {
            let at = form.layout.object(object);
            if let Some(of) = form.struct_kept(flat.words[at]) {
                for (word, _) in &form.holders.fields[of] {
                    self.held(flat.words[at + 1 + word], by);
                }
            }
            if !flat.images.is_empty() {
                form.image_words(flat, |word, kind, of| {
                    if kind == Kind::Ref && of == Some(object) {
                        self.held(word, by);
                    }
                });
            }
        }
    }
}

/// The bit of a thread; 0 if there is none for it.
fn own(thread: usize) -> u64 {
    if thread < 63 { 1 << thread } else { 0 }
}
