//! Which steps concern no other thread: none can notice them or change what they meet, now or
//! later.

use crate::code::Class;
use crate::execute::{Access, Ended, Trail};
use crate::flat::{Flat, operation_of};
use crate::layout::{Kind, NODE, STATUS, VARIABLES};
use crate::lines::{LineId, struct_of};
use crate::reach::Reach;
use crate::settled::Forward;
use crate::space::Lasting;
use crate::successors::{Looked, Successors, Way};
use linchpin_ir::interpreter::Memory;
use smallvec::SmallVec;

impl Successors<'_> {
    /// Whether a step from a node can concern no other thread, from the code alone. What runs after
    /// a crash is taken step by step.
    pub fn maybe_private(&self, thread: usize, routine: usize, node: usize) -> bool {
        self.space.privacy.steps[thread].get(routine).is_some_and(|nodes| nodes[node])
    }

    /// Looks at the next step of the thread: `None` unless it can be taken and concerns no other
    /// thread, whatever it chooses.
    pub fn private_step(
        &mut self,
        flat: &Flat,
        thread: usize,
        operation: usize,
        reach: &mut Reach,
    ) -> Option<Looked> {
        let region = self.space.form.layout.thread(thread);
        let node = flat.words[region + NODE] as usize;
        let mut given: SmallVec<[u32; 2]> = SmallVec::new();
        let mut trail = self.workspace.trails.pop().unwrap_or_default();
        let is_private = loop {
            let mut next = self.copy(flat);
            let ended = self.execute(&mut next, thread, operation, node, &given, &mut trail);
            let is_private = !matches!(ended, Ended::Refused | Ended::Faulted)
                && self.is_private(flat, thread, &trail, reach);
            if is_private && trail.choices.is_empty() {
                return Some(Some(Way { next, ended, trail }));
            }
            self.workspace.pool.push(next);
            match trail.next_choices() {
                Some(choices) if is_private => given = choices,
                _ => break is_private,
            }
        };
        self.workspace.trails.push(trail);
        is_private.then_some(None)
    }

    /// Whether no other thread can notice the accesses of a step, or change what they meet, now or
    /// later.
    ///
    /// An access is of that kind if no other thread ever writes its variable or field (ever touches
    /// it, if the access is a write), if it is to an object that no other thread can reach, or to
    /// what does not change any more, or if it is a `cas` that fails whenever it is made.
    pub fn is_private(
        &self,
        before: &Flat,
        thread: usize,
        trail: &Trail,
        reach: &mut Reach,
    ) -> bool {
        let space = self.space;
        if !self.is_no_point(trail) {
            return false;
        }
        if !space.reductions.partial_order {
            return trail.accesses.is_empty();
        }
        if trail.managed && space.bounds.memory.gives_back() {
            return false;
        }
        if trail.managed && space.bounds.objects.is_some() {
            return false;
        }
        // So may what a fence makes of memory that others, or a thread after a crash, can reach.
        for line in &trail.settled {
            let LineId::Object(object, _) = *line else { return false };
            if reach.beyond(space, before, thread, object as usize) {
                return false;
            }
        }
        trail.accesses.iter().all(|access| {
            let Access { class, object, write, refused } = access;
            let classes = if *write { &space.privacy.touched } else { &space.privacy.written };
            let collected = space.bounds.memory == Memory::Collected || object.is_none();
            let together = !(*write && space.writes_apart);
            let lasts = space.outlives_thread(*class);
            if collected && together && !lasts && classes[thread].binary_search(class).is_err() {
                return true;
            }
            // What can still write it expects `null`, so it writes nothing.
            if together && self.settled_word(before, *class, *object).is_some() {
                return true;
            }
            if let (Class::Shared(variable), Some(expected)) = (class, refused)
                && self.never_again(before, thread, *variable, *expected, reach)
            {
                return true;
            }
            let Some(object) = object else { return false };
            // Any thread may take memory that was given back, with the references in it.
            space.bounds.memory != Memory::TypeStable
                && !reach.beyond(space, before, thread, *object)
        })
    }

    /// Whether a step passes no claimed point that counts: such a point stays where it is among the
    /// points of others.
    pub fn is_no_point(&self, trail: &Trail) -> bool {
        trail.passed.is_empty() || self.space.ignores_points
    }

    /// The content of a word that has got its last value (see `settled.rs`).
    pub fn settled_word(&self, flat: &Flat, class: Class, object: Option<usize>) -> Option<i64> {
        let space = self.space;
        let layout = &space.form.layout;
        space.privacy.once.binary_search(&class).ok()?;
        let at = match (class, object) {
            (Class::Shared(variable), _) => layout.shared[variable].at,
            (Class::Field(of, field), Some(object)) => {
                layout.object(object) + layout.fields[of][field].at
            }
            (Class::Field(..), None) => return None,
        };
        flat.words.get(at).copied().filter(|word| *word != 0)
    }

    /// Whether a shared variable does not hold this object and never will, as long as `thread`
    /// writes nothing.
    ///
    /// - The variable only moves forward along a field, and the object is behind it: the field
    ///   leads from the object to the one that the variable holds (`settled.rs`).
    /// - Or no role (`roles.rs`) from which references come to the variable holds the object: not
    ///   in a shared variable, not in another thread, not in an object that others can reach. A
    ///   step gives an object only to roles that references flow to from one that held it, so none
    ///   of those roles ever gets it.
    pub fn never_again(
        &self,
        flat: &Flat,
        thread: usize,
        variable: usize,
        value: i64,
        reach: &mut Reach,
    ) -> bool {
        let space = self.space;
        let Some(lasting) = &space.lasting else { return false };
        let layout = &space.form.layout;
        let slot = layout.shared[variable];
        let is_reference = slot.width == 1 && layout.shared_kinds[slot.at] == Kind::Ref;
        if !is_reference || value <= 0 || flat.words[slot.at] == value {
            return false;
        }
        is_behind(lasting, flat, slot.at, value, |object| layout.object(object))
            || !self.may_come(lasting, flat, thread, slot.at, value, reach)
    }

    /// Whether others hold an object where it may come from to a shared word.
    fn may_come(
        &self,
        lasting: &Lasting,
        flat: &Flat,
        thread: usize,
        variable: usize,
        value: i64,
        reach: &mut Reach,
    ) -> bool {
        let form = &self.space.form;
        let layout = &form.layout;
        let comes = |role: usize| lasting.roles.may_come(role, variable);
        let mut shared = flat.words[..layout.shared_words].iter().enumerate();
        let holds = |(at, word): (usize, &i64)| {
            *word == value
                && layout.shared_kinds[at] == Kind::Ref
                && comes(lasting.roles.of_shared(at))
        };
        if shared.any(holds) {
            return true;
        }
        for other in (0..layout.threads).filter(|other| *other != thread) {
            let region = &flat.words[layout.thread(other)..][..layout.region];
            for (at, kind) in layout.variable_kinds.iter().enumerate() {
                let is_it = *kind == Kind::Ref && region[VARIABLES + at] == value;
                if is_it && comes(lasting.roles.of_variable(at)) {
                    return true;
                }
            }
            // A response is no reference that any role gets.
            let Some((operation, false)) = operation_of(region[STATUS]) else { continue };
            let node = region[NODE] as usize;
            for (at, kind) in &form.live[operation][node] {
                let role = || lasting.roles.of_local(operation, node, at - layout.locals_at);
                if *kind == Kind::Ref && region[*at] == value && comes(role()) {
                    return true;
                }
            }
        }
        for object in 0..(flat.words.len() - layout.heap) / layout.stride {
            let at = layout.object(object);
            let Some(of) = struct_of(flat.words[at]) else { continue };
            for (word, kind) in layout.field_kinds[of].iter().enumerate() {
                if *kind == Kind::Ref
                    && flat.words[at + 1 + word] == value
                    && comes(lasting.roles.of_field(of, word))
                    && reach.beyond(self.space, flat, thread, object)
                {
                    return true;
                }
            }
        }
        false
    }
}

/// Whether a forward-only variable is past an object.
fn is_behind(
    lasting: &Lasting,
    flat: &Flat,
    variable: usize,
    value: i64,
    object: impl Fn(usize) -> usize,
) -> bool {
    lasting.forward.iter().filter(|forward| forward.variable == variable).any(|forward| {
        let Forward { variable, field } = *forward;
        let now = flat.words[variable];
        let next = |word: &i64| {
            let object = object(usize::try_from(*word - 1).ok()?);
            flat.words.get(object + field).copied()
        };
        // INVARIANT: the links are no cycle, so they end at `null`.
        now > 0 && std::iter::successors(Some(value), next).skip(1).any(|word| word == now)
    })
}
