//! Where the nodes, names and links of a picture are.
//!
//! Nodes stand in columns and lanes, so that links go from left to right. Names of nodes in the
//! first column stand to the left of them, other names above. A link to the next column crosses
//! the gutter between the two; any other goes through the gutter and along a channel below a lane,
//! so that no link runs through a node.

use linchpin_engine::{LinkSide, NodeKind, Picture, PictureLink, Scope};

/// The width of a character of the text of a node, and of a small one.
pub const CHAR: f64 = 7.3;
/// The height of a line of text.
pub const LINE: f64 = 17.0;
/// The height of a tag with a name.
pub const TAG: f64 = 19.0;
const SMALL: f64 = 6.7;
const CELL: f64 = 22.0;
const REFERENCE_HALF: f64 = 26.0;
const MARGIN: f64 = 14.0;
const GUTTER: f64 = 46.0;
const TRACK: f64 = 7.0;
const CHANNEL: f64 = 16.0;
const FACTS_WIDTH: usize = 26;
const LEAST_BODY: f64 = 62.0;
/// From the inner to the outer frame of a summary.
const FRAME: f64 = 4.0;

/// A rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

/// A name at its node.
#[derive(Clone, Debug)]
pub struct Tag {
    /// Whose it is.
    pub scope: Scope,
    /// The name.
    pub text: String,
    /// Where it is.
    pub at: Rect,
    /// Whether it stands to the left of its node, with an arrow.
    pub left: bool,
}

/// A cell of a node: the start of a link.
#[derive(Clone, Debug)]
pub struct Port {
    /// Which side.
    pub side: LinkSide,
    /// The field.
    pub field: String,
    /// Where it is.
    pub at: Rect,
    /// Whether the link may be null; surely, if it goes nowhere else.
    pub null: Option<bool>,
}

/// A node.
#[derive(Clone, Debug)]
pub struct Block {
    /// The whole of it.
    pub at: Rect,
    /// How far its outer frame is away; 0 if it has none.
    pub frame: f64,
    /// The lines of text: what it is called, what is definite about it.
    pub text: Vec<String>,
    /// Where the half of the reference begins, if it has one.
    pub reference_from: Option<f64>,
    /// The starts of its links.
    pub ports: Vec<Port>,
    /// Its names.
    pub tags: Vec<Tag>,
    column: usize,
    lane: usize,
}

/// A link.
#[derive(Clone, Debug)]
pub struct Route {
    /// Which side.
    pub side: LinkSide,
    /// Whether it surely goes there.
    pub certain: bool,
    /// Its corners, from its port to its node.
    pub corners: Vec<(f64, f64)>,
}

/// A picture with places.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The nodes.
    pub blocks: Vec<Block>,
    /// The links.
    pub routes: Vec<Route>,
    /// The width of the heap.
    pub width: f64,
    /// The height of the heap.
    pub height: f64,
}

/// How wide a text is.
pub fn text_width(text: &str, char: f64) -> f64 {
    // A text is never so long that the number is not exact.
    text.chars().fold(0.0, |width, _| width + char)
}

/// Places everything.
pub fn layout(picture: &Picture) -> Layout {
    let columns = columns(picture);
    let lanes = lanes(picture, &columns);
    let mut blocks: Vec<Block> = (0..picture.nodes.len())
        .map(|node| block(picture, node, columns[node], lanes[node]))
        .collect();
    let tracks = Tracks::of(picture, &blocks);
    let height = place(&mut blocks, &tracks);
    let routes = routes(picture, &blocks, &tracks);
    let width = blocks.iter().map(|block| block.at.x + block.at.w).fold(0.0, f64::max)
        + if blocks.is_empty() { 0.0 } else { GUTTER / 2.0 + tracks.last_gutter() };
    Layout { blocks, routes, width, height }
}

