//! Models with something changed: a byte, a token, a line, a part of another model, or everything.

use fastrand::Rng;
use linchpin_lang::syntax::{TokenKind, tokenize};
use linchpin_syntax::Kind;

fn keywords() -> Vec<&'static str> {
    TokenKind::KEYWORDS.iter().map(|(word, _)| *word).collect()
}

const SYMBOLS: &[&str] = &[
    "..=", "..", "->", "==", "!=", "<=", ">=", "&&", "||", "+=", "-=", "#[", "(", ")", "{", "}",
    "[", "]", ";", ":", ",", ".", "?", "=", "<", ">", "+", "-", "*", "/", "%", "!", "&", "|", "#",
    "@", "\"", "/*", "*/", "/* x */",
];

const OPERATORS: &[&str] =
    &["==", "!=", "<", "<=", ">", ">=", "&&", "||", "+", "-", "*", "/", "%", "+=", "-=", "="];

const WORDS: &[&str] = &[
    "int", "bool", "tid", "lock", "seq", "set", "map", "me", "threads", "MIN", "MAX", "_", "cas",
    "swap", "faa", "ll", "sc", "unlock", "free", "choose", "assume", "assert", "unwrap", "reach",
    "forall", "exists", "lin", "base", "when", "returns", "mut", "head", "top", "next", "val",
    "Node", "x", "t",
];

const NUMBERS: &[&str] = &[
    "0",
    "1",
    "2",
    "63",
    "64",
    "65",
    "255",
    "256",
    "257",
    "4095",
    "4096",
    "4097",
    "10_000",
    "1000000000",
    "9223372036854775807",
    "9223372036854775808",
    "99999999999999999999",
    "-1",
    "1_",
    "0x10",
    "1e9",
    "007",
];

const STRANGE: &[&str] = &[
    "\u{feff}",
    "\0",
    "\r",
    "\r\n",
    "\t",
    "\u{a0}",
    "\u{2028}",
    "\u{85}",
    "é",
    "ß",
    "名前",
    "🦀",
    "e\u{301}",
    "\u{202e}",
    "\u{200b}",
    "ﬁ",
    "İ",
    "//",
    "/*",
    "\u{1b}[31m",
    "\u{7f}",
    "𝒳",
];

/// The source of one case.
pub fn case(seed: u64, sources: &[String]) -> String {
    let mut rng = Rng::with_seed(seed);
    if rng.u8(..) < 8 {
        return noise(&mut rng);
    }
    let mut source = rng.choice(sources).cloned().unwrap_or_default();
    let rounds = if rng.u8(..3) == 0 { rng.usize(2..6) } else { 1 };
    for _ in 0..rounds {
        source = mutate(&mut rng, source, sources);
    }
    source.truncate(boundary(&source, 60_000));
    source
}

/// The start of a character, at `at` or just before.
fn boundary(source: &str, at: usize) -> usize {
    (0..=at.min(source.len())).rev().find(|at| source.is_char_boundary(*at)).unwrap_or(0)
}

fn mutate(rng: &mut Rng, source: String, sources: &[String]) -> String {
    match rng.u8(..20) {
        0 => bytes(rng, source),
        1 => strange(rng, source),
        2..=3 => line(rng, &source),
        4 => splice(rng, &source, sources),
        5 => wrap(rng, &source),
        6 => repeat(rng, &source),
        _ => token(rng, &source),
    }
}

fn noise(rng: &mut Rng) -> String {
    let length = rng.usize(..2000);
    match rng.u8(..4) {
        0 => {
            let bytes: Vec<u8> = (0..length).map(|_| rng.u8(..)).collect();
            String::from_utf8_lossy(&bytes).into_owned()
        }
        1 => (0..length).map(|_| rng.char(' '..='~')).collect(),
        2 => (0..length).map(|_| rng.char(..)).collect(),
        _ => (0..length).map(|_| format!("{} ", any_token(rng))).collect(),
    }
}

fn any_token(rng: &mut Rng) -> &'static str {
    let keywords = keywords();
    let all = [&keywords, SYMBOLS, SYMBOLS, WORDS, NUMBERS, STRANGE];
    let of = rng.choice(all).unwrap_or(WORDS);
    rng.choice(of).copied().unwrap_or(";")
}

