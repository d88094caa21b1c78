//! Whatever the bytes, reading them takes memory in proportion: at most a constant times the input.

use crate::common::seed_and_cases;
use crate::mutation::{mutate, seeds};
use linchpin_ingest::{Format, ReadOptions, read_bytes};
use linchpin_spec::builtin;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Counts the bytes that each thread holds.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn hold(bytes: isize) {
    // A thread that ends has no counters any more.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        hold(layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        hold(-layout.size().cast_signed());
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// The most bytes that this thread held more than before, while it did this.
fn most_held(work: impl FnOnce()) -> isize {
    let before = HELD.get();
    MOST.set(before);
    work();
    MOST.get() - before
}

#[test]
fn memory_is_in_proportion_to_the_input() {
    const A_BYTE: isize = 64;
    // Histories find integers up to 2^22 in a table of 16 MiB, which grows from half of that.
    const AT_LEAST: isize = 25 << 20;
    let (seed, cases) = seed_and_cases(1_000);
    let mut rng = fastrand::Rng::with_seed(seed);
    // Compressed texts are larger inside, and have a limit of their own.
    let is_plain = |bytes: &[u8]| !matches!(bytes[0], 0x1f | 0x28);
    let seeds: Vec<_> = seeds(&mut rng).into_iter().filter(|(_, bytes)| is_plain(bytes)).collect();
    let mut worst = 0;
    for case in 0..cases {
        let (spec, mut bytes) = seeds[case as usize % seeds.len()].clone();
        mutate(&mut bytes, &mut rng);
        // A piece of it, again and again: what grows with repetition shows.
        let start = rng.usize(..=bytes.len());
        let longest = rng.choice([2, 4, 40, 400]).unwrap_or(40);
        let end = (start + 1 + rng.usize(..longest)).min(bytes.len());
        let piece = bytes[start..end].repeat(rng.usize(..1_000_000 / longest));
        bytes.splice(start..start, piece);
        let object = builtin(spec, None).unwrap();
        let format = rng.choice(Format::ALL).filter(|_| rng.u8(..4) == 0);
        let options = ReadOptions { format, ..ReadOptions::new(spec, object.operations()) };
        let held = most_held(|| drop(read_bytes(&bytes, &options)));
        let length = isize::try_from(bytes.len()).unwrap();
        assert!(
            held <= A_BYTE * length + AT_LEAST,
            "seed {seed}, case {case}: {held} bytes for {length}: {}",
            String::from_utf8_lossy(&bytes[..bytes.len().min(1000)])
        );
        if length > 100_000 {
            worst = worst.max(held / length);
        }
    }
    println!("at most {worst} bytes for a byte");
}
