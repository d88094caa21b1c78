//! Processes that find each other: each is connected to every other, and has heard its greeting.
//!
//! A process calls those before it and waits for those after it, so that no two wait for each
//! other. The first connections stay open until the end, unused: one that is closed says that its
//! process is gone, also between two searches.

use crate::greeting::{Greeting, LENGTH};
use linchpin_refine::{ClusterError, Peer};
use linchpin_verdict::{Limits, StopReason};
use socket2::{SockRef, TcpKeepalive};
use std::io::{ErrorKind, Read};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// So long the first search waits for processes that were not started yet.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A process that connects has so long to say which it is.
const TO_GREET: Duration = Duration::from_secs(5);

/// How often anything is looked at.
const TURN: Duration = Duration::from_millis(20);

/// After so long without a sign of life a connection is lost.
const SILENCE: Duration = Duration::from_secs(10);

/// Another process, connected.
pub(crate) struct Met {
    pub socket: TcpStream,
    pub greeting: Greeting,
}

/// Why processes did not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotMet {
    Error(ClusterError),
    /// This one is gone.
    Lost(usize),
    /// This one never came.
    Absent(usize),
    Stopped(StopReason),
}

/// The places where processes listen, and this one does.
pub(crate) struct Mesh {
    hosts: Vec<String>,
    process: usize,
    listener: TcpListener,
    /// The first connections.
    lines: Vec<Option<TcpStream>>,
}

impl Mesh {
    /// Begins to listen.
    pub fn new(hosts: Vec<String>, process: usize) -> Result<Mesh, ClusterError> {
        let address = hosts.get(process).cloned().unwrap_or_default();
        let listening = TcpListener::bind(&address)
            .and_then(|listener| listener.set_nonblocking(true).map(|()| listener));
        match listening {
            Ok(listener) => Ok(Mesh { hosts, process, listener, lines: Vec::new() }),
            Err(error) => Err(ClusterError::Listen { address, why: error.to_string() }),
        }
    }

    pub fn peer(&self, process: usize) -> Peer {
        Peer { process, address: self.hosts.get(process).cloned().unwrap_or_default() }
    }

    /// Keeps the first connections.
    pub fn keep(&mut self, met: Vec<Option<Met>>) {
        self.lines = met.into_iter().map(|met| met.map(|met| met.socket)).collect();
        for line in self.lines.iter().flatten() {
            // Where this fails it is looked at in vain.
            let _ = line.set_nonblocking(true);
        }
    }

    /// Connects to all others, which do the same.
    pub fn meet(&self, mine: &Greeting, limits: &Limits) -> Result<Vec<Option<Met>>, NotMet> {
        let asked = Asked { mesh: self, mine, limits, start: Instant::now() };
        let mut met: Vec<Option<Met>> = Vec::new();
        for process in 0..self.process {
            met.push(Some(asked.call(process)?));
        }
        met.resize_with(self.hosts.len(), || None);
        while let Some(missing) =
            (self.process + 1..self.hosts.len()).find(|process| met[*process].is_none())
        {
            let Some(caller) = asked.answer(missing)? else { continue };
            let process = caller.greeting.process;
            if met[process].is_some() {
                return Err(NotMet::Error(ClusterError::Twice(self.peer(process))));
            }
            met[process] = Some(caller);
        }
        Ok(met)
    }

    /// A process whose first connection is closed.
    fn lost(&self) -> Option<usize> {
        let is_lost = |line: &TcpStream| match line.peek(&mut [0]) {
            Ok(count) => count == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        };
        self.lines.iter().position(|line| line.as_ref().is_some_and(is_lost))
    }
}

/// One time of meeting.
struct Asked<'a> {
    mesh: &'a Mesh,
    mine: &'a Greeting,
    limits: &'a Limits,
    start: Instant,
}

