use kiss3d::egui::{Grid, RichText, ScrollArea, Ui};

use super::link::{BodyInfo, Report};
use super::panels::TIME;
use crate::body::{BodyId, ColliderId};
use crate::math::Vec3;

/// The scene tree, and the inspector of the selected body.
pub fn show(ui: &mut Ui, report: &Report, selected: &mut Option<BodyId>) {
    let height = ui.available_height();
    ui.label(RichText::new("Scene").strong());
    let part = if selected.is_some() { 0.35 } else { 0.7 };
    ScrollArea::vertical().id_salt("tree").max_height(part * height).auto_shrink([false, true]).show(ui, |ui| {
        let mut kinds: Vec<&str> = report.bodies.iter().map(|body| body.kind).collect();
        kinds.dedup();
        for kind in kinds {
            let bodies: Vec<&BodyInfo> = report.bodies.iter().filter(|body| body.kind == kind).collect();
            ui.label(RichText::new(kind).size(12.0).color(TIME));
            for body in bodies {
                let is_selected = *selected == Some(body.body);
                if ui.selectable_label(is_selected, format!("  {}", body.name)).clicked() {
                    *selected = (!is_selected).then_some(body.body);
                }
            }
        }
    });
    if let Some(body) = *selected {
        ui.separator();
        ScrollArea::vertical().id_salt("inspector").auto_shrink(false).show(ui, |ui| inspector(ui, report, body));
    } else {
        ui.separator();
        ui.label(RichText::new("Click a body to inspect it.").size(12.0));
        messages(ui, report);
    }
}

fn messages(ui: &mut Ui, report: &Report) {
    if report.messages.is_empty() {
        return;
    }
    ui.add_space(4.0);
    ui.label(RichText::new("Messages").strong());
    ScrollArea::vertical().id_salt("messages").auto_shrink(false).stick_to_bottom(true).show(ui, |ui| {
        for message in report.messages.iter() {
            ui.label(RichText::new(message).size(12.0));
        }
    });
}

fn inspector(ui: &mut Ui, report: &Report, body: BodyId) {
    let Some(info) = report.bodies.iter().find(|known| known.body == body) else { return };
    ui.label(RichText::new(&info.name).strong().size(15.0));
    Grid::new("inspector").num_columns(2).spacing([8.0, 2.0]).show(ui, |ui| {
        for (name, value) in facts(report, info) {
            ui.label(RichText::new(name).size(12.0));
            ui.label(RichText::new(value).monospace().size(12.0));
            ui.end_row();
        }
    });
    ui.add_space(4.0);
    let meetings = meetings(report, body);
    ui.label(RichText::new(format!("touches {}", meetings.len())).strong().size(12.0));
    Grid::new("touches").num_columns(3).spacing([8.0, 1.0]).show(ui, |ui| {
        if !meetings.is_empty() {
            for head in ["with", "normal", "friction"] {
                ui.label(RichText::new(head).size(11.0).color(TIME));
            }
            ui.end_row();
        }
        for meeting in meetings {
            ui.label(RichText::new(meeting.with).size(11.5));
            ui.label(RichText::new(format!("{:.2} N", meeting.normal)).monospace().size(11.5));
            ui.label(RichText::new(format!("{:.2} N", meeting.friction)).monospace().size(11.5));
            ui.end_row();
        }
    });
}

/// Pose, speed, mass and material.
fn facts(report: &Report, info: &BodyInfo) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    if let Some(motion) = report.motion_of(info.body) {
        let p = 1e3 * motion.pose.translation.vector;
        facts.push(("position, mm", format!("{:.1} {:.1} {:.1}", p.x, p.y, p.z)));
        let (roll, pitch, yaw) = motion.pose.rotation.euler_angles();
        let [x, y, z] = [roll, pitch, yaw].map(f64::to_degrees);
        facts.push(("rotation xyz, °", format!("{x:.1} {y:.1} {z:.1}")));
        if info.moves {
            facts.push(("speed", format!("{:.1} mm/s", 1e3 * motion.linear.norm())));
            facts.push(("angular speed", format!("{:.1} °/s", motion.angular.norm().to_degrees())));
        }
    }
    facts.extend(info.mass.map(|mass| ("mass", format!("{:.1} g", 1e3 * mass))));
    if !info.material.is_empty() {
        facts.push(("material", info.material.clone()));
    }
    let (force, contacts) = total(report, info.body);
    facts.push(("contacts", contacts.to_string()));
    facts.push(("contact force, N", format!("{:.2} {:.2} {:.2}", force.x, force.y, force.z)));
    facts
}

/// Total contact force on a body, N, and its contacts.
fn total(report: &Report, body: BodyId) -> (Vec3, usize) {
    report.frame.touches.iter().fold((Vec3::zeros(), 0), |(force, contacts), touch| {
        let sign = f64::from(i8::from(touch.a.body == body) - i8::from(touch.b.body == body));
        let counted = if touch.a.body == body || touch.b.body == body { touch.contacts } else { 0 };
        (force + sign * touch.force(), contacts + counted)
    })
}

/// The contact partners of a body, with the sums of the forces.
struct ContactPartner {
    with: String,
    normal: f64,
    friction: f64,
}

fn meetings(report: &Report, body: BodyId) -> Vec<ContactPartner> {
    let mut found: Vec<(ColliderId, ColliderId, f64, f64)> = Vec::new();
    for touch in &report.frame.touches {
        let (own, other) = match (touch.a.body == body, touch.b.body == body) {
            (true, _) => (touch.a, touch.b),
            (_, true) => (touch.b, touch.a),
            _ => continue,
        };
        let friction = touch.friction.norm();
        match found.iter_mut().find(|known| (known.0, known.1) == (own, other)) {
            Some(known) => (known.2, known.3) = (known.2 + touch.pressing, known.3 + friction),
            None => found.push((own, other, touch.pressing, friction)),
        }
    }
    found.sort_by(|a, b| b.2.total_cmp(&a.2));
    let name = |own: ColliderId, other: ColliderId| {
        let other = report.name_of(other).unwrap_or_default();
        match report.segment_of(own) {
            Some(segment) => format!("{}: {other}", segment.name().replace('_', " ")),
            None => other,
        }
    };
    found
        .into_iter()
        .map(|(own, other, normal, friction)| ContactPartner { with: name(own, other), normal, friction })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::load_builtin_scene;
    use crate::viewer::Frame;

    #[test]
    fn contact_forces_carry_a_resting_body() {
        let mut scene = load_builtin_scene("play", &[]).expect("a scene").expect("a sound one");
        for _ in 0..60 {
            scene.feed();
            scene.step();
        }
        let cube = scene.rigid("cube").expect("a cube");
        let ground = scene.world.bodies.find("ground").expect("a ground");
        let body = |name: &str, body| BodyInfo {
            name: name.into(),
            kind: "rigid",
            moves: true,
            body,
            mass: Some(0.06),
            material: "wood".into(),
        };
        let bodies = [body("cube", cube.id()), body("ground", ground)];
        let report = Report { frame: Frame::of(&scene.world), bodies: bodies.into(), ..Report::default() };
        let (force, contacts) = total(&report, cube.id());
        assert!((force - Vec3::new(0.0, 0.06 * 9.81, 0.0)).norm() < 0.02 && contacts > 0, "{force}");
        let meetings = meetings(&report, cube.id());
        assert!(meetings.len() == 1 && meetings[0].with == "ground", "{}", meetings.len());
        assert!(facts(&report, &report.bodies[0]).contains(&("mass", "60.0 g".into())));
    }
}
