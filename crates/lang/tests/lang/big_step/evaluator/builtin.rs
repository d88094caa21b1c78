//! The built-in functions that touch shared memory, allocate or choose.

use super::expression::wrapped;
use super::value::{Evaluated, in_expression};
use super::{Datum, Evaluator, Mistake, Object, Stop};
use linchpin_lang::syntax::ast::{BinaryOp, Expr, ExprKind, Ident, Range};

/// `choose` has at most so many ways.
const MAX_WAYS: u64 = 1 << 16;

impl<'m> Evaluator<'m> {
    pub(super) fn builtin(&mut self, name: &str, arguments: &'m [Expr]) -> Evaluated<Datum> {
        match (name, arguments) {
            ("unwrap", [value]) => match self.eval(value)? {
                Datum::Nothing => in_expression(Mistake::UnwrapOfNone),
                value => {
                    self.cover("unwrap");
                    Ok(value)
                }
            },
            ("int", [value]) => {
                self.cover("int(…)");
                self.eval(value)
            }
            ("choose", [range]) => {
                let ExprKind::Range(range) = &range.kind else { panic!("not a range") };
                self.choose_from(range)
            }
            ("cas", [place, old, new]) => match (&place.kind, &old.kind, &new.kind) {
                (ExprKind::Array(places), ExprKind::Array(olds), ExprKind::Array(news)) => {
                    self.cas(&refs(places), &refs(olds), &refs(news))
                }
                _ => self.cas(&[place], &[old], &[new]),
            },
            ("swap", [place, value]) => {
                let (places, mut values) = self.operands(&[place], &[value])?;
                self.begin_step();
                let word = self.locate(&places[0])?;
                let old = self.load(word).clone();
                self.store(word, values.remove(0));
                self.cover("swap");
                Ok(old)
            }
            ("faa", [place, value]) => {
                let (places, values) = self.operands(&[place], &[value])?;
                self.begin_step();
                let word = self.locate(&places[0])?;
                let old = self.load(word).int();
                let new = match self.wraps(word) {
                    Some(modulus) => {
                        self.cover("faa that wraps");
                        wrapped(BinaryOp::Add, old, values[0].int(), modulus)
                    }
                    None => old.checked_add(values[0].int()).ok_or(Mistake::Overflow)?,
                };
                self.store(word, Datum::Int(new));
                self.cover("faa");
                Ok(Datum::Int(old))
            }
            ("ll", [place]) => {
                let (places, _) = self.operands(&[place], &[])?;
                self.begin_step();
                let word = self.locate(&places[0])?;
                let thread = self.thread.expect("init has no thread");
                self.world_mut().threads[thread].links.push(word);
                self.cover("ll");
                Ok(self.load(word).clone())
            }
            ("sc", [place, value]) => {
                let (places, mut values) = self.operands(&[place], &[value])?;
                self.begin_step();
                let word = self.locate(&places[0])?;
                let thread = self.thread.expect("init has no thread");
                let linked = self.world.threads[thread].links.contains(&word);
                if linked {
                    self.store(word, values.remove(0));
                }
                self.cover(if linked { "sc succeeds" } else { "sc fails" });
                Ok(Datum::Bool(linked))
            }
            (other, _) => panic!("unknown function {other}"),
        }
    }