/// The column of each node: one more than that of the nodes before it, cycles cut where a walk from
/// the first names closes them.
fn columns(picture: &Picture) -> Vec<usize> {
    let count = picture.nodes.len();
    let next = |node: usize| {
        let links = picture.links.iter().filter(move |link| link.from == node);
        links.filter_map(|link| link.to)
    };
    let entered = |node: &usize| {
        picture.links.iter().any(|link| link.to == Some(*node) && link.from != *node)
    };
    let mut starts: Vec<usize> = (0..count).filter(|node| !entered(node)).collect();
    starts.extend((0..count).filter(entered));
    // Depth first: nodes in the order in which the walk leaves them, last first, are in the order
    // of their links, but for those that close a cycle.
    let mut state = vec![0u8; count];
    let mut order = Vec::with_capacity(count);
    for start in starts {
        let mut stack = vec![(start, false)];
        while let Some((node, left)) = stack.pop() {
            if left {
                state[node] = 2;
                order.push(node);
            } else if state[node] == 0 {
                state[node] = 1;
                stack.push((node, true));
                let mut nodes: Vec<usize> = next(node).filter(|to| state[*to] == 0).collect();
                nodes.sort_by_key(|to| rank_of_names(picture, *to));
                stack.extend(nodes.into_iter().map(|to| (to, false)));
            }
        }
    }
    order.reverse();
    let mut rank = vec![0; count];
    for (at, node) in order.iter().enumerate() {
        rank[*node] = at;
    }
    let mut columns = vec![0; count];
    for node in &order {
        for to in next(*node) {
            if rank[to] > rank[*node] {
                columns[to] = columns[to].max(columns[*node] + 1);
            }
        }
    }
    columns
}

/// In which order nodes are walked into, the last first: shared names before others before none.
fn rank_of_names(picture: &Picture, node: usize) -> u8 {
    match picture.tags(node).first() {
        Some((Scope::Shared, _)) => 3,
        Some((Scope::Reference | Scope::Key, _)) => 2,
        Some((Scope::Thread(_), _)) => 1,
        None => 0,
    }
}

/// The lane of each node: that of a node before it, if it is free in its column.
fn lanes(picture: &Picture, columns: &[usize]) -> Vec<usize> {
    let count = picture.nodes.len();
    let mut by_column: Vec<usize> = (0..count).collect();
    by_column
        .sort_by_key(|node| (columns[*node], picture.nodes[*node].kind == NodeKind::Reference));
    let mut lanes = vec![usize::MAX; count];
    for node in by_column {
        let taken = |lane: usize, lanes: &[usize]| {
            (0..count).any(|other| columns[other] == columns[node] && lanes[other] == lane)
        };
        let before = picture.links.iter().filter(|link| link.to == Some(node));
        let near = before.map(|link| lanes[link.from]).filter(|lane| *lane != usize::MAX);
        let free = (0..=count).find(|lane| !taken(*lane, &lanes)).unwrap_or(count);
        let wanted = near.min().filter(|lane| !taken(*lane, &lanes));
        lanes[node] = wanted.unwrap_or(free);
    }
    lanes
}

/// The size of a node, with its text, cells and names, at the origin.
fn block(picture: &Picture, at: usize, column: usize, lane: usize) -> Block {
    let node = &picture.nodes[at];
    let several = picture.nodes.iter().any(|other| other.of != node.of);
    let mut text = vec![match several {
        true => format!("{} {}", picture.label(at), node.of),
        false => picture.label(at),
    }];
    let mut line = String::new();
    for fact in node.facts() {
        if !line.is_empty() && line.chars().count() + fact.chars().count() > FACTS_WIDTH {
            text.push(std::mem::take(&mut line));
        }
        line += if line.is_empty() { "" } else { ", " };
        line += &fact;
    }
    text.extend((!line.is_empty()).then_some(line));
    let mut ports: Vec<Port> = Vec::new();
    for link in picture.links.iter().filter(|link| link.from == at) {
        let same = |port: &&mut Port| port.side == link.side && port.field == link.field;
        let null = link.to.is_none().then_some(link.certain);
        match ports.iter_mut().find(same) {
            Some(port) => port.null = port.null.or(null),
            None => {
                let (side, field) = (link.side, link.field.clone());
                ports.push(Port { side, field, at: Rect { x: 0.0, y: 0.0, w: 0.0, h: 0.0 }, null });
            }
        }
    }
    let label = |port: &Port| text_width(&port.field, SMALL) + 24.0;
    let port_width = ports.iter().map(label).fold(0.0, f64::max);
    let words = text.iter().map(|line| text_width(line, CHAR)).fold(0.0, f64::max);
    let is_duo = matches!(node.kind, NodeKind::Uniform | NodeKind::Nonuniform);
    let lines = LINE * count(text.len()) + 9.0;
    let upper = lines.max(CELL * count(cells(&ports, LinkSide::Candidate)));
    let lower = match is_duo {
        true => REFERENCE_HALF.max(CELL * count(cells(&ports, LinkSide::Reference))),
        false => 0.0,
    };
    let height = (upper + lower).max(CELL * count(ports.len()));
    let reference_from = match node.kind {
        NodeKind::Candidate => None,
        NodeKind::Reference => Some(0.0),
        NodeKind::Uniform | NodeKind::Nonuniform => Some(height - lower),
    };
    let width = (words + 22.0).max(LEAST_BODY) + port_width;
    fit_ports(&mut ports, width, port_width, height, reference_from);
    let tag = |(scope, text): (Scope, String)| {
        let at = Rect { x: 0.0, y: 0.0, w: text_width(&text, SMALL) + 14.0, h: TAG };
        Tag { scope, text, at, left: column == 0 }
    };
    let tags = picture.tags(at).into_iter().map(tag).collect();
    let at = Rect { x: 0.0, y: 0.0, w: width, h: height };
    let frame = if node.summary { FRAME } else { 0.0 };
    Block { at, frame, text, reference_from, ports, tags, column, lane }
}

