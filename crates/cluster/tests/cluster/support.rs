//! What the tests share: models, and processes that are threads of this one.

use linchpin_cluster::Processes;
use linchpin_ir::interpreter::Memory;
use linchpin_ir::program::Program;
use linchpin_lang::{Config, Threads, compile};
use linchpin_refine::model::ModelError;
use linchpin_refine::search::Stats;
use linchpin_refine::{Report, VerifyOptions, verify};
use linchpin_space::{Bounds, Calls, Values};
use std::net::TcpListener;
use std::sync::Arc;

pub fn compiled(source: &str, threads: Option<usize>) -> Program {
    let threads = threads.map_or(Threads::AsDeclared, Threads::Count);
    let config = Config { threads, ..Config::default() };
    let compiled = compile(source, &config);
    compiled.unwrap_or_else(|mistakes| panic!("{source}\n{mistakes:?}")).program
}

pub fn bounds(calls: u32, values: i64) -> Bounds {
    Bounds {
        calls: Calls::Each(calls),
        values: Values::UpTo(values),
        objects: None,
        memory: Memory::Collected,
        crashes: 0,
        thread_crashes: 0,
    }
}

/// The path that the search itself finds, and nothing that one process does alone.
pub fn asked(bounds: Bounds) -> VerifyOptions {
    let mut options = VerifyOptions::new(bounds);
    options.stuck = false;
    options.repairs = false;
    options.shortest_budget = 0;
    // It is left out where processes search together.
    options.reductions.covered_crashes = false;
    options.search.workers = 1;
    options
}

/// So many places to listen, none of them in use: outside of the range from which the system takes
/// ports for calls.
pub fn free_hosts(count: usize) -> Vec<String> {
    let mut hosts = Vec::new();
    while hosts.len() < count {
        let host = format!("127.0.0.1:{}", fastrand::u16(10_000..32_000));
        if !hosts.contains(&host) && TcpListener::bind(&host).is_ok() {
            hosts.push(host);
        }
    }
    hosts
}

/// What processes say, each given its own options.
pub fn together(
    asked: &[(&Program, VerifyOptions)],
    workers: usize,
) -> Vec<Result<Report, ModelError>> {
    watched(asked, workers, &|_| {})
}

/// The same; the progress of the first is watched.
pub fn watched(
    asked: &[(&Program, VerifyOptions)],
    workers: usize,
    progress: &(dyn Fn(&Stats) + Sync),
) -> Vec<Result<Report, ModelError>> {
    let hosts = free_hosts(asked.len());
    std::thread::scope(|scope| {
        let processes: Vec<_> = (0..)
            .zip(asked)
            .map(|(process, (program, options))| {
                let hosts = hosts.clone();
                scope.spawn(move || {
                    let cluster = Processes::new(hosts, process, workers).expect("a process");
                    let cluster = Some(Arc::new(cluster) as Arc<dyn linchpin_refine::Cluster>);
                    let options = VerifyOptions { cluster, ..options.clone() };
                    verify(program, &options, progress)
                })
            })
            .collect();
        processes.into_iter().map(|process| process.join().expect("no panic")).collect()
    })
}
