//! Every call from every state that the shared words may be in between calls, executed
//! symbolically.
//!
//! What is known of the words between calls is found first, as a fixpoint: a word keeps its first
//! value, or is an integer, or may be anything. Where it may be `NULL` or an integer, both are
//! cases.

use super::linear::{Constraint, Linear, is_unsatisfiable};
use super::relation::Function;
use super::symbolic::{Executor, Location, Path, Shared, Symbols, Unknown};
use super::{Answer, Branch, NotShown, SymbolicSpec, Word};
use crate::execute::{self, FIRST_ID, Machine, Value};
use crate::model::{Model, SpecLine, SpecResponse, SpecTerm, Type};
use crate::sequential::arguments::Domain;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Integers of an argument that are looked at one by one.
const MOST_INTEGERS: i64 = 16;

/// Lists of arguments of one operation.
const MOST_LISTS: usize = 256;

/// Words that may be `NULL` or an integer.
const MOST_OPTIONAL: usize = 4;

/// Rounds of the fixpoint; words become less known a few times each.
const MOST_ROUNDS: usize = 64;

/// Cases of one question whether some path is always there.
const MOST_CASES: usize = 4000;

/// What is known of a word between calls.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Known {
    /// It has its first value.
    First(Option<i64>),
    /// It is an integer.
    Integer,
    /// It is an integer or `NULL`.
    Any,
}

/// For each word that may be `NULL` or an integer, whether it is `NULL`.
type Case = BTreeMap<Location, bool>;

/// A list of arguments, with what holds of them.
type Arguments = (Vec<Word>, Vec<Constraint>);

/// The paths of one call.
struct Executed {
    line: usize,
    case: usize,
    arguments: Vec<Word>,
    /// What holds of the arguments.
    condition: Vec<Constraint>,
    paths: Vec<Path>,
}

/// Every call from every state between calls.
pub struct Calls<'a> {
    model: &'a Model,
    lines: &'a [SpecLine],
    machine: Machine<'a>,
    start: execute::Shared,
    symbols: Symbols,
    known: BTreeMap<Location, Known>,
    /// For each line, the lists of arguments, each with what holds of them.
    lists: Vec<Vec<Arguments>>,
    cases: Vec<Case>,
    executed: Vec<Executed>,
}

