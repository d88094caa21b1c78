//! The formats that recorded histories come in, and how to tell them apart.

use std::fmt;
use std::str::FromStr;

/// A format of recorded histories.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One event a line, the Jepsen operation map as JSON; also the same objects in a JSON array.
    JsonLines,
    /// Jepsen's and Knossos's `history.edn`: operation maps, in a vector, in a list or just one
    /// after the other.
    JepsenEdn,
    /// Jepsen's console log and `history.txt`: `process`, `:type`, `:f`, value between tabs, among
    /// other lines.
    JepsenLog,
    /// Porcupine's key-value recordings: one EDN map a line, with a `:key`.
    PorcupineKv,
    /// fastlin's (and PolyLin's) text: `method value start end`, one complete operation a line.
    Fastlin,
    /// LiMo's (and Violin's) text: `[thread] call push(3)`, `[thread] return`.
    Limo,
    /// The binary `test.jepsen` of a Jepsen run.
    TestJepsen,
    /// The `operations.json` of a client in a report of etcd's robustness tests.
    EtcdOperations,
    /// TiPocket's `history.log`.
    Tipocket,
    /// The lines of S2's verification.
    S2,
}

impl Format {
    /// Every format.
    pub const ALL: [Format; 10] = [
        Format::JsonLines,
        Format::JepsenEdn,
        Format::JepsenLog,
        Format::PorcupineKv,
        Format::Fastlin,
        Format::Limo,
        Format::TestJepsen,
        Format::EtcdOperations,
        Format::Tipocket,
        Format::S2,
    ];

    /// The name that `--format` takes.
    pub fn name(self) -> &'static str {
        match self {
            Format::JsonLines => "json-lines",
            Format::JepsenEdn => "jepsen-edn",
            Format::JepsenLog => "jepsen-log",
            Format::PorcupineKv => "porcupine-kv",
            Format::Fastlin => "fastlin",
            Format::Limo => "limo",
            Format::TestJepsen => "test-jepsen",
            Format::EtcdOperations => "etcd-operations",
            Format::Tipocket => "tipocket",
            Format::S2 => "s2",
        }
    }

    /// Whether what happened is only known when all of it is there, so that it cannot be judged as
    /// it arrives: its operations are in no order, or it is no text of lines.
    pub fn is_whole(self) -> bool {
        matches!(self, Format::Fastlin | Format::TestJepsen | Format::EtcdOperations)
    }

    /// Whether its events may have a time.
    pub(crate) fn has_times(self) -> bool {
        matches!(
            self,
            Format::JsonLines | Format::JepsenEdn | Format::PorcupineKv | Format::TestJepsen
        )
    }

    /// The format of a text, judged by its beginning. Other lines may come before the first event
    /// of a log.
    ///
    /// ```
    /// use linchpin_ingest::Format;
    ///
    /// assert_eq!(Format::detect(br#"{"process":0,"type":"invoke","f":"read"}"#), Some(Format::JsonLines));
    /// assert_eq!(Format::detect(b"; from a test\n[{:process 0, :type :invoke}]"), Some(Format::JepsenEdn));
    /// assert_eq!(Format::detect(b"Dear diary"), None);
    /// ```
    pub fn detect(text: &[u8]) -> Option<Format> {
        if text.starts_with(crate::formats::test_jepsen::MAGIC) {
            return Some(Format::TestJepsen);
        }
        let text = &text[..text.len().min(DETECT_WITHIN)];
        let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines.clone().find(|line| !line.is_empty() && !line.starts_with(b";"));
        let by_brackets = first.and_then(by_first_line);
        by_brackets.or_else(|| lines.find_map(by_any_line)).or_else(|| edn(text))
    }

    /// The format of a text of which these are the first lines, if they tell, whatever comes after
    /// them.
    ///
    /// ```
    /// use linchpin_ingest::Format;
    ///
    /// assert_eq!(Format::detect_early(b"INFO  starting\n"), None);
    /// assert_eq!(Format::detect_early(b"INFO  starting\n0 :invoke :read nil\n"), Some(Format::JepsenLog));
    /// assert_eq!(Format::detect_early(b"[\n"), None);
    /// assert_eq!(Format::detect_early(b"[\n{\"process\":0,\n"), Some(Format::JsonLines));
    /// ```
    pub fn detect_early(text: &[u8]) -> Option<Format> {
        let early = Format::detect(text)?;
        let lines = || text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        let first = lines().find(|line| !line.is_empty() && !line.starts_with(b";"));
        let is_told = first.and_then(by_first_line).is_some()
            || matches!(early, Format::TestJepsen)
            || lines().any(|line| by_any_line(line).is_some());
        (is_told || begins_with_brackets(text)).then_some(early)
    }

    /// Whether a text in this format, which begins so, can only be read when all of it is there:
    /// the format is [such a one](Format::is_whole), or it is JSON that is not one object a line.
    pub fn needs_all(self, beginning: &[u8]) -> bool {
        let is_document = crate::formats::json_document::is_document;
        self.is_whole() || self == Format::JsonLines && is_document(beginning)
    }

    /// How far into a text the detection looks, in bytes.
    pub const DETECT_WITHIN: usize = DETECT_WITHIN;
}

