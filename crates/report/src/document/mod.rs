//! A document of headings, paragraphs, lists, tables and drawn states, written as Markdown or HTML.
//!
//! Sections are laid out once; the two writers only know how blocks look. Both escape everything.

mod html;
mod markdown;

use crate::Tone;
pub use html::{markup, sentence};
use linchpin_engine::SharedPicture;
pub use markdown::markdown;

/// A part of a document.
#[derive(Clone, Debug)]
pub enum Block {
    /// A heading; 1 is that of the document.
    Heading(u8, Text),
    /// A paragraph.
    Paragraph(Text),
    /// Items without an order.
    Items(Vec<Text>),
    /// Items with numbers.
    Numbered(Vec<Text>),
    /// A table: its head, its rows.
    Table(Vec<Text>, Vec<Vec<Text>>),
    /// Lines that stay as they are.
    Lines(Vec<String>),
    /// Shared states, each with its caption.
    States(Vec<SharedPicture>),
}

impl Block {
    /// A paragraph.
    pub fn paragraph(text: impl Into<Text>) -> Block {
        Block::Paragraph(text.into())
    }

    /// A heading.
    pub fn heading(level: u8, text: impl Into<Text>) -> Block {
        Block::Heading(level, text.into())
    }
}

/// Words on one line.
#[derive(Clone, Debug, Default)]
pub struct Text(pub Vec<Span>);

/// A part of a text.
#[derive(Clone, Debug)]
pub enum Span {
    /// Words.
    Words(String),
    /// Code.
    Code(String),
    /// Words that say how good something is.
    Toned(Tone, String),
}

impl Text {
    /// The text with a piece of code at its end.
    pub fn code(mut self, code: impl Into<String>) -> Text {
        self.0.push(Span::Code(code.into()));
        self
    }

    /// The text with more at its end.
    pub fn then(mut self, more: impl Into<Text>) -> Text {
        self.0.extend(more.into().0);
        self
    }

    /// The text with words at its end that say how good something is.
    pub fn toned(mut self, tone: Tone, words: impl Into<String>) -> Text {
        self.0.push(Span::Toned(tone, words.into()));
        self
    }
}

/// A sentence in which code stands between backticks.
impl From<&str> for Text {
    fn from(sentence: &str) -> Text {
        let parts: Vec<&str> = sentence.split('`').collect();
        // A backtick that has no partner is a character like any other.
        if parts.len().is_multiple_of(2) {
            return Text(vec![Span::Words(sentence.to_owned())]);
        }
        let span = |(at, part): (usize, &&str)| match at.is_multiple_of(2) {
            true => Span::Words((*part).to_owned()),
            false => Span::Code((*part).to_owned()),
        };
        Text(parts.iter().enumerate().map(span).collect())
    }
}

impl From<String> for Text {
    fn from(sentence: String) -> Text {
        Text::from(sentence.as_str())
    }
}