impl<'a> Calls<'a> {
    pub fn new(
        model: &'a Model,
        lines: &'a [SpecLine],
        spec: &dyn SymbolicSpec,
        domains: Option<&[Vec<Domain>]>,
    ) -> Result<Calls<'a>, NotShown> {
        let machine = Machine::new(model);
        let start = machine.start(Vec::new()).shared;
        let mut symbols = Symbols::default();
        let mut lists = Vec::new();
        for line in lines {
            lists.push(arguments_of(model, line, spec, domains, &mut symbols)?);
        }
        let (known, cases, executed) = (BTreeMap::new(), Vec::new(), Vec::new());
        Ok(Calls { model, lines, machine, start, symbols, known, lists, cases, executed })
    }

    /// The shared words that operations use.
    pub fn locations(&self) -> Vec<Location> {
        self.known.keys().copied().collect()
    }

    /// What a location holds in a state; nothing if it is neither an integer nor `NULL`.
    pub fn value(&self, shared: &execute::Shared, location: Location) -> Option<Option<i64>> {
        match word_at(&self.machine, shared, location)? {
            Value::Int(value) => Some(Some(value)),
            Value::Null => Some(None),
            Value::Ref(_) | Value::Poison => None,
        }
    }

    /// Executes every call, and finds what is known of the words between calls.
    pub fn execute_all(&mut self) -> Result<(), NotShown> {
        for _ in 0..MOST_ROUNDS {
            let before = self.known.clone();
            self.cases = cases(&before)?;
            self.executed.clear();
            for case in 0..self.cases.len() {
                for line in 0..self.lines.len() {
                    for (arguments, condition) in self.lists[line].clone() {
                        let paths = self.execute(line, case, &arguments, &condition)?;
                        paths.iter().for_each(|path| self.weaken(path));
                        self.executed.push(Executed { line, case, arguments, condition, paths });
                    }
                }
            }
            if self.known == before {
                return Ok(());
            }
        }
        Err(NotShown::TooManyCases)
    }

    fn execute(
        &mut self,
        line: usize,
        case: usize,
        arguments: &[Word],
        condition: &[Constraint],
    ) -> Result<Vec<Path>, NotShown> {
        let operation = &self.model.operations[self.lines[line].operation.0];
        let (machine, start) = (&self.machine, &self.start);
        let (known, case) = (&mut self.known, &self.cases[case]);
        let mut before = |location: Location, symbols: &mut Symbols| {
            if let Entry::Vacant(unseen) = known.entry(location) {
                unseen.insert(Known::First(match word_at(machine, start, location) {
                    Some(Value::Int(value)) => Some(value),
                    Some(Value::Null) => None,
                    _ => return Err(NotShown::Heap),
                }));
            }
            Ok(word_before(known, case, location, symbols))
        };
        let mut executor =
            Executor { model: self.model, symbols: &mut self.symbols, before: &mut before };
        executor.paths(operation, arguments, condition)
    }

    /// Forgets of the words what is no longer true after a path.
    fn weaken(&mut self, path: &Path) {
        for (location, word) in &path.shared {
            let start = || match word_at(&self.machine, &self.start, *location) {
                Some(Value::Int(value)) => Known::First(Some(value)),
                Some(Value::Null) => Known::First(None),
                _ => Known::Any,
            };
            let known = self.known.entry(*location).or_insert_with(start);
            let kept = match (&known, word) {
                (Known::First(Some(first)), Word::Int(sum)) => {
                    let same = Constraint::equal(sum, &Linear::constant(*first));
                    same.is_some_and(|same| is_entailed(&path.condition, &same))
                }
                (Known::First(None), Word::Null) | (Known::Any, _) => true,
                (Known::Integer, Word::Int(_)) => true,
                _ => false,
            };
            if !kept {
                *known = match (&known, word) {
                    (Known::First(Some(_)), Word::Int(_)) => Known::Integer,
                    _ => Known::Any,
                };
            }
        }
    }

    /// The words of the specification's state, for shared words that a call leaves behind; those it
    /// did not look at are as before.
    fn related(
        &mut self,
        relation: &[Function],
        case: usize,
        shared: &Shared,
    ) -> Result<Vec<Word>, NotShown> {
        let (known, case, symbols) = (&self.known, &self.cases[case], &mut self.symbols);
        let mut word = |location: Location| {
            let before = || word_before(known, case, location, symbols);
            Ok(shared.get(&location).cloned().unwrap_or_else(before))
        };
        relation.iter().map(|function| function.symbolic(&mut word)).collect()
    }

    /// Whether each call answers what the specification answers and establishes the relation again.
    pub fn holds(
        &mut self,
        relation: &[Function],
        spec: &dyn SymbolicSpec,
    ) -> Result<(), NotShown> {
        for at in 0..self.executed.len() {
            let Executed { line, case, .. } = self.executed[at];
            let state = self.related(relation, case, &Shared::new())?;
            let line = &self.lines[line];
            let passed = passed(line, &self.executed[at].arguments)?;
            let branches =
                spec.apply(&line.method, &state, &passed).ok_or(NotShown::Specification)?;
            let name = &self.model.operations[line.operation.0].name;
            let wrong = || NotShown::NotInductive { operation: name.clone() };
            for number in 0..self.executed[at].paths.len() {
                let path = self.executed[at].paths[number].clone();
                let after = self.related(relation, case, &path.shared)?;
                for (more, answer) in answers(line, &path, &self.executed[at].arguments)? {
                    let mut condition = [&path.condition[..], &more[..]].concat();
                    condition.extend(spec.typing(&state));
                    if !is_matched(&condition, &branches, &answer, &after) {
                        return Err(wrong());
                    }
                }
            }
        }
        Ok(())
    }

    /// Whether every call of each operation of the specification has a path in every state: none
    /// waits for ever.
    pub fn answers_always(
        &mut self,
        relation: &[Function],
        spec: &dyn SymbolicSpec,
    ) -> Result<(), NotShown> {
        for at in 0..self.executed.len() {
            let one = &self.executed[at];
            let (case, line) = (one.case, &self.lines[one.line]);
            let blocked = NotShown::MayBlock { method: line.method.clone() };
            let passed_here = passed(line, &one.arguments)?;
            let mut paths: Vec<Vec<Constraint>> = Vec::new();
            for other in self.executed.iter().filter(|other| other.case == case) {
                let of = &self.lines[other.line];
                if of.method == line.method
                    && of.arguments == line.arguments
                    && passed(of, &other.arguments)? == passed_here
                {
                    let certain = other.paths.iter().filter(|path| path.certain);
                    paths.extend(certain.map(|path| path.condition.clone()));
                }
            }
            let mut condition = one.condition.clone();
            let state = self.related(relation, case, &Shared::new())?;
            condition.extend(spec.typing(&state));
            if !is_covered(&mut condition, &paths, &mut 0) {
                return Err(blocked);
            }
        }
        Ok(())
    }
}

