//! The paper's domain: the rows of Tables 5.1 and A.1, beside the fast domain, refinement and
//! concrete states.

use crate::concrete::Values;
use crate::concrete::models::{LISTS, model};
use crate::embed::{bounds, check_against};
use crate::judge::{Within, refine};
use crate::models::bundled;
use crate::mutate::mutant;
use fastrand::Rng;
use linchpin_ir::program::{Program, Thread};
use linchpin_lang::{Config, compile};
use linchpin_shape::heap::{Flags, Heap, Kind, LOCKS, Side};
use linchpin_shape::three_valued::Joined;
use linchpin_shape::value::{Class, Holder, NodeId};
use linchpin_shape::{Analysis, Domain, Found, NotApplicable, Options, Threads, analyse};
use linchpin_verdict::Limits;
use std::path::PathBuf;
use std::time::Duration;

/// The program with a thread for each list of operations.
fn with_threads(program: &Program, threads: &[&[&str]]) -> Program {
    let mut program = program.clone();
    let number = |name: &&str| {
        let found = program.operations.iter().position(|operation| operation.name == *name);
        found.unwrap_or_else(|| panic!("no operation {name}"))
    };
    let mut all = Vec::new();
    for operations in threads {
        all.push(Thread {
            operations: operations.iter().map(number).collect(),
            ..program.threads[0].clone()
        });
    }
    program.threads = all;
    program
}

/// The program with so many threads that call everything.
fn general(program: &Program, threads: usize) -> Program {
    let names: Vec<&str> = program.operations.iter().map(|at| at.name.as_str()).collect();
    with_threads(program, &vec![&names[..]; threads])
}

/// Analyses in a domain, as the paper explains answers; at most so many bytes of states.
fn asked(program: &Program, domain: Domain, memory: usize) -> Option<Analysis> {
    let limits = Limits { memory: Some(memory), ..Limits::default() };
    let options = Options { domain, limits, ..Options::as_in_the_paper() };
    analyse(program, &options, &|_| {}).ok()
}

fn proved(name: &str, program: &Program, domain: Domain) -> Analysis {
    let analysis = asked(program, domain, 1 << 32).expect("it applies");
    let threads = program.threads.len();
    let (states, bytes) = (analysis.explored.states.len(), analysis.explored.bytes);
    println!("{name}, {threads} threads, {domain:?}: {states} structures, {bytes} bytes");
    match &analysis.found {
        Found::Proved => analysis,
        Found::Failed(trace) => panic!("{name}: {:?}", trace.failure),
        Found::Stopped(why) => panic!("{name}: {why}"),
    }
}

/// Table 5.1, the most general client, with the paper's numbers of threads; the set with one.
#[test]
fn most_general_clients_are_proved() {
    let rows = [("treiber_stack", 3), ("two_lock_queue", 4), ("ms_queue", 2), ("dglm_queue", 2)];
    for (name, threads) in rows {
        proved(name, &general(&model(name), threads), Domain::Kleene);
    }
    proved("pessimistic_set", &general(&model("pessimistic_set"), 1), Domain::Kleene);
}

/// Table 5.1, producers and consumers.
#[test]
fn producers_and_consumers_are_proved() {
    let rows = [
        ("treiber_stack", "push", "pop", 2),
        ("two_lock_queue", "enqueue", "dequeue", 3),
        ("ms_queue", "enqueue", "dequeue", 1),
        ("dglm_queue", "enqueue", "dequeue", 1),
    ];
    for (name, put, take, each) in rows {
        let (put, take) = ([put], [take]);
        let threads = [vec![&put[..]; each], vec![&take[..]; each]].concat();
        proved(name, &with_threads(&model(name), &threads), Domain::Kleene);
    }
}

/// As the paper does it: structures are not joined.
#[test]
fn structures_need_not_be_joined() {
    for (name, threads) in [("treiber_stack", 2), ("two_lock_queue", 4), ("dglm_queue", 2)] {
        let program = general(&model(name), threads);
        let all = proved(name, &program, Domain::KleeneDisjunctive).explored.states.len();
        let joined = proved(name, &program, Domain::Kleene).explored.states.len();
        assert!(joined < all, "{name}: {joined} of {all}");
    }
}

/// The rows of Table 5.1 that take minutes.
#[test]
#[ignore = "a campaign"]
fn the_set_with_two_threads_is_proved() {
    let set = model("pessimistic_set");
    proved("pessimistic_set", &with_threads(&set, &[&["add"], &["remove"]]), Domain::Kleene);
    proved("pessimistic_set", &general(&set, 2), Domain::Kleene);
    proved("ms_queue", &general(&model("ms_queue"), 2), Domain::KleeneDisjunctive);
}

