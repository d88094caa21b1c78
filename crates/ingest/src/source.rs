//! Where bytes come from: a file, mapped into memory; standard input; and either of them
//! compressed.

use crate::decompress::{Decompressed, GZIP, MARK, ZSTANDARD};
use crate::error::IngestError;
use memmap2::Mmap;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::Path;

/// Smaller files are read: a mapping costs more than it saves.
const MAP_FROM: u64 = 1 << 20;

/// The bytes of a file, or of standard input. Still compressed if they were.
#[derive(Debug)]
pub enum Source {
    /// Mapped from a file.
    Mapped(Mmap),
    /// Read.
    Owned(Vec<u8>),
}

impl Source {
    /// Opens a file; `-` is standard input, read to its end.
    ///
    /// A regular file may have any size: a large one is mapped. Everything else (standard input, a
    /// pipe, a device) may never end, so reading it stops with [`IngestError::Endless`] after
    /// `most` bytes.
    pub fn open(path: &Path, most: u64) -> Result<Source, IngestError> {
        if path == Path::new("-") {
            return Source::read(io::stdin().lock(), most);
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Source::read(file, most);
        }
        if metadata.len() >= MAP_FROM {
            // SAFETY: a recording does not change while it is read, as every reader that maps
            // files must assume.
            return Ok(Source::Mapped(unsafe { Mmap::map(&file)? }));
        }
        // It was smaller than a mapped one a moment ago, unless it only says so, as those in /proc.
        Source::read(file, most.max(MAP_FROM))
    }

    fn read(from: impl Read, most: u64) -> Result<Source, IngestError> {
        let mut bytes = Vec::new();
        match append(from, &mut bytes, most)? {
            true => Ok(Source::Owned(bytes)),
            false => Err(IngestError::Endless { most }),
        }
    }
}

impl Deref for Source {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Source::Mapped(bytes) => bytes,
            Source::Owned(bytes) => bytes,
        }
    }
}

/// The text of what may be compressed: gzip and Zstandard are told by their first bytes. Also takes
/// off the byte order mark that some editors put before a text. An error if there are more than
/// `most` bytes in what is compressed.
pub(crate) fn text(bytes: &[u8], most: u64) -> Result<Cow<'_, [u8]>, IngestError> {
    if !bytes.starts_with(GZIP) && !bytes.starts_with(ZSTANDARD) {
        return Ok(Cow::Borrowed(bytes.strip_prefix(MARK).unwrap_or(bytes)));
    }
    let mut text = Vec::new();
    match append(Decompressed::new(bytes), &mut text, most)? {
        true => Ok(Cow::Owned(text)),
        false => Err(IngestError::TooLarge { most }),
    }
}

/// Reads to the end, or until there are more than `most` bytes in all; whether it is the end.
fn append(from: impl Read, text: &mut Vec<u8>, most: u64) -> io::Result<bool> {
    // INVARIANT: a length fits 64 bits.
    let left = most.saturating_sub(text.len() as u64);
    let read = from.take(left.saturating_add(1)).read_to_end(text)?;
    Ok(read as u64 <= left)
}
