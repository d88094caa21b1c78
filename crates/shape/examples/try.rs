//! Analyses one model: `try MODEL.lin THREADS [own]`, with 0 threads for any number.
use linchpin_shape::*;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let threads: usize = args[2].parse().unwrap();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let mut program = linchpin_lang::compile(&text, &Default::default()).unwrap().program;
    while program.threads.len() < threads {
        program.threads.push(program.threads[0].clone());
    }
    if threads > 0 {
        program.threads.truncate(threads);
    }
    let reference = if args.get(3).map(String::as_str) == Some("own") {
        ReferenceChoice::Own
    } else {
        ReferenceChoice::Specification
    };
    let start = std::time::Instant::now();
    let options = Options {
        threads: if threads == 0 { Threads::Any } else { Threads::Those },
        reference,
        workers: 2,
        domain: if std::env::var("KLEENE").is_ok() { Domain::Kleene } else { Domain::Targets },
        pure: if std::env::var("CLAIMED").is_ok() {
            PureAnswers::Claimed
        } else {
            PureAnswers::Seen
        },
        ..Default::default()
    };
    let found = match analyse(&program, &options, &|_| {}) {
        Ok(found) => found,
        Err(why) => return println!("not applicable: {why}"),
    };
    let e = &found.explored;
    println!(
        "{} states {} moves {} joins {} bytes {:?}",
        e.states.len(),
        e.moves,
        e.joins,
        e.bytes,
        start.elapsed()
    );
    if std::env::var("HIST").is_ok() {
        let mut h: std::collections::BTreeMap<String, usize> = Default::default();
        for r in &e.states {
            let t = &r.state.threads[0];
            let line = t.at.map(|(o, n)| {
                (
                    program.operations[o as usize].name.clone(),
                    program.operations[o as usize].body.nodes[n as usize].line,
                    n,
                )
            });
            *h.entry(format!("{:?} {:?}", line, t.arguments)).or_default() += 1;
        }
        let mut v: Vec<_> = h.into_iter().collect();
        v.sort_by_key(|x| std::cmp::Reverse(x.1));
        for (k, n) in v.into_iter().take(40) {
            println!("{n:6} {k}");
        }
    }
    match &found.found {
        Found::Failed(trace) => {
            let f = trace.failure;
            println!(
                "FAILED {} line {}: {}",
                program.operations[f.operation].name, f.line, f.cause
            );
            if std::env::var("TRACE").is_ok() {
                for m in &trace.moves {
                    let line = m.at.map(|(o, n)| {
                        (
                            program.operations[o as usize].name.clone(),
                            program.operations[o as usize].body.nodes[n as usize].line,
                        )
                    });
                    println!("--- thread {:?} {:?}", m.thread, line);
                    let s = &m.state;
                    println!("  shared {:?} ref {:?} edge {:?}", s.shared, s.reference, s.edge);
                    for t in &s.threads {
                        println!(
                            "  thread {:?} {:?} args {:?} locals {:?} seen {} alloc {:?}",
                            t.at, t.phase, t.arguments, t.locals, t.seen, t.allocated
                        );
                    }
                    for (i, n) in s.heap.nodes.iter().enumerate() {
                        println!(
                            "  n{i}{} {:?} cls {:?} b{} reach {} own {:?} lock {:?} links {} ref {}",
                            if n.summary { "*" } else { "" },
                            n.flags.kind,
                            n.flags.class,
                            n.flags.bools,
                            n.flags.reach,
                            n.flags.owner,
                            n.flags.locks,
                            mask(n.links[0]),
                            mask(n.reference[0])
                        );
                    }
                }
            }
        }
        Found::Proved => println!("PROVED unreached {:?}", found.unreached),
        other => println!("{other:?}"),
    }
}
fn mask(m: u64) -> String {
    (0..64)
        .filter(|b| m >> b & 1 == 1)
        .map(|b| if b == 0 { "null".to_owned() } else { format!("n{}", b - 1) })
        .collect::<Vec<_>>()
        .join("|")
}
