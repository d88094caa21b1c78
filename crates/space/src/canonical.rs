//! States as bytes, one for all states that differ only in names.
//!
//! The names are: which number an object has (garbage has none), which of the interchangeable
//! threads a thread is, and which value a value is. Names are given in the order in which words are
//! met, so equal bytes mean that a renaming turns one state into the other. Dead locals are not
//! written. The bytes are, one part after the other:
//!
//! - the calls that threads have left: no step looks at them, and neither does the order of the
//!   threads, unless they look the same otherwise;
//! - the *thread part*: how many objects only threads reach, its length, the words of the threads,
//!   those objects;
//! - the *shared part*: how many objects the shared variables reach, how many values have names in
//!   it, the shared variables, those objects;
//! - links and the crash part, which few models have.
//!
//! Names are given in the shared part first: so it does not depend on what threads do, and a step
//! that leaves all of it as it was leaves its bytes as they were ([`Before`]).
//!
//! Any order of the threads would be sound; the one used here (`order.rs`) sorts them by what each
//! looks like from the shared variables, so that states in one orbit rarely get two forms.

mod before;
mod needed;
mod order;
mod shown;
mod writer;

use crate::flat::{Flat, Link};
use crate::layout::{CALLS, Kind, Layout, NODE, STATUS};
use crate::lines::{CrashesLeft, Image, LineId, Lines, struct_of};
use crate::roles::{Holders, Roles, WordSet};
pub use before::Before;
pub(crate) use before::{Kept, Origin};
use needed::Needed;
use order::Order;
use shown::Doing;
pub(crate) use shown::Shown;
use smallvec::SmallVec;
use writer::SharedPart;

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
    /// For each operation and node, the locals that count.
    pub live: Vec<Vec<LiveWords>>,
    /// What is written of a thread.
    pub shown: Shown,
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
    /// What may still be read through which reference, if fields that are not needed are dropped,
    /// and which words hold references through which something may be read.
    pub roles: Option<(Roles, Holders)>,
    /// Which words hold references.
    pub holders: Holders,
    /// Whether all objects have as many words.
    pub is_even: bool,
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

impl Scratch {
    /// For each object of the state that was looked at last, the words that are needed.
    pub fn needed(&self) -> &[WordSet] {
        &self.needed.0
    }
}

impl Form {
    /// Writes the canonical form of a state; returns the renaming that led to it. Values that the
    /// state does not contain have name 0 in it: the caller gives them names.
    ///
    /// If it comes of a state of which so much is known, what did not change is not looked at.
    pub fn pack(
        &self,
        flat: &Flat,
        before: Option<Before<'_>>,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Renaming {
        let shared = self.name_shared(flat, before, scratch);
        let order = self.order(flat, &shared, scratch);
        self.write(flat, &shared, &order, scratch, out)
    }

