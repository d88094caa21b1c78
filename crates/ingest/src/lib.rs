//! Bytes to histories.
//!
//! [`read_path`] and [`read_bytes`] read a whole recording in any [`Format`], compressed or not; a
//! [`Reader`] takes lines as they arrive. One file a format, under `formats`, turns text into
//! tokens; `record.rs` decides what they mean.
//!
//! ```
//! use linchpin_ingest::{ReadOptions, read_bytes};
//! use linchpin_spec::{Register, Spec};
//!
//! let text = br#"
//! {"process":0,"type":"invoke","f":"write","value":1}
//! {"process":1,"type":"invoke","f":"read","value":null}
//! {"process":1,"type":"ok","f":"read","value":1}
//! "#;
//! let register = Register::default();
//! let recording = read_bytes(text, &ReadOptions::new("register", register.operations()))?;
//! assert_eq!(recording.history.operations.len(), 2);
//! assert_eq!(recording.completed, 1);
//! # Ok::<(), linchpin_ingest::IngestError>(())
//! ```

mod convert;
mod decompress;
mod error;
mod event;
mod fast;
mod folder;
mod format;
mod formats;
mod happens;
mod options;
mod places;
mod reader;
mod record;
mod recording;
mod remark;
mod source;
mod token;

pub use decompress::Decompressed;
pub use error::IngestError;
pub use event::{Event, EventKind};
#[doc(hidden)]
pub use fast::FastPath;
pub use folder::{Found, Skipped, etcd_clients, histories, latest_run, whole};
pub use format::{Format, UnknownFormatError};
pub use options::{FailedCas, NilReads, Order, ReadOptions};
pub use places::{Annotation, Places};
pub use reader::Reader;
pub use recording::Recording;
pub use remark::Remark;
pub use source::Source;

use formats::{etcd, json_ahead};
use std::path::Path;

/// Reads the recording in a file; `-` is standard input. A folder is read if it is one history: the
/// run of a Jepsen test, or a report of etcd's robustness tests.
pub fn read_path(path: &Path, options: &ReadOptions<'_>) -> Result<Recording, IngestError> {
    if path.is_dir() {
        let file = whole(path)?.ok_or(IngestError::Folder)?;
        return match file == path {
            true => read_report(path, options),
            false => read_path(&file, options),
        };
    }
    read_bytes(&Source::open(path, options.most_bytes)?, options)
}

/// Reads the operations of all clients of a report of etcd's robustness tests.
fn read_report(folder: &Path, options: &ReadOptions<'_>) -> Result<Recording, IngestError> {
    let mut operations = etcd::Operations::default();
    for file in folder::etcd_clients(folder)? {
        let bytes = Source::open(&file, options.most_bytes)?;
        operations.read(&source::text(&bytes, options.most_bytes)?).map_err(|error| {
            // INVARIANT: clients have folders of their own.
            let client = file.parent().and_then(Path::file_name).unwrap_or_default();
            let client = client.to_string_lossy().into_owned();
            IngestError::InClient { client, error: Box::new(error) }
        })?;
    }
    let mut recorder = record::Recorder::new(Format::EtcdOperations, options);
    operations.record(&mut recorder)?;
    Ok(recorder.finish(Format::EtcdOperations))
}

/// Reads a recording, which may be compressed with gzip or Zstandard.
pub fn read_bytes(bytes: &[u8], options: &ReadOptions<'_>) -> Result<Recording, IngestError> {
    let text = source::text(bytes, options.most_bytes)?;
    let detected = options.format.or_else(|| Format::detect(&text));
    // A text without a word is a history without an event, whatever its format.
    let blank = text.trim_ascii().is_empty().then_some(Format::JsonLines);
    let format = detected.or(blank).ok_or(IngestError::UnknownFormat)?;
    if format == Format::TestJepsen {
        let edn = formats::test_jepsen::to_edn(&text, options.most_bytes)?;
        let options = ReadOptions { format: Some(Format::JepsenEdn), ..*options };
        let mut recording = read_bytes(&edn, &options)?;
        recording.format = format;
        return Ok(recording);
    }
    if options.order == Order::Time && !format.has_times() {
        return Err(IngestError::FormatWithoutTime { format });
    }
    let keyed = |keyed| ReadOptions { keyed: Some(keyed), ..*options };
    let mut reader = Reader::silent(format, options);
    let read = match read_text(&text, format, options, &mut reader) {
        Ok(()) => reader.finish(),
        // What was read so far was misunderstood: it was pairs of key and value.
        Err(IngestError::LateKeys { .. }) => read_as(&text, format, &keyed(true)),
        // It was misunderstood: it was no pairs.
        Err(error) if reader.wants_plain() => {
            read_as(&text, format, &keyed(false)).map(|mut recording| {
                if let IngestError::OtherKey { .. } = error {
                    recording.remarks.push(Remark::MayBePairs);
                }
                recording
            })
        }
        Err(error) => Err(error),
    };
    read.map_err(|error| error.advised(options))
}

fn read_as(
    text: &[u8],
    format: Format,
    options: &ReadOptions<'_>,
) -> Result<Recording, IngestError> {
    let mut reader = Reader::silent(format, options);
    read_text(text, format, options, &mut reader)?;
    reader.finish()
}

/// Reads all of a text.
fn read_text(
    text: &[u8],
    format: Format,
    options: &ReadOptions<'_>,
    reader: &mut Reader,
) -> Result<(), IngestError> {
    let says_after = reader.expect_after(text, options);
    if format == Format::JsonLines && formats::json_document::is_document(text) {
        reader.push_document(text)?;
    } else if format == Format::JsonLines && !says_after && options.is_parallel(text.len()) {
        json_ahead::read(text, json_ahead::BLOCK, reader)?;
    } else {
        let mut rest = text;
        while !rest.is_empty() {
            let (block, after) = rest.split_at(block_end(rest));
            reader.push_lines(block)?;
            rest = after;
        }
    }
    reader.end()
}

/// Text is read in blocks of about so many bytes: few enough to be looked at twice while they are
/// at hand.
const BLOCK: usize = 1 << 18;

/// The end of the whole lines that a text begins with: about a block of them, and at least one.
fn block_end(text: &[u8]) -> usize {
    let Some((block, rest)) = text.split_at_checked(BLOCK) else {
        return text.len();
    };
    let last = memchr::memrchr(b'\n', block);
    let end = last.or_else(|| memchr::memchr(b'\n', rest).map(|newline| BLOCK + newline));
    end.map_or(text.len(), |newline| newline + 1)
}

/// The beginning of a text, for messages.
fn excerpt(text: &[u8]) -> String {
    let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let shown: String =
        String::from_utf8_lossy(&line[..line.len().min(160)]).chars().take(40).collect();
    match shown.trim() {
        "" => "nothing".to_owned(),
        shown => format!("`{shown}`"),
    }
}

/// Where in a text a piece of it begins.
fn offset(text: &[u8], piece: &[u8]) -> usize {
    piece.as_ptr().addr().saturating_sub(text.as_ptr().addr())
}

/// A byte, for messages.
fn quoted(byte: u8) -> String {
    format!("`{}`", byte.escape_ascii())
}
