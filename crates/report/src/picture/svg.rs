//! A picture as SVG: self-contained, without scripts, styles or ids, so that many fit on one page.

use super::layout::{Block, CHAR, LINE, Layout, Port, Rect, Route, TAG, Tag, layout, text_width};
use crate::escaped;
use linchpin_engine::{LinkSide, NodeKind, Picture, Scope};
use maud::{Markup, html};

const MONO: &str = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";
const INK: &str = "#1c2430";
const FRAME: &str = "#4a5768";
const SHADE: &str = "#dfe4eb";
const GREY: &str = "#5a6675";
const BAD: &str = "#b3261e";
/// The colours of threads: those of the page.
const THREADS: [&str; 6] = ["#0b5cad", "#b3261e", "#1a7f4b", "#7a4fb5", "#a15c00", "#00707c"];
const LEAST_WIDTH: f64 = 320.0;
const CORNER: f64 = 6.0;

/// The picture as SVG.
pub fn svg(picture: &Picture) -> String {
    titled_svg(picture, &title(picture))
}

/// The picture as SVG, with words for readers that do not see it.
pub fn titled_svg(picture: &Picture, title: &str) -> String {
    let drawn = layout(picture);
    let notes = notes(picture);
    let words = notes.iter().map(|(text, _)| text_width(text, CHAR) + 28.0).fold(0.0, f64::max);
    let width = drawn.width.max(words).max(LEAST_WIDTH);
    let height = drawn.height + 12.0 + LINE * notes.iter().fold(0.0, |lines, _| lines + 1.0);
    let page = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(n(width)) height=(n(height))
            viewBox=(format!("0 0 {} {}", n(width), n(height))) role="img"
            font-family=(MONO) font-size="12" {
            title { (escaped(title)) }
            rect x="0.5" y="0.5" width=(n(width - 1.0)) height=(n(height - 1.0)) rx="8" fill="#ffffff" stroke="#d5dbe2" {}
            @for route in &drawn.routes { (link(route)) }
            @for (block, node) in drawn.blocks.iter().zip(&picture.nodes) { (node_markup(block, node.kind)) }
            @for block in &drawn.blocks { @for tag in &block.tags { (tag_markup(tag, block)) } }
            (notes_markup(&notes, &drawn))
        }
    };
    page.into_string()
}

/// What the picture shows, for readers that do not see it.
fn title(picture: &Picture) -> String {
    match &picture.next {
        Some(next) => format!("before {}", next.caption()),
        None => picture.threads.first().map_or_else(String::new, |thread| thread.caption()),
    }
}

/// A number with one digit after the point.
fn n(number: f64) -> String {
    format!("{number:.1}")
}

/// The lines below the heap, with their colours.
fn notes(picture: &Picture) -> Vec<(String, &'static str)> {
    let words = picture.words();
    let mut notes = Vec::new();
    let common = words.iter().filter(|(scope, _)| !matches!(scope, Scope::Thread(_)));
    let common: Vec<&str> = common.map(|(_, text)| text.as_str()).collect();
    if !common.is_empty() {
        notes.push((common.join(", "), INK));
    }
    for thread in &picture.threads {
        let own = |(scope, _): &&(Scope, String)| *scope == Scope::Thread(thread.thread);
        let colour = THREADS[thread.thread % THREADS.len()];
        notes.push((thread.caption(), colour));
        let own: Vec<&str> = words.iter().filter(own).map(|(_, text)| text.as_str()).collect();
        if !own.is_empty() {
            notes.push((format!("          {}", own.join(", ")), colour));
        }
    }
    notes.extend(picture.failure.iter().map(|failure| (failure.clone(), BAD)));
    notes.iter().flat_map(|(text, colour)| wrapped(text).map(|line| (line, *colour))).collect()
}

/// A long line in several.
fn wrapped(text: &str) -> impl Iterator<Item = String> {
    const MOST: usize = 96;
    let mut lines = vec![String::new()];
    for word in escaped(text).split_inclusive(' ') {
        let last = lines.len() - 1;
        if lines[last].chars().count() + word.chars().count() > MOST
            && !lines[last].trim().is_empty()
        {
            lines.push("    ".to_owned());
        }
        let last = lines.len() - 1;
        lines[last] += word;
    }
    lines.into_iter()
}

