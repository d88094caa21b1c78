//! Where bytes come from: a file, mapped into memory; standard input; and either of them
//! compressed.

use crate::error::IngestError;
use flate2::read::MultiGzDecoder;
use memmap2::Mmap;
use ruzstd::decoding::StreamingDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
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
    let (text, is_whole) = if bytes.starts_with(&[0x1f, 0x8b]) {
        let mut text = Vec::new();
        let is_whole = append(MultiGzDecoder::new(bytes), &mut text, most)?;
        (text, is_whole)
    } else if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        zstandard(bytes, most)?
    } else {
        return Ok(Cow::Borrowed(bytes.strip_prefix(MARK).unwrap_or(bytes)));
    };
    if !is_whole {
        return Err(IngestError::TooLarge { most });
    }
    Ok(Cow::Owned(match text.strip_prefix(MARK) {
        Some(text) => text.to_vec(),
        None => text,
    }))
}

/// The byte order mark.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads to the end, or until there are more than `most` bytes in all; whether it is the end.
fn append(from: impl Read, text: &mut Vec<u8>, most: u64) -> io::Result<bool> {
    // INVARIANT: a length fits 64 bits.
    let left = most.saturating_sub(text.len() as u64);
    let read = from.take(left.saturating_add(1)).read_to_end(text)?;
    Ok(read as u64 <= left)
}

/// All frames, one after the other, up to `most` bytes; and whether that is all.
fn zstandard(mut bytes: &[u8], most: u64) -> io::Result<(Vec<u8>, bool)> {
    let mut text = Vec::new();
    while !bytes.is_empty() {
        let skip = match StreamingDecoder::new(&mut bytes) {
            Ok(frame) => {
                if !append(frame, &mut text, most)? {
                    return Ok((text, false));
                }
                0
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => usize::try_from(length).unwrap_or(usize::MAX),
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        };
        let rest = bytes.get(skip..);
        bytes = rest.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
    }
    Ok((text, true))
}
