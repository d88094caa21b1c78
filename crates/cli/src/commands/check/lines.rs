//! Lines as they arrive, decompressed on the way. A thread waits for them, so that there is time to
//! judge while nothing comes.

use crate::limits::Stop;
use anyhow::{Context, Result};
use linchpin_ingest::Decompressed;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// How long to wait for more at the end of a file that grows.
const PATIENCE: Duration = Duration::from_millis(100);

/// Nothing came for so long: the input is idle.
const IDLE: Duration = Duration::from_millis(20);

/// How much is read at once, and how many of these wait at most.
const CHUNK: usize = 1 << 16;
const CHUNKS: usize = 8;

/// What comes next.
pub enum Next<'l> {
    /// A line, with its end if it has one.
    Line(&'l [u8]),
    /// Nothing for the moment.
    Idle,
    /// Nothing more, or it is time to stop.
    End,
}

/// Lines as they arrive.
pub struct Lines {
    chunks: Receiver<std::io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    /// What of the chunk was given out.
    given: usize,
    /// A line that began in an earlier chunk; once given out, it is cleared.
    partial: Vec<u8>,
    is_given: bool,
}

impl Lines {
    /// The lines of a file, or of standard input if it is `-`; of a file that grows, with `follow`.
    pub fn open(path: &Path, follow: bool) -> Result<Lines> {
        let open = || File::open(path).with_context(|| format!("cannot read `{}`", path.display()));
        let input: Box<dyn Read + Send> = match path == Path::new("-") {
            true => Box::new(std::io::stdin()),
            false => Box::new(open()?),
        };
        let input: Box<dyn Read + Send> = match follow {
            true => Box::new(Growing(input)),
            false => input,
        };
        let (sender, chunks) = sync_channel(CHUNKS);
        std::thread::spawn(move || read_all(Decompressed::new(input), &sender));
        let (chunk, partial) = (Vec::new(), Vec::new());
        Ok(Lines { chunks, chunk, given: 0, partial, is_given: false })
    }

    /// What comes next.
    pub fn next(&mut self, stop: &Stop) -> Result<Next<'_>> {
        if std::mem::take(&mut self.is_given) {
            self.partial.clear();
        }
        loop {
            if stop.reason().is_some() {
                return Ok(Next::End);
            }
            let rest = &self.chunk[self.given..];
            if let Some(end) = memchr(rest) {
                let start = self.given;
                self.given += end + 1;
                if self.partial.is_empty() {
                    return Ok(Next::Line(&self.chunk[start..self.given]));
                }
                self.partial.extend_from_slice(&self.chunk[start..self.given]);
                self.is_given = true;
                return Ok(Next::Line(&self.partial));
            }
            self.partial.extend_from_slice(rest);
            self.given = self.chunk.len();
            match self.chunks.recv_timeout(IDLE) {
                Ok(chunk) => {
                    self.chunk = chunk.context("cannot read the history")?;
                    self.given = 0;
                }
                Err(RecvTimeoutError::Timeout) => return Ok(Next::Idle),
                Err(RecvTimeoutError::Disconnected) if self.partial.is_empty() => {
                    return Ok(Next::End);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    self.is_given = true;
                    return Ok(Next::Line(&self.partial));
                }
            }
        }
    }
}

fn memchr(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

/// What has no end: more is waited for.
struct Growing<R>(R);

impl<R: Read> Read for Growing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        loop {
            match self.0.read(buffer)? {
                0 if !buffer.is_empty() => std::thread::sleep(PATIENCE),
                count => return Ok(count),
            }
        }
    }
}

/// Reads until the end, or until no more is wanted.
fn read_all(mut input: impl Read, sender: &SyncSender<std::io::Result<Vec<u8>>>) {
    loop {
        let mut chunk = vec![0; CHUNK];
        let read = input.read(&mut chunk);
        let wanted = match read {
            Ok(0) => return,
            Ok(count) => {
                chunk.truncate(count);
                sender.send(Ok(chunk))
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        if wanted.is_err() {
            return;
        }
    }
}
