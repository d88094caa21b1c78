//! Shared words: where a place is, reading it, comparing it, writing it, its lock.
//!
//! Reading a link distinguishes where it may go; writing one keeps what is known of ownership and
//! of the walked list.

use crate::correlate::Locks;
use crate::evaluate::equal_words;
use crate::execute::{Actor, Executor, Path, Paths, flat, focus_duo, publish, split};
use crate::failure::{Cause, Failure, Fault};
use crate::heap::{Heap, Lost, Side};
use crate::model::Cell;
use crate::state::State;
use crate::value::{Class, Holder, NodeId, Scalar, Term, Words};
use linchpin_ir::program::Place;

/// Where a place is: words of the variables of a side, or cells of a node.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Where {
    Variables { start: usize, count: usize },
    Cells { node: NodeId, start: usize, count: usize },
}

impl Executor<'_> {
    /// Whether a place holds what is expected, in every state in which that differs.
    pub(crate) fn compare<H: Heap>(
        &self,
        path: Path<H>,
        place: &Place,
        expected: &[Scalar],
        so_far: Option<bool>,
        line: u32,
        out: &mut Vec<(Path<H>, Option<bool>)>,
    ) -> Result<(), Failure> {
        let both = |one: Option<bool>, two: Option<bool>| match (one, two) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        };
        let (node, start, count) = match self.place(&path, place, line)? {
            Where::Variables { start, count } => {
                let held = &self.variables(&path.state)[start..start + count];
                let same = held
                    .iter()
                    .zip(expected)
                    .fold(so_far, |so_far, (one, two)| both(so_far, equal_words(*one, *two)));
                out.push((path, same));
                return Ok(());
            }
            Where::Cells { node, start, count } => (node, start, count),
        };
        let of = usize::from(path.state.heap.flags(node).of);
        let mut work = vec![(path, so_far)];
        // Flags first: where they decide, no link has to be looked at.
        let is_link = |at: usize| matches!(self.model.cells[of][at], Cell::Link(_));
        let order = (start..start + count).filter(|at| !is_link(*at));
        for at in order.chain((start..start + count).filter(|at| is_link(*at))) {
            let mut next = vec![];
            for (path, so_far) in work {
                let expected = expected.get(at - start).copied().unwrap_or(Scalar::Any);
                match (self.model.cells[of][at], expected) {
                    _ if so_far == Some(false) => next.push((path, so_far)),
                    (Cell::Link(link), Scalar::Null | Scalar::Node(_)) => {
                        let side = self.actor.side();
                        let compared = path.state.heap.compare(side, node, link, expected.node());
                        let compared =
                            compared.map_err(|lost| self.failure(Cause::Lost(lost), line))?;
                        let equal = compared.equal.into_iter().map(|heap| (heap, so_far));
                        let different = compared.different.into_iter();
                        for (heap, same) in equal.chain(different.map(|heap| (heap, Some(false)))) {
                            let mut path = path.clone();
                            path.state.heap = heap;
                            let list = path.state.list(self.model.root);
                            if path.state.heap.coerce(list.as_ref()) {
                                next.push((path, same));
                            }
                        }
                    }
                    (cell, expected) => {
                        for (path, held) in self.load_cell(path, node, cell, at, line)? {
                            next.push((path, both(so_far, equal_words(held, expected))));
                        }
                    }
                }
            }
            work = next;
        }
        out.extend(work);
        Ok(())
    }

    /// What a place holds: the states in which it is one thing, with what it is there.
    pub(crate) fn load<H: Heap>(
        &self,
        path: Path<H>,
        place: &Place,
        line: u32,
    ) -> Result<Vec<(Path<H>, Words)>, Failure> {
        let (node, start, count) = match self.place(&path, place, line)? {
            Where::Variables { start, count } => {
                let words = self.variables(&path.state)[start..start + count].iter().copied();
                let words = words.collect();
                return Ok(vec![(path, words)]);
            }
            Where::Cells { node, start, count } => (node, start, count),
        };
        let of = usize::from(path.state.heap.flags(node).of);
        let mut out: Vec<(Path<H>, Words)> = vec![(path, Words::new())];
        for at in start..start + count {
            let cell = self.model.cells[of][at];
            let mut next = vec![];
            for (path, words) in out {
                for (path, word) in self.load_cell(path, node, cell, at, line)? {
                    let mut words = words.clone();
                    words.push(word);
                    next.push((path, words));
                }
            }
            out = next;
        }
        Ok(out)
    }

    pub(crate) fn load_cell<H: Heap>(
        &self,
        path: Path<H>,
        node: NodeId,
        cell: Cell,
        at: usize,
        line: u32,
    ) -> Result<Vec<(Path<H>, Scalar)>, Failure> {
        let flags = path.state.heap.flags(node);
        let own = self.actor.side() == Side::Reference;
        let word = match cell {
            // Of the cells of a duo-object that are not links the candidate's are kept.
            Cell::Flag(_) | Cell::Lock(_) if own => {
                return Err(self.failure(Cause::Lost(Lost::ReferenceCell), line));
            }
            Cell::Link(link) => return self.load_link(path, node, link, line),
            Cell::Flag(bit) => Scalar::Bool(flags.bools >> bit & 1 == 1),
            Cell::Lock(lock) => Scalar::Lock(flags.locks[usize::from(lock)]),
            Cell::Value(number) => Scalar::ValueOf(node, number),
            Cell::Key if flags.class == Class::None => Scalar::Any,
            Cell::Key => Scalar::Key(flags.class),
            Cell::Opaque => {
                let object = &self.model.program.structs[usize::from(flags.of)];
                let mut words = Vec::new();
                for field in &object.fields {
                    crate::value::words_of(&field.ty, &mut words);
                }
                words.get(at).map_or(Scalar::Any, |ty| crate::evaluate::unknown(ty))
            }
        };
        Ok(split(path, Term::Word(word))
            .into_iter()
            .map(|(path, term)| (path, flat(&term)[0]))
            .collect())
    }

    pub(crate) fn load_link<H: Heap>(
        &self,
        path: Path<H>,
        node: NodeId,
        link: u8,
        line: u32,
    ) -> Result<Vec<(Path<H>, Scalar)>, Failure> {
        let side = self.actor.side();
        if let Some(to) = path.state.heap.definite(side, node, link) {
            let word = to.map_or(Scalar::Null, Scalar::Node);
            return Ok(vec![(path, word)]);
        }
        let loaded = path.state.heap.load(side, node, link);
        let loaded = loaded.map_err(|lost| self.failure(Cause::Lost(lost), line))?;
        let mut out = vec![];
        for (heap, to) in loaded {
            let mut path = Path { state: State { heap, ..path.state.clone() }, ..path.clone() };
            let list = path.state.list(self.model.root);
            if path.state.heap.coerce(list.as_ref()) {
                out.push((path, to.map_or(Scalar::Null, Scalar::Node)));
            }
        }
        Ok(out)
    }

    /// Writes a place; in every state that this can lead to.
    pub(crate) fn store<H: Heap>(
        &self,
        mut path: Path<H>,
        place: &Place,
        words: &[Scalar],
        line: u32,
        out: &mut Paths<H>,
    ) -> Result<(), Failure> {
        let lost = |lost: Lost| self.failure(Cause::Lost(lost), line);
        let (node, start, count) = match self.place(&path, place, line)? {
            Where::Variables { start, .. } => {
                path.visible = true;
                if self.actor.side() == Side::Candidate {
                    let is_root = self
                        .model
                        .root
                        .is_some_and(|(root, _)| (start..start + words.len()).contains(&root));
                    if is_root && !matches!(self.actor, Actor::Init(_)) {
                        return Err(lost(Lost::Root));
                    }
                    // What names a node in a shared variable shows it, its value too.
                    for node in words.iter().filter_map(|word| word.node()) {
                        publish(&mut path.state.heap, node);
                    }
                }
                let variables = self.variables_mut(&mut path.state);
                for (to, word) in variables[start..].iter_mut().zip(words) {
                    *to = match word {
                        // To another thread this would be another argument, another id.
                        Scalar::Argument(_) | Scalar::Me => Scalar::Any,
                        other => *other,
                    };
                }
                out.push(path);
                return Ok(());
            }
            Where::Cells { node, start, count } => (node, start, count),
        };
        let of = usize::from(path.state.heap.flags(node).of);
        let mut paths: Paths<H> = vec![path];
        for (at, word) in (start..start + count).zip(words) {
            let cell = self.model.cells[of][at];
            let mut next = vec![];
            for path in paths {
                self.store_cell(path, node, cell, *word, &mut next).map_err(lost)?;
            }
            paths = next;
        }
        out.extend(paths);
        Ok(())
    }

    pub(crate) fn store_cell<H: Heap>(
        &self,
        mut path: Path<H>,
        node: NodeId,
        cell: Cell,
        word: Scalar,
        out: &mut Paths<H>,
    ) -> Result<(), Lost> {
        let side = self.actor.side();
        let mut flags = path.state.heap.flags(node);
        let private = match self.actor {
            Actor::Thread(thread) => flags.owner == Some(thread),
            Actor::Reference(_) | Actor::Init(_) => false,
        };
        path.visible |= !private;
        match (cell, word) {
            (Cell::Link(link), Scalar::Null | Scalar::Node(_)) => {
                let to = word.node();
                if side == Side::Candidate && flags.reach {
                    return crate::list::write(self.model.root, path, node, link, to, out);
                }
                for mut path in focus_duo(path, node)? {
                    path.state.heap.store(side, node, link, to);
                    if let (Side::Candidate, false, Some(to)) = (side, private, to) {
                        publish(&mut path.state.heap, to);
                    }
                    out.push(path);
                }
                return Ok(());
            }
            (Cell::Flag(bit), Scalar::Bool(truth)) if side == Side::Candidate => {
                flags.bools = flags.bools & !(1 << bit) | u8::from(truth) << bit;
                path.state.heap.set_flags(node, flags);
            }
            (Cell::Opaque, _) => {}
            (_, _) if side == Side::Reference => return Err(Lost::ReferenceCell),
            _ => return Err(Lost::Value),
        }
        out.push(path);
        Ok(())
    }

    pub(crate) fn lock<H: Heap>(
        &self,
        mut path: Path<H>,
        place: &Place,
        line: u32,
    ) -> Result<Paths<H>, Failure> {
        if self.holder(&path, place, line)? != Holder::Free {
            return Ok(vec![]);
        }
        path.visible |= self.shows_lock(&path, place, line)?;
        self.put_holder(&mut path, place, self.actor.holder(), line)?;
        Ok(vec![path])
    }

    pub(crate) fn unlock<H: Heap>(
        &self,
        mut path: Path<H>,
        place: &Place,
        line: u32,
    ) -> Result<Paths<H>, Failure> {
        if self.holder(&path, place, line)? != self.actor.holder() {
            return Err(self.fault(Fault::ForeignUnlock, line));
        }
        path.visible |= self.shows_lock(&path, place, line)?;
        self.put_holder(&mut path, place, Holder::Free, line)?;
        Ok(vec![path])
    }

    /// Whether other threads can notice who holds a lock.
    pub(crate) fn shows_lock<H: Heap>(
        &self,
        path: &Path<H>,
        place: &Place,
        line: u32,
    ) -> Result<bool, Failure> {
        if self.machine.is_some_and(|machine| machine.locks == Locks::Mine) {
            return Ok(false);
        }
        Ok(match self.place(path, place, line)? {
            Where::Variables { .. } => true,
            Where::Cells { node, .. } => path.state.edge.is_some_and(|(before, _)| before == node),
        })
    }

    /// Who holds a lock.
    pub(crate) fn holder<H: Heap>(
        &self,
        path: &Path<H>,
        place: &Place,
        line: u32,
    ) -> Result<Holder, Failure> {
        let lost = |lost: Lost| self.failure(Cause::Lost(lost), line);
        match self.place(path, place, line)? {
            Where::Variables { start, .. } => match self.variables(&path.state)[start] {
                Scalar::Lock(holder) => Ok(holder),
                _ => Err(lost(Lost::Value)),
            },
            Where::Cells { node, start, .. } => {
                let flags = path.state.heap.flags(node);
                match self.model.cells[usize::from(flags.of)][start] {
                    Cell::Lock(lock) if self.actor.side() == Side::Candidate => {
                        Ok(flags.locks[usize::from(lock)])
                    }
                    _ => Err(lost(Lost::ReferenceCell)),
                }
            }
        }
    }

    pub(crate) fn put_holder<H: Heap>(
        &self,
        path: &mut Path<H>,
        place: &Place,
        holder: Holder,
        line: u32,
    ) -> Result<(), Failure> {
        match self.place(path, place, line)? {
            Where::Variables { start, .. } => {
                self.variables_mut(&mut path.state)[start] = Scalar::Lock(holder);
            }
            Where::Cells { node, start, .. } => {
                let mut flags = path.state.heap.flags(node);
                if let Cell::Lock(lock) = self.model.cells[usize::from(flags.of)][start] {
                    flags.locks[usize::from(lock)] = holder;
                }
                path.state.heap.set_flags(node, flags);
            }
        }
        Ok(())
    }

    pub(crate) fn place<H: Heap>(
        &self,
        path: &Path<H>,
        place: &Place,
        line: u32,
    ) -> Result<Where, Failure> {
        match place {
            Place::Shared(variable) => {
                let (starts, variables) = match self.actor.side() {
                    Side::Candidate => (&self.model.shared, &self.model.program.shared[..]),
                    Side::Reference => {
                        (&self.model.reference_shared, self.model.reference_variables())
                    }
                };
                let count = crate::value::width(&variables[*variable].ty);
                Ok(Where::Variables { start: starts[*variable], count })
            }
            Place::Field { object, of, field } => match self.word(path, object, line)? {
                Scalar::Null => Err(self.fault(Fault::Null, line)),
                Scalar::Node(node) => {
                    let ty = &self.model.program.structs[*of].fields[*field].ty;
                    let start = self.model.fields[*of][*field];
                    Ok(Where::Cells { node, start, count: crate::value::width(ty) })
                }
                _ => Err(self.failure(Cause::Lost(Lost::Value), line)),
            },
            Place::SharedElement(..) | Place::FieldElement { .. } => {
                Err(self.failure(Cause::Lost(Lost::Value), line))
            }
        }
    }

    pub(crate) fn variables<'p, H: Heap>(&self, state: &'p State<H>) -> &'p [Scalar] {
        match self.actor.side() {
            Side::Candidate => &state.shared,
            Side::Reference => &state.reference,
        }
    }

    pub(crate) fn variables_mut<'p, H: Heap>(&self, state: &'p mut State<H>) -> &'p mut [Scalar] {
        match self.actor.side() {
            Side::Candidate => &mut state.shared,
            Side::Reference => &mut state.reference,
        }
    }
}
