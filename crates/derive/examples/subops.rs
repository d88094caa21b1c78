//! Prints the sub-operations of models and whether they are proved: `cargo run -p linchpin-derive --example subops -- FILE…`
fn main() {
    for file in std::env::args().skip(1) {
        let source = std::fs::read_to_string(&file).expect("readable");
        let compiled = linchpin_lang::compile(&source, &Default::default()).expect("a model");
        let start = std::time::Instant::now();
        match linchpin_derive::derive(&compiled.program) {
            Ok(d) => {
                let bounds =
                    linchpin_subop::sequential::Bounds { values: vec![0, 1], ..Default::default() };
                let t = start.elapsed();
                let a = linchpin_derive::prove(&d, &compiled.program, &bounds).unwrap();
                println!("{}", a.form.text());
                println!(
                    "{file}: {} {:?} tried {} derive {:?} {:?}",
                    a.is_proved(),
                    a.sequential,
                    a.tried,
                    t,
                    start.elapsed()
                );
                println!("{}", a.report.obstacle_text());
            }
            Err(r) => println!("{file}: {r}"),
        }
    }
}
