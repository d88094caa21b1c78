//! What must hold for every source.

use linchpin_ir::print;
use linchpin_ir::well_formed::defects;
use linchpin_lang::syntax::{Token, TokenKind, parse, tokenize};
use linchpin_lang::{Config, Diagnostic, Span, compile, format};

/// How far a source got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It does not parse.
    Unreadable,
    /// It parses, but does not check.
    Mistaken,
    /// It compiles.
    Compiled,
}

/// Runs every part of the front end on the source.
pub fn judge(source: &str, case: u64) -> Outcome {
    tokens_cover(source);
    let (_, mistakes) = parse(source);
    judge_mistakes(&mistakes, source, case);
    let formatted = format(source);
    let fails = !mistakes.is_empty() || source.len() > 50 << 10 && formatted.is_err();
    assert_eq!(formatted.is_err(), fails, "`format` and `parse` disagree");
    let compiled = compile(source, &Config::default());
    if let Ok(formatted) = &formatted {
        judge_layout(source, formatted);
    }
    match compiled {
        Ok(compiled) => {
            let defects = defects(&compiled.program);
            assert!(defects.is_empty(), "{defects:?}");
            assert!(!print::steps(&compiled.program).is_empty());
            Outcome::Compiled
        }
        Err(found) if mistakes.is_empty() => {
            assert!(!found.is_empty(), "no program and no mistake");
            judge_mistakes(&found, source, case);
            Outcome::Mistaken
        }
        Err(found) => {
            assert_eq!(found, mistakes, "what cannot be read is not checked");
            Outcome::Unreadable
        }
    }
}

/// Tokens come in order, do not overlap, and leave out only white space.
fn tokens_cover(source: &str) {
    let mut at = 0;
    for token in tokenize(source) {
        let between = &source[at..token.span.start as usize];
        assert!(between.trim_matches('\u{feff}').trim().is_empty(), "{between:?} is in no token");
        at = token.span.end as usize;
        assert!(source.is_char_boundary(at));
    }
    assert_eq!(at, source.len(), "the last token ends with the source");
}

fn judge_mistakes(mistakes: &[Diagnostic], source: &str, case: u64) {
    assert!(mistakes.len() <= 50, "{} mistakes", mistakes.len());
    for (at, mistake) in mistakes.iter().enumerate() {
        let related = mistake.related.iter().map(|(span, _)| *span);
        for span in related.chain([mistake.span]) {
            judge_span(span, source);
        }
        assert!(!mistake.message.is_empty() && !mistake.label.is_empty());
        // Rendering costs more than finding: all of them only now and then.
        if at < 2 || case.is_multiple_of(16) {
            let color = case.is_multiple_of(3);
            let shown = mistake.render("model.lin", source, color);
            assert!(shown.contains("model.lin") && shown.len() < 100_000, "{}", shown.len());
        }
    }
}

fn judge_span(span: Span, source: &str) {
    let (start, end) = (span.start as usize, span.end as usize);
    assert!(start <= end && end <= source.len(), "{span:?} of {}", source.len());
    assert!(source.is_char_boundary(start) && source.is_char_boundary(end), "{span:?}");
}

/// The same tokens and comments, and laying out again changes nothing.
fn judge_layout(source: &str, formatted: &str) {
    let texts = |source: &str| -> Vec<(TokenKind, String)> {
        // Space at the end of a line is not kept, in comments neither.
        let text = |token: &Token| {
            let lines = token.span.text(source).split('\n').map(str::trim_end);
            lines.collect::<Vec<_>>().join("\n")
        };
        tokenize(source).iter().map(|token| (token.kind, text(token))).collect()
    };
    assert_eq!(texts(source), texts(formatted), "laid out as\n{formatted}");
    let again = format(formatted).expect("what is laid out parses");
    assert_eq!(again, formatted, "laying out twice differs");
    for line in formatted.lines() {
        assert_eq!(line.trim_end(), line, "white space at the end of a line");
    }
}
