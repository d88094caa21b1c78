//! Bytes that arrive, decompressed on the way: gzip and Zstandard are told by their first bytes.
//!
//! Memory is bounded by what the compression asks for (a window of 32 KiB for gzip, of at most 100
//! MiB for Zstandard), however much arrives.

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::fmt;
use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};

/// The first bytes of gzip.
pub(crate) const GZIP: &[u8] = &[0x1f, 0x8b];

/// The first bytes of Zstandard.
pub(crate) const ZSTANDARD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];

/// The byte order mark, which some editors put before a text.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

/// A reader of the text in what may be compressed. Nothing is read before the first byte is asked
/// for; text that is not compressed is given on as it arrives.
///
/// ```
/// use linchpin_ingest::Decompressed;
/// use std::io::Read;
///
/// let mut text = String::new();
/// Decompressed::new(&b"[0] call pop()"[..]).read_to_string(&mut text)?;
/// assert_eq!(text, "[0] call pop()");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Decompressed<R: Read> {
    inner: Inner<R>,
    /// Of the text, what was looked at for a byte order mark.
    begun: Option<Cursor<Vec<u8>>>,
}

/// What was looked at, and the rest.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

enum Inner<R: Read> {
    New(R),
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<Whole<R>>>),
    Zstandard(Box<Frames<Whole<R>>>),
    /// An error came of finding out what it is.
    Failed,
}

impl<R: Read> Decompressed<R> {
    /// The text of what this gives.
    pub fn new(from: R) -> Decompressed<R> {
        Decompressed { inner: Inner::New(from), begun: None }
    }

    /// Finds out what it is.
    fn begin(&mut self) -> io::Result<()> {
        if let Inner::New(mut from) = std::mem::replace(&mut self.inner, Inner::Failed) {
            let first = beginning(&mut from, &[GZIP, ZSTANDARD])?;
            let (is_gzip, is_zstandard) = (first.starts_with(GZIP), first.starts_with(ZSTANDARD));
            let whole = Cursor::new(first).chain(from);
            self.inner = match (is_gzip, is_zstandard) {
                (true, _) => Inner::Gzip(Box::new(MultiGzDecoder::new(whole))),
                (_, true) => Inner::Zstandard(Box::new(Frames::new(whole))),
                _ => Inner::Plain(whole),
            };
        }
        let mut text = beginning(&mut self.inner, &[MARK])?;
        if text.starts_with(MARK) {
            text.drain(..MARK.len());
        }
        self.begun = Some(Cursor::new(text));
        Ok(())
    }
}

impl<R: Read> Read for Decompressed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.begun.is_none() {
            self.begin()?;
        }
        match self.begun.as_mut().map_or(Ok(0), |begun| begun.read(buffer))? {
            0 => self.inner.read(buffer),
            count => Ok(count),
        }
    }
}

impl<R: Read> Read for Inner<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Inner::Plain(text) => text.read(buffer),
            Inner::Gzip(decoder) => decoder.read(buffer),
            Inner::Zstandard(frames) => frames.read(buffer),
            Inner::New(_) | Inner::Failed => Ok(0),
        }
    }
}

impl<R: Read> fmt::Debug for Decompressed<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.inner {
            Inner::New(_) => "Decompressed(new)",
            Inner::Plain(_) => "Decompressed(plain)",
            Inner::Gzip(_) => "Decompressed(gzip)",
            Inner::Zstandard(_) => "Decompressed(zstd)",
            Inner::Failed => "Decompressed(failed)",
        })
    }
}

