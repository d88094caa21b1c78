//! Random histories: a memory is simulated, with operations that take effect at a random instant;
//! then some answers are changed.

use linchpin_history_data::{Builder, History};
use linchpin_spec::{Mwcas, Spec, Value};
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answers {
    /// `{"failed": location}`
    Location,
    /// `false`
    Boolean,
    /// Any of the three.
    Mixed,
}

#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub processes: usize,
    pub operations: usize,
    pub locations: i64,
    pub words: usize,
    pub answers: Answers,
    pub crashes: bool,
    /// Whether a process that crashed goes on under a new name.
    pub fresh_processes: bool,
    /// Whether swaps mostly expect what is there when they are called, seen or not: against the
    /// second assumption.
    pub peeks: bool,
}

#[derive(Clone, Debug)]
enum Doing {
    Nothing,
    Waiting(Request),
    Answering(Request, Value),
}

#[derive(Clone, Debug)]
enum Request {
    Read(Vec<i64>),
    Swap(Vec<[i64; 3]>),
}

struct World {
    memory: Vec<i64>,
    /// Values that completed operations have shown to be there.
    shown: Vec<Vec<i64>>,
    /// The next value to write, for each location.
    fresh: Vec<i64>,
    /// Operations that were interrupted and may yet take effect.
    ghosts: Vec<Request>,
    settings: Settings,
}

fn list(items: &[i64]) -> Value {
    Value::list(items.iter().copied().map(Value::Int))
}

fn lists<const N: usize>(items: &[[i64; N]]) -> Value {
    Value::list(items.iter().map(|item| list(item)))
}

impl World {
    fn request(&mut self, random: &mut fastrand::Rng) -> Request {
        let mut locations: Vec<i64> = (0..self.settings.locations).collect();
        random.shuffle(&mut locations);
        locations.truncate(random.usize(1..=self.settings.words));
        if random.u8(..3) == 0 {
            return Request::Read(locations);
        }
        let mut word = |location: i64| {
            let at = location as usize;
            let expected = match random.u8(..12) {
                3.. if self.settings.peeks => self.memory[at],
                // Now and then against the second assumption.
                0 => random.i64(0..self.fresh[at].max(1)),
                1..5 => random.choice(&self.shown[at]).copied().unwrap_or(self.memory[at]),
                _ if self.shown[at].contains(&self.memory[at]) => self.memory[at],
                _ => self.shown[at].last().copied().unwrap_or(self.memory[at]),
            };
            // Now and then a word that is only compared.
            if random.u8(..10) == 0 {
                return [location, expected, expected];
            }
            // Very seldom against the first assumption; in a long history that would be certain.
            if self.settings.operations > 1_000 || random.u8(..150) != 0 {
                self.fresh[at] += 1;
            }
            [location, expected, self.fresh[at]]
        };
        Request::Swap(locations.into_iter().map(&mut word).collect())
    }

    fn effect(&mut self, random: &mut fastrand::Rng, request: &Request) -> Value {
        match request {
            Request::Read(locations) => {
                let pairs: Vec<[i64; 2]> =
                    locations.iter().map(|&at| [at, self.memory[at as usize]]).collect();
                lists(&pairs)
            }
            Request::Swap(words) => {
                let misses: Vec<&[i64; 3]> =
                    words.iter().filter(|word| self.memory[word[0] as usize] != word[1]).collect();
                if let Some(word) = random.choice(&misses) {
                    return self.failure(random, words, word[0]);
                }
                for word in words {
                    self.memory[word[0] as usize] = word[2];
                }
                true.into()
            }
        }
    }

    fn failure(&self, random: &mut fastrand::Rng, words: &[[i64; 3]], at: i64) -> Value {
        let style = match self.settings.answers {
            Answers::Location => 0,
            Answers::Boolean => 1,
            Answers::Mixed => random.u8(..4),
        };
        match style {
            0 => Value::map([("failed".into(), at.into())]),
            1 => false.into(),
            _ => {
                let mut seen: Vec<[i64; 2]> =
                    words.iter().map(|word| [word[0], self.memory[word[0] as usize]]).collect();
                if random.u8(..3) == 0 {
                    seen.remove(random.usize(..seen.len()));
                }
                Value::map([("read".into(), lists(&seen))])
            }
        }
    }

    /// What the answer shows to be there.
    fn show(&mut self, request: &Request, answer: &Value) {
        let pairs: Vec<(i64, i64)> = match (request, answer) {
            (Request::Swap(words), Value::Bool(true)) => {
                words.iter().flat_map(|word| [(word[0], word[1]), (word[0], word[2])]).collect()
            }
            (Request::Read(_), answer) => pairs(answer),
            (_, Value::Map(fields)) => fields.get(&"read".into()).map(pairs).unwrap_or_default(),
            _ => Vec::new(),
        };
        for (location, value) in pairs {
            let shown = &mut self.shown[location as usize];
            if !shown.contains(&value) {
                shown.push(value);
            }
        }
    }
}

