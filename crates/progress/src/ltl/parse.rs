//! From text to formula.
//!
//! ```text
//! formula = or ("implies" | "->") formula | or
//! or      = and (("or" | "||") and)*
//! and     = until (("and" | "&&") until)*
//! until   = unary (("until" | "U" | "release" | "R") until)?
//! unary   = ("not" | "!" | "always" | "[]" | "G" | "eventually" | "<>" | "F" | "next" | "X") unary
//!         | "(" formula ")" | "true" | "false" | atom
//! atom    = NAME_inv | NAME_res, then ("(" value,* ")")?, then ("@" THREAD)?
//! value   = INTEGER | "true" | "false" | "none" | "null" | "_" | ("(" | "[") value,* (")" | "]")
//! ```

use super::atom::{Atom, EventKind, Pattern};
use super::formula::Formula;
use linchpin_ir::program::Program;
use linchpin_spec::Value;
use std::fmt;

/// Brackets and prefixes may nest this deep.
const MAX_DEPTH: usize = 60;
/// A formula may have this many words and signs.
const MAX_TOKENS: usize = 400;
/// A formula may have this many different atoms: sets of them are one word.
const MAX_ATOMS: usize = 60;

/// A formula and the events that its atoms mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parsed {
    /// The formula.
    pub formula: Formula,
    /// What atom number `i` means.
    pub atoms: Vec<Atom>,
}

/// Why a text is not a formula for a model, with the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// The text.
    pub text: String,
    /// Where it goes wrong, in characters from the start, and how many are concerned.
    pub at: usize,
    /// How many characters are concerned.
    pub width: usize,
    /// What is wrong.
    pub message: String,
    /// What might be meant.
    pub hint: Option<String>,
}

impl std::error::Error for FormulaError {}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String =
            self.text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let carets = "^".repeat(self.width.max(1));
        write!(f, "{}\n  {shown}\n  {}{carets}", self.message, " ".repeat(self.at))?;
        match &self.hint {
            Some(hint) => write!(f, "\n  hint: {hint}"),
            None => Ok(()),
        }
    }
}

/// Reads a formula about the events of a program.
pub fn parse(text: &str, program: &Program) -> Result<Parsed, FormulaError> {
    let mut parser = Parser { text, tokens: tokens(text), next: 0, program, atoms: Vec::new() };
    if parser.tokens.len() > MAX_TOKENS {
        return Err(parser.error("this formula is too long", Some("split it into several")));
    }
    let formula = parser.implication(0)?;
    if parser.next < parser.tokens.len() {
        let hint = "`and`, `or`, `implies`, `until` or `release` goes between two formulas";
        return Err(parser.error("the formula should end here", Some(hint)));
    }
    Ok(Parsed { formula, atoms: parser.atoms })
}

/// A word or sign, and where it is in characters.
#[derive(Clone, Debug)]
struct Token {
    text: String,
    at: usize,
}

fn tokens(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        let pair: String = chars[at..(at + 2).min(chars.len())].iter().collect();
        let length = match chars[at] {
            c if c.is_whitespace() => {
                at += 1;
                continue;
            }
            c if word(c) => chars[at..].iter().take_while(|&&c| word(c)).count(),
            '-' if chars.get(at + 1).is_some_and(char::is_ascii_digit) => {
                1 + chars[at + 1..].iter().take_while(|&&c| word(c)).count()
            }
            _ if ["[]", "<>", "&&", "||", "->"].contains(&pair.as_str()) => 2,
            _ => 1,
        };
        tokens.push(Token { text: chars[at..at + length].iter().collect(), at });
        at += length;
    }
    tokens
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
    program: &'a Program,
    atoms: Vec<Atom>,
}

type Step<T> = Result<T, FormulaError>;