/// Table A.1: the seven mutations.
#[test]
fn the_mutations_of_the_paper_are_refused() {
    for name in [
        "treiber_stack_split_push_cas",
        "treiber_stack_split_pop_cas",
        "ms_queue_blind_append",
        "ms_queue_blind_empty",
        "two_lock_queue_tail_lock_gap",
        "two_lock_queue_head_lock_gap",
        "pessimistic_set_wrong_points",
    ] {
        let program = general(&model(&format!("broken/{name}")), 2);
        for domain in [Domain::Kleene, Domain::KleeneDisjunctive] {
            let analysis = asked(&program, domain, 1 << 30).expect("it applies");
            let states = analysis.explored.states.len();
            println!("{name}, {domain:?}: {states} structures");
            assert!(matches!(analysis.found, Found::Failed(_)), "{name}: {:?}", analysis.found);
        }
    }
}

/// Views are the fast domain's.
#[test]
fn any_number_of_threads_is_not_asked_of_it() {
    let options = Options { threads: Threads::Any, ..Options::as_in_the_paper() };
    let found = analyse(&model("treiber_stack"), &options, &|_| {});
    assert!(matches!(found, Err(NotApplicable::ViewsOfKleene)));
}

/// The stacks, queues and sets, and their broken twins.
fn all_models() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/broken");
    let mut models = bundled();
    for entry in std::fs::read_dir(root).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let is_one = |spec: &&str| text.contains(&format!("spec {spec};"));
        if ["stack", "queue", "set"].iter().any(is_one) {
            models.push((entry.file_name().to_string_lossy().into_owned(), text));
        }
    }
    models.sort();
    models
}

/// Whether it is proved, if the analysis applies and ends within so many bytes of states.
fn verdict(program: &Program, domain: Domain, memory: usize) -> Option<bool> {
    match asked(program, domain, memory)?.found {
        Found::Proved => Some(true),
        Found::Failed(_) => Some(false),
        Found::Stopped(_) => None,
    }
}

/// With two threads the domains agree wherever both come to an end. No broken twin is proved.
#[test]
fn the_domains_agree_on_the_models() {
    let (mut yes, mut no) = (0, 0);
    for (name, text) in all_models() {
        let program = general(&compile(&text, &Config::default()).unwrap().program, 2);
        let fast = verdict(&program, Domain::Targets, 3 << 20);
        let paper = verdict(&program, Domain::Kleene, 12 << 20);
        println!("{name}: {fast:?} {paper:?}");
        if let (Some(fast), Some(paper)) = (fast, paper) {
            assert_eq!(fast, paper, "{name}");
            yes += usize::from(fast);
            no += usize::from(!fast);
        }
        let broken = !text.contains("Expected: linearizable");
        assert!(!(broken && paper == Some(true)), "{name} is proved");
    }
    assert!(yes >= 4 && no >= 10, "{yes} proved, {no} refused");
}

/// Mutants of the lists: refinement does not refute what this domain proves.
#[test]
fn no_mutant_is_proved_that_refinement_refutes() {
    let seed = 21;
    let mut random = Rng::with_seed(seed);
    let (mut yes, mut no) = (0, 0);
    for (name, source) in bundled().iter().filter(|(name, _)| LISTS.contains(&name.as_str())) {
        for _ in 0..30 {
            let Some(mutant) = mutant(source, &mut random) else { continue };
            let Ok(compiled) = compile(&mutant.source, &Config::default()) else { continue };
            let program = general(&compiled.program, 2);
            if verdict(&program, Domain::Kleene, 12 << 20) != Some(true) {
                no += 1;
                continue;
            }
            yes += 1;
            for calls in [2, 3] {
                let within = Within { threads: 2, calls, values: 2 };
                let found = refine(&mutant.source, within, Duration::from_millis(300), false);
                let text = &mutant.source;
                assert!(!found.refutes(), "seed {seed}, {name}, {within:?}: {found:?}\n{text}");
            }
        }
    }
    println!("seed {seed}: {yes} proved, {no} not");
    assert!(yes >= 5 && no >= 20, "seed {seed}: {yes} proved, {no} not");
}

/// The traps: what this domain proves, the fast one proves, or refinement does not refute it.
#[test]
fn no_trap_is_proved_here_only() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/traps");
    let (mut yes, mut no) = (0, 0);
    for entry in std::fs::read_dir(root).unwrap().flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap();
        let Ok(compiled) = compile(&text, &Config::default()) else { continue };
        let program = general(&compiled.program, 2);
        if verdict(&program, Domain::Kleene, 12 << 20) != Some(true) {
            no += 1;
            continue;
        }
        yes += 1;
        if verdict(&program, Domain::Targets, 12 << 20) == Some(true) {
            continue;
        }
        for (threads, calls) in [(2, 2), (1, 5), (2, 3), (1, 8)] {
            let within = Within { threads, calls, values: 2 };
            let found = refine(&text, within, Duration::from_millis(500), false);
            assert!(!found.refutes(), "{:?}, {within:?}: {found:?}", entry.file_name());
        }
    }
    println!("{yes} proved, {no} not");
    assert!(yes >= 5 && no >= 30, "{yes} proved, {no} not");
}

/// A node that nothing is known of.
const NODE: Flags = Flags {
    kind: Kind::Candidate,
    of: 0,
    class: Class::None,
    bools: 0,
    reach: false,
    owner: None,
    locks: [Holder::Free; LOCKS],
};

