//! Singly linked lists: the precision that the analysis of lists rests on.

use linchpin_kleene::{
    Assignment, Binary, Constraint, Declaration, Focus, Formula, Individual, KleeneError,
    Structure, Truth, Unary, Update, Variable, Vocabulary,
};

use Truth::{False, Half, True};
use Variable::{A, B, V, W};

struct Lists {
    vocabulary: Vocabulary,
    x: Unary,
    y: Unary,
    n: Binary,
    /// Reachable from `x`.
    r: Unary,
    /// Pointed to by two.
    shared: Unary,
}

impl Lists {
    fn new() -> Self {
        let mut vocabulary = Vocabulary::new();
        let x = vocabulary.unary(Declaration::named("x").abstraction().unique()).unwrap();
        let y = vocabulary.unary(Declaration::named("y").abstraction().unique()).unwrap();
        let n = vocabulary.binary(Declaration::named("n").functional()).unwrap();
        let reach = Formula::exists(A, x.at(A).and(n.reaches(A, V)));
        let r = Declaration::named("r").abstraction().defined_by(reach);
        let r = vocabulary.unary(r).unwrap();
        let two = Formula::equal(A, B).negated().and(n.between(A, V)).and(n.between(B, V));
        let two = Formula::exists(A, Formula::exists(B, two));
        let shared = Declaration::named("is").abstraction().defined_by(two);
        let shared = vocabulary.unary(shared).unwrap();
        Self { vocabulary, x, y, n, r, shared }
    }

    /// `x` points to the first node, a summary is the rest; all reachable, nothing shared.
    fn list(&self) -> (Structure, Individual, Individual) {
        let mut list = Structure::new(&self.vocabulary);
        let (first, rest) = (list.add().unwrap(), list.add().unwrap());
        list.set_summary(rest, true);
        list.set_unary(self.x, first, True);
        list.set_unary(self.r, first, True);
        list.set_unary(self.r, rest, True);
        list.set_binary(self.n, first, rest, Half);
        list.set_binary(self.n, rest, rest, Half);
        (list, first, rest)
    }

    fn successors(&self, structure: &Structure) -> Vec<Structure> {
        let focus = Focus::Successor { from: self.x, along: self.n };
        let cases = structure.focus(&self.vocabulary, &focus, 100).unwrap();
        cases.into_iter().filter_map(|case| case.coerce(&self.vocabulary)).collect()
    }
}

/// With unshared nodes, the materialised node has one predecessor: coerce finds that the rest does
/// not point to it, and that it may point into the rest only.
#[test]
fn materialisation_keeps_a_list_a_list() {
    let lists = Lists::new();
    let (list, first, _) = lists.list();
    let cases = lists.successors(&list);
    assert_eq!(cases.iter().map(Structure::len).collect::<Vec<_>>(), [2, 3]);
    let longer = &cases[1];
    let second = longer.individuals().find(|u| longer.binary(lists.n, first, *u) == True).unwrap();
    assert!(!longer.is_summary(second));
    for u in longer.individuals().filter(|u| *u != first) {
        assert_eq!(longer.binary(lists.n, u, second), False);
    }
    let rest = longer.individuals().find(|u| longer.is_summary(*u)).unwrap();
    assert_eq!(longer.binary(lists.n, second, rest), Half);
    assert_eq!(longer.binary(lists.n, first, rest), False);
}

/// Pointing elsewhere: evaluating the definition of `r` anew loses it on the rest, an update
/// formula for it does not.
#[test]
fn an_update_formula_keeps_reachability() {
    let lists = Lists::new();
    let (list, ..) = lists.list();
    let successor = Formula::exists(A, lists.x.at(A).and(lists.n.between(A, V)));
    let advance = Update::new().set(lists.x, successor);
    // On a list without a cycle, what was reachable still is, but for the first node.
    let given = advance.clone().set(lists.r, lists.r.at(V).and(lists.x.at(V).negated()));
    let longer = lists.successors(&list).pop().unwrap();
    let value_on_rest = |update: &Update| {
        let after = longer.update(&lists.vocabulary, update);
        let rest = after.individuals().find(|u| after.is_summary(*u)).unwrap();
        after.unary(lists.r, rest)
    };
    assert_eq!(value_on_rest(&advance), Half);
    assert_eq!(value_on_rest(&given), True);
    assert!(advance.touches(&lists.vocabulary).contains(lists.r.into()));
    assert!(!advance.touches(&lists.vocabulary).contains(lists.shared.into()));
}

