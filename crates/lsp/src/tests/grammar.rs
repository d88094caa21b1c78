//! The grammars of the VS Code extension know every word of the languages.

use super::root;
use serde_json::Value as Json;
use std::collections::BTreeSet;

/// Every word in the patterns of a grammar.
fn words(grammar: &str) -> BTreeSet<String> {
    let path = root().join("editors/vscode/syntaxes").join(grammar);
    let text = std::fs::read_to_string(path).expect("the grammar");
    let grammar: Json = serde_json::from_str(&text).expect("the grammar is JSON");
    let mut words = BTreeSet::new();
    collect(&grammar, &mut words);
    words
}

fn collect(part: &Json, words: &mut BTreeSet<String>) {
    match part {
        Json::Object(fields) => {
            for (name, value) in fields {
                match value.as_str() {
                    Some(pattern) if matches!(name.as_str(), "match" | "begin" | "end") => {
                        let pattern = pattern.replace("\\b", " ");
                        let found = pattern.split(|c: char| !c.is_alphanumeric() && c != '_');
                        words.extend(found.map(str::to_owned));
                    }
                    _ => collect(value, words),
                }
            }
        }
        Json::Array(items) => items.iter().for_each(|item| collect(item, words)),
        _ => {}
    }
}

#[test]
fn grammars_know_every_word() {
    let lin = linchpin_lang::keywords()
        .chain(linchpin_lang::FUNCTIONS.iter().copied())
        .chain(linchpin_lang::RESERVED.iter().copied().filter(|name| *name != "_"))
        .chain([
            "state",
            "depth",
            "unlimited",
            "any",
            "int",
            "bool",
            "tid",
            "seq",
            "set",
            "map",
            "forall",
            "exists",
            "lin",
            "base",
            "when",
            "line",
            "persistent",
            "recover",
            "flush",
            "fence",
            "persist",
            "returns",
        ]);
    for (grammar, known) in [
        ("lin.tmLanguage.json", lin.collect::<Vec<_>>()),
        ("subop.tmLanguage.json", linchpin_subop::keywords().collect()),
        ("csp.tmLanguage.json", linchpin_csp::keywords().collect()),
    ] {
        let words = words(grammar);
        let missing: Vec<&str> = known.into_iter().filter(|word| !words.contains(*word)).collect();
        assert!(missing.is_empty(), "{grammar} lacks {missing:?}");
    }
}