/// A named node, two others behind it in a summary, the last of which goes to `last`. Whether there
/// is a case in which the node that is read is its own successor.
fn own_successor(last: Option<usize>) -> bool {
    let mut heap = Joined::empty();
    let nodes: Vec<NodeId> = (0..3).map(|_| heap.allocate(NODE).unwrap()).collect();
    let to = [Some(1), Some(2), last];
    for (from, to) in nodes.iter().zip(to) {
        heap.store(Side::Candidate, *from, 0, to.map(|at| nodes[at]));
    }
    heap.canonical(&nodes[..1]);
    let cases = heap.load(Side::Candidate, NodeId(0), 0).unwrap();
    assert!(!cases.is_empty());
    cases.iter().any(|(heap, to)| {
        let to = to.expect("the link is not null");
        heap.targets(Side::Candidate, to, 0).contains(&to)
    })
}

/// No node of a list is its own successor; that no link closes a cycle is not taken for granted.
#[test]
fn cycles_are_noticed() {
    assert!(!own_successor(None));
    assert!(own_successor(Some(1)));
    assert!(own_successor(Some(2)));
}

/// Both links go to the same summary: they need not go to the same node.
#[test]
fn a_summary_does_not_make_a_node_uniform() {
    let mut heap = Joined::empty();
    let nodes: Vec<NodeId> = (0..3).map(|_| heap.allocate(NODE).unwrap()).collect();
    heap.correlate(nodes[0]);
    heap.store(Side::Candidate, nodes[0], 0, Some(nodes[1]));
    heap.store(Side::Reference, nodes[0], 0, Some(nodes[2]));
    heap.canonical(&nodes[..1]);
    heap.store(Side::Candidate, NodeId(0), 1, None);
    assert_eq!(heap.flags(NodeId(0)).kind, Kind::Nonuniform);
    let (mut same, mut different) = (0, 0);
    for (heap, one) in heap.load(Side::Candidate, NodeId(0), 0).unwrap() {
        for (heap, two) in heap.load(Side::Reference, NodeId(0), 0).unwrap() {
            let uniform = heap.flags(NodeId(0)).kind == Kind::Uniform;
            assert_eq!(uniform, one == two);
            same += usize::from(uniform);
            different += usize::from(!uniform);
        }
    }
    assert!(same > 0 && different > 0, "{same}, {different}");
}

/// Every concrete correlated state embeds into a structure that was kept.
#[test]
fn concrete_states_embed() {
    for name in LISTS {
        let program = general(&model(name), 2);
        let objects = if name == "treiber_stack" { 4 } else { 5 };
        let config = bounds(2, objects, Values::Distinct, 3_000);
        embedded(name, &program, &config, Domain::Kleene);
    }
    for name in ["treiber_stack", "two_lock_queue", "dglm_queue"] {
        let config = bounds(2, 4, Values::Distinct, 3_000);
        embedded(name, &general(&model(name), 2), &config, Domain::KleeneDisjunctive);
    }
    let config = bounds(1, 5, Values::UpTo(2), 3_000);
    embedded("pessimistic_set", &general(&model("pessimistic_set"), 1), &config, Domain::Kleene);
}

fn embedded(name: &str, program: &Program, config: &crate::concrete::Config, domain: Domain) {
    // With the answers that were seen: the concrete states have them, too.
    let options = Options { threads: Threads::Those, domain, ..Options::default() };
    let analysis = analyse(program, &options, &|_| {}).expect("it applies");
    assert!(matches!(analysis.found, Found::Proved), "{name}: {:?}", analysis.found);
    let checked = check_against(name, program, config, Threads::Those, &analysis);
    println!("{name}, {domain:?}: {checked:?}");
    assert!(checked.kept > 100 && checked.states > 100, "{name}: {checked:?}");
    assert!(checked.embeddings > 100, "{name}: {checked:?}");
}

/// For one argument a node with another value is pushed. The states in which the new node holds the
/// argument and the constant differ in nothing else.
#[test]
fn what_a_new_node_holds_is_kept_apart() {
    let text = std::fs::read_to_string(
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../models/treiber_stack.lin"),
    );
    let made = "let x = new Node { val: v };";
    let other = format!("{made}\n    if v != 7 {{}} else {{ x = new Node {{ val: 1 }}; }}");
    let text = text.unwrap().replace(made, &other);
    let program = general(&compile(&text, &Config::default()).unwrap().program, 2);
    for (threads, domain) in [
        (Threads::Any, Domain::Targets),
        (Threads::Those, Domain::Targets),
        (Threads::Those, Domain::Kleene),
        (Threads::Those, Domain::KleeneDisjunctive),
    ] {
        let options = Options { threads, domain, ..Options::default() };
        let analysis = analyse(&program, &options, &|_| {}).expect("it applies");
        assert!(matches!(analysis.found, Found::Failed(_)), "{threads:?}, {domain:?}");
    }
}
