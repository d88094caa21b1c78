//! Sets with one lock whose updates take their effect in several steps, and whose readers look at
//! more than the list. Under the lock all of them may be linearizable; alone, with locks set aside,
//! readers see what is half done.

/// What an update does under the lock, and what `contains` makes of what it finds.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Steps of `add` before and after the new node is linked; one of them with the point.
    pub add: Vec<String>,
    /// Steps of `remove`, of the node `c`.
    pub remove: Vec<String>,
    /// What `contains` does at `c`, once it has come there.
    pub contains: String,
    /// Whether `contains` takes the lock.
    pub locks: bool,
}

/// The step with which `add` links the new node.
pub const LINK: &str = "atomic { p.next = new Node { val: e, next: c }; }";
/// The step with which `remove` unlinks a node.
pub const UNLINK: &str = "atomic { p.next = c.next; }";

impl Parts {
    /// The set that is right: `add` links, `remove` unlinks, `contains` compares keys.
    pub fn right(locks: bool) -> Parts {
        Parts {
            add: vec![format!("#[lin] {LINK}")],
            remove: vec![format!("#[lin] {UNLINK}")],
            contains: "let k = c.val; return k == e;".to_owned(),
            locks,
        }
    }

    /// The model.
    pub fn source(&self) -> String {
        let Parts { add, remove, contains, locks } = self;
        let (add, remove) = (add.join("\n    "), remove.join("\n    "));
        let contains = match locks {
            true => contains.replace("return", "unlock(l); return"),
            false => contains.clone(),
        };
        let lock = if *locks { "lock(l);" } else { "" };
        format!(
            "spec set;
struct Node {{ val: int, next: Node, mark: bool, other: bool }}
shared head: Node;
shared busy: bool = false;
shared l: lock;
init {{
    let tail = new Node {{ val: MAX }};
    head = new Node {{ val: MIN, next: tail }};
}}
fn locate(e: int) -> (Node, Node) {{
    let p = head;
    let c = p.next;
    while c.val < e {{
        p = c;
        c = c.next;
    }}
    return (p, c);
}}
op add(e: int) -> bool {{
    lock(l);
    let (p, c) = locate(e);
    #[lin(when k == e)] let k = c.val;
    if k == e {{
        unlock(l);
        return false;
    }}
    {add}
    unlock(l);
    return true;
}}
op remove(e: int) -> bool {{
    lock(l);
    let (p, c) = locate(e);
    #[lin(when k != e)] let k = c.val;
    if k != e {{
        unlock(l);
        return false;
    }}
    {remove}
    unlock(l);
    return true;
}}
op contains(e: int) -> bool {{
    {lock}
    let (_, c) = locate(e);
    {contains}
}}
bounds {{ threads: 2, ops: 2, values: 2 }}
"
        )
    }
}
