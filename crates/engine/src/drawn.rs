//! A shared state as text: lists read from left to right, one a line.

use crate::roadmap::{SharedNode, SharedPicture, SharedValue};

/// Nodes that follow each other, each the only one that the one before refers to.
struct Chain<'a> {
    /// The variable that it begins with, if it begins with one.
    variable: Option<&'a str>,
    nodes: Vec<usize>,
    /// The node drawn elsewhere that the last one refers to. Without it the last one has null, no
    /// reference, or several, which are shown among its fields.
    joins: Option<usize>,
}

impl SharedPicture {
    /// The state as text: `head → (MIN) → c: (1, marked) → (MAX)`, then what is not on that list,
    /// then the variables that refer to no node.
    ///
    /// Of a truth value only its name is shown, where it is true; of the only other field only its
    /// value; null at the end of a list not at all. A node that several references lead to is
    /// named.
    pub fn lines(&self) -> Vec<String> {
        let chains = self.chains();
        let mut lines: Vec<String> =
            chains.iter().map(|chain| self.chain_line(chain, &chains)).collect();
        let words = self.variables.iter().filter(|(_, value)| self.node_of(value).is_none());
        let words: Vec<String> = words.map(|(name, value)| format!("{name} = {value}")).collect();
        if !words.is_empty() {
            lines.push(words.join(", "));
        }
        lines
    }

    fn node_of(&self, value: &SharedValue) -> Option<usize> {
        match value {
            SharedValue::Node(at) => Some(*at).filter(|at| *at < self.nodes.len()),
            SharedValue::Null | SharedValue::Bool(_) | SharedValue::Word(_) => None,
        }
    }

