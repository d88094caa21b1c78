//! `docs/errors.md`: a tour of the error messages, made from real mistakes.
//!
//! `UPDATE_EXPECT=1 cargo test -p linchpin-lang errors` writes the page anew; read what has
//! changed.

mod mistakes;

use expect_test::expect_file;
use linchpin_lang::{Diagnostic, compile};
use mistakes::{Mistake, SECTIONS};

const INTRODUCTION: &str = "\
# The error messages

What `linchpin` says about mistakes in a model: what is wrong, where, and what to do about it. The parser goes on
after a mistake, so several are reported at once; names and types are looked at when the whole file can be read.
Every mistake ends the command with exit code 2.

This page is made by a test out of real mistakes (`crates/lang/tests/lang/errors`), so it shows the messages as they
are.
";

fn mistakes_in(mistake: &Mistake) -> Vec<Diagnostic> {
    match compile(mistake.model, &mistake.config()) {
        Ok(_) => panic!("{}: no mistake is found", mistake.title),
        Err(found) => found,
    }
}

fn shown(mistake: &Mistake) -> String {
    let found = mistakes_in(mistake);
    let rendered: Vec<String> =
        found.iter().map(|found| found.render("model.lin", mistake.model, false)).collect();
    rendered.join("\n\n")
}

#[test]
fn the_page_is_up_to_date() {
    let mut page = INTRODUCTION.to_owned();
    page.push('\n');
    for (section, mistakes) in SECTIONS {
        page += &format!("- {section}\n");
        for mistake in *mistakes {
            page += &format!("  - [{}](#{})\n", mistake.title, mistake.anchor());
        }
    }
    for (section, mistakes) in SECTIONS {
        page += &format!("\n## {section}\n");
        for mistake in *mistakes {
            let Mistake { title, why, model, .. } = mistake;
            page += &format!("\n### {title}\n\n{why}\n\n```lin\n{model}```\n\n");
            page += &format!("```text\n{}\n```\n", shown(mistake));
        }
    }
    expect_file!["../../../../../docs/errors.md"].assert_eq(&page);
}

#[test]
fn every_mistake_is_found_once() {
    for (_, mistakes) in SECTIONS {
        for mistake in *mistakes {
            let found = mistakes_in(mistake);
            assert_eq!(found.len(), mistake.count, "{}:\n{}", mistake.title, shown(mistake));
        }
    }
}
