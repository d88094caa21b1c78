//! Makes a program that shows a disagreement smaller: whole statements and blocks are left out
//! while it still does.

/// The smallest program found for which `shows` holds, and what it says of it.
pub fn shrink(source: &str, shows: impl Fn(&str) -> Option<String>) -> (String, String) {
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    let mut shown = shows(source).unwrap_or_default();
    let mut smaller = true;
    while smaller {
        smaller = false;
        let mut at = 0;
        while at < lines.len() {
            match without(&lines, at).into_iter().find_map(|l| shows(&text(&l)).map(|s| (l, s))) {
                Some((fewer, says)) => {
                    (lines, shown) = (fewer, says);
                    smaller = true;
                }
                None => at += 1,
            }
        }
    }
    (text(&lines), shown)
}

fn text(lines: &[String]) -> String {
    lines.join("\n") + "\n"
}

/// The lines without the statement that starts here; or, if that is a block, with its inside alone.
fn without(lines: &[String], start: usize) -> Vec<Vec<String>> {
    let Some(end) = end_of(lines, start) else { return Vec::new() };
    let rest = |kept: &[String]| [&lines[..start], kept, &lines[end + 1..]].concat();
    let mut ways = vec![rest(&[])];
    if end > start {
        ways.push(rest(&lines[start + 1..end]));
    }
    ways
}

/// The line where the statement that starts here ends.
fn end_of(lines: &[String], start: usize) -> Option<usize> {
    let mut open = 0i64;
    for (at, line) in lines.iter().enumerate().skip(start) {
        for letter in line.chars() {
            match letter {
                '{' => open += 1,
                '}' => open -= 1,
                _ => {}
            }
            if open < 0 {
                return None;
            }
        }
        if open == 0 {
            return Some(at);
        }
    }
    None
}
