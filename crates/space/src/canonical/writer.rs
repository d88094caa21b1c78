//! Writing a state: names are given to objects and values in the order in which they are met.

use super::before::{Before, Origin};
use super::needed::Needed;
use super::{Form, LONG, Scratch, push, push_count};
use crate::flat::Flat;
use crate::layout::{CALLS, Kind};
use crate::lines::{Image, LineId};
use smallvec::SmallVec;

/// Bytes that are written into memory that is there already: a byte in the vector after the other.
pub(super) struct Out<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl<'a> Out<'a> {
    /// Room for so many words.
    pub fn new(bytes: &'a mut Vec<u8>, words: usize) -> Out<'a> {
        Out::resume(bytes, 0, words)
    }

    /// Room for so many words after the first so many bytes.
    pub fn resume(bytes: &'a mut Vec<u8>, at: usize, words: usize) -> Out<'a> {
        let most = at + (words + HEADER) * LONGEST;
        if bytes.len() < most {
            bytes.resize(most, 0);
        }
        Out { bytes, at }
    }

    /// Appends a word: small ones, of either sign, take one byte.
    #[inline(always)]
    pub fn push(&mut self, word: i64) {
        let rest = ((word << 1) ^ (word >> 63)) as u64;
        if rest < 0x80 {
            self.bytes[self.at] = rest as u8;
            self.at += 1;
        } else {
            self.at = push_long(self.bytes, self.at, rest);
        }
    }

    /// Leaves room for so many bytes; returns where.
    #[inline(always)]
    fn skip(&mut self, count: usize) -> usize {
        self.at += count;
        self.at - count
    }

    /// Puts two counts in a place that is too short for them.
    #[cold]
    fn put_header(&mut self, place: usize, own: usize, length: usize) {
        let mut counts = Vec::new();
        push_count(&mut counts, own);
        push_count(&mut counts, length);
        let more = counts.len() - HEADER;
        self.bytes.copy_within(place + HEADER..self.at, place + counts.len());
        self.bytes[place..place + counts.len()].copy_from_slice(&counts);
        self.at += more;
    }

    /// What was written.
    pub fn written(&self) -> &[u8] {
        &self.bytes[..self.at]
    }

    pub fn len(&self) -> usize {
        self.at
    }
}

/// A word takes at most so many bytes.
const LONGEST: usize = 10;

/// How many bytes the thread part begins with, if both of its counts are small.
const HEADER: usize = 2;

#[cold]
fn push_long(out: &mut [u8], mut at: usize, mut rest: u64) -> usize {
    while rest >= 0x80 {
        out[at] = rest as u8 | 0x80;
        at += 1;
        rest >>= 7;
    }
    out[at] = rest as u8;
    at + 1
}

/// Names that are given to objects in the order in which they are met.
pub(super) struct Names<'a> {
    /// The first so many objects have their numbers as names, and are not in `names` and `order`.
    same: i64,
    /// The name of each object; 0 if it has none.
    pub names: &'a mut [u32],
    /// The objects that have names, in their order.
    pub order: &'a mut [u32],
    pub count: usize,
}

impl<'a> Names<'a> {
    /// No names, for so many objects.
    pub fn new(names: &'a mut Vec<u32>, order: &'a mut Vec<u32>, objects: usize) -> Names<'a> {
        names.clear();
        names.resize(objects, 0);
        if order.len() < objects {
            order.resize(objects, 0);
        }
        Names { same: 0, names, order, count: 0 }
    }

    /// So many objects have names.
    pub fn resume(names: &'a mut [u32], order: &'a mut [u32], named: Named) -> Names<'a> {
        Names { same: named.same, names, order, count: named.objects }
    }

    /// The name of what a word refers to, which is given one if it has none.
    #[inline(always)]
    pub fn of(&mut self, word: i64) -> i64 {
        if word <= self.same {
            return word;
        }
        let name = &mut self.names[word as usize - 1];
        if *name == 0 {
            self.order[self.count] = word as u32 - 1;
            self.count += 1;
            *name = self.count as u32;
        }
        i64::from(*name)
    }

    /// The object with this place in the order.
    #[inline(always)]
    pub fn at(&self, place: usize) -> Option<usize> {
        (place < self.count).then(|| self.order[place] as usize)
    }

    /// Takes the names back that were given after the first so many.
    pub fn keep(&mut self, count: usize) {
        for &object in &self.order[count..self.count] {
            self.names[object as usize] = 0;
        }
        self.count = count;
    }
}

