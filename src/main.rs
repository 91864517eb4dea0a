//! The program: parse, run, exit code.

fn main() -> std::process::ExitCode {
    fingerpad::cli::main()
}