fn notes_markup(notes: &[(String, &'static str)], drawn: &Layout) -> Markup {
    let mut y = drawn.height - 2.0;
    let mut next = || {
        y += LINE;
        n(y)
    };
    html! {
        @for (text, colour) in notes {
            text x="14" y=(next()) fill=(colour) xml:space="preserve" { (text) }
        }
    }
}

fn rect(at: Rect, fill: &str, stroke: &str, round: &str) -> Markup {
    html! {
        rect x=(n(at.x)) y=(n(at.y)) width=(n(at.w)) height=(n(at.h)) rx=(round) fill=(fill) stroke=(stroke) {}
    }
}

/// A node: one box; a duo-object has two halves, and `~` between them if it is uniform; a summary
/// has a double frame.
fn node_markup(block: &Block, kind: NodeKind) -> Markup {
    let at = block.at;
    let frame = block.frame;
    let outer =
        Rect { x: at.x - frame, y: at.y - frame, w: at.w + 2.0 * frame, h: at.h + 2.0 * frame };
    let is_duo = matches!(kind, NodeKind::Uniform | NodeKind::Nonuniform);
    let shaded = block.reference_from.map(|from| Rect { y: from, h: at.y + at.h - from, ..at });
    let body = block.ports.first().map_or(at.w, |port| port.at.x - at.x);
    html! {
        @if frame > 0.0 { (rect(outer, "#ffffff", FRAME, "6")) }
        (rect(at, "#ffffff", FRAME, "3"))
        @if let Some(shaded) = shaded { (rect(shaded, SHADE, FRAME, "3")) }
        @for (line, text) in (0u8..).zip(&block.text) {
            text x=(n(at.x + 9.0)) y=(n(at.y + 15.0 + LINE * f64::from(line)))
                fill=(if line == 0 { INK } else { GREY })
                font-weight=(if line == 0 { "700" } else { "400" }) { (escaped(text)) }
        }
        @if let (true, Some(from)) = (is_duo, block.reference_from) {
            text x=(n(at.x + 9.0)) y=(n(from + 17.0)) fill=(GREY) font-size="10" { "ref" }
            @if kind == NodeKind::Uniform {
                circle cx=(n(at.x + body - 17.0)) cy=(n(from)) r="9" fill="#ffffff" stroke=(FRAME) {}
                text x=(n(at.x + body - 17.0)) y=(n(from + 5.0)) text-anchor="middle" font-size="15"
                    font-weight="700" fill=(INK) { "~" }
            }
        }
        @for port in &block.ports { (port_markup(port)) }
    }
}

/// A cell: the field, and whether it is, or may be, null.
fn port_markup(port: &Port) -> Markup {
    let fill = if port.side == LinkSide::Reference { SHADE } else { "#ffffff" };
    let middle = port.at.y + port.at.h / 2.0;
    let mark = match port.null {
        Some(true) => "∅",
        Some(false) => "∅?",
        None => "",
    };
    html! {
        (rect(port.at, fill, FRAME, "2"))
        text x=(n(port.at.x + 5.0)) y=(n(middle + 4.0)) font-size="10.5" fill=(GREY) { (escaped(&port.field)) }
        text x=(n(port.at.x + port.at.w - 3.0)) y=(n(middle + 4.0)) text-anchor="end" font-size="11" fill=(INK) { (mark) }
    }
}

fn tag_markup(tag: &Tag, block: &Block) -> Markup {
    let (fill, ink, stroke) = match tag.scope {
        Scope::Shared => (INK, "#ffffff", INK),
        Scope::Reference => (SHADE, INK, FRAME),
        Scope::Key => ("#fff3d6", "#7a5200", "#d6a530"),
        Scope::Thread(thread) => {
            let colour = THREADS[thread % THREADS.len()];
            ("#ffffff", colour, colour)
        }
    };
    let middle = tag.at.y + TAG / 2.0;
    // The arrow ends at the node, however many names there are.
    let end = middle.clamp(block.at.y + 6.0, block.at.y + block.at.h - 6.0);
    let start = (tag.at.x + tag.at.w, middle);
    html! {
        @if tag.left {
            path d=(curve(start, (block.at.x - block.frame, end))) fill="none" stroke=(stroke) stroke-width="1.2" {}
            (head((block.at.x - block.frame, end), (1.0, 0.0), stroke))
        }
        (rect(tag.at, fill, stroke, "9"))
        text x=(n(tag.at.x + tag.at.w / 2.0)) y=(n(middle + 4.0)) text-anchor="middle" font-size="11"
            fill=(ink) { (escaped(&tag.text)) }
    }
}

/// A link: dotted where it is not known.
fn link(route: &Route) -> Markup {
    let colour = if route.side == LinkSide::Reference { "#8592a3" } else { INK };
    let width = if route.side == LinkSide::Both { "1.7" } else { "1.3" };
    let [.., before, end] = route.corners.as_slice() else { return html! {} };
    let (path, toward) = match route.corners.as_slice() {
        [start, end] => (curve(*start, *end), (1.0, 0.0)),
        corners => (rounded(corners), ((end.0 - before.0).signum(), (end.1 - before.1).signum())),
    };
    let toward = if before.0 == end.0 { (0.0, toward.1) } else { (toward.0, 0.0) };
    html! {
        path d=(path) fill="none" stroke=(colour) stroke-width=(width)
            stroke-dasharray=[(!route.certain).then_some("2 3")] {}
        (head(*end, toward, colour))
    }
}

/// From left to right.
fn curve(from: (f64, f64), to: (f64, f64)) -> String {
    let middle = (from.0 + to.0) / 2.0;
    let [a, b, c, d, m] = [from.0, from.1, to.0, to.1, middle].map(n);
    format!("M{a} {b} C{m} {b} {m} {d} {c} {d}")
}

/// Straight parts with round corners.
fn rounded(corners: &[(f64, f64)]) -> String {
    let Some(first) = corners.first() else { return String::new() };
    let mut path = format!("M{} {}", n(first.0), n(first.1));
    for part in corners.windows(3) {
        let [before, at, after] = part else { continue };
        let (into, out) = (toward(*at, *before), toward(*at, *after));
        path += &format!(
            " L{} {} Q{} {} {} {}",
            n(into.0),
            n(into.1),
            n(at.0),
            n(at.1),
            n(out.0),
            n(out.1)
        );
    }
    let last = corners.last().unwrap_or(first);
    format!("{path} L{} {}", n(last.0), n(last.1))
}

/// A point a little away from a corner.
fn toward(from: (f64, f64), to: (f64, f64)) -> (f64, f64) {
    let (x, y) = (to.0 - from.0, to.1 - from.1);
    let length = x.hypot(y).max(0.001);
    let part = (CORNER / length).min(0.5);
    (from.0 + x * part, from.1 + y * part)
}

/// The head of an arrow.
fn head(at: (f64, f64), toward: (f64, f64), colour: &str) -> Markup {
    let (x, y) = toward;
    let back = (at.0 - 8.0 * x, at.1 - 8.0 * y);
    let (left, right) =
        ((back.0 - 3.6 * y, back.1 + 3.6 * x), (back.0 + 3.6 * y, back.1 - 3.6 * x));
    let points = [at, left, right].map(|(x, y)| format!("{},{}", n(x), n(y)));
    html! { polygon points=(points.join(" ")) fill=(colour) {} }
}

#[cfg(test)]
mod tests {
    use super::*;
    use linchpin_engine::{
        Holds, Name, PictureLink, PictureMove, PictureNode, PictureThread, Stands,
    };

    #[test]
    fn everything_drawn_is_escaped() {
        let nasty = "<script>&\"\u{202e}";
        let text = || nasty.to_owned();
        let picture = Picture {
            next: Some(PictureMove {
                thread: None,
                operation: Some(text()),
                line: None,
                text: text(),
            }),
            failure: Some(text()),
            threads: vec![PictureThread {
                thread: 0,
                at: Some((text(), 1)),
                stands: Stands::After(Some(text())),
                may_answer: vec![text()],
            }],
            names: vec![
                Name { scope: Scope::Shared, name: text(), holds: Holds::Node(0) },
                Name { scope: Scope::Thread(0), name: text(), holds: Holds::Word(text()) },
            ],
            nodes: vec![PictureNode {
                kind: NodeKind::Uniform,
                summary: true,
                of: text(),
                key: None,
                values: vec![(text(), text())],
                marks: vec![(text(), true)],
                locks: Vec::new(),
                in_list: true,
                private_to: None,
            }],
            links: vec![PictureLink {
                from: 0,
                side: LinkSide::Both,
                field: text(),
                to: Some(0),
                certain: false,
            }],
        };
        let drawn = svg(&picture);
        assert!(!drawn.contains("<script"), "{drawn}");
        assert!(!drawn.contains("&\""), "{drawn}");
        assert!(!drawn.contains('\u{202e}'), "{drawn}");
        assert!(drawn.matches("&lt;script&gt;").count() > 6, "{drawn}");
        assert!(drawn.contains("stroke-dasharray"), "{drawn}");
    }
}
