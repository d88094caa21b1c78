//! Reading operations: what each does to which versions, and answers that no memory gives.

use super::super::poll::StopPoll;
use super::Stop;
use super::names::Names;
use super::versions::{VersionId, Versions};
use linchpin_history_data::{Argument, History, OpId, Operation, ValueId};
use linchpin_spec::{Mwcas, Value};

/// What an operation does to a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Role {
    /// It saw the version: a read, or a word of a successful swap whose new value is the old one.
    Read,
    /// It saw the version and replaced it.
    Replace,
    /// It made the version.
    Write,
    /// It failed because the location did not hold the version any more. Where an operation has
    /// several of these and of [`Role::Absent`], one of them is so.
    Miss,
    /// It failed because the location did not hold the version: not yet, or not any more.
    Absent,
}

impl Role {
    /// Whether it explains a failure.
    pub(super) fn is_miss(self) -> bool {
        matches!(self, Role::Miss | Role::Absent)
    }
}

/// A version and what is done to it, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Use(u32);

impl Use {
    /// In place of a miss that needs no explanation.
    pub(super) const NOTHING: Use = Use(u32::MAX);
    const VERSIONS: usize = (u32::MAX >> 3) as usize;

    fn new(version: VersionId, role: Role) -> Use {
        Use(version << 3 | role as u32)
    }

    /// The version and the role; nothing for [`Use::NOTHING`].
    pub(super) fn get(self) -> Option<(VersionId, Role)> {
        let role = match self.0 & 7 {
            0 => Role::Read,
            1 => Role::Replace,
            2 => Role::Write,
            3 => Role::Miss,
            _ => Role::Absent,
        };
        (self != Use::NOTHING).then_some((self.0 >> 3, role))
    }
}

/// The uses of every operation. Those of a pending swap are the ones that it has if it succeeds.
pub(super) struct Uses {
    /// INVARIANT: one entry more than operations, ascending.
    start: Vec<u32>,
    uses: Vec<Use>,
}

impl Uses {
    /// What an operation does.
    pub(super) fn of(&self, id: OpId) -> impl Iterator<Item = (VersionId, Role)> + '_ {
        self.uses[self.range(id)].iter().filter_map(|use_| use_.get())
    }

    /// The versions that an operation has in this role.
    pub(super) fn with(&self, id: OpId, role: Role) -> impl Iterator<Item = VersionId> + '_ {
        self.of(id).filter(move |(_, actual)| *actual == role).map(|(version, _)| version)
    }

    /// The versions that an operation saw.
    pub(super) fn seen(&self, id: OpId) -> impl Iterator<Item = VersionId> + '_ {
        let saw = |role| matches!(role, Role::Read | Role::Replace);
        self.of(id).filter(move |(_, role)| saw(*role)).map(|(version, _)| version)
    }

    /// The failure of an operation needs no explanation.
    pub(super) fn excuse(&mut self, id: OpId) {
        let range = self.range(id);
        for use_ in &mut self.uses[range] {
            if matches!(use_.get(), Some((_, Role::Miss))) {
                *use_ = Use::NOTHING;
            }
        }
    }

    /// The operation may have failed because the version was not there yet.
    pub(super) fn doubt(&mut self, id: OpId, version: VersionId) {
        let range = self.range(id);
        for use_ in &mut self.uses[range] {
            if *use_ == Use::new(version, Role::Miss) {
                *use_ = Use::new(version, Role::Absent);
            }
        }
    }

    /// The versions of which one was not there, as the operation failed.
    pub(super) fn missed(&self, id: OpId) -> impl Iterator<Item = (VersionId, Role)> + '_ {
        self.of(id).filter(|(_, role)| role.is_miss())
    }

    fn range(&self, id: OpId) -> std::ops::Range<usize> {
        self.start[id.index()] as usize..self.start[id.index() + 1] as usize
    }
}

/// Reads all operations.
pub(super) fn read<'h>(
    history: &'h History,
    names: &mut Names<'h>,
    versions: &mut Versions,
    poll: &StopPoll,
) -> Result<Uses, Stop> {
    let mut reader =
        Reader { history, names, versions, uses: Vec::with_capacity(history.words.len()) };
    let mut start = Vec::with_capacity(history.operations.len() + 1);
    start.push(0);
    for (id, operation) in history.operations.iter().enumerate() {
        poll.step()?;
        reader.operation(OpId::new(id), operation)?;
        start.push(reader.uses.len() as u32);
        if reader.versions.len() >= Use::VERSIONS || reader.uses.len() >= u32::MAX as usize {
            return Err(Stop::not_applicable("the operations mention too many words".to_owned()));
        }
    }
    let uses = reader.uses;
    versions.seal();
    Ok(Uses { start, uses })
}

struct Reader<'r, 'h> {
    history: &'h History,
    names: &'r mut Names<'h>,
    versions: &'r mut Versions,
    uses: Vec<Use>,
}