    /// Every node is on one chain.
    fn chains(&self) -> Vec<Chain<'_>> {
        let mut drawn = vec![false; self.nodes.len()];
        let variables = self.variables.iter().filter_map(|(name, value)| {
            self.node_of(value).map(|node| (Some(name.as_str()), node))
        });
        let others = (0..self.nodes.len()).map(|node| (None, node));
        let mut chains = Vec::new();
        for (variable, start) in variables.chain(others) {
            if !drawn[start] {
                let (nodes, joins) = self.follow(start, &mut drawn);
                chains.push(Chain { variable, nodes, joins });
            }
        }
        chains
    }

    fn follow(&self, start: usize, drawn: &mut [bool]) -> (Vec<usize>, Option<usize>) {
        let mut nodes = Vec::new();
        let mut at = start;
        loop {
            drawn[at] = true;
            nodes.push(at);
            match self.nodes[at].only_reference().and_then(|link| self.node_of(link)) {
                Some(next) if !drawn[next] => at = next,
                joins => return (nodes, joins),
            }
        }
    }

    fn chain_line(&self, chain: &Chain<'_>, chains: &[Chain<'_>]) -> String {
        let mut parts: Vec<String> = chain.variable.iter().map(ToString::to_string).collect();
        parts.extend(chain.nodes.iter().map(|node| self.node_text(*node, chains)));
        if let Some(node) = chain.joins {
            parts.push(self.name(node, chains));
        }
        parts.join(" → ")
    }

    /// `c: (1, marked)`.
    fn node_text(&self, at: usize, chains: &[Chain<'_>]) -> String {
        let node = &self.nodes[at];
        let mut parts: Vec<String> = Vec::new();
        let is_word = |value: &SharedValue| matches!(value, SharedValue::Word(_));
        let words = node.fields.iter().filter(|(_, value)| is_word(value)).count();
        let listed = node.only_reference().is_none();
        for (field, value) in &node.fields {
            match value {
                SharedValue::Word(word) if words == 1 => parts.push(word.clone()),
                SharedValue::Word(word) => parts.push(format!("{field} {word}")),
                SharedValue::Bool(true) => parts.push(field.clone()),
                SharedValue::Bool(false) => {}
                SharedValue::Node(_) | SharedValue::Null if !listed => {}
                SharedValue::Null => parts.push(format!("{field} null")),
                SharedValue::Node(to) => match self.node_of(value) {
                    Some(to) => parts.push(format!("{field} {}", self.name(to, chains))),
                    None => parts.push(format!("{field} @{to}")),
                },
            }
        }
        let several = self.nodes.iter().any(|other| other.of != node.of);
        let of = if several || parts.is_empty() { node.of.as_str() } else { "" };
        let text = match parts.is_empty() {
            true => format!("({of})"),
            false => format!("{of}({})", parts.join(", ")),
        };
        match self.is_named(at, chains) {
            true => format!("{}: {text}", self.name(at, chains)),
            false => text,
        }
    }

    /// The variables that refer to a node without beginning its chain.
    fn variables_at(&self, at: usize, chains: &[Chain<'_>]) -> Vec<&str> {
        let begins = |name: &str| {
            chains
                .iter()
                .any(|chain| chain.variable == Some(name) && chain.nodes.first() == Some(&at))
        };
        let here = self.variables.iter().filter(|(_, value)| self.node_of(value) == Some(at));
        here.map(|(name, _)| name.as_str()).filter(|name| !begins(name)).collect()
    }

    fn name(&self, at: usize, chains: &[Chain<'_>]) -> String {
        match self.variables_at(at, chains).as_slice() {
            [] => format!("@{at}"),
            names => names.join(", "),
        }
    }

    /// Whether something else than the node before it refers to a node.
    fn is_named(&self, at: usize, chains: &[Chain<'_>]) -> bool {
        let listed = |node: &SharedNode| {
            node.only_reference().is_none()
                && node.fields.iter().any(|(_, value)| self.node_of(value) == Some(at))
        };
        !self.variables_at(at, chains).is_empty()
            || chains.iter().any(|chain| chain.joins == Some(at))
            || self.nodes.iter().any(listed)
    }
}

impl SharedNode {
    /// Its reference, if it has only one: null counts as one.
    fn only_reference(&self) -> Option<&SharedValue> {
        let is_reference =
            |value: &&SharedValue| matches!(value, SharedValue::Node(_) | SharedValue::Null);
        let mut references = self.fields.iter().map(|(_, value)| value).filter(is_reference);
        references.next().filter(|_| references.next().is_none())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SharedValue::{Bool, Node, Null, Word};

    fn node(val: &str, next: SharedValue, marked: bool) -> SharedNode {
        let fields = [("val", Word(val.to_owned())), ("next", next), ("marked", Bool(marked))];
        SharedNode { of: "Node".to_owned(), fields: fields.map(|(n, v)| (n.to_owned(), v)).into() }
    }

    fn lines(variables: &[(&str, SharedValue)], nodes: Vec<SharedNode>) -> Vec<String> {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        SharedPicture { caption: String::new(), variables: variables.collect(), nodes }.lines()
    }

    #[test]
    fn a_list_is_one_line() {
        let nodes = vec![node("MIN", Node(1), false), node("1", Node(2), true)];
        let nodes = [nodes, vec![node("MAX", Null, false)]].concat();
        let variables = [("head", Node(0)), ("c", Node(1)), ("e", Word("1".to_owned()))];
        let drawn = lines(&variables, nodes);
        assert_eq!(drawn, ["head → (MIN) → c: (1, marked) → (MAX)", "e = 1"]);
    }

    #[test]
    fn what_was_unlinked_is_a_line_that_ends_in_the_list() {
        let nodes =
            vec![node("MIN", Node(2), false), node("1", Node(2), true), node("MAX", Null, false)];
        let drawn = lines(&[("head", Node(0)), ("c", Node(1))], nodes);
        assert_eq!(drawn, ["head → (MIN) → @2: (MAX)", "c → (1, marked) → @2"]);
    }

    #[test]
    fn other_shapes_are_named_references() {
        let pair = |left, right| SharedNode {
            of: "Tree".to_owned(),
            fields: vec![("left".to_owned(), left), ("right".to_owned(), right)],
        };
        let nodes = vec![pair(Node(1), Null), node("7", Node(1), false)];
        let drawn = lines(&[("root", Node(0)), ("top", Null), ("bad", Node(9))], nodes);
        let shown =
            ["root → Tree(left @1, right null)", "@1: Node(7) → @1", "top = null, bad = @9"];
        assert_eq!(drawn, shown);
    }

    #[test]
    fn several_values_have_their_names() {
        let fields = [("val", Word("1".to_owned())), ("stamp", Word("4".to_owned()))];
        let fields = fields.map(|(name, value)| (name.to_owned(), value)).into();
        let nodes = vec![SharedNode { of: "Cell".to_owned(), fields }];
        assert_eq!(lines(&[("x", Node(0))], nodes), ["x → (val 1, stamp 4)"]);
        let empty = SharedNode { of: "Cell".to_owned(), fields: Vec::new() };
        assert_eq!(lines(&[("x", Node(0))], vec![empty]), ["x → (Cell)"]);
    }
}
