use rhai::{Array, Dynamic};

use super::arguments::{place, rotation, seconds};
use super::{Api, BodyRef};
use crate::body::{ElasticBody, HeldTool};
use crate::elastic::ContactStatus;
use crate::math::{Pose, Vec3};
use crate::script::state::State;
use crate::script::track::{Fault, fault, wait_until_time, with};

pub fn register(api: &mut Api) {
    api.subject("Body: tool of an elastic object");
    motions(api);
    contact(api);
    deformation(api);
}

fn motions(api: &mut Api) {
    api.add(
        "move_tool(body: Body, position: Vec3, seconds: number)",
        "Moves the tool of an elastic object to a position, m.",
        |body: BodyRef, position: Dynamic, s: Dynamic| {
            let (to, s) = (place(&position, "position")?, seconds(&s)?);
            let end = with(|state| drive(state, &body, s, |tool| Pose::from_parts(to.into(), tool.target().rotation)))?;
            wait_until_time(end)
        },
    );
    api.add(
        "move_tool(body: Body, position: Vec3, rotation: Rotation, seconds: number)",
        "Moves the tool of an elastic object to a pose.",
        |body: BodyRef, position: Dynamic, turned: Dynamic, s: Dynamic| {
            let pose = Pose::from_parts(place(&position, "position")?.into(), rotation(&turned, "rotation")?);
            let s = seconds(&s)?;
            let end = with(|state| drive(state, &body, s, |_| pose))?;
            wait_until_time(end)
        },
    );
    api.add(
        "start_move_tool(body: Body, position: Vec3, seconds: number)",
        "The same as `move_tool`, but returns at once.",
        |body: BodyRef, position: Dynamic, s: Dynamic| {
            let (to, s) = (place(&position, "position")?, seconds(&s)?);
            with(|state| drive(state, &body, s, |tool| Pose::from_parts(to.into(), tool.target().rotation))).map(drop)
        },
    );
    api.add(
        "start_move_tool(body: Body, position: Vec3, rotation: Rotation, seconds: number)",
        "The same as `move_tool`, but returns at once.",
        |body: BodyRef, position: Dynamic, turned: Dynamic, s: Dynamic| {
            let pose = Pose::from_parts(place(&position, "position")?.into(), rotation(&turned, "rotation")?);
            let s = seconds(&s)?;
            with(|state| drive(state, &body, s, |_| pose)).map(drop)
        },
    );
}

fn contact(api: &mut Api) {
    api.add("tool_position(body: Body) -> Vec3", "Position of the tool, m.", |body: BodyRef| {
        look(&body, |tool| Ok(tool.pose().translation.vector))
    });
    api.add("tool_force(body: Body) -> Vec3", "Force of the object on the tool, N.", |body: BodyRef| {
        look(&body, |tool| Ok(tool.force()))
    });
    api.add("tool_torque(body: Body) -> Vec3", "Torque on the tool about its origin, N·m.", |body: BodyRef| {
        look(&body, |tool| Ok(tool.torque()))
    });
    api.add("tool_friction(body: Body) -> Vec3", "Friction on the tool, N.", |body: BodyRef| {
        look(&body, |tool| Ok(tool.friction()))
    });
    api.add(
        "tool_depth(body: Body) -> number",
        "Maximum depth of the tool below the undeformed surface, m.",
        |body: BodyRef| look(&body, |tool| Ok(tool.depth())),
    );
    api.add("tool_area(body: Body) -> number", "Contact area of the tool, m².", |body: BodyRef| {
        look(&body, |tool| Ok(tool.area()))
    });
    api.add("tool_slides(body: Body) -> bool", "Whether the tool slides on the object.", |body: BodyRef| {
        look(&body, |tool| Ok(tool.is_sliding()))
    });
}

fn deformation(api: &mut Api) {
    api.add("tool_regions(body: Body) -> number", "Number of contact regions of the tool.", |body: BodyRef| {
        look(&body, |tool| Ok(tool.object().response().regions.len() as i64))
    });
    api.add(
        "tool_region_forces(body: Body) -> array",
        "Force of each contact region on the tool, N, in the order in which the regions began.",
        |body: BodyRef| {
            look(&body, |tool| {
                let turn = tool.object().pose().rotation;
                let forces = tool.object().response().regions.iter().map(|r| Dynamic::from(turn * r.force));
                Ok(forces.collect::<Array>())
            })
        },
    );
    api.add(
        "tool_started_inside(body: Body) -> bool",
        "Whether the tool was placed inside the object; there is no force until it has left.",
        |body: BodyRef| look(&body, |tool| Ok(tool.status() == ContactStatus::StartedInside)),
    );
    api.add(
        "surface_shift(body: Body, point: Vec3) -> Vec3",
        "Displacement by the tool of a point of the undeformed surface of an elastic object, m.",
        |body: BodyRef, point: Dynamic| {
            let at = place(&point, "point")?;
            look(&body, |tool| {
                let pose = tool.object().pose();
                let local: Vec3 = pose.inverse_transform_point(&at.into()).coords;
                Ok(pose.rotation * tool.object().displacement(&local))
            })
        },
    );
}

fn drive(state: &mut State, body: &BodyRef, seconds: f64, to: impl FnOnce(&HeldTool) -> Pose) -> Result<f64, Fault> {
    let (id, now) = (state.body(&body.0)?, state.time());
    let elastic = state.scene.world.bodies.get_as_mut::<ElasticBody>(id);
    let tool = elastic.and_then(ElasticBody::tool_mut).ok_or_else(|| without_tool(body))?;
    if tool.is_held() {
        return Err(fault(format!("the haptic device holds the tool of `{}`; use `move_device`", body.0)));
    }
    let to = to(tool);
    tool.move_to(to, seconds);
    Ok(now + seconds)
}

fn look<R>(body: &BodyRef, of: impl FnOnce(&HeldTool) -> Result<R, Fault>) -> Result<R, Fault> {
    with(|state| {
        let elastic = state.scene.world.bodies.get_as::<ElasticBody>(state.body(&body.0)?);
        of(elastic.and_then(ElasticBody::tool).ok_or_else(|| without_tool(body))?)
    })
}

fn without_tool(body: &BodyRef) -> Fault {
    fault(format!("`{}` has no tool; only an elastic body with a `tool` table has one", body.0))
}
