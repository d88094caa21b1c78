//! Histories to judge: processes call an object, each operation takes effect at a random instant
//! between its call and its return, so the history is linearizable; a late violation changes one
//! answer near the end.

use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

/// The objects.
pub const SPECS: &[&str] = &[
    "register",
    "cas-register",
    "queue",
    "stack",
    "priority-queue",
    "set",
    "map",
    "mutex",
    "counter",
    "mwcas",
    "kv",
];

/// The objects of [`Workload`]s whose values repeat.
pub const REPEATING: &[&str] =
    &["register", "cas-register", "queue", "stack", "priority-queue", "multi-register", "kv"];

/// What to generate.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub spec: &'static str,
    pub operations: usize,
    pub processes: usize,
    /// Whether one answer near the end is wrong.
    pub violated: bool,
    pub seed: u64,
    /// How many different values there are; if absent, every value is new.
    pub values: Option<i64>,
}

enum Process {
    Idle,
    Called(Call),
    /// It has taken effect; this is the answer, as JSON.
    Done(Call, String),
}

#[derive(Clone)]
struct Call {
    name: &'static str,
    /// The argument, as JSON.
    argument: String,
    numbers: Vec<i64>,
}

impl Workload {
    /// The history as JSON lines.
    pub fn generate(&self) -> String {
        let mut random = Rng::with_seed(self.seed);
        let mut object = Object { values: self.values, ..Object::default() };
        let mut processes: Vec<Process> = (0..self.processes).map(|_| Process::Idle).collect();
        let mut out = String::with_capacity(self.operations * 140);
        let (mut called, mut returned) = (0, 0);
        let wrong_at = if self.violated { self.operations * 95 / 100 } else { usize::MAX };
        let mut wrong_pending = self.violated;
        while returned < self.operations {
            let process = random.usize(..self.processes);
            processes[process] = match std::mem::replace(&mut processes[process], Process::Idle) {
                Process::Idle if called == self.operations => Process::Idle,
                Process::Idle => {
                    called += 1;
                    let call = object.call(self.spec, process, &mut random);
                    line(&mut out, process, "invoke", call.name, &call.argument);
                    Process::Called(call)
                }
                Process::Called(call) => match object.apply(self.spec, process, &call) {
                    Some(answer) => Process::Done(call, answer),
                    // A mutex gives no answer that could be wrong: it lets two in.
                    None if wrong_pending && returned >= wrong_at => {
                        wrong_pending = false;
                        Process::Done(call, "null".to_owned())
                    }
                    None => Process::Called(call),
                },
                Process::Done(call, answer) => {
                    returned += 1;
                    let mut answer = answer;
                    if wrong_pending && returned >= wrong_at {
                        let other = match self.values {
                            Some(values) => other_value(&call, values, &answer, &mut random),
                            None => wrong(self.spec, &call, &answer),
                        };
                        if let Some(wrong) = other {
                            answer = wrong;
                            wrong_pending = false;
                        }
                    }
                    line(&mut out, process, "ok", call.name, &answer);
                    Process::Idle
                }
            };
            if called == self.operations && stuck(&processes) {
                break;
            }
        }
        out
    }
}

/// Whether only operations that wait for ever are left (an `acquire` that no `release` will
/// follow).
fn stuck(processes: &[Process]) -> bool {
    processes.iter().all(|p| match p {
        Process::Idle => true,
        Process::Called(call) => call.name == "acquire",
        Process::Done(..) => false,
    })
}

/// An answer that no order explains: a value that went away long ago or never was.
fn wrong(spec: &str, call: &Call, answer: &str) -> Option<String> {
    match (spec, call.name) {
        ("register" | "cas-register", "read") if answer != "null" => Some("1".to_owned()),
        ("queue" | "stack" | "priority-queue", "dequeue" | "pop" | "remove-min")
            if answer != "null" =>
        {
            Some("1".to_owned())
        }
        ("set", "contains") => Some(if answer == "true" { "false" } else { "true" }.to_owned()),
        ("map", "get") => Some("1".to_owned()),
        ("counter", "read") => Some("1".to_owned()),
        // The text of the beginning, long after it was overwritten.
        ("kv", "get") if answer != "\"\"" => Some("\"\"".to_owned()),
        ("mwcas", "mwread") => Some(format!("[[{},1],[{},1]]", call.numbers[0], call.numbers[1])),
        _ => None,
    }
}

