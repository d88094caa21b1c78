//! Where bytes come from: a file, mapped into memory; standard input; and either of them compressed.

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
    /// Opens a file; `-` is standard input, read to its end. What is no regular file may have no end, like `/dev/zero`: an
    /// error if it has more than `most` bytes.
    pub fn open(path: &Path, most: u64) -> Result<Source, IngestError> {
        let mut bytes = Vec::new();
        if path == Path::new("-") {
            append(io::stdin().lock(), &mut bytes, most)?;
            return Ok(Source::Owned(bytes));
        }
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.len() >= MAP_FROM {
            // SAFETY: nobody changes a recording while it is read, as every reader that maps files must assume.
            return Ok(Source::Mapped(unsafe { Mmap::map(&file)? }));
        }
        match metadata.is_file() {
            true => drop(file.read_to_end(&mut bytes)?),
            false => append_stream(file, &mut bytes, most)?,
        }
        Ok(Source::Owned(bytes))
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

/// The text of what may be compressed: gzip and Zstandard are told by their first bytes. Also takes off the byte order
/// mark that some editors put before a text. An error if there are more than `most` bytes in what is compressed.
pub(crate) fn text(bytes: &[u8], most: u64) -> Result<Cow<'_, [u8]>, IngestError> {
    let text = if is_gzip(bytes) {
        let mut text = Vec::new();
        append(MultiGzDecoder::new(bytes), &mut text, most)?;
        Cow::Owned(text)
    } else if is_zstandard(bytes) {
        Cow::Owned(zstandard(bytes, most)?)
    } else {
        Cow::Borrowed(bytes)
    };
    Ok(match text {
        Cow::Borrowed(text) => Cow::Borrowed(without_mark(text)),
        Cow::Owned(mut text) => {
            let mark = text.len() - without_mark(&text).len();
            text.drain(..mark);
            Cow::Owned(text)
        }
    })
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text)
}

/// Bytes that show whether a stream is text.
const BEGINNING: u64 = 1 << 16;

/// Reads to the end what may have none. No text has a zero byte: what begins with some and is not compressed is not read
/// further, since its beginning is enough for the error.
fn append_stream(mut from: impl Read, bytes: &mut Vec<u8>, most: u64) -> Result<(), IngestError> {
    from.by_ref().take(BEGINNING).read_to_end(bytes)?;
    match bytes.contains(&0) && !is_gzip(bytes) && !is_zstandard(bytes) {
        true => Ok(()),
        false => append(from, bytes, most),
    }
}

fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

fn is_zstandard(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// Reads to the end, or until there are more than `most` bytes in all.
fn append(from: impl Read, text: &mut Vec<u8>, most: u64) -> Result<(), IngestError> {
    let left = most.saturating_sub(text.len() as u64);
    from.take(left.saturating_add(1)).read_to_end(text)?;
    match text.len() as u64 > most {
        true => Err(IngestError::TooLarge { most }),
        false => Ok(()),
    }
}

/// All frames, one after the other.
fn zstandard(mut bytes: &[u8], most: u64) -> Result<Vec<u8>, IngestError> {
    let mut text = Vec::new();
    while !bytes.is_empty() {
        let skip = match StreamingDecoder::new(&mut bytes) {
            Ok(frame) => {
                append(frame, &mut text, most)?;
                0
            }
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => length as usize,
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error).into()),
        };
        let rest = bytes.get(skip..);
        bytes = rest.ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))?;
    }
    Ok(text)
}
