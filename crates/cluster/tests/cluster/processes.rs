//! Real processes: this test, started again.

use crate::support::{asked, bounds, compiled, free_hosts};
use linchpin_cluster::{Processes, hosts};
use linchpin_refine::{VerifyOptions, verify};
use linchpin_verdict::Outcome;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

const QUEUE: &str = include_str!("../../../../models/ms_queue.lin");

/// Where a process started again finds the others, which one it is, and how many calls there are.
const ROLE: &str = "LINCHPIN_CLUSTER_TEST";

/// No test by itself: what the processes do that the others start.
#[test]
fn a_process() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let [named, process, calls] = role.split(' ').collect::<Vec<_>>()[..] else { panic!("{role}") };
    let process: usize = process.parse().expect("a number");
    let cluster = Processes::new(hosts(named).expect("hosts"), process, 1).expect("a process");
    let mut options = asked(bounds(calls.parse().expect("a number"), 2));
    options.points = false;
    let options = VerifyOptions { cluster: Some(Arc::new(cluster)), ..options };
    let program = compiled(QUEUE, Some(3));
    let report = verify(&program, &options, &|stats| println!("{} states", stats.states));
    let report = report.expect("a report");
    let code = match &report.outcome {
        Outcome::Holds(()) => 0,
        Outcome::Violated(_) => 1,
        Outcome::Inconclusive(why) => {
            println!("inconclusive: {why}");
            3
        }
    };
    println!("{} implementation states", report.stats.implementation_states);
    std::process::exit(code);
}

fn start(hosts: &[String], process: usize, calls: u32) -> Child {
    Command::new(std::env::current_exe().expect("this test"))
        .args(["--exact", "processes::a_process", "--nocapture"])
        .env(ROLE, format!("{} {process} {calls}", hosts.join(",")))
        .stdout(Stdio::piped())
        .spawn()
        .expect("a process")
}

/// How a process ends, and what it has said.
fn end(mut process: Child) -> (Option<i32>, String) {
    let mut said = String::new();
    let until = Instant::now() + Duration::from_secs(120);
    while process.try_wait().expect("a process").is_none() {
        if Instant::now() > until {
            let _ = process.kill();
            panic!("a process hangs");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    let code = process.wait().expect("a process").code();
    if let Some(mut out) = process.stdout.take() {
        out.read_to_string(&mut said).expect("text");
    }
    (code, said)
}

#[test]
fn three_processes_find_what_one_finds() {
    let hosts = free_hosts(3);
    let all: Vec<Child> = (0..3).map(|process| start(&hosts, process, 1)).collect();
    let mut options = asked(bounds(1, 2));
    options.points = false;
    let alone = verify(&compiled(QUEUE, Some(3)), &options, &|_| {}).expect("a report");
    let states = format!("{} implementation states", alone.stats.implementation_states);
    for (code, said) in all.into_iter().map(end) {
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(&states), "{said}, not {states}");
    }
}

#[test]
fn a_process_that_is_killed_ends_the_search_of_all() {
    let hosts = free_hosts(3);
    let mut all: Vec<Child> = (0..3).map(|process| start(&hosts, process, 4)).collect();
    // The search has begun: some levels are done.
    let mut out = BufReader::new(all[0].stdout.take().expect("piped"));
    let mut line = String::new();
    while !line.ends_with(" states\n") {
        line.clear();
        assert!(out.read_line(&mut line).expect("text") > 0, "it ends too soon");
    }
    let mut killed = all.remove(1);
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let reader = std::thread::spawn(move || {
        let mut said = String::new();
        out.read_to_string(&mut said).map(|_| said).expect("text")
    });
    let (last, first) = (all.remove(1), all.remove(0));
    assert_eq!(end(first).0, Some(3));
    let said = [reader.join().expect("read"), end(last).1];
    let lost = format!("inconclusive: the connection to process 1 ({}) was lost", hosts[1]);
    assert!(said.iter().any(|said| said.contains(&lost)), "{said:?}");
    assert!(said.iter().all(|said| said.contains("was lost")), "{said:?}");
}
