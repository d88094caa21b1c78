//! The truth tables of Kleene's logic and the information order.

use linchpin_kleene::Truth::{self, False, Half, True};

/// What a value may be.
fn meanings(value: Truth) -> Vec<bool> {
    match value {
        False => vec![false],
        Half => vec![false, true],
        True => vec![true],
    }
}

/// The best value for a set of meanings.
fn best(mut values: Vec<bool>) -> Truth {
    values.dedup();
    values.sort_unstable();
    values.dedup();
    if values.len() == 2 { Half } else { Truth::from(values[0]) }
}

#[test]
fn connectives_are_the_best_approximations() {
    let lifted = |a: Truth, b: Truth, f: &dyn Fn(bool, bool) -> bool| {
        let pairs =
            meanings(a).into_iter().flat_map(|x| meanings(b).into_iter().map(move |y| (x, y)));
        best(pairs.map(|(x, y)| f(x, y)).collect())
    };
    for a in Truth::ALL {
        assert_eq!(a.negated(), best(meanings(a).into_iter().map(|x| !x).collect()));
        for b in Truth::ALL {
            assert_eq!(a.and(b), lifted(a, b, &|x, y| x && y));
            assert_eq!(a.or(b), lifted(a, b, &|x, y| x || y));
            assert_eq!(a.implies(b), lifted(a, b, &|x, y| !x || y));
        }
    }
}

#[test]
fn information_order_and_join_are_inclusion_and_union_of_meanings() {
    for a in Truth::ALL {
        for b in Truth::ALL {
            let included = meanings(a).iter().all(|x| meanings(b).contains(x));
            assert_eq!(a.approximated_by(b), included, "{a} ⊑ {b}");
            assert_eq!(a.join(b), best([meanings(a), meanings(b)].concat()));
        }
    }
    assert!(!Half.approximated_by(True) && !False.approximated_by(True));
}
