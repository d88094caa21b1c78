//! A second meaning of processes, by substitution on trees, and the enumeration of traces up to a
//! depth. It shares nothing with the crate, not even the tree: processes are made here and printed
//! for the crate to read.

use std::collections::{BTreeSet, HashSet};
use std::fmt::{self, Display, Formatter};

/// Values of `x`, `y`, `z[0]`, `z[1]`.
pub type Store = [i64; 4];

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum E {
    Const(i64),
    Param,
    Var(usize),
    /// `z[(e) % 2]`.
    Element(Box<E>),
    /// `((e) + 1) % 3`.
    Next(Box<E>),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Assign {
    Var(usize, E),
    Element(E, E),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum P {
    Stop,
    Skip,
    Done,
    /// The name of an event (none for τ), its datum, assignments.
    Prefix(Option<char>, Option<E>, Vec<Assign>, Box<P>),
    Hide(Box<P>, Vec<char>),
    Seq(Box<P>, Box<P>),
    Choice(Box<P>, Box<P>),
    Par(Box<P>, Box<P>),
    If {
        atomic: bool,
        left: E,
        right: E,
        then: Box<P>,
        otherwise: Box<P>,
    },
    Call(usize, E),
}

impl Display for E {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            E::Const(value) => write!(f, "{value}"),
            E::Param => write!(f, "n"),
            E::Var(at) => write!(f, "{}", ["x", "y"][*at]),
            E::Element(index) => write!(f, "z[({index}) % 2]"),
            E::Next(inner) => write!(f, "(({inner}) + 1) % 3"),
        }
    }
}

impl Display for P {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            P::Stop | P::Done => write!(f, "Stop"),
            P::Skip => write!(f, "Skip"),
            P::Prefix(event, datum, update, next) => {
                match event {
                    None => write!(f, "tau")?,
                    Some(event) => write!(f, "{event}")?,
                }
                if let Some(datum) = datum {
                    write!(f, ".({datum})")?;
                }
                if !update.is_empty() {
                    write!(f, "{{")?;
                    for assign in update {
                        match assign {
                            Assign::Var(at, value) => write!(f, "{} = {value};", ["x", "y"][*at])?,
                            Assign::Element(index, value) => {
                                write!(f, "z[({index}) % 2] = {value};")?;
                            }
                        }
                    }
                    write!(f, "}}")?;
                }
                write!(f, " -> ({next})")
            }
            P::Hide(body, names) => {
                let names: Vec<String> = names.iter().map(char::to_string).collect();
                write!(f, "({body}) \\ {{{}}}", names.join(", "))
            }
            P::Seq(first, then) => write!(f, "({first}); ({then})"),
            P::Choice(one, other) => write!(f, "({one}) [] ({other})"),
            P::Par(one, other) => write!(f, "({one}) ||| ({other})"),
            P::If { atomic, left, right, then, otherwise } => {
                let word = if *atomic { "ifa" } else { "if" };
                write!(f, "{word} ({left} == {right}) {{ {then} }} else {{ {otherwise} }}")
            }
            P::Call(process, argument) => write!(f, "P{process}({argument})"),
        }
    }
}

fn value(e: &E, store: &Store) -> i64 {
    match e {
        E::Const(value) => *value,
        E::Param => unreachable!("terms in states are closed"),
        E::Var(at) => store[*at],
        E::Element(index) => store[2 + (value(index, store) % 2) as usize],
        E::Next(inner) => (value(inner, store) + 1) % 3,
    }
}

/// An expression with the parameter replaced.
fn close_e(e: &E, n: i64) -> E {
    match e {
        E::Param => E::Const(n),
        E::Const(_) | E::Var(_) => e.clone(),
        E::Element(inner) => E::Element(Box::new(close_e(inner, n))),
        E::Next(inner) => E::Next(Box::new(close_e(inner, n))),
    }
}

fn close(p: &P, n: i64) -> P {
    let sub = |p: &P| Box::new(close(p, n));
    match p {
        P::Stop | P::Skip | P::Done => p.clone(),
        P::Prefix(event, datum, update, next) => {
            let update = update.iter().map(|assign| match assign {
                Assign::Var(at, value) => Assign::Var(*at, close_e(value, n)),
                Assign::Element(index, value) => {
                    Assign::Element(close_e(index, n), close_e(value, n))
                }
            });
            let datum = datum.as_ref().map(|datum| close_e(datum, n));
            P::Prefix(*event, datum, update.collect(), sub(next))
        }
        P::Hide(body, names) => P::Hide(sub(body), names.clone()),
        P::Seq(first, then) => P::Seq(sub(first), sub(then)),
        P::Choice(one, other) => P::Choice(sub(one), sub(other)),
        P::Par(one, other) => P::Par(sub(one), sub(other)),
        P::If { atomic, left, right, then, otherwise } => P::If {
            atomic: *atomic,
            left: close_e(left, n),
            right: close_e(right, n),
            then: sub(then),
            otherwise: sub(otherwise),
        },
        P::Call(process, argument) => P::Call(*process, close_e(argument, n)),
    }
}

/// Terms beyond this size are taken as a sign of endless growth: nothing is simplified here.
const SIZE: usize = 120;

fn size(p: &P) -> usize {
    match p {
        P::Stop | P::Skip | P::Done | P::Call(..) => 1,
        P::Prefix(_, _, _, inner) | P::Hide(inner, _) => 1 + size(inner),
        P::Seq(one, other) | P::Choice(one, other) | P::Par(one, other) => {
            1 + size(one) + size(other)
        }
        P::If { then, otherwise, .. } => 1 + size(then) + size(otherwise),
    }
}

/// The definitions of a model, and how its processes move.
pub struct World<'a> {
    pub definitions: &'a [P],
}

