//! Accounts between which money is transferred: the `bank` workload of Jepsen.

use super::{Described, answering, deterministic, pair, silent};
use crate::{Call, Outcome, Shape, Signature, Value};
use std::collections::BTreeMap;

/// Accounts with a balance each: `transfer {from, to, amount}`, which is a list of these three, and
/// `read → [[account, balance], …]`, all of them at once in any order. The account `3` is also
/// called `"3"`, as the keys of a JSON object are strings. A transfer may overdraw an account; it
/// has no outcome if one of the accounts is not there, or a balance leaves 64 bits.
///
/// ```
/// use linchpin_spec::{Bank, Call, Spec, Value};
///
/// let bank = Bank::new([(0, 10), (1, 5)].map(|(account, held)| (account.into(), held)));
/// let argument = Value::list([0, 1, 3].map(Value::Int));
/// let transfer = Call { operation: Bank::TRANSFER, argument };
/// let state = bank.apply(&bank.initial(), &transfer, None).remove(0).state;
/// assert_eq!(state.to_string(), r#"{"0": 7, "1": 8}"#);
///
/// let read = Call { operation: Bank::READ, argument: Value::Null };
/// let seen = [[1, 8], [0, 7]].map(|pair| Value::list(pair.map(Value::Int)));
/// assert_eq!(bank.apply(&state, &read, Some(&Value::list(seen))).len(), 1);
/// ```
#[derive(Clone, Debug)]
pub struct Bank {
    operations: [Signature; 2],
    initial: Value,
}

impl Bank {
    /// The index of `transfer {from, to, amount}`.
    pub const TRANSFER: usize = 0;
    /// The index of `read → [[account, balance], …]`.
    pub const READ: usize = 1;

    /// A bank with these accounts and their balances.
    pub fn new(accounts: impl IntoIterator<Item = (Value, i64)>) -> Bank {
        let transfer = vec![("from", Shape::Any), ("to", Shape::Any), ("amount", Shape::Int)];
        let balances = Shape::List(Box::new(Shape::Tuple(vec![Shape::Any, Shape::Int])));
        let accounts = accounts.into_iter().map(|(account, held)| (name(&account), held.into()));
        Bank {
            operations: [
                Signature::new("transfer", Shape::Record(transfer), Shape::Unit),
                Signature::new("read", Shape::Unit, balances),
            ],
            initial: Value::map(accounts),
        }
    }

    fn step(&self, state: &Value, call: &Call, known: Option<&Value>) -> Option<Outcome<Value>> {
        let Value::Map(accounts) = state else {
            return None;
        };
        match call.operation {
            Bank::TRANSFER => silent(transferred(accounts, &call.argument)?),
            Bank::READ => {
                let pairs = accounts.iter();
                let all = pairs.map(|(name, held)| Value::list([name.clone(), held.clone()]));
                let known_here = known.map(|known| self.canonical(Bank::READ, known.clone()));
                let response = answering(Value::list(all), known_here.as_ref())?;
                let response = known.cloned().unwrap_or(response);
                Some(Outcome { response, state: state.clone() })
            }
            _ => None,
        }
    }

    fn canonical(&self, operation: usize, response: Value) -> Value {
        let Some(pairs) = response.as_list().filter(|_| operation == Bank::READ) else {
            return response;
        };
        let named = |both: &Value| match pair(both) {
            Some((account, held)) => Value::list([name(account), held.clone()]),
            None => both.clone(),
        };
        let mut pairs: Vec<Value> = pairs.iter().map(named).collect();
        pairs.sort();
        Value::list(pairs)
    }
}

/// The one name of an account.
fn name(account: &Value) -> Value {
    match account {
        Value::Int(number) => Value::str(&number.to_string()),
        other => other.clone(),
    }
}

/// The accounts after a transfer.
fn transferred(accounts: &BTreeMap<Value, Value>, transfer: &Value) -> Option<Value> {
    let [from, to, amount] = transfer.as_list()? else {
        return None;
    };
    let amount = amount.as_int()?;
    let mut accounts = accounts.clone();
    for (account, change) in [(from, amount.checked_neg()?), (to, amount)] {
        let held = accounts.get_mut(&name(account))?;
        *held = Value::Int(held.as_int()?.checked_add(change)?);
    }
    Some(Value::map(accounts))
}

deterministic!(Bank, canonical);

impl Default for Bank {
    fn default() -> Bank {
        Bank::new([(0.into(), 0), (1.into(), 0)])
    }
}

impl Described for Bank {
    const NAME: &'static str = "bank";
    const SUMMARY: &'static str = "accounts between which money is transferred";
    const INITIAL: &'static str = "an object from account to balance (it must be given)";
    const NEEDS_INITIAL: bool = true;

    fn starting_from(init: &Value) -> Option<Bank> {
        let Value::Map(accounts) = init else {
            return None;
        };
        let balance = |(account, held): (&Value, &Value)| Some((account.clone(), held.as_int()?));
        Some(Bank::new(accounts.iter().map(balance).collect::<Option<Vec<_>>>()?))
    }
}