/// What a location holds in a state that was reached.
fn word_at(machine: &Machine<'_>, shared: &execute::Shared, location: Location) -> Option<Value> {
    match location {
        Location::Variable(id) => shared.globals.get(id.0).copied(),
        Location::Element(id, index) => Some(machine.element(shared, id, index)),
        Location::Field(id, field) => match shared.globals.get(id.0)? {
            Value::Ref(object) => shared.heap.get(object)?.fields.get(field.0).copied(),
            _ => None,
        },
    }
}

/// What a word is before a call.
fn word_before(
    known: &BTreeMap<Location, Known>,
    case: &Case,
    location: Location,
    symbols: &mut Symbols,
) -> Word {
    match known.get(&location) {
        Some(Known::First(Some(value))) => Word::Int(Linear::constant(*value)),
        Some(Known::First(None)) => Word::Null,
        Some(Known::Any) if case.get(&location) == Some(&true) => Word::Null,
        _ => Word::Int(symbols.of(Unknown::Before(location))),
    }
}

/// Every choice of which words are `NULL`.
fn cases(known: &BTreeMap<Location, Known>) -> Result<Vec<Case>, NotShown> {
    let optional = known.iter().filter(|(_, known)| **known == Known::Any);
    let optional: Vec<Location> = optional.map(|(location, _)| *location).collect();
    if optional.len() > MOST_OPTIONAL {
        return Err(NotShown::TooManyCases);
    }
    let mut cases = vec![Case::new()];
    for location in optional {
        let with = |case: &Case, null: bool| {
            let mut case = case.clone();
            case.insert(location, null);
            case
        };
        cases = cases.iter().flat_map(|case| [with(case, false), with(case, true)]).collect();
    }
    Ok(cases)
}

/// The lists of arguments of an operation, each with what holds of them: indexes and small ranges
/// one by one.
fn arguments_of(
    model: &Model,
    line: &SpecLine,
    spec: &dyn SymbolicSpec,
    domains: Option<&[Vec<Domain>]>,
    symbols: &mut Symbols,
) -> Result<Vec<Arguments>, NotShown> {
    let operation = &model.operations[line.operation.0];
    // The `ID` of the call is no constant of the file.
    let id = symbols.of(Unknown::Id);
    let known = Constraint::at_most(&Linear::constant(FIRST_ID), &id, 0);
    let mut lists = vec![(Vec::new(), known.into_iter().collect::<Vec<Constraint>>())];
    for index in 0..operation.arguments {
        if operation.locals[index].ty != Type::Int {
            return Err(NotShown::Heap);
        }
        let is_here = |term: &SpecTerm| matches!(term, SpecTerm::Argument(id) if id.0 == index);
        let range = match domains {
            Some(domains) => match domains.get(line.operation.0).and_then(|all| all.get(index)) {
                Some(Domain::Range(from, to)) => Some((*from, *to)),
                _ => None,
            },
            None => {
                let position = line.arguments.iter().position(is_here);
                position.and_then(|position| spec.indexes(&line.method, position))
            }
        };
        let mut extended = Vec::new();
        for (list, condition) in &lists {
            match range {
                Some((from, to)) if to.saturating_sub(from) <= MOST_INTEGERS => {
                    for value in from..to {
                        let word = Word::Int(Linear::constant(value));
                        extended.push(([&list[..], &[word]].concat(), condition.clone()));
                    }
                }
                range => {
                    let symbol = symbols.of(Unknown::Argument(index));
                    let mut condition = condition.clone();
                    if let Some((from, to)) = range {
                        let (from, to) = (Linear::constant(from), Linear::constant(to));
                        condition.extend(Constraint::at_most(&from, &symbol, 0));
                        condition.extend(Constraint::at_most(&symbol, &to, -1));
                    }
                    extended.push(([&list[..], &[Word::Int(symbol)]].concat(), condition));
                }
            }
        }
        lists = extended;
        if lists.len() > MOST_LISTS {
            return Err(NotShown::TooManyCases);
        }
    }
    Ok(lists)
}

/// A term of the mapping as a word.
fn word_of(term: &SpecTerm, arguments: &[Word]) -> Result<Word, NotShown> {
    match term {
        SpecTerm::Argument(id) => arguments.get(id.0).cloned().ok_or(NotShown::Specification),
        SpecTerm::Int(value) => Ok(Word::Int(Linear::constant(*value))),
        SpecTerm::Null => Ok(Word::Null),
        SpecTerm::Bool(_) => Err(NotShown::Specification),
    }
}

/// What the specification is passed.
fn passed(line: &SpecLine, arguments: &[Word]) -> Result<Vec<Word>, NotShown> {
    line.arguments.iter().map(|term| word_of(term, arguments)).collect()
}