    fn cas(
        &mut self,
        places: &[&'m Expr],
        olds: &[&'m Expr],
        news: &[&'m Expr],
    ) -> Evaluated<Datum> {
        let values: Vec<&'m Expr> = olds.iter().chain(news).copied().collect();
        let (places, mut olds) = self.operands(places, &values)?;
        let news = olds.split_off(places.len());
        self.begin_step();
        let mut words = Vec::new();
        for place in &places {
            let word = self.locate(place)?;
            if words.contains(&word) {
                return Err(Mistake::RepeatedPlace.into());
            }
            words.push(word);
        }
        let holds = words.iter().zip(&olds).all(|(word, old)| {
            let old = self.word_type(*word).map_or(old.clone(), |ty| self.reduced(old.clone(), ty));
            *self.load(*word) == old
        });
        self.cover(match (holds, words.len()) {
            (true, 1) => "cas succeeds",
            (false, 1) => "cas fails",
            (true, _) => "cas of several words succeeds",
            (false, _) => "cas of several words fails",
        });
        if holds {
            for (word, new) in words.into_iter().zip(news) {
                self.store(word, new);
            }
        }
        Ok(Datum::Bool(holds))
    }

    fn choose_from(&mut self, range: &'m Range) -> Evaluated<Datum> {
        let from = self.eval(&range.from)?.int();
        let to = self.eval(&range.to)?.int();
        let last = match range.inclusive {
            true => Some(to),
            false => to.checked_sub(1),
        };
        let Some(last) = last.filter(|last| from <= *last) else {
            self.cover("choose from nothing");
            return Err(Stop::Blocked);
        };
        let ways = last.abs_diff(from).saturating_add(1);
        if ways > MAX_WAYS {
            return Err(Mistake::TooManyChoices.into());
        }
        let choice = self.choose(ways as u32)?;
        self.cover("choose");
        Ok(Datum::Int(from + i64::from(choice)))
    }

    pub(super) fn allocate(&mut self, name: &str, given: &'m [(Ident, Expr)]) -> Evaluated<Datum> {
        let of = self.declared.structs.iter().position(|known| known.name.name == name);
        let of = of.expect("a struct");
        let fields = &self.declared.structs[of].fields;
        let mut values: Vec<Datum> = fields.iter().map(|(_, ty)| self.default_of(ty)).collect();
        for (at, (field, value)) in given.iter().enumerate() {
            let value = self.eval(value).map_err(|stop| {
                let later: Vec<&'m Expr> = given[at + 1..].iter().map(|(_, value)| value).collect();
                self.or_later_faults(stop, &[], &later)
            })?;
            let position = fields.iter().position(|(name, _)| name.name == field.name);
            values[position.expect("a field of the struct")] = value;
        }
        self.acts += 1;
        let dead: Vec<usize> = (0..self.world.heap.len())
            .filter(|at| !self.world.heap[*at].live && self.world.heap[*at].of == of)
            .collect();
        let taken = match self.thread {
            Some(_) => self.choose(1 + dead.len() as u32)?,
            None => 0,
        };
        let object = Object { of, fields: values, live: true };
        let at = match taken {
            0 => {
                self.cover("new, fresh");
                self.world_mut().heap.push(object);
                self.world.heap.len() - 1
            }
            again => {
                self.cover("new, taken again");
                let at = dead[again as usize - 1];
                self.world_mut().heap[at] = object;
                at
            }
        };
        Ok(Datum::Reference(at))
    }

    pub(super) fn free(&mut self, object: &'m Expr) -> Evaluated<()> {
        let (_, values) = self.operands(&[], &[object])?;
        self.begin_step();
        let Datum::Reference(at) = values[0] else { return Err(Mistake::NullDereference.into()) };
        if !self.world.heap[at].live {
            return Err(Mistake::DoubleFree.into());
        }
        self.cover("free");
        if self.reuse {
            let world = self.world_mut();
            world.heap[at].live = false;
            world.heap[at].fields.clear();
            for thread in &mut world.threads {
                thread.links.retain(|link| !link.is_in(at));
            }
        }
        Ok(())
    }

    pub(super) fn lock(&mut self, place: &'m Expr) -> Evaluated<()> {
        let (places, _) = self.operands(&[place], &[])?;
        self.begin_step();
        let word = self.locate(&places[0])?;
        if *self.load(word) != Datum::Nothing {
            self.cover("lock waits");
            return Err(Stop::Blocked);
        }
        let thread = self.thread.expect("init has no thread");
        self.store(word, Datum::Int(thread as i64));
        self.cover("lock");
        Ok(())
    }

    /// `flush` and `persist`: without crashes they need their place and change nothing.
    pub(super) fn flush(&mut self, word: &'static str, place: &'m Expr) -> Evaluated<()> {
        let (places, _) = self.operands(&[place], &[])?;
        self.begin_step();
        self.locate(&places[0])?;
        self.cover(word);
        Ok(())
    }

    pub(super) fn unlock(&mut self, place: &'m Expr) -> Evaluated<()> {
        let (places, _) = self.operands(&[place], &[])?;
        self.begin_step();
        let word = self.locate(&places[0])?;
        let thread = self.thread.expect("init has no thread");
        match self.load(word) {
            Datum::Int(holder) if *holder == thread as i64 => {
                self.store(word, Datum::Nothing);
                self.cover("unlock");
                Ok(())
            }
            Datum::Int(holder) => Err(Mistake::UnlockNotHeld(Some(*holder)).into()),
            _ => Err(Mistake::UnlockNotHeld(None).into()),
        }
    }
}

fn refs(exprs: &[Expr]) -> Vec<&Expr> {
    exprs.iter().collect()
}
