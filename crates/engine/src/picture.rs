//! Abstract states to look at: what an engine that compares heaps under abstraction was in when its
//! proof failed, or what it kept when the proof went through.
//!
//! A picture is data. `report` draws it; [`Picture::lines`] is its form for terminals.

use std::fmt;

/// An abstract state of a candidate and the reference that runs beside it (paper 001, Figure 3.1).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The move that is made from here, if one is shown.
    pub next: Option<PictureMove>,
    /// Why that move cannot be explained, if it cannot.
    pub failure: Option<String>,
    /// The threads.
    pub threads: Vec<PictureThread>,
    /// What the variables hold.
    pub names: Vec<Name>,
    /// The nodes.
    pub nodes: Vec<PictureNode>,
    /// Their links.
    pub links: Vec<PictureLink>,
}

/// A move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureMove {
    /// The thread that moves; `None` if it is one that the picture does not show.
    pub thread: Option<usize>,
    /// Its operation, if it is known.
    pub operation: Option<String>,
    /// The source line.
    pub line: Option<u32>,
    /// What it does.
    pub text: String,
}

/// A thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureThread {
    /// Its number.
    pub thread: usize,
    /// The operation that it executes and the line at which it is; `None` between operations.
    pub at: Option<(String, u32)>,
    /// Where it stands.
    pub stands: Stands,
    /// The answers that change nothing and that would have been right at some instant since the
    /// call.
    pub may_answer: Vec<String>,
}

/// Where an operation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stands {
    /// Before its linearization point.
    Before,
    /// After it; what the reference answered, if it answers.
    After(Option<String>),
    /// Its calls are not judged: they are about another key than K.
    Aside,
}

/// Whose a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Shared.
    Shared,
    /// Of the reference.
    Reference,
    /// Of the analysis: where the arbitrary key K belongs.
    Key,
    /// Of the thread with this number.
    Thread(usize),
}

/// A variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Whose it is.
    pub scope: Scope,
    /// Its name.
    pub name: String,
    /// What it holds.
    pub holds: Holds,
}

/// What a variable holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A reference to a node.
    Node(usize),
    /// What a field of a node was initialised with.
    Field(usize, String),
    /// Anything else.
    Word(String),
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NodeKind {
    /// A duo-object whose links agree.
    Uniform,
    /// A duo-object whose links may differ.
    Nonuniform,
    /// A node of the candidate that is not correlated.
    Candidate,
    /// A node of the reference that is not correlated.
    Reference,
}

/// How the key of a node compares with the arbitrary key K.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyClass {
    /// Below every key.
    Least,
    /// Below K.
    Below,
    /// K.
    Equal,
    /// Above K.
    Above,
    /// Above every key.
    Greatest,
}

/// Who holds the lock of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LockHolder {
    /// The thread with this number.
    Thread(usize),
    /// A thread that the picture does not show.
    Another,
    /// The reference.
    Reference,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureNode {
    /// What it stands for.
    pub kind: NodeKind,
    /// Whether it stands for any number of nodes.
    pub summary: bool,
    /// Its struct.
    pub of: String,
    /// Its key.
    pub key: Option<KeyClass>,
    /// Its other values, by field, where the state is a concrete one.
    pub values: Vec<(String, String)>,
    /// Its truth values, by field.
    pub marks: Vec<(String, bool)>,
    /// Its locks that are held, by field.
    pub locks: Vec<(String, LockHolder)>,
    /// Whether it is in the list that is walked.
    pub in_list: bool,
    /// The thread that alone can reach it.
    pub private_to: Option<usize>,
}

/// On which side a link is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinkSide {
    /// Both: the link of a uniform duo-object.
    Both,
    /// The candidate's.
    Candidate,
    /// The reference's.
    Reference,
}

/// Where a link goes, or may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PictureLink {
    /// The node.
    pub from: usize,
    /// Which side.
    pub side: LinkSide,
    /// The field.
    pub field: String,
    /// The node to which it goes; `None` for null.
    pub to: Option<usize>,
    /// Whether it surely goes there.
    pub certain: bool,
}

impl fmt::Display for KeyClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            KeyClass::Least => "key -∞",
            KeyClass::Below => "key < K",
            KeyClass::Equal => "key = K",
            KeyClass::Above => "key > K",
            KeyClass::Greatest => "key +∞",
        })
    }
}

impl fmt::Display for LockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LockHolder::Thread(thread) => write!(f, "thread {thread}"),
            LockHolder::Another => f.write_str("another thread"),
            LockHolder::Reference => f.write_str("the reference"),
        }
    }
}

impl PictureNode {
    /// What is definite about it, beyond its kind: `key < K`, `marked`, `lock: thread 0`.
    pub fn facts(&self) -> Vec<String> {
        let mut facts: Vec<String> = self.key.iter().map(ToString::to_string).collect();
        facts.extend(self.values.iter().map(|(field, value)| format!("{field} = {value}")));
        let mark = |(field, set): &(String, bool)| match set {
            true => field.clone(),
            false => format!("not {field}"),
        };
        facts.extend(self.marks.iter().map(mark));
        facts.extend(self.locks.iter().map(|(field, holder)| format!("{field}: {holder}")));
        if self.in_list {
            facts.push("in the list".to_owned());
        }
        if let Some(thread) = self.private_to {
            facts.push(format!("private to thread {thread}"));
        }
        facts
    }
}

