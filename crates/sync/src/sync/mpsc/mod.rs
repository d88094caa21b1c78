//! As `std::sync::mpsc`.

mod channel;

use crate::runtime;
use channel::Channel;
use std::fmt;
use std::sync::mpsc as real;
use std::time::Duration;

pub use std::sync::mpsc::{RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError};

/// Either side: decided when the channel is made.
enum Side<R, T> {
    Real(R),
    Controlled(std::sync::Arc<Channel<T>>),
}

/// As [`std::sync::mpsc::Sender`].
pub struct Sender<T>(Side<real::Sender<T>, T>);

/// As [`std::sync::mpsc::SyncSender`].
pub struct SyncSender<T>(Side<real::SyncSender<T>, T>);

/// As [`std::sync::mpsc::Receiver`].
pub struct Receiver<T>(Side<real::Receiver<T>, T>);

// SAFETY: as std's: messages move between threads, and only that.
unsafe impl<T: Send> Send for Receiver<T> {}

/// As [`std::sync::mpsc::channel`].
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    if runtime::is_controlled() {
        let channel = Channel::new(None);
        return (Sender(Side::Controlled(channel.clone())), Receiver(Side::Controlled(channel)));
    }
    let (sender, receiver) = real::channel();
    (Sender(Side::Real(sender)), Receiver(Side::Real(receiver)))
}

/// As [`std::sync::mpsc::sync_channel`].
pub fn sync_channel<T>(bound: usize) -> (SyncSender<T>, Receiver<T>) {
    if runtime::is_controlled() {
        let channel = Channel::new(Some(bound));
        let sender = SyncSender(Side::Controlled(channel.clone()));
        return (sender, Receiver(Side::Controlled(channel)));
    }
    let (sender, receiver) = real::sync_channel(bound);
    (SyncSender(Side::Real(sender)), Receiver(Side::Real(receiver)))
}

macro_rules! sender {
    ($name:ident) => {
        impl<T> $name<T> {
            /// As in std.
            #[track_caller]
            pub fn send(&self, message: T) -> Result<(), SendError<T>> {
                match &self.0 {
                    Side::Real(sender) => sender.send(message),
                    Side::Controlled(channel) => channel.send(message),
                }
            }
        }

        impl<T> Clone for $name<T> {
            #[track_caller]
            fn clone(&self) -> $name<T> {
                $name(match &self.0 {
                    Side::Real(sender) => Side::Real(sender.clone()),
                    Side::Controlled(channel) => {
                        channel.clone_sender();
                        Side::Controlled(channel.clone())
                    }
                })
            }
        }

        impl<T> Drop for $name<T> {
            #[track_caller]
            fn drop(&mut self) {
                if let Side::Controlled(channel) = &self.0 {
                    channel.drop_sender();
                }
            }
        }

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(concat!(stringify!($name), " { .. }"))
            }
        }
    };
}

sender!(Sender);
sender!(SyncSender);

impl<T> SyncSender<T> {
    /// As in std.
    #[track_caller]
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        match &self.0 {
            Side::Real(sender) => sender.try_send(message),
            Side::Controlled(channel) => channel.try_send(message),
        }
    }
}

impl<T> Receiver<T> {
    /// As in std.
    #[track_caller]
    pub fn recv(&self) -> Result<T, RecvError> {
        match &self.0 {
            Side::Real(receiver) => receiver.recv(),
            Side::Controlled(channel) => channel.recv(),
        }
    }

    /// As in std.
    #[track_caller]
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        match &self.0 {
            Side::Real(receiver) => receiver.try_recv(),
            Side::Controlled(channel) => channel.try_recv(),
        }
    }

    /// As in std; under control the time may be up at any moment.
    #[track_caller]
    pub fn recv_timeout(&self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        match &self.0 {
            Side::Real(receiver) => receiver.recv_timeout(timeout),
            Side::Controlled(channel) => channel.recv_timeout(),
        }
    }

    /// As in std.
    #[track_caller]
    pub fn iter(&self) -> Iter<'_, T> {
        Iter(self)
    }

    /// As in std.
    #[track_caller]
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter(self)
    }
}

impl<T> Drop for Receiver<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let Side::Controlled(channel) = &self.0 {
            channel.drop_receiver();
        }
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Receiver { .. }")
    }
}

/// As [`std::sync::mpsc::Iter`].
#[derive(Debug)]
pub struct Iter<'a, T>(&'a Receiver<T>);

/// As [`std::sync::mpsc::TryIter`].
#[derive(Debug)]
pub struct TryIter<'a, T>(&'a Receiver<T>);

/// As [`std::sync::mpsc::IntoIter`].
#[derive(Debug)]
pub struct IntoIter<T>(Receiver<T>);

impl<T> Iterator for Iter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<T> Iterator for TryIter<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.try_recv().ok()
    }
}

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.0.recv().ok()
    }
}

impl<'a, T> IntoIterator for &'a Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        Iter(self)
    }
}

impl<T> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_arrive_until_the_senders_are_gone() {
        let (sender, receiver) = channel();
        let other = sender.clone();
        let thread = std::thread::spawn(move || (0..10).for_each(|i| other.send(i).unwrap()));
        drop(sender);
        assert_eq!(receiver.into_iter().sum::<i32>(), 45);
        thread.join().unwrap();
    }

    #[test]
    fn a_full_channel_says_so() {
        let (sender, receiver) = sync_channel(1);
        sender.send(1).unwrap();
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1]);
        let late = receiver.recv_timeout(Duration::from_millis(1));
        assert_eq!(late, Err(RecvTimeoutError::Timeout));
        drop(receiver);
        assert_eq!(sender.send(3), Err(SendError(3)));
    }
}
