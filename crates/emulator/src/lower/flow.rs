//! Control flow of a function: where diverged lanes meet again, the immediate post-dominator of the
//! branch that parted them.

/// No node.
const NONE: usize = usize::MAX;

/// Immediate post-dominators of the instructions `0..successors.len()`; the successor
/// `successors.len()` is the exit. `None` where only the exit post-dominates.
///
/// The algorithm is that of Cooper, Harvey and Kennedy, on the reversed graph.
pub(crate) fn immediate_postdominators(successors: &[Vec<usize>]) -> Vec<Option<usize>> {
    let exit = successors.len();
    let mut predecessors = vec![Vec::new(); exit + 1];
    for (node, nexts) in successors.iter().enumerate() {
        for next in nexts {
            predecessors[*next].push(node);
        }
    }
    let order = postorder(&predecessors, exit);
    let mut rank = vec![NONE; exit + 1];
    for (index, node) in order.iter().enumerate() {
        rank[*node] = index;
    }
    let mut idom = vec![NONE; exit + 1];
    idom[exit] = exit;
    let mut changed = true;
    while changed {
        changed = false;
        for node in order.iter().rev().copied().filter(|node| *node != exit) {
            let mut best = NONE;
            for next in successors[node].iter().copied().filter(|next| idom[*next] != NONE) {
                best = if best == NONE { next } else { meet(&idom, &rank, best, next) };
            }
            if best != NONE && idom[node] != best {
                idom[node] = best;
                changed = true;
            }
        }
    }
    (0..exit).map(|node| Some(idom[node]).filter(|found| *found < exit)).collect()
}

fn meet(idom: &[usize], rank: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while rank[a] < rank[b] {
            a = idom[a];
        }
        while rank[b] < rank[a] {
            b = idom[b];
        }
    }
    a
}

/// Nodes in postorder of a depth-first walk from `root`; without recursion, since functions are
/// long.
fn postorder(edges: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut seen = vec![false; edges.len()];
    let mut order = Vec::with_capacity(edges.len());
    let mut stack = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = stack.pop() {
        if let Some(child) = edges[node].get(next) {
            stack.push((node, next + 1));
            if !seen[*child] {
                seen[*child] = true;
                stack.push((*child, 0));
            }
        } else {
            order.push(node);
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::immediate_postdominators;

    #[test]
    fn both_sides_of_a_diamond_meet_after_it() {
        // 0 branches to 1 or 2, both go to 3, which leaves.
        let found = immediate_postdominators(&[vec![1, 2], vec![3], vec![3], vec![4]]);
        assert_eq!(found, [Some(3), Some(3), Some(3), None]);
    }

    #[test]
    fn an_early_return_meets_nowhere() {
        // 0 leaves through 1 or goes on to 2.
        let found = immediate_postdominators(&[vec![1, 2], vec![3], vec![3]]);
        assert_eq!(found, [None, None, None]);
    }

    #[test]
    fn a_loop_meets_at_its_exit() {
        // 1 is the loop's head, 2 its end: it goes back to 1 or on to 3.
        let found = immediate_postdominators(&[vec![1], vec![2, 3], vec![1, 3], vec![4]]);
        assert_eq!(found, [Some(1), Some(3), Some(3), None]);
    }

    #[test]
    fn a_loop_that_never_ends_has_no_meeting_point_and_no_hang() {
        let found = immediate_postdominators(&[vec![1, 2], vec![1], vec![3]]);
        assert_eq!(found[1], None);
        assert_eq!(found[0], Some(2));
    }
}
