//! dev
fn main() {
    for path in std::env::args().skip(1) {
        let text = std::fs::read_to_string(&path).unwrap();
        let model = match linchpin_subop::parse(&text) { Ok(m) => m, Err(e) => { println!("{path}: {}", e[0].render(&path, &text, false)); continue } };
        let r = linchpin_reduce::prove(&model, &Default::default());
        let r = if std::env::var("ONCE").is_ok() { r } else { linchpin_reduce::prove(&model, &Default::default()) };
        println!("{} {path} {:.2} ms, {} cases, replaced {:?}", if r.is_proved() {"PROVED"} else {"no    "}, r.seconds*1000.0, r.cases, r.replaced);
        if std::env::var("V").is_ok() { println!("{}", r.facts_text()); for p in &r.pending { println!("{p:?}"); } for p in &r.closures { println!("{p:?}"); } }
        for c in &r.claims { println!("{:?} {}", c.answer, c.text); }
        if std::env::var("T").is_ok() { println!("{}", linchpin_reduce::tables(&model, &Default::default()).text()); }
        print!("{}", r.obstacle_text());
    }
}
