//! Explores models with their own bounds.
use linchpin_refine::Policy;
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{Outcome, SearchOptions, explore};
use linchpin_space::{Bounds, Calls, Reductions};
fn main() {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let mut threads = None;
    let mut ops = None;
    let mut values = None;
    let mut eager = false;
    let mut points = false;
    while args.len() > 1 && args[0].starts_with('-') {
        let v = args.remove(1).parse::<usize>().unwrap();
        match args.remove(0).as_str() {
            "-t" => threads = Some(v),
            "-o" => ops = Some(v),
            "-v" => values = Some(v),
            "-e" => eager = v == 1,
            "-p" => points = v == 1,
            _ => panic!(),
        }
    }
    for path in args {
        let src = std::fs::read_to_string(&path).unwrap();
        let config = linchpin_lang::Config {
            threads: threads
                .map_or(linchpin_lang::Threads::AsDeclared, linchpin_lang::Threads::Count),
            ..Default::default()
        };
        let c = match linchpin_lang::compile(&src, &config) {
            Ok(c) => c,
            Err(_) => {
                println!("{path}: err");
                continue;
            }
        };
        let bounds = Bounds {
            calls: Calls::Each(ops.unwrap_or(c.bounds.ops) as u32),
            values: values.map(|v| v as i64).unwrap_or(c.bounds.values),
            objects: None,
            memory: Default::default(),
        };
        let p = match ModelProduct::new(
            &c.program,
            bounds,
            Reductions::ALL,
            if points {
                Policy::Points
            } else if eager {
                Policy::Eager
            } else {
                Policy::JustInTime
            },
        ) {
            Ok(p) => p,
            Err(e) => {
                println!("{path}: {e}");
                continue;
            }
        };
        let mut o = SearchOptions::default();
        o.limits.deadline = Some(std::time::Instant::now() + std::time::Duration::from_secs(60));
        let (out, st) = explore(&p, &o, &|_| {});
        let s = match out {
            Outcome::Complete => "complete".to_string(),
            Outcome::Found { path, wrong } => format!("{wrong:?} after {}", path.len()),
            Outcome::Stopped(r) => r,
        };
        println!(
            "{:60} {:30} {:?} states {} impl {} trans {} sets {} depth {} {:.0} B/state {:.3}s",
            path.rsplit('/').next().unwrap(),
            s,
            p.space.symmetry(),
            st.states,
            st.implementation_states,
            st.transitions,
            p.sets.count(),
            st.depth,
            st.bytes as f64 / st.states as f64,
            st.seconds
        );
    }
}