impl<'h> Reader<'_, 'h> {
    fn operation(&mut self, id: OpId, operation: &Operation) -> Result<(), Stop> {
        match usize::from(operation.operation) {
            Mwcas::MWREAD => self.read(id, operation),
            Mwcas::MWCAS => self.swap(id, operation),
            _ => Err(Stop::not_applicable(
                "the history has operations other than `mwread` and `mwcas`".to_owned(),
            )),
        }
    }

    fn read(&mut self, id: OpId, operation: &Operation) -> Result<(), Stop> {
        if !operation.completed {
            return Ok(());
        }
        let asked = self.words(id, operation.argument, 2)?;
        let answered = self.words(id, operation.response, 2)?;
        if !asked.iter().map(|word| word[0]).eq(answered.iter().map(|word| word[0])) {
            return Err(
                self.impossible(id, "answers about other locations than it was asked about")
            );
        }
        for word in answered {
            self.push(word[0], word[1], Role::Read);
        }
        Ok(())
    }

    fn swap(&mut self, id: OpId, operation: &Operation) -> Result<(), Stop> {
        let words = self.words(id, operation.argument, 3)?;
        if has_repetition(words) {
            return Err(self.malformed(id, "names a location twice"));
        }
        match operation.response {
            _ if !operation.completed => self.success(words),
            Argument::One(ValueId::TRUE) => self.success(words),
            Argument::One(ValueId::FALSE) => self.miss(id, words, |_| true)?,
            Argument::One(answer) => self.failure(id, words, answer)?,
            _ => return Err(self.malformed(id, "has an answer that makes no sense")),
        }
        Ok(())
    }

    fn success(&mut self, words: &[[ValueId; 3]]) {
        for &[location, expected, new] in words {
            if expected == new {
                self.push(location, expected, Role::Read);
            } else {
                self.push(location, expected, Role::Replace);
                self.push(location, new, Role::Write);
            }
        }
    }

    /// `{"failed": address}` or `{"read": [[address, value], …]}`.
    fn failure(&mut self, id: OpId, words: &[[ValueId; 3]], answer: ValueId) -> Result<(), Stop> {
        let answer = self.history.values.get(answer);
        let field = match &answer {
            Value::Map(fields) if fields.len() == 1 => fields.first_key_value(),
            _ => None,
        };
        let Some((Value::Str(field), content)) = field else {
            return Err(self.malformed(id, "has an answer that makes no sense"));
        };
        match (&**field, content) {
            ("failed", address) => {
                let address = self.names.id(address);
                self.miss(id, words, |location| location == address)
            }
            ("read", Value::List(pairs)) => self.saw(id, words, pairs),
            _ => Err(self.malformed(id, "has an answer that makes no sense")),
        }
    }

    /// A failure that answers what some of the locations hold.
    fn saw(&mut self, id: OpId, words: &[[ValueId; 3]], pairs: &[Value]) -> Result<(), Stop> {
        let mut seen = Vec::with_capacity(pairs.len());
        let mut explained = false;
        for pair in pairs {
            let Some([address, value]) = pair.as_list() else {
                return Err(self.malformed(id, "has an answer that makes no sense"));
            };
            let (address, value) = (self.names.id(address), self.names.id(value));
            let Some(word) = words.iter().find(|word| word[0] == address) else {
                return Err(self.impossible(id, "answers about a location that it does not name"));
            };
            explained |= word[1] != value;
            seen.push(address);
            self.push(address, value, Role::Read);
        }
        if explained {
            return Ok(());
        }
        if words.iter().all(|word| seen.contains(&word[0])) {
            return Err(self.impossible(id, "failed although it saw all that it expected"));
        }
        self.miss(id, words, |location| !seen.contains(&location))
    }

    /// One of the chosen locations did not hold what was expected.
    fn miss(
        &mut self,
        id: OpId,
        words: &[[ValueId; 3]],
        chosen: impl Fn(ValueId) -> bool,
    ) -> Result<(), Stop> {
        let before = self.uses.len();
        for &[location, expected, _] in words.iter().filter(|word| chosen(word[0])) {
            self.push(location, expected, Role::Miss);
        }
        if self.uses.len() == before {
            return Err(self.impossible(id, "failed, but not at a location that it names"));
        }
        Ok(())
    }

    fn push(&mut self, location: ValueId, value: ValueId, role: Role) {
        let version = self.versions.intern(location, value);
        self.uses.push(Use::new(version, role));
    }

    /// The words of an argument or response, each of as many values as it should have.
    fn words(&self, id: OpId, from: Argument, values: u8) -> Result<&'h [[ValueId; 3]], Stop> {
        match from {
            Argument::Words { count, width, .. } if count == 0 || width == values => {
                Ok(self.history.words(from))
            }
            _ => Err(self.malformed(id, "is not made of words")),
        }
    }

    fn malformed(&self, id: OpId, what: &str) -> Stop {
        Stop::not_applicable(format!("the {} {what}", self.names.operation(id)))
    }

    fn impossible(&self, id: OpId, what: &str) -> Stop {
        Stop::violated(vec![id], format!("the {} {what}", self.names.operation(id)))
    }
}

/// Whether a location occurs twice.
fn has_repetition(words: &[[ValueId; 3]]) -> bool {
    if words.len() > 16 {
        let mut locations: Vec<ValueId> = words.iter().map(|word| word[0]).collect();
        locations.sort_unstable();
        return locations.windows(2).any(|pair| pair[0] == pair[1]);
    }
    words.iter().enumerate().any(|(at, word)| words[..at].iter().any(|other| other[0] == word[0]))
}