/// A small number of things.
fn count(things: usize) -> f64 {
    f64::from(u16::try_from(things).unwrap_or(u16::MAX))
}

fn cells(ports: &[Port], side: LinkSide) -> usize {
    ports.iter().filter(|port| port.side == side).count()
}

/// Cells of the candidate beside its half, those of the reference beside theirs, those of both
/// beside both.
fn fit_ports(ports: &mut [Port], width: f64, port: f64, height: f64, reference: Option<f64>) {
    for side in [LinkSide::Both, LinkSide::Candidate, LinkSide::Reference] {
        let (from, to) = match (side, reference) {
            (LinkSide::Candidate, Some(from)) => (0.0, from),
            (LinkSide::Reference, Some(from)) => (from, height),
            _ => (0.0, height),
        };
        let step = (to - from) / count(cells(ports, side)).max(1.0);
        let mut y = from;
        for at in ports.iter_mut().filter(|port| port.side == side) {
            at.at = Rect { x: width - port, y, w: port, h: step };
            y += step;
        }
    }
}

/// The tracks that links need beside each other: in the gutters and in the channels.
struct Tracks {
    /// For each link that goes along a channel: its track in the gutter after its node, in the
    /// channel, and in the gutter before its target.
    of_link: Vec<Option<[f64; 3]>>,
    /// The width of the gutter before each column, and after the last.
    gutters: Vec<f64>,
    /// The height of the channel below each lane.
    channels: Vec<f64>,
}

impl Tracks {
    fn of(picture: &Picture, blocks: &[Block]) -> Tracks {
        let columns = blocks.iter().map(|block| block.column + 1).max().unwrap_or(0);
        let lanes = blocks.iter().map(|block| block.lane + 1).max().unwrap_or(0);
        let mut gutters = vec![0.0; columns + 1];
        let mut channels = vec![0.0; lanes];
        let next = |at: &mut f64| {
            *at += TRACK;
            *at
        };
        let of_link = picture.links.iter().map(|link| {
            let (from, to) = (&blocks[link.from], &blocks[link.to?]);
            if link.to == Some(link.from) || to.column == from.column + 1 {
                return None;
            }
            let out = next(&mut gutters[from.column + 1]);
            let along = next(&mut channels[from.lane]);
            Some([out, along, next(&mut gutters[to.column])])
        });
        Tracks { of_link: of_link.collect(), gutters, channels }
    }

    fn channel(&self, lane: usize) -> f64 {
        CHANNEL + self.channels.get(lane).copied().unwrap_or_default()
    }

    fn gutter(&self, column: usize) -> f64 {
        GUTTER + self.gutters.get(column).copied().unwrap_or_default()
    }

    fn last_gutter(&self) -> f64 {
        self.gutters.last().copied().unwrap_or_default()
    }
}

