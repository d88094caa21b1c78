//! Product states in a file: sorted, each with the place of its parent in the level before.
//!
//! A record begins with how many bytes the state shares with the one before it, so sorted records
//! are short.

use std::cmp::Ordering;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Error, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

/// No part of a record is longer.
const LONGEST: u64 = 1 << 24;

/// So much of a file is read or written at a time.
const BUFFER: usize = 1 << 16;

/// A product state as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Written<'a> {
    /// The implementation state, without its allowance.
    pub rest: &'a [u8],
    pub allowance: &'a [u8],
    pub set: &'a [u8],
    /// Which of the level before it comes from.
    pub parent: u64,
}

impl Written<'_> {
    /// The order in files: what can stand for each other is next to each other.
    pub fn compare(&self, other: &Written<'_>) -> Ordering {
        self.rest
            .cmp(other.rest)
            .then_with(|| self.allowance.cmp(other.allowance))
            .then_with(|| self.set.cmp(other.set))
            .then_with(|| self.parent.cmp(&other.parent))
    }
}

/// A file of sorted records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    pub path: PathBuf,
    pub records: u64,
    /// Of all bytes of the file.
    pub checksum: Checksum,
}

impl Run {
    /// An error if the file is not as it was written.
    pub fn verify(&self) -> io::Result<()> {
        let mut file = BufReader::with_capacity(BUFFER, File::open(&self.path)?);
        let mut checksum = Checksum::default();
        loop {
            let bytes = file.fill_buf()?;
            if bytes.is_empty() {
                break;
            }
            checksum.add(bytes);
            let length = bytes.len();
            file.consume(length);
        }
        if checksum == self.checksum { Ok(()) } else { Err(damaged()) }
    }
}

/// Tells whether bytes were changed by mistake (FNV-1a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Checksum(pub u64);

impl Default for Checksum {
    fn default() -> Checksum {
        Checksum(0xcbf2_9ce4_8422_2325)
    }
}

impl Checksum {
    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
}

/// Writes a run.
pub(crate) struct RunWriter {
    path: PathBuf,
    file: BufWriter<File>,
    last: Vec<u8>,
    records: u64,
    checksum: Checksum,
}

impl RunWriter {
    pub fn create(path: &Path) -> io::Result<RunWriter> {
        let file = BufWriter::with_capacity(BUFFER, File::create(path)?);
        let (path, checksum) = (path.to_owned(), Checksum::default());
        Ok(RunWriter { path, file, last: Vec::new(), records: 0, checksum })
    }

    pub fn push(&mut self, record: &Written<'_>) -> io::Result<()> {
        let pairs = self.last.iter().zip(record.rest);
        let shared = pairs.take_while(|(left, right)| left == right).count();
        self.number(shared as u64)?;
        for part in [&record.rest[shared..], record.allowance, record.set] {
            self.number(part.len() as u64)?;
            self.write(part)?;
        }
        self.number(record.parent)?;
        self.last.truncate(shared);
        self.last.extend_from_slice(&record.rest[shared..]);
        self.records += 1;
        Ok(())
    }

    fn number(&mut self, mut number: u64) -> io::Result<()> {
        let (mut bytes, mut length) = ([0; 10], 0);
        loop {
            bytes[length] = (number & 0x7f) as u8;
            number >>= 7;
            if number == 0 {
                break;
            }
            bytes[length] |= 0x80;
            length += 1;
        }
        self.write(&bytes[..=length])
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.add(bytes);
        self.file.write_all(bytes)
    }

    /// The run, which is on disk for good.
    pub fn finish(self) -> io::Result<Run> {
        let file = self.file.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(Run { path: self.path, records: self.records, checksum: self.checksum })
    }
}

/// Reads a run from its beginning to its end.
pub(crate) struct RunReader {
    file: BufReader<File>,
    /// How many records follow the current one.
    left: u64,
    /// Whether there is a current record.
    is_at_record: bool,
    rest: Vec<u8>,
    allowance: Vec<u8>,
    set: Vec<u8>,
    parent: u64,
}

impl RunReader {
    /// The reader, at the first record if there is one.
    pub fn open(run: &Run) -> io::Result<RunReader> {
        let mut reader = RunReader {
            file: BufReader::with_capacity(BUFFER, File::open(&run.path)?),
            left: run.records,
            is_at_record: false,
            rest: Vec::new(),
            allowance: Vec::new(),
            set: Vec::new(),
            parent: 0,
        };
        reader.advance()?;
        Ok(reader)
    }

    /// The current record; none at the end.
    pub fn record(&self) -> Option<Written<'_>> {
        let RunReader { rest, allowance, set, parent, .. } = self;
        self.is_at_record.then_some(Written { rest, allowance, set, parent: *parent })
    }

    /// Goes to the next record.
    pub fn advance(&mut self) -> io::Result<()> {
        self.is_at_record = self.left > 0;
        if !self.is_at_record {
            return Ok(());
        }
        self.left -= 1;
        let shared = self.number()?;
        let shared = usize::try_from(shared).ok().filter(|shared| *shared <= self.rest.len());
        self.rest.truncate(shared.ok_or_else(damaged)?);
        let RunReader { file, rest, allowance, set, .. } = self;
        append(file, rest)?;
        allowance.clear();
        append(file, allowance)?;
        set.clear();
        append(file, set)?;
        self.parent = self.number()?;
        Ok(())
    }

    fn number(&mut self) -> io::Result<u64> {
        number(&mut self.file)
    }
}

fn damaged() -> Error {
    Error::new(ErrorKind::InvalidData, "a file is damaged, begin a new search in a new folder")
}

/// Reads a length, and so many bytes.
fn append(file: &mut BufReader<File>, to: &mut Vec<u8>) -> io::Result<()> {
    let length = number(file)?;
    if length > LONGEST {
        return Err(damaged());
    }
    let read = file.by_ref().take(length).read_to_end(to)?;
    if read as u64 == length { Ok(()) } else { Err(damaged()) }
}

fn number(file: &mut BufReader<File>) -> io::Result<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = *file.fill_buf()?.first().ok_or_else(damaged)?;
        file.consume(1);
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(number);
        }
    }
    Err(damaged())
}
