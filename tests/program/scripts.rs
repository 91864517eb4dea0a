//! Scripts: features, limits, and results of tasks.
#![cfg(feature = "script")]

use std::path::{Path, PathBuf};

use fingerpad::assets::Setting;
use fingerpad::math::Pose;
use fingerpad::script::{RunState, ScriptError, ScriptOptions, ScriptRun, TaskOutcome, check};
use fingerpad::sim::Status;
use fingerpad::tracking::{ANGLES, Driven, HandSample};

/// A ball on the ground: the cheapest world with contact.
const BALL: &str = r#"scene(#{
    body: #{
        ground: #{ kind: "fixed", shape: "ground" },
        ball: #{ kind: "rigid", shape: "ball", radius: 0.03, mass: 0.1, position: [0, 0.03, 0] },
    },
});
"#;

/// A hand only.
const HAND: &str = "scene(#{ hand: #{ right: #{ position: [0, 0.2, 0] } } });\n";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A script as a file in its own folder.
fn write(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scripts").join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join(format!("{name}.rhai"));
    std::fs::write(&file, text).expect("a file");
    file
}

/// Result of a script.
struct Played {
    outcome: TaskOutcome,
    hash: u64,
    message: Vec<String>,
    steps: u64,
    /// Maximum penetration of all steps, m.
    deepest: f64,
}

fn play_with(file: &Path, options: &ScriptOptions) -> Result<Played, ScriptError> {
    let mut run = ScriptRun::load(file, options)?;
    let (mut message, mut deepest) = (run.take_messages(), 0.0f64);
    while run.outcome().is_none() {
        if run.step() == RunState::Broken {
            // The world is still valid.
            assert!(run.scene().world.state_hash() != 0);
            assert_eq!(run.step(), RunState::Broken);
            return Err(run.error().expect("what is wrong").clone());
        }
        message.extend(run.take_messages());
        deepest = deepest.max(run.scene().world.statistics().penetration);
    }
    let hash = run.scene().world.state_hash();
    Ok(Played { outcome: run.outcome().expect("an outcome").clone(), hash, message, steps: run.steps(), deepest })
}

fn play(name: &str, text: &str) -> Result<Played, ScriptError> {
    play_with(&write(name, text), &ScriptOptions::default())
}

fn good(name: &str, text: &str) -> Played {
    play(name, text).unwrap_or_else(|error| panic!("{error}"))
}

fn bad(name: &str, text: &str) -> ScriptError {
    match play(name, text) {
        Err(error) => error,
        Ok(played) => panic!("{name} went through: {:?}", played.outcome),
    }
}

fn seeded(seed: u64) -> ScriptOptions {
    ScriptOptions { settings: vec![Setting::new("seed", seed)], ..ScriptOptions::default() }
}

