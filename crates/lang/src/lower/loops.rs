//! Strongly connected components, in linear time: which places of the code lie on a common loop.

/// A number for each node, the same for two nodes if and only if each can be reached from the
/// other.
///
/// Kosaraju's algorithm, without recursion: nodes in the order in which a search leaves them, then
/// backwards from the last.
pub(super) fn components(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut predecessors = vec![Vec::new(); successors.len()];
    for (node, next) in successors.iter().enumerate() {
        next.iter().for_each(|next| predecessors[*next].push(node));
    }
    let mut component = vec![usize::MAX; successors.len()];
    for root in left_in_order(successors).into_iter().rev() {
        let mut todo = vec![root];
        while let Some(node) = todo.pop() {
            if component[node] == usize::MAX {
                component[node] = root;
                todo.extend(&predecessors[node]);
            }
        }
    }
    component
}

/// The nodes in the order in which a depth-first search leaves them.
fn left_in_order(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(successors.len());
    let mut seen = vec![false; successors.len()];
    for root in 0..successors.len() {
        let mut open = Vec::new();
        if !std::mem::replace(&mut seen[root], true) {
            open.push((root, 0));
        }
        while let Some((node, next)) = open.last_mut() {
            match successors[*node].get(*next) {
                Some(&child) => {
                    *next += 1;
                    if !std::mem::replace(&mut seen[child], true) {
                        open.push((child, 0));
                    }
                }
                None => {
                    order.push(*node);
                    open.pop();
                }
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::components;

    #[test]
    fn nodes_on_a_common_loop_share_a_component() {
        // 0 -> 1 <-> 2 -> 3 -> 4 -> 5 -> 3, 6 alone, 7 with itself
        let successors = [vec![1], vec![2], vec![1, 3], vec![4], vec![5], vec![3], vec![], vec![7]];
        let found = components(&successors);
        for (a, b, together) in
            [(1, 2, true), (3, 4, true), (4, 5, true), (0, 1, false), (2, 3, false), (6, 7, false)]
        {
            assert_eq!(found[a] == found[b], together, "{a} and {b}");
        }
    }
}
