//! Which fields of an object some way on still reads: two states that differ only in others are the
//! same state.
//!
//! A *role* is a variable that may hold a reference: a shared variable, a thread-local one, a
//! field, or a local of an operation at one of its nodes. References flow from role to role as
//! actions copy them, and a field is read through the roles that the object of an access comes
//! from. So what may ever be read of an object through a reference in some role is what is read
//! through this role directly, or may be read through a role that it flows to: a least fixpoint
//! over the code.
//!
//! In a state, a field of an object is *needed* if it may be read through a role that holds the
//! object: a shared variable, a variable of a thread, or a needed field of another object. A field
//! that is not needed never is again: a step gives the object only to roles that references flow to
//! from a role that held it, and through those no more may be read. A write may come, which makes
//! the old value vanish. So a field that is not needed is as good as empty.
//!
//! What a local holds flows on to the next node only if some way on reads it there. And a field
//! that is written through a fresh local (`facts.rs`) is as good as empty before that: no other
//! role holds the object, so what the field held is read by none.
//!
//! Only for collected memory without a bound on objects: what counts as one object more would
//! depend on what is needed. Not with crashes, after which recovery reads what it likes.

use crate::canonical::LiveWords;
use crate::facts::{Facts, facts};
use crate::layout::{Kind, Layout, Slot, VARIABLES, routines_of};
use linchpin_ir::liveness::live_locals;
use linchpin_ir::program::{Action, Body, Expr, LocalId, LocalTarget, Place, Program, Target};

/// Words of an object: a bit for each.
pub(crate) type WordSet = u64;

/// A variable that may hold a reference, as a number.
type Role = usize;

/// The roles of a program, and what may be read through each.
#[derive(Clone, Debug)]
pub(crate) struct Roles {
    structs: usize,
    /// For each role and struct, the words that may be read.
    reads: Vec<WordSet>,
    /// The role of each shared word.
    shared: Vec<Role>,
    /// The role of each word of thread-local variables.
    variables: Vec<Role>,
    /// For each struct, the role of each word.
    fields: Vec<Vec<Role>>,
    /// For each routine, the role of its first local at its first node, how many locals it has, and
    /// the local that each word belongs to.
    locals: Vec<(Role, usize, Vec<usize>)>,
    /// For each shared variable, the roles from which references may come to it.
    sources: Vec<Vec<bool>>,
}

impl Roles {
    /// The roles of a program; `None` if an object has too many words.
    pub fn of(program: &Program, layout: &Layout) -> Option<Roles> {
        if layout.field_kinds.iter().any(|kinds| kinds.len() > WordSet::BITS as usize) {
            return None;
        }
        let mut count = 0;
        let mut some = |slots: usize| {
            count += slots;
            count - slots
        };
        let shared = by_word(&layout.shared, 0, some(layout.shared.len()));
        let start = layout.variables.first().map_or(0, |slot| slot.at);
        let variables = by_word(&layout.variables, start, some(layout.variables.len()));
        let first_fields: Vec<Role> = layout.fields.iter().map(|of| some(of.len())).collect();
        let fields = layout.fields.iter().zip(&first_fields);
        let fields = fields.map(|(slots, first)| by_word(slots, 1, *first)).collect();
        let routines = routines_of(program);
        let locals = routines.iter().zip(&layout.locals).map(|((body, _), slots)| {
            let first = some(body.nodes.len() * slots.len());
            (first, slots.len(), by_word(slots, layout.locals_at, 0))
        });
        let locals: Vec<_> = locals.collect();
        let structs = layout.fields.len();
        let mut flow = Flow {
            structs,
            first_variable: layout.shared.len(),
            first_fields,
            layout,
            reads: vec![0; count * structs],
            copies: Vec::new(),
        };
        for ((body, _), (first, locals, _)) in routines.iter().zip(&locals) {
            flow.body(body, *first, *locals);
        }
        flow.close();
        for ((body, _), (first, locals, _)) in routines.iter().zip(&locals) {
            flow.forget_dead(body, *first, *locals);
        }
        let sources = (0..layout.shared.len()).map(|role| flow.sources_of(role, count)).collect();
        Some(Roles { structs, reads: flow.reads, shared, variables, fields, locals, sources })
    }

