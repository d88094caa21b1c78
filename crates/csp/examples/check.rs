//! Checks `.csp` files: `cargo run --release -p linchpin-csp --example check --
//! models/csp/k_register.csp K=4`. `--no-reduction` turns partial order reduction off.

use linchpin_csp::{Options, parse, verify};

fn main() {
    let (mut constants, mut files, mut options) = (Vec::new(), Vec::new(), Options::default());
    for argument in std::env::args().skip(1) {
        match argument.split_once('=') {
            _ if argument == "--no-reduction" => options.reduce = false,
            Some((name, value)) => match value.parse() {
                Ok(value) => constants.push((name.to_owned(), value)),
                Err(_) => eprintln!("{argument}: not a number"),
            },
            None => files.push(argument),
        }
    }
    for file in files {
        let source = match std::fs::read_to_string(&file) {
            Ok(source) => source,
            Err(error) => {
                eprintln!("{file}: {error}");
                continue;
            }
        };
        match parse(&source, &constants) {
            Ok(model) => {
                for report in verify(&model, &options, &|_| {}) {
                    println!("{file}: {report}");
                }
            }
            Err(mistakes) => {
                for mistake in mistakes {
                    eprintln!("{}", mistake.render(&file, &source, false));
                }
            }
        }
    }
}
