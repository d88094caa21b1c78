//! Random small processes, printed as a source for the crate and kept as trees for the oracle.

use crate::oracle::naive::{Assign, E, P};
use fastrand::Rng;

/// What a process may use, so that some processes have nothing to do with each other.
#[derive(Clone, Copy)]
struct Palette {
    events: &'static [char],
    variables: &'static [usize],
}

const EVERYTHING: Palette = Palette { events: &['a', 'b', 'c', 'd'], variables: &[0, 1] };
const APART: [Palette; 2] = [
    Palette { events: &['a', 'c'], variables: &[0] },
    Palette { events: &['b', 'd'], variables: &[1] },
];

/// How many definitions a side has.
const DEFINITIONS: usize = 2;

/// A model: definitions of both sides, and the two roots.
pub struct Case {
    pub definitions: Vec<P>,
    pub implementation: P,
    pub specification: P,
}

impl Case {
    pub fn new(rng: &mut Rng) -> Case {
        let apart = rng.bool();
        let palette = |at: usize| if apart { APART[at % 2] } else { EVERYTHING };
        let make = |rng: &mut Rng| -> Vec<P> {
            let one = |at: usize, rng: &mut Rng| match rng.u8(..8) {
                0 => spin(rng, palette(at), at),
                _ => body(rng, palette(at), 0, DEFINITIONS),
            };
            (0..DEFINITIONS).map(|at| one(at, rng)).collect()
        };
        let mut definitions = make(rng);
        // The specification: the same with changes, or something else.
        let specification: Vec<P> = if rng.u8(..10) == 0 {
            make(rng).iter().map(shifted).collect()
        } else {
            let mut changed: Vec<P> = definitions.iter().map(shifted).collect();
            for _ in 0..rng.usize(0..4) {
                let at = rng.usize(..changed.len());
                change(rng, &mut changed[at], palette(at));
            }
            changed
        };
        definitions.extend(specification);
        let values = [rng.i64(0..2), rng.i64(0..2)];
        let hidden: Vec<char> =
            EVERYTHING.events.iter().copied().filter(|_| rng.u8(..4) == 0).collect();
        let shape = rng.u8(..8);
        let root = |first: usize| {
            let call = |at: usize| Box::new(P::Call(first + at, E::Const(values[at])));
            let body = match shape {
                0 => P::Choice(call(0), call(1)),
                1 => P::Seq(Box::new(P::Par(call(0), call(1))), call(0)),
                2 => P::Par(call(0), Box::new(P::Par(call(1), call(0)))),
                _ => P::Par(call(0), call(1)),
            };
            if hidden.is_empty() { body } else { P::Hide(Box::new(body), hidden.clone()) }
        };
        Case { implementation: root(0), specification: root(DEFINITIONS), definitions }
    }

    pub fn source(&self) -> String {
        let mut source = String::from("var x:{0..2}; var y:{0..2} = 0; var z[2];\n");
        for (at, body) in self.definitions.iter().enumerate() {
            source += &format!("P{at}(n) = {body};\n");
        }
        // Every event occurs somewhere, so that all can be hidden.
        source += "Events = a -> b -> c.0 -> d -> Stop;\n";
        source += &format!("Impl = {};\nSpec = {};\n", self.implementation, self.specification);
        source + "assert Impl refines Spec;\nassert Impl deadlockfree;\n"
    }
}

fn expression(rng: &mut Rng, palette: Palette) -> E {
    match rng.u8(..6) {
        0 => E::Const(rng.i64(0..3)),
        1 => E::Param,
        2 => E::Element(Box::new(E::Param)),
        3 => E::Next(Box::new(E::Var(variable(rng, palette)))),
        _ => E::Var(variable(rng, palette)),
    }
}

fn variable(rng: &mut Rng, palette: Palette) -> usize {
    palette.variables[rng.usize(..palette.variables.len())]
}

fn updates(rng: &mut Rng, palette: Palette) -> Vec<Assign> {
    let count = [0, 0, 0, 1, 1, 2][rng.usize(..6)];
    (0..count)
        .map(|_| match rng.u8(..3) {
            0 => Assign::Element(E::Param, expression(rng, palette)),
            _ => Assign::Var(variable(rng, palette), expression(rng, palette)),
        })
        .collect()
}

