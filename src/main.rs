//! The program: parse, run, exit code.

/// Counts what scripts hold.
#[cfg(feature = "script")]
#[global_allocator]
static ALLOCATOR: fingerpad::script::CountingAllocator = fingerpad::script::CountingAllocator;

fn main() -> std::process::ExitCode {
    fingerpad::cli::main()
}