/// One of the few values instead of the one that is answered. Some order may still explain it.
fn other_value(call: &Call, values: i64, answer: &str, random: &mut Rng) -> Option<String> {
    let mut other = |old: i64| (old - FIRST + random.i64(1..values)) % values + FIRST;
    match call.name {
        "txn" => {
            let mut answers: Vec<(String, i64, Option<i64>)> = serde_json::from_str(answer).ok()?;
            let read = answers.iter_mut().find(|(kind, ..)| kind == "r")?;
            read.2 = Some(other(read.2?));
            serde_json::to_string(&answers).ok()
        }
        "get" => {
            let text: String = serde_json::from_str(answer).ok()?;
            let mut letters: Vec<u8> = text.into_bytes();
            let last = letters.last_mut()?;
            let number = other(i64::from(*last - b'a') + FIRST) - FIRST;
            *last = b'a' + u8::try_from(number).ok()?;
            serde_json::to_string(&String::from_utf8(letters).ok()?).ok()
        }
        "read" | "dequeue" | "pop" | "remove-min" => Some(other(answer.parse().ok()?).to_string()),
        _ => None,
    }
}

fn line(out: &mut String, process: usize, kind: &str, name: &str, value: &str) {
    let _ =
        writeln!(out, r#"{{"process":{process},"type":"{kind}","f":"{name}","value":{value}}}"#);
}

/// Every object at once; only the one that is asked for is used.
#[derive(Default)]
struct Object {
    next: i64,
    list: VecDeque<i64>,
    sorted: BTreeSet<i64>,
    map: BTreeMap<i64, i64>,
    register: Option<i64>,
    total: i64,
    holder: Option<usize>,
    values: Option<i64>,
    texts: BTreeMap<i64, String>,
}

/// The first value.
const FIRST: i64 = 2;

/// A value as a text: a letter if there are few.
fn piece(value: i64, values: Option<i64>) -> String {
    let letter = u8::try_from(value - FIRST).map(|number| char::from(b'a' + number));
    match (values, letter) {
        (Some(_), Ok(letter)) => letter.to_string(),
        _ => format!("x {value} y"),
    }
}

/// Keys of `multi-register` and `kv`.
const KEYS: i64 = 4;

/// Locations of `mwcas`.
const LOCATIONS: i64 = 64;

impl Object {
    /// A new value, or one of few.
    fn value(&mut self, random: &mut Rng) -> i64 {
        match self.values {
            Some(values) => random.i64(FIRST..FIRST + values),
            None => self.fresh(),
        }
    }

    fn fresh(&mut self) -> i64 {
        self.next += 1;
        self.next + 1
    }

    fn call(&mut self, spec: &str, process: usize, random: &mut Rng) -> Call {
        let call = |name, argument: String, numbers: Vec<i64>| Call { name, argument, numbers };
        let plain = |name| call(name, "null".to_owned(), Vec::new());
        let one = |name, n: i64| call(name, n.to_string(), vec![n]);
        let values = self.values;
        let text = |name, key: i64, value: i64| {
            call(name, format!("[{key},\"{}\"]", piece(value, values)), vec![key, value])
        };
        let two = |name, a: i64, b: i64| call(name, format!("[{a},{b}]"), vec![a, b]);
        match spec {
            "register" => match random.bool() {
                true => one("write", self.value(random)),
                false => plain("read"),
            },
            // Few values, so that they repeat: the hard case.
            "cas-register" => match random.u8(..10) {
                0..=2 => two("cas", random.i64(2..7), random.i64(2..7)),
                3..=5 => one("write", random.i64(2..7)),
                _ => plain("read"),
            },
            "queue" => match random.bool() {
                true => one("enqueue", self.value(random)),
                false => plain("dequeue"),
            },
            "stack" => match random.bool() {
                true => one("push", self.value(random)),
                false => plain("pop"),
            },
            "priority-queue" => match random.bool() {
                true if self.values.is_some() => one("insert", self.value(random)),
                true => {
                    // Distinct priorities in no particular order.
                    let fresh = self.fresh();
                    one("insert", (fresh.wrapping_mul(0x9E37_79B1) & 0xFFFF_FFFF) << 22 | fresh)
                }
                false => plain("remove-min"),
            },
            "set" => one(["add", "remove", "contains"][random.usize(..3)], random.i64(1..100)),
            "map" => match random.u8(..3) {
                0 => {
                    let (key, value) = (random.i64(1..100), self.fresh());
                    two("put", key, value)
                }
                1 => one("get", random.i64(1..100)),
                _ => one("remove", random.i64(1..100)),
            },
            "multi-register" => self.transaction(random),
            "kv" => match random.u8(..8) {
                0..=3 => one("get", random.i64(0..KEYS)),
                4..=6 => text("append", random.i64(0..KEYS), self.value(random)),
                _ => text("put", random.i64(0..KEYS), self.value(random)),
            },
            "mutex" => match self.holder == Some(process) {
                true => plain("release"),
                false => plain("acquire"),
            },
            "counter" => match random.bool() {
                true => one("add", 1),
                false => plain("read"),
            },
            _ => {
                let a = random.i64(0..LOCATIONS);
                let b = (a + random.i64(1..LOCATIONS)) % LOCATIONS;
                match random.bool() {
                    true => {
                        let (x, y) = (self.fresh(), self.fresh());
                        let seen = |at: i64| *self.map.get(&at).unwrap_or(&0);
                        let words = format!("[[{a},{},{x}],[{b},{},{y}]]", seen(a), seen(b));
                        call("mwcas", words, vec![a, b, seen(a), seen(b), x, y])
                    }
                    false => call("mwread", format!("[[{a},null],[{b},null]]"), vec![a, b]),
                }
            }
        }
    }

    /// One or two reads and writes of different registers.
    fn transaction(&mut self, random: &mut Rng) -> Call {
        let first = random.i64(0..KEYS);
        let mut keys = vec![first];
        if random.bool() {
            keys.push((first + random.i64(1..KEYS)) % KEYS);
        }
        let (mut texts, mut numbers) = (Vec::new(), Vec::new());
        for key in keys {
            let written = random.bool().then(|| self.value(random));
            texts.push(match written {
                Some(value) => format!(r#"["w",{key},{value}]"#),
                None => format!(r#"["r",{key},null]"#),
            });
            // Values are positive: 0 stands for a read.
            numbers.extend([key, written.unwrap_or(0)]);
        }
        Call { name: "txn", argument: format!("[{}]", texts.join(",")), numbers }
    }

    fn transact(&mut self, accesses: &[i64]) -> String {
        let mut answers = Vec::new();
        for access in accesses.chunks(2) {
            let (key, value) = (access[0], access[1]);
            if value != 0 {
                self.map.insert(key, value);
                answers.push(format!(r#"["w",{key},{value}]"#));
            } else {
                let held = self.map.get(&key).map_or("null".to_owned(), i64::to_string);
                answers.push(format!(r#"["r",{key},{held}]"#));
            }
        }
        format!("[{}]", answers.join(","))
    }

    /// The answer, or nothing if the operation cannot take effect now.
    fn apply(&mut self, spec: &str, process: usize, call: &Call) -> Option<String> {
        let number = |n: Option<i64>| n.map_or("null".to_owned(), |n| n.to_string());
        let n = |at: usize| call.numbers[at];
        Some(match (spec, call.name) {
            (_, "write") => {
                self.register = Some(n(0));
                n(0).to_string()
            }
            ("register" | "cas-register", "read") => number(self.register),
            (_, "cas") => {
                let fits = self.register == Some(n(0));
                if fits {
                    self.register = Some(n(1));
                }
                fits.to_string()
            }
            (_, "enqueue" | "push") => {
                self.list.push_back(n(0));
                n(0).to_string()
            }
            (_, "dequeue") => number(self.list.pop_front()),
            (_, "pop") => number(self.list.pop_back()),
            (_, "insert") if self.values.is_some() => {
                let at = self.list.partition_point(|other| *other <= n(0));
                self.list.insert(at, n(0));
                n(0).to_string()
            }
            (_, "remove-min") if self.values.is_some() => number(self.list.pop_front()),
            (_, "txn") => self.transact(&call.numbers),
            ("kv", "get") => {
                format!("\"{}\"", self.texts.get(&n(0)).map_or("", String::as_str))
            }
            ("kv", name) => {
                let text = self.texts.entry(n(0)).or_default();
                if name == "put" {
                    text.clear();
                }
                text.push_str(&piece(n(1), self.values));
                "null".to_owned()
            }
            (_, "insert") => {
                self.sorted.insert(n(0));
                n(0).to_string()
            }
            (_, "remove-min") => number(self.sorted.pop_first()),
            ("set", "add") => self.sorted.insert(n(0)).to_string(),
            ("set", "remove") => self.sorted.remove(&n(0)).to_string(),
            ("set", _) => self.sorted.contains(&n(0)).to_string(),
            ("map", "put") => number(self.map.insert(n(0), n(1))),
            ("map", "get") => number(self.map.get(&n(0)).copied()),
            ("map", _) => number(self.map.remove(&n(0))),
            (_, "acquire") => {
                if self.holder.is_some() {
                    return None;
                }
                self.holder = Some(process);
                "null".to_owned()
            }
            (_, "release") => {
                self.holder = None;
                "null".to_owned()
            }
            (_, "add") => {
                self.total += n(0);
                n(0).to_string()
            }
            ("counter", _) => self.total.to_string(),
            (_, "mwcas") => {
                let failed = (0..2).find(|w| *self.map.get(&n(*w)).unwrap_or(&0) != n(w + 2));
                match failed {
                    Some(word) => format!(r#"{{"failed":{}}}"#, n(word)),
                    None => {
                        self.map.insert(n(0), n(4));
                        self.map.insert(n(1), n(5));
                        "true".to_owned()
                    }
                }
            }
            _ => {
                let seen = |at: i64| *self.map.get(&at).unwrap_or(&0);
                format!("[[{},{}],[{},{}]]", n(0), seen(n(0)), n(1), seen(n(1)))
            }
        })
    }
}
