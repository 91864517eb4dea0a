//! The script of an episode: a closed room, hands, and random events.

use std::fmt::Write;

use super::dice::Dice;

/// Distance of the walls from the middle of the room, m.
pub const ROOM_HALF_WIDTH: f64 = 0.35;
/// Height of the ceiling, m.
pub const ROOM_HEIGHT: f64 = 1.4;
/// Thickness of walls and ceiling, m.
pub const WALL_THICKNESS: f64 = 0.1;
/// Bodies at a time, apart from the room.
const MAX_BODIES: usize = 10;
/// Lowest place where bodies are added, m. Hands stay below it, so that a body does not begin inside a hand.
const DROP: f64 = 0.75;

/// What is run in an episode.
pub struct EpisodePlan {
    /// Text of the script.
    pub script: String,
    /// Length of a step, s.
    pub dt: f64,
    /// Names of the hands.
    pub hands: Vec<&'static str>,
}

impl EpisodePlan {
    /// A random script of some simulated seconds.
    pub fn new(dice: &mut Dice, seconds: f64) -> Self {
        let dt = *dice.pick(&[0.01, 0.01, 0.01, 0.005, 0.002]);
        let hands = dice.pick(&[&["right"][..], &["right"], &["right", "left"]]).to_vec();
        let mut writer = ScriptWriter { text: room(dt), names: Vec::new(), made: 0, dice };
        for (i, name) in hands.iter().enumerate() {
            let x = if hands.len() == 1 { 0.0 } else { 0.15 - 0.3 * i as f64 };
            writer.line(&format!("add_hand(\"{name}\", #{{ file: \"{name}\", position: [{x}, 0.55, 0.12] }});"));
        }
        let first = 3 + writer.dice.below(4);
        (0..first).for_each(|_| writer.add());
        let mut left = seconds;
        while left > 0.0 {
            let pause = writer.dice.between(0.05, 0.8).min(left);
            writer.line(&format!("wait({pause:.3});"));
            left -= pause;
            if left > 0.0 {
                writer.event();
            }
        }
        Self { script: writer.text, dt, hands }
    }
}

/// A floor, four walls and a ceiling.
fn room(dt: f64) -> String {
    let (place, wide) = (ROOM_HALF_WIDTH + 0.5 * WALL_THICKNESS, 2.0 * (ROOM_HALF_WIDTH + WALL_THICKNESS));
    let mut bodies = String::from("ground: #{ kind: \"fixed\", shape: \"ground\" }");
    let middle = 0.5 * ROOM_HEIGHT;
    let boxes = [
        ("west", [WALL_THICKNESS, ROOM_HEIGHT, wide], [-place, middle, 0.0]),
        ("east", [WALL_THICKNESS, ROOM_HEIGHT, wide], [place, middle, 0.0]),
        ("north", [wide, ROOM_HEIGHT, WALL_THICKNESS], [0.0, middle, -place]),
        ("south", [wide, ROOM_HEIGHT, WALL_THICKNESS], [0.0, middle, place]),
        ("ceiling", [wide, WALL_THICKNESS, wide], [0.0, ROOM_HEIGHT + 0.5 * WALL_THICKNESS, 0.0]),
    ];
    for (name, size, position) in boxes {
        // Writing to a string cannot fail, here and below.
        let _ =
            write!(bodies, ", {name}: #{{ kind: \"fixed\", shape: \"box\", size: {size:?}, position: {position:?} }}");
    }
    format!("scene(#{{ dt: {dt}, body: #{{ {bodies} }} }});\n")
}

struct ScriptWriter<'a> {
    text: String,
    /// Bodies that exist, and whether they are rigid.
    names: Vec<(String, bool)>,
    /// Bodies added so far.
    made: usize,
    dice: &'a mut Dice,
}

