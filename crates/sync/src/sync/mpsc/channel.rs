//! A channel under control.
//!
//! The word counts what was sent and what was received, and knows which side is gone. The messages
//! are in a queue beside it that belongs to the thread which has locked the word, as what a mutex
//! guards. All that changes the word waits for the lock: that is never long, and no new order.

use crate::runtime::PlaceKind;
use crate::thread::time_is_up;
use crate::word::Word;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::{AcqRel, Relaxed, Release};
use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};
use std::sync::{Mutex, MutexGuard, PoisonError};

const COUNT: u64 = (1 << 30) - 1;
/// One message received.
const RECEIVED: u64 = 1 << 30;
/// There is no receiver any more.
const DEAF: u64 = 1 << 60;
/// There is no sender any more.
const MUTE: u64 = 1 << 61;
/// The receiver waits: only where messages are handed over.
const WAITS: u64 = 1 << 62;
/// A thread has the queue.
const LOCKED: u64 = 1 << 63;

fn sent(word: u64) -> u64 {
    word & COUNT
}

fn received(word: u64) -> u64 {
    (word / RECEIVED) & COUNT
}

fn length(word: u64) -> u64 {
    sent(word).wrapping_sub(received(word)) & COUNT
}

fn send(word: u64) -> u64 {
    word & !COUNT | (sent(word) + 1) & COUNT
}

fn receive(word: u64) -> u64 {
    let received = (received(word) + 1) & COUNT;
    word & !(COUNT * RECEIVED) & !WAITS | (received * RECEIVED)
}

/// A channel under control.
pub(super) struct Channel<T> {
    word: Word,
    senders: Word,
    bound: Option<usize>,
    /// Messages with the number of those before.
    queue: Mutex<VecDeque<(u64, T)>>,
}

impl<T> Channel<T> {
    pub(super) fn new(bound: Option<usize>) -> std::sync::Arc<Channel<T>> {
        std::sync::Arc::new(Channel {
            word: Word::new(PlaceKind::Other, 0),
            senders: Word::new(PlaceKind::Other, 1),
            bound,
            queue: Mutex::new(VecDeque::new()),
        })
    }

    /// Waits until this makes something of the word, which no thread has locked, and answers what
    /// it was. While a panic unwinds nothing is waited for, and nothing done.
    #[track_caller]
    fn wait(&self, change: impl Fn(u64) -> Option<u64>) -> Option<u64> {
        self.word.wait(&|word| if word & LOCKED == 0 { change(word) } else { None }, AcqRel)
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<(u64, T)>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends after the queue was locked when the word was this.
    #[track_caller]
    fn push(&self, word: u64, message: T) {
        self.queue().push_back((sent(word), message));
        self.word.store(send(word), Release);
    }

    /// Receives after the queue was locked when the word was this.
    #[track_caller]
    fn pop(&self, word: u64) -> Option<T> {
        let message = self.queue().pop_front();
        self.word.store(receive(word), Release);
        message.map(|(_, message)| message)
    }

    /// Whether another message may be sent now.
    fn has_room(&self, word: u64) -> bool {
        self.bound.is_none_or(|bound| bound == 0 || length(word) < bound as u64)
    }

    #[track_caller]
    pub(super) fn send(&self, message: T) -> Result<(), SendError<T>> {
        let word = self.wait(|word| match word & DEAF {
            0 => self.has_room(word).then_some(word | LOCKED),
            _ => Some(word),
        });
        match word {
            Some(word) if word & DEAF == 0 => {
                self.push(word, message);
                if self.bound == Some(0) { self.hand_over(sent(word)) } else { Ok(()) }
            }
            _ => Err(SendError(message)),
        }
    }

    /// Waits until the message with this number was received; takes it back if it never will be.
    #[track_caller]
    fn hand_over(&self, number: u64) -> Result<(), SendError<T>> {
        let is_received = |word| received(word).wrapping_sub(number + 1) & COUNT < COUNT / 2;
        let over = |word| (is_received(word) || word & DEAF != 0).then_some(word);
        if self.wait(over).is_none_or(is_received) {
            return Ok(());
        }
        let mut queue = self.queue();
        let place = queue.iter().position(|(other, _)| *other == number);
        let message = place.and_then(|place| queue.remove(place));
        message.map_or(Ok(()), |(_, message)| Err(SendError(message)))
    }

    #[track_caller]
    pub(super) fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        let room = |word| match self.bound {
            Some(0) => word & WAITS != 0 && length(word) == 0,
            _ => self.has_room(word),
        };
        let sends = |word| word & DEAF == 0 && room(word);
        match self.wait(|word| Some(if sends(word) { word | LOCKED } else { word })) {
            Some(word) if sends(word) => {
                self.push(word, message);
                Ok(())
            }
            Some(word) if word & DEAF == 0 => Err(TrySendError::Full(message)),
            _ => Err(TrySendError::Disconnected(message)),
        }
    }

