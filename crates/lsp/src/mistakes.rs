//! Mistakes as the protocol shows them.

use crate::document::Document;
use linchpin_syntax::Diagnostic as Mistake;
use lsp_types::{
    Diagnostic, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString, Uri,
};

/// What is wrong with a document.
pub fn diagnostics(document: &Document, uri: &Uri) -> Vec<Diagnostic> {
    document.mistakes().iter().map(|mistake| diagnostic(document, uri, mistake)).collect()
}

fn diagnostic(document: &Document, uri: &Uri, mistake: &Mistake) -> Diagnostic {
    let range = |span| document.lines.range(&document.text, span);
    let related = |(span, label): &(_, String)| DiagnosticRelatedInformation {
        location: Location { uri: uri.clone(), range: range(*span) },
        message: label.clone(),
    };
    let related: Vec<_> = mistake.related.iter().map(related).collect();
    let mut message = mistake.message.clone();
    if let Some(help) = &mistake.help {
        message += &format!("\nhelp: {help}");
    }
    Diagnostic {
        range: range(mistake.span),
        severity: Some(DiagnosticSeverity::ERROR),
        code: Some(NumberOrString::String(mistake.code.to_string())),
        source: Some("linchpin".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..Diagnostic::default()
    }
}
