//! Another name for something, everywhere, or the reason why not.
//!
//! A rename must not change what the model means. So the new text is looked at before it is
//! offered: every name must still mean what it meant, and there must be no mistake that was not
//! there before.

use crate::document::Document;
use crate::names::{Index, Kind, Use};
use linchpin_lang::syntax::{TokenKind, tokenize};
use linchpin_syntax::Span;
use lsp_types::{Position, Range, TextEdit};

/// What would be renamed: where its name stands under the position.
pub fn prepare(document: &Document, position: Position) -> Option<Range> {
    let offset = document.lines.offset(&document.text, position);
    let found = document.names()?.at(offset)?;
    Some(document.lines.range(&document.text, found.span))
}

/// The edits that rename what stands at a position.
pub fn rename(
    document: &Document,
    position: Position,
    new_name: &str,
) -> Result<Vec<TextEdit>, String> {
    if !is_name(new_name) {
        return Err(format!("`{}` is not a name", new_name.escape_debug()));
    }
    let offset = document.lines.offset(&document.text, position);
    let names = document.names().ok_or("only `.lin` models can be changed like this")?;
    let Some(Use { definition, .. }) = names.at(offset) else {
        return Err("there is no name of the model here".to_owned());
    };
    let Some(renamed) = names.definitions.get(definition) else { return Ok(Vec::new()) };
    if renamed.kind == Kind::Field && names.open_fields.contains(&renamed.name) {
        return Err(format!("a `.{}` belongs to a value of unknown type", renamed.name));
    }
    let spans: Vec<Span> = names.uses_of(definition).collect();
    let changed = Document { text: replaced(&document.text, &spans, new_name), ..document.clone() };
    means_the_same(document, &names, &changed, new_name)?;
    let edit = |span: &Span| TextEdit {
        range: document.lines.range(&document.text, *span),
        new_text: new_name.to_owned(),
    };
    Ok(spans.iter().map(edit).collect())
}

fn is_name(text: &str) -> bool {
    let tokens = tokenize(text);
    let kinds: Vec<TokenKind> = tokens.iter().map(|token| token.kind).collect();
    kinds == [TokenKind::Name, TokenKind::End] && tokens[0].span.text(text) == text
}

/// The text with these spans, which stand in order, replaced.
fn replaced(text: &str, spans: &[Span], new_name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for span in spans {
        let bytes = span.range();
        out.push_str(text.get(at..bytes.start).unwrap_or_default());
        out.push_str(new_name);
        at = bytes.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn means_the_same(
    before: &Document,
    names: &Index,
    after: &Document,
    new_name: &str,
) -> Result<(), String> {
    let meanings =
        |names: &Index| -> Vec<usize> { names.uses.iter().map(|one| one.definition).collect() };
    if meanings(names) != meanings(&Index::new(&after.text)) {
        return Err(format!("`{new_name}` means something else there"));
    }
    let (old, new) = (before.mistakes(), after.mistakes());
    match new.first() {
        Some(first) if new.len() > old.len() => Err(first.message.clone()),
        _ => Ok(()),
    }
}
