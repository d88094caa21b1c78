//! States as bytes, one for all states that differ only in names.
//!
//! The names are: which number an object has (garbage has none), which of the interchangeable
//! threads a thread is, and which value a value is. Names are given in the order in which the words
//! are written, so equal bytes mean that a renaming turns one state into the other. Dead locals are
//! not written. The calls that threads have left come first, apart from all else: no step looks at
//! them, and neither does the order of the threads, unless they look the same otherwise.
//!
//! Any order of the threads would be sound; the one used here sorts them by what each looks like
//! from the shared variables, so that states in one orbit rarely get two forms.

mod writer;

use crate::flat::{Asks, Flat, Link, interrupted_of, operation_of};
use crate::layout::{CALLS, Kind, Layout, NODE, STATUS, VARIABLES};
use crate::lines::{CrashesLeft, Image, LineId, Lines, struct_of};
use crate::roles::{Holders, Roles, WordSet};
use smallvec::SmallVec;
use writer::{Names, Out, ValueNames, Writer};

/// After the calls: how many objects there are, and how many bytes come before them.
const HEADER: usize = 4;

/// A renaming of threads and values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Renaming {
    /// The new number of each thread; empty if they keep theirs.
    pub threads: SmallVec<[u8; 8]>,
    /// The new name of each value, from 1 on (0: the value does not occur); empty if they keep
    /// theirs.
    pub values: SmallVec<[u8; 8]>,
}

impl Renaming {
    /// Whether nothing changes.
    pub fn is_identity(&self) -> bool {
        let same = |(old, new): (usize, &u8)| *new as usize == old;
        self.threads.iter().enumerate().all(same)
            && self.values.iter().enumerate().all(|(old, new)| *new as usize == old + 1)
    }
}

/// The words of a region that are live at a node, from its start.
pub(crate) type LiveWords = Vec<(usize, Kind)>;

/// What decides the canonical form.
#[derive(Clone, Debug)]
pub(crate) struct Form {
    /// Whether objects keep what they hold after `free`.
    pub type_stable: bool,
    pub layout: Layout,
    /// For each operation and node, the words written.
    pub live: Vec<Vec<LiveWords>>,
    /// Objects are renamed and garbage is dropped.
    pub heap: bool,
    /// For each thread, the first thread that it may change places with; all different if threads
    /// are told apart.
    pub groups: Vec<usize>,
    /// Whether any two threads may change places.
    pub symmetric: bool,
    /// How many values may be renamed; 0 if they are told apart.
    pub values: usize,
    /// Whether the number of calls left is part of the state.
    pub calls: bool,
    /// Whether any word can name a thread.
    pub tids: bool,
    /// Whether the model links words.
    pub links: bool,
    /// Where persistent memory lies, if there are crashes.
    pub lines: Option<Lines>,
    /// The number of `recover(t)` among the routines, if there is one.
    pub resolve: Option<usize>,
    /// What may still be read through which reference, if fields that are not needed are dropped.
    pub roles: Option<Roles>,
    /// Which words hold references.
    pub holders: Holders,
}

/// Room to work in, so that packing allocates nothing.
#[derive(Default)]
pub(crate) struct Scratch {
    pub names: Vec<u32>,
    order: Vec<u32>,
    /// The keys of all threads, one after the other, and where each starts.
    keys: Vec<u8>,
    starts: SmallVec<[usize; 9]>,
    held: Vec<(usize, u32)>,
    values: Vec<u8>,
    needed: Needed,
    /// Objects of which more is needed than was known.
    grown: Vec<(usize, WordSet)>,
    /// What is being written.
    written: Vec<u8>,
    /// Where the crash part of the bytes that were written last starts.
    pub crash_part: usize,
}

/// For each object, the words that are needed. Empty if all are.
#[derive(Default)]
struct Needed(Vec<WordSet>);

impl Needed {
    /// Whether all words of all objects are needed.
    fn is_all(&self) -> bool {
        self.0.is_empty()
    }

    /// The words of an object that are needed.
    #[inline]
    fn of(&self, object: usize) -> WordSet {
        self.0.get(object).copied().unwrap_or(WordSet::MAX)
    }