fn pairs(list: &Value) -> Vec<(i64, i64)> {
    let pair = |pair: &Value| {
        let items = pair.as_list()?;
        Some((items[0].as_int()?, items[1].as_int()?))
    };
    list.as_list().unwrap_or_default().iter().filter_map(pair).collect()
}

/// A history and what is given of its initial values.
pub fn random_history(random: &mut fastrand::Rng, settings: &Settings) -> (History, Option<Value>) {
    let locations = settings.locations as usize;
    let init = match random.u8(..4) {
        0 | 1 => Some(Value::Int(0)),
        2 => Some(Value::map([("0".into(), 0.into())])),
        _ => None,
    };
    let mut world = World {
        memory: vec![0; locations],
        shown: vec![if init == Some(Value::Int(0)) { vec![0] } else { Vec::new() }; locations],
        fresh: vec![0; locations],
        ghosts: Vec::new(),
        settings: *settings,
    };
    let lying = random.u8(..5) < 2;
    let count = random.usize(2..=settings.operations);
    let mut builder = Builder::new(Mwcas::default().operations());
    let mut doing = vec![Doing::Nothing; settings.processes];
    let mut lives = vec![0; settings.processes];
    let mut invoked = 0;
    for _ in 0..count * 6 {
        if settings.crashes && random.u8(..14) == 0 {
            let whole = random.bool();
            let victim = random.usize(..settings.processes);
            let name = name(victim, lives[victim]);
            let victims = if whole { 0..settings.processes } else { victim..victim + 1 };
            let process = (!whole).then(|| builder.process(&name));
            builder.crash(process).unwrap();
            for victim in victims {
                if let Doing::Waiting(request) =
                    std::mem::replace(&mut doing[victim], Doing::Nothing)
                    && random.bool()
                {
                    world.ghosts.push(request);
                }
                lives[victim] += i32::from(settings.fresh_processes);
            }
            continue;
        }
        if !world.ghosts.is_empty() && random.u8(..4) == 0 {
            let ghost = world.ghosts.swap_remove(random.usize(..world.ghosts.len()));
            world.effect(random, &ghost);
            continue;
        }
        let process = random.usize(..settings.processes);
        let name = name(process, lives[process]);
        doing[process] = match std::mem::replace(&mut doing[process], Doing::Nothing) {
            Doing::Nothing if invoked == count => Doing::Nothing,
            Doing::Nothing => {
                invoked += 1;
                let request = world.request(random);
                let (operation, argument) = match &request {
                    Request::Read(locations) => {
                        let asked =
                            locations.iter().map(|&at| Value::list([at.into(), Value::Null]));
                        ("mwread", Value::list(asked))
                    }
                    Request::Swap(words) => ("mwcas", lists(words)),
                };
                builder.invoke(&name, operation, argument).unwrap();
                Doing::Waiting(request)
            }
            Doing::Waiting(request) => {
                let answer = world.effect(random, &request);
                Doing::Answering(request, answer)
            }
            Doing::Answering(request, mut answer) => {
                if lying && random.u8(..3) == 0 {
                    answer = lie(random, &request, answer);
                }
                world.show(&request, &answer);
                builder.ok(&name, answer).unwrap();
                Doing::Nothing
            }
        };
    }
    (builder.finish(), init)
}

fn name(process: usize, life: i32) -> String {
    if life == 0 { process.to_string() } else { format!("{process}.{life}") }
}

/// Another answer to the request.
fn lie(random: &mut fastrand::Rng, request: &Request, answer: Value) -> Value {
    let vary = |random: &mut fastrand::Rng, list: &Value| {
        let mut pairs = pairs(list);
        if let Some(pair) = random.choice(&mut pairs) {
            pair.1 = (pair.1 + random.i64(-2..=2)).max(0);
        }
        let pairs: Vec<[i64; 2]> = pairs.into_iter().map(|(a, b)| [a, b]).collect();
        lists(&pairs)
    };
    match (request, &answer) {
        (Request::Read(_), list) => vary(random, list),
        (Request::Swap(words), Value::Bool(true)) => {
            let word = random.choice(words).unwrap();
            Value::map([("failed".into(), word[0].into())])
        }
        (Request::Swap(words), Value::Map(fields)) => match fields.first_key_value() {
            Some((Value::Str(field), list)) if &**field == "read" => Value::Map(
                std::sync::Arc::new(BTreeMap::from([("read".into(), vary(random, list))])),
            ),
            _ if random.bool() => true.into(),
            _ => Value::map([("failed".into(), random.choice(words).unwrap()[0].into())]),
        },
        _ => true.into(),
    }
}
