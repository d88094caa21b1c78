use linchpin_shape::correlate::*; use linchpin_shape::explore::*; use linchpin_shape::prepare::*; use linchpin_shape::targets::Targets;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let threads: usize = args[2].parse().unwrap();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let compiled = linchpin_lang::compile(&text, &linchpin_lang::Config::default());
    let program = compiled.unwrap().program;
    let choice = if args.get(3).map(String::as_str) == Some("own") { ReferenceChoice::Own } else { ReferenceChoice::Specification };
    let model = match prepare(&program, choice) { Ok(m) => m, Err(e) => { println!("not applicable: {e}"); return } };
    let machine = Machine::new(model, PureAnswers::Seen, RunsAt::Points);
    let start = std::time::Instant::now();
    let initial = initial::<Targets>(&machine, &vec![0; threads]).unwrap();
    let found = explore(&machine, initial, &Default::default(), &|_| {});
    println!("{} states {} moves {} bytes {:?} {:?}", found.states.len(), found.moves, found.bytes, start.elapsed(), found.stopped.map(|s| match s { Stopped::Failed{failure,..} => format!("{} line {}: {}", program.operations[failure.operation].name, failure.line, failure.cause), o => format!("{o:?}") }));
}