    /// What counts of a word of an object: 0 if it is not needed.
    fn shown(&self, object: usize, word: usize, value: i64) -> i64 {
        match self.0.get(object) {
            Some(words) if words.checked_shr(word as u32).unwrap_or(0) & 1 == 0 => 0,
            _ => value,
        }
    }
}

impl Form {
    /// Writes the canonical form of a state; returns the renaming that led to it. Values that the
    /// state does not contain have name 0 in it: the caller gives them names.
    pub fn pack(&self, flat: &Flat, scratch: &mut Scratch, out: &mut Vec<u8>) -> Renaming {
        let threads = self.layout.threads;
        self.find_needed(flat, scratch);
        let mut order: SmallVec<[usize; 8]> = (0..threads).collect();
        if self.symmetric {
            let place = |thread: usize| {
                let region = &flat.words[self.layout.thread(thread)..][..=CALLS];
                (self.groups[thread], region[STATUS], region[NODE], region[CALLS])
            };
            let mut places: SmallVec<[_; 8]> = (0..threads).map(place).collect();
            // Insertion sort: there are few threads.
            for end in 1..threads {
                let mut at = end;
                while at > 0 && places[at - 1] > places[at] {
                    places.swap(at - 1, at);
                    order.swap(at - 1, at);
                    at -= 1;
                }
            }
            // Most threads are told apart by where they are. Idle ones without variables look all
            // the same, unless something names them.
            let alike = |pair: &[(usize, i64, i64, i64)]| {
                let [(one, status, node, _), (other, same, at, _)] = [pair[0], pair[1]];
                let idle = status == 0 && !self.tids && self.layout.variables.is_empty();
                (one, status, node) == (other, same, at) && !idle
            };
            if places.windows(2).any(alike) {
                self.keys(flat, scratch);
                let key = |thread: usize| {
                    &scratch.keys[scratch.starts[thread]..scratch.starts[thread + 1]]
                };
                order.sort_by(|&a, &b| {
                    let [(_, _, _, calls), (_, _, _, others)] = [place(a), place(b)];
                    let front = |thread: usize| {
                        let (group, status, node, _) = place(thread);
                        (group, status, node)
                    };
                    let keys = || key(a).cmp(key(b));
                    front(a).cmp(&front(b)).then_with(keys).then(calls.cmp(&others))
                });
            }
            self.fill_places(&mut order);
        }
        self.write(flat, &order, scratch, out)
    }

    /// Finds out which words of objects are needed (see `roles.rs`): what may be read through a
    /// shared variable, a variable of a thread or a needed field that holds the object.
    fn find_needed(&self, flat: &Flat, scratch: &mut Scratch) {
        let Scratch { needed: Needed(needed), grown, .. } = scratch;
        needed.clear();
        let Some(roles) = &self.roles else { return };
        let layout = &self.layout;
        needed.resize((flat.words.len() - layout.heap) / layout.stride, 0);
        let mut hold = |word: i64, role: usize, grown: &mut Vec<(usize, WordSet)>| {
            let Some(object) = usize::try_from(word - 1).ok() else { return };
            let Some(of) = struct_of(flat.words[layout.object(object)]) else { return };
            let more = roles.read(role, of) & !needed[object];
            if more != 0 {
                needed[object] |= more;
                grown.push((object, more));
            }
        };
        for &(word, role) in &self.holders.shared {
            hold(flat.words[word], role, grown);
        }
        for thread in 0..layout.threads {
            let region = &flat.words[layout.thread(thread)..][..layout.region];
            for &(word, role) in &self.holders.variables {
                hold(region[word], role, grown);
            }
            if let Some((operation, false)) = operation_of(region[STATUS]) {
                for &(word, role) in &self.holders.live[operation][region[NODE] as usize] {
                    hold(region[word], role, grown);
                }
            }
        }
        while let Some((object, more)) = grown.pop() {
            let at = layout.object(object);
            let Some(of) = struct_of(flat.words[at]) else { continue };
            for &(word, role) in &self.holders.fields[of] {
                if more >> word & 1 == 1 {
                    hold(flat.words[at + 1 + word], role, grown);
                }
            }
        }
    }