    /// Whether a reference in a role may come to a shared variable, by the number of its word.
    pub fn may_come(&self, role: Role, word: usize) -> bool {
        self.sources[self.shared[word]][role]
    }

    /// The words of an object of a struct that may be read through a reference in a role.
    #[inline]
    pub fn read(&self, role: Role, of: usize) -> WordSet {
        self.reads[role * self.structs + of]
    }

    pub fn of_shared(&self, word: usize) -> Role {
        self.shared[word]
    }

    pub fn of_variable(&self, word: usize) -> Role {
        self.variables[word]
    }

    pub fn of_field(&self, of: usize, word: usize) -> Role {
        self.fields[of][word]
    }

    /// The role of a word of the locals of a routine, at a node.
    pub fn of_local(&self, routine: usize, node: usize, word: usize) -> Role {
        let (first, count, locals) = &self.locals[routine];
        first + node * count + locals[word]
    }
}

/// The words that may hold references, each with its role (0 if roles are not looked at).
#[derive(Clone, Debug)]
pub(crate) struct Holders {
    /// In the shared variables, from the start of the state.
    pub shared: Vec<(usize, Role)>,
    /// In the variables of a thread, from the start of its region.
    pub variables: Vec<(usize, Role)>,
    /// For each routine and node, in what is live, from the start of the region.
    pub live: Vec<Vec<Vec<(usize, Role)>>>,
    /// For each struct, in its fields, from the first on.
    pub fields: Vec<Vec<(usize, Role)>>,
}

impl Holders {
    pub fn of(layout: &Layout, live: &[Vec<LiveWords>], roles: Option<&Roles>) -> Holders {
        let of_kinds = |kinds: &[Kind], start: usize, role: &dyn Fn(&Roles, usize) -> Role| {
            let references = (0..).zip(kinds).filter(|(_, kind)| **kind == Kind::Ref);
            let with_role = |(at, _)| (start + at, roles.map_or(0, |roles| role(roles, at)));
            references.map(with_role).collect::<Vec<(usize, Role)>>()
        };
        let of_live = |routine: usize, node: usize, words: &LiveWords| {
            let references = words.iter().filter(|(_, kind)| *kind == Kind::Ref);
            let role = |at: usize| {
                roles.map_or(0, |roles| roles.of_local(routine, node, at - layout.locals_at))
            };
            references.map(|(at, _)| (*at, role(*at))).collect()
        };
        let of_routine = |(routine, nodes): (usize, &Vec<LiveWords>)| {
            (0..).zip(nodes).map(|(node, words)| of_live(routine, node, words)).collect()
        };
        let fields = (0..).zip(&layout.field_kinds);
        Holders {
            shared: of_kinds(&layout.shared_kinds, 0, &Roles::of_shared),
            variables: of_kinds(&layout.variable_kinds, VARIABLES, &Roles::of_variable),
            live: (0..).zip(live).map(of_routine).collect(),
            fields: fields
                .map(|(of, kinds)| of_kinds(kinds, 0, &|roles, word| roles.of_field(of, word)))
                .collect(),
        }
    }

    /// Those through which something may be read.
    pub fn readers(&self, roles: &Roles) -> Holders {
        let reads = |(_, role): &(usize, Role)| {
            roles.reads[role * roles.structs..][..roles.structs].iter().any(|words| *words != 0)
        };
        let of = |holders: &Vec<(usize, Role)>| holders.iter().copied().filter(reads).collect();
        Holders {
            shared: of(&self.shared),
            variables: of(&self.variables),
            live: self.live.iter().map(|nodes| nodes.iter().map(of).collect()).collect(),
            fields: self.fields.iter().map(of).collect(),
        }
    }
}

