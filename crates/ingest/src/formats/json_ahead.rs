//! JSON lines on two threads: a helper scans ahead while events enter the history, in order, on the thread that asked.
//!
//! The text is cut at ends of lines. A block is *scanned*, by either thread, into the tokens of its events, and then *recorded*.
//! Scanning is most of the work and depends on nothing before the block, so whoever has nothing else to do scans the next one.
//!
//! INVARIANT: only the fast way through an object runs ahead, and it decides nothing (`json_scan.rs`). A line that it gives up on is
//! left to [`Reader::push_line`], and what an event means is decided when it is recorded. So the history and the first error are
//! those of reading line by line.

use super::json_lines::JsonLines;
use crate::error::IngestError;
use crate::event::{Kind, RawEvent};
use crate::reader::Reader;
use crate::token::{Token, View};
use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Shorter texts are read on one thread: they take a few milliseconds.
pub(crate) const WORTHWHILE: usize = 4 << 20;

/// About so many bytes are a block: some thousand events, so that handing it over costs nothing beside reading it.
pub(crate) const BLOCK: usize = 128 << 10;

/// The helper may be so many blocks ahead.
const AHEAD: usize = 2;

/// Reads a text, cut into blocks of about so many bytes.
pub(crate) fn read(text: &[u8], block: usize, reader: &mut Reader) -> Result<(), IngestError> {
    let uncut = Mutex::new(Uncut { rest: text, block, cut: 0 });
    let (to_record, scanned) = mpsc::channel();
    let (give_back, empty) = mpsc::channel();
    for _ in 0..AHEAD {
        // The other end is in this function.
        let _ = give_back.send(Scanned::default());
    }
    thread::scope(|scope| {
        let help = || scan_all(&uncut, empty, to_record);
        // Without a helper this thread does everything.
        let _ = thread::Builder::new().spawn_scoped(scope, help);
        record_all(&uncut, scanned, give_back, reader)
    })
}

/// What nobody has begun to scan.
struct Uncut<'t> {
    rest: &'t [u8],
    /// How long a block is before its last line is completed.
    block: usize,
    cut: usize,
}

/// Cuts the next block off: its number and its lines.
fn next_block<'t>(uncut: &Mutex<Uncut<'t>>) -> Option<(usize, &'t [u8])> {
    let mut uncut = uncut.lock().unwrap_or_else(PoisonError::into_inner);
    if uncut.rest.is_empty() {
        return None;
    }
    let least = uncut.block.clamp(1, uncut.rest.len()) - 1;
    let newline = memchr::memchr(b'\n', &uncut.rest[least..]);
    let end = newline.map_or(uncut.rest.len(), |newline| least + newline + 1);
    let (block, rest) = uncut.rest.split_at(end);
    uncut.rest = rest;
    uncut.cut += 1;
    Some((uncut.cut - 1, block))
}

/// A block after scanning, small enough to cost little on its way from core to core.
#[derive(Default)]
struct Scanned<'t> {
    block: &'t [u8],
    /// The block, if it was scanned: it is text, and its lines are not very long.
    text: Option<&'t str>,
    lines: Vec<Line>,
    /// For each event in turn the tokens of its process, its key and its value.
    tokens: Vec<Token>,
    /// The names of operations.
    names: Vec<&'t str>,
}

/// One line of a block. Where it ends, and what is in it if it is an event of the usual kind.
struct Line {
    end: u32,
    event: Option<Event>,
}

struct Event {
    kind: Kind,
    /// How many tokens its process, key and value have; none if it has none.
    process: u8,
    key: u8,
    value: u16,
    /// The position of its name plus one; 0 if it has none.
    name: u8,
}

impl<'t> Scanned<'t> {
    fn scan(&mut self, block: &'t [u8], longest: usize, scanner: &mut JsonLines) {
        self.lines.clear();
        self.tokens.clear();
        self.names.clear();
        self.block = block;
        // A line of any length must not become tokens of any number: these are memory.
        self.text = (block.len() / 2 <= longest).then(|| str::from_utf8(block).ok()).flatten();
        let Some(text) = self.text else { return };
        let mut start = 0;
        while start < block.len() {
            let newline = memchr::memchr(b'\n', &block[start..]);
            let end = newline.map_or(block.len(), |newline| start + newline + 1);
            let event = scanner.scan(&text[start..end], |event, name| self.event(event, name));
            self.lines.push(Line { end: end as u32, event: event.flatten() });
            start = end;
        }
    }

