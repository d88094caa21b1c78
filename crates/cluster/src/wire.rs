//! A connection that notices when it breaks.
//!
//! Timely gets this instead of a socket. It ends every stream with a message without content: a
//! stream that ends otherwise means that the process at its other end is gone. Timely would panic.
//! Here the loss is noted, the thread that reads sleeps from then on, and what is written is thrown
//! away; the workers look at the note before every step.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use timely::communication::allocator::zero_copy::stream::Stream;

/// No process.
const NONE: usize = usize::MAX;

/// What is known of all connections of a search.
pub(crate) struct Status {
    /// The process that was lost first.
    lost: AtomicUsize,
    /// Whether a worker of this process has failed.
    failed: AtomicBool,
    /// How many bytes were sent.
    sent: AtomicU64,
    /// How many connections have sent all that they will send.
    ended: AtomicUsize,
    sockets: Mutex<Vec<TcpStream>>,
}

/// Why a search cannot go on together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    /// The connection to this process was lost.
    Lost(usize),
    /// A worker of this process has failed.
    Failed,
}

impl Status {
    pub fn new() -> Arc<Status> {
        Arc::new(Status {
            lost: AtomicUsize::new(NONE),
            failed: AtomicBool::new(false),
            sent: AtomicU64::new(0),
            ended: AtomicUsize::new(0),
            sockets: Mutex::default(),
        })
    }

    pub fn broken(&self) -> Option<Broken> {
        match self.lost.load(Ordering::Relaxed) {
            NONE => self.failed.load(Ordering::Relaxed).then_some(Broken::Failed),
            process => Some(Broken::Lost(process)),
        }
    }

    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub fn ended(&self) -> usize {
        self.ended.load(Ordering::Acquire)
    }

    /// Ends all connections, so that others learn that this process does not go on.
    pub fn hang_up(&self) {
        let sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        for socket in sockets.iter() {
            // It may have ended by itself.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    fn lose(&self, process: usize) {
        // Who is lost first takes others along.
        let _ = self.lost.compare_exchange(NONE, process, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// A connection to another process.
pub(crate) struct Wire {
    socket: TcpStream,
    process: usize,
    status: Arc<Status>,
    frames: Frames,
}

impl Wire {
    pub fn new(socket: TcpStream, process: usize, status: &Arc<Status>) -> io::Result<Wire> {
        let mut sockets = status.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        sockets.push(socket.try_clone()?);
        Ok(Wire { socket, process, status: status.clone(), frames: Frames::default() })
    }
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.socket.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) if self.frames.ended => return Ok(0),
                Ok(0) | Err(_) => {
                    self.status.lose(self.process);
                    loop {
                        std::thread::park();
                    }
                }
                Ok(count) => {
                    self.frames.pass(&buffer[..count]);
                    return Ok(count);
                }
            }
        }
    }
}

impl Write for Wire {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        match self.socket.write(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Err(error),
            Ok(count @ 1..) => {
                let sent = u64::try_from(count).unwrap_or(u64::MAX);
                self.status.sent.fetch_add(sent, Ordering::Relaxed);
                Ok(count)
            }
            Ok(0) | Err(_) => {
                self.status.lose(self.process);
                Ok(buffer.len())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Stream for Wire {
    fn try_clone(&self) -> io::Result<Wire> {
        let (process, status) = (self.process, self.status.clone());
        Ok(Wire { socket: self.socket.try_clone()?, process, status, frames: Frames::default() })
    }

    fn set_nonblocking(&self, nonblocking: bool) -> io::Result<()> {
        self.socket.set_nonblocking(nonblocking)
    }

    fn shutdown(&self, how: Shutdown) -> io::Result<()> {
        // Where this fails the other end is gone, and that is noted where it is read.
        let _ = self.socket.shutdown(how);
        self.status.ended.fetch_add(1, Ordering::Release);
        Ok(())
    }
}

/// Follows the messages of timely: a head of six numbers, the fifth of which is the length of what
/// comes after it. A message without content is the last.
#[derive(Default)]
struct Frames {
    head: Vec<u8>,
    content: u64,
    ended: bool,
}

const HEAD: usize = 48;
const LENGTH_AT: std::ops::Range<usize> = 32..40;

impl Frames {
    fn pass(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.ended {
            let skipped = usize::try_from(self.content).unwrap_or(usize::MAX).min(bytes.len());
            bytes = &bytes[skipped..];
            self.content -= u64::try_from(skipped).unwrap_or(0);
            let taken = bytes.len().min(HEAD - self.head.len());
            self.head.extend_from_slice(&bytes[..taken]);
            bytes = &bytes[taken..];
            if self.head.len() == HEAD {
                let length = self.head[LENGTH_AT].try_into().map_or(0, u64::from_be_bytes);
                (self.content, self.ended) = (length, length == 0);
                self.head.clear();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(content: usize) -> Vec<u8> {
        let mut bytes = vec![0; HEAD + content];
        bytes[LENGTH_AT].copy_from_slice(&(content as u64).to_be_bytes());
        bytes
    }

    #[test]
    fn a_stream_ends_with_a_message_without_content_however_it_is_cut() {
        let bytes = [message(100), message(1), message(0)].concat();
        for piece in 1..bytes.len() {
            let mut frames = Frames::default();
            for (at, piece) in bytes.chunks(piece).enumerate() {
                let until = (at * piece.len()).min(bytes.len());
                assert!(!frames.ended || until >= bytes.len() - HEAD, "{until}");
                frames.pass(piece);
            }
            assert!(frames.ended);
        }
        // Zeros are no end by themselves.
        let mut frames = Frames::default();
        frames.pass(&message(100)[..147]);
        assert!(!frames.ended);
    }
}