fn bytes(rng: &mut Rng, source: String) -> String {
    let mut bytes = source.into_bytes();
    for _ in 0..=rng.usize(..3) {
        let at = rng.usize(..=bytes.len());
        match rng.u8(..4) {
            0 => bytes.insert(at, rng.u8(..)),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(..8),
            _ => bytes.truncate(at),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn strange(rng: &mut Rng, mut source: String) -> String {
    if rng.u8(..4) == 0 {
        return source
            .replace('\n', rng.choice(["\r\n", "\r", " ", "\n\n", "\u{2028}"]).unwrap_or(""));
    }
    for _ in 0..=rng.usize(..3) {
        let at = boundary(&source, rng.usize(..=source.len()));
        source.insert_str(at, rng.choice(STRANGE).unwrap_or(&"\0"));
    }
    source
}

fn line(rng: &mut Rng, source: &str) -> String {
    let mut lines: Vec<&str> = source.split_inclusive('\n').collect();
    if lines.is_empty() {
        return String::new();
    }
    let (a, b) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
    match rng.u8(..4) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a]),
        2 => lines.swap(a, b),
        _ => {
            let moved = lines.remove(a);
            lines.insert(b.min(lines.len()), moved);
        }
    }
    lines.concat()
}

/// The start of one model and the end of another, or a paragraph of another in the middle.
fn splice(rng: &mut Rng, source: &str, sources: &[String]) -> String {
    let other = rng.choice(sources).map_or("", String::as_str);
    if rng.bool() {
        let (a, b) = (start_of_token(rng, source), start_of_token(rng, other));
        return format!("{}{}", &source[..a], &other[b..]);
    }
    let mut paragraphs: Vec<&str> = source.split("\n\n").collect();
    let foreign: Vec<&str> = other.split("\n\n").collect();
    let at = rng.usize(..paragraphs.len());
    let part = foreign[rng.usize(..foreign.len())];
    match rng.bool() {
        true => paragraphs.insert(at, part),
        false => paragraphs[at] = part,
    }
    paragraphs.join("\n\n")
}

fn start_of_token(rng: &mut Rng, source: &str) -> usize {
    let tokens = tokenize(source);
    tokens[rng.usize(..tokens.len())].span.start as usize
}

/// A few tokens inside brackets, many times.
fn wrap(rng: &mut Rng, source: &str) -> String {
    let tokens = tokenize(source);
    let first = rng.usize(..tokens.len());
    let last = (first + rng.usize(..4)).min(tokens.len() - 1);
    let (start, end) = (tokens[first].span.start as usize, tokens[last].span.end as usize);
    let brackets = [("(", ")"), ("[", "]"), ("{", "}"), ("-", ""), ("!", ""), ("if true {", "}")];
    let others = [("loop {", "}"), ("unwrap(", ")"), ("if true { 1 } else {", "}"), ("seq<", ">")];
    let all = [brackets.as_slice(), others.as_slice()].concat();
    let (open, close) = all[rng.usize(..all.len())];
    let times = [1, 2, 10, 63, 64, 65, 130, 500][rng.usize(..8)];
    let inside = &source[start..end];
    let (open, close) = (open.repeat(times), close.repeat(times));
    format!("{}{open}{inside}{close}{}", &source[..start], &source[end..])
}

/// A few tokens, many times.
fn repeat(rng: &mut Rng, source: &str) -> String {
    let tokens = tokenize(source);
    let first = rng.usize(..tokens.len());
    let last = (first + rng.usize(..30)).min(tokens.len() - 1);
    let (start, end) = (tokens[first].span.start as usize, tokens[last].span.end as usize);
    let times = [2, 3, 10, 100, 300][rng.usize(..5)];
    let part = format!("{} ", &source[start..end]);
    let times = times.min(20_000 / part.len().max(1));
    format!("{}{}{}", &source[..start], part.repeat(times), &source[start..])
}

/// One token deleted, doubled, swapped with another, or replaced, mostly by one of its kind.
fn token(rng: &mut Rng, source: &str) -> String {
    let mut tokens = tokenize(source);
    tokens.retain(|token| token.kind != TokenKind::Comment);
    let text = |at: usize| &source[tokens[at].span.start as usize..tokens[at].span.end as usize];
    let at = rng.usize(..tokens.len());
    let (start, end) = (tokens[at].span.start as usize, tokens[at].span.end as usize);
    let other = rng.usize(..tokens.len());
    let alike: Vec<usize> =
        (0..tokens.len()).filter(|other| tokens[*other].kind == tokens[at].kind).collect();
    let new = match rng.u8(..16) {
        0 => String::new(),
        1 => format!("{0} {0}", text(at)),
        2 => any_token(rng).to_owned(),
        3 => text(other).to_owned(),
        _ if tokens[at].kind == TokenKind::Int && rng.bool() => {
            rng.choice(NUMBERS).unwrap_or(&"0").to_string()
        }
        _ if OPERATORS.contains(&text(at)) => rng.choice(OPERATORS).unwrap_or(&"=").to_string(),
        _ if keywords().contains(&text(at)) => rng.choice(keywords()).unwrap_or("op").to_owned(),
        _ => text(alike[rng.usize(..alike.len())]).to_owned(),
    };
    format!("{} {new} {}", &source[..start], &source[end..])
}
