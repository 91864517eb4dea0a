//! Hostile files, full disks, signals and scripts that exceed limits. Each test describes the symptom that it prevents.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use fingerpad::record::{Ending, Recording};

/// Time limit of a rejection; a program that reads endlessly takes longer.
const SOON: Duration = Duration::from_secs(120);

/// The program with a memory limit, which protects the machine.
fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 6000000; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_fingerpad")]).args(arguments);
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn fingerpad(arguments: &[&str]) -> Output {
    let start = Instant::now();
    let out = command(arguments).stdin(Stdio::null()).output().expect("the program runs");
    assert!(start.elapsed() < SOON, "{arguments:?} took {:.0} s", start.elapsed().as_secs_f64());
    out
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("robustness").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn write(folder: &Path, name: &str, contents: impl AsRef<[u8]>) -> String {
    let file = folder.join(name);
    std::fs::write(&file, contents).expect("a file");
    file.to_string_lossy().into_owned()
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_string_lossy().into_owned()
}

/// Runs the program, which must exit with code 2 and no backtrace; returns its message.
#[track_caller]
fn refused(arguments: &[&str]) -> String {
    let out = fingerpad(arguments);
    let message = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2), "{arguments:?}: {message}");
    // A slow run says so before it ends with an error.
    let first = message.lines().find(|line| !line.starts_with("warning: ")).unwrap_or_default();
    assert!(first.starts_with("error: ") && !message.contains("panicked"), "{arguments:?}: {message}");
    message
}

const GROUND: &str = "[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n";
const GROUND_MAP: &str = "scene(#{ body: #{ g: #{ kind: \"fixed\", shape: \"ground\" } } });\n";

/// The error of a script, which ends with exit code 2.
#[track_caller]
fn script_error(name: &str, script: &str) -> String {
    refused(&["run", &write(&folder(name), "script.rhai", script)])
}

mod output {
    use super::*;

    /// Exit 101 with a backtrace.
    #[test]
    fn printing_to_a_full_disk_is_an_error_in_every_command() {
        let folder = folder("full");
        let scene = write(&folder, "scene.toml", format!("seconds = 0.1\n{GROUND}"));
        let recording = path(&folder, "a.fpr");
        assert!(fingerpad(&["run", &scene, "--record", &recording]).status.success());
        let problem = path(&folder, "problem.txt");
        assert!(fingerpad(&["problem", "save", "rest", "--at", "0.1", "--out", &problem]).status.success());
        let commands: [&[&str]; 13] = [
            &["run", &scene],
            &["run", &scene, "--json"],
            &["replay", &recording],
            &["replay", &recording, "--verify"],
            &["check", "--json", &scene],
            &["hand"],
            &["hand", "--json"],
            &["bench", "factor", "--quick"],
            &["problem", "solve", &problem],
            &["devices", "list"],
            &["completions", "bash"],
            &["--help"],
            &["--version"],
        ];
        for arguments in commands {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
            let out = command(arguments).stdout(full).output().expect("the program runs");
            let message = text(&out.stderr);
            assert_eq!(out.status.code(), Some(2), "{arguments:?}: {message}");
            let last = message.lines().last().unwrap_or_default();
            assert!(last.starts_with("error: cannot write to stdout: "), "{arguments:?}: {message}");
        }
    }

