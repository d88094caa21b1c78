//! `models/subop/README.md` lists every file with what its header says. `UPDATE_EXPECT=1` writes
//! it.

use std::path::Path;

const INTRODUCTION: &str = "# Models in sub-operations

The data structures of Table I of V. Singh, I. Neamtiu, R. Gupta, *Proving Concurrent Data Structures Linearizable*,
in the language of [docs/reference/subop.md](../../docs/reference/subop.md). Brute force over two and three instances
finds all of them linearizable, and their sequential executions are those of the specification that they name. This
page is written by the tests.
";

/// Columns of the page.
const WIDTH: usize = 110;

/// A text in lines, the first of which begins with `start` and the others with as much space.
fn wrapped(start: &str, text: &str) -> String {
    let mut lines = vec![start.to_owned()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always one");
        if line.len() > start.len() && line.chars().count() + word.chars().count() >= WIDTH {
            lines.push(format!("{:1$}{word}", "", start.len()));
        } else {
            let space = if line.len() > start.len() { " " } else { "" };
            *line += &format!("{space}{word}");
        }
    }
    lines.join("\n") + "\n"
}

/// What stands after `key` in the header, up to the next key or an empty line.
fn entry(source: &str, key: &str) -> String {
    let lines: Vec<&str> = source.lines().map_while(|line| line.strip_prefix("//")).collect();
    let start = lines.iter().position(|line| line.trim_start().starts_with(key)).expect(key);
    let first = lines[start].trim_start().trim_start_matches(key).trim();
    let rest = lines[start + 1..].iter().take_while(|line| line.starts_with("     "));
    rest.fold(first.to_owned(), |text, line| text + " " + line.trim())
}

#[test]
fn the_page_lists_every_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/subop");
    let entries = std::fs::read_dir(&folder).expect("the models are there");
    let mut names: Vec<String> = entries
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(".subop"))
        .collect();
    names.sort();
    let mut page = INTRODUCTION.to_owned();
    for name in names {
        let source = std::fs::read_to_string(folder.join(&name)).expect("a text");
        let title = source.lines().next().and_then(|line| line.strip_prefix("// "));
        let title = title.unwrap_or_else(|| panic!("{name} has no title"));
        let expected = entry(&source, "Expected:");
        assert!(expected.starts_with("linearizable"), "{name}: {expected}");
        assert!(!entry(&source, "Source:").is_empty());
        let count = entry(&source, "Sub-operations:");
        page += &format!("\n## [{name}]({name})\n\n{}\n", wrapped("", title));
        page += &wrapped("- ", &format!("Expected: {expected}"));
        page += &wrapped("- ", &format!("Sub-operations: {count}"));
    }
    expect_test::expect_file![folder.join("README.md")].assert_eq(&page);
}
