//! The fast paths of reading, each of which can be left out.
//!
//! A fast path decides how fast a text is read, never what it says: what it gives up on goes to the
//! complete reader of the format. The benchmark (`benches/history`, `-- ingest`) reads with and
//! without each to show what it brings, and tests compare the two readings.

use std::cell::Cell;

/// A way to read what recorders usually write faster than the complete reader does.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FastPath {
    /// Events in JSON and EDN are scanned without building the value.
    Scanner,
    /// Scanned events that are written like an earlier one are compared with it.
    Templates,
    /// EDN maps are scanned where they are, without finding their end first.
    Uncut,
    /// Lines of `limo` and `fastlin` are read from left to right.
    Lines,
    /// Operations of `fastlin` are recorded by a plan made once for each method.
    Plans,
    /// Calls and answers with one scalar and no key are recorded without a look at shapes.
    Usual,
    /// A second thread scans long JSON lines ahead of the one that records them.
    Ahead,
}

thread_local! {
    static LEFT_OUT: Cell<u8> = const { Cell::new(0) };
}

impl FastPath {
    /// Every one.
    pub const ALL: [FastPath; 7] = [
        FastPath::Scanner,
        FastPath::Templates,
        FastPath::Uncut,
        FastPath::Lines,
        FastPath::Plans,
        FastPath::Usual,
        FastPath::Ahead,
    ];

    /// Leaves these fast paths out of what this thread reads in `read`.
    pub fn without<T>(paths: &[FastPath], read: impl FnOnce() -> T) -> T {
        let before = LEFT_OUT.get();
        LEFT_OUT.set(paths.iter().fold(before, |left_out, path| left_out | path.bit()));
        let result = read();
        LEFT_OUT.set(before);
        result
    }

    /// What this thread leaves out, for another that reads on its behalf.
    pub(crate) fn left_out() -> Vec<FastPath> {
        FastPath::ALL.into_iter().filter(|path| !path.is_taken()).collect()
    }

    #[inline]
    pub(crate) fn is_taken(self) -> bool {
        LEFT_OUT.get() & self.bit() == 0
    }

    const fn bit(self) -> u8 {
        1 << self as u8
    }
}
