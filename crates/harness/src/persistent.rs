//! Tests with crashes: what a test says of persistent memory.

use crate::definition::{Definition, OperationInfo};
use crate::error::DefinitionError;
use crate::plan::Mode;
use crate::resolve::named;
use crate::scenario::{Call, NamedCall};
use crate::test::Test;
use linchpin_history_data::Property;
use linchpin_sync::persistent::Pool;
use std::sync::Arc;

/// Makes an object in a pool, or finds it there again.
pub type MakeIn<T> = Arc<dyn Fn(&Pool) -> T + Send + Sync>;

/// What a test says of persistent memory.
pub struct Persistent<T> {
    /// Makes a new object in an empty pool. All that it stores is written back before anything else
    /// happens.
    pub make: MakeIn<T>,
    /// Finds the object again after a crash.
    pub recover: MakeIn<T>,
    /// At most so many crashes of the system.
    pub crashes: usize,
    /// What must hold of histories with crashes.
    pub property: Property,
    /// What is called in the end, when all threads have ended.
    pub after: Vec<Call>,
}

/// The same while a test is written.
pub(crate) struct Parts<T> {
    make: Option<MakeIn<T>>,
    recover: Option<MakeIn<T>>,
    crashes: Option<usize>,
    property: Option<Property>,
    after: Vec<NamedCall>,
}

impl<T> Default for Parts<T> {
    fn default() -> Parts<T> {
        Parts { make: None, recover: None, crashes: None, property: None, after: Vec::new() }
    }
}

/// [`Property::Durable`], for tests: `property: durable;`.
#[allow(non_upper_case_globals)]
pub const durable: Property = Property::Durable;

/// [`Property::Strict`], for tests: `property: strict;`.
#[allow(non_upper_case_globals)]
pub const strict: Property = Property::Strict;

/// [`Property::Recoverable`], for tests: `property: recoverable;`.
#[allow(non_upper_case_globals)]
pub const recoverable: Property = Property::Recoverable;

/// The word of a property, as `linchpin check --property` takes it.
pub(crate) fn word(property: Property) -> &'static str {
    match property {
        Property::Linearizable => "linearizable",
        Property::Strict => "strict",
        Property::Recoverable => "recoverable",
        Property::Durable => "durable",
        Property::Detectable => "detectable",
    }
}

impl<T: Send + Sync + 'static> Test<T> {
    /// A test of what `make` makes in a pool of persistent memory. With [`Test::recover`] the
    /// system may crash; without it, and in the modes `native` and `weak`, it never does.
    pub fn persistent(name: &str, make: impl Fn(&Pool) -> T + Send + Sync + 'static) -> Test<T> {
        let make: MakeIn<T> = Arc::new(make);
        let in_a_pool = Arc::clone(&make);
        let mut test = Test::new(name, move || make(&Pool::new()));
        test.persistent.make = Some(in_a_pool);
        test
    }
}

impl<T: Send + Sync + 'static, S> Test<T, S> {
    /// After a crash this finds the object again, from what is left in the pool.
    #[must_use]
    pub fn recover(mut self, recover: impl Fn(&Pool) -> T + Send + Sync + 'static) -> Self {
        self.persistent.recover = Some(Arc::new(recover));
        self
    }

    /// At most so many crashes of the whole system; one, unless it is said. The second may come
    /// while the first is recovered from.
    #[must_use]
    pub fn crashes(mut self, most: usize) -> Self {
        self.persistent.crashes = Some(most);
        self
    }

    /// What must hold of histories with crashes; durable linearizability, unless it is said.
    #[must_use]
    pub fn property(mut self, property: Property) -> Self {
        self.persistent.property = Some(property);
        self
    }

    /// What is called in the end, when all threads have ended: it sees what a crash has left.
    #[must_use]
    pub fn after(mut self, calls: Vec<NamedCall>) -> Self {
        self.persistent.after = calls;
        self
    }
}

impl<T> Parts<T> {
    /// What the test says, if it has crashes.
    ///
    /// # Errors
    ///
    /// If that makes no sense.
    pub(crate) fn resolved(
        self,
        operations: &[OperationInfo],
        mode: Mode,
    ) -> Result<Option<Persistent<T>>, DefinitionError> {
        let says = self.crashes.is_some() || self.property.is_some() || !self.after.is_empty();
        let (recover, make) = match (self.recover, self.make) {
            (Some(recover), Some(make)) => (recover, make),
            (Some(_), None) => return Err(DefinitionError::NoPool),
            (None, _) if says => return Err(DefinitionError::NoRecovery),
            (None, _) => return Ok(None),
        };
        if mode == Mode::Weak {
            return Err(DefinitionError::CrashesInMode(mode.to_string()));
        }
        let after = named(operations, &self.after)?;
        let crashes = self.crashes.unwrap_or(1);
        let property = self.property.unwrap_or(Property::Durable);
        Ok(Some(Persistent { make, recover, crashes, property, after }))
    }
}

impl<T> Definition<T> {
    /// Whether crashes are explored.
    pub(crate) fn has_crashes(&self) -> bool {
        self.persistent.is_some()
    }
}