/// A step that does not change `n` or `x`, a new node, and the removal of garbage leave what is
/// known of the list alone.
#[test]
fn what_a_step_does_not_touch_is_kept() {
    let lists = Lists::new();
    let (list, first, rest) = lists.list();
    let copy = list.update(&lists.vocabulary, &Update::new().set(lists.y, lists.x.at(V)));
    assert_eq!((copy.unary(lists.r, rest), copy.unary(lists.y, first)), (True, True));
    let mut larger = list.clone();
    let fresh = larger.allocate(&lists.vocabulary).unwrap();
    assert_eq!((larger.unary(lists.r, rest), larger.unary(lists.shared, rest)), (True, False));
    assert_eq!(larger.unary(lists.r, fresh), False);
    assert_eq!(larger.remove(&lists.vocabulary, &[fresh]), list);
    // Garbage that pointed to the list: whether a node is shared must be asked again.
    larger.set_binary(lists.n, fresh, rest, Half);
    assert_eq!(larger.remove(&lists.vocabulary, &[fresh]).unary(lists.shared, rest), Half);
    assert_eq!(larger.remove(&lists.vocabulary, &[fresh]).unary(lists.r, rest), True);
}

/// The definition of an instrumentation predicate contradicts what is stored: no list is like that.
#[test]
fn contradictions_are_discarded() {
    let lists = Lists::new();
    let (list, first, rest) = lists.list();
    let (mut cut, mut twice) = (list.clone(), list.clone());
    cut.set_binary(lists.n, first, rest, False);
    assert_eq!(cut.coerce(&lists.vocabulary), None);
    twice.set_unary(lists.x, rest, True);
    assert_eq!(twice.coerce(&lists.vocabulary), None);
    assert!(list.coerce(&lists.vocabulary).is_some());
}

/// A constraint of the user: nothing points to what `y` points to.
#[test]
fn constraints_of_the_user_sharpen_and_discard() {
    let mut lists = Lists::new();
    let (y, n) = (lists.y, lists.n);
    let head = linchpin_kleene::Atom::Binary(n, W, V).literal(false);
    lists.vocabulary.constrain(Constraint::new(y.at(V), head)).unwrap();
    let (mut list, first, rest) = lists.list();
    let fresh = list.allocate(&lists.vocabulary).unwrap();
    list.set_unary(y, fresh, True);
    list.set_binary(n, rest, fresh, Half);
    let coerced = list.clone().coerce(&lists.vocabulary).unwrap();
    assert_eq!(coerced.binary(n, rest, fresh), False);
    assert_eq!(coerced.binary(n, fresh, rest), False);
    list.set_binary(n, first, fresh, True);
    assert_eq!(list.coerce(&lists.vocabulary), None);
    // Nothing is related to itself: not if all of a summary is related to all of it.
    let different = linchpin_kleene::Atom::Equal(V, W).literal(false);
    let mut vocabulary = Vocabulary::new();
    let m = vocabulary.binary(Declaration::named("m")).unwrap();
    vocabulary.constrain(Constraint::new(m.between(V, W), different)).unwrap();
    let mut structure = Structure::new(&vocabulary);
    let u = structure.add().unwrap();
    structure.set_summary(u, true);
    structure.set_binary(m, u, u, Half);
    assert!(structure.clone().coerce(&vocabulary).is_some());
    structure.set_binary(m, u, u, True);
    assert_eq!(structure.coerce(&vocabulary), None);
}

#[test]
fn a_summary_may_differ_from_itself() {
    let lists = Lists::new();
    let (list, first, rest) = lists.list();
    let same = |u| {
        let both = Assignment::new().with(V, u).with(W, u);
        list.evaluate(&Formula::equal(V, W), &both)
    };
    assert_eq!((same(first), same(rest)), (True, Half));
    let reaches = |u| {
        let both = Assignment::new().with(V, u).with(W, u);
        list.evaluate(&lists.n.reaches(V, W), &both)
    };
    assert_eq!((reaches(first), reaches(rest)), (True, Half));
}

#[test]
fn declarations_are_checked() {
    let mut lists = Lists::new();
    let again = lists.vocabulary.unary(Declaration::named("x"));
    assert_eq!(again, Err(KleeneError::DuplicateName("x".to_owned())));
    let open = Declaration::named("open").defined_by(lists.n.between(V, W));
    assert_eq!(lists.vocabulary.unary(open), Err(KleeneError::FreeVariable("open".to_owned())));
    let foreign = Declaration::named("foreign").defined_by(lists.shared.at(V));
    let mut other = Vocabulary::new();
    let unknown = Err(KleeneError::UnknownPredicate("foreign".to_owned()));
    assert_eq!(other.unary(foreign), unknown);
}
