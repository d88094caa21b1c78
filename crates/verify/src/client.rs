//! Clients of a model that has no roles: threads that call only some of its operations, like the
//! producers and consumers of paper 001, Table 5.1.

use crate::load::{LoadError, Loaded, load};
use linchpin_engine::Language;
use linchpin_ir::program::Thread;
use linchpin_lang::{Config, Threads};
use thiserror::Error;

/// So many threads that call only these operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// The names of the operations.
    pub operations: Vec<String>,
    /// How many threads.
    pub threads: usize,
}

/// Why a model cannot have these clients.
#[derive(Debug, Error)]
pub enum ClientError {
    /// Only `.lin` models have clients.
    #[error("only the threads of a `.lin` model can be chosen")]
    NoThreads,
    /// Without a thread everything would hold.
    #[error("there must be at least one thread")]
    Nothing,
    /// The model says itself who calls what.
    #[error("this model has roles, which say what their threads call; say --threads {0}")]
    HasRoles(String),
    /// No operation of this name.
    #[error("the model has no operation `{name}`; it has {known}")]
    NoSuchOperation {
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// The model is none with so many threads.
    #[error(transparent)]
    Load(LoadError),
}

/// The model with these threads instead of its own; `config` has the rest of what was decided about
/// it.
pub fn with_clients(
    loaded: Loaded,
    config: &Config,
    clients: &[Client],
) -> Result<Loaded, ClientError> {
    let program = loaded.program().ok_or(ClientError::NoThreads)?;
    let mut roles: Vec<String> = program.threads.iter().filter_map(|of| of.role.clone()).collect();
    roles.dedup();
    if !roles.is_empty() {
        let counts: Vec<String> = roles.iter().map(|role| format!("{role}=1")).collect();
        return Err(ClientError::HasRoles(counts.join(",")));
    }
    let mut threads = Vec::new();
    for client in clients {
        let find = |name: &String| {
            let is = |operation: &linchpin_ir::program::Operation| operation.name == *name;
            program.operations.iter().position(is).ok_or_else(|| ClientError::NoSuchOperation {
                name: name.clone(),
                known: named(program.operations.iter().map(|operation| operation.name.as_str())),
            })
        };
        let mut operations: Vec<usize> =
            client.operations.iter().map(find).collect::<Result<_, _>>()?;
        operations.sort_unstable();
        operations.dedup();
        threads.extend(vec![Thread { role: None, operations, calls: None }; client.threads]);
    }
    if threads.is_empty() {
        return Err(ClientError::Nothing);
    }
    // A model may use the number of its threads: it is compiled again for that of the clients.
    let config = Config { threads: Threads::Count(threads.len()), ..config.clone() };
    let subject = loaded.subject();
    let again = load(subject.name, subject.text, Language::Lin, &config);
    let mut loaded = again.map_err(ClientError::Load)?;
    loaded.set_threads(threads);
    Ok(loaded)
}

fn named<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK: &str = include_str!("../../../models/treiber_stack.lin");

    fn with(source: &str, clients: &[(&[&str], usize)]) -> Result<Vec<Vec<usize>>, String> {
        let clients: Vec<Client> = clients
            .iter()
            .map(|(names, threads)| Client {
                operations: names.iter().map(|name| (*name).to_owned()).collect(),
                threads: *threads,
            })
            .collect();
        let config = Config::default();
        let loaded = load("model", source, Language::Lin, &config).unwrap();
        let loaded = with_clients(loaded, &config, &clients).map_err(|error| error.to_string())?;
        let threads = &loaded.program().unwrap().threads;
        Ok(threads.iter().map(|thread| thread.operations.clone()).collect())
    }

    #[test]
    fn producers_and_consumers() {
        let both = with(STACK, &[(&["push"], 2), (&["pop"], 1)]).unwrap();
        assert_eq!(both, vec![vec![0], vec![0], vec![1]]);
        assert_eq!(with(STACK, &[(&["pop", "push", "pop"], 1)]).unwrap(), vec![vec![0, 1]]);
    }

    #[test]
    fn names_that_are_none_and_roles_are_said() {
        let error = with(STACK, &[(&["pusch"], 1)]).unwrap_err();
        assert_eq!(error, "the model has no operation `pusch`; it has `push`, `pop`");
        let roles = include_str!("../../../models/k_register.lin");
        let error = with(roles, &[(&["read"], 1)]).unwrap_err();
        assert!(error.contains("say --threads writer=1,reader=1"), "{error}");
        assert_eq!(with(STACK, &[]).unwrap_err(), "there must be at least one thread");
    }
}
