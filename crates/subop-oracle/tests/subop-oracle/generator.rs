//! The generator writes programs that parse, are small enough to judge, and of which about half are
//! linearizable.

use linchpin_subop::{parse, print};
use linchpin_subop_oracle::{Comparison, Judged, generate, generate_rich, judge_all};

#[test]
fn random_programs_parse_and_are_well_mixed() {
    let cases: u64 =
        std::env::var("LINCHPIN_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
    let (mut linearizable, mut strictly, mut large) = (0, 0, 0);
    for seed in 0..cases {
        let source = generate(seed);
        let model = parse(&source).unwrap_or_else(|mistakes| {
            panic!("seed {seed}: {}", mistakes[0].render("random", &source, false))
        });
        let printed = print(&model);
        assert_eq!(print(&parse(&printed).expect("what is printed parses")), printed);
        let verdict = judge_all(&model, 3, &[1], Comparison::Observations, 5_000);
        let strict = judge_all(&model, 3, &[1], Comparison::States, 5_000);
        match (&verdict, &strict) {
            (Judged::TooLarge, _) | (_, Judged::TooLarge) => large += 1,
            (Judged::Linearizable, _) => linearizable += 1,
            (_, Judged::Linearizable) => {
                panic!("seed {seed}: equal states, different views\n{source}")
            }
            _ => {}
        }
        strictly += u64::from(strict == Judged::Linearizable);
    }
    println!(
        "{linearizable} of {cases} linearizable, {strictly} with equal states, {large} too large"
    );
    assert!(large * 20 < cases, "{large} of {cases} are too large");
    assert!((cases / 3..cases * 2 / 3).contains(&linearizable), "{linearizable} of {cases}");
}

#[test]
fn rich_programs_parse_and_are_well_mixed() {
    let cases: u64 =
        std::env::var("LINCHPIN_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(200);
    let (mut linearizable, mut violated) = (0, 0);
    for seed in 0..cases {
        let source = generate_rich(seed);
        let model = parse(&source).unwrap_or_else(|mistakes| {
            panic!("seed {seed}: {}", mistakes[0].render("random", &source, false))
        });
        match judge_all(&model, 3, &[1], Comparison::Observations, 5_000) {
            Judged::Linearizable => linearizable += 1,
            Judged::Violated(_) => violated += 1,
            Judged::TooLarge => {}
        }
    }
    println!("{linearizable} of {cases} linearizable, {violated} violated");
    assert!(
        linearizable * 4 > cases && violated * 10 > cases,
        "{linearizable}, {violated} of {cases}"
    );
}
