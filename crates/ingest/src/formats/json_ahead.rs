//! JSON lines on two threads: a second one splits lines into tokens ahead of the one that records.
//!
//! The text is cut into blocks at ends of lines, and each is taken by one thread. The second thread
//! *scans* its blocks, which is about half of the work and depends on nothing before them. The
//! first *records* all of them in order; a block that it has taken itself it reads as if it were
//! alone, or scans while the second thread is not done with an earlier one. So no thread waits
//! while there is something to do, and if no second thread can be made, the first reads it all.
//!
//! INVARIANT: only the fast path through an object runs ahead, and it decides nothing
//! (`json_scan.rs`). What an event means is decided when it is recorded, and a line that the fast
//! path gives up on is left to [`Reader::push_line`]. So the history and the first error are those
//! of reading line by line.

use super::json_lines::is_blank;
use super::json_scan::{self, Layout};
use crate::error::IngestError;
use crate::event::Fields;
use crate::fast::FastPath;
use crate::reader::Reader;
use crate::token::Token;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Shorter texts are read on one thread: they take a few milliseconds.
pub(crate) const WORTHWHILE: usize = 4 << 20;

/// About so many bytes are a block: some thousand events, so that handing it over costs nothing
/// beside reading it.
pub(crate) const BLOCK: usize = 128 << 10;

/// The second thread may be so many blocks ahead.
const AHEAD: usize = 2;

/// Reads a text in blocks of about so many bytes.
pub(crate) fn read(text: &[u8], block: usize, reader: &mut Reader) -> Result<(), IngestError> {
    let blocks = &Blocks::new(text, block);
    let (to_record, scanned) = mpsc::channel();
    let (give_back, empty) = mpsc::channel();
    for _ in 0..AHEAD {
        // The other end is in this function.
        let _ = give_back.send(Scanned::default());
    }
    let left_out = FastPath::left_out();
    thread::scope(|scope| {
        let ahead = move || {
            FastPath::without(&left_out, || scan_all(blocks, empty, to_record));
        };
        // Where no thread can be made, nothing is scanned ahead.
        let _ = thread::Builder::new().spawn_scoped(scope, ahead);
        record_all(blocks, scanned, give_back, reader)
    })
}

/// The blocks of a text, each of which is taken once.
struct Blocks<'t> {
    /// About so many bytes are a block.
    length: usize,
    /// How many blocks were taken, and the text after them.
    rest: Mutex<(usize, &'t [u8])>,
}

impl<'t> Blocks<'t> {
    fn new(text: &'t [u8], length: usize) -> Blocks<'t> {
        Blocks { length, rest: Mutex::new((0, text)) }
    }

    /// Takes the next block: its number and its lines.
    fn take(&self) -> Option<(usize, &'t [u8])> {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        let (number, text) = *rest;
        let least = self.length.min(text.len()).checked_sub(1)?;
        let newline = memchr::memchr(b'\n', &text[least..]);
        let (block, after) = text.split_at(newline.map_or(text.len(), |at| least + at + 1));
        *rest = (number + 1, after);
        Some((number, block))
    }
}

/// A block, and the tokens of its lines.
#[derive(Default)]
struct Scanned<'t> {
    block: &'t [u8],
    /// The block, if its lines were scanned.
    text: &'t str,
    lines: Vec<Line>,
    tokens: Vec<Token>,
}

/// One line of a block.
struct Line {
    /// Where it ends in the block.
    end: usize,
    /// Where its fields are among the tokens, if it is an event of the usual kind.
    event: Option<Fields>,
}

impl<'t> Scanned<'t> {
    fn scan(&mut self, block: &'t [u8], longest: usize, layout: &mut Layout) {
        self.lines.clear();
        self.tokens.clear();
        self.block = block;
        // A line of any length must not become tokens of any number: these are memory.
        let is_short = block.len() / 2 <= longest;
        self.text = str::from_utf8(if is_short { block } else { &[] }).unwrap_or_default();
        let mut start = 0;
        while start < self.text.len() {
            let newline = memchr::memchr(b'\n', &block[start..]);
            let end = newline.map_or(block.len(), |newline| start + newline + 1);
            let line = &self.text[start..end];
            let mut fields = Fields::default();
            let is_event = json_scan::scan(line, layout, &mut self.tokens, &mut fields)
                .is_some_and(|end| line.as_bytes()[end..].iter().all(is_blank));
            self.lines.push(Line { end, event: is_event.then_some(fields) });
            start = end;
        }
    }

    fn record(&self, reader: &mut Reader) -> Result<(), IngestError> {
        let mut start = 0;
        for line in &self.lines {
            let text = &self.text[start..line.end];
            match &line.event {
                Some(fields) => reader.push_scanned(text, fields, &self.tokens)?,
                None => drop(reader.push_line(text.as_bytes())?),
            }
            start = line.end;
        }
        reader.push_lines(&self.block[start..])
    }
}

/// What the second thread does: it scans block after block, until all are taken or reading ended.
fn scan_all<'t>(blocks: &Blocks<'t>, empty: Receiver<Scanned<'t>>, to_record: Sender<Scanned<'t>>) {
    let mut layout = Layout::default();
    for mut scanned in empty {
        let Some((_, block)) = blocks.take() else { return };
        scanned.scan(block, blocks.length, &mut layout);
        if to_record.send(scanned).is_err() {
            return;
        }
    }
}

/// Records block after block.
fn record_all<'t>(
    blocks: &Blocks<'t>,
    scanned: Receiver<Scanned<'t>>,
    give_back: Sender<Scanned<'t>>,
    reader: &mut Reader,
) -> Result<(), IngestError> {
    let record = |ahead: Scanned<'t>, reader: &mut Reader| {
        // If the second thread has ended, it is not taken back.
        ahead.record(reader).map(|()| drop(give_back.send(ahead)))
    };
    let mut layout = Layout::default();
    // A block that this thread has scanned before its turn, and its number.
    let (mut own, mut own_number) = (Scanned::default(), None);
    let mut number = 0;
    // INVARIANT: the second thread hands its blocks over in order. So the block that is to be
    // recorded is `own`, or the next one from there, or not taken yet.
    loop {
        if own_number == Some(number) {
            own.record(reader)?;
            own_number = None;
        } else if let Ok(ahead) = scanned.try_recv() {
            record(ahead, reader)?;
        } else if own_number.is_none()
            && let Some((taken, block)) = blocks.take()
        {
            if taken != number {
                own.scan(block, blocks.length, &mut layout);
                own_number = Some(taken);
                continue;
            }
            reader.push_lines(block)?;
        } else if let Ok(ahead) = scanned.recv() {
            record(ahead, reader)?;
        } else {
            // The second thread ends when all blocks are taken: this was the last.
            return Ok(());
        }
        number += 1;
    }
}

#[cfg(test)]
mod tests;
