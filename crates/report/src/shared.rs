//! Shared states as pictures: concrete nodes, drawn like abstract ones.

use linchpin_engine::{
    Holds, LinkSide, Name, NodeKind, Picture, PictureLink, PictureNode, Scope, SharedNode,
    SharedPicture, SharedValue,
};

/// The state as a picture: fields that are no references in the boxes, references as arrows.
pub fn picture(state: &SharedPicture) -> Picture {
    let holds = |value: &SharedValue| match value {
        SharedValue::Node(node) if *node < state.nodes.len() => Holds::Node(*node),
        other => Holds::Word(other.to_string()),
    };
    let name = |(name, value): &(String, SharedValue)| Name {
        scope: Scope::Shared,
        name: name.clone(),
        holds: holds(value),
    };
    Picture {
        names: state.variables.iter().map(name).collect(),
        nodes: state.nodes.iter().map(node).collect(),
        links: (0..).zip(&state.nodes).flat_map(|(at, node)| links(state, at, node)).collect(),
        ..Picture::default()
    }
}

fn node(node: &SharedNode) -> PictureNode {
    let mut drawn = PictureNode {
        kind: NodeKind::Candidate,
        summary: false,
        of: node.of.clone(),
        key: None,
        values: Vec::new(),
        marks: Vec::new(),
        locks: Vec::new(),
        in_list: false,
        private_to: None,
    };
    for (field, value) in &node.fields {
        match value {
            SharedValue::Bool(truth) => drawn.marks.push((field.clone(), *truth)),
            SharedValue::Word(word) => drawn.values.push((field.clone(), word.clone())),
            SharedValue::Node(_) | SharedValue::Null => {}
        }
    }
    drawn
}

fn links(state: &SharedPicture, from: usize, node: &SharedNode) -> Vec<PictureLink> {
    let link = |(field, value): &(String, SharedValue)| {
        let to = match value {
            SharedValue::Node(to) => Some(*to).filter(|to| *to < state.nodes.len()),
            SharedValue::Null => None,
            SharedValue::Bool(_) | SharedValue::Word(_) => return None,
        };
        let field = field.clone();
        Some(PictureLink { from, side: LinkSide::Candidate, field, to, certain: true })
    };
    node.fields.iter().filter_map(link).collect()
}