    /// Empties the words of objects that are not needed.
    pub fn forget_dead_fields(&self, flat: &mut Flat, scratch: &mut Scratch) {
        self.find_needed(flat, scratch);
        let Layout { heap, stride, .. } = self.layout;
        for (object, words) in flat.words[heap..].chunks_mut(stride).enumerate() {
            for (number, word) in words[1..].iter_mut().enumerate() {
                *word = scratch.needed.shown(object, number, *word);
            }
        }
    }

    /// Threads of one group may stand anywhere; the places of each group are filled with its
    /// members in sorted order.
    fn fill_places(&self, order: &mut [usize]) {
        if self.groups.iter().all(|group| *group == 0) {
            return;
        }
        let sorted: SmallVec<[usize; 8]> = SmallVec::from_slice(order);
        for (place, slot) in order.iter_mut().enumerate() {
            let group = self.groups[place];
            let rank = (0..place).filter(|&before| self.groups[before] == group).count();
            let mut members = sorted.iter().filter(|&&thread| self.groups[thread] == group);
            *slot = members.nth(rank).copied().unwrap_or(place);
        }
    }

    /// Writes a state with its threads in a given order.
    pub fn pack_in_order(
        &self,
        flat: &Flat,
        order: &[usize],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Renaming {
        self.find_needed(flat, scratch);
        self.write(flat, order, scratch, out)
    }

    fn write(
        &self,
        flat: &Flat,
        order: &[usize],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Renaming {
        let threads = self.layout.threads;
        let mut position: SmallVec<[u8; 8]> = SmallVec::from_elem(0, threads);
        for (new, &old) in order.iter().enumerate() {
            position[old] = new as u8;
        }
        scratch.crash_part = Writer::write(self, flat, scratch, (order, &position), out);
        let values = SmallVec::from_slice(&scratch.values);
        let moved = position.iter().enumerate().any(|(old, new)| *new as usize != old);
        Renaming { threads: if moved { position } else { SmallVec::new() }, values }
    }

    /// The state that the bytes are the form of.
    pub fn unpack(&self, bytes: &[u8], flat: &mut Flat) {
        let layout = &self.layout;
        let start = self.calls_length(bytes);
        let mut reader = Reader { bytes, at: start + HEADER };
        let objects = usize::from(u16::from_le_bytes([bytes[start], bytes[start + 1]]));
        flat.words.clear();
        flat.words.resize(layout.heap + objects * layout.stride, 0);
        if self.calls {
            let mut calls = Reader { bytes, at: 0 };
            for thread in 0..layout.threads {
                flat.words[layout.thread(thread) + CALLS] = calls.word();
            }
        }
        flat.links.clear();
        flat.images.clear();
        flat.left = CrashesLeft::default();
        for word in &mut flat.words[..layout.shared_words] {
            *word = reader.word();
        }
        for thread in 0..layout.threads {
            let region = layout.thread(thread);
            let status = reader.word();
            flat.words[region + STATUS] = status;
            for at in 0..layout.variable_kinds.len() {
                flat.words[region + VARIABLES + at] = reader.word();
            }
            match operation_of(status) {
                None => match (interrupted_of(status), self.resolve) {
                    (Some((_, Asks::Running)), Some(resolve)) => {
                        let node = reader.word();
                        flat.words[region + NODE] = node;
                        for (word, _) in &self.live[resolve][node as usize] {
                            flat.words[region + word] = reader.word();
                        }
                    }
                    (Some((_, Asks::Done)), Some(resolve)) => {
                        for at in 0..layout.response_kinds[resolve].len() {
                            flat.words[region + layout.locals_at + at] = reader.word();
                        }
                    }
                    _ => {}
                },
                Some((operation, false)) => {
                    let node = reader.word();
                    flat.words[region + NODE] = node;
                    for (word, _) in &self.live[operation][node as usize] {
                        flat.words[region + word] = reader.word();
                    }
                }
                Some((operation, true)) => {
                    for at in 0..layout.response_kinds[operation].len() {
                        flat.words[region + layout.locals_at + at] = reader.word();
                    }
                }
            }
        }
        for object in 0..objects {
            self.read_object(&mut reader, flat, object);
        }
        if self.links {
            for _ in 0..reader.word() {
                let mut word = || reader.word() as usize;
                let (thread, at, width, element) = (word(), word(), word(), word() != 0);
                flat.links.push(Link { thread, at, width, element });
            }
        }
        if self.lines.is_some() {
            self.read_crash_part(&mut reader, flat, objects);
        }
    }

    fn read_object(&self, reader: &mut Reader<'_>, flat: &mut Flat, object: usize) {
        let at = self.layout.object(object);
        let head = reader.word();
        flat.words[at] = head;
        if let Some(kinds) = self.fields(head) {
            for word in &mut flat.words[at + 1..][..kinds.len()] {
                *word = reader.word();
            }
        }
    }

    /// Reads what [`Writer::crash_part`] wrote.
    fn read_crash_part(&self, reader: &mut Reader<'_>, flat: &mut Flat, objects: usize) {
        let mut left = || u8::try_from(reader.word()).unwrap_or(0);
        flat.left = CrashesLeft { system: left(), thread: left() };
        let all = objects + usize::from(reader.u16());
        flat.words.resize(self.layout.heap + all * self.layout.stride, 0);
        let mut next = objects;
        while reader.at < reader.bytes.len() {
            match reader.image() {
                Some(image) => flat.images.push(image),
                None => {
                    self.read_object(reader, flat, next);
                    next += 1;
                }
            }
        }
    }

    /// The kinds of the words of an object that are written, by its head. Dead objects have none,
    /// unless their memory may be met again, after a crash or because it is type-stable.
    pub fn fields(&self, head: i64) -> Option<&[Kind]> {
        self.struct_kept(head).map(|of| &self.layout.field_kinds[of][..])
    }

    /// The struct of an object whose words are written.
    pub fn struct_kept(&self, head: i64) -> Option<usize> {
        let of = struct_of(head)?;
        let kept = head > 0
            || self.type_stable
            || self.lines.as_ref().is_some_and(|lines| lines.is_persistent(of));
        kept.then_some(of)
    }

    fn is_persistent(&self, flat: &Flat, object: usize) -> bool {
        let head = flat.words[self.layout.object(object)];
        let of = struct_of(head);
        self.lines.as_ref().zip(of).is_some_and(|(lines, of)| lines.is_persistent(of))
    }

    /// The images of an object, or of the shared variables.
    fn images_of<'a>(
        flat: &'a Flat,
        object: Option<usize>,
    ) -> impl Iterator<Item = &'a Image> + use<'a> {
        flat.images.iter().filter(move |image| match (image.line, object) {
            (LineId::Shared(_), None) => true,
            (LineId::Object(of, _), Some(object)) => of as usize == object,
            _ => false,
        })
    }

    /// The kinds of the words of an image.
    fn image_kinds(&self, flat: &Flat, image: &Image) -> SmallVec<[Kind; 4]> {
        let Some(lines) = &self.lines else { return SmallVec::new() };
        let (_, words) = lines.words(&self.layout, flat, image.line);
        let kind = |word: &usize| match image.line {
            LineId::Shared(_) => self.layout.shared_kinds[*word],
            LineId::Object(object, _) => {
                let head = flat.words[self.layout.object(object as usize)];
                let of = struct_of(head).unwrap_or(0);
                self.layout.field_kinds[of][*word - 1]
            }
        };
        words.iter().map(kind).collect()
    }

    /// The words of images, with their kinds, and the object that the image is of.
    pub fn image_words(&self, flat: &Flat, mut visit: impl FnMut(i64, Kind, Option<usize>)) {
        for image in &flat.images {
            let object = match image.line {
                LineId::Shared(_) => None,
                LineId::Object(object, _) => Some(object as usize),
            };
            for (word, kind) in image.words.iter().zip(self.image_kinds(flat, image)) {
                visit(*word, kind, object);
            }
        }
    }

    /// The largest renamable value in a state; 0 if there is none.
    pub fn largest(&self, flat: &Flat) -> usize {
        if self.values == 0 {
            return 0;
        }
        let layout = &self.layout;
        let mut largest = 0;
        let mut look = |word: i64, kind: Kind| {
            if kind == Kind::Data && (1..=self.values as i64).contains(&word) {
                largest = largest.max(word as usize);
            }
        };
        for (word, kind) in flat.words.iter().zip(&layout.shared_kinds) {
            look(*word, *kind);
        }
        for thread in 0..layout.threads {
            self.thread_words(flat, thread, &mut look);
        }
        for object in flat.words[layout.heap..].chunks(layout.stride) {
            if let Some(kinds) = self.fields(object[0]) {
                for (word, kind) in object[1..].iter().zip(kinds) {
                    look(*word, *kind);
                }
            }
        }
        if !flat.images.is_empty() {
            self.image_words(flat, |word, kind, _| look(word, kind));
        }
        largest
    }

    /// What every thread looks like: its own words, with objects and values named as the shared
    /// variables reach them, then as the thread does, and the shared words that hold its name.
    fn keys(&self, flat: &Flat, scratch: &mut Scratch) {
        let layout = &self.layout;
        let objects = (flat.words.len() - layout.heap) / layout.stride;
        let Scratch { names, order, keys, starts, held, needed, .. } = scratch;
        let mut objects = Names::new(names, order, objects);
        held.clear();
        let mut names: SmallVec<[u8; 8]> = SmallVec::from_elem(0, self.values);
        let mut values = ValueNames { names: &mut names, known: 0 };
        let mut place = 0;
        let mut look = |word: i64, kind: Kind, objects: &mut Names<'_>| {
            place += 1;
            match kind {
                Kind::Plain => {}
                Kind::Ref => _ = objects.of(word),
                Kind::Tid if word > 0 => held.push((word as usize - 1, place)),
                Kind::Tid => {}
                Kind::Data => _ = values.of(word),
            }
        };
        for (word, kind) in flat.words.iter().zip(&layout.shared_kinds) {
            look(*word, *kind, &mut objects);
        }
        let mut next = 0;
        while let Some(object) = objects.at(next) {
            let at = layout.object(object);
            if let Some(kinds) = self.fields(flat.words[at]) {
                for (number, kind) in kinds.iter().enumerate() {
                    let word = needed.shown(object, number, flat.words[at + 1 + number]);
                    look(word, *kind, &mut objects);
                }
            }
            next += 1;
        }
        let (reached, known, named) = (objects.count, values.known, values.names);
        let mut out = Out::new(keys, (flat.words.len() + held.len()) * layout.threads);
        starts.clear();
        let mut own: SmallVec<[u8; 8]> = SmallVec::new();
        for thread in 0..layout.threads {
            starts.push(out.len());
            own.clear();
            own.extend_from_slice(named);
            let mut values = ValueNames { names: &mut own, known };
            let mut write = |word: i64, kind: Kind, objects: &mut Names<'_>, out: &mut Out<'_>| {
                out.push(match kind {
                    Kind::Plain => word,
                    Kind::Ref => objects.of(word),
                    Kind::Tid if word == 0 => 0,
                    Kind::Tid => 1 + i64::from(word as usize - 1 != thread),
                    Kind::Data => values.of(word),
                });
            };
            self.thread_words(flat, thread, |word, kind| write(word, kind, &mut objects, &mut out));
            let mut next = reached;
            while let Some(object) = objects.at(next) {
                let at = layout.object(object);
                let head = flat.words[at];
                write(head, Kind::Plain, &mut objects, &mut out);
                if let Some(kinds) = self.fields(head) {
                    for (number, kind) in kinds.iter().enumerate() {
                        let word = needed.shown(object, number, flat.words[at + 1 + number]);
                        write(word, *kind, &mut objects, &mut out);
                    }
                }
                next += 1;
            }
            for (_, place) in held.iter().filter(|(holder, _)| *holder == thread) {
                out.push(i64::from(*place));
            }
            objects.keep(reached);
        }
        starts.push(out.len());
    }

