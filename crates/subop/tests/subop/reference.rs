//! The examples of the language reference are real: each parses, and what the printer makes of it
//! parses to the same.

use linchpin_subop::{parse, print};

#[test]
fn examples_of_the_reference_parse() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/subop.md");
    let page = std::fs::read_to_string(page).expect("the reference is there");
    let blocks: Vec<&str> = page
        .split("```subop\n")
        .skip(1)
        .map(|rest| rest.split("```").next().expect("the block ends"))
        .collect();
    assert!(blocks.len() >= 3);
    for source in blocks {
        let model = parse(source).unwrap_or_else(|mistakes| {
            let shown: Vec<_> = mistakes
                .iter()
                .map(|m| m.render("docs/reference/subop.md", source, false))
                .collect();
            panic!("{}", shown.join("\n"))
        });
        let printed = print(&model);
        let again = parse(&printed).unwrap_or_else(|_| panic!("{printed}"));
        assert_eq!(print(&again), printed);
    }
}