/// Gives the nodes and their names their places. How high all of it is.
fn place(blocks: &mut [Block], tracks: &Tracks) -> f64 {
    let columns = blocks.iter().map(|block| block.column + 1).max().unwrap_or(0);
    let lanes = blocks.iter().map(|block| block.lane + 1).max().unwrap_or(0);
    let mut x = MARGIN;
    for column in 0..columns {
        let within = |block: &&mut Block| block.column == column;
        let mut widest = 0.0f64;
        let mut names = 0.0f64;
        for block in blocks.iter_mut().filter(within) {
            let tags = block.tags.iter().map(|tag| tag.at.w).fold(0.0, f64::max);
            widest = widest.max(block.at.w).max(if column == 0 { 0.0 } else { tags });
            names = names.max(tags);
        }
        x += match column {
            0 => names + if names > 0.0 { tracks.gutter(0) } else { tracks.gutters[0] },
            _ => tracks.gutter(column),
        };
        // Nodes of a column are equally wide: a link out of one does not run through another.
        for block in blocks.iter_mut().filter(within) {
            block.at.x = x;
            let wider = widest - block.at.w;
            block.at.w = widest;
            block.ports.iter_mut().for_each(|port| port.at.x += wider);
        }
        x += widest;
    }
    let mut y = MARGIN;
    for lane in 0..lanes {
        let within = |block: &&mut Block| block.lane == lane;
        let (mut above, mut tallest) = (0.0f64, 0.0f64);
        for block in blocks.iter_mut().filter(within) {
            let tags = (TAG + 3.0) * count(block.tags.len());
            above = above.max(if block.column == 0 { 0.0 } else { tags });
            tallest = tallest.max(block.at.h).max(if block.column == 0 { tags } else { 0.0 });
        }
        for block in blocks.iter_mut().filter(within) {
            block.at.y = y + above + FRAME;
            settle(block, tracks);
        }
        y += above + tallest + 8.0 + tracks.channel(lane);
    }
    y
}

/// Moves what belongs to a node to where the node is.
fn settle(block: &mut Block, tracks: &Tracks) {
    for port in &mut block.ports {
        port.at.x += block.at.x;
        port.at.y += block.at.y;
    }
    if let Some(from) = &mut block.reference_from {
        *from += block.at.y;
    }
    let all = count(block.tags.len());
    for (at, tag) in block.tags.iter_mut().enumerate() {
        let down = (TAG + 3.0) * count(at);
        if tag.left {
            tag.at.x = block.at.x - tracks.gutter(0) - tag.at.w;
            tag.at.y = block.at.y + down;
        } else {
            tag.at.x = block.at.x;
            tag.at.y = block.at.y - (TAG + 3.0) * all - block.frame + down;
        }
    }
}

fn routes(picture: &Picture, blocks: &[Block], tracks: &Tracks) -> Vec<Route> {
    let links = picture.links.iter().zip(&tracks.of_link);
    let route = |(link, track): (&PictureLink, &Option<[f64; 3]>)| {
        let (from, to) = (&blocks[link.from], &blocks[link.to?]);
        let port =
            from.ports.iter().find(|port| port.side == link.side && port.field == link.field)?;
        let start = (port.at.x + port.at.w + from.frame, port.at.y + port.at.h / 2.0);
        let corners = match track {
            None if link.to == Some(link.from) => around(from, start, link.side),
            None => vec![start, (to.at.x - to.frame, entry(to, link.side))],
            Some([out, along, into]) => {
                let right = from.at.x + from.at.w + 9.0 + out;
                let below = bottom(blocks, from.lane) + CHANNEL / 2.0 + along;
                let left = to.at.x - 13.0 - into;
                let end = entry(to, link.side);
                vec![
                    start,
                    (right, start.1),
                    (right, below),
                    (left, below),
                    (left, end),
                    (to.at.x - to.frame, end),
                ]
            }
        };
        Some(Route { side: link.side, certain: link.certain, corners })
    };
    links.filter_map(route).collect()
}

/// The lowest edge of the nodes of a lane.
fn bottom(blocks: &[Block], lane: usize) -> f64 {
    let within = blocks.iter().filter(|block| block.lane == lane);
    within.map(|block| block.at.y + block.at.h).fold(0.0, f64::max)
}

/// Where links enter a node: those of the candidate at its upper part, those of the reference at
/// its lower part.
fn entry(block: &Block, side: LinkSide) -> f64 {
    let part = match side {
        LinkSide::Candidate => 0.28,
        LinkSide::Both => 0.5,
        LinkSide::Reference => 0.78,
    };
    block.at.y + block.at.h * part
}

