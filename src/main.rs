//! The program: parse, run, exit code.

/// Counts what scripts hold.
#[cfg(feature = "script")]
#[global_allocator]
static ALLOCATOR: fingerpad::script::CountingAllocator = fingerpad::script::CountingAllocator;

#[cfg(feature = "cli")]
fn main() -> std::process::ExitCode {
    fingerpad::cli::main()
}

#[cfg(not(feature = "cli"))]
fn main() -> std::process::ExitCode {
    eprintln!("error: this program was built without the feature `cli`, so it has no commands");
    std::process::ExitCode::from(2)
}