/// For each word of some slots, the number of its slot, from `first` on.
fn by_word(slots: &[Slot], start: usize, first: usize) -> Vec<usize> {
    let mut numbers = Vec::new();
    for (number, slot) in slots.iter().enumerate() {
        debug_assert_eq!(slot.at, start + numbers.len());
        numbers.extend(std::iter::repeat_n(first + number, slot.width));
    }
    numbers
}

/// What the code says about roles.
struct Flow<'a> {
    structs: usize,
    first_variable: Role,
    first_fields: Vec<Role>,
    layout: &'a Layout,
    reads: Vec<WordSet>,
    copies: Vec<Copied>,
}

/// References may be copied from one role to another.
#[derive(Clone, Copy)]
struct Copied {
    from: Role,
    to: Role,
    /// Words of the object that are written before they are read through the second.
    written: WordSet,
}

/// Where code is: the role of its first local there.
#[derive(Clone, Copy)]
struct At(Role);

impl At {
    fn local(self, local: LocalId) -> Role {
        self.0 + local.0 as usize
    }
}

impl Flow<'_> {
    fn body(&mut self, body: &Body, first: Role, locals: usize) {
        let live = live_locals(body);
        for ((number, node), known) in body.nodes.iter().enumerate().zip(facts(body)) {
            let at = At(first + number * locals);
            for edge in &node.edges {
                for (action, _) in &edge.actions {
                    self.action(at, action);
                }
                let Target::Node(next) = &edge.target else { continue };
                let next = next.0 as usize;
                let mut written = vec![0; locals];
                if let Some(mut known) = known.clone() {
                    for (number, (action, _)) in edge.actions.iter().enumerate() {
                        self.note_written(&known, action, &mut written);
                        known.perform(edge, number);
                    }
                }
                // A local that gets another object on the way stands for both of them.
                for (action, _) in &edge.actions {
                    if let Some(local) = action.answer() {
                        written[local.0 as usize] = 0;
                    }
                }
                // What a local holds at any time on the edge counts as held where it starts.
                for local in (0..locals).filter(|local| live[next][*local]) {
                    let (from, to) = (at.0 + local, first + next * locals + local);
                    self.copies.push(Copied { from, to, written: written[local] });
                }
            }
        }
    }

    /// Notes the words that an action writes through a fresh local.
    fn note_written(&self, known: &Facts, action: &Action, written: &mut [WordSet]) {
        let Action::Write { place, .. } = action else { return };
        if let Place::Field { object: Expr::Local(local), of, field } = place
            && known.is_fresh(place)
        {
            written[local.0 as usize] |= self.words(*of, *field);
        }
    }

    /// The words of a field, counted from the one after the head.
    fn words(&self, of: usize, field: usize) -> WordSet {
        let slot = self.layout.fields[of][field];
        (slot.at - 1..slot.at - 1 + slot.width).fold(0, |set, word| set | 1 << word)
    }

    fn flows(&mut self, from: Role, to: Role) {
        self.copies.push(Copied { from, to, written: 0 });
    }

    fn action(&mut self, at: At, action: &Action) {
        match action {
            Action::Guard(_) | Action::Assert(_) | Action::Choose { .. } => {}
            Action::Free(_) | Action::Fence => {}
            Action::Assign { local, value } => {
                let to = match local {
                    LocalTarget::Local(local)
                    | LocalTarget::Element(local, _)
                    | LocalTarget::Component(local, _) => at.local(*local),
                    LocalTarget::ThreadLocal(variable) => self.first_variable + variable,
                };
                self.copy(at, value, to);
            }
            Action::New { object, fields, .. } => {
                for (field, value) in fields.iter().enumerate() {
                    self.copy(at, value, self.first_fields[*object] + field);
                }
            }
            Action::Read { into, place } | Action::LoadLinked { into, place } => {
                let from = self.read(at, place);
                self.flows(from, at.local(*into));
            }
            Action::Write { place, value } => self.copy(at, value, self.role(place)),
            Action::Cas { cells, .. } => {
                for cell in cells {
                    let to = self.read(at, &cell.place);
                    self.copy(at, &cell.new, to);
                }
            }
            Action::Swap { into, place, value } | Action::FetchAdd { into, place, value } => {
                let role = self.read(at, place);
                self.flows(role, at.local(*into));
                self.copy(at, value, role);
            }
            Action::StoreConditional { place, value, .. } => {
                let to = self.read(at, place);
                self.copy(at, value, to);
            }
            Action::Lock(place)
            | Action::Unlock(place)
            | Action::Flush(place)
            | Action::Persist(place) => {
                self.read(at, place);
            }
            Action::Update { into, place, arguments, .. } => {
                let role = self.read(at, place);
                self.flows(role, at.local(*into));
                for argument in arguments {
                    self.copy(at, argument, role);
                }
            }
        }
    }

    /// The roles that the references in the value of an expression may come from.
    fn sources(&self, at: At, expr: &Expr) -> Vec<Role> {
        let mut roles = Vec::new();
        expr.walk(&mut |inner| match inner {
            Expr::Local(local) => roles.push(at.local(*local)),
            Expr::ThreadLocal(variable) => roles.push(self.first_variable + variable),
            _ => {}
        });
        roles
    }

    fn copy(&mut self, at: At, value: &Expr, to: Role) {
        let from = self.sources(at, value);
        from.into_iter().for_each(|from| self.flows(from, to));
    }

    /// The role of a place.
    fn role(&self, place: &Place) -> Role {
        match place {
            Place::Shared(variable) | Place::SharedElement(variable, _) => *variable,
            Place::Field { of, field, .. } | Place::FieldElement { of, field, .. } => {
                self.first_fields[*of] + field
            }
        }
    }

    /// Notes that a place is read; returns its role.
    fn read(&mut self, at: At, place: &Place) -> Role {
        if let Place::Field { object, of, field } | Place::FieldElement { object, of, field, .. } =
            place
        {
            let words = self.words(*of, *field);
            for role in self.sources(at, object) {
                self.reads[role * self.structs + of] |= words;
            }
        }
        self.role(place)
    }

    /// The least fixpoint: what may be read where a reference flows to may be read through it.
    fn close(&mut self) {
        let mut changed = true;
        while changed {
            changed = false;
            // Code is written forwards, and what is read is known at the end.
            for &Copied { from, to, written } in self.copies.iter().rev() {
                for of in 0..self.structs {
                    let read = self.reads[to * self.structs + of] & !written;
                    let known = &mut self.reads[from * self.structs + of];
                    changed |= read & !*known != 0;
                    *known |= read;
                }
            }
        }
    }

    /// Through a local that is written before it is read, nothing is read of what it holds: that it
    /// may be read later on the edge is about what it holds by then.
    fn forget_dead(&mut self, body: &Body, first: Role, locals: usize) {
        for (node, live) in live_locals(body).iter().enumerate() {
            for local in (0..locals).filter(|local| !live[*local]) {
                let role = first + node * locals + local;
                self.reads[role * self.structs..(role + 1) * self.structs].fill(0);
            }
        }
    }

    /// The roles from which references may come to a role, itself among them.
    fn sources_of(&self, role: Role, count: usize) -> Vec<bool> {
        let mut sources = vec![false; count];
        sources[role] = true;
        let mut changed = true;
        while changed {
            changed = false;
            for &Copied { from, to, .. } in self.copies.iter().rev() {
                if sources[to] && !sources[from] {
                    sources[from] = true;
                    changed = true;
                }
            }
        }
        sources
    }
}
