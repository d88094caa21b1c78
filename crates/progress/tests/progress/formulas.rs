//! How formulas are written, and what is said about mistakes.

use crate::support::program;
use expect_test::{Expect, expect};
use linchpin_ir::program::Program;
use linchpin_lang::Threads;
use linchpin_progress::ltl::parse;

fn object() -> Program {
    let source = "spec stack; shared n: int;
        op push(v: int) { n = v; } op pop() -> int? { let r = n; return r; }";
    program(source, Threads::Count(2))
}

fn check(text: &str, expected: &Expect) {
    let answer = match parse(text, &object()) {
        Ok(parsed) => parsed.formula.to_string(),
        Err(mistake) => mistake.to_string(),
    };
    expected.assert_eq(&answer);
}

#[test]
fn connectives_and_their_precedence() {
    let same = |texts: &[&str]| {
        let parsed: Vec<_> = texts.iter().map(|text| parse(text, &object()).unwrap()).collect();
        assert!(parsed.windows(2).all(|pair| pair[0] == pair[1]), "{texts:?}");
    };
    same(&["always push_inv", "[] push_inv", "G push_inv", "G(push_inv)", "false R push_inv"]);
    same(&["eventually pop_res", "<> pop_res", "F pop_res", "true U pop_res"]);
    same(&["push_inv until pop_inv", "push_inv U pop_inv"]);
    same(&["push_inv release pop_inv", "push_inv R pop_inv"]);
    same(&["not next pop_inv", "! X pop_inv", "!X(pop_inv)"]);
    same(&["push_inv and pop_inv or push_res", "(push_inv && pop_inv) || push_res"]);
    same(&["push_inv implies pop_inv implies pop_res", "push_inv -> (pop_inv -> pop_res)"]);
    same(&["push_inv U pop_inv U pop_res", "push_inv U (pop_inv U pop_res)"]);
    same(&["push_inv && pop_inv U pop_res", "push_inv && (pop_inv U pop_res)"]);
    same(&["! push_inv U pop_inv", "(! push_inv) U pop_inv"]);
    same(&["push_inv(_)@1", "push_inv ( _ ) @ 1"]);
    check(
        "always (push_inv implies eventually push_res)",
        &expect!["(false R (!p0 || (true U p1)))"],
    );
}

#[test]
fn atoms_are_told_apart() {
    let text =
        "push_inv(1) or push_inv(2) or push_inv or push_inv(1)@0 or pop_res(none) or push_inv(1)";
    assert_eq!(parse(text, &object()).unwrap().atoms.len(), 5);
}

#[test]
fn mistakes_are_pointed_at() {
    check(
        "always (push_in implies eventually push_res)",
        &expect![[r#"
            `push_in` is not an event
              always (push_in implies eventually push_res)
                      ^^^^^^^
              hint: the events are push_inv, push_res, pop_inv, pop_res"#]],
    );
    check(
        "F peek_res",
        &expect![[r#"
            the model has no operation `peek`
              F peek_res
                ^^^^^^^^
              hint: the events are push_inv, push_res, pop_inv, pop_res"#]],
    );
    check(
        "push_inv(1, 2)",
        &expect![[r#"
            2 values are given, but `push` has 1 parameters
              push_inv(1, 2)
                      ^
              hint: leave the brackets out for any values"#]],
    );
    check(
        "(push_inv",
        &expect![[r#"
            `)` is missing here
              (push_inv
                       ^"#]],
    );
    check(
        "push_inv pop_inv",
        &expect![[r#"
            the formula should end here
              push_inv pop_inv
                       ^^^^^^^
              hint: `and`, `or`, `implies`, `until` or `release` goes between two formulas"#]],
    );
    check(
        "pop_res@2",
        &expect![[r#"
            there is no such thread
              pop_res@2
                      ^
              hint: threads have the numbers 0 to 1"#]],
    );
    check(
        "",
        &expect![[r#"
            an event or a formula is missing here
              
              ^
              hint: the events are push_inv, push_res, pop_inv, pop_res"#]],
    );
    check(
        "pop_res(x)",
        &expect![[r#"
            a value is missing here
              pop_res(x)
                      ^
              hint: a number, `true`, `false`, `none`, `_` for any, or a list of those"#]],
    );
}

#[test]
fn nothing_makes_the_parser_panic() {
    let pieces = [
        "(", ")", "[]", "<>", "!", "X", "U", "push_inv", "pop_res", "@", "0", "-1", ",", "_", "é",
        "[", "]", "->", "-", "&", "&&", "true", "\t", "\u{301}",
    ];
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..20_000 {
        let count = random.usize(..12);
        let words: Vec<&str> = (0..count).map(|_| pieces[random.usize(..pieces.len())]).collect();
        let text = words.join(if random.bool() { " " } else { "" });
        if let Err(mistake) = parse(&text, &object()) {
            assert!(!mistake.to_string().is_empty());
        }
    }
    for deep in ["(", "!", "X ", "push_inv -> ", "push_inv U ", "pop_res(("] {
        assert!(parse(&deep.repeat(100_000), &object()).is_err());
    }
    let long = vec!["push_inv"; 150].join(" && ");
    assert!(parse(&long, &object()).is_ok());
}
