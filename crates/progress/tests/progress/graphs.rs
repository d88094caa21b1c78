//! The search for cycles against all lassos up to a length, on random small graphs.

use crate::naive::{Happening, Word, is_fair, lassos, violates};
use crate::support::seed_and_cases;
use crate::words::formula;
use fastrand::Rng;
use linchpin_progress::Property;
use linchpin_progress::cycles::{Via, View, components, cycle};
use linchpin_progress::graph::{Edge, Graph, Label, NOWHERE};
use linchpin_progress::ltl::{Automaton, Formula, Product};
use linchpin_progress::property::Violations;
use linchpin_spec::Value;
use linchpin_verdict::Limits;

const THREADS: usize = 2;

/// Lassos up to this length are looked at.
const LENGTH: usize = 7;

/// A random graph whose labels and pending operations agree, all of whose states can be reached.
fn graph(random: &mut Rng) -> Graph {
    let states = random.usize(2..=8);
    let pending: Vec<[u8; THREADS]> = (0..states)
        .map(|state| if state == 0 { [0, 0] } else { [random.u8(..2), random.u8(..2)] })
        .collect();
    let labels = vec![
        Label::Step,
        Label::Call { operation: 0, arguments: vec![] },
        Label::Return { operation: 0, value: Value::Null },
    ];
    let chance = random.f64() * 0.3 + 0.25;
    let mut graph = Graph { threads: THREADS, labels, ..Graph::default() };
    for from in 0..states {
        graph.first.push(graph.edges.len() as u32);
        let mut enabled = 0;
        for to in 0..states {
            for thread in 0..THREADS {
                let other = 1 - thread;
                // Steps that change nothing are rare: one of them violates almost everything.
                let chance = if from == to { chance * 0.1 } else { chance };
                if pending[from][other] != pending[to][other] || random.f64() > chance {
                    continue;
                }
                let label = match (pending[from][thread], pending[to][thread]) {
                    (1, 1) => 0,
                    (0, 1) => 1,
                    (1, 0) => 2,
                    _ => continue,
                };
                graph.edges.push(Edge { to: to as u32, label, thread: thread as u8 });
                enabled |= 1 << thread;
            }
        }
        // Threads that only a bound keeps from moving; without them, nearly every graph has one
        // that waits.
        for thread in 0..THREADS {
            if random.u8(..12) != 0 {
                enabled |= 1 << thread;
            }
        }
        graph.enabled.push(enabled);
        graph.pending.extend(pending[from]);
    }
    graph.first.push(graph.edges.len() as u32);
    reachable(graph)
}

/// The states of a graph that can be reached, in breadth-first order.
fn reachable(graph: Graph) -> Graph {
    let mut order = vec![0u32];
    let mut parents = vec![None];
    let mut at = 0;
    while at < order.len() {
        for edge in graph.edges_of(order[at]) {
            let to = graph.edges[edge as usize].to;
            if !order.contains(&to) {
                order.push(to);
                parents.push(Some(edge));
            }
        }
        at += 1;
    }
    let new = |old: u32| order.iter().position(|&state| state == old).unwrap() as u32;
    let mut result =
        Graph { threads: graph.threads, labels: graph.labels.clone(), ..Graph::default() };
    let mut numbers = vec![NOWHERE; graph.edges.len()];
    for &old in &order {
        result.first.push(result.edges.len() as u32);
        for edge in graph.edges_of(old) {
            numbers[edge as usize] = result.edges.len() as u32;
            let of = graph.edges[edge as usize];
            result.edges.push(Edge { to: new(of.to), ..of });
        }
        result.enabled.push(graph.enabled[old as usize]);
        let at = old as usize * graph.threads;
        result.pending.extend(&graph.pending[at..at + graph.threads]);
    }
    result.first.push(result.edges.len() as u32);
    result.parent =
        parents.iter().map(|edge| edge.map_or(NOWHERE, |edge| numbers[edge as usize])).collect();
    result
}

/// What the engine's lasso says happens; panics if it is not a path of the graph, or the cycle does
/// not close.
fn path(graph: &Graph, start: u32, vias: &[Via]) -> (Vec<Happening>, u32) {
    let mut state = start;
    let mut happenings = Vec::new();
    for via in vias {
        let (thread, edge, to) = match *via {
            Via::Move(number) => {
                assert!(graph.edges_of(state).contains(&number), "an edge of another state");
                let edge = graph.edges[number as usize];
                (Some(usize::from(edge.thread)), Some(number), edge.to)
            }
            Via::Wait(thread) => {
                assert!(graph.enabled[state as usize] & (1 << thread) == 0);
                (Some(usize::from(thread)), None, state)
            }
            Via::Stutter => {
                assert_eq!(graph.enabled[state as usize], 0);
                (None, None, state)
            }
        };
        happenings.push(Happening { state, thread, edge, to });
        state = to;
    }
    (happenings, state)
}

