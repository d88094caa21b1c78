//! Whether a run that violates one condition violates another one too: the same states, with what
//! the other condition allows beside them.

use crate::model::ModelProduct;
use crate::product::{Product, To};
use crate::search::Wrong;
use crate::switches::WrongPath;
use rustc_hash::FxHashMap;

/// The path as the product has it, if it goes wrong there. `path` is [whole](ModelProduct::whole);
/// it must come from a product that differs only in the condition.
pub(crate) fn goes_wrong_along(
    product: &ModelProduct,
    path: &[(Vec<u8>, u32)],
) -> Option<WrongPath> {
    let mut worker = product.worker();
    let initial = product.initial();
    if product.whole(std::slice::from_ref(&initial))[0].0 != path.first()?.0 {
        return None;
    }
    // For each state of the path, what may stand beside it, and what comes before that.
    let mut ways: Vec<FxHashMap<u32, u32>> = vec![FxHashMap::from_iter([(initial.1, 0)])];
    let mut states = vec![initial.0];
    for (target, _) in &path[1..] {
        let mut next: FxHashMap<u32, u32> = FxHashMap::default();
        let (from, mut to) = (states.last()?, None);
        for &set in ways.last()?.keys() {
            let mut found = Vec::new();
            product.expand(&mut worker, from, set, &mut |step| {
                if let To::State { bytes, set, .. } = step.to
                    && target.starts_with(bytes)
                {
                    found.push((bytes.to_vec(), set));
                }
            });
            for (whole, (bytes, after)) in product.whole(&found).into_iter().zip(found) {
                if whole.0 == *target {
                    next.entry(after).or_insert(set);
                    to = Some(bytes);
                }
            }
        }
        states.push(to?);
        ways.push(next);
    }
    let last = states.last()?;
    let wrong = ways.last()?.keys().copied().find(|&set| {
        let mut wrong = false;
        product.expand(&mut worker, last, set, &mut |step| {
            wrong |= matches!(step.to, To::Unexplained);
        });
        wrong
    });
    let mut set = wrong?;
    let mut back = Vec::new();
    for (state, ways) in states.into_iter().zip(&ways).rev() {
        back.push((state, set));
        set = ways[&set];
    }
    back.reverse();
    Some((back, Wrong::Unexplained))
}
