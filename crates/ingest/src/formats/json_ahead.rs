//! JSON lines on two threads: a helper scans ahead while events enter the history, in order, on the thread that asked.
//!
//! The text is cut at ends of lines. A block is *scanned*, by either thread, into the tokens of its events, and then *recorded*.
//! Scanning is most of the work and depends on nothing before the block, so whoever has nothing else to do scans the next one.
//!
//! INVARIANT: only the fast way through an object runs ahead, and it decides nothing (`json_scan.rs`). All that it gives up on, and
//! so every mistake, is read by [`Reader::push_line`] when its turn comes. So the history and the first error are those of reading line by line.

use super::json_lines::JsonLines;
use crate::error::IngestError;
use crate::event::Fields;
use crate::reader::Reader;
use crate::token::Token;
use std::collections::BTreeMap;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Shorter texts are read on one thread: they take a few milliseconds.
pub(crate) const WORTHWHILE: usize = 4 << 20;

/// About so many bytes are a block. Its tokens are a few times larger, and are still in a cache when they are recorded.
pub(crate) const BLOCK: usize = 256 << 10;

/// The helper may be so many blocks ahead.
const AHEAD: usize = 4;

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

/// A block after scanning.
#[derive(Default)]
struct Scanned<'t> {
    lines: Vec<Line<'t>>,
    /// The tokens of all its events.
    tokens: Vec<Token>,
}

enum Line<'t> {
    /// An event of the usual kind; its fields are among the tokens of the block.
    Event { text: &'t str, fields: Fields },
    /// A line that is to be read as if nobody had looked at it.
    Unread(&'t [u8]),
}

impl<'t> Scanned<'t> {
    fn scan(&mut self, block: &'t [u8], longest: usize, scanner: &mut JsonLines) {
        self.lines.clear();
        self.tokens.clear();
        let mut rest = block;
        while !rest.is_empty() {
            let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
            let (line, after) = rest.split_at(end);
            rest = after;
            // A line of any length must not become tokens of any number: these are memory, and counted with 32 bits.
            let text = (line.len() <= longest).then(|| std::str::from_utf8(line).ok()).flatten();
            let event = text.and_then(|text| {
                let fields = scanner.scan(text, &mut self.tokens)?;
                Some(Line::Event { text, fields })
            });
            self.lines.push(event.unwrap_or(Line::Unread(line)));
        }
    }

    fn record(&self, reader: &mut Reader) -> Result<(), IngestError> {
        self.lines.iter().try_for_each(|line| match line {
            Line::Event { text, fields } => reader.push_event(text, fields, &self.tokens),
            Line::Unread(line) => reader.push_line(line).map(|_| ()),
        })
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
