//! `linchpin explain`: every code is explained, its wrong example has exactly that mistake, and its
//! right example none. The page of the reference shows the same.

use linchpin_engine::Language;
use linchpin_lang::Config;
use linchpin_spec::Value;
use linchpin_syntax::Code;
use linchpin_verify::load;
use snapbox::cmd::{Command, cargo_bin};
use std::collections::BTreeSet;
use std::path::Path;

/// An example: its language, how it is read, its text.
struct Example<'a> {
    language: Language,
    config: Config,
    text: &'a str,
}

/// The two examples of an explanation.
fn examples(code: Code) -> [Example<'static>; 2] {
    let text = code.explanation();
    let blocks = text.split("```").skip(1).step_by(2).map(|block| {
        let (info, text) = block.split_once('\n').expect("a block");
        let (language, flags) = info.split_once(' ').unwrap_or((info, ""));
        let language = Language::of_extension(Some(language)).expect("a language");
        Example { language, config: config(flags), text }
    });
    let blocks: Vec<_> = blocks.collect();
    assert!(text.contains("\nWrong:\n") && text.contains("\nRight:\n"), "{code}");
    blocks.try_into().unwrap_or_else(|_| panic!("{code}: two examples, wrong and right"))
}

/// What `--set NAME=NUMBER` says.
fn config(flags: &str) -> Config {
    let set = flags.strip_prefix("--set ").and_then(|set| set.split_once('='));
    let params =
        set.map(|(name, value)| (name.to_owned(), Value::Int(value.parse().expect("a number"))));
    Config { params: params.into_iter().collect(), ..Config::default() }
}

fn codes(example: &Example<'_>) -> Vec<Code> {
    match load("example", example.text, example.language, &example.config) {
        Ok(_) => Vec::new(),
        Err(error) => error.mistakes.iter().map(|mistake| mistake.code).collect(),
    }
}

#[test]
fn wrong_examples_have_the_mistake_and_right_ones_have_none() {
    for code in Code::ALL.iter().copied() {
        let [wrong, right] = examples(code);
        assert_eq!(codes(&wrong), [code], "{code}, wrong");
        assert_eq!(codes(&right), [], "{code}, right");
    }
}

#[test]
fn codes_are_told_apart() {
    let ids: BTreeSet<&str> = Code::ALL.iter().map(|code| code.id()).collect();
    assert_eq!(ids.len(), Code::ALL.len());
    assert!(Code::ALL.is_sorted_by_key(|code| code.id()));
    let titles: BTreeSet<&str> = Code::ALL.iter().map(|code| code.title()).collect();
    assert_eq!(titles.len(), Code::ALL.len());
    for code in Code::ALL {
        assert_eq!(Code::parse(&code.id().to_lowercase()), Some(*code));
    }
}

/// `UPDATE_EXPECT=1` writes the page anew.
#[test]
fn the_page_of_the_reference_is_up_to_date() {
    let mut page = String::from(
        "# The codes of mistakes\n\n\
         Every mistake in a model has a code, `error[L010]: …`, which says of what kind it is and \
         stays the same\nfrom version to version. `linchpin explain L010` prints what stands here. \
         Tests make this page and read\nits examples: each wrong one has exactly its mistake, each \
         right one has none.\n\n| code | meaning |\n| --- | --- |\n",
    );
    for code in Code::ALL {
        page += &format!("| [{code}](#{}) | {} |\n", code.id().to_lowercase(), code.title());
    }
    for code in Code::ALL {
        let body = code.explanation().split_once('\n').map_or("", |(_, body)| body);
        let stop = if code.title().ends_with('?') { "" } else { "." };
        page += &format!("\n## {code}\n\n{}{stop}\n{body}", code.title());
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/codes.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&path, &page).expect("written");
    }
    assert!(std::fs::read_to_string(path).expect("the page") == page, "run with UPDATE_EXPECT=1");
}

#[test]
fn the_command_explains_lists_and_refuses() {
    let linchpin = || Command::new(cargo_bin!("linchpin"));
    linchpin()
        .args(["explain", "l006"])
        .assert()
        .success()
        .stdout_eq("L006: Comparisons cannot be chained\n\n`a < b < c` would compare[..]\n...\n");
    linchpin().arg("explain").assert().success().stdout_eq("L001  Something else[..]\n...\n");
    linchpin()
        .args(["explain", "L999"])
        .assert()
        .code(2)
        .stderr_eq("error: there is no code `L999`: `linchpin explain` lists them\n");
}
