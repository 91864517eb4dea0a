//! Memory of a script.
//!
//! The language limits strings, arrays and maps individually, but not closures or the total. So every allocation of the
//! script's threads is counted, by an allocator that the program installs: [`CountingAllocator`].

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Net bytes allocated by this thread since the last query.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// The system allocator with a byte counter per thread. A program that runs untrusted scripts should make it the global
/// allocator; without it the memory of a script is not limited.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: fingerpad::script::CountingAllocator = fingerpad::script::CountingAllocator;
///
/// fn main() {}
/// ```
pub struct CountingAllocator;

// SAFETY: every call is forwarded to the system allocator; the counter is a thread-local without a destructor and does
// not allocate.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: the caller upholds the contract of `dealloc`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as isize - layout.size() as isize);
        // SAFETY: the caller upholds the contract of `realloc`.
        unsafe { System.realloc(place, layout, size) }
    }
}

fn add(bytes: isize) {
    // A thread that is ending is not queried again.
    let _ = HELD.try_with(|held| held.set(held.get().wrapping_add(bytes)));
}

/// Net change of this thread's memory since the last call.
pub(super) fn change() -> isize {
    HELD.try_with(|held| held.replace(0)).unwrap_or(0)
}

/// Runs code whose memory does not belong to the script, such as that of the simulation.
pub(super) fn uncounted<R>(act: impl FnOnce() -> R) -> R {
    let before = HELD.get();
    let done = act();
    HELD.set(before);
    done
}

/// A value moves to another thread permanently and is freed there.
pub(super) fn hand_over(bytes: usize) {
    add(-(bytes as isize));
}
