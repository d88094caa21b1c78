//! The answers to requests about a document.

use super::{Answer, Refusal, Server};
use crate::document::Document;
use crate::{hover, rename, symbols};
use linchpin_engine::Language;
use lsp_server::ErrorCode;
use lsp_types::{
    CodeLens, CodeLensParams, Command, DocumentFormattingParams, DocumentSymbolParams,
    DocumentSymbolResponse, GotoDefinitionParams, GotoDefinitionResponse, HoverParams, Location,
    Position, PrepareRenameResponse, Range, ReferenceParams, RenameParams,
    TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::{Value as Json, json};
use std::collections::HashMap;

impl Server {
    fn document(&self, uri: &Uri) -> Result<&Document, Refusal> {
        let unknown = || (ErrorCode::InvalidParams, format!("`{}` is not open", uri.as_str()));
        self.documents.get(uri.as_str()).map(|open| &open.document).ok_or_else(unknown)
    }

    pub(super) fn hover(&self, params: HoverParams) -> Answer {
        let at = params.text_document_position_params;
        let document = self.document(&at.text_document.uri)?;
        Ok(json!(hover::hover(document, at.position)))
    }

    pub(super) fn definition(&self, params: GotoDefinitionParams) -> Answer {
        let at = params.text_document_position_params;
        let document = self.document(&at.text_document.uri)?;
        let found = used_at(document, at.position).map(|(range, _)| {
            GotoDefinitionResponse::Scalar(Location { uri: at.text_document.uri, range })
        });
        Ok(json!(found))
    }

    pub(super) fn references(&self, params: ReferenceParams) -> Answer {
        let at = params.text_document_position;
        let document = self.document(&at.text_document.uri)?;
        let uri = &at.text_document.uri;
        let locations = used_at(document, at.position).map(|(definition, uses)| {
            let wanted = |range: &Range| params.context.include_declaration || *range != definition;
            let location = |range| Location { uri: uri.clone(), range };
            uses.into_iter().filter(wanted).map(location).collect::<Vec<_>>()
        });
        Ok(json!(locations))
    }

    pub(super) fn prepare_rename(&self, params: TextDocumentPositionParams) -> Answer {
        let document = self.document(&params.text_document.uri)?;
        let range = rename::prepare(document, params.position);
        Ok(json!(range.map(PrepareRenameResponse::Range)))
    }

    pub(super) fn rename(&self, params: RenameParams) -> Answer {
        let at = params.text_document_position;
        let document = self.document(&at.text_document.uri)?;
        let edits = rename::rename(document, at.position, &params.new_name)
            .map_err(|why| (ErrorCode::RequestFailed, why))?;
        // INVARIANT: a `Uri` never changes, so it is a good key.
        #[expect(clippy::mutable_key_type)]
        let changes = HashMap::from([(at.text_document.uri, edits)]);
        Ok(json!(WorkspaceEdit::new(changes)))
    }

    pub(super) fn symbols(&self, params: DocumentSymbolParams) -> Answer {
        let document = self.document(&params.text_document.uri)?;
        let found = match document.language {
            Language::Lin => symbols::symbols(document),
            Language::Subop | Language::Csp => Vec::new(),
        };
        Ok(json!(DocumentSymbolResponse::Nested(found)))
    }

    /// The whole text laid out; nothing where that changes nothing or the text has mistakes.
    pub(super) fn format(&self, params: DocumentFormattingParams) -> Answer {
        let document = self.document(&params.text_document.uri)?;
        if document.language != Language::Lin {
            return Ok(Json::Null);
        }
        let laid_out = linchpin_lang::format(&document.text).ok();
        let edit = laid_out.filter(|new| *new != document.text).map(|new_text| {
            let end = document.lines.position(&document.text, document.text.len());
            vec![TextEdit { range: Range { start: Position::default(), end }, new_text }]
        });
        Ok(json!(edit))
    }

    pub(super) fn lenses(&self, params: CodeLensParams) -> Answer {
        let key = params.text_document.uri.as_str();
        let Some(open) = self.documents.get(key) else {
            return Err((ErrorCode::InvalidParams, format!("`{key}` is not open")));
        };
        let (title, command) = open.lens.shown();
        let arguments = Some(vec![json!(key)]);
        let command = Command { title, command: command.to_owned(), arguments };
        let range = Range::default();
        Ok(json!([CodeLens { range, command: Some(command), data: None }]))
    }
}

/// Where the name at a position is defined, and where it is used.
fn used_at(document: &Document, position: Position) -> Option<(Range, Vec<Range>)> {
    let names = document.names()?;
    let found = names.at(document.lines.offset(&document.text, position))?;
    let range = |span| document.lines.range(&document.text, span);
    let definition = range(names.definitions[found.definition].span);
    Some((definition, names.uses_of(found.definition).map(range).collect()))
}