impl Asked<'_> {
    /// Whether to go on waiting for a process.
    fn wait(&self, process: usize) -> Result<(), NotMet> {
        if let Some(reason) = self.limits.exceeded(0) {
            return Err(NotMet::Stopped(reason));
        }
        if let Some(lost) = self.mesh.lost() {
            return Err(NotMet::Lost(lost));
        }
        // Later the others may still be busy with what was found.
        match self.mesh.lines.is_empty() && self.start.elapsed() > PATIENCE {
            true => Err(NotMet::Absent(process)),
            false => Ok(()),
        }
    }

    /// Calls a process that comes before this one.
    fn call(&self, process: usize) -> Result<Met, NotMet> {
        loop {
            self.wait(process)?;
            let Some(mut socket) = self.connect(process) else {
                std::thread::sleep(TURN);
                continue;
            };
            // One that just ended may still have been called: then it is called again.
            if self.mine.write(&mut socket).is_err() {
                continue;
            }
            let Some(greeting) = self.greeting(&mut socket, process, None)? else { continue };
            self.agreed(&greeting, process)?;
            return Ok(Met { socket, greeting });
        }
    }

    fn connect(&self, process: usize) -> Option<TcpStream> {
        let mut addresses = self.mesh.hosts[process].to_socket_addrs().ok()?;
        let connect = |address| TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok();
        let socket = addresses.find_map(connect)?;
        prepare(&socket);
        Some(socket)
    }

    /// Waits for one of those that come after this process, and answers it.
    fn answer(&self, missing: usize) -> Result<Option<Met>, NotMet> {
        self.wait(missing)?;
        let Ok((mut socket, _)) = self.mesh.listener.accept() else {
            std::thread::sleep(TURN);
            return Ok(None);
        };
        if socket.set_nonblocking(false).is_err() {
            return Ok(None);
        }
        prepare(&socket);
        let until = Instant::now() + TO_GREET;
        let Some(greeting) = self.greeting(&mut socket, missing, Some(until))? else {
            return Ok(None);
        };
        let process = greeting.process;
        // It hears this before this process may end because of what it said.
        if self.mine.write(&mut socket).is_err() {
            return Ok(None);
        }
        if process == self.mesh.process {
            return Err(NotMet::Error(ClusterError::Twice(self.mesh.peer(process))));
        }
        self.agreed(&greeting, process)?;
        let is_later = self.mesh.process < process && process < self.mesh.hosts.len();
        Ok(is_later.then_some(Met { socket, greeting }))
    }

    fn agreed(&self, theirs: &Greeting, process: usize) -> Result<(), NotMet> {
        self.mine.agrees(theirs, self.mesh.peer(process)).map_err(NotMet::Error)
    }

    /// The greeting of the process at the other end; `None` if there is none.
    fn greeting(
        &self,
        socket: &mut TcpStream,
        process: usize,
        until: Option<Instant>,
    ) -> Result<Option<Greeting>, NotMet> {
        if socket.set_read_timeout(Some(TURN)).is_err() {
            return Ok(None);
        }
        let (mut bytes, mut read) = ([0; LENGTH], 0);
        while read < LENGTH {
            match socket.read(&mut bytes[read..]) {
                Ok(0) => return Ok(None),
                Ok(count) => read += count,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Ok(None),
                },
            }
            self.wait(process)?;
            if until.is_some_and(|until| Instant::now() > until) {
                return Ok(None);
            }
        }
        let is_ready = socket.set_read_timeout(None).is_ok();
        Ok(Greeting::read(&bytes).filter(|_| is_ready))
    }
}

/// What comes is passed on at once; a machine that is switched off is noticed.
fn prepare(socket: &TcpStream) {
    let _ = socket.set_nodelay(true);
    let socket = SockRef::from(socket);
    let alive = TcpKeepalive::new().with_time(SILENCE).with_interval(SILENCE / 5);
    let _ = socket.set_tcp_keepalive(&alive);
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_user_timeout(Some(2 * SILENCE));
}