/// Nothing, one value, or a list of several.
fn packed(mut words: Vec<Word>) -> Answer {
    match words.len() {
        0 => Answer::One(Word::Null),
        1 => Answer::One(words.remove(0)),
        _ => Answer::List(words),
    }
}

/// What the specification sees as the answer, each with when it is that.
fn answers(
    line: &SpecLine,
    path: &Path,
    arguments: &[Word],
) -> Result<Vec<(Vec<Constraint>, Answer)>, NotShown> {
    match &line.response {
        SpecResponse::Returned => Ok(vec![(Vec::new(), packed(path.result.clone()))]),
        SpecResponse::Always(terms) => {
            if let [SpecTerm::Bool(value)] = &terms[..] {
                return Ok(vec![(Vec::new(), Answer::Truth(*value))]);
            }
            let words: Result<Vec<Word>, NotShown> =
                terms.iter().map(|term| word_of(term, arguments)).collect();
            Ok(vec![(Vec::new(), packed(words?))])
        }
        SpecResponse::Whether(terms) => {
            let words: Result<Vec<Word>, NotShown> =
                terms.iter().map(|term| word_of(term, arguments)).collect();
            let words = words?;
            let Some(equalities) = equalities(&path.result, &words) else {
                return Ok(vec![(Vec::new(), Answer::Truth(false))]);
            };
            let mut all = Vec::new();
            for equality in &equalities {
                let differs = equality.negated().ok_or(NotShown::TooManyCases)?;
                all.push((vec![differs], Answer::Truth(false)));
            }
            all.push((equalities, Answer::Truth(true)));
            Ok(all)
        }
    }
}

/// What must hold for two lists to be equal; nothing if they never are.
fn equalities(one: &[Word], other: &[Word]) -> Option<Vec<Constraint>> {
    if one.len() != other.len() {
        return None;
    }
    let mut found = Vec::new();
    for pair in one.iter().zip(other) {
        match pair {
            (Word::Null, Word::Null) => {}
            (Word::Int(one), Word::Int(other)) => found.push(Constraint::equal(one, other)?),
            _ => return None,
        }
    }
    Some(found)
}

fn is_entailed(condition: &[Constraint], claim: &Constraint) -> bool {
    claim.negated().is_some_and(|not| is_unsatisfiable(&[condition, &[not]].concat()))
}

/// Whether the lists are equal wherever the condition holds.
fn are_equal(condition: &[Constraint], one: &[Word], other: &[Word]) -> bool {
    equalities(one, other)
        .is_some_and(|all| all.iter().all(|equality| is_entailed(condition, equality)))
}

/// Whether, wherever the condition holds, an outcome of the specification applies, and it has this
/// answer and leads to this state.
fn is_matched(
    condition: &[Constraint],
    branches: &[Branch],
    answer: &Answer,
    after: &[Word],
) -> bool {
    for branch in branches {
        let both = [condition, &branch.condition[..]].concat();
        if is_unsatisfiable(&both) {
            continue;
        }
        let same_answer = match (answer, &branch.answer) {
            (Answer::One(one), Answer::One(other)) => {
                are_equal(&both, std::slice::from_ref(one), std::slice::from_ref(other))
            }
            // Operations answer 0 and 1 for truth values.
            (Answer::One(one), Answer::Truth(truth)) => {
                let other = Word::Int(Linear::constant(i64::from(*truth)));
                are_equal(&both, std::slice::from_ref(one), &[other])
            }
            (Answer::Truth(one), Answer::Truth(other)) => one == other,
            (Answer::List(one), Answer::List(other)) => are_equal(&both, one, other),
            _ => false,
        };
        if !same_answer || !are_equal(&both, after, &branch.state) {
            return false;
        }
    }
    let conditions: Vec<Vec<Constraint>> =
        branches.iter().map(|branch| branch.condition.clone()).collect();
    is_covered(&mut condition.to_vec(), &conditions, &mut 0)
}

/// Whether, wherever the condition holds, one of the alternatives does.
fn is_covered(
    condition: &mut Vec<Constraint>,
    alternatives: &[Vec<Constraint>],
    cases: &mut usize,
) -> bool {
    *cases += 1;
    if *cases > MOST_CASES {
        return false;
    }
    let Some((first, rest)) = alternatives.split_first() else {
        return is_unsatisfiable(condition);
    };
    if is_unsatisfiable(condition) {
        return true;
    }
    // Where the first alternative does not hold, one of its parts does not.
    first.iter().all(|part| {
        let Some(not) = part.negated() else { return false };
        condition.push(not);
        let covered = is_covered(condition, rest, cases);
        condition.pop();
        covered
    })
}