/// A process that can go on for ever without an event, or with events only: what reduction must not
/// follow alone.
fn spin(rng: &mut Rng, palette: Palette, itself: usize) -> P {
    let again = Box::new(P::Call(itself, E::Param));
    let event = (rng.u8(..3) == 0).then(|| palette.events[0]);
    let more = Box::new(P::Prefix(event, None, updates(rng, palette), again));
    match rng.bool() {
        true => *more,
        false => P::Prefix(None, None, vec![], more),
    }
}

/// A body that calls only after a step and only at its end, so that there are finitely many states.
fn body(rng: &mut Rng, palette: Palette, depth: usize, calls: usize) -> P {
    process(rng, palette, depth, if depth == 0 { 0 } else { calls }, calls)
}

/// `calls` definitions may be called here, `later` after the next step; at most the first so many.
fn process(rng: &mut Rng, palette: Palette, depth: usize, calls: usize, later: usize) -> P {
    if depth > 3 || (depth > 1 && rng.u8(..8) == 0) {
        return match rng.u8(..4) {
            0 => P::Stop,
            1 => P::Skip,
            _ if calls > 0 => P::Call(rng.usize(..calls), expression(rng, palette)),
            _ => P::Skip,
        };
    }
    let sub = |rng: &mut Rng, calls: usize, later: usize| {
        Box::new(process(rng, palette, depth + 1, calls, later))
    };
    match rng.u8(..16) {
        0..8 => {
            let event =
                (rng.u8(..4) != 0).then(|| palette.events[rng.usize(..palette.events.len())]);
            let datum = (event == Some('c')).then(|| expression(rng, palette));
            let update = updates(rng, palette);
            P::Prefix(event, datum, update, sub(rng, later, later))
        }
        8..11 => P::Choice(sub(rng, calls, later), sub(rng, calls, later)),
        11 => P::Seq(sub(rng, 0, 0), sub(rng, later, later)),
        12 => P::Par(sub(rng, 0, 0), sub(rng, 0, 0)),
        13 => P::Hide(sub(rng, 0, 0), vec![palette.events[rng.usize(..palette.events.len())]]),
        kind => {
            let atomic = kind == 14;
            let (left, right) = (expression(rng, palette), E::Const(rng.i64(0..3)));
            // An atomic condition takes no step of its own.
            let inside = if atomic { calls } else { later };
            let (then, otherwise) = (sub(rng, inside, later), sub(rng, inside, later));
            P::If { atomic, left, right, then, otherwise }
        }
    }
}

/// The same process, calling the definitions of the specification.
fn shifted(p: &P) -> P {
    let mut p = p.clone();
    visit(&mut p, &mut |p| {
        if let P::Call(process, _) = p {
            *process += DEFINITIONS;
        }
    });
    p
}

fn visit(p: &mut P, f: &mut impl FnMut(&mut P)) {
    match p {
        P::Stop | P::Skip | P::Done | P::Call(..) => {}
        P::Prefix(_, _, _, next) => visit(next, f),
        P::Hide(body, _) => visit(body, f),
        P::Seq(one, other) | P::Choice(one, other) | P::Par(one, other) => {
            visit(one, f);
            visit(other, f);
        }
        P::If { then, otherwise, .. } => {
            visit(then, f);
            visit(otherwise, f);
        }
    }
    f(p);
}

/// Changes a random place.
fn change(rng: &mut Rng, p: &mut P, palette: Palette) {
    let mut count = 0;
    visit(p, &mut |_| count += 1);
    let chosen = rng.usize(..count);
    let kind = rng.u8(..8);
    let other = process(rng, palette, 3, 0, 0);
    let mut at = 0;
    visit(p, &mut |p| {
        if at == chosen {
            let old = Box::new(p.clone());
            *p = match kind {
                0..3 => P::Choice(old, Box::new(other.clone())),
                3 => P::Prefix(None, None, vec![], old),
                4 => P::Stop,
                5 => other.clone(),
                6 => {
                    P::Choice(old, Box::new(P::Prefix(None, None, vec![], Box::new(other.clone()))))
                }
                _ => P::Choice(Box::new(P::Skip), old),
            };
        }
        at += 1;
    });
}