#[test]
fn every_shipped_script_passes() {
    let mut count = 0;
    for entry in std::fs::read_dir(root().join("scripts")).expect("the folder") {
        let file = entry.expect("an entry").path();
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        if !name.ends_with(".rhai") || name.ends_with(".d.rhai") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a script");
        assert_eq!(check(&name, &text), Ok(()));
        let played = play_with(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{error}"));
        println!("{name}: {} steps, {:?}", played.steps, played.outcome);
        assert!(played.outcome.success, "{name}: {}", played.outcome.reason);
        // No initial overlaps.
        assert!(played.deepest < 1.5e-4, "{name}: {} mm deep", 1e3 * played.deepest);
        count += 1;
    }
    assert!(count >= 5, "only {count} scripts were found");
}

#[test]
fn errors_show_the_line_and_what_was_expected() {
    for (name, text, line, says) in [
        ("syntax", "let a = 1;\nlet b = ;\n", 2, "Unexpected"),
        ("unknown", "\nwiat(0.1);", 2, "there is no function `wiat`; did you mean `wait`?"),
        ("type", "wait(\"long\");", 1, "`seconds`: expected a number, found the string \"long\""),
        ("negative", "wait(-1);", 1, "`seconds`: expected a number from 0 to 3600, found -1"),
        ("count", "wait(1, 2);", 1, "`wait` does not take (int, int); expected `wait(seconds: number)`"),
        ("zero", "let a = 0;\nlet b = 1 / a;", 2, "Division by zero"),
        ("variable", "let a = 1;\n  a = cube;", 2, "there is no variable, hand or body `cube`"),
        ("body", "let b = body(\"bal\");", 1, "there is no body `bal`"),
        ("closure", "wait_until(3, 1.0);", 1, "expected a closure, as `|| …`, found the whole number 3"),
        ("answer", "wait_until(|| 3, 1.0);", 1, "expected true or false, found the whole number 3"),
        ("thrown", "fn f() {\n    throw \"enough\";\n}\nf();", 2, "enough"),
        ("later", "wait(0.02);\n\nnothing();", 3, "there is no function `nothing`"),
        ("scene", "scene(\"nowhere\");", 1, "there is no `nowhere` in scenes/"),
        ("outside", "scene(\"../../etc/passwd\");", 1, "is not a file name in scenes/"),
        (
            "map",
            "add_body(\"a\", #{ kind: \"rigid\", shape: \"ball\" });",
            1,
            "body.a.radius: missing; expected a number",
        ),
        (
            "mesh",
            "add_body(\"a\", #{ kind: \"rigid\", shape: \"mesh\", file: \"../x.obj\" });",
            1,
            "in the script's folder",
        ),
        ("event", "on(\"contact_begin\", |e| 0);", 1, "did you mean `contact_began`?"),
        ("setting", "set(\"dt\", 0.001);", 1, "`dt` cannot be changed while the world runs"),
        ("sleep", "sleep(3);", 1, "use `wait(seconds)`"),
        ("clock", "timestamp();", 1, "use `time()`"),
        ("property", "let v = vec(1, 2, 3);\nv.w;", 2, "w"),
    ] {
        let error = bad(name, text);
        assert_eq!(error.line, line, "{error}");
        assert!(error.message.contains(says), "{name}: {error}");
        assert_eq!(error.source_line, text.lines().nth(line - 1).unwrap_or_default(), "{error}");
        assert!(error.column >= 1 && error.to_string().contains('^'), "{error}");
    }
}

/// Goals, handlers and tracks run outside of the main script: their errors have the position of their definition.
#[test]
fn errors_in_closures_have_positions() {
    for (name, call, says) in [
        ("loop", "goal(\"g\", || { loop { } });", "without a pause"),
        ("fails", "fail_if(\"f\", || { loop { } });", "without a pause"),
        ("handler", "on(\"contact_began\", |e| { loop { } });", "without a pause"),
        ("track", "parallel([|| { loop { } }, || wait(1)]);", "without a pause"),
        ("later", "start(|| { wait(0.02); loop { } });", "without a pause"),
        ("answer", "goal(\"g\", || 5);", "`g`: expected true or false, found the whole number 5"),
        ("bars", "on(\"contact_began\", || ());", "the closure is called with (map)"),
        ("inner", "goal(\"g\", || ball.lfit() > 0);", "did you mean `lift`?"),
        ("crowd", "loop { start(|| wait(9)); }", "too many parallel tracks"),
        ("import", "import \"nowhere\" as n;", "cannot be read"),
    ] {
        let error = bad(&format!("closure_{name}"), &format!("{BALL}{call}\nwait(1);\n"));
        assert!(error.message.contains(says) && error.source_line == call, "{name}: {error}");
    }
}

#[test]
fn misspelt_words_are_recognised() {
    for (name, call, says) in [
        ("body", "bal.height();", "there is no variable, hand or body `bal`; did you mean `ball`?"),
        ("call", "ball.position.y;", "a value of type Body has no property `position`; `position()` is a call"),
        ("vector", "ball.position().w;", "a value of type Vec3 has no property `w`; expected `x`, `y` or `z`"),
        ("nothing", "let m = #{}; m.a.b;", "`b` of `()`: the expression before the point has no value"),
        ("scene", "scene(\"pnch\");", "did you mean `pinch`?"),
    ] {
        let error = bad(&format!("nearly_{name}"), &format!("{BALL}{call}\n"));
        assert!(error.message.contains(says), "{name}: {error}");
    }
    let error = bad("nearly_empty", "right.pose(\"fist\", 1);");
    assert!(error.message.ends_with("`right`; no scene has been set up"), "{error}");
}

#[test]
fn hand_errors_are_sentences() {
    for (name, call, says) in [
        ("pose", "right.pose(\"pnich\", 0.1);", "there is no pose `pnich`; did you mean `pinch`?"),
        ("finger", "right.curl(\"pinky\", 1, 0.1);", "there is no finger `pinky`; expected `thumb`"),
        ("joint", "right.bend(\"index_base_flexon\", 3, 0.1);", "did you mean `index_base_flexion`?"),
        ("limit", "right.bend(\"index_base_flexion\", 150, 0.1);", "outside the joint's limits, -20° to 90°"),
        ("vector", "right.move_by([1, 2], 0.1);", "expected a Vec3 or an array of three numbers, found an array of 2"),
        ("far", "right.move_to([0, 1e6, 0], 0.1);", "out of range for a hand"),
        ("segment", "right.force(\"index_dstal\");", "did you mean `index_distal`?"),
        ("hand", "hand(\"left\");", "there is no hand `left`"),
        ("easing", "right.easing(\"smoth\");", "did you mean `smooth`?"),
    ] {
        let error = bad(&format!("hand_{name}"), &format!("{HAND}{call}"));
        assert!(error.line == 2 && error.message.contains(says), "{error}");
    }
}

#[test]
fn a_script_cannot_run_endlessly() {
    for (name, text, says) in [
        ("loop", "loop { }", "without a pause"),
        ("count", "let i = 0; while i >= 0 { i += 1; }", "without a pause"),
        ("after", "wait(0.05); loop { }", "without a pause"),
        ("catch", "loop { try { loop { } } catch { } }", "without a pause"),
        ("recursion", "fn f(x) { f(x + 1) }\nf(0);", "too deeply"),
        ("mutual", "fn f() { g() }\nfn g() { f() }\nf();", "too deeply"),
        ("string", "let s = \"x\"; loop { s += s; }", "too large"),
        ("array", "let a = []; loop { a.push(a.len()); }", ""),
        ("nested", "let a = [1]; loop { a = [a, a]; }", ""),
        ("map", "let m = #{}; let i = 0; loop { m[`k${i}`] = i; i += 1; }", ""),
        ("pad", "let a = []; a.pad(1000000000, 0);", "too large"),
        ("goal", "goal(\"never\", || { loop { } }); wait(1);", "without a pause"),
        ("handler", "on(\"contact_began\", |e| { loop { } }); wait(1);", "without a pause"),
        ("tracks", "fn f() { loop { start(|| wait(100)); } }\nf();", "too many parallel tracks"),
        ("spawning", "let i = 0; loop { start(|| ()); }", ""),
        ("sorting", "let a = []; a.pad(99, 1); a.sort(|x, y| { loop { } });", "without a pause"),
        ("judge", "goal(\"late\", || { wait(1); true }); wait(1);", "cannot wait"),
    ] {
        let error = bad(&format!("for_ever_{name}"), &format!("{BALL}{text}"));
        assert!(error.message.contains(says), "{name}: {error}");
        // Sorting ignores that its closure was stopped.
        assert!((error.line >= 1 && !error.source_line.is_empty()) || name == "sorting", "{name}: {error}");
    }
}

#[test]
fn a_loop_with_pauses_ends_at_the_time_limit() {
    let file = write("endless", &format!("{BALL}loop {{ wait(0.01); }}"));
    let options = ScriptOptions { seconds: Some(0.2), ..ScriptOptions::default() };
    let played = play_with(&file, &options).unwrap_or_else(|error| panic!("{error}"));
    assert!(!played.outcome.success && played.steps == 20);
    assert_eq!(played.outcome.reason, "not finished after 0.2 s at 0.20 s");
    let played = good("timed_out", &format!("{BALL}timeout(0.1); loop {{ wait(0.01); }}"));
    assert!(played.outcome.reason.starts_with("the end of the script was not reached within 0.1 s"));
}

#[test]
fn a_locked_variable_ends_the_script_and_not_the_simulation() {
    let text = format!("{BALL}let a = [1, 2];\ngoal(\"g\", || a.len() > 5);\na.for_each(|| wait(1));");
    let file = write("held", &text);
    let mut run = ScriptRun::load(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.step(), RunState::Broken);
    assert!(run.error().expect("an error").message.contains("`a` is in use"), "{:?}", run.error());
    assert_eq!(run.scene().world.step().status, Status::Done, "the world can go on without the script");
}

#[test]
fn handles_can_be_used_by_several_tracks_at_the_same_time() {
    let text = format!(
        "{HAND}let hand = right;\nlet seen = 0;\ngoal(\"looked\", || {{ hand.height_of(); true }});\n\
         fn height_of(h) {{ h.position().y }}\nhand.move_by([0, 0.1, 0], 0.1);\n"
    );
    let error = bad("handles_wrong", &text);
    assert!(error.message.contains("height_of"), "{error}");
    let text = format!(
        "{HAND}let hand = right;\ngoal(\"high\", || hand.position().y > 0.29);\ntimeout(2);\n\
         parallel([|| hand.move_by([0, 0.1, 0], 0.2), || {{ hand.pose(\"fist\", 0.3); print(time()); }}]);\nprint(time());"
    );
    let played = good("handles", &text);
    assert!(played.outcome.success, "{}", played.outcome.reason);
    assert_eq!(played.message, ["0.30 s: 0.3", "0.30 s: 0.3"]);
}

#[test]
fn tasks_end_with_the_expected_result() {
    for (name, text, success, reason) in [
        ("plain", "wait(0.03);", true, "the script ended"),
        ("nothing", "", true, "the script ended"),
        ("message", "succeed(\"well done\"); loop { }", true, "well done"),
        ("failed", "phase(\"p\"); wait(0.02); fail(\"no luck\"); loop { }", false, "no luck at 0.02 s in phase `p`"),
        ("checked", "check(1 > 2, \"sums\"); loop { }", false, "sums at 0.00 s"),
        ("reached", "goal(\"g\", || time() > 0.05, 0.1); timeout(1);", true, "all goals were reached"),
        (
            "never",
            "goal(\"g\", || false); goal(\"h\", || true); timeout(0.1);",
            false,
            "goal `g` was not reached within 0.1 s at 0.10 s",
        ),
        ("early", "goal(\"g\", || false);", false, "the script ended, but goal `g` was not reached at 0.02 s"),
        ("under_way", "goal(\"g\", || true, 0.05);", true, "all goals were reached"),
        ("fell", "fail_if(\"it fell\", || ball.height() < 0.5); wait(1);", false, "it fell at 0.01 s"),
        ("told", "on(\"button\", |e| 0); wait(0.02);", true, "the script ended"),
    ] {
        let played = good(&format!("ends_{name}"), &format!("{BALL}{text}"));
        assert_eq!((played.outcome.success, played.outcome.reason.as_str()), (success, reason), "{name}");
        assert_eq!(played.outcome.name, format!("ends_{name}"));
    }
}

#[test]
fn phases_scores_metrics_and_trials_are_reported() {
    let text = format!(
        "task(\"many\");\ntrials(4, 2);\n{BALL}phase(\"a\");\nwait(0.02);\nphase(\"b\");\nwait(0.03);\n\
         metric(\"number\", trial());\nscore(1);\nadd_score(trial());\ncheck(trial() != 2, \"the second\");"
    );
    let played = good("report", &text);
    let outcome = &played.outcome;
    assert_eq!((outcome.name.as_str(), outcome.success), ("many", true));
    assert_eq!((outcome.metrics["number"], outcome.score), (2.5, Some(3.5)));
    assert_eq!(outcome.reason, "3 of 4 trials succeeded, 2 had to; trial 2: the second at 0.05 s in phase `b`");
    let phases: Vec<_> = outcome.phases.iter().map(|p| (p.name.as_str(), p.start, p.end)).collect();
    assert_eq!(phases, [("a", 0.0, 0.02), ("b", 0.02, 0.05)]);
    assert_eq!((outcome.trials.len(), played.steps), (4, 20));
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_one_another() {
    let text = format!("{BALL}ball.throw_with([random(-1, 1), 0, random()]);\nwait(0.2);");
    let file = write("seed", &text);
    let hash = |seed| play_with(&file, &seeded(seed)).unwrap_or_else(|error| panic!("{error}")).hash;
    assert_eq!(hash(3), hash(3));
    assert_ne!(hash(3), hash(4));
}

#[test]
fn waits_take_whole_steps() {
    let text = format!("{BALL}for s in [0.5, 0.015, 0, 0.01, 1] {{ let t = time(); wait(s); print(time() - t); }}");
    let times: Vec<f64> = good("waits", &text)
        .message
        .iter()
        .map(|line| line.split(": ").nth(1).and_then(|t| t.parse().ok()).expect("a number"))
        .collect();
    for (time, expected) in times.iter().zip([0.5, 0.02, 0.01, 0.01, 1.0]) {
        assert!((time - expected).abs() < 1e-9, "{times:?}");
    }
}

/// A hand follows the motion of the scene until the first motion of the script.
#[test]
fn a_script_replaces_the_motion_of_a_scene() {
    let scene = r#"scene(#{ hand: #{ right: #{ pose: "open", motion: [#{ at: 1.0, angles: #{ index: [60, 4, 0, 0] } }] } } });
"#;
    let text = format!(
        "{scene}wait(0.5); let by_scene = right.tracked_angle(\"index_base_flexion\");
        right.bend(\"index_base_flexion\", 10, 0.2); wait(0.5);
        metric(\"scene\", by_scene); metric(\"script\", right.tracked_angle(\"index_base_flexion\"));"
    );
    let metrics = good("takes_over", &text).outcome.metrics;
    assert!((metrics["scene"] - 30.0).abs() < 2.0 && (metrics["script"] - 10.0).abs() < 1e-9, "{metrics:?}");
}

#[test]
fn tracks_take_turns_in_a_fixed_order() {
    let text = format!(
        "{BALL}let t = start(|| {{ for i in 0..3 {{ print(`a${{i}}`); step(); }} }});\n\
         parallel([|| {{ print(\"b\"); wait(0.01); print(\"b\"); }}, || print(\"c\")]);\nprint(\"d\");\nt.join();\nprint(\"e\");"
    );
    let message: Vec<String> =
        good("turns", &text).message.iter().map(|l| l.split(": ").nth(1).unwrap_or("").into()).collect();
    assert_eq!(message, ["a0", "b", "c", "a1", "b", "d", "a2", "e"]);
}

#[test]
fn events_come_in_order() {
    let text = r#"scene(#{ body: #{
        ground: #{ kind: "fixed", shape: "ground" },
        ball: #{ kind: "rigid", shape: "ball", radius: 0.03, mass: 0.1, position: [0, 0.05, 0], velocity: [0.5, 0, 0] },
    } });
    for kind in ["contact_began", "slip", "contact_ended"] {
        on(kind, |e| print(`${e.kind} ${e.body} ${e.other}`));
    }
    wait(0.3);
    ball.push([0, 0.3, 0]);
    wait(0.3);
    "#;
    let ended = text.replace("${e.kind} ${e.body} ${e.other}", "${e.kind} ${e.place.x > 0.01}");
    assert!(good("events_ended", &ended).message.last().is_some_and(|line| line.ends_with("contact_ended true")));
    let message: Vec<String> =
        good("events", text).message.iter().map(|l| l.split(": ").nth(1).unwrap_or("").into()).collect();
    assert_eq!(message[0], "contact_began ground ball");
    // It slips from landing until it rolls, which is one slip event.
    assert_eq!(message.iter().filter(|line| line.starts_with("slip")).count(), 1, "{message:?}");
    assert_eq!(message.last().map(String::as_str), Some("contact_ended ground ball"), "{message:?}");
}

#[test]
fn imports_are_limited_to_the_folder() {
    let folder = write("imports", "").parent().expect("a folder").to_path_buf();
    std::fs::create_dir_all(folder.join("lib")).expect("a folder");
    let file = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    file(
        "lib/moves.rhai",
        "export const STEP = 0.05;\nfn pause(times) { for i in 0..times { wait(0.01); } }\nfn broken() {\n    nothing();\n}\n",
    );
    file("circle.rhai", "import \"circle\" as c;\n");
    file("typo.rhai", "let x = 1;\nlet y = = 2;\n");
    let played =
        good("imports", &format!("import \"lib/moves\" as moves;\n{BALL}moves::pause(3);\nwait(moves::STEP);"));
    assert_eq!(played.steps, 8);
    let error = bad("imports", "import \"lib/moves\" as moves;\nmoves::broken();");
    assert!(error.script.ends_with("moves.rhai") && error.line == 4, "{error}");
    assert!(error.source_line.contains("nothing()"), "{error}");
    let error = bad("imports", "import \"typo\" as t;");
    assert!(error.script.ends_with("typo.rhai") && error.line == 2, "{error}");
    for path in ["../seed/seed", "/etc/passwd", "lib/../../seed/seed", "", "lib\\\\moves"] {
        let error = bad("imports", &format!("import \"{path}\" as p;"));
        assert!(error.message.contains("cannot be imported"), "{error}");
    }
    #[cfg(unix)]
    {
        let outside = write("imports_outside", "let x = 1;");
        let _ = std::os::unix::fs::symlink(outside, folder.join("link.rhai"));
        let error = bad("imports", "wait(0.01);\nfor i in 0..1 { import \"link\" as l; print(i); }");
        assert!(error.message.contains("leads out of the script's folder"), "{error}");
        assert_eq!((error.line, error.column), (2, 24), "{error}");
    }
    assert!(bad("imports", "import \"circle\" as c;").message.contains("in a circle"));
    assert!(bad("imports", "import \"nowhere\" as n;").message.contains("cannot be read"));
}

/// Closures of an imported script use the functions of their own file.
#[test]
fn closures_of_imported_scripts_can_be_goals_handlers_and_tracks() {
    let file = write("borrowed", "");
    let library = "fn high() { 0.02 }\n\
        fn watch(ball) { goal(\"up\", || ball.lift() > high()); on(\"contact_ended\", |e| tell(e.body)); }\n\
        fn tell(what) { print(what); }\n\
        fn both(ball) { parallel([|| wait(0.05), || { step(); ball.push([0, high() * 5, 0]); }]); }\n\
        fn wrong() { goal(\"g\", || { loop { } }); }\n";
    std::fs::write(file.with_file_name("lib.rhai"), library).expect("a file");
    let played = good("borrowed", &format!("import \"lib\" as lib;\n{BALL}lib::watch(ball);\nlib::both(ball);"));
    assert!(played.outcome.success, "{}", played.outcome.reason);
    assert!(played.message.iter().any(|line| line.ends_with(": ground")), "{:?}", played.message);
    let error = bad("borrowed", &format!("import \"lib\" as lib;\n{BALL}lib::wrong();\nwait(1);"));
    assert!(error.script.ends_with("lib.rhai") && error.line == 5, "{error}");
}

/// What touched in the last step is asked for by bodies that have other numbers by then.
#[test]
fn adding_and_removing_bodies_keeps_the_last_step() {
    let body = |name: &str, x: f64| {
        format!(
            "add_body(\"{name}\", #{{ kind: \"rigid\", shape: \"ball\", radius: 0.03, mass: 0.2, position: [{x}, 0.03, 0] }});\n"
        )
    };
    let text = format!(
        "{BALL}{}let began = #{{ count: 0 }};\non(\"contact_began\", |e| began.count += 1);\nlet ground = \
         body(\"ground\");\nwait(0.1);\n{}\
         check(ball.touches(ground) && (ball.force() - 0.981).abs() < 1e-6, \"after one came\");\n\
         check(!late.touches(ground) && late.force() == 0, \"it has not touched yet\");\n\
         ball.remove();\n\
         check(other.touches(ground) && (other.force() - 1.962).abs() < 1e-6, \"after one went\");\n\
         wait(0.1);\ncheck(began.count == 3, `nothing began twice: ${{began.count}}`);",
        body("other", 0.2),
        body("late", 0.4)
    );
    let played = good("come_and_go", &text);
    assert!(played.outcome.success, "{}", played.outcome.reason);
}

#[test]
fn shipped_scenes_and_hands_are_available_to_scripts() {
    let text = "scene(\"pinch\");\nlet other = add_hand(\"other\", #{ file: \"left\", position: [0, 0.5, 0] });\n\
        check(other.side() == \"left\" && exists(\"capsule\"), \"shipped\");\n\
        print(`${bodies()} ${[other]} ${round(2.0 / 3, 3)} ${round(-0.0001, 2)} ${vec(-1e-9, 0, 1)}`);";
    let played = good("shipped", text);
    assert!(played.outcome.success, "{}", played.outcome.reason);
    assert_eq!(played.message, ["0.00 s: [capsule] [other] 0.667 0.0 [0.0000, 0.0000, 1.0000]"]);
}

#[test]
fn a_world_can_be_changed_while_it_runs() {
    let text = format!(
        "{BALL}let cube = add_body(\"cube\", #{{ kind: \"rigid\", shape: \"box\", size: [0.04, 0.04, 0.04], mass: \
         0.2, position: vec(0.2, 0.02, 0) }});\n\
         wait(0.1);\ncheck((cube.mass() - 0.2).abs() < 1e-9, \"mass\");\ncheck(cube.lift().abs() < 1e-4, \"it \
         lies still\");\n\
         cube.set_friction(0.0);\nmaterial(\"default\", 0.0);\ncube.push([0.02, 0, 0]);\nwait(0.2);\n\
         check((cube.velocity().x - 0.1).abs() < 1e-3, `it slides on: ${{cube.velocity()}}`);\n\
         set(\"gravity\", [0, 0, 0]);\nset(\"solver.iterations\", 50);\nset(\"friction\", \"paper\");\n\
         cube.place([0, 1, 0], about([0, 0, 1], 90));\nwait(0.1);\n\
         check((cube.height() - 1.0).abs() < 1e-9 && (cube.turned([0, 0, 1]) - 90.0).abs() < 1e-6, \"it floats\");\n\
         remove(ball);\ncheck(!exists(\"ball\") && bodies().len() == 1, \"the ball is gone\");\nwait(0.05);\n\
         cube.load();\nball.height();"
    );
    let error = bad("changes", &text);
    assert!(error.message.contains("there is no variable, hand or body `ball`"), "{error}");
}

#[test]
fn a_task_with_a_device_is_evaluated_by_the_same_rules() {
    let text = format!(
        "{HAND}goal(\"high\", || right.position().y > 0.25, 0.05);\ntimeout(1);\nright.move_by([0, -0.5, 0], 0.1);"
    );
    let file = write("device", &text);
    let run = |height: f64| {
        let options = ScriptOptions { device: Driven::ALL, ..ScriptOptions::default() };
        let mut run = ScriptRun::load(&file, &options).unwrap_or_else(|error| panic!("{error}"));
        for i in 1..200 {
            let time = 0.01 * f64::from(i);
            let palm = Pose::translation(0.0, 0.2 + height * time.min(0.5), 0.0);
            assert!(run.feed_hand("right", HandSample::full(time, palm, [0.0; ANGLES])).is_some());
            if run.step() != RunState::Running {
                break;
            }
        }
        run.outcome().expect("an outcome").clone()
    };
    assert!(run(0.2).success);
    assert_eq!(run(0.05).reason, "goal `high` was not reached within 1 s at 1.00 s");
    let mut named = ScriptRun::load(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(named.feed_hand("left", HandSample::full(0.0, Pose::identity(), [0.0; ANGLES])), None);
}

#[test]
fn buttons_reach_the_script() {
    let file = write("button", &format!("{BALL}on(\"button\", |e| if e.pressed {{ succeed(e.name) }});\nwait(1);"));
    let mut run = ScriptRun::load(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(run.step(), RunState::Running);
    run.press_button("trigger", false);
    assert_eq!(run.step(), RunState::Running);
    run.press_button("trigger", true);
    assert_eq!(run.step(), RunState::Done);
    assert_eq!(run.outcome().map(|outcome| outcome.reason.as_str()), Some("trigger"));
}

#[test]
fn a_changed_script_is_reloaded_unless_it_has_errors() {
    let file = write("reload", &format!("{BALL}wait(1);"));
    let mut run = ScriptRun::load(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    run.step();
    assert!(!run.is_changed());
    write("reload", "let x = ;");
    assert!(run.is_changed());
    assert_eq!(run.reload().map_err(|error| error.line), Err(1));
    assert_eq!((run.step(), run.steps()), (RunState::Running, 2), "it goes on as it was");
    write("reload", "succeed(\"new\");");
    assert_eq!(run.reload(), Ok(()));
    assert_eq!(run.outcome().map(|outcome| outcome.reason.as_str()), Some("new"));
}

#[test]
fn the_documentation_is_current() {
    use fingerpad::script::{definitions, reference};
    for (file, text) in [("docs/scripting.md", reference()), ("scripts/fingerpad.d.rhai", definitions())] {
        let now = std::fs::read_to_string(root().join(file)).unwrap_or_default();
        assert!(now == text, "{file} is not current; run `fingerpad docs`");
    }
}

#[test]
fn hands_play_keyframes() {
    let text = format!(
        "{HAND}right.play([#{{ seconds: 0.2, pose: \"fist\", position: [0.05, 0.2, 0] }}, #{{ seconds: 0.3, \
         rotation: [0, 90, 0], easing: \"linear\" }}]);\n\
         check((time() - 0.5).abs() < 1e-9, \"it takes half a second\");\n\
         check((right.tracked_angle(\"index_base_flexion\") - 85).abs() < 1e-6, \"a fist\");\n\
         check(distance(right.tracked_position(), [0.05, 0.2, 0]) < 1e-9, \"at its place\");\n\
         check((right.tracked_rotation().angle() - 90).abs() < 1e-6, \"turned\");\n\
         right.turn_about([0, 0.2, 0], [0, 1, 0], 90, 0.2);\n\
         check(distance(right.tracked_position(), [0, 0.2, -0.05]) < 1e-9, `round the axis: \
         ${{right.tracked_position()}}`);\n\
         right.curl(\"index\", 0, 0.1);\nright.spread(1, 0.1);\n\
         check(right.tracked_angle(\"index_base_abduction\") > 19 && \
         right.tracked_angle(\"little_base_abduction\") < -24, \"spread\");\n\
         check(right.tracked_angle(\"index_tip_flexion\").abs() < 1e-6 && right.tracked_angle(\"ring_tip_flexion\") > 70, \"one finger\");"
    );
    let played = good("keyframes", &text);
    assert!(played.outcome.success, "{}", played.outcome.reason);
    let error = bad("keyframes_wrong", &format!("{HAND}right.play([#{{ seconds: 1, pos: \"fist\" }}]);"));
    assert!(error.message.contains("did you mean `pose`?"), "{error}");
}

#[test]
fn a_grasp_is_measured_for_every_hand_involved() {
    let text =
        "scene(\"pinch\");\nmeasure_grasp(capsule, [right]);\nwait(1.6);\ncheck(right.holds(capsule), \"held\");";
    let file = write("measured", text);
    let scenes = file.parent().expect("a folder").join("scenes");
    std::fs::create_dir_all(&scenes).expect("a folder");
    std::fs::copy(root().join("scenes/pinch.toml"), scenes.join("pinch.toml")).expect("the scene");
    let played = play_with(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(played.outcome.success, "{}", played.outcome.reason);
    let metrics: Vec<_> = played.outcome.metrics.keys().map(String::as_str).collect();
    assert_eq!(metrics, ["held_s", "lift_mm", "peak_normal_n", "slip_mm", "spin_deg"]);
    assert!(played.outcome.metrics["peak_normal_n"] > 0.5 && played.outcome.metrics["lift_mm"] > 10.0);
}

/// Objects in a cup or on a tray do not support it: the tray is held while the hand lifts it with its load.
#[test]
fn the_contents_of_an_object_do_not_support_it() {
    let text = "scene(#{\n\
        hand: #{ right: #{ position: [0, 0.1, 0], rotation: [0, 0, 180], pose: \"open\" } },\n\
        body: #{\n\
            tray: #{ kind: \"rigid\", shape: \"box\", size: [0.12, 0.01, 0.14], mass: 0.05, position: [0, 0.145, -0.06] },\n\
            load: #{ kind: \"rigid\", shape: \"box\", size: [0.02, 0.02, 0.02], mass: 0.01, position: [0, 0.16, -0.06] },\n\
            ground: #{ kind: \"fixed\", shape: \"ground\" },\n\
        },\n\
    });\nwait(0.5);\nmeasure_grasp(tray);\nright.move_by([0, 0.05, 0], 0.5);\nwait(0.2);\n\
    check(load.touches(tray), \"the load lies on the tray\");\n";
    let played = good("tray", text);
    assert!(played.outcome.success, "{}", played.outcome.reason);
    let metrics = &played.outcome.metrics;
    assert!(metrics["held_s"] > 0.65 && metrics["lift_mm"] > 40.0, "{metrics:?}");
    // It is not held while it stands on the ground.
    let grounded = text
        .replace("position: [0, 0.1, 0], rotation: [0, 0, 180]", "position: [0, 0.05, 0]")
        .replace("0.145", "0.005")
        .replace("0.16,", "0.02,");
    let metrics = good("grounded", &grounded.replace("right.move_by([0, 0.05, 0], 0.5);", "")).outcome.metrics;
    assert_eq!(metrics["held_s"], 0.0);
}

/// Captions of pictures contain the trial and its result.
#[test]
fn trials_are_counted_and_each_result_is_kept_until_the_next() {
    let file =
        write("captions", &format!("{BALL}trials(2, 0);\nwait(0.05);\nif trial() == 1 {{ fail(\"first\"); }}\n"));
    let mut run = ScriptRun::load(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!((run.planned_trials(), run.ended_trial()), (2, None));
    let mut ends = Vec::new();
    while run.outcome().is_none() {
        run.step();
        ends.extend(run.ended_trial().map(|trial| (run.trial(), trial.success)));
    }
    assert_eq!(ends, [(1, false)]);
}
