//! Several processes, searching together: the whole of it.

use crate::exchange::{Exchange, Stopped};
use crate::greeting::Greeting;
use crate::hosts::HostsError;
use crate::mesh::{Mesh, Met, NotMet, PATIENCE};
use crate::wire::{Broken, Status, Wire};
use crate::worker::{Ended, How, Left, Shared, WorkerSearch};
use linchpin_refine::model::ModelProduct;
use linchpin_refine::search::{Exploration, SearchOptions, Stats};
use linchpin_refine::{Cluster, ClusterError, NotTaken, Peer, Portable, Task, Traffic};
use linchpin_verdict::{Inconclusive, Limits};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread::Builder;
use std::time::{Duration, Instant};
use timely::communication::Hooks;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::allocator::TcpBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;

/// How long the last messages may take to leave.
const TO_LEAVE: Duration = Duration::from_secs(2);

/// This process among several that search together.
pub struct Processes {
    hosts: Vec<String>,
    process: usize,
    workers: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    mesh: Option<Mesh>,
    searches: u32,
    /// Why no search is possible any more.
    over: Option<Inconclusive>,
    traffic: Traffic,
}

impl Processes {
    /// Process number `process`, from 0, of those that listen on these hosts, with at most so many
    /// workers: as many as the one of them that has the fewest.
    pub fn new(
        hosts: Vec<String>,
        process: usize,
        workers: usize,
    ) -> Result<Processes, HostsError> {
        if process >= hosts.len() {
            return Err(HostsError::NoProcess { process, count: hosts.len() });
        }
        Ok(Processes { hosts, process, workers: workers.max(1), state: Mutex::default() })
    }

