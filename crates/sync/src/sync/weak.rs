//! As `std::sync::Weak`.

use super::arc::{Arc, Header, WEAK, strong};
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// As [`std::sync::Weak`].
pub struct Weak<T: ?Sized> {
    /// Nothing if it never referred to anything.
    pub(super) value: Option<NonNull<T>>,
}

// SAFETY: as std's.
unsafe impl<T: ?Sized + Sync + Send> Send for Weak<T> {}
// SAFETY: as std's.
unsafe impl<T: ?Sized + Sync + Send> Sync for Weak<T> {}

impl<T> Weak<T> {
    /// As in std.
    pub const fn new() -> Weak<T> {
        Weak { value: None }
    }
}

impl<T: ?Sized> Weak<T> {
    fn header(&self) -> Option<&Header> {
        // SAFETY: a reference of any kind keeps the header alive.
        self.value.map(|value| unsafe { Header::of(value) })
    }

    /// As in std.
    #[track_caller]
    pub fn upgrade(&self) -> Option<Arc<T>> {
        let change = |counts| (strong(counts) > 0).then_some(counts + 1);
        let header = self.header()?;
        (strong(header.counts.update(&change, Acquire, Relaxed)) > 0).then(|| {
            header.retain();
            self.value.map(Arc::of_counted)
        })?
    }

    /// As in std.
    #[track_caller]
    pub fn strong_count(&self) -> usize {
        self.header().map_or(0, |header| strong(header.counts.load(Relaxed)) as usize)
    }

    /// As in std.
    #[track_caller]
    pub fn weak_count(&self) -> usize {
        let counts = self.header().map_or(0, |header| header.counts.load(Relaxed));
        if strong(counts) == 0 { 0 } else { (counts / WEAK) as usize }
    }

    /// As in std.
    pub fn ptr_eq(&self, other: &Weak<T>) -> bool {
        match (self.value, other.value) {
            (Some(this), Some(other)) => std::ptr::addr_eq(this.as_ptr(), other.as_ptr()),
            (this, other) => this.is_none() && other.is_none(),
        }
    }
}

impl<T: ?Sized> Clone for Weak<T> {
    #[track_caller]
    fn clone(&self) -> Weak<T> {
        if let Some(header) = self.header() {
            header.retain();
            header.counts.update(&|counts| Some(counts + WEAK), Relaxed, Relaxed);
        }
        Weak { value: self.value }
    }
}

impl<T: ?Sized> Drop for Weak<T> {
    #[track_caller]
    fn drop(&mut self) {
        if let (Some(header), Some(value)) = (self.header(), self.value) {
            header.counts.update(&|counts| Some(counts - WEAK), Release, Relaxed);
            // SAFETY: this was a reference.
            unsafe { Header::release(value) };
        }
    }
}

impl<T> Default for Weak<T> {
    fn default() -> Weak<T> {
        Weak::new()
    }
}

impl<T: ?Sized> fmt::Debug for Weak<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(Weak)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    struct Counted<'a>(&'a AtomicUsize);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn the_value_is_dropped_with_the_last_strong_reference() {
        let drops = AtomicUsize::new(0);
        let arc = Arc::new(Counted(&drops));
        let weak = Arc::downgrade(&arc);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let (arc, weak) = (arc.clone(), weak.clone());
                scope.spawn(move || {
                    (0..100).for_each(|_| drop((weak.upgrade(), arc.clone())));
                    drop(arc);
                });
            }
        });
        assert_eq!((Arc::strong_count(&arc), Arc::weak_count(&arc)), (1, 1));
        assert_eq!(drops.load(Ordering::SeqCst), 0);
        drop(arc);
        assert_eq!(drops.load(Ordering::SeqCst), 1);
        assert!(weak.upgrade().is_none());
        assert_eq!((weak.strong_count(), weak.weak_count()), (0, 0));
    }

    #[test]
    fn raw_pointers_and_back() {
        let raw = Arc::into_raw(Arc::new(7_u8));
        // SAFETY: it is a reference, then two, then one.
        let arc = unsafe {
            Arc::increment_strong_count(raw);
            Arc::decrement_strong_count(raw);
            Arc::from_raw(raw)
        };
        assert_eq!(Arc::try_unwrap(arc), Ok(7));
    }

    #[test]
    fn values_come_out_if_there_is_one_reference() {
        let mut arc = Arc::new(vec![1]);
        Arc::get_mut(&mut arc).unwrap().push(2);
        let other = arc.clone();
        assert!(Arc::get_mut(&mut arc).is_none());
        Arc::make_mut(&mut arc).push(3);
        assert!(!Arc::ptr_eq(&arc, &other));
        assert_eq!(
            (Arc::unwrap_or_clone(arc), Arc::into_inner(other)),
            (vec![1, 2, 3], Some(vec![1, 2]))
        );
    }

    #[test]
    fn unsized_values_come_from_std() {
        #[repr(align(64))]
        struct Aligned(u8);
        let text: Arc<str> = Arc::from("text");
        let numbers: Arc<[u64]> = Arc::from(vec![1, 2]);
        let shown: Arc<dyn fmt::Debug> = Arc::from_std(std::sync::Arc::new("a".to_string()));
        assert_eq!(format!("{text} {numbers:?} {shown:?}"), r#"text [1, 2] "a""#);
        let aligned = Arc::new(Aligned(1));
        assert_eq!((Arc::as_ptr(&aligned).addr() % 64, aligned.0), (0, 1));
    }

    #[test]
    fn a_value_may_refer_to_itself() {
        struct Own(Weak<Own>);
        let own = Arc::new_cyclic(|weak| {
            assert!(weak.upgrade().is_none());
            Own(weak.clone())
        });
        assert!(own.0.upgrade().is_some_and(|other| Arc::ptr_eq(&own, &other)));
        assert!(Weak::<u8>::default().upgrade().is_none());
    }
}