/// Names that are given to values in the order in which they are met.
pub(super) struct ValueNames<'a> {
    pub names: &'a mut [u8],
    pub known: u8,
}

impl ValueNames<'_> {
    /// A value, by its name if it may be renamed.
    #[inline(always)]
    pub fn of(&mut self, word: i64) -> i64 {
        let place = (word as u64).wrapping_sub(1);
        match usize::try_from(place).ok().and_then(|place| self.names.get_mut(place)) {
            None => word,
            Some(name) => {
                if *name == 0 {
                    self.known += 1;
                    *name = self.known;
                }
                i64::from(*name)
            }
        }
    }
}

/// How many objects and values have names.
#[derive(Clone, Copy, Default)]
pub(super) struct Named {
    pub objects: usize,
    pub values: u8,
    /// How many of the objects have their numbers as names: the first ones, or none.
    same: i64,
}

/// The shared part of a state, which has its names.
pub(super) struct SharedPart<'a> {
    pub named: Named,
    /// Its bytes, if they are known; otherwise its words are the first so many bytes that are
    /// written.
    known: Option<&'a [u8]>,
    end: usize,
}

/// A state that is being written, with the names given so far.
///
/// What is done for each word is inlined, and the writer is never lent to what is not: so its parts
/// can be kept in registers.
pub(super) struct Writer<'a> {
    form: &'a Form,
    flat: &'a Flat,
    objects: Names<'a>,
    needed: &'a Needed,
    position: &'a [u8],
    values: ValueNames<'a>,
    out: Out<'a>,
}

impl Form {
    /// Gives names to what the shared variables reach, and finds out which words are needed.
    pub(super) fn name_shared<'a>(
        &self,
        flat: &Flat,
        before: Option<Before<'a>>,
        scratch: &mut Scratch,
    ) -> SharedPart<'a> {
        let count = self.layout.objects(flat.words.len());
        let Some(before) = before else {
            self.find_needed(flat, None, scratch);
            return self.name_anew(flat, count, scratch);
        };
        if !before.is_kept(self, flat, scratch) {
            return self.name_anew(flat, count, scratch);
        }
        let Scratch { names, order, values, .. } = scratch;
        let Origin { reached, values: valued, shared, .. } = *before.origin;
        let mut named = Named { objects: reached, values: valued, same: 0 };
        Names::new(names, order, count);
        if self.tids {
            // They are looked at one by one.
            for (name, (of, object)) in (0..).zip(names.iter_mut().zip(order)).take(named.objects) {
                (*of, *object) = (name + 1, name);
            }
        } else {
            named.same = named.objects as i64;
        }
        values.clear();
        values.resize(self.values, 0);
        for (name, of) in (1..=named.values).zip(values) {
            *of = name;
        }
        SharedPart { named, known: Some(shared), end: 0 }
    }

    fn name_anew<'a>(&self, flat: &Flat, count: usize, scratch: &mut Scratch) -> SharedPart<'a> {
        let Scratch { names, order, values, .. } = scratch;
        let mut objects = Names::new(names, order, count);
        if !self.heap {
            (1..=count).for_each(|object| _ = objects.of(object as i64));
        }
        let objects = objects.count;
        values.clear();
        values.resize(self.values, 0);
        self.write_shared(flat, Named { objects, ..Named::default() }, &[], scratch)
    }

    /// Writes the words of the shared part, at the start.
    fn write_shared<'a>(
        &self,
        flat: &Flat,
        named: Named,
        position: &[u8],
        scratch: &mut Scratch,
    ) -> SharedPart<'a> {
        let mut writer = Writer::resume(self, flat, named, (position, 0), scratch);
        for (word, kind) in flat.words.iter().zip(&self.layout.shared_kinds) {
            writer.word(*word, *kind);
        }
        writer.objects_from(0);
        SharedPart { named: writer.named(), known: None, end: writer.out.at }
    }

    /// Writes a state whose shared part has its names; returns where its crash part starts.
    pub(super) fn write_parts(
        &self,
        flat: &Flat,
        shared: &SharedPart<'_>,
        (threads, position): (&[u8], &[u8]),
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) -> usize {
        // Its words name threads by their new places, if they have some.
        let with_places = (self.tids && !position.is_empty())
            .then(|| self.write_shared(flat, shared.named, position, scratch));
        let SharedPart { named, known, end: start } = *with_places.as_ref().unwrap_or(shared);
        let mut writer = Writer::resume(self, flat, named, (position, start), scratch);
        if self.calls {
            for &thread in threads {
                writer.out.push(flat.words[self.layout.thread(usize::from(thread)) + CALLS]);
            }
        }
        let header = writer.out.skip(HEADER);
        for &thread in threads {
            self.thread_words(flat, usize::from(thread), |word, kind| writer.word(word, kind));
        }
        writer.objects_from(named.objects);
        let (own, length) = (writer.objects.count - named.objects, writer.out.at - header - HEADER);
        match (u8::try_from(own), u8::try_from(length)) {
            (Ok(own @ ..LONG), Ok(length @ ..LONG)) => {
                writer.out.bytes[header..header + HEADER].copy_from_slice(&[own, length]);
            }
            _ => writer.out.put_header(header, own, length),
        }
        out.clear();
        out.extend_from_slice(&writer.out.bytes[start..writer.out.at]);
        match known {
            Some(bytes) => out.extend_from_slice(bytes),
            None => {
                push_count(out, named.objects);
                if self.values > 0 {
                    out.push(named.values);
                }
                out.extend_from_slice(&writer.out.bytes[..start]);
            }
        }
        match self.links || self.lines.is_some() {
            true => writer.rest(out),
            false => out.len(),
        }
    }
}

