//! What the slow readers of the terse formats share: a history as a plain list of operations, the
//! shapes of a few objects written out, and mistakes in comparable form. Nothing here is fast, and
//! nothing is shared with the readers that it judges.

use linchpin_history::{History, OpId};
use linchpin_ingest::IngestError;
use linchpin_spec::{Value, builtin};

/// A history: operations in the order of their calls.
#[derive(Debug, Default)]
pub struct SlowHistory {
    /// Whether values should be pairs of key and value, which these formats cannot say.
    keyed: bool,
    operations: Vec<SlowOperation>,
    events: u32,
}

#[derive(Debug)]
struct SlowOperation {
    process: String,
    name: &'static str,
    argument: Value,
    response: Option<Value>,
    invoked: u32,
    returned: Option<u32>,
    /// The line of the call.
    line: u64,
    /// Whether a crash ended it.
    lost: bool,
}

/// What is wrong, and where.
#[derive(Debug, PartialEq, Eq)]
pub struct Mistake {
    pub line: u64,
    pub column: Option<u64>,
    pub what: String,
}

impl Mistake {
    pub fn expected(line: u64, column: usize, expected: &str) -> Mistake {
        Mistake { line, column: Some(column as u64), what: format!("expected {expected}") }
    }

    fn plain(line: u64, what: String) -> Mistake {
        Mistake { line, column: None, what }
    }

    /// That of the reader.
    pub fn of(error: &IngestError) -> Mistake {
        let what = match error {
            IngestError::Advised { error, .. } => return Mistake::of(error),
            IngestError::Malformed { expected, .. } => format!("expected {expected}"),
            IngestError::Shape { operation, verb, .. } => format!("shape {operation} {verb}"),
            IngestError::UnknownOperation { name, .. } => format!("unknown {name}"),
            IngestError::StillOpen { process, called, open, since, .. } => {
                format!("open {process} {called} {open} {since}")
            }
            IngestError::NothingOpen { process, .. } => format!("nothing open {process}"),
            other => format!("{other:?}"),
        };
        Mistake { line: error.line().unwrap_or(0), column: error.column(), what }
    }
}

/// What a value may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Nothing,
    Bool,
    Int,
    Any,
}

/// The operations of an object, with what they take and what they answer.
pub fn operations(spec: &str) -> &'static [(&'static str, Kind, Kind)] {
    use Kind::{Any, Bool, Int, Nothing};
    match spec {
        "queue" => &[("enqueue", Any, Nothing), ("dequeue", Nothing, Any), ("peek", Nothing, Any)],
        "stack" => &[("push", Any, Nothing), ("pop", Nothing, Any), ("peek", Nothing, Any)],
        "set" => &[("add", Any, Bool), ("remove", Any, Bool), ("contains", Any, Bool)],
        "priority-queue" => &[("insert", Any, Nothing), ("remove-min", Nothing, Any)],
        "counter" => &[("add", Int, Nothing), ("read", Nothing, Int), ("fetch-add", Int, Int)],
        _ => panic!("no such object here: {spec}"),
    }
}

fn fits(value: &Value, kind: Kind) -> bool {
    match kind {
        Kind::Bool => matches!(value, Value::Bool(_)),
        Kind::Int => matches!(value, Value::Int(_)),
        Kind::Nothing | Kind::Any => true,
    }
}

impl SlowHistory {
    pub fn new(keyed: bool) -> SlowHistory {
        SlowHistory { keyed, ..SlowHistory::default() }
    }

    fn open(&mut self, process: &str) -> Option<&mut SlowOperation> {
        self.operations
            .iter_mut()
            .find(|op| op.process == process && op.returned.is_none() && !op.lost)
    }

    /// What a process has called and is not answered.
    pub fn open_name(&mut self, process: &str) -> Option<&'static str> {
        self.open(process).map(|op| op.name)
    }

    pub fn call(
        &mut self,
        line: u64,
        process: &str,
        spec: &str,
        name: &str,
        value: Value,
    ) -> Result<(), Mistake> {
        let known = operations(spec).iter().find(|known| known.0 == name.replace('_', "-"));
        let Some((name, takes, _)) = known else {
            return Err(Mistake::plain(line, format!("unknown {name}")));
        };
        if self.keyed {
            return Err(Mistake::plain(line, "expected a pair of key and value".to_owned()));
        }
        if !fits(&value, *takes) {
            return Err(Mistake::plain(line, format!("shape {name} takes")));
        }
        if let Some(open) = self.open(process) {
            let what = format!("open {process} {name} {} {}", open.name, open.line);
            return Err(Mistake::plain(line, what));
        }
        self.operations.push(SlowOperation {
            process: process.to_owned(),
            name,
            argument: if *takes == Kind::Nothing { Value::Null } else { value },
            response: None,
            invoked: self.events,
            returned: None,
            line,
            lost: false,
        });
        self.events += 1;
        Ok(())
    }

    pub fn answer(
        &mut self,
        line: u64,
        process: &str,
        spec: &str,
        value: Value,
    ) -> Result<(), Mistake> {
        let events = self.events;
        let Some(open) = self.open(process) else {
            return Err(Mistake::plain(line, format!("nothing open {process}")));
        };
        let known = operations(spec).iter().find(|known| known.0 == open.name);
        let answers = known.map_or(Kind::Any, |known| known.2);
        if !fits(&value, answers) {
            return Err(Mistake::plain(line, format!("shape {} answers", open.name)));
        }
        open.response = Some(if answers == Kind::Nothing { Value::Null } else { value });
        open.returned = Some(events);
        self.events += 1;
        Ok(())
    }

    pub fn crash(&mut self) {
        self.operations.iter_mut().for_each(|op| op.lost = op.returned.is_none());
        self.events += 1;
    }

    /// In words.
    pub fn shown(&self) -> Vec<String> {
        let show = |op: &SlowOperation| {
            let SlowOperation { process, name, argument, response, invoked, returned, .. } = op;
            format!("{process} {name} {argument:?} {response:?} {invoked} {returned:?}")
        };
        self.operations.iter().map(show).collect()
    }
}

/// The history of a reader, in the same words.
pub fn shown(history: &History, spec: &str) -> Vec<String> {
    let object = builtin(spec, None).unwrap();
    let show = |id: usize| {
        let op = &history.operations[id];
        let process = &history.processes[op.process as usize];
        let name = &object.operations()[op.operation as usize].name;
        let (argument, response) = (history.value(op.argument), history.response(OpId::new(id)));
        let returned = op.completed.then_some(op.returned);
        format!("{process} {name} {argument:?} {response:?} {} {returned:?}", op.invoked)
    };
    (0..history.operations.len()).map(show).collect()
}

/// Changes a few bytes.
pub fn spoil(text: &mut Vec<u8>, rng: &mut fastrand::Rng) {
    const BYTES: &[u8] = b"[]()#-+0123456789 \t\r\n\x0b\x0c\x00acert_\xff\xc3\xa0";
    for _ in 0..=rng.usize(..2) {
        if text.is_empty() {
            return;
        }
        let at = rng.usize(..text.len());
        match rng.u8(..6) {
            0 => text[at] = BYTES[rng.usize(..BYTES.len())],
            1 => drop(text.remove(at)),
            2 => text.truncate(at),
            3 => {
                let copy = text[at..(at + rng.usize(..30)).min(text.len())].to_vec();
                let to = rng.usize(..=text.len());
                text.splice(to..to, copy);
            }
            _ => text.insert(at, BYTES[rng.usize(..BYTES.len())]),
        }
    }
}