    /// Writes a state with its threads in a given order.
    pub fn pack_in_order(
        &self,
        flat: &Flat,
        order: &[usize],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Renaming {
        let shared = self.name_shared(flat, None, scratch);
        let order: Order = order.iter().map(|thread| *thread as u8).collect();
        self.write(flat, &shared, &order, scratch, out)
    }

    fn write(
        &self,
        flat: &Flat,
        shared: &SharedPart<'_>,
        order: &[u8],
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> Renaming {
        let mut position: SmallVec<[u8; 8]> = SmallVec::new();
        if (0..).zip(order).any(|(new, old)| *old != new) {
            position.resize(self.layout.threads, 0);
            for (new, &old) in (0..).zip(order) {
                position[usize::from(old)] = new;
            }
        }
        scratch.crash_part = self.write_parts(flat, shared, (order, &position), scratch, out);
        Renaming { threads: position, values: SmallVec::from_slice(&scratch.values) }
    }

    /// The state that the bytes are the form of.
    pub fn unpack(&self, bytes: &[u8], flat: &mut Flat) -> Parts {
        let layout = &self.layout;
        let parts = self.parts_of(bytes);
        flat.words.clear();
        flat.words.resize(layout.object(parts.reached + parts.own), 0);
        if self.calls {
            let mut calls = Reader { bytes, at: 0 };
            for thread in 0..layout.threads {
                flat.words[layout.thread(thread) + CALLS] = calls.word();
            }
        }
        flat.links.clear();
        flat.images.clear();
        flat.left = CrashesLeft::default();
        let mut reader = Reader { bytes: &bytes[..parts.shared], at: parts.threads };
        for thread in 0..layout.threads {
            self.read_thread(&mut reader, flat, thread);
        }
        self.read_objects(&mut reader, flat, parts.reached, parts.own);
        let mut reader = Reader { bytes, at: parts.words };
        for word in &mut flat.words[..layout.shared_words] {
            *word = reader.word();
        }
        self.read_objects(&mut reader, flat, 0, parts.reached);
        if self.links {
            for _ in 0..reader.word() {
                let mut word = || reader.word() as usize;
                let (thread, at, width, element) = (word(), word(), word(), word() != 0);
                flat.links.push(Link { thread, at, width, element });
            }
        }
        if self.lines.is_some() {
            self.read_crash_part(&mut reader, flat, parts.reached + parts.own);
        }
        parts
    }

    fn read_thread(&self, reader: &mut Reader<'_>, flat: &mut Flat, thread: usize) {
        let layout = &self.layout;
        let region = &mut flat.words[layout.thread(thread)..][..layout.region];
        region[STATUS] = reader.word();
        let doing = self.doing(region[STATUS]);
        let mut first = 0;
        if let Doing::Running(_) = doing {
            region[NODE] = reader.word();
            first = 1;
        }
        for (word, _) in &self.shown.words(doing, region[NODE])[first..] {
            region[*word] = reader.word();
        }
    }

    /// Reads so many objects, the first of which has this number.
    fn read_objects(&self, reader: &mut Reader<'_>, flat: &mut Flat, first: usize, count: usize) {
        let words = &mut flat.words[self.layout.object(first)..];
        let words = &mut words[..count * self.layout.stride];
        // Mostly all objects are of one struct and all words are small: then all are read alike.
        let bytes = &reader.bytes[reader.at..];
        if self.is_even && bytes.len() == words.len() && bytes.iter().all(|byte| *byte < 0x80) {
            for (word, byte) in words.iter_mut().zip(bytes) {
                *word = small(*byte);
            }
            reader.at += bytes.len();
            return;
        }
        for object in words.chunks_exact_mut(self.layout.stride) {
            self.read_object(reader, object);
        }
    }

    fn read_object(&self, reader: &mut Reader<'_>, object: &mut [i64]) {
        let head = reader.word();
        object[0] = head;
        let fields = self.fields(head).map_or(0, <[Kind]>::len);
        for word in &mut object[1..=fields] {
            *word = reader.word();
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
                    let at = self.layout.object(next);
                    self.read_object(reader, &mut flat.words[at..][..self.layout.stride]);
                    next += 1;
                }
            }
        }
    }

    /// The kinds of the words of an object that are written, by its head. Dead objects have none,
    /// unless their memory may be met again, after a crash or because it is type-stable.
    #[inline]
    pub fn fields(&self, head: i64) -> Option<&[Kind]> {
        self.struct_kept(head).map(|of| &self.layout.field_kinds[of][..])
    }

    /// The struct of an object whose words are written.
    #[inline]
    pub fn struct_kept(&self, head: i64) -> Option<usize> {
        match usize::try_from(head) {
            Ok(alive @ 1..) => Some(alive - 1),
            _ => self.struct_of_dead(head),
        }
    }

