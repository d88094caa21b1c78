//! The allocator of the binary: where there is no memory left, the process ends with a sentence and
//! exit code 3.
//!
//! The standard library aborts instead, and stable Rust has no hook for it. Nothing here allocates
//! once memory is out.

use crate::Status;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const SENTENCE: &str = "inconclusive: out of memory; allow more memory, or ask for less\n";

/// The object that scripts expect, if they asked for one; written if memory runs out.
static LAST_WORDS: OnceLock<String> = OnceLock::new();

/// Whether an answer is being written: then a second object must not follow it.
static IS_ANSWERING: AtomicBool = AtomicBool::new(false);

/// Whether the process is already ending.
static IS_ENDING: AtomicBool = AtomicBool::new(false);

/// What to write to standard output if memory runs out.
pub fn set_last_words(object: String) {
    // A second command of the same process would be the same command.
    let _ = LAST_WORDS.set(object);
}

/// Writes an answer.
pub fn while_answering<T>(write: impl FnOnce() -> T) -> T {
    IS_ANSWERING.store(true, Ordering::Relaxed);
    let result = write();
    IS_ANSWERING.store(false, Ordering::Relaxed);
    result
}

/// The system's allocator, which never returns null.
pub struct Allocator;

// SAFETY: every call goes to the system's allocator with the same arguments.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promises are the system allocator's.
        checked(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.realloc(block, layout, size) })
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(block, layout) }
    }
}

fn checked(block: *mut u8) -> *mut u8 {
    if block.is_null() {
        out_of_memory();
    }
    block
}

/// Ends the process, with the object that scripts expect if there is one.
#[cold]
pub fn out_of_memory() -> ! {
    // The first thread that gets here speaks for all; the others wait for the end.
    while IS_ENDING.swap(true, Ordering::Relaxed) {
        std::thread::yield_now();
    }
    if let (Some(object), false) = (LAST_WORDS.get(), IS_ANSWERING.load(Ordering::Relaxed)) {
        system::write(system::OUT, object);
    }
    system::write(system::ERR, SENTENCE);
    system::exit(Status::Inconclusive as i32)
}

#[cfg(unix)]
mod system {
    pub const OUT: i32 = libc::STDOUT_FILENO;
    pub const ERR: i32 = libc::STDERR_FILENO;

    /// Writes without allocating; what cannot be written is lost.
    pub fn write(to: i32, text: &str) {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            // SAFETY: the pointer and the length are those of a slice.
            let written = unsafe { libc::write(to, rest.as_ptr().cast(), rest.len()) };
            match usize::try_from(written) {
                Ok(count @ 1..) => rest = rest.get(count..).unwrap_or_default(),
                _ => return,
            }
        }
    }

    pub fn exit(code: i32) -> ! {
        // SAFETY: ends the process without running anything else.
        unsafe { libc::_exit(code) }
    }
}

#[cfg(not(unix))]
mod system {
    use std::io::Write;

    pub const OUT: i32 = 1;
    pub const ERR: i32 = 2;

    pub fn write(to: i32, text: &str) {
        let _ = match to {
            OUT => std::io::stdout().write_all(text.as_bytes()),
            _ => std::io::stderr().write_all(text.as_bytes()),
        };
    }

    pub fn exit(code: i32) -> ! {
        std::process::exit(code)
    }
}