impl<'a> Writer<'a> {
    /// A writer that goes on where so much has a name and so many bytes are written, with the
    /// threads at these places.
    #[inline(always)]
    fn resume(
        form: &'a Form,
        flat: &'a Flat,
        named: Named,
        (position, at): (&'a [u8], usize),
        scratch: &'a mut Scratch,
    ) -> Writer<'a> {
        let Scratch { names, order, needed, values, written, .. } = scratch;
        let objects = Names::resume(names, order, named);
        let values = ValueNames { names: values, known: named.values };
        let out = Out::resume(written, at, flat.words.len() + form.layout.threads);
        Writer { form, flat, objects, needed, position, values, out }
    }

    fn named(&self) -> Named {
        Named { objects: self.objects.count, values: self.values.known, same: self.objects.same }
    }

    /// What few models have. The writer is given away: see [`Writer`].
    #[cold]
    fn rest(mut self, out: &mut Vec<u8>) -> usize {
        if self.form.links {
            self.links(out);
        }
        let crash_part = out.len();
        if self.form.lines.is_some() {
            self.crash_part(out);
        }
        crash_part
    }

    /// Writes the objects from this place of their order on, and those that are met then.
    #[inline(always)]
    fn objects_from(&mut self, place: usize) {
        let mut next = place;
        while let Some(object) = self.objects.at(next) {
            self.object(object);
            next += 1;
        }
    }

    /// Writes an object.
    #[inline(always)]
    fn object(&mut self, object: usize) {
        let (form, flat) = (self.form, self.flat);
        let at = form.layout.object(object);
        let (head, words) = (flat.words[at], &flat.words[at + 1..]);
        self.out.push(head);
        let Some(kinds) = form.fields(head) else { return };
        if self.needed.is_all() {
            for (word, kind) in words.iter().zip(kinds) {
                self.word(*word, *kind);
            }
        } else {
            let needed = self.needed.of(object);
            for (number, (word, kind)) in words.iter().zip(kinds).enumerate() {
                let is_needed = needed.checked_shr(number as u32).unwrap_or(0) & 1 == 1;
                self.word(if is_needed { *word } else { 0 }, *kind);
            }
        }
    }

    #[inline(always)]
    fn word(&mut self, word: i64, kind: Kind) {
        let shown = match kind {
            Kind::Plain => word,
            Kind::Ref => self.objects.of(word),
            Kind::Data => self.values.of(word),
            Kind::Tid => match usize::try_from(word - 1) {
                Ok(thread) => self.position.get(thread).map_or(word, |new| i64::from(*new) + 1),
                Err(_) => word,
            },
        };
        self.out.push(shown);
    }

    /// The same, appended elsewhere.
    fn word_to(&mut self, word: i64, kind: Kind, out: &mut Vec<u8>) {
        self.out.at = 0;
        self.word(word, kind);
        out.extend_from_slice(self.out.written());
    }

    /// An object, appended elsewhere.
    fn object_to(&mut self, object: usize, out: &mut Vec<u8>) {
        self.out.at = 0;
        self.object(object);
        out.extend_from_slice(self.out.written());
    }