    /// Where the calls of a packed state end, and where what threads do.
    pub fn parts(&self, bytes: &[u8]) -> (usize, usize) {
        let start = self.calls_length(bytes);
        let front = usize::from(u16::from_le_bytes([bytes[start + 2], bytes[start + 3]]));
        (start, start + HEADER + front)
    }

    /// How many bytes of a packed state, from its start, say how many calls each thread has left.
    fn calls_length(&self, bytes: &[u8]) -> usize {
        let mut reader = Reader { bytes, at: 0 };
        if self.calls {
            for _ in 0..self.layout.threads {
                reader.word();
            }
        }
        reader.at
    }

    /// The references among the words of a thread that are written.
    #[inline]
    pub fn thread_references(&self, flat: &Flat, thread: usize, mut visit: impl FnMut(i64)) {
        let region = &flat.words[self.layout.thread(thread)..][..self.layout.region];
        match operation_of(region[STATUS]) {
            Some((operation, false)) => {
                let live = &self.holders.live[operation][region[NODE] as usize];
                for (word, _) in self.holders.variables.iter().chain(live) {
                    visit(region[*word]);
                }
            }
            _ => self.thread_words(flat, thread, |word, kind| {
                if kind == Kind::Ref {
                    visit(word);
                }
            }),
        }
    }