    /// `ulimit -f` ended the run with a signal, and the table in the middle of a line.
    #[test]
    fn a_limit_of_file_size_is_an_error() {
        let folder = folder("ulimit");
        let table = path(&folder, "run.csv");
        let recording = path(&folder, "run.fpr");
        let mut shell = Command::new("sh");
        shell.args(["-c", "ulimit -f 16; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_fingerpad"), "run", "stack"]);
        let out = shell.args(["-q", "--seconds", "2", "--trace", &table, "--record", &recording]).output();
        let out = out.expect("the program runs");
        assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
        assert!(text(&out.stderr).starts_with("error: cannot write "), "{}", text(&out.stderr));
        // The other file is complete up to there.
        let kept = Recording::read(Path::new(&recording)).expect("a recording");
        assert!(!matches!(kept.ending, Ending::CutOff { .. }) && !kept.steps.is_empty(), "{:?}", kept.ending);
    }

    /// Tables that a plot is compared with, measured joints, and motions of a device profile were overwritten.
    #[test]
    fn inputs_of_all_commands_are_safe() {
        let folder = folder("safe");
        let table = write(&folder, "table.csv", "time,step_ms\n0.01,1\n");
        let plot = ["bench", "pinch", "--quick", "--plot-steps"];
        let message = refused(&[&plot[..], &[&table, "--beside", &table]].concat());
        assert!(message.contains("--plot-steps") && message.contains("is an input"), "{message}");
        let both = path(&folder, "both.csv");
        let message = refused(&[&plot[..], &[&both, "--csv", &both]].concat());
        assert!(message.contains("--csv writes to the same file"), "{message}");
        let joints = write(&folder, "joints.txt", "1 2 3\n");
        assert!(refused(&["hand", "fit", "--joints", &joints, "--out", &joints]).contains("is an input"));
        assert_eq!(std::fs::read_to_string(&joints).expect("the joints"), "1 2 3\n");
        let recording = path(&folder, "motion.fpr");
        assert!(fingerpad(&["run", "pinch", "--seconds", "0.1", "--record", &recording]).status.success());
        let before = std::fs::read(&recording).expect("the recording");
        let profile = "kind = \"motion\"\nname = \"played\"\nfile = \"motion.fpr\"\n";
        let profile = write(&folder, "played.toml", profile);
        let message =
            refused(&["run", "-q", "pinch", "--device", &profile, "--seconds", "0.1", "--record", &recording]);
        assert!(message.contains("is an input of the same command"), "{message}");
        assert_eq!(std::fs::read(&recording).expect("the recording"), before);
    }

    /// A message or a panic after `head` has read enough.
    #[test]
    fn a_broken_pipe_exits_with_141() {
        let mut child =
            command(&["hand"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs");
        drop(child.stdout.take());
        let out = child.wait_with_output().expect("it ends");
        assert_eq!((out.status.code(), text(&out.stderr)), (Some(141), String::new()));
    }

    /// An empty Parquet file, a table cut in a line, a recording without its end.
    #[test]
    fn signals_finish_all_files_and_exit_130() {
        for signal in ["INT", "TERM", "HUP", "QUIT"] {
            let folder = folder(&format!("signal-{signal}"));
            let [recording, parquet, haptics] = ["run.fpr", "run.parquet", "felt.csv"].map(|name| path(&folder, name));
            let arguments = ["run", "pinch", "--seconds", "600", "--realtime", "--record", &recording];
            let mut command = command(&arguments);
            command.args(["--trace", &parquet, "--haptics-log", &haptics]);
            let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program runs");
            wait_for_steps(&recording, 20);
            kill(signal, child.id());
            let out = child.wait_with_output().expect("it ends");
            assert_eq!(out.status.code(), Some(130), "{signal}: {}", text(&out.stderr));
            let kept = Recording::read(Path::new(&recording)).expect("a recording");
            assert!(matches!(kept.ending, Ending::Stopped), "{signal}: {:?}", kept.ending);
            let bytes = std::fs::read(&parquet).expect("a table");
            assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1") && bytes.len() > 1000, "{signal}");
            let table = std::fs::read_to_string(&haptics).expect("a table");
            assert_eq!(table.lines().count(), 1 + kept.steps.len(), "{signal}");
            assert!(table.ends_with('\n'), "{signal}");
        }
    }

    fn wait_for_steps(recording: &str, steps: usize) {
        let start = Instant::now();
        let so_far = || Recording::read(Path::new(recording)).map_or(0, |recording| recording.steps.len());
        while so_far() < steps {
            assert!(start.elapsed() < SOON, "no {steps} steps");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn kill(signal: &str, process: u32) {
        let sent = Command::new("kill").args([&format!("-{signal}"), &process.to_string()]).status();
        assert!(sent.expect("kill").success());
    }

    /// A quarter of a second of steps was lost, and tables with them. `src/record/tests.rs` counts the steps.
    #[test]
    fn a_killed_run_leaves_a_usable_recording() {
        let folder = folder("killed");
        let [recording, table] = ["run.fpr", "run.csv"].map(|name| path(&folder, name));
        let child = command(&["run", "rest", "--seconds", "3600", "--record", &recording])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program runs");
        wait_for_steps(&recording, 500);
        kill("KILL", child.id());
        child.wait_with_output().expect("it ends");
        let kept = Recording::read(Path::new(&recording)).expect("a recording");
        assert!(matches!(kept.ending, Ending::CutOff { .. }));
        let out = fingerpad(&["replay", &recording, "--csv", &table]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let rows = std::fs::read_to_string(&table).expect("a table").lines().count();
        assert_eq!(rows, 1 + kept.steps.len(), "the table is made from the recording");
    }

    /// `--record X.toml` on `X.toml` destroyed the scene.
    #[test]
    fn an_input_is_never_overwritten_by_an_output() {
        let folder = folder("overwritten");
        let cube = write(&folder, "cube.obj", CUBE);
        let body = "[body.a]\nkind = \"rigid\"\nshape = \"mesh\"\nfile = \"cube.obj\"\n";
        let contents = format!("seconds = 0.05\n{body}");
        let scene = write(&folder, "scene.toml", &contents);
        let [recording, link, second] = ["run.fpr", "link.fpr", "again.fpr"].map(|name| path(&folder, name));
        for option in ["--record", "--trace", "--haptics-log"] {
            let message = refused(&["run", &scene, option, &scene]);
            assert!(message.contains("is an input of the same command"), "{message}");
            let message = refused(&["run", &scene, option, &cube]);
            assert!(message.contains("is an input of the same command"), "{message}");
        }
        assert_eq!(std::fs::read_to_string(&scene).expect("the scene"), contents);
        assert_eq!(std::fs::read_to_string(&cube).expect("the mesh"), CUBE);
        assert!(fingerpad(&["run", &scene, "--record", &recording]).status.success());
        let before = std::fs::read(&recording).expect("the recording");
        std::os::unix::fs::symlink(&recording, &link).expect("a link");
        std::fs::hard_link(&recording, &second).expect("a second name");
        for output in [&recording, &link, &second] {
            let message = refused(&["replay", &recording, "--csv", output]);
            assert!(message.contains("is an input of the same command"), "{message}");
        }
        assert_eq!(std::fs::read(&recording).expect("the recording"), before);
        let other = write(&folder, "other.toml", "seconds = 1\n");
        assert!(refused(&["run", &scene, "--trace", &other]).contains(".toml files are inputs"));
    }

    /// Two tables written to the same file.
    #[test]
    fn two_outputs_never_share_a_file() {
        let folder = folder("shared");
        let file = path(&folder, "out.csv");
        let again = format!("{}/./out.csv", folder.display());
        let message = refused(&["run", "rest", "--trace", &file, "--haptics-log", &again]);
        assert!(message.contains("--trace writes to the same file"), "{message}");
        assert!(!Path::new(&file).exists());
        // Discarded output may go to the same file twice.
        let out = fingerpad(&["run", "rest", "--seconds", "0.1", "--trace", "/dev/null", "--haptics-log", "/dev/null"]);
        assert!(out.status.success(), "{}", text(&out.stderr));
    }
}

const CUBE: &str = "v 0 0 0\nv 0.1 0 0\nv 0.1 0.1 0\nv 0 0.1 0\nv 0 0 0.1\nv 0.1 0 0.1\nv 0.1 0.1 0.1\nv 0 0.1 0.1\n\
    f 4 3 2 1\nf 5 6 7 8\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\nf 1 5 8 4\n";

mod files {
    use super::*;

    /// 4 to 10 GB were read, or the program hung.
    #[test]
    fn endless_files_are_rejected() {
        let folder = folder("endless");
        let zero = path(&folder, "zero.toml");
        std::os::unix::fs::symlink("/dev/zero", &zero).expect("a link");
        let pipe = path(&folder, "pipe.toml");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
        for file in [&zero, &pipe] {
            for arguments in [vec!["check", file], vec!["run", file], vec!["hand", file]] {
                let message = refused(&arguments);
                assert!(message.contains("a device or a pipe, expected a regular file"), "{message}");
            }
        }
        for command in ["run", "replay"] {
            let link = path(&folder, &format!("{command}.fpr"));
            std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
            assert!(refused(&[command, &link]).contains("expected a regular file"));
        }
        assert!(refused(&["problem", "solve", "/dev/zero"]).contains("expected a regular file"));
        let base = write(&folder, "base.toml", "base=\"/dev/zero\"\n");
        let message = refused(&["check", &base]);
        assert!(message.contains("base.toml:1:6: base: /dev/zero is not a regular file"), "{message}");
        let hand = write(&folder, "scene.toml", "[hand.right]\nfile=\"base.toml\"\n");
        assert!(refused(&["run", &hand]).contains("/dev/zero is not a regular file"));
        let mesh = "[body.a]\nkind=\"rigid\"\nshape=\"mesh\"\nfile=\"/dev/zero\"\n";
        assert!(refused(&["run", &write(&folder, "mesh.toml", mesh)]).contains("/dev/zero is not a regular file"));
        assert!(refused(&["check", &write(&folder, "s.rhai", "scene(\"scene\");")]).contains("/dev/zero"));
        let large = write(&folder, "large.toml", vec![b'#'; (4 << 20) + 1]);
        assert!(refused(&["run", &large]).contains("the limit of 4194304 bytes"));
        let script = write(&folder, "large.rhai", vec![b'/'; (256 << 10) + 1]);
        assert!(refused(&["run", &script]).contains("the limit of 262144 bytes"));
    }

    /// `--beside /dev/zero` was read without end, and the error of a missing file was said twice.
    #[test]
    fn other_inputs_are_bounded_too() {
        let folder = folder("bounded");
        let plot = path(&folder, "plot.svg");
        let message = refused(&["bench", "pinch", "--quick", "--plot-steps", &plot, "--beside", "/dev/zero"]);
        assert!(message.contains("/dev/zero: cannot be read: this is a device or a pipe"), "{message}");
        let message = refused(&["problem", "solve", &path(&folder, "none.txt")]);
        assert_eq!(message.matches("No such file").count(), 1, "{message}");
        let bytes = path(&folder, "bytes.fpraw");
        let message = refused(&["devices", "record", &bytes, "--out", &path(&folder, "again.fpraw")]);
        assert!(message.contains("is a recording of bytes already"), "{message}");
    }

    /// `replay` panicked, and the cache took files for each other whose names differ in bytes that are not UTF-8.
    #[test]
    fn names_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;
        let folder = folder("names");
        let named = |bytes: &[u8]| folder.join(std::ffi::OsStr::from_bytes(bytes));
        let (scene, recording) = (named(b"a\xff.toml"), named(b"a\xff.fpr"));
        std::fs::write(&scene, format!("seconds = 0.1\n{GROUND}")).expect("a scene");
        let run = |words: &[&str], file: &Path| {
            let mut command = command(words);
            command.arg(file);
            command
        };
        let out = run(&["run", "--json"], &scene).arg("--record").arg(&recording).output().expect("the program runs");
        assert!(out.status.success(), "{}", text(&out.stderr));
        let before = std::fs::read(&recording).expect("a recording");
        for words in [&["replay", "--verify", "--json"][..], &["replay", "--verify"]] {
            let out = run(words, &recording).output().expect("the program runs");
            assert!(out.status.success(), "{}", text(&out.stderr));
        }
        let out = run(&["check", "--json"], &named(b"none\xff.toml")).output().expect("the program runs");
        assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
        let out = run(&["replay"], &recording).arg("--csv").arg(&recording).output().expect("the program runs");
        assert_eq!(out.status.code(), Some(2), "{}", text(&out.stderr));
        assert_eq!(std::fs::read(&recording).expect("a recording"), before);
    }

    /// "the files name each other in a circle", of nine files in a row.
    #[test]
    fn a_chain_of_bases_is_no_circle() {
        let folder = folder("bases");
        for level in 0..12 {
            write(&folder, &format!("{level}.toml"), format!("base = \"{}.toml\"\n", level + 1));
        }
        write(&folder, "12.toml", "base = \"fingerpad:/hands/right.toml\"\n");
        write(&folder, "ring.toml", "base = \"./ring.toml\"\n");
        let message = refused(&["check", &path(&folder, "0.toml")]);
        assert!(message.contains("more than 8 levels of `base`") && !message.contains("circle"), "{message}");
        assert!(refused(&["check", &path(&folder, "ring.toml")]).contains("in a circle"));
        let out = fingerpad(&["check", &path(&folder, "5.toml")]);
        assert!(out.status.success(), "{}", text(&out.stderr));
    }

    /// Invalid UTF-8 became replacement characters without a message.
    #[test]
    fn what_is_not_utf8_is_refused() {
        let folder = folder("utf8");
        let contents = [b"name = \"\xff\xfe\"\n", GROUND.as_bytes()].concat();
        let message = refused(&["run", &write(&folder, "scene.toml", contents)]);
        assert!(message.contains("scene.toml:1:9: not UTF-8 text"), "{message}");
        assert!(refused(&["run", &write(&folder, "s.rhai", b"print(\"\xff\");")]).contains("not UTF-8 text"));
    }

    /// Names with escape codes coloured, moved and cleared the terminal.
    #[test]
    fn escape_codes_never_reach_the_terminal() {
        let folder = folder("escapes");
        let file = path(&folder, "\u{1b}[31mred.toml");
        let message = refused(&["run", &file]);
        assert!(!message.contains('\u{1b}') && message.contains("\\u001b[31mred.toml"), "{message:?}");
        let named = write(&folder, "named.toml", format!("name = \"\\u001b]0;title\\u0007\"\n{GROUND}"));
        let message = refused(&["run", &named]);
        assert!(message.contains("without control characters") && !message.contains('\u{1b}'), "{message:?}");
        let key = write(&folder, "key.toml", format!("\"\\u001b[2J\" = 1\n{GROUND}"));
        assert!(!refused(&["check", &key]).contains('\u{1b}'));
        let script = format!("{GROUND_MAP}print(\"\\x1b[2J\"); task(\"\\x1b[2J\"); fail(\"\\x1b[2J\");");
        let out = fingerpad(&["run", &write(&folder, "s.rhai", script)]);
        assert!(!out.stdout.contains(&0x1b) && !out.stderr.contains(&0x1b), "{}", text(&out.stderr));
    }

    fn mesh_scene(folder: &Path, mesh: &str) -> String {
        let contents = format!("seconds = 0.1\n[body.a]\nkind=\"rigid\"\nshape=\"mesh\"\nfile=\"{mesh}\"\n");
        write(folder, "scene.toml", contents)
    }

    /// The cube with scaled sides.
    fn scaled(factors: [f64; 3]) -> String {
        let scale = |line: &str| match line.strip_prefix("v ") {
            Some(numbers) => {
                let numbers =
                    numbers.split(' ').zip(factors).map(|(x, f)| (x.parse::<f64>().expect("a number") * f).to_string());
                format!("v {}", numbers.collect::<Vec<_>>().join(" "))
            }
            None => line.into(),
        };
        CUBE.lines().map(scale).collect::<Vec<_>>().join("\n")
    }

    /// Meshes of 10 µm and of 500 km were accepted, and flat ones were said to look inward.
    #[test]
    fn meshes_have_a_size_and_a_volume() {
        let folder = folder("meshes");
        for (factors, says) in [
            ([1e-4; 3], "the mesh is 1.000e-5 m long, expected 0.0001 to 100 m"),
            ([5e6; 3], "the mesh is 5.000e5 m long, expected 0.0001 to 100 m"),
            ([1.0, 1.0, 0.0], "the surface is flat"),
            ([1.0, 1.0, -1.0], "the faces are oriented inward"),
        ] {
            write(&folder, "mesh.obj", scaled(factors));
            let message = refused(&["run", &mesh_scene(&folder, "mesh.obj")]);
            assert!(message.contains(says), "{factors:?}: {message}");
        }
        write(&folder, "mesh.obj", CUBE);
        assert!(fingerpad(&["run", &mesh_scene(&folder, "mesh.obj")]).status.success());
    }

    /// 54,000 tetrahedra took 5.4 GB.
    #[test]
    fn counts_of_meshes_and_worlds_are_bounded() {
        use fingerpad::math::Vec3;
        let folder = folder("counts");
        let mesh = fingerpad::mesh::block(&Vec3::repeat(0.1), [21, 21, 21]);
        let mut lines = vec!["$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes".to_string(), mesh.nodes.len().to_string()];
        lines.extend(mesh.nodes.iter().enumerate().map(|(i, p)| format!("{} {} {} {}", i + 1, p.x, p.y, p.z)));
        lines.extend(["$EndNodes\n$Elements".into(), mesh.tets.len().to_string()]);
        let tet = |(i, t): (usize, &[u32; 4])| {
            let [a, b, c, d] = t.map(|n| n + 1);
            format!("{} 4 0 {a} {b} {c} {d}", i + 1)
        };
        lines.extend(mesh.tets.iter().enumerate().map(tet));
        lines.push("$EndElements\n".into());
        write(&folder, "mesh.msh", lines.join("\n"));
        let soft = "seconds=0.1\n[body.s]\nkind=\"soft\"\nshape=\"mesh\"\nfile=\"mesh.msh\"\n";
        let message = refused(&["run", &write(&folder, "soft.toml", soft)]);
        assert!(message.contains("found 55566 tetrahedra, expected at most 35000"), "{message}");
        let ball = |i: usize| format!("[body.s{i}]\nkind=\"soft\"\nshape=\"ball\"\nradius=0.02\nresolution=12\n");
        let many: String = (0..200).map(ball).collect();
        let message = refused(&["run", &write(&folder, "many.toml", many)]);
        assert!(message.contains("coordinates of nodes of soft bodies and hands in the world; at most"), "{message}");
        let hand = |i: usize| format!("[hand.h{i}]\nposition=[{i},1,0]\n");
        let hands: String = (0..40).map(hand).collect();
        assert!(refused(&["run", &write(&folder, "hands.toml", hands)]).contains("at most 16 are allowed"));
    }
}

mod sandbox {
    use super::*;

    /// A script printed a line of the system's password file.
    #[test]
    fn scripts_cannot_read_files_of_others() {
        let root = folder("sandbox");
        let folder = root.join("scripts");
        std::fs::create_dir_all(&folder).expect("a folder");
        let secret = write(&root, "secret.txt", "hunter2 is the password\n");
        std::os::unix::fs::symlink(&secret, folder.join("link.obj")).expect("a link");
        write(&folder, "inside.txt", "hunter2 is the password\n");
        let leak = "try { scene(\"evil\"); } catch (e) { print(`caught: ${e}`); print(e); debug(e); }\n";
        for file in ["../secret.txt", &secret, "link.obj", "/etc/passwd", "inside.txt"] {
            for (kind, shape) in [("rigid", "mesh"), ("soft", "mesh")] {
                let body = format!("[body.a]\nkind=\"{kind}\"\nshape=\"{shape}\"\nfile=\"{file}\"\n");
                write(&folder, "evil.toml", body);
                let script = write(&folder, "leak.rhai", format!("{leak}{GROUND_MAP}"));
                let out = fingerpad(&["run", &script]);
                let message = format!("{}{}", text(&out.stdout), text(&out.stderr));
                assert!(message.contains("caught: "), "{file}: {message}");
                assert!(!message.contains("hunter2") && !message.contains("root:"), "{file}: {message}");
            }
            for evil in ["[hand.right]\nfile=\"FILE\"\n", "[hand.right]\nfile=\"hand.toml\"\n"] {
                write(&folder, "hand.toml", format!("base=\"{file}\"\n"));
                write(&folder, "evil.toml", evil.replace("FILE", file));
                let out = fingerpad(&["run", &path(&folder, "leak.rhai")]);
                let message = format!("{}{}", text(&out.stdout), text(&out.stderr));
                assert!(message.contains("caught: ") && !message.contains("hunter2"), "{file}: {message}");
            }
        }
        // The existence of a file outside is not revealed either.
        let told = |file: &str| {
            let body = format!("[body.a]\nkind=\"rigid\"\nshape=\"mesh\"\nfile=\"{file}\"\n");
            write(&folder, "evil.toml", body);
            let out = fingerpad(&["run", &write(&folder, "told.rhai", "scene(\"evil\");")]);
            text(&out.stderr).replace(file, "FILE").lines().next().unwrap_or_default().to_string()
        };
        assert_eq!(told("../secret.txt"), told("../nothing.txt"));
        assert!(told("../secret.txt").contains("outside of the script's folder"));
    }

    /// Outside of scripts a user may refer to any file, and errors quote it.
    #[test]
    fn users_see_the_whole_error() {
        let folder = folder("shown");
        write(&folder, "bad.obj", "hello\n");
        write(&folder, "scene.toml", "[body.a]\nkind=\"rigid\"\nshape=\"mesh\"\nfile=\"bad.obj\"\n");
        let script = write(&folder, "s.rhai", "scene(\"scene\");");
        for file in [&script, &path(&folder, "scene.toml")] {
            let message = refused(&["run", file]);
            assert!(message.contains("bad.obj:1:1: expected a line of `v` or `f`, found `hello`"), "{message}");
        }
    }
}

mod budget {
    use super::*;

    /// 7 GB in 15 s.
    #[test]
    fn memory_of_closures_is_counted() {
        let script = "fn f(x) { x }
            let base = \"x\"; while base.len() < 32000 { base += base; }
            let top = [];
            for k in 0..4000 {
              let a = [];
              for i in 0..50 { a.push(Fn(\"f\").curry(base + `${k}_${i}`)); }
              top.push(Fn(\"f\").curry(a));
              step();
            }";
        let message = script_error("closures", &format!("{GROUND_MAP}{script}"));
        assert!(message.contains("take more than 256 MB"), "{message}");
        let script = "fn f(x) { x } let g = Fn(\"f\"); loop { g = g.curry(g); step(); }";
        let message = script_error("doubling", &format!("{GROUND_MAP}{script}"));
        assert!(message.contains("take more than 256 MB") || message.contains("without a pause"), "{message}");
    }

    /// Memory freed by the simulation was credited to the script.
    #[test]
    fn removed_bodies_make_no_room_for_values() {
        let script = "fn f(x) { x }
            for k in 0..400 {
              let b = add_body(\"s\", #{kind:\"rigid\",shape:\"ball\",samples:20000,radius:0.02,position:[0,1,0]});
              b.remove();
              if k % 20 == 0 { step(); }
            }
            let base = \"x\"; while base.len() < 32000 { base += base; }
            let top = [];
            for k in 0..200 {
              let a = [];
              for i in 0..50 { a.push(Fn(\"f\").curry(base + `${k}_${i}`)); }
              top.push(Fn(\"f\").curry(a));
              step();
            }";
        let message = script_error("credit", &format!("{GROUND_MAP}{script}"));
        assert!(message.contains("take more than 256 MB"), "{message}");
    }

    /// 650 MB are taken and given back.
    #[test]
    fn freed_memory_is_not_counted() {
        let script = "let base = \"x\"; while base.len() < 32000 { base += base; }
            for k in 0..400 { for i in 0..50 { let s = base + i; } step(); }";
        let out = fingerpad(&["run", &write(&folder("freed"), "s.rhai", format!("{GROUND_MAP}{script}"))]);
        assert!(out.status.success(), "{}", text(&out.stderr));
    }

    /// Bodies with 20,000 samples each, and soft ones of the finest mesh, without limit.
    #[test]
    fn samples_and_soft_bodies_are_counted() {
        let samples = "for k in 0..50 { add_body(`s${k}`, #{kind:\"rigid\",shape:\"ball\",samples:20000,radius:0.02,position:[k*0.05,1,0]}); }";
        let message = script_error("samples", &format!("{GROUND_MAP}{samples}"));
        assert!(message.contains("points on surfaces in the world; at most 400000"), "{message}");
        let soft = "for k in 0..200 { add_body(`s${k}`, #{kind:\"soft\",shape:\"ball\",radius:0.02,resolution:12,position:[k*0.05,1,0]}); step(); }";
        let message = script_error("soft", &format!("{GROUND_MAP}{soft}"));
        assert!(message.contains("coordinates of nodes of soft bodies and hands in the world"), "{message}");
        // Removed bodies make room.
        let turns = "for k in 0..9 { let b = add_body(\"s\", #{kind:\"soft\",shape:\"ball\",radius:0.02,resolution:10,position:[0,1,0]}); b.remove(); }";
        let out = fingerpad(&["run", &write(&folder("turns"), "s.rhai", format!("{GROUND_MAP}{turns}"))]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let many = "for k in 0..1000 { material(`m${k}`, 0.5); }";
        assert!(script_error("materials", &format!("{GROUND_MAP}{many}")).contains("256 materials"));
    }

    /// 10,000 `let` lines took 3 s to parse, 100,000 more than 30 s.
    #[test]
    fn parsing_takes_bounded_time() {
        let lines: String = (0..10_000).map(|i| format!("let v{i}={i};\n")).collect();
        let start = Instant::now();
        let message = script_error("lets", &lines);
        assert!(message.contains(":1001:") && message.contains("more than 1000 variables are declared"), "{message}");
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
        let cases: Vec<String> = (0..20_000).map(|i| format!("{i}=>{i}")).collect();
        let message = script_error("cases", &format!("switch 0 {{ {} }}", cases.join(",")));
        assert!(message.contains("more than 1000 cases"), "{message}");
        let names: Vec<String> = (0..20_000).map(|i| format!("a{i}")).collect();
        let start = Instant::now();
        let out =
            fingerpad(&["run", &write(&folder("parameters"), "s.rhai", format!("fn f({}) {{}}", names.join(",")))]);
        // Optimised it may be done before.
        let message = text(&out.stderr);
        assert!(out.status.success() || message.contains("parsing takes longer than 5 s"), "{message}");
        assert!(start.elapsed() < Duration::from_secs(15), "{:?}", start.elapsed());
    }

    /// `trials(5)` ran for 1,500 s where a run is said to end after 300.
    #[test]
    fn trials_share_the_time_of_a_run() {
        let script = format!("trials(5);\n{GROUND_MAP}set(\"gravity\", [0,0,0]); wait(200);\n");
        let file = write(&folder("trials"), "s.rhai", script);
        let out = fingerpad(&["run", &file, "--dt", "0.1", "--json"]);
        assert_eq!(out.status.code(), Some(1), "{}", text(&out.stderr));
        let run: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        let simulated = run["sim_seconds"].as_f64().expect("a number");
        assert!((299.0..302.0).contains(&simulated), "{simulated}");
        let reason = run["task"]["reason"].as_str().expect("a reason");
        assert!(reason.contains("after 300 s, all trials together"), "{reason}");
    }
}

mod numbers {
    use super::*;

    /// 1e300 ended in NaN.
    #[test]
    fn scripts_cannot_set_numbers_out_of_range() {
        for call in [
            "capsule.throw_with([1e300,0,0]);",
            "capsule.throw_with(vec(1e200,0,0) * 1e200);",
            "capsule.push([1e300,0,0]);",
            "capsule.push([1e5,0,0]);",
            "capsule.place([1e300,0,0]);",
            "capsule.place([0,1e3,0], [0,0,0]);",
            "right.place([1e300,0,0], [0,0,0], \"open\");",
            "right.move_to([1e300,0,0], 1);",
            "right.turn_about([1e300,0,0], [0,1,0], 10, 1);",
            "set(\"friction\", ());",
            "set(\"friction\", \"\");",
            "set(\"gravity\", [1e300,0,0]);",
            "set(\"solver.iterations\", 1.5);",
            "score(1e308); add_score(1e308);",
        ] {
            let message = script_error("numbers", &format!("scene(\"pinch\");\n{call} wait(0.05);"));
            assert!(message.contains(":2:"), "{call}: {message}");
        }
        let fine = "scene(\"pinch\");\ncapsule.throw_with([0,1,0]); capsule.push([0,0.01,0]); capsule.place([1,1,0], about([1e200,0,0], 30)); wait(0.05);";
        let out = fingerpad(&["run", &write(&folder("fine"), "s.rhai", fine)]);
        assert!(out.status.success(), "{}", text(&out.stderr));
    }

    /// Accepted without an error.
    #[test]
    fn invalid_settings_and_contradictory_pairs_are_rejected() {
        let message = refused(&["run", "rest", "--set", "dt=1e300"]);
        assert!(message.contains("dt: 1e300 is out of range"), "{message}");
        for seconds in ["nan", "1e300", "-1", "0"] {
            let message = refused(&["run", "pick_up", &format!("--seconds={seconds}")]);
            assert!(message.contains("from 0.001 to 3600 s"), "{message}");
        }
        for set in ["seed=1.5", "friction=", "solver.iterations=1.5", "seed=-1"] {
            assert!(refused(&["run", "rest", "--set", set]).contains("--set"), "{set}");
        }
        assert!(refused(&["run", "pick_up", "--set", "seed=1.5"]).contains("1.5 is not a whole number"));
        for (options, key) in [
            (["--dt", "0.01", "--set", "dt=0.02"], "dt"),
            (["--set", "dt=0.01", "--set", "dt=0.02"], "dt"),
            (["--method", "point", "--set", "method=aggregate"], "method"),
        ] {
            let message = refused(&[&["run", "rest"], &options[..]].concat());
            assert!(message.contains(&format!("`{key}` is set twice on the command line")), "{message}");
        }
        let same = fingerpad(&["run", "rest", "--seconds", "0.1", "--dt", "0.01", "--set", "dt=0.01"]);
        assert!(same.status.success(), "{}", text(&same.stderr));
        let materials = "[material.a]\nfriction=0.1\n[material.b]\nfriction=0.2\n";
        let pair = |one: &str, two: &str, f: f64| format!("[[pair]]\nmaterials=[\"{one}\",\"{two}\"]\nfriction={f}\n");
        let scene = format!("{materials}{}{}{GROUND}", pair("a", "b", 0.3), pair("b", "a", 0.4));
        let message = refused(&["check", &write(&folder("pairs"), "scene.toml", scene)]);
        assert!(message.contains(":9:11: pair[1].materials: the friction of `b` on `a` is given before"), "{message}");
    }
}

mod messages {
    use super::*;

    /// `check` took a profile with only `base` and one key for a hand.
    #[test]
    fn a_profile_is_recognised_by_its_base() {
        let folder = folder("profile");
        let file = write(&folder, "ok.toml", "base=\"fingerpad:/devices/5dt-5.toml\"\nchecksum=\"sum\"\n");
        let out = fingerpad(&["check", &file]);
        assert!(out.status.success() && text(&out.stderr).contains("a device, no problems"), "{}", text(&out.stderr));
        let hand = write(&folder, "hand.toml", "base=\"fingerpad:/hands/right.toml\"\nname=\"x\"\n");
        assert!(text(&fingerpad(&["check", &hand]).stderr).contains("a hand, no problems"));
    }

    /// `secondz = 2` was said to be a hand, or nothing, without a line.
    #[test]
    fn a_misspelt_key_gets_its_line() {
        let file = write(&folder("typo"), "typo.toml", "secondz=2\n");
        for command in ["run", "check"] {
            let message = refused(&[command, &file]);
            assert!(message.contains("typo.toml:1:1: secondz: unknown key; did you mean `seconds`?"), "{message}");
            assert_eq!(message.lines().count(), 1, "{message}");
        }
    }

    /// A wrong angle was also said to be outside of the joint's limits.
    #[test]
    fn a_wrong_value_is_one_error() {
        let folder = folder("second");
        let motion = |angles: &str| format!("[hand.right]\nmotion=[{{at=1,angles={{index={angles}}}}}]\n");
        for (contents, says) in [
            (motion("[\"x\",0,0,0]"), "index[0]: expected a number"),
            (motion("[0,0]"), "index: expected a list of 4 numbers"),
            (motion("[1e9,0,0,0]"), "index[0]: 1000000000 is out of range"),
            (motion("[-60,0,0,0]"), "index: -60° is outside the joint's limits"),
            ("[hand.right]\nmotion=[{at=\"x\"}]\n".into(), "at: expected a number"),
            ("[hand.right]\nquaternion=[2,0,0,0]\n".into(), "quaternion[0]: 2 is out of range"),
            ("[hand.right]\npose=1\n".into(), "pose: expected a string"),
            (format!("{GROUND}[camera]\nposition=[1,\"x\",0]\ntarget=[-100,-100,-100]\n"), "position[1]: expected"),
            (format!("{GROUND}[material.a]\nfriction={{rest=-1,sliding=0.5}}\n"), "rest: -1 is out of range"),
        ] {
            let message = refused(&["check", &write(&folder, "scene.toml", &contents)]);
            assert!(message.contains(says), "{contents}: {message}");
            assert_eq!(message.lines().count(), 1, "{contents}: {message}");
        }
    }

    /// SIGQUIT left the link behind.
    #[test]
    fn the_emulator_removes_its_link() {
        let link = path(&folder("link"), "glove");
        for signal in ["-QUIT", "-TERM", "-HUP", "-INT"] {
            let child = command(&["devices", "emulate", "5dt-5", "--link", &link])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .expect("the program runs");
            let start = Instant::now();
            while Path::new(&link).read_link().is_err() {
                assert!(start.elapsed() < SOON, "no link");
                std::thread::sleep(Duration::from_millis(20));
            }
            // It listens to signals soon after.
            std::thread::sleep(Duration::from_millis(500));
            assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().expect("kill").success());
            child.wait_with_output().expect("it ends");
            assert!(Path::new(&link).symlink_metadata().is_err(), "{signal} leaves the link");
        }
    }
}

mod documents {
    use super::*;

    #[test]
    fn the_documented_limits_match_the_program() {
        use fingerpad::assets::limits::*;
        let note = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/threats.md");
        let note = std::fs::read_to_string(note).expect("the note");
        for (what, value) in [
            ("bytes of a scene, a hand or a profile", DESCRIPTION_BYTES),
            ("bytes of a script", SCRIPT_BYTES),
            ("bytes of a mesh", MESH_BYTES),
            ("bytes of all files of a run", ALL_BYTES),
            ("bytes of a contact problem", PROBLEM_BYTES),
            ("bytes of a recording", RECORDING_BYTES),
            ("levels of `base`", BASES as u64),
            ("triangles of a surface from a file", TRIANGLES as u64),
            ("vertices of a surface from a file", VERTICES as u64),
            ("tetrahedra of a mesh from a file", TETRAHEDRA as u64),
            ("bodies of a world", BODIES as u64),
            ("hands of a world", HANDS as u64),
            ("coordinates of nodes of soft bodies and hands", FREEDOMS as u64),
            ("points on surfaces", POINTS as u64),
        ] {
            let row = format!("| {what} | {value} |");
            assert!(note.contains(&row), "{row}");
        }
    }
}

mod settings {
    use super::*;

    /// A script that changed the method and back panicked: the contacts of the other method were read again.
    #[test]
    fn the_method_may_change_while_bodies_touch() {
        for (key, other, default) in [("method", "point", "aggregate"), ("pressure", "depth", "nonuniform")] {
            let script = format!(
                "scene(\"stack\");\non(\"contact_began\", |e| ());\nset(\"{key}\", \"{other}\"); wait(0.05); set(\"{key}\", \"{default}\");\n\
                 for b in bodies() {{ b.throw_with([0, 3, 0]); }}\nwait(0.1);\nsucceed(\"done\");\n"
            );
            let out = fingerpad(&["run", &write(&folder(key), "change.rhai", script)]);
            assert!(out.status.success(), "{}", text(&out.stderr));
        }
    }
}