    /// What concerns only crashes: how many may come, the images of lines, and the objects that
    /// only images lead to, each after a 0. See [`CrashPart`](crate::CrashPart).
    fn crash_part(&mut self, out: &mut Vec<u8>) {
        let (form, flat) = (self.form, self.flat);
        let objects = self.objects.count;
        push(out, i64::from(flat.left.system));
        push(out, i64::from(flat.left.thread));
        let count_at = out.len();
        out.extend([0, 0]);
        self.images(None, out);
        let mut next = 0;
        while let Some(object) = self.objects.at(next) {
            if next >= objects {
                push(out, 0);
                self.object_to(object, out);
            }
            if form.is_persistent(flat, object) {
                self.images(Some(object), out);
            }
            next += 1;
        }
        let count = u16::try_from(next - objects).unwrap_or(u16::MAX);
        out[count_at..count_at + 2].copy_from_slice(&count.to_le_bytes());
    }

    /// The images of an object, or of the shared variables, in an order that depends on names as
    /// little as can be: what has a name already comes in its order.
    fn images(&mut self, object: Option<usize>, out: &mut Vec<u8>) {
        let (form, flat) = (self.form, self.flat);
        let name = object.map_or(0, |object| i64::from(self.objects.names[object]));
        let mut images: Vec<(SmallVec<[i64; 6]>, &Image)> = Vec::new();
        for image in Form::images_of(flat, object) {
            let mut key: SmallVec<[i64; 6]> = SmallVec::new();
            let (LineId::Shared(line) | LineId::Object(_, line)) = image.line;
            key.push(i64::from(line));
            for (word, kind) in image.words.iter().zip(form.image_kinds(flat, image)) {
                key.push(self.known(*word, kind));
            }
            key.push(self.moved(image.flushed) as i64);
            images.push((key, image));
        }
        images.sort_by(|a, b| a.0.cmp(&b.0));
        for (key, image) in images {
            push(out, name + 1);
            push(out, key[0]);
            push(out, self.moved(image.flushed) as i64);
            push(out, image.words.len() as i64);
            for (word, kind) in image.words.iter().zip(form.image_kinds(flat, image)) {
                self.word_to(*word, kind, out);
            }
        }
    }

    /// A set of threads, renamed; recovery, which comes after the last, is no thread of a state.
    fn moved(&self, threads: u64) -> u64 {
        let old = (0..self.form.layout.threads).filter(|old| threads >> old & 1 == 1);
        old.fold(0, |set, old| set | 1 << self.place(old))
    }

    /// Where a thread is written.
    #[inline(always)]
    fn place(&self, thread: usize) -> usize {
        self.position.get(thread).map_or(thread, |new| usize::from(*new))
    }

    /// A word as it would be written, if that is known already; otherwise something large.
    fn known(&self, word: i64, kind: Kind) -> i64 {
        match kind {
            Kind::Plain => word,
            Kind::Ref if word <= 0 => 0,
            Kind::Ref => match self.objects.names[word as usize - 1] {
                0 => i64::MAX,
                name => i64::from(name),
            },
            Kind::Tid => match usize::try_from(word - 1) {
                Ok(thread) => self.position.get(thread).map_or(word, |new| i64::from(*new) + 1),
                Err(_) => word,
            },
            Kind::Data => {
                let at = usize::try_from(word).ok().and_then(|word| word.checked_sub(1));
                match at.and_then(|at| self.values.names.get(at)) {
                    None => word,
                    Some(0) => i64::MAX,
                    Some(name) => i64::from(*name),
                }
            }
        }
    }

    /// The links to words that still have a name: no thread can use the others.
    fn links(&self, out: &mut Vec<u8>) {
        let layout = &self.form.layout;
        let mut links: SmallVec<[[usize; 4]; 4]> = SmallVec::new();
        for link in &self.flat.links {
            let thread = self.place(link.thread);
            let at = match link.at.checked_sub(layout.heap) {
                None => link.at,
                Some(inside) => match self.objects.names[inside / layout.stride] {
                    0 => continue,
                    name => layout.object(name as usize - 1) + inside % layout.stride,
                },
            };
            links.push([thread, at, link.width, usize::from(link.element)]);
        }
        links.sort_unstable();
        push(out, links.len() as i64);
        for word in links.iter().flatten() {
            push(out, *word as i64);
        }
    }
}