/// Whether there is nothing but brackets, tags and comments before the first map, and something in
/// it.
fn begins_with_brackets(text: &[u8]) -> bool {
    let lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    for line in lines.filter(|line| !line.starts_with(b";")) {
        let map = memchr::memchr(b'{', line);
        let before = &line[..map.unwrap_or(line.len())];
        let is_bracket =
            |byte: &u8| matches!(byte, b'[' | b'(' | b',') || byte.is_ascii_whitespace();
        let mut words = before.split(is_bracket).filter(|word| !word.is_empty());
        if !words.all(|word| word.starts_with(b"#")) {
            return false;
        }
        if let Some(map) = map {
            let after = crate::offset(text, line) + map + 1;
            return !text[after..].trim_ascii().is_empty();
        }
    }
    false
}

/// How far into a text the detection looks.
pub(crate) const DETECT_WITHIN: usize = 256 * 1024;

/// The format that such a first line can only be in.
fn by_first_line(line: &[u8]) -> Option<Format> {
    if let Some(rest) = line.strip_prefix(b"#") {
        let word = rest.trim_ascii_start();
        let fastlin = [&b"stack"[..], b"queue", b"set", b"priorityqueue", b"pqueue"];
        return if word.starts_with(b"@object") {
            Some(Format::Limo)
        } else if fastlin.contains(&word) {
            Some(Format::Fastlin)
        } else {
            None
        };
    }
    let inner = line.strip_prefix(b"[").unwrap_or(line).trim_ascii_start();
    let after = inner.strip_prefix(b"{")?.trim_ascii_start();
    match after.first() {
        Some(b'"') => Some(json_format(line)),
        Some(b'}') if line.starts_with(b"{") => Some(Format::JsonLines),
        Some(b':') if memchr::memmem::find(line, b" :key ").is_some() => Some(Format::PorcupineKv),
        Some(b':') => Some(Format::JepsenEdn),
        _ => None,
    }
}

/// The format of a line that is a JSON object, or begins one.
fn json_format(line: &[u8]) -> Format {
    let has = |name: &str| memchr::memmem::find(line, name.as_bytes()).is_some();
    if has("\"process\"") && has("\"type\"") {
        return Format::JsonLines;
    }
    if has("\"ClientId\"") && has("\"Input\"") && has("\"Call\"") {
        return Format::EtcdOperations;
    }
    if has("\"action\"") && has("\"proc\"") && has("\"data\"") {
        return Format::Tipocket;
    }
    if has("\"event\"") && has("\"client_id\"") && has("\"op_id\"") {
        return Format::S2;
    }
    Format::JsonLines
}

/// The format that such a line, wherever it is, can only be in.
fn by_any_line(line: &[u8]) -> Option<Format> {
    if crate::formats::jepsen_log::is_event(line) {
        return Some(Format::JepsenLog);
    }
    if crate::formats::limo::is_event(line) {
        return Some(Format::Limo);
    }
    crate::formats::fastlin::is_operation(line).then_some(Format::Fastlin)
}

/// Whether brackets over several lines begin JSON or EDN.
fn edn(text: &[u8]) -> Option<Format> {
    let mut lines = text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(b";"))?;
    if !matches!(first[0], b'[' | b'(' | b'{' | b'#') {
        return None;
    }
    let start = memchr::memchr(b'{', text).map_or(text.len(), |at| at + 1);
    match text[start..].trim_ascii_start().first() {
        Some(b'"') => Some(Format::JsonLines),
        _ if first[0] == b'{' && start == text.len() => Some(Format::JsonLines),
        _ => Some(Format::JepsenEdn),
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No format has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no format `{name}`; there are {}", names())]
pub struct UnknownFormatError {
    /// The name asked for.
    pub name: String,
}

/// The names of all formats, for messages.
pub(crate) fn names() -> String {
    Format::ALL.map(Format::name).join(", ")
}

impl FromStr for Format {
    type Err = UnknownFormatError;

    fn from_str(name: &str) -> Result<Format, UnknownFormatError> {
        let plain = name.replace('_', "-");
        let found = Format::ALL.into_iter().find(|format| format.name() == plain);
        let found = found.or(match plain.as_str() {
            "json" | "jsonl" | "ndjson" => Some(Format::JsonLines),
            "edn" | "jepsen" | "knossos" => Some(Format::JepsenEdn),
            "log" => Some(Format::JepsenLog),
            "porcupine" => Some(Format::PorcupineKv),
            "violin" => Some(Format::Limo),
            "etcd" => Some(Format::EtcdOperations),
            _ => None,
        });
        found.ok_or_else(|| UnknownFormatError { name: name.to_owned() })
    }
}