/// The first violation that the engine finds.
fn first(view: &dyn View) -> Option<(u32, Vec<Via>)> {
    let mut best: Option<Vec<u32>> = None;
    components(view, &Limits::default(), 0, &mut |members| {
        best.get_or_insert_with(|| members.to_vec());
    })
    .unwrap();
    let (start, arcs) = cycle(view, &best?).expect("a component has a cycle");
    Some((start, arcs.iter().map(|arc| arc.via).collect()))
}

#[test]
fn progress_properties_are_those_of_all_lassos() {
    let (seed, cases) = seed_and_cases(10_000);
    for property in Property::ALL.into_iter().filter(|it| *it != Property::NoDeadlock) {
        let (mut violated, mut holding) = (0, 0);
        for case in 0..cases {
            let graph = graph(&mut Rng::with_seed(seed.wrapping_mul(1 << 32) + case));
            let victims = if property.is_per_operation() { THREADS } else { 1 };
            let found = (0..victims)
                .find_map(|victim| first(&Violations { graph: &graph, property, victim }));
            let mut expected = false;
            lassos(&graph, LENGTH, true, &mut |_, cycle| {
                expected = violates(&graph, property, cycle);
                expected
            });
            match found {
                None => {
                    assert!(!expected, "case {case}: {property} is violated: {graph:?}");
                    holding += 1;
                }
                Some((start, vias)) => {
                    let way: Vec<Via> = graph.way_to(start).into_iter().map(Via::Move).collect();
                    assert_eq!(path(&graph, 0, &way).1, start);
                    let (cycle, end) = path(&graph, start, &vias);
                    assert_eq!(end, start, "case {case}: the cycle does not close");
                    let violates = violates(&graph, property, &cycle);
                    assert!(violates, "case {case}: {property}: {cycle:?} of {graph:?}");
                    violated += 1;
                }
            }
        }
        println!("{property}: {violated} violated, {holding} hold");
        assert!(violated * 20 > cases && holding * 20 > cases);
    }
}

fn word(letters: &[u64], graph: &Graph, path: &[Happening]) -> Vec<u64> {
    let letter = |it: &Happening| {
        it.edge.map_or(0, |edge| {
            let edge = graph.edges[edge as usize];
            letters[edge.label as usize * THREADS + usize::from(edge.thread)]
        })
    };
    path.iter().map(letter).collect()
}

#[test]
fn formulas_hold_on_a_graph_if_they_hold_on_all_lassos() {
    let (seed, cases) = seed_and_cases(20_000);
    let mut counts = [[0u64; 2]; 2];
    for case in 0..cases {
        let mut random = Rng::with_seed(seed.wrapping_mul(1 << 32) + case);
        let graph = graph(&mut random);
        let letters: Vec<u64> = (0..3 * THREADS).map(|_| random.u64(..4)).collect();
        let depth = random.usize(1..=3);
        let formula = formula(&mut random, depth, 2);
        let fair = random.bool();
        let broken = |prefix: &[Happening], cycle: &[Happening]| {
            let prefix = word(&letters, &graph, prefix);
            let word = Word { prefix, cycle: word(&letters, &graph, cycle) };
            (!fair || is_fair(&graph, cycle)) && !word.satisfies(&formula)
        };
        let mut expected = false;
        lassos(&graph, LENGTH, false, &mut |prefix, cycle| {
            expected = broken(prefix, cycle);
            expected
        });
        let found = check(&graph, &letters, &formula, fair);
        counts[usize::from(fair)][usize::from(found.is_some())] += 1;
        match found {
            None => assert!(!expected, "case {case}: {formula} (fair: {fair}) on {graph:?}"),
            Some((prefix, cycle)) => {
                let (prefix, start) = path(&graph, 0, &prefix);
                let (cycle, end) = path(&graph, start, &cycle);
                assert_eq!(end, start, "case {case}: the cycle does not close");
                assert!(broken(&prefix, &cycle), "case {case}: {formula} (fair: {fair})");
            }
        }
    }
    println!("[unfair, fair] × [holds, violated]: {counts:?}");
    assert!(counts.iter().flatten().all(|&count| count * 20 > cases));
}

fn check(
    graph: &Graph,
    letters: &[u64],
    formula: &Formula,
    fair: bool,
) -> Option<(Vec<Via>, Vec<Via>)> {
    let automaton = Automaton::of(&formula.clone().negated()).unwrap();
    let limits = Limits::default();
    let product = Product::explore(graph, &automaton, letters, fair, &limits, 0).unwrap();
    let (start, cycle) = first(&product)?;
    Some((product.way_to(start), cycle))
}