impl PictureMove {
    /// `thread 0 · push · line 22: top := x`.
    pub fn caption(&self) -> String {
        let mut caption = match self.thread {
            Some(thread) => format!("thread {thread}"),
            None => "another thread".to_owned(),
        };
        if let Some(operation) = &self.operation {
            caption += &format!(" · {operation}");
        }
        if let Some(line) = self.line {
            caption += &format!(" · line {line}");
        }
        if !self.text.is_empty() {
            caption += &format!(": {}", self.text);
        }
        caption
    }
}

impl PictureThread {
    /// `thread 0: push, line 22, before its point`.
    pub fn caption(&self) -> String {
        let Some((operation, line)) = &self.at else {
            return format!("thread {}: between two operations", self.thread);
        };
        let stands = match &self.stands {
            Stands::Before => "before its linearization point".to_owned(),
            Stands::After(None) => "after its linearization point".to_owned(),
            Stands::After(Some(answer)) => {
                format!("after its linearization point, the reference answered {answer}")
            }
            Stands::Aside => "called with another key than K".to_owned(),
        };
        let may = match self.may_answer.is_empty() {
            true => String::new(),
            false => format!(", may answer {}", self.may_answer.join(" or ")),
        };
        format!("thread {}: {operation}, line {line}, {stands}{may}", self.thread)
    }
}

impl Picture {
    /// What a node is called: `@0`, or `@0*` if it is a summary.
    pub fn label(&self, node: usize) -> String {
        match self.nodes.get(node).is_some_and(|node| node.summary) {
            true => format!("@{node}*"),
            false => format!("@{node}"),
        }
    }

    /// The names of a node, by whose they are: `top`, `topʳ`, `thread 0: t, x`.
    pub fn tags(&self, node: usize) -> Vec<(Scope, String)> {
        let mut tags: Vec<(Scope, String)> = Vec::new();
        for name in &self.names {
            let text = match &name.holds {
                Holds::Node(at) if *at == node => name.name.clone(),
                Holds::Field(at, field) if *at == node => format!("{} = {field}", name.name),
                _ => continue,
            };
            match tags.iter_mut().find(|(scope, _)| *scope == name.scope) {
                Some((_, tag)) => *tag += &format!(", {text}"),
                None => tags.push((name.scope, text)),
            }
        }
        tags.sort_by_key(|(scope, _)| *scope);
        for (scope, tag) in &mut tags {
            if let Scope::Thread(thread) = scope {
                *tag = format!("thread {thread}: {tag}");
            }
        }
        tags
    }

    /// The variables that name no node: `top = null`.
    pub fn words(&self) -> Vec<(Scope, String)> {
        let mut words: Vec<(Scope, String)> = Vec::new();
        for name in &self.names {
            if let Holds::Word(word) = &name.holds {
                // Parameters of functions that were inlined have the names of those they are
                // called with.
                let text = format!("{} = {word}", name.name);
                if !words.contains(&(name.scope, text.clone())) {
                    words.push((name.scope, text));
                }
            }
        }
        words.sort_by_key(|(scope, _)| *scope);
        words
    }

    /// The state as text: the threads, the variables that name no node, then one line a node.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for thread in &self.threads {
            let own = |(scope, _): &&(Scope, String)| *scope == Scope::Thread(thread.thread);
            let words = self.words();
            let words: Vec<&str> =
                words.iter().filter(own).map(|(_, text)| text.as_str()).collect();
            let words =
                if words.is_empty() { String::new() } else { format!("; {}", words.join(", ")) };
            lines.push(format!("{}{words}", thread.caption()));
        }
        let words = self.words();
        let common = words.iter().filter(|(scope, _)| !matches!(scope, Scope::Thread(_)));
        let common: Vec<&str> = common.map(|(_, text)| text.as_str()).collect();
        if !common.is_empty() {
            lines.push(common.join(", "));
        }
        lines.extend((0..self.nodes.len()).map(|node| self.node_line(node)));
        lines
    }

    fn node_line(&self, at: usize) -> String {
        let node = &self.nodes[at];
        let kind = match node.kind {
            NodeKind::Uniform => "duo ~",
            NodeKind::Nonuniform => "duo",
            NodeKind::Candidate => "candidate",
            NodeKind::Reference => "reference",
        };
        let mut line = format!("{:<4}{kind:<10}", self.label(at));
        let tags: Vec<String> = self.tags(at).into_iter().map(|(_, tag)| tag).collect();
        let mut parts = Vec::new();
        if !tags.is_empty() {
            parts.push(format!("{{{}}}", tags.join("; ")));
        }
        parts.extend(node.facts());
        parts.extend(self.targets(at));
        line += &parts.join(", ");
        line.trim_end().to_owned()
    }

    /// `next → @1* or null`, once for each link of each side.
    fn targets(&self, node: usize) -> Vec<String> {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for link in self.links.iter().filter(|link| link.from == node) {
            let side = if link.side == LinkSide::Reference { "ʳ" } else { "" };
            let field = format!("{}{side}", link.field);
            let to = link.to.map_or_else(|| "null".to_owned(), |to| self.label(to));
            match all.iter_mut().find(|(other, _)| *other == field) {
                Some((_, targets)) => targets.push(to),
                None => all.push((field, vec![to])),
            }
        }
        all.iter().map(|(field, to)| format!("{field} → {}", to.join(" or "))).collect()
    }
}