impl ScriptWriter<'_> {
    fn line(&mut self, line: &str) {
        self.text += line;
        self.text.push('\n');
    }

    fn event(&mut self) {
        match self.dice.below(20) {
            0..=4 if self.names.len() < MAX_BODIES => self.add(),
            5..=7 => self.remove(),
            8..=11 => self.act(),
            12..=13 => self.nonsense(),
            _ => self.set(),
        }
    }

    /// A free place: each body that is added has another height than the four before it.
    fn place(&mut self) -> String {
        let far = ROOM_HALF_WIDTH - 0.1;
        let (x, z) = (self.dice.between(-far, far), self.dice.between(-far, far));
        format!("[{x:.4}, {:.4}, {z:.4}]", DROP + 0.12 * (self.made % 5) as f64)
    }

    fn velocity(&mut self) -> String {
        let fast = if self.dice.one_in(8) { 40.0 } else { 4.0 };
        let [x, y, z] = [(); 3].map(|()| self.dice.between(-fast, fast));
        format!("[{x:.3}, {y:.3}, {z:.3}]")
    }

    fn add(&mut self) {
        self.made += 1;
        let (name, place, velocity) = (format!("b{}", self.made), self.place(), self.velocity());
        let dice = &mut *self.dice;
        let (radius, long) = (dice.between(0.006, 0.03), dice.between(0.02, 0.08));
        let shape = match dice.below(12) {
            0..=2 => {
                let [x, y, z] = [(); 3].map(|()| dice.between(0.01, 0.06));
                format!("shape: \"box\", size: [{x:.4}, {y:.4}, {z:.4}]")
            }
            3..=4 => format!("shape: \"ball\", radius: {radius:.4}"),
            5..=6 => format!("shape: \"capsule\", radius: {:.4}, length: {long:.4}", 0.5 * radius),
            7..=8 => format!("shape: \"cylinder\", radius: {radius:.4}, height: {long:.4}"),
            // Slender.
            9..=10 => format!("shape: \"box\", size: [{:.4}, 0.005, 0.005]", 2.0 * long),
            _ => String::new(),
        };
        let is_rigid = !shape.is_empty();
        let description = if !is_rigid {
            let young = dice.between(1e4, 1e5);
            format!("kind: \"soft\", shape: \"ball\", radius: {:.4}, young: {young:.0}", radius.max(0.02))
        } else {
            let density = 100.0 * 80f64.powf(dice.unit());
            let [a, b, c] = [(); 3].map(|()| dice.between(-180.0, 180.0));
            format!(
                "kind: \"rigid\", {shape}, density: {density:.0}, rotation: [{a:.1}, {b:.1}, {c:.1}], velocity: {velocity}"
            )
        };
        self.line(&format!("add_body(\"{name}\", #{{ {description}, position: {place} }});"));
        self.names.push((name, is_rigid));
    }

    fn remove(&mut self) {
        if let Some((name, _)) = self.any() {
            self.line(&format!("body(\"{name}\").remove();"));
            self.names.retain(|(other, _)| *other != name);
        }
    }

    fn any(&mut self) -> Option<(String, bool)> {
        let index = self.dice.below(self.names.len().max(1));
        self.names.get(index).cloned()
    }

    /// Moves a rigid body, or changes its friction; soft bodies cannot be moved by a script.
    fn act(&mut self) {
        let Some((name, true)) = self.any() else { return };
        let call = match self.dice.below(4) {
            0 => format!("throw_with({})", self.velocity()),
            1 => format!("push([{:.4}, {:.4}, 0])", self.dice.between(-0.02, 0.02), self.dice.between(-0.02, 0.02)),
            2 => format!("set_friction({:.3})", self.dice.between(0.0, 2.0)),
            _ => {
                // Each added body has its own height, so that none overlap.
                self.made += 1;
                format!("place({})", self.place())
            }
        };
        self.line(&format!("body(\"{name}\").{call};"));
    }

    /// Changes a setting. Another method of contact is used for a few steps only: those solved on velocities let bodies overlap.
    fn set(&mut self) {
        let dice = &mut *self.dice;
        let (key, value) = match dice.below(10) {
            0 => {
                let [x, z] = [(); 2].map(|()| dice.between(-5.0, 5.0));
                ("gravity", format!("[{x:.2}, {:.2}, {z:.2}]", dice.between(-15.0, 2.0)))
            }
            1 => ("gravity", "[0, -9.81, 0]".into()),
            2 => ("friction", format!("{:?}", dice.pick(&["exact", "paper", "ellipsoid", "coulomb"]))),
            3 => ("aggregate.split_angle", format!("{:.1}", dice.between(20.0, 90.0))),
            4 => ("aggregate.patches", dice.pick(&["true", "false"]).to_string()),
            5 => ("aggregate.split", dice.pick(&["true", "false"]).to_string()),
            6 => ("refactor", format!("{:?}", dice.pick(&["always", "drift", "never"]))),
            7 => {
                let (key, value) = dice.pick(&[("method", "point"), ("pressure", "depth"), ("pressure", "uniform")]);
                let default = if *key == "method" { "aggregate" } else { "nonuniform" };
                let line = format!("set(\"{key}\", \"{value}\"); wait(0.02);");
                let back = format!("\"{default}\"");
                self.line(&line);
                self.line(&format!("set(\"{key}\", {back});"));
                return;
            }
            8 => ("contact.alarm", format!("{:.5}", dice.between(1e-3, 5e-3))),
            _ => ("solver.iterations", format!("{}", 100 + dice.below(400))),
        };
        self.line(&format!("set(\"{key}\", {value});"));
    }

    /// A call that must be refused.
    fn nonsense(&mut self) {
        let name = self.any().map_or_else(|| "ground".into(), |(name, _)| name);
        let calls = [
            "set(\"friction\", ())".to_string(),
            "set(\"solver.tolerance\", -1.0)".into(),
            "set(\"gravity\", [0, 1e300, 0])".into(),
            "set(\"no_such_key\", 1)".into(),
            "add_body(\"bad\", #{ kind: \"rigid\", shape: \"ball\", radius: -1.0 })".into(),
            "add_body(\"bad\", #{ kind: \"soft\", shape: \"ball\", radius: 0.02, young: 0.0 })".into(),
            "body(\"nobody\").remove()".into(),
            format!("add_body(\"{name}\", #{{ kind: \"rigid\", shape: \"ball\", radius: 0.02 }})"),
            format!("body(\"{name}\").place([1e300, 0, 0])"),
            format!("body(\"{name}\").throw_with([0.0, 1e9, 0.0])"),
        ];
        let call = self.dice.pick(&calls).clone();
        self.line(&format!(
            "{{ let refused = false; try {{ {call}; }} catch {{ refused = true; }} if !refused {{ throw `accepted: {}`; }} }}",
            call.replace('"', "'")
        ));
    }
}
