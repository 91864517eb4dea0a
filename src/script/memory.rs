//! Memory that a script holds.
//!
//! The language bounds strings, arrays and maps one by one, but not what closures hold, nor all values together. So every allocation of a
//! script's threads is counted, by an allocator that the program installs: [`CountingAllocator`].

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has taken and not given back since it was last asked.
    static HELD: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, which counts the bytes that each thread holds. A program that runs scripts of others makes it the global one;
/// without it the memory of a script's values is not bounded.
///
/// ```
/// #[global_allocator]
/// static ALLOCATOR: fingerpad::script::CountingAllocator = fingerpad::script::CountingAllocator;
///
/// fn main() {}
/// ```
pub struct CountingAllocator;

// SAFETY: every call goes to the system's allocator as it is; the counter is a thread-local without a destructor and takes no memory.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller keeps to the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        add(layout.size() as isize);
        // SAFETY: the caller keeps to the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        add(-(layout.size() as isize));
        // SAFETY: the caller keeps to the contract of `dealloc`.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        add(size as isize - layout.size() as isize);
        // SAFETY: the caller keeps to the contract of `realloc`.
        unsafe { System.realloc(place, layout, size) }
    }
}

fn add(bytes: isize) {
    // A thread that is ending is not asked again.
    let _ = HELD.try_with(|held| held.set(held.get().wrapping_add(bytes)));
}

/// Bytes by which what this thread holds has changed since the last call.
pub(super) fn change() -> isize {
    HELD.try_with(|held| held.replace(0)).unwrap_or(0)
}

/// Does something with memory that is not the script's: what the simulation has taken, the script's thread must not seem to give back.
pub(super) fn uncounted<R>(act: impl FnOnce() -> R) -> R {
    let before = HELD.get();
    let done = act();
    HELD.set(before);
    done
}

/// Something goes to another thread for good, and is given back there.
pub(super) fn hand_over(bytes: usize) {
    add(-(bytes as isize));
}
