use rhai::Dynamic;

use super::arguments::{body_name, number, place, text, vector};
use super::{Api, found};
use crate::contact::{Attachment, AttachmentEnd, Joint};
use crate::math::Vec3;
use crate::script::limits::ATTACHMENTS;
use crate::script::state::State;
use crate::script::track::{Fault, fault, with};
use crate::text::unknown;

pub fn register(api: &mut Api) {
    api.subject("Attachments");
    api.add(
        "attach(a: Body, b: Body, at: Vec3)",
        "Welds two bodies together as they are now. An end is a body, its name, `\"world\"`, or a segment of a hand, such as \
         `\"right.palm\"`.",
        |a: Dynamic, b: Dynamic, at: Dynamic| attach(&a, &b, &at, Joint::Weld),
    );
    api.add(
        "attach(a: Body, b: Body, at: Vec3, joint)",
        "The same with a joint: `\"weld\"`, `\"point\"`, which leaves all rotations, or the axis of a hinge as a Vec3.",
        |a: Dynamic, b: Dynamic, at: Dynamic, joint: Dynamic| attach(&a, &b, &at, self::joint(&joint)?),
    );
    api.add(
        "set_motor(a: Body, b: Body, speed: number) -> bool",
        "Sets the speed of the motors of the hinges and sliders between two ends, in degrees or metres per second; returns whether there are any.",
        |a: Dynamic, b: Dynamic, speed: Dynamic| {
            let (names, speed) = ([body_name(&a)?, body_name(&b)?], number(&speed, "speed")?);
            with(|state| {
                let [a, b] = ends(state, &names)?;
                let attachments = state.scene.world.attachments.iter_mut();
                let mut any = false;
                for attachment in attachments.filter(|attachment| attachment.joins(a.body, b.body)) {
                    let turns = matches!(attachment.joint(), Joint::Hinge(_));
                    any |= attachment.set_motor_speed(if turns { speed.to_radians() } else { speed });
                }
                Ok(any)
            })
        },
    );
    api.add(
        "detach(a: Body, b: Body) -> bool",
        "Removes all attachments between two ends; returns whether there were any.",
        |a: Dynamic, b: Dynamic| {
            let names = [body_name(&a)?, body_name(&b)?];
            with(|state| {
                let [a, b] = ends(state, &names)?;
                let attachments = &mut state.scene.world.attachments;
                let before = attachments.len();
                attachments.retain(|attachment| !attachment.joins(a.body, b.body));
                Ok(attachments.len() < before)
            })
        },
    );
}

fn joint(value: &Dynamic) -> Result<Joint, Fault> {
    if value.is_string() {
        let (name, known) = (text(value, "joint")?, ["weld".to_string(), "point".to_string()]);
        return match name.as_str() {
            "weld" => Ok(Joint::Weld),
            "point" => Ok(Joint::Point),
            _ => Err(fault(unknown("joint", &name, known.iter()))),
        };
    }
    let wrong =
        |_| fault(format!("`joint`: expected `\"weld\"`, `\"point\"` or the axis of a hinge, found {}", found(value)));
    vector(value, "joint").map(Joint::Hinge).map_err(wrong)
}

fn ends(state: &State, names: &[String; 2]) -> Result<[AttachmentEnd; 2], Fault> {
    let end = |name: &str| state.scene.attachment_end(name).map_err(fault);
    Ok([end(&names[0])?, end(&names[1])?])
}

fn attach(a: &Dynamic, b: &Dynamic, at: &Dynamic, joint: Joint) -> Result<(), Fault> {
    let (names, at): ([String; 2], Vec3) = ([body_name(a)?, body_name(b)?], place(at, "at")?);
    with(|state| {
        let ends = ends(state, &names)?;
        let world = &mut state.scene.world;
        if world.attachments.len() >= ATTACHMENTS {
            return Err(fault(format!("at most {ATTACHMENTS} attachments are allowed")));
        }
        let attachment = Attachment::new(&world.bodies, ends, &at, joint).map_err(|why| fault(why.to_string()))?;
        world.attachments.push(attachment);
        Ok(())
    })
}
