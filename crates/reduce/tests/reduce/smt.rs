//! The questions about pairs, asked of Z3 where there is one: it never finds a state that this
//! crate says does not exist.

use linchpin_reduce::{Options, prove};
use std::io::Write;
use std::process::{Command, Stdio};

const MODELS: [&str; 4] = ["treiber_stack", "pair_snapshot", "rdcss", "ms_queue"];

#[test]
fn z3_agrees() {
    if Command::new("z3").arg("--version").output().is_err() {
        println!("no z3 on the PATH: not compared");
        return;
    }
    let (mut same, mut coarser, mut unknown) = (0, 0, 0);
    for name in MODELS {
        let path = format!("{}/../../models/subop/{name}.subop", env!("CARGO_MANIFEST_DIR"));
        let source = std::fs::read_to_string(&path).expect("the model is there");
        let model = linchpin_subop::parse(&source).expect("the model parses");
        let all = prove(&model, &Options::default()).obligations();
        assert!(!all.is_empty(), "{name} has no questions");
        let text: Vec<String> = all
            .iter()
            .map(|asked| {
                format!(
                    "(reset)
(set-option :timeout 100)
{}",
                    asked.text
                )
            })
            .collect();
        let text = text.concat();
        for (asked, answer) in all.iter().zip(answers(&text)) {
            match (answer.as_str(), asked.satisfiable) {
                ("sat", true) | ("unsat", false) => same += 1,
                ("sat", false) => {
                    panic!("{name}: z3 finds a state for {}\n{}", asked.name, asked.text)
                }
                ("unsat", true) => {
                    println!("{name}: no state for {}", asked.name);
                    coarser += 1;
                }
                ("unknown" | "timeout", _) => unknown += 1,
                (other, _) => panic!("{name}: {other}\n{}", asked.text),
            }
        }
    }
    println!(
        "{same} answers are the same, {coarser} states exist only here, {unknown} are not known"
    );
    assert!(same > 10 * coarser, "{same} the same, {coarser} not");
}

fn answers(text: &str) -> Vec<String> {
    let child = Command::new("z3")
        .args(["-in", "-T:60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("z3 starts");
    let mut input = child.stdin.take().expect("z3 reads");
    let text = text.to_owned();
    let writing = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().expect("z3 ends");
    let _ = writing.join();
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}