/// As few first bytes as tell whether one of these is what they begin with: no more is waited for.
fn beginning(mut from: impl Read, words: &[&[u8]]) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    let mut byte = [0];
    while words.iter().any(|word| word.len() > first.len() && word.starts_with(&first)) {
        match from.read(&mut byte) {
            Ok(0) => break,
            Ok(_) => first.push(byte[0]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(first)
}

/// A frame without contents. A decoder that has seen one refuses windows of more than 100 MiB; a
/// new one does not.
const EMPTY_FRAME: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd, 0x20, 0x00];

/// How much is decoded before it is given on.
const STEP: usize = 1 << 16;

/// The frames of Zstandard, one after the other.
struct Frames<R: Read> {
    source: BufReader<R>,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: Read> Frames<R> {
    fn new(from: R) -> Frames<R> {
        let mut decoder = FrameDecoder::new();
        // INVARIANT: this frame is one.
        let _ = decoder.init(EMPTY_FRAME);
        Frames { source: BufReader::new(from), decoder, in_frame: false }
    }

    /// Begins the next frame, or skips one that holds no text; whether there was any.
    fn next_frame(&mut self) -> io::Result<bool> {
        if self.source.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.decoder.init(&mut self.source) {
            Ok(()) => self.in_frame = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = u64::from(length);
                if io::copy(&mut self.source.by_ref().take(length), &mut io::sink())? < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
            }
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
        Ok(true)
    }
}

impl<R: Read> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if self.in_frame && self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.in_frame && !self.decoder.is_finished() {
                let strategy = BlockDecodingStrategy::UptoBytes(STEP);
                let decoded = self.decoder.decode_blocks(&mut self.source, strategy);
                decoded.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            } else if !self.next_frame()? {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Gives one byte at a time.
    struct Slow<'a>(&'a [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            match (self.0.split_first(), buffer.first_mut()) {
                (Some((byte, rest)), Some(slot)) => {
                    (*slot, self.0) = (*byte, rest);
                    Ok(1)
                }
                _ => Ok(0),
            }
        }
    }

    fn text() -> Vec<u8> {
        (0..30_000).flat_map(|line| format!("line {line}\n").into_bytes()).collect()
    }

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn zstandard(text: &[u8]) -> Vec<u8> {
        ruzstd::encoding::compress_to_vec(text, ruzstd::encoding::CompressionLevel::Fastest)
    }

    fn read(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let (mut fast, mut slow) = (Vec::new(), Vec::new());
        Decompressed::new(bytes).read_to_end(&mut fast)?;
        Decompressed::new(Slow(bytes)).read_to_end(&mut slow)?;
        assert_eq!(fast, slow);
        Ok(fast)
    }

    #[test]
    fn what_arrives_is_decompressed() {
        let text = text();
        for text in [&text[..], b"", b"\x1f", b"\x28\xb5", b"\xef\xbb", b"{", b"\n"] {
            assert_eq!(read(text).unwrap(), text);
            assert_eq!(read(&gzip(text)).unwrap(), text);
            assert_eq!(read(&zstandard(text)).unwrap(), text);
        }
        let marked = [MARK, &text].concat();
        assert_eq!(read(&marked).unwrap(), text);
        assert_eq!(read(&gzip(&marked)).unwrap(), text);
    }

    #[test]
    fn members_and_frames_follow_each_other() {
        let text = text();
        let (one, other) = text.split_at(1000);
        assert_eq!(read(&[gzip(one), gzip(other)].concat()).unwrap(), text);
        let skipped = [&[0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let frames = [zstandard(one), skipped.clone(), zstandard(other), skipped].concat();
        assert_eq!(read(&frames).unwrap(), text);
    }

    #[test]
    fn what_is_cut_short_is_an_error() {
        let text = text();
        for bytes in [gzip(&text), zstandard(&text)] {
            assert!(read(&bytes[..bytes.len() - 5]).is_err());
            assert!(read(&bytes[..bytes.len() / 2]).is_err());
        }
    }

    #[test]
    fn a_window_may_not_be_as_large_as_it_likes() {
        // A window of 2^41 bytes; one raw block of one byte.
        let bomb = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x09, 0x00, 0x00, b'x'];
        assert!(read(&bomb).is_err());
    }
}
