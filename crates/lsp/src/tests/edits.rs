//! Random edits: the text is what a simple reference makes of them, and no answer panics.

use super::{bundled, campaign};
use crate::document::Document;
use crate::{hover, mistakes, rename, symbols};
use fastrand::Rng;
use linchpin_engine::Language;
use lsp_types::{Position, Range, TextDocumentContentChangeEvent, Uri};

/// What is written at random: whole words, halves of something, and letters of every width.
const PIECES: &[&str] = &[
    "",
    " ",
    "\n",
    "\r\n",
    "\r",
    "é",
    "𝄞",
    "\u{202e}",
    "{",
    "}",
    "(",
    ")",
    ";",
    "op f() {",
    "let x = ",
    "t.next",
    "struct Node { ",
    "spec {",
    "#[lin]",
    "/*",
    "*/",
    "//",
    "reach(x, y, z)",
    "forall n: Node { ",
    "reference {",
    "role r: f;",
    "bounds { r: 1 }",
    "none",
    "0",
    "99999999999999999999",
    "shared a: [int; 3] = ",
    "if ",
    "..",
    "?",
];

/// The text as UTF-16, in which positions are counted: nothing is shared with what is tested.
struct Reference(Vec<u16>);

impl Reference {
    /// Where a position is: lines end at `\n`, `\r\n` or `\r`.
    fn index(&self, position: Position) -> usize {
        let (mut at, mut line) = (0, 0);
        while line < position.line && at < self.0.len() {
            let ends = match (self.0[at], self.0.get(at + 1)) {
                (13, Some(10)) => 2,
                (10 | 13, _) => 1,
                _ => 0,
            };
            line += u32::from(ends > 0);
            at += usize::max(ends, 1);
        }
        if line < position.line {
            return self.0.len();
        }
        for _ in 0..position.character {
            if at < self.0.len() && !matches!(self.0[at], 10 | 13) {
                at += 1;
            }
        }
        // Not between the halves of a pair.
        if at > 0 && at < self.0.len() && (0xdc00..0xe000).contains(&self.0[at]) {
            at - 1
        } else {
            at
        }
    }

    fn change(&mut self, range: Range, text: &str) {
        let start = self.index(range.start);
        let end = self.index(range.end).max(start);
        self.0.splice(start..end, text.encode_utf16());
    }
}

fn position(random: &mut Rng, document: &Document) -> Position {
    let lines = u32::try_from(document.text.matches('\n').count()).expect("few lines");
    Position { line: random.u32(..lines + 3), character: random.u32(..30) }
}

fn ask_everything(random: &mut Rng, document: &Document, uri: &Uri) {
    let at = position(random, document);
    let _ = hover::hover(document, at);
    let _ = symbols::symbols(document);
    let _ = mistakes::diagnostics(document, uri);
    if let Some(names) = document.names() {
        let offset = document.lines.offset(&document.text, at);
        let found = names.at(offset);
        for one in names.uses.iter().chain(&found) {
            let name = &names.definitions[one.definition].name;
            assert_eq!(one.span.text(&document.text), name, "a use is its name");
        }
    }
    let _ = rename::prepare(document, at);
    let _ = rename::rename(document, at, "renamed");
}

#[test]
fn random_edits_end_as_a_reference_says_and_nothing_panics() {
    let (seed, cases) = campaign(60);
    let mut random = Rng::with_seed(seed);
    let models = bundled();
    let uri: Uri = "file:///m.lin".parse().expect("an address");
    for case in 0..cases {
        let (_, text) = &models[random.usize(..models.len())];
        let language =
            [Language::Lin, Language::Lin, Language::Lin, Language::Subop, Language::Csp]
                [random.usize(..5)];
        let mut document = Document::new(text.clone(), language, 0);
        let mut reference = Reference(text.encode_utf16().collect());
        for _ in 0..random.usize(1..8) {
            let start = position(&mut random, &document);
            let end = match random.u8(..3) {
                0 => position(&mut random, &document),
                1 => start,
                _ => Position { character: start.character + random.u32(..12), ..start },
            };
            let (range, text) = (Range { start, end }, PIECES[random.usize(..PIECES.len())]);
            let change = TextDocumentContentChangeEvent {
                range: Some(range),
                range_length: None,
                text: text.to_owned(),
            };
            document.change(change);
            reference.change(range, text);
            let expected = String::from_utf16(&reference.0).expect("no half of a pair");
            assert_eq!(document.text, expected, "case {case}");
        }
        ask_everything(&mut random, &document, &uri);
    }
}
