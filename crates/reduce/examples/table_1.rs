//! `table_1 FILE…`: what the prover says of each `.subop` file, and how long it took (the better of
//! two runs).

use linchpin_reduce::{Options, prove};

fn main() {
    for path in std::env::args().skip(1) {
        let Ok(source) = std::fs::read_to_string(&path) else { continue };
        let Ok(model) = linchpin_subop::parse(&source) else { continue };
        let (first, second) =
            (prove(&model, &Options::default()), prove(&model, &Options::default()));
        let answer = if first.is_proved() { "proved" } else { "not proved" };
        let milliseconds = first.seconds.min(second.seconds) * 1000.0;
        println!("{path}: {answer}, {milliseconds:.2} ms, {} cases", first.cases);
        if std::env::var("EXPLAIN").is_ok() {
            print!("{}", first.obstacle_text());
        }
    }
}
