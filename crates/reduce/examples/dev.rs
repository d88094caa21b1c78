use linchpin_reduce::*;
use linchpin_reduce::facts::*;
fn main() {
    for path in std::env::args().skip(1) {
    let text = std::fs::read_to_string(&path).unwrap();
    let model = match linchpin_subop::parse(&text) { Ok(m) => m, Err(e) => { println!("{path}: {e:?}"); continue } };
    let start = std::time::Instant::now();
    let (model, replaced) = replace_reads(&model, 20000);
    println!("== {path}: replaced {:?}", replaced.iter().map(|r| model.operations[r.operation].sub_operations[r.step].name.clone()).collect::<Vec<_>>());
    let mut context = context::Context::new(&model, 20000).unwrap();
    analyse(&mut context);
    let t1 = start.elapsed();
    let verbose = std::env::var("V").is_ok();
    let names = |p: usize| linchpin_subop::Names::of(&model, &model.operations[context.prefixes.all[p].operation.0]);
    if verbose {
        for i in &context.facts.invariants { if i.dropped.is_none() { println!("inv {:?}", i.condition.atoms().len()); } }
        for p in context.prefixes.proper() {
            println!("-- {}", context.prefixes.name(p));
            for f in &context.facts.at[p] { match &f.statement {
                Statement::Condition(c) => println!("   {} {:?}", names(p).condition(c), f.dropped.as_ref().map(|r| match r { Reason::BrokenBy(q) => format!("broken by {}", context.prefixes.name(*q)), r => format!("{r:?}") })),
                Statement::Reach(r) => println!("   reach {:?} {:?}", r, f.dropped.as_ref().map(|r| match r { Reason::BrokenBy(q) => format!("broken by {}", context.prefixes.name(*q)), r => format!("{r:?}") })) } }
            for c in context.facts.live(p) { println!("   LIVE {}", names(p).condition(c)); }
        }
    }
    let mut ok = true;
    for (p, pending) in pending::decide(&context) {
        match pending { pending::Pending::Stuck { step, past } => { ok = false; println!("STUCK at {}: step {} past {}", context.prefixes.name(p), context.prefixes.name(step), context.prefixes.name(past)); }
          p2 => if verbose { println!("{} {:?}", context.prefixes.name(p), p2) } }
    }
    let mut relations = closure::Relations::new(&context);
    for p in context.prefixes.proper() {
        let c = relations.check(p);
        if verbose { println!("closure {}: {:?}", context.prefixes.name(p), c.members.iter().map(|m| context.prefixes.name(m.block.prefix)).collect::<Vec<_>>()); }
        if let Some((m, step, unknown)) = c.failure { ok = false;
            println!("FAIL x={} member={} (after {:?}) cases {:?} step={} unknown={unknown}", context.prefixes.name(p), context.prefixes.name(c.members[m].block.prefix), c.members[m].after.map(|a| context.prefixes.name(c.members[a].block.prefix)), c.members[m].cases.as_ref().map(|c| c.len()), context.prefixes.name(step)); }
    }
    println!("{path}: {} facts {:?} total {:?} cases {}", if ok {"PROVED"} else {"no"}, t1, start.elapsed(), context.cases());
    }
}
