//! A persistent map from blocks to what is known of them: copies share what they have in common.

use std::sync::Arc;

use super::clock::Part;

/// Bits of a block's number that one level takes.
const BITS: u32 = 5;
const FAN: usize = 1 << BITS;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Node {
    Inner([Option<Arc<Node>>; FAN]),
    Leaf([Option<Arc<Part>>; FAN]),
}

/// The map.
#[derive(Debug, Clone, Default)]
pub struct Blocks {
    root: Option<Arc<Node>>,
    /// Levels of inner nodes over the leaves.
    depth: u32,
}

impl PartialEq for Blocks {
    fn eq(&self, other: &Self) -> bool {
        match (&self.root, &other.root) {
            (None, None) => true,
            (Some(a), Some(b)) => self.depth == other.depth && (Arc::ptr_eq(a, b) || a == b),
            _ => false,
        }
    }
}

impl Eq for Blocks {}

impl Blocks {
    /// Whether nothing is known of any.
    pub fn is_empty(&self) -> bool {
        self.root.is_none()
    }

    /// What is known of a block.
    pub fn get(&self, block: u32) -> Option<&Arc<Part>> {
        if !fits(block, self.depth) {
            return None;
        }
        let mut node = self.root.as_ref()?;
        for level in (1..=self.depth).rev() {
            let Node::Inner(children) = &**node else { return None };
            node = children[digit(block, level)].as_ref()?;
        }
        let Node::Leaf(parts) = &**node else { return None };
        parts[digit(block, 0)].as_ref()
    }

    /// Learns more of a block.
    pub fn learn(&mut self, block: u32, part: &Part) {
        match self.get(block) {
            Some(known) if known.covers(part) => {}
            Some(known) => {
                let mut both = Part::clone(known);
                both.join(part);
                self.put(block, Some(Arc::new(both)));
            }
            None => self.put(block, Some(Arc::new(part.clone()))),
        }
    }

    /// Forgets a block, and says what was known of it.
    pub fn take(&mut self, block: u32) -> Option<Arc<Part>> {
        let part = self.get(block).cloned()?;
        self.put(block, None);
        Some(part)
    }

    fn put(&mut self, block: u32, part: Option<Arc<Part>>) {
        self.grow(block);
        let depth = self.depth;
        let root = self.root.get_or_insert_with(|| Arc::new(Node::empty(depth)));
        Node::put(root, depth, block, part);
    }

    fn grow(&mut self, block: u32) {
        while !fits(block, self.depth) {
            self.depth += 1;
            if let Some(root) = self.root.take() {
                let mut children = [const { None }; FAN];
                children[0] = Some(root);
                self.root = Some(Arc::new(Node::Inner(children)));
            }
        }
    }

    /// Whether this knows all that another does, of all blocks but one.
    pub fn covers(&self, other: &Self, but: Option<u32>) -> bool {
        match (&self.root, &other.root) {
            (_, None) => true,
            (Some(a), Some(b)) if self.depth == other.depth => Node::covers(a, b, 0, but),
            (_, Some(b)) => {
                let mut all = true;
                b.each(0, &mut |block, part| {
                    all &= Some(block) == but || self.get(block).is_some_and(|a| a.covers(part));
                });
                all
            }
        }
    }

    /// Learns all that another knows.
    pub fn join(&mut self, other: &Self) {
        let Some(theirs) = &other.root else { return };
        let Some(ours) = &mut self.root else {
            *self = other.clone();
            return;
        };
        if self.depth == other.depth {
            Node::join(ours, theirs);
        } else {
            theirs.each(0, &mut |block, part| self.learn(block, part));
        }
    }
}

fn fits(block: u32, depth: u32) -> bool {
    block.checked_shr(BITS * (depth + 1)).unwrap_or(0) == 0
}

fn digit(block: u32, level: u32) -> usize {
    (block >> (BITS * level)) as usize & (FAN - 1)
}

impl Node {
    fn empty(level: u32) -> Self {
        if level == 0 {
            Self::Leaf([const { None }; FAN])
        } else {
            Self::Inner([const { None }; FAN])
        }
    }

    fn put(node: &mut Arc<Self>, level: u32, block: u32, part: Option<Arc<Part>>) {
        match Arc::make_mut(node) {
            Self::Leaf(parts) => parts[digit(block, 0)] = part,
            Self::Inner(children) => {
                let child = &mut children[digit(block, level)];
                let child = child.get_or_insert_with(|| Arc::new(Self::empty(level - 1)));
                Self::put(child, level - 1, block, part);
            }
        }
    }

    fn each(&self, first: u32, f: &mut impl FnMut(u32, &Part)) {
        match self {
            Self::Leaf(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    if let Some(part) = part {
                        f(first << BITS | at as u32, part);
                    }
                }
            }
            Self::Inner(children) => {
                for (at, child) in children.iter().enumerate() {
                    if let Some(child) = child {
                        child.each(first << BITS | at as u32, f);
                    }
                }
            }
        }
    }

    fn covers(a: &Arc<Self>, b: &Arc<Self>, first: u32, but: Option<u32>) -> bool {
        if Arc::ptr_eq(a, b) {
            return true;
        }
        let number = |at: usize| first << BITS | at as u32;
        match (&**a, &**b) {
            (Self::Leaf(a), Self::Leaf(b)) => {
                a.iter().zip(b).enumerate().all(|(at, pair)| match pair {
                    (_, None) => true,
                    (Some(a), Some(b)) if Arc::ptr_eq(a, b) => true,
                    _ if Some(number(at)) == but => true,
                    (Some(a), Some(b)) => a.covers(b),
                    (None, Some(_)) => false,
                })
            }
            (Self::Inner(a), Self::Inner(b)) => {
                a.iter().zip(b).enumerate().all(|(at, pair)| match pair {
                    (_, None) => true,
                    (Some(a), Some(b)) => Self::covers(a, b, number(at), but),
                    (None, Some(b)) => b.only(number(at), but),
                })
            }
            _ => false,
        }
    }

    /// Whether a node that the other side lacks holds no more than the block that doesn't count.
    fn only(&self, first: u32, but: Option<u32>) -> bool {
        let mut only = true;
        self.each(first, &mut |block, _| only &= Some(block) == but);
        only
    }

    fn join(ours: &mut Arc<Self>, theirs: &Arc<Self>) {
        if Arc::ptr_eq(ours, theirs) || Self::covers(ours, theirs, 0, None) {
            return;
        }
        match (Arc::make_mut(ours), &**theirs) {
            (Self::Leaf(ours), Self::Leaf(theirs)) => {
                for (our, their) in ours.iter_mut().zip(theirs) {
                    join_part(our, their);
                }
            }
            (Self::Inner(ours), Self::Inner(theirs)) => {
                for (our, their) in ours.iter_mut().zip(theirs) {
                    match (our, their) {
                        (_, None) => {}
                        (Some(our), Some(their)) => Self::join(our, their),
                        (our, Some(their)) => *our = Some(Arc::clone(their)),
                    }
                }
            }
            _ => {}
        }
    }
}

fn join_part(ours: &mut Option<Arc<Part>>, theirs: &Option<Arc<Part>>) {
    match (&mut *ours, theirs) {
        (_, None) => {}
        (Some(our), Some(their)) if Arc::ptr_eq(our, their) || our.covers(their) => {}
        (Some(our), Some(their)) if their.covers(our) => *our = Arc::clone(their),
        (Some(our), Some(their)) => Arc::make_mut(our).join(their),
        (None, Some(their)) => *ours = Some(Arc::clone(their)),
    }
}