    /// An event to be handed over, if it is not too unusual.
    fn event(&mut self, raw: &RawEvent<'_>, name: Option<&'t str>) -> Option<Event> {
        let length = |view: Option<View<'_>>| view.map_or(0, |view| view.tokens.len());
        let name = match name {
            None => 0,
            Some(name) => {
                let known = self.names.iter().position(|known| *known == name);
                1 + known.unwrap_or_else(|| {
                    self.names.push(name);
                    self.names.len() - 1
                })
            }
        };
        let event = Event {
            kind: raw.kind,
            process: u8::try_from(length(raw.process)).ok()?,
            key: u8::try_from(length(raw.key)).ok()?,
            value: u16::try_from(raw.value.tokens.len()).ok()?,
            name: u8::try_from(name).ok()?,
        };
        for view in raw.process.iter().chain(&raw.key).chain([&raw.value]) {
            self.tokens.extend_from_slice(view.tokens);
        }
        Some(event)
    }

    fn record(&self, reader: &mut Reader) -> Result<(), IngestError> {
        let Some(text) = self.text else {
            let mut lines = self.block.split_inclusive(|byte| *byte == b'\n');
            return lines.try_for_each(|line| reader.push_line(line).map(|_| ()));
        };
        let (mut start, mut rest) = (0, &self.tokens[..]);
        for line in &self.lines {
            let text = &text[start..line.end as usize];
            start = line.end as usize;
            let Some(event) = &line.event else {
                reader.push_line(text.as_bytes())?;
                continue;
            };
            let mut view = |count: usize| {
                let (tokens, after) = rest.split_at(count);
                rest = after;
                (count > 0).then_some(View { tokens, text })
            };
            let process = view(event.process.into());
            let key = view(event.key.into());
            let value = view(event.value.into()).unwrap_or(View::NULL);
            let f = event.name.checked_sub(1).map(|at| self.names[at as usize]);
            reader.push_event(RawEvent { line: 0, kind: event.kind, process, f, key, value })?;
        }
        Ok(())
    }
}

/// The helper: scans block after block, until there are no more or nobody wants them.
fn scan_all<'t>(
    uncut: &Mutex<Uncut<'t>>,
    empty: Receiver<Scanned<'t>>,
    to_record: Sender<(usize, Scanned<'t>)>,
) {
    let mut scanner = JsonLines::default();
    let longest = uncut.lock().unwrap_or_else(PoisonError::into_inner).block;
    for mut scanned in empty {
        let Some((number, block)) = next_block(uncut) else { return };
        scanned.scan(block, longest, &mut scanner);
        if to_record.send((number, scanned)).is_err() {
            return;
        }
    }
}

/// Records block after block; while the next one is being scanned by the helper, scans one itself.
fn record_all<'t>(
    uncut: &Mutex<Uncut<'t>>,
    scanned: Receiver<(usize, Scanned<'t>)>,
    give_back: Sender<Scanned<'t>>,
    reader: &mut Reader,
) -> Result<(), IngestError> {
    let mut scanner = JsonLines::default();
    let longest = uncut.lock().unwrap_or_else(PoisonError::into_inner).block;
    // INVARIANT: this thread has `own`, or has scanned one block that waits. Then all blocks before that are with the helper.
    let mut own = Some(Scanned::default());
    let mut waiting = BTreeMap::new();
    for number in 0.. {
        let current = loop {
            waiting.extend(scanned.try_iter());
            if let Some(current) = waiting.remove(&number) {
                break current;
            }
            let next = own.is_some().then(|| next_block(uncut)).flatten();
            match (next, own.take()) {
                (Some((at, block)), Some(mut mine)) => {
                    mine.scan(block, longest, &mut scanner);
                    waiting.insert(at, mine);
                }
                (_, kept) => {
                    own = kept;
                    match scanned.recv() {
                        Ok((at, block)) => waiting.insert(at, block),
                        // The helper has ended, as it does when all is cut and given back.
                        Err(_) => return Ok(()),
                    };
                }
            }
        };
        current.record(reader)?;
        match own {
            None => own = Some(current),
            // The helper may have ended.
            Some(_) => drop(give_back.send(current)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
