//! How each configuration came about: the operations in the order in which they took effect, as a
//! tree of shared prefixes.

/// The step before the first.
pub(crate) const START: u32 = u32::MAX;

/// A tree of steps. Each step is an operation that takes effect after those of its parent.
#[derive(Clone, Debug)]
pub(crate) struct Steps<T> {
    /// The operation and the parent.
    ///
    /// INVARIANT: a parent stands before its children.
    nodes: Vec<(T, u32)>,
    kept: usize,
}

impl<T> Default for Steps<T> {
    fn default() -> Steps<T> {
        Steps { nodes: Vec::new(), kept: 0 }
    }
}

impl<T: Copy> Steps<T> {
    /// The step in which `op` takes effect after `parent`.
    pub(crate) fn push(&mut self, op: T, parent: u32) -> u32 {
        self.nodes.push((op, parent));
        self.nodes.len() as u32 - 1
    }

    /// The operations up to a step, in order.
    pub(crate) fn path(&self, mut step: u32) -> Vec<T> {
        let mut path = Vec::new();
        while step != START {
            let (op, parent) = self.nodes[step as usize];
            path.push(op);
            step = parent;
        }
        path.reverse();
        path
    }

    /// Whether so much was added that forgetting what is not needed pays.
    pub(crate) fn should_forget(&self) -> bool {
        self.nodes.len() > 2 * self.kept + (1 << 16)
    }

    /// Forgets every step that leads to none of `roots`, which are renumbered.
    pub(crate) fn forget<'a>(&mut self, roots: impl Iterator<Item = &'a mut u32>) {
        let mut roots: Vec<&mut u32> = roots.collect();
        let mut number = vec![START; self.nodes.len()];
        for root in &roots {
            let mut step = **root;
            while step != START && number[step as usize] == START {
                number[step as usize] = 0;
                step = self.nodes[step as usize].1;
            }
        }
        let mut kept = 0;
        for step in 0..self.nodes.len() {
            if number[step] == START {
                continue;
            }
            let (op, parent) = self.nodes[step];
            let parent = if parent == START { START } else { number[parent as usize] };
            self.nodes[kept] = (op, parent);
            number[step] = kept as u32;
            kept += 1;
        }
        self.nodes.truncate(kept);
        self.kept = kept;
        for root in &mut roots {
            if **root != START {
                **root = number[**root as usize];
            }
        }
    }

    /// About how many bytes this keeps.
    pub(crate) fn bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<(T, u32)>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forgetting_keeps_the_paths_to_the_roots() {
        let mut steps: Steps<u32> = Steps::default();
        let one = steps.push(1, START);
        let _lost = steps.push(2, one);
        let mut three = steps.push(3, one);
        let mut none = START;
        steps.forget([&mut three, &mut none].into_iter());
        assert_eq!(steps.path(three), [1, 3]);
        assert_eq!(steps.path(none), [0; 0]);
        assert_eq!(steps.nodes.len(), 2);
    }
}
