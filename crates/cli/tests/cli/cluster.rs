//! `verify --cluster`: what cannot be is said. That several processes answer as one does is tested
//! in `crates/cluster`.

use std::path::Path;
use std::process::{Command, Output};

fn output(more: &[&str]) -> Output {
    let mut command = Command::new(snapbox::cmd::cargo_bin!("linchpin"));
    command.env("LINCHPIN_CACHE", "");
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.arg("verify").args(more).output().expect("linchpin runs")
}

fn refused(more: &[&str], why: &str) {
    let output = output(more);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains(why), "{said}");
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    let stack = "models/treiber_stack.lin";
    refused(&[stack, "--cluster", "a:1,b:1"], "--process");
    refused(&[stack, "--process", "1"], "--cluster");
    refused(&[stack, "--cluster", "a:1", "--process", "0", "--disk", "d"], "cannot be used with");
    let both = [stack, "models/ms_queue.lin", "--cluster", "a:1", "--process", "0"];
    refused(&both, "--cluster is about one model");
}

#[cfg(not(feature = "cluster"))]
#[test]
fn a_build_without_it_says_how_to_get_one() {
    let asked = ["models/treiber_stack.lin", "--cluster", "a:1,b:1", "--process", "0"];
    refused(&asked, "cargo install --path crates/cli --features cluster");
}

#[cfg(feature = "cluster")]
#[test]
fn hosts_that_are_none_are_refused() {
    let asked =
        |hosts, process| ["models/treiber_stack.lin", "--cluster", hosts, "--process", process];
    refused(&asked("a", "0"), "`a` is no host with a port");
    refused(&asked("a:1,b:1", "2"), "there is no process 2");
}