    /// The words of a thread that are written, with their kinds; not the calls that it has left.
    #[inline]
    pub fn thread_words(&self, flat: &Flat, thread: usize, mut visit: impl FnMut(i64, Kind)) {
        let layout = &self.layout;
        let region = &flat.words[layout.thread(thread)..][..layout.region];
        visit(region[STATUS], Kind::Plain);
        for (word, kind) in region[VARIABLES..].iter().zip(&layout.variable_kinds) {
            visit(*word, *kind);
        }
        match operation_of(region[STATUS]) {
            None => match (interrupted_of(region[STATUS]), self.resolve) {
                (Some((_, Asks::Running)), Some(resolve)) => {
                    visit(region[NODE], Kind::Plain);
                    for (word, kind) in &self.live[resolve][region[NODE] as usize] {
                        visit(region[*word], *kind);
                    }
                }
                (Some((_, Asks::Done)), Some(resolve)) => {
                    let kinds = &layout.response_kinds[resolve];
                    for (word, kind) in region[layout.locals_at..].iter().zip(kinds) {
                        visit(*word, *kind);
                    }
                }
                _ => {}
            },
            Some((operation, false)) => {
                visit(region[NODE], Kind::Plain);
                for (word, kind) in &self.live[operation][region[NODE] as usize] {
                    visit(region[*word], *kind);
                }
            }
            Some((operation, true)) => {
                let kinds = &layout.response_kinds[operation];
                for (word, kind) in region[layout.locals_at..].iter().zip(kinds) {
                    visit(*word, *kind);
                }
            }
        }
    }
}