type Label = Option<String>;
type State = (P, Store);

pub const TICK: &str = "✓";

impl World<'_> {
    /// A process is reached: calls in it that are due are replaced by bodies, arguments evaluated
    /// now.
    fn reach(&self, p: &P, store: &Store) -> P {
        let sub = |p: &P| Box::new(self.reach(p, store));
        match p {
            P::Call(process, argument) => {
                let body = close(&self.definitions[*process], value(argument, store));
                self.reach(&body, store)
            }
            P::Hide(body, names) => P::Hide(sub(body), names.clone()),
            P::Seq(first, then) => P::Seq(sub(first), then.clone()),
            P::Choice(one, other) => P::Choice(sub(one), sub(other)),
            P::Par(one, other) => P::Par(sub(one), sub(other)),
            _ => p.clone(),
        }
    }

    fn steps(&self, p: &P, store: &Store) -> Vec<(Label, P, Store)> {
        let tick = || Some(TICK.to_owned());
        match p {
            P::Stop | P::Done => vec![],
            P::Skip => vec![(tick(), P::Done, *store)],
            P::Prefix(event, datum, update, next) => {
                let label = event.map(|event| match datum {
                    Some(datum) => format!("{event}.{}", value(datum, store)),
                    None => event.to_string(),
                });
                let mut after = *store;
                for assign in update {
                    match assign {
                        Assign::Var(at, e) => after[*at] = value(e, &after),
                        Assign::Element(index, e) => {
                            let at = 2 + (value(index, &after) % 2) as usize;
                            after[at] = value(e, &after);
                        }
                    }
                }
                vec![(label, self.reach(next, &after), after)]
            }
            P::Hide(body, names) => {
                let hide = |(label, p, store): (Label, P, Store)| {
                    let hidden = label
                        .as_ref()
                        .is_some_and(|label| names.iter().any(|name| label.starts_with(*name)));
                    let p = if p == P::Done { p } else { P::Hide(Box::new(p), names.clone()) };
                    (label.filter(|_| !hidden), p, store)
                };
                self.steps(body, store).into_iter().map(hide).collect()
            }
            P::Seq(first, then) => {
                let go = |(label, p, store): (Label, P, Store)| {
                    if label == tick() {
                        (None, self.reach(then, &store), store)
                    } else {
                        (label, P::Seq(Box::new(p), then.clone()), store)
                    }
                };
                self.steps(first, store).into_iter().map(go).collect()
            }
            P::Choice(one, other) => {
                let mut steps = Vec::new();
                for (label, p, store) in self.steps(one, store) {
                    let p = if label.is_some() { p } else { P::Choice(Box::new(p), other.clone()) };
                    steps.push((label, p, store));
                }
                for (label, p, store) in self.steps(other, store) {
                    let p = if label.is_some() { p } else { P::Choice(one.clone(), Box::new(p)) };
                    steps.push((label, p, store));
                }
                steps
            }
            P::Par(one, other) => {
                let (left, right) = (self.steps(one, store), self.steps(other, store));
                let ticks = |steps: &[(Label, P, Store)]| steps.iter().any(|s| s.0 == tick());
                let mut steps = Vec::new();
                if ticks(&left) && ticks(&right) {
                    steps.push((tick(), P::Done, *store));
                }
                for (label, p, store) in left.into_iter().filter(|s| s.0 != tick()) {
                    steps.push((label, P::Par(Box::new(p), other.clone()), store));
                }
                for (label, p, store) in right.into_iter().filter(|s| s.0 != tick()) {
                    steps.push((label, P::Par(one.clone(), Box::new(p)), store));
                }
                steps
            }
            P::If { atomic, left, right, then, otherwise } => {
                let holds = value(left, store) == value(right, store);
                let chosen = self.reach(if holds { then } else { otherwise }, store);
                if *atomic { self.steps(&chosen, store) } else { vec![(None, chosen, *store)] }
            }
            P::Call(..) => unreachable!("reached calls are replaced"),
        }
    }

    fn start(&self, root: &P) -> State {
        let store = [0; 4];
        (self.reach(root, &store), store)
    }

    /// All traces with at most `depth` visible events; none if there is too much to enumerate.
    pub fn traces(&self, root: &P, depth: usize, limit: usize) -> Option<BTreeSet<Vec<String>>> {
        let mut traces = BTreeSet::new();
        let mut seen: HashSet<(State, Vec<String>)> = HashSet::new();
        let mut open = vec![(self.start(root), Vec::new())];
        while let Some((state, trace)) = open.pop() {
            if !seen.insert((state.clone(), trace.clone())) {
                continue;
            }
            if seen.len() > limit || size(&state.0) > SIZE {
                return None;
            }
            for (label, p, store) in self.steps(&state.0, &state.1) {
                let mut trace = trace.clone();
                trace.extend(label);
                if trace.len() <= depth {
                    open.push(((p, store), trace));
                }
            }
            traces.insert(trace);
        }
        Some(traces)
    }

    /// Whether a state is reachable in which nothing can happen before termination; none if there
    /// are too many states.
    pub fn deadlocks(&self, root: &P, limit: usize) -> Option<bool> {
        let mut seen: HashSet<State> = HashSet::new();
        let mut open = vec![self.start(root)];
        while let Some(state) = open.pop() {
            if !seen.insert(state.clone()) {
                continue;
            }
            if seen.len() > limit || size(&state.0) > SIZE {
                return None;
            }
            let steps = self.steps(&state.0, &state.1);
            if steps.is_empty() && state.0 != P::Done {
                return Some(true);
            }
            open.extend(steps.into_iter().map(|(_, p, store)| (p, store)));
        }
        Some(false)
    }
}
