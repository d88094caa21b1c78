//! What an editor shows about the name or line under the pointer: how it is declared, of what type
//! it is, and which atomic steps the line is.

use crate::document::Document;
use linchpin_engine::Language;
use linchpin_ir::print::{OperationSteps, StepDescription};
use linchpin_lang::syntax::{Token, TokenKind, tokenize};
use linchpin_spec::{BUILTINS, builtin};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Position};

/// At most so many steps are listed.
const STEPS: usize = 8;

/// What is shown at a position.
pub fn hover(document: &Document, position: Position) -> Option<Hover> {
    if document.language != Language::Lin {
        return None;
    }
    let offset = document.lines.offset(&document.text, position);
    let token = token_at(&document.text, offset)?;
    let mut parts: Vec<String> = about(document, offset, token).into_iter().collect();
    let line = document.lines.position(&document.text, offset).line.saturating_add(1);
    parts.extend(steps_on(&document.steps(), line));
    let range = document.lines.range(&document.text, token.span);
    let value = parts.join("\n\n");
    let contents = MarkupContent { kind: MarkupKind::Markdown, value };
    (!parts.is_empty())
        .then_some(Hover { contents: HoverContents::Markup(contents), range: Some(range) })
}

/// The token at a byte; behind a token counts as at it if nothing else is there.
fn token_at(text: &str, offset: usize) -> Option<Token> {
    let mut touching = tokenize(text).into_iter().filter(|token| {
        let bytes = token.span.range();
        bytes.start <= offset && offset <= bytes.end && token.kind != TokenKind::End
    });
    let first = touching.next()?;
    // Of two that touch, a name says more than a bracket.
    let second = touching.next().filter(|second| second.kind == TokenKind::Name);
    Some(second.unwrap_or(first)).filter(|token| token.kind != TokenKind::Comment)
}

/// What a token stands for.
fn about(document: &Document, offset: usize, token: Token) -> Option<String> {
    let names = document.names()?;
    if let Some(found) = names.at(offset) {
        return Some(format!("```lin\n{}\n```", names.definitions[found.definition].shown));
    }
    let text = token.span.text(&document.text);
    let meaning = built_in(text).map(str::to_owned);
    meaning.or_else(|| specification(&document.text, token, text))
}

/// What the built-in names mean.
fn built_in(name: &str) -> Option<&'static str> {
    Some(match name {
        "cas" => {
            "`cas(place, old, new) -> bool`: if the word holds `old` it becomes `new`, in one step"
        }
        "swap" => "`swap(place, value)`: the word becomes `value`; answers what it held",
        "faa" => "`faa(place, k) -> int`: adds to the word; answers what it held",
        "ll" => "`ll(place)`: reads the word and links it to the thread",
        "sc" => "`sc(place, value) -> bool`: writes the word if nothing wrote it since `ll`",
        "lock" => "`lock(place);`: waits until the lock is free, and takes it",
        "unlock" => "`unlock(place);`: releases the lock",
        "free" => "`free(x);`: gives the object back; what that means is `--memory`",
        "choose" => "`choose(a..b) -> int`: any of these numbers",
        "assume" => "`assume(c);`: waits until the condition holds",
        "assert" => "`assert(c);`: a violation if the condition does not hold",
        "unwrap" => "`unwrap(x)`: the value of an optional; a violation if it is `none`",
        "reach" => {
            "`reach(from, field, to)`: following the field leads there; only in `#[base(…)]`"
        }
        "flush" => "`flush(place);`: notes the line of the place and its pending stores",
        "fence" => "`fence;`: guarantees what the thread has flushed",
        "persist" => "`persist(place);`: `flush` and `fence` in one step",
        "me" => "`me: tid`: the thread that executes the operation",
        "threads" => "`threads: int`: how many threads there are",
        _ => return None,
    })
}

/// The operations of a specification, if this is the name behind `spec`.
fn specification(text: &str, token: Token, name: &str) -> Option<String> {
    let before = text.get(..token.span.range().start)?.trim_end();
    if !before.ends_with("spec") {
        return None;
    }
    let info = BUILTINS.iter().find(|info| info.is_called(name))?;
    let spec = builtin(info.name, None).ok()?;
    let operations: Vec<String> =
        spec.operations().iter().map(|operation| format!("    {operation}")).collect();
    Some(format!("{}: {}\n\n{}", info.name, info.summary, operations.join("\n")))
}

/// The steps that a line is, of every operation into which it is inlined.
fn steps_on(operations: &[OperationSteps], line: u32) -> Option<String> {
    let all: Vec<(&str, &StepDescription)> = operations
        .iter()
        .flat_map(|one| one.steps.iter().map(|step| (one.operation.as_str(), step)))
        .filter(|(_, step)| step.line == line && step.yields)
        .collect();
    if all.is_empty() {
        return None;
    }
    let mut text = String::from("Steps of this line:\n");
    for (operation, step) in all.iter().take(STEPS) {
        let edges: Vec<String> = step.edges.iter().map(|edge| edge.actions.join("; ")).collect();
        text += &format!("\n- `{operation}` step {}: `{}`", step.id, edges.join("` or `"));
    }
    if let Some(more) = all.len().checked_sub(STEPS).filter(|more| *more > 0) {
        text += &format!("\n- and {more} more");
    }
    Some(text)
}
