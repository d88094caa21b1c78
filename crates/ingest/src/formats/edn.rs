//! EDN, the notation of Clojure's data: a form to tokens.
//!
//! Keywords and symbols become texts (a keyword without its colon), characters too, vectors and
//! lists both lists, tags and metadata nothing.

use crate::token::{Bracket, Span, Token, number_token};

/// Forms nested deeper are refused.
const MAX_DEPTH: u32 = 128;

/// What is wrong with a form, and at which byte of it.
#[derive(Debug)]
pub(crate) struct EdnError {
    pub at: usize,
    pub expected: &'static str,
}

/// A parser of one text.
#[derive(Debug)]
pub(crate) struct Edn<'a> {
    pub text: &'a str,
    pub at: usize,
    pub tokens: &'a mut Vec<Token>,
    /// What the spans of the tokens point into.
    pub scratch: &'a mut String,
    depth: u32,
}

impl<'a> Edn<'a> {
    pub fn new(text: &'a str, tokens: &'a mut Vec<Token>, scratch: &'a mut String) -> Edn<'a> {
        Edn { text, at: 0, tokens, scratch, depth: 0 }
    }

    /// The byte here; 0, which begins nothing, at the end.
    fn peek(&self) -> u8 {
        self.peek_after(0)
    }

    fn peek_after(&self, bytes: usize) -> u8 {
        self.text.as_bytes().get(self.at + bytes).copied().unwrap_or(0)
    }

    fn error<T>(&self, expected: &'static str) -> Result<T, EdnError> {
        Err(EdnError { at: self.at, expected })
    }

    /// Steps over blanks, commas, comments and discarded forms.
    fn blanks(&mut self) -> Result<(), EdnError> {
        loop {
            match self.peek() {
                byte if is_blank(byte) => self.at += 1,
                b';' => {
                    let rest = &self.text.as_bytes()[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                b'#' if self.peek_after(1) == b'_' => {
                    self.at += 2;
                    self.discard()?;
                }
                _ => return Ok(()),
            }
        }
    }

    /// Reads a form and forgets it.
    fn discard(&mut self) -> Result<(), EdnError> {
        let (tokens, scratch) = (self.tokens.len(), self.scratch.len());
        self.form()?;
        self.tokens.truncate(tokens);
        self.scratch.truncate(scratch);
        Ok(())
    }

    /// Begins a map, tags before it forgotten; whether there is one.
    pub fn begin_map(&mut self) -> Result<bool, EdnError> {
        self.prefixes()?;
        let is_map = self.peek() == b'{';
        self.at += usize::from(is_map);
        Ok(is_map)
    }

    /// Whether another form comes before this closing bracket, which is stepped over otherwise.
    pub fn more(&mut self, close: u8) -> Result<bool, EdnError> {
        self.blanks()?;
        if self.peek() == close && self.at < self.text.len() {
            self.at += 1;
            return Ok(false);
        }
        Ok(true)
    }

    /// Whether nothing more comes.
    pub fn at_end(&mut self) -> Result<bool, EdnError> {
        self.blanks()?;
        Ok(self.at == self.text.len())
    }

    /// Steps over blanks, tags and metadata.
    fn prefixes(&mut self) -> Result<(), EdnError> {
        loop {
            self.blanks()?;
            match (self.peek(), self.peek_after(1)) {
                (b'^', _) => {
                    self.at += 1;
                    self.nested(Edn::discard)?;
                }
                (b'#', first) if first.is_ascii_alphabetic() => {
                    self.at += 1;
                    self.atom();
                }
                _ => return Ok(()),
            }
        }
    }

    fn nested(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<(), EdnError>,
    ) -> Result<(), EdnError> {
        if self.depth == MAX_DEPTH {
            return self.error("forms nested less deeply");
        }
        self.depth += 1;
        read(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// Reads one form.
    pub fn form(&mut self) -> Result<(), EdnError> {
        self.nested(Edn::form_inside)
    }

    fn form_inside(&mut self) -> Result<(), EdnError> {
        self.prefixes()?;
        match self.peek() {
            b'[' => self.collection(1, Bracket::List, b']'),
            b'(' => self.collection(1, Bracket::List, b')'),
            b'{' => self.collection(1, Bracket::Map, b'}'),
            b'"' => self.string(),
            b'\\' => self.character(),
            b':' => {
                let word = self.atom().trim_start_matches(':');
                self.push_text(word);
                Ok(())
            }
            b'#' => match self.peek_after(1) {
                b'{' => self.collection(2, Bracket::Set, b'}'),
                b'"' => {
                    self.at += 1;
                    self.string()
                }
                b'#' => {
                    let word = self.atom();
                    self.push_span(word, Token::Unsupported);
                    Ok(())
                }
                _ => self.error("a form after `#`"),
            },
            _ => self.word(),
        }
    }

    fn collection(&mut self, width: usize, bracket: Bracket, close: u8) -> Result<(), EdnError> {
        self.at += width;
        self.tokens.push(Token::Open(bracket));
        let mut is_even = true;
        while self.more(close)? {
            if self.at == self.text.len() {
                return self.error("a closing bracket");
            }
            self.form()?;
            is_even = !is_even;
        }
        if bracket == Bracket::Map && !is_even {
            return self.error("a value for every key of the map");
        }
        self.tokens.push(Token::Close);
        Ok(())
    }

    /// The text up to the next delimiter.
    fn atom(&mut self) -> &'a str {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let length = rest.iter().position(|byte| is_delimiter(*byte)).unwrap_or(rest.len());
        self.at += length;
        let text: &'a str = self.text;
        &text[start..start + length]
    }

    /// `nil`, a truth value, a number or a symbol.
    fn word(&mut self) -> Result<(), EdnError> {
        let start = self.at;
        match self.atom() {
            "" => self.error("a form"),
            "nil" => self.push(Token::Null),
            "true" => self.push(Token::Bool(true)),
            "false" => self.push(Token::Bool(false)),
            word if is_number(word) => {
                let start = self.scratch.len();
                self.scratch.push_str(word);
                let token = match decimal(word) {
                    Some(decimal) => {
                        number_token(self.scratch, Span::new(start, start + decimal.len()))
                    }
                    None => Token::Unsupported(Span::new(start, self.scratch.len())),
                };
                self.push(token)
            }
            word if word.starts_with(['\'', '`', '~', '@']) => {
                self.at = start;
                self.error("a form")
            }
            word => {
                self.push_text(word);
                Ok(())
            }
        }
    }

    fn string(&mut self) -> Result<(), EdnError> {
        let opened = self.at;
        self.at += 1;
        let start = self.scratch.len();
        loop {
            let rest = &self.text[self.at..];
            let Some(length) = memchr::memchr2(b'"', b'\\', rest.as_bytes()) else {
                self.at = opened;
                return self.error("a string with its end");
            };
            self.scratch.push_str(&rest[..length]);
            self.at += length + 1;
            if rest.as_bytes()[length] == b'"' {
                break;
            }
            self.escape()?;
        }
        self.push(Token::Text(Span::new(start, self.scratch.len())))
    }

    /// What follows a backslash in a string.
    fn escape(&mut self) -> Result<(), EdnError> {
        let escaped = match self.peek() {
            b't' => '\t',
            b'r' => '\r',
            b'n' => '\n',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'\\' => '\\',
            b'"' => '"',
            b'/' => '/',
            b'u' => return self.unicode(),
            _ => return self.error("one of the escapes of strings"),
        };
        self.scratch.push(escaped);
        self.at += 1;
        Ok(())
    }

    /// A `u` and four digits, twice for characters that take two.
    fn unicode(&mut self) -> Result<(), EdnError> {
        let mut units = Vec::with_capacity(2);
        loop {
            let digits = self.text.get(self.at + 1..self.at + 5);
            let unit = digits
                .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
                .and_then(|digits| u16::from_str_radix(digits, 16).ok());
            let Some(unit) = unit else {
                return self.error("four hexadecimal digits");
            };
            units.push(unit);
            self.at += 5;
            let is_high = units.len() == 1 && (0xd800..0xdc00).contains(&unit);
            if !(is_high && self.text[self.at..].starts_with("\\u")) {
                break;
            }
            self.at += 1;
        }
        self.scratch.push_str(&String::from_utf16_lossy(&units));
        Ok(())
    }

    /// `\a`, `\newline`, `\u0041`.
    fn character(&mut self) -> Result<(), EdnError> {
        self.at += 1;
        let Some(first) = self.text[self.at..].chars().next() else {
            return self.error("a character");
        };
        // The character itself may be a delimiter.
        let start = self.at;
        self.at += first.len_utf8();
        self.atom();
        let text: &'a str = self.text;
        let name = &text[start..self.at];
        let code = name.strip_prefix('u').filter(|code| code.len() == 4);
        let coded =
            code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        match name {
            "newline" => self.push_text("\n"),
            "space" => self.push_text(" "),
            "tab" => self.push_text("\t"),
            "return" => self.push_text("\r"),
            _ if name.len() == first.len_utf8() => self.push_text(name),
            _ => match coded {
                Some(character) => self.push_text(character.encode_utf8(&mut [0; 4])),
                None => return self.error("a character"),
            },
        }
        Ok(())
    }

    fn push(&mut self, token: Token) -> Result<(), EdnError> {
        self.tokens.push(token);
        Ok(())
    }

    fn push_text(&mut self, text: &str) {
        self.push_span(text, Token::Text);
    }

    fn push_span(&mut self, text: &str, token: fn(Span) -> Token) {
        let start = self.scratch.len();
        self.scratch.push_str(text);
        self.tokens.push(token(Span::new(start, self.scratch.len())));
    }
}

/// Commas are blanks.
pub(super) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b',' | b'\t' | b'\r' | b'\n' | 0x0c)
}

/// Whether a byte ends keywords, numbers and symbols.
pub(super) fn is_delimiter(byte: u8) -> bool {
    is_blank(byte) || matches!(byte, b';' | b'"' | b'(' | b')' | b'[' | b']' | b'{' | b'}')
}

fn is_number(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    unsigned.as_bytes().first().is_some_and(u8::is_ascii_digit)
}

/// The decimal digits of a number, without the letter that says how exact it is; nothing if it is
/// written in another way, such as `017` and `1/2`.
fn decimal(word: &str) -> Option<&str> {
    let digits = word.strip_suffix(['N', 'M']).unwrap_or(word);
    let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
    let whole = unsigned.split(['.', 'e', 'E']).next().unwrap_or_default();
    let leading_zero = whole.len() > 1 && whole.starts_with('0');
    (!leading_zero).then_some(digits)
}
