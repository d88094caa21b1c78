//! A document as part of a page.

use super::{Block, Span, Text};
use crate::escaped;
use crate::picture::titled_svg;
use crate::shared::picture;
use linchpin_engine::SharedPicture;
use maud::{Markup, PreEscaped, html};

/// The document as part of a page.
pub fn markup(blocks: &[Block]) -> Markup {
    html! { @for block in blocks { (one(block)) } }
}

fn one(block: &Block) -> Markup {
    match block {
        Block::Heading(1, text) => html! { h1 { (inline(text)) } },
        Block::Heading(2, text) => html! { h2 { (inline(text)) } },
        Block::Heading(_, text) => html! { h3 { (inline(text)) } },
        Block::Paragraph(text) => html! { p { (inline(text)) } },
        Block::Items(items) => html! { ul { @for item in items { li { (inline(item)) } } } },
        Block::Numbered(items) => html! { ol { @for item in items { li { (inline(item)) } } } },
        Block::Table(head, rows) => html! {
            table {
                tr { @for cell in head { th { (inline(cell)) } } }
                @for row in rows { tr { @for cell in row { td { (inline(cell)) } } } }
            }
        },
        Block::Lines(lines) => html! {
            @if !lines.is_empty() {
                pre class="timeline" { @for line in lines { (escaped(line)) "\n" } }
            }
        },
        Block::States(states) => html! {
            ol class="figures" { @for state in states { li { (figure(state)) } } }
        },
    }
}

fn figure(state: &SharedPicture) -> Markup {
    html! {
        figure {
            figcaption { (escaped(&state.caption)) }
            div class="picture" { (PreEscaped(titled_svg(&picture(state), &state.caption))) }
        }
    }
}

/// A sentence in which code stands between backticks.
pub fn sentence(text: &str) -> Markup {
    inline(&Text::from(text))
}

fn inline(text: &Text) -> Markup {
    html! {
        @for span in &text.0 {
            @match span {
                Span::Words(words) => (escaped(words)),
                Span::Code(code) => code { (escaped(code)) },
                Span::Toned(tone, words) => {
                    strong class=(format!("tone {}", tone.class())) { (escaped(words)) }
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tone;
    use linchpin_engine::{SharedNode, SharedValue};

    #[test]
    fn everything_shown_is_escaped() {
        let nasty = "<script>&\u{202e}";
        let words = || Text::from(nasty).code(nasty).toned(Tone::Bad, nasty);
        let value = SharedValue::Word(nasty.to_owned());
        let state = SharedPicture {
            caption: nasty.to_owned(),
            variables: vec![(nasty.to_owned(), value.clone())],
            nodes: vec![SharedNode {
                of: nasty.to_owned(),
                fields: vec![(nasty.to_owned(), value)],
            }],
        };
        let blocks = [
            Block::Heading(2, words()),
            Block::Items(vec![words()]),
            Block::Numbered(vec![words()]),
            Block::Table(vec![words()], vec![vec![words()]]),
            Block::Lines(vec![nasty.to_owned()]),
            Block::States(vec![state]),
        ];
        let page = markup(&blocks).into_string();
        assert!(!page.contains("<script") && !page.contains('\u{202e}'), "{page}");
        assert!(page.matches("&lt;script&gt;&amp;").count() > 18, "{page}");
    }
}