    fn greeting(&self, search: u32, task: Task) -> Greeting {
        // The same in every process of the same version.
        let mut hosts = DefaultHasher::new();
        self.hosts.hash(&mut hosts);
        Greeting {
            process: self.process,
            search,
            workers: u32::try_from(self.workers).unwrap_or(u32::MAX),
            task,
            hosts: hosts.finish(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    fn peer(&self, process: usize) -> Peer {
        Peer { process, address: self.hosts.get(process).cloned().unwrap_or_default() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why processes that did not meet, or an error, end the search.
    fn unmet(&self, why: NotMet) -> Inconclusive {
        match why {
            NotMet::Error(error) => undecided(error),
            NotMet::Lost(process) => self.lost(process),
            NotMet::Absent(process) => undecided(format!(
                "{} did not come within {} seconds: start it with the same command and `--process \
                 {process}`",
                self.peer(process),
                PATIENCE.as_secs(),
            )),
            NotMet::Stopped(reason) => reason.into(),
        }
    }

    fn lost(&self, process: usize) -> Inconclusive {
        undecided(format!(
            "the connection to {} was lost: it has ended or cannot be reached any more; start all \
             processes again",
            self.peer(process),
        ))
    }

    fn left(&self, why: Left) -> Inconclusive {
        match why {
            Left::Broken(Broken::Lost(process)) => self.lost(process),
            Left::Broken(Broken::Failed) => undecided("a worker failed"),
            Left::Stopped(reason) => reason.into(),
        }
    }

    /// Why a search was stopped: by this process, or by another one.
    fn stopped(&self, worker: u16, threads: u16, why: Stopped) -> Inconclusive {
        let process = usize::from(worker / threads.max(1));
        let said = match (why.reason(), why) {
            (Some(reason), _) if process == self.process => return reason.into(),
            (Some(reason), _) => reason.to_string(),
            (None, Stopped::Damaged) => NotTaken::Damaged.to_string(),
            (None, _) => NotTaken::Full.to_string(),
        };
        undecided(format!("{} ended the search: {said}", self.peer(process)))
    }

    /// One search; an error ends all that would come after it, too.
    fn explored(
        &self,
        state: &mut State,
        product: &ModelProduct,
        task: Task,
        options: &SearchOptions,
        progress: &(dyn Fn(&Stats) + Sync),
        stats: &mut Stats,
    ) -> Result<Exploration, Inconclusive> {
        if let Some(why) = &state.over {
            return Err(why.clone());
        }
        state.searches += 1;
        let greeting = self.greeting(state.searches, task);
        let mesh = state.mesh.as_ref().ok_or_else(|| undecided("the processes have not met"))?;
        let met = mesh.meet(&greeting, &options.limits).map_err(|why| self.unmet(why))?;
        let searched = self.search(met, product, options, progress, stats);
        let searched = searched
            .map_err(|error| undecided(format!("the processes cannot be connected: {error}")))?;
        let (Ended { how, stats: all, sent }, threads) = searched.map_err(|why| self.left(why))?;
        *stats = all;
        let (processes, workers) = (self.hosts.len(), usize::from(threads));
        state.traffic = Traffic { processes, workers, bytes: sent };
        match how {
            How::Complete => Ok(Exploration::Complete),
            How::Stopped(worker, why) => Err(self.stopped(worker, threads, why)),
            How::Found { path, wrong } => {
                let number = |(bytes, set): (Vec<u8>, Vec<u8>)| {
                    product.read_set(&set).map(|set| (bytes, set))
                };
                let path: Option<Vec<_>> = path.into_iter().map(number).collect();
                let path = path.ok_or_else(|| undecided(NotTaken::Damaged))?;
                Ok(Exploration::Found { path, wrong })
            }
        }
    }

    /// One search, over these connections.
    fn search(
        &self,
        met: Vec<Option<Met>>,
        product: &ModelProduct,
        options: &SearchOptions,
        progress: &(dyn Fn(&Stats) + Sync),
        so_far: &mut Stats,
    ) -> io::Result<Result<(Ended, u16), Left>> {
        let others = met.iter().flatten().map(|met| met.greeting.workers);
        let own = u32::try_from(self.workers).unwrap_or(u32::MAX);
        let threads = others.fold(own, u32::min).clamp(1, 256);
        let threads = u16::try_from(threads).unwrap_or(1);
        let processes = u16::try_from(met.len()).map_err(io::Error::other)?;
        let workers = processes.checked_mul(threads).ok_or(io::ErrorKind::InvalidInput)?;
        let status = Status::new();
        let peers = met.iter().flatten().count();
        let wires = met.into_iter().enumerate().map(|(process, met)| {
            met.map(|met| Wire::new(met.socket, process, &status)).transpose()
        });
        let wires = wires.collect::<io::Result<Vec<_>>>()?;
        let hooks = Hooks::default();
        let inner = ProcessBuilder::new_typed_vector(
            usize::from(threads),
            hooks.refill.clone(),
            hooks.spill.clone(),
        );
        let (builders, threads_of_wires) = initialize_networking_from_sockets(
            inner,
            wires,
            self.process,
            usize::from(threads),
            hooks,
        )?;
        // To drop this is to wait for threads, which sleep for ever where a connection is lost. If
        // no one waited, the stacks of those that end would be kept.
        Builder::new().name("wires".into()).spawn(move || drop(threads_of_wires))?;
        let first = u16::try_from(self.process).map_err(io::Error::other)? * threads;
        let totals = Mutex::new(Stats::default());
        let shared =
            Shared { product, options, status: &status, progress, threads, first, totals: &totals };
        let ended = work(&shared, builders, workers);
        *so_far = totals.into_inner().unwrap_or_else(PoisonError::into_inner);
        match &ended {
            Ok(_) => {
                let until = Instant::now() + TO_LEAVE;
                while status.ended() < peers && Instant::now() < until {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            Err(_) => status.hang_up(),
        }
        Ok(ended.map(|ended| (ended, threads)))
    }
}

/// A worker of this process does not go on.
const FAILED: Left = Left::Broken(Broken::Failed);

/// Notes that a worker has failed, so that others do not wait for it.
struct Watch<'a>(&'a Status);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.fail();
        }
    }
}

/// Lets all workers of this process work; all end the same way.
fn work<P: Portable>(
    shared: &Shared<'_, P>,
    builders: Vec<TcpBuilder>,
    workers: u16,
) -> Result<Ended, Left> {
    std::thread::scope(|scope| {
        let mut running = Vec::new();
        for (own, builder) in (shared.first..).zip(builders) {
            let one = move || {
                let _watch = Watch(shared.status);
                let exchange = Exchange::new(builder, own, workers);
                WorkerSearch::new(shared, exchange, own, workers).run()
            };
            match Builder::new().name(format!("worker {own}")).spawn_scoped(scope, one) {
                Ok(worker) => running.push(worker),
                Err(_) => shared.status.fail(),
            }
        }
        let ended = running.into_iter().map(|worker| worker.join().unwrap_or(Err(FAILED)));
        // What one of them says is what all say, unless one could not go on.
        ended.reduce(|one, other| if one.is_err() { one } else { other }).unwrap_or(Err(FAILED))
    })
}

fn undecided(why: impl ToString) -> Inconclusive {
    Inconclusive::Undecided(why.to_string())
}

impl Cluster for Processes {
    fn agree(&self, task: Task, limits: &Limits) -> Result<(), ClusterError> {
        let mut mesh = Mesh::new(self.hosts.clone(), self.process)?;
        let met = mesh.meet(&self.greeting(0, task), limits);
        let mut state = self.state();
        match met {
            Ok(met) => mesh.keep(met),
            Err(NotMet::Error(error)) => return Err(error),
            Err(other) => state.over = Some(self.unmet(other)),
        }
        state.mesh = Some(mesh);
        Ok(())
    }

    fn explore(
        &self,
        product: &ModelProduct,
        task: Task,
        options: &SearchOptions,
        progress: &(dyn Fn(&Stats) + Sync),
    ) -> (Exploration, Stats) {
        let mut state = self.state();
        let mut stats = Stats::default();
        match self.explored(&mut state, product, task, options, progress, &mut stats) {
            Ok(exploration) => (exploration, stats),
            Err(why) => {
                state.over = Some(why.clone());
                (Exploration::Stopped(why), stats)
            }
        }
    }

    fn tells(&self) -> bool {
        self.process == 0
    }

    fn traffic(&self) -> Traffic {
        self.state().traffic
    }
}

impl fmt::Debug for Processes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} of {:?}", self.process, self.hosts)
    }
}
