//! A text that an editor has open.

use crate::names::Index;
use crate::position::LineIndex;
use linchpin_engine::Language;
use linchpin_ir::print::{OperationSteps, describe};
use linchpin_lang::{Config, compile};
use linchpin_syntax::Diagnostic;
use lsp_types::{TextDocumentContentChangeEvent, Uri};

/// A text, its language, and where its lines are.
#[derive(Clone, Debug)]
pub struct Document {
    pub text: String,
    pub lines: LineIndex,
    pub language: Language,
    pub version: i32,
}

impl Document {
    /// A text as it was opened.
    pub fn new(text: String, language: Language, version: i32) -> Document {
        let lines = LineIndex::new(&text);
        Document { text, lines, language, version }
    }

    /// Replaces a part of the text, or all of it.
    pub fn change(&mut self, change: TextDocumentContentChangeEvent) {
        match change.range {
            Some(range) => {
                let bytes = self.lines.bytes(&self.text, range);
                self.text.replace_range(bytes, &change.text);
            }
            None => self.text = change.text,
        }
        self.lines = LineIndex::new(&self.text);
    }

    /// What is wrong with it.
    pub fn mistakes(&self) -> Vec<Diagnostic> {
        let found = match self.language {
            Language::Lin => compile(&self.text, &Config::default()).err(),
            Language::Subop => linchpin_subop::parse(&self.text).err(),
            Language::Csp => linchpin_csp::parse(&self.text, &[]).err(),
        };
        found.unwrap_or_default()
    }

    /// The names of a `.lin` model; those of other languages are not looked at.
    pub fn names(&self) -> Option<Index> {
        (self.language == Language::Lin).then(|| Index::new(&self.text))
    }

    /// The steps of a `.lin` model without mistakes.
    pub fn steps(&self) -> Vec<OperationSteps> {
        if self.language != Language::Lin {
            return Vec::new();
        }
        compile(&self.text, &Config::default())
            .map_or_else(|_| Vec::new(), |compiled| describe(&compiled.program))
    }
}

/// The language of a document: its extension says, or the editor.
pub fn language(uri: &Uri, language_id: &str) -> Language {
    let path = uri.path().as_str();
    let extension = path.rsplit('/').next().and_then(|name| Some(name.rsplit_once('.')?.1));
    match extension.unwrap_or(language_id) {
        "subop" => Language::Subop,
        "csp" => Language::Csp,
        _ => Language::Lin,
    }
}
