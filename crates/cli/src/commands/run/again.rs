//! How to make a run again: the command that found it, with the seed.

/// Options that are about the search or about files, each with a value.
const LEFT_OUT: [&str; 6] = ["--tries", "--seed", "--output", "-o", "--report", "--time-limit"];

/// The command line that makes the run of this seed again, as a shell reads it.
pub fn command(arguments: impl IntoIterator<Item = String>, seed: u64) -> String {
    let mut words = vec!["linchpin".to_owned()];
    let mut rest = arguments.into_iter().skip(1);
    while let Some(argument) = rest.next() {
        let name = argument.split('=').next().unwrap_or_default();
        if LEFT_OUT.contains(&argument.as_str()) {
            rest.next();
        } else if !LEFT_OUT.contains(&name) {
            words.push(quoted(&argument));
        }
    }
    words.push(format!("--seed {seed}"));
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_decides_the_run_is_kept() {
        let given = "/bin/linchpin run m.lin --tries 9 --seed=3 --schedule pct -o x --memory reuse";
        let given = given.split(' ').map(str::to_owned);
        let again = command(given.chain(["a b'c".to_owned()]), 7);
        let expected = r"linchpin run m.lin --schedule pct --memory reuse 'a b'\''c' --seed 7";
        assert_eq!(again, expected);
    }
}
