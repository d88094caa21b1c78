//! The reads, from the one that sees least to the one that sees most: whether each sees all that
//! the one before did.

use super::{Fault, Found, Judge, Step};
use linchpin_history_data::OpId;
use linchpin_spec::Value;

/// The groups so far, while lists come from the shortest to the longest.
pub(super) struct Growing<'a> {
    judge: &'a Judge<'a>,
    /// Whether each value is added by an operation or there at the start.
    pub(super) added: Vec<bool>,
    /// The last list that has each value, by number from 1.
    met: Vec<u32>,
    lists: u32,
    pub(super) first: Vec<Option<u32>>,
    pub(super) groups: Vec<Vec<OpId>>,
    /// How many values the last group sees.
    size: usize,
}

impl<'a> Growing<'a> {
    pub(super) fn new(judge: &'a Judge<'a>) -> Growing<'a> {
        let count = judge.count();
        let (mut added, mut first) = (vec![false; count], vec![None; count]);
        for member in &judge.members {
            (added[*member], first[*member]) = (true, Some(0));
        }
        let (met, groups, size) = (vec![0; count], vec![Vec::new()], judge.members.len());
        Growing { judge, added, met, lists: 0, first, groups, size }
    }

    /// Takes the reads of one list, which is not shorter than those before.
    pub(super) fn push(&mut self, reads: Vec<OpId>, list: &[Value]) -> Found<()> {
        let Some(&read) = reads.first() else { return Ok(Ok(())) };
        self.lists += 1;
        let group = u32::try_from(self.groups.len()).unwrap_or(u32::MAX / 2);
        let (mut old, mut new) = (0, None);
        for value in list {
            self.judge.poll.step()?;
            let number = self.judge.number(value).filter(|number| self.added[*number]);
            let Some(number) = number else {
                return Ok(Err(Fault::FromNowhere(read, value.clone())));
            };
            if std::mem::replace(&mut self.met[number], self.lists) == self.lists {
                return Ok(Err(Fault::Twice(read, value.clone())));
            }
            match self.first[number] {
                Some(_) => old += 1,
                None => {
                    self.first[number] = Some(group);
                    new = Some(number);
                }
            }
        }
        if old < self.size {
            return Ok(Err(self.missing(read, group, new)));
        }
        match self.groups.last_mut() {
            Some(last) if new.is_none() && !last.is_empty() => last.extend(reads),
            _ => self.groups.push(reads),
        }
        self.size = list.len();
        Ok(Ok(()))
    }

    /// What is wrong if the read lacks something that the group before sees. As its list is not
    /// shorter, it has something new, unless what it lacks was there at the start.
    fn missing(&self, read: OpId, group: u32, new: Option<usize>) -> Fault {
        let judge = self.judge;
        let lacks = |number: &usize| {
            self.met[*number] != self.lists && self.first[*number].is_some_and(|at| at < group)
        };
        if let Some(member) = judge.members.iter().find(|number| lacks(number)) {
            return Fault::LacksInitial(read, judge.value(*member));
        }
        let missing = (0..self.first.len()).find(lacks).unwrap_or_default();
        let (value, other) = (judge.value(missing), judge.value(new.unwrap_or_default()));
        let adds = |id: &OpId| matches!(judge.step(*id), Step::Add(it) if it.index() == missing);
        let lost = judge.history.ids().find(|id| adds(id) && judge.is_before(*id, read));
        if let Some(add) = lost {
            return Fault::Lost { add, value, read };
        }
        let has = self.groups.last().and_then(|reads| reads.first()).copied().unwrap_or(read);
        if judge.is_before(has, read) {
            Fault::Vanished { has, value, lacks: read }
        } else if judge.is_before(read, has) {
            Fault::Vanished { has: read, value: other, lacks: has }
        } else {
            Fault::Crossed([(has, value), (read, other)])
        }
    }
}
