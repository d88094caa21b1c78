//! One exploration by several threads of the system: who explores what.

use crate::crew::{Crew, Observer, Position};
use crate::interleave::{Bounded, Branch, Dpor, Forks, Path, Shown};
use crate::options::{Exploration, Options, Strategy};
use crate::weak::{self, Names};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Every execution of a strategy, explored by several threads of the system.
///
/// Each of them calls [`Together::work`] with the same body. Which executions there are does not
/// depend on how many threads take part; which of them sees what does.
pub struct Together(Tree);

/// The crew of a strategy, and what it has in common.
enum Tree {
    Exhaustive { crew: Crew<Path<Dpor>>, forks: Arc<Mutex<Forks>> },
    Preemptions { crew: Crew<Path<Bounded>>, most: usize, shown: Arc<Shown> },
    Weak { crew: Crew<weak::Part>, names: Names },
}

impl Together {
    /// Nothing is explored yet. When an observer breaks off, executions that come before that one
    /// may go on for so long, so that the first one is found.
    ///
    /// Only strategies that cover everything are explored together: of the others, runs with other
    /// seeds are.
    pub fn new(strategy: &Strategy, grace: Duration) -> Option<Together> {
        let tree = match *strategy {
            Strategy::Exhaustive => {
                let crew = Crew::new(Path::whole(), grace);
                Tree::Exhaustive { crew, forks: Arc::default() }
            }
            Strategy::Preemptions(most) => {
                let crew = Crew::new(Path::whole(), grace);
                Tree::Preemptions { crew, most, shown: Arc::default() }
            }
            Strategy::Weak => {
                let crew = Crew::new(weak::Part::whole(), grace);
                Tree::Weak { crew, names: Names::new() }
            }
            _ => return None,
        };
        Some(Together(tree))
    }

    /// Explores until nothing is left. Answers the position of the last execution at which the
    /// observer broke off: the first of all that threads answer is the one that one thread alone
    /// would have found.
    ///
    /// Under [`Strategy::Exhaustive`] a [`Problem`](crate::Problem) that ends an execution early
    /// ends the exploration: of what would have followed nothing is known.
    pub fn work(
        &self,
        options: &Options,
        body: &Rc<dyn Fn()>,
        observe: Observer<'_>,
    ) -> Option<Position> {
        match &self.0 {
            Tree::Exhaustive { crew, forks } => {
                let dpor = Dpor::with(Arc::clone(forks));
                crew.work(options, Branch::new(options, body, dpor), observe)
            }
            Tree::Preemptions { crew, most, shown } => {
                let bounded = Bounded::with(*most, Arc::clone(shown));
                crew.work(options, Branch::new(options, body, bounded), observe)
            }
            Tree::Weak { crew, names } => {
                crew.work(options, weak::Engine::new(options, body, names.clone()), observe)
            }
        }
    }

    /// What was explored by all.
    pub fn explored(self) -> Exploration {
        match self.0 {
            Tree::Exhaustive { crew, .. } => crew.explored(),
            Tree::Preemptions { crew, .. } => crew.explored(),
            Tree::Weak { crew, .. } => crew.explored(),
        }
    }
}