    /// The receiver says that it waits, where that matters.
    #[track_caller]
    fn announce(&self) {
        if self.bound == Some(0) {
            let waits = |word| length(word) == 0 && word & MUTE == 0;
            self.wait(|word| Some(if waits(word) { word | WAITS } else { word }));
        }
    }

    #[track_caller]
    pub(super) fn recv(&self) -> Result<T, RecvError> {
        self.announce();
        let word = self.wait(|word| match length(word) {
            0 => (word & MUTE != 0).then_some(word),
            _ => Some(word | LOCKED),
        });
        let word = word.filter(|word| length(*word) != 0).ok_or(RecvError)?;
        self.pop(word).ok_or(RecvError)
    }

    #[track_caller]
    pub(super) fn try_recv(&self) -> Result<T, TryRecvError> {
        let word = self.wait(|word| match length(word) {
            0 => Some(word & !WAITS),
            _ => Some(word | LOCKED),
        });
        match word {
            Some(word) if length(word) != 0 => self.pop(word).ok_or(TryRecvError::Empty),
            Some(word) if word & MUTE == 0 => Err(TryRecvError::Empty),
            _ => Err(TryRecvError::Disconnected),
        }
    }

    #[track_caller]
    pub(super) fn recv_timeout(&self) -> Result<T, RecvTimeoutError> {
        self.announce();
        let result = self.try_recv();
        time_is_up(matches!(result, Err(TryRecvError::Empty)));
        result.map_err(|error| match error {
            TryRecvError::Empty => RecvTimeoutError::Timeout,
            TryRecvError::Disconnected => RecvTimeoutError::Disconnected,
        })
    }

    #[track_caller]
    pub(super) fn clone_sender(&self) {
        self.senders.update(&|senders| Some(senders + 1), Relaxed, Relaxed);
    }

    #[track_caller]
    pub(super) fn drop_sender(&self) {
        if self.senders.update(&|senders| Some(senders - 1), AcqRel, Relaxed) == 1 {
            self.wait(|word| Some(word | MUTE));
        }
    }

    #[track_caller]
    pub(super) fn drop_receiver(&self) {
        self.wait(|word| Some(word | DEAF));
        // What is handed over goes back to its sender; everything else is dropped here. Destructors
        // may ask for anything, so the queue is free meanwhile.
        if self.bound != Some(0) {
            let messages = std::mem::take(&mut *self.queue());
            drop(messages);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_go_around() {
        let mut word = WAITS;
        for _ in 0..3 {
            word = send(word | COUNT);
            assert_eq!(sent(word), 0);
            word = receive(word | (COUNT * RECEIVED));
            assert_eq!((received(word), length(word), word & WAITS), (0, 0, 0));
        }
        assert_eq!(length(receive(send(send(COUNT | (COUNT * RECEIVED))))), 1);
    }
}