/// Appends a word: small ones, of either sign, take one byte.
#[inline]
fn push(out: &mut Vec<u8>, word: i64) {
    let rest = ((word << 1) ^ (word >> 63)) as u64;
    match u8::try_from(rest) {
        Ok(byte @ ..0x80) => out.push(byte),
        _ => push_long(out, rest),
    }
}

#[cold]
fn push_long(out: &mut Vec<u8>, mut rest: u64) {
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// Whether each of some words, as they are written, is at least the other.
pub(crate) fn at_least(more: &[u8], less: &[u8]) -> bool {
    let (mut more, mut less) = (Reader { bytes: more, at: 0 }, Reader { bytes: less, at: 0 });
    while more.at < more.bytes.len() && less.at < less.bytes.len() {
        if more.word() < less.word() {
            return false;
        }
    }
    true
}

pub(crate) struct Reader<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl Reader<'_> {
    /// The next image of a crash part; `None` if an object comes instead.
    pub fn image(&mut self) -> Option<Image> {
        let owner = u32::try_from(self.word()).ok()?.checked_sub(1)?;
        let number = self.word() as u32;
        let line = match owner.checked_sub(1) {
            None => LineId::Shared(number),
            Some(object) => LineId::Object(object, number),
        };
        let flushed = self.word() as u64;
        let count = self.word();
        let words = (0..count).map(|_| self.word()).collect();
        Some(Image { line, flushed, words })
    }

    pub fn u16(&mut self) -> u16 {
        self.at += 2;
        u16::from_le_bytes([self.bytes[self.at - 2], self.bytes[self.at - 1]])
    }

    #[inline]
    pub fn word(&mut self) -> i64 {
        let byte = self.bytes[self.at];
        self.at += 1;
        let rest = if byte < 0x80 { u64::from(byte) } else { self.long(byte) };
        (rest >> 1) as i64 ^ -((rest & 1) as i64)
    }

    /// The rest of a word that takes several bytes.
    #[cold]
    fn long(&mut self, first: u8) -> u64 {
        let (mut rest, mut shift) = (u64::from(first & 0x7f), 7);
        loop {
            let byte = self.bytes[self.at];
            self.at += 1;
            rest |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return rest;
            }
            shift += 7;
        }
    }
}