/// From the right of a node back to its lower edge.
fn around(block: &Block, start: (f64, f64), side: LinkSide) -> Vec<(f64, f64)> {
    let out = start.0 + if side == LinkSide::Reference { 9.0 } else { 13.0 };
    let (low, edge) =
        (block.at.y + block.at.h + block.frame + 9.0, block.at.y + block.at.h + block.frame);
    let back = block.at.x + block.at.w - if side == LinkSide::Reference { 14.0 } else { 26.0 };
    vec![start, (out, start.1), (out, low), (back, low), (back, edge)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use linchpin_engine::{Holds, Name, PictureNode};

    /// Small numbers from a seed.
    struct Dice(u64);

    impl Dice {
        fn roll(&mut self, below: usize) -> usize {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(self.0 >> 33).unwrap_or_default() % below.max(1)
        }
    }

    fn random(dice: &mut Dice, nodes: usize) -> Picture {
        let kinds =
            [NodeKind::Uniform, NodeKind::Nonuniform, NodeKind::Candidate, NodeKind::Reference];
        let mut picture = Picture::default();
        for at in 0..nodes {
            picture.nodes.push(PictureNode {
                kind: kinds[dice.roll(4)],
                summary: dice.roll(4) == 0,
                of: "Node".to_owned(),
                key: None,
                values: (0..dice.roll(3)).map(|at| (format!("v{at}"), "7".to_owned())).collect(),
                marks: (0..dice.roll(3)).map(|mark| (format!("mark{mark}"), false)).collect(),
                locks: Vec::new(),
                in_list: dice.roll(2) == 0,
                private_to: None,
            });
            for name in 0..dice.roll(4) {
                let scope = [Scope::Shared, Scope::Reference, Scope::Thread(1)][dice.roll(3)];
                let (name, holds) = (format!("name{name}"), Holds::Node(at));
                picture.names.push(Name { scope, name, holds });
            }
        }
        for from in 0..nodes {
            let sides: &[LinkSide] = match picture.nodes[from].kind {
                NodeKind::Uniform => &[LinkSide::Both],
                NodeKind::Candidate => &[LinkSide::Candidate],
                NodeKind::Reference => &[LinkSide::Reference],
                NodeKind::Nonuniform => &[LinkSide::Candidate, LinkSide::Reference],
            };
            for side in sides {
                for _ in 0..=dice.roll(3) {
                    let to = Some(dice.roll(nodes + 1)).filter(|to| *to < nodes);
                    let field = ["next", "down"][dice.roll(2)].to_owned();
                    picture.links.push(PictureLink {
                        from,
                        side: *side,
                        field,
                        to,
                        certain: false,
                    });
                }
            }
        }
        picture
    }

    fn overlap(one: Rect, two: Rect) -> bool {
        one.x < two.x + two.w
            && two.x < one.x + one.w
            && one.y < two.y + two.h
            && two.y < one.y + one.h
    }

    /// Whether a straight part of a link runs through a rectangle, edges left out.
    fn through(one: (f64, f64), two: (f64, f64), at: Rect) -> bool {
        let (left, right) = (one.0.min(two.0), one.0.max(two.0));
        let (top, bottom) = (one.1.min(two.1), one.1.max(two.1));
        left < at.x + at.w - 0.1
            && right > at.x + 0.1
            && top < at.y + at.h - 0.1
            && bottom > at.y + 0.1
    }

    #[test]
    fn nothing_overlaps_and_no_link_runs_through_a_node() {
        for seed in 0..3000 {
            let mut dice = Dice(seed);
            let nodes = 1 + dice.roll(12);
            let picture = random(&mut dice, nodes);
            let drawn = layout(&picture);
            let mut rects: Vec<Rect> = Vec::new();
            for block in &drawn.blocks {
                let (at, frame) = (block.at, block.frame);
                let (x, y) = (at.x - frame, at.y - frame);
                rects.push(Rect { x, y, w: at.w + 2.0 * frame, h: at.h + 2.0 * frame });
                rects.extend(block.tags.iter().map(|tag| tag.at));
            }
            for (at, one) in rects.iter().enumerate() {
                for two in &rects[at + 1..] {
                    assert!(!overlap(*one, *two), "seed {seed}: {one:?} and {two:?}");
                }
                assert!(one.x >= 0.0 && one.x + one.w <= drawn.width, "seed {seed}: {one:?}");
                assert!(one.y >= 0.0 && one.y + one.h <= drawn.height, "seed {seed}: {one:?}");
            }
            for route in &drawn.routes {
                // A link to the next column is drawn as a curve inside the gutter.
                let parts = if route.corners.len() > 2 { route.corners.len() - 1 } else { 0 };
                for at in 0..parts {
                    let (one, two) = (route.corners[at], route.corners[at + 1]);
                    for block in &drawn.blocks {
                        assert!(!through(one, two, block.at), "seed {seed}: {route:?} {block:?}");
                    }
                }
            }
        }
    }
}