    #[cold]
    fn struct_of_dead(&self, head: i64) -> Option<usize> {
        let of = struct_of(head)?;
        let kept =
            self.type_stable || self.lines.as_ref().is_some_and(|lines| lines.is_persistent(of));
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

    /// The largest renamable value in a state that was read from bytes; 0 if there is none.
    pub fn largest(&self, flat: &Flat, parts: &Parts) -> usize {
        if self.values == 0 {
            return 0;
        }
        let layout = &self.layout;
        // Those in the shared part are the first ones.
        let mut largest = usize::from(parts.values);
        let mut look = |word: i64, kind: Kind| {
            if kind == Kind::Data && (1..=self.values as i64).contains(&word) {
                largest = largest.max(word as usize);
            }
        };
        for thread in 0..layout.threads {
            self.thread_words(flat, thread, &mut look);
        }
        for object in flat.words[layout.object(parts.reached)..].chunks(layout.stride) {
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

    /// Where the calls of a packed state end, and where its thread part.
    pub fn parts(&self, bytes: &[u8]) -> (usize, usize) {
        let mut reader = Reader { bytes, at: self.calls_length(bytes) };
        let start = reader.at;
        reader.count();
        let length = reader.count();
        (start, reader.at + length)
    }

    /// Where the parts of a packed state are.
    fn parts_of(&self, bytes: &[u8]) -> Parts {
        let mut reader = Reader { bytes, at: self.calls_length(bytes) };
        let (own, length) = (reader.count(), reader.count());
        let threads = reader.at;
        let shared = threads + length;
        reader.at = shared;
        let reached = reader.count();
        let (mut values, mut words) = (0, reader.at);
        if self.values > 0 {
            values = bytes[words];
            words += 1;
        }
        Parts { own, threads, shared, reached, values, words }
    }

    /// How many bytes of a packed state, from its start, say how many calls each thread has left.
    #[inline]
    fn calls_length(&self, bytes: &[u8]) -> usize {
        if !self.calls {
            return 0;
        }
        let threads = self.layout.threads;
        if bytes.iter().take(threads).all(|byte| *byte < 0x80) {
            return threads;
        }
        let mut reader = Reader { bytes, at: 0 };
        (0..threads).for_each(|_| _ = reader.word());
        reader.at
    }
}

/// Where the parts of a packed state are, and what they begin with.
pub(crate) struct Parts {
    /// How many objects only threads reach.
    own: usize,
    /// Where the words of the threads start.
    threads: usize,
    /// Where the shared part starts.
    shared: usize,
    /// How many objects the shared variables reach.
    reached: usize,
    /// How many values have names in the shared part.
    values: u8,
    /// Where the words of the shared variables start.
    words: usize,
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

/// Bytes from this one on are the start of something longer.
const LONG: u8 = 0x80;

/// Appends a count: small ones take one byte.
fn push_count(out: &mut Vec<u8>, count: usize) {
    match u8::try_from(count) {
        Ok(byte @ ..LONG) => out.push(byte),
        _ => push_long(out, count as u64),
    }
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

/// The words that take one byte, by the byte.
static SMALL: [i64; LONG as usize] = {
    let mut words = [0; LONG as usize];
    let mut byte = 0;
    while byte < words.len() {
        words[byte] = (byte as i64 >> 1) ^ -(byte as i64 & 1);
        byte += 1;
    }
    words
};

/// A word that takes one byte.
#[inline]
fn small(byte: u8) -> i64 {
    SMALL[usize::from(byte % LONG)]
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

    /// A count, as [`push_count`] writes it.
    #[inline]
    fn count(&mut self) -> usize {
        let byte = self.bytes[self.at];
        self.at += 1;
        if byte < LONG {
            return usize::from(byte);
        }
        self.long(byte) as usize
    }

    #[inline]
    pub fn word(&mut self) -> i64 {
        let byte = self.bytes[self.at];
        self.at += 1;
        if byte < 0x80 {
            return small(byte);
        }
        let rest = self.long(byte);
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