impl Parser<'_> {
    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.next).map(|token| token.text.as_str())
    }

    /// Takes the next token if it is one of these.
    fn take(&mut self, any: &[&str]) -> bool {
        let taken = self.peek().is_some_and(|token| any.contains(&token));
        self.next += usize::from(taken);
        taken
    }

    fn expect(&mut self, any: &[&str]) -> Step<()> {
        if self.take(any) {
            return Ok(());
        }
        Err(self.error(&format!("`{}` is missing here", any[0]), None))
    }

    /// A mistake at the next token.
    fn error(&self, message: &str, hint: Option<&str>) -> FormulaError {
        self.error_at(self.next, message, hint)
    }

    fn error_at(&self, token: usize, message: &str, hint: Option<&str>) -> FormulaError {
        let end = self.text.trim_end().chars().count();
        let (at, width) =
            self.tokens.get(token).map_or((end, 1), |token| (token.at, token.text.chars().count()));
        FormulaError {
            text: self.text.to_owned(),
            at,
            width,
            message: message.to_owned(),
            hint: hint.map(str::to_owned),
        }
    }

    fn implication(&mut self, depth: usize) -> Step<Formula> {
        if depth > MAX_DEPTH {
            return Err(self.error("this is nested too deeply", None));
        }
        let left = self.or(depth)?;
        if self.take(&["implies", "->"]) {
            return Ok(left.implies(self.implication(depth + 1)?));
        }
        Ok(left)
    }

    fn or(&mut self, depth: usize) -> Step<Formula> {
        let mut left = self.and(depth)?;
        while self.take(&["or", "||"]) {
            left = Formula::Or(Box::new(left), Box::new(self.and(depth)?));
        }
        Ok(left)
    }

    fn and(&mut self, depth: usize) -> Step<Formula> {
        let mut left = self.until(depth)?;
        while self.take(&["and", "&&"]) {
            left = Formula::And(Box::new(left), Box::new(self.until(depth)?));
        }
        Ok(left)
    }

    fn until(&mut self, depth: usize) -> Step<Formula> {
        if depth > MAX_DEPTH {
            return Err(self.error("this is nested too deeply", None));
        }
        let left = Box::new(self.unary(depth)?);
        if self.take(&["until", "U"]) {
            return Ok(Formula::Until(left, Box::new(self.until(depth + 1)?)));
        }
        if self.take(&["release", "R"]) {
            return Ok(Formula::Release(left, Box::new(self.until(depth + 1)?)));
        }
        Ok(*left)
    }

    fn unary(&mut self, depth: usize) -> Step<Formula> {
        if depth > MAX_DEPTH {
            return Err(self.error("this is nested too deeply", None));
        }
        let prefix: Option<fn(Formula) -> Formula> = match self.peek() {
            Some("not" | "!") => Some(Formula::negated),
            Some("always" | "[]" | "G") => Some(Formula::always),
            Some("eventually" | "<>" | "F") => Some(Formula::eventually),
            Some("next" | "X") => Some(|of| Formula::Next(Box::new(of))),
            _ => None,
        };
        if let Some(prefix) = prefix {
            self.next += 1;
            return Ok(prefix(self.unary(depth + 1)?));
        }
        if self.take(&["("]) {
            let inner = self.implication(depth + 1)?;
            self.expect(&[")"])?;
            return Ok(inner);
        }
        match self.peek() {
            Some("true") => {
                self.next += 1;
                Ok(Formula::True)
            }
            Some("false") => {
                self.next += 1;
                Ok(Formula::False)
            }
            _ => self.atom(),
        }
    }

    fn atom(&mut self) -> Step<Formula> {
        let at = self.next;
        let is_word = |c: char| c.is_alphanumeric() || c == '_';
        let Some(word) = self.peek().filter(|token| token.starts_with(is_word)) else {
            return Err(self.error("an event or a formula is missing here", Some(&self.events())));
        };
        let (name, kind) = if let Some(name) = word.strip_suffix("_inv") {
            (name.to_owned(), EventKind::Invocation)
        } else if let Some(name) = word.strip_suffix("_res") {
            (name.to_owned(), EventKind::Response)
        } else {
            let message = format!("`{word}` is not an event");
            return Err(self.error(&message, Some(&self.events())));
        };
        let Some(operation) = self.program.operations.iter().position(|of| of.name == name) else {
            let message = format!("the model has no operation `{name}`");
            return Err(self.error(&message, Some(&self.events())));
        };
        self.next += 1;
        let values = self.values(operation, kind)?;
        let thread = if self.take(&["@"]) { Some(self.thread()?) } else { None };
        let atom = Atom { operation, kind, values, thread };
        let known = self.atoms.iter().position(|other| *other == atom);
        let number = known.unwrap_or(self.atoms.len());
        if known.is_none() {
            if number == MAX_ATOMS {
                return Err(self.error_at(at, "these are too many different events", None));
            }
            self.atoms.push(atom);
        }
        Ok(Formula::Atom(number))
    }

    /// The values in brackets after the name of an event, if there are any.
    fn values(&mut self, operation: usize, kind: EventKind) -> Step<Option<Vec<Pattern>>> {
        let at = self.next;
        if !self.take(&["("]) {
            return Ok(None);
        }
        let values = self.list(")", 0)?;
        let (expected, what) = match kind {
            EventKind::Invocation => {
                (self.program.operations[operation].parameters.len(), "parameters")
            }
            EventKind::Response => (1, "response"),
        };
        // `()` may stand for the response of an operation that answers nothing.
        let fits = values.len() == expected || kind == EventKind::Response && values.is_empty();
        if !fits {
            let name = &self.program.operations[operation].name;
            let message =
                format!("{} values are given, but `{name}` has {expected} {what}", values.len());
            return Err(self.error_at(at, &message, Some("leave the brackets out for any values")));
        }
        let unit = kind == EventKind::Response && values.is_empty();
        Ok((!unit).then_some(values))
    }

    fn list(&mut self, close: &str, depth: usize) -> Step<Vec<Pattern>> {
        let mut values = Vec::new();
        if self.take(&[close]) {
            return Ok(values);
        }
        loop {
            values.push(self.value(depth)?);
            if !self.take(&[","]) {
                self.expect(&[close])?;
                return Ok(values);
            }
        }
    }

    fn value(&mut self, depth: usize) -> Step<Pattern> {
        if depth > MAX_DEPTH {
            return Err(self.error("this is nested too deeply", None));
        }
        if self.take(&["("]) {
            return Ok(Pattern::List(self.list(")", depth + 1)?));
        }
        // The sign for `always` is an empty list here.
        if self.take(&["[]"]) {
            return Ok(Pattern::List(Vec::new()));
        }
        if self.take(&["["]) {
            return Ok(Pattern::List(self.list("]", depth + 1)?));
        }
        let value = match self.peek() {
            Some("_") => Pattern::Any,
            Some("true") => Pattern::Value(Value::Bool(true)),
            Some("false") => Pattern::Value(Value::Bool(false)),
            Some("none" | "null") => Pattern::Value(Value::Null),
            Some(word) => match word.parse::<i64>() {
                Ok(number) => Pattern::Value(Value::Int(number)),
                Err(_) => {
                    let hint = "a number, `true`, `false`, `none`, `_` for any, or a list of those";
                    return Err(self.error("a value is missing here", Some(hint)));
                }
            },
            None => return Err(self.error("a value is missing here", None)),
        };
        self.next += 1;
        Ok(value)
    }

    fn thread(&mut self) -> Step<usize> {
        let threads = self.program.threads.len();
        match self.peek().and_then(|word| word.parse::<usize>().ok()) {
            Some(thread) if thread < threads => {
                self.next += 1;
                Ok(thread)
            }
            _ => {
                let hint = format!("threads have the numbers 0 to {}", threads.saturating_sub(1));
                Err(self.error("there is no such thread", Some(&hint)))
            }
        }
    }

    /// The events that there are, for a hint.
    fn events(&self) -> String {
        let names = self.program.operations.iter();
        let names: Vec<String> = names.map(|of| format!("{0}_inv, {0}_res", of.name)).collect();
        format!("the events are {}", names.join(", "))
    }
}
