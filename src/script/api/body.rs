use nalgebra::Unit;
use rhai::Dynamic;

use super::arguments::{self, bounded_velocity, number_in, place, rotation, vector};
use super::{Api, BodyRef, HandRef};
use crate::body::{BodyId, QuasiRigidBody, RigidBody};
use crate::contact::Friction;
use crate::math::{Pose, Vec3};
use crate::script::state::State;
use crate::script::track::{Fault, fault, with};

pub fn register(api: &mut Api) {
    api.subject("Body");
    places(api);
    motions(api);
    contacts(api);
    placements(api);
    changes(api);
}

/// Where it is, and where it was.
fn places(api: &mut Api) {
    api.add("name(body: Body) -> string", "Its name.", |body: BodyRef| body.0);
    api.add("to_string(body: Body) -> string", "Its name.", |body: BodyRef| body.0);
    api.engine.register_fn("to_debug", |body: BodyRef| body.0);
    api.add("position(body: Body) -> Vec3", "Position, m; for a soft body its centre of mass.", |body: BodyRef| {
        look(&body, |state, kind| Ok(state.pose(kind).translation.vector))
    });
    api.add("rotation(body: Body) -> Rotation", "Orientation.", |body: BodyRef| {
        look(&body, |state, kind| Ok(state.pose(kind).rotation))
    });
    api.add("height(body: Body) -> number", "Height of its position above the origin, m.", |body: BodyRef| {
        look(&body, |state, kind| Ok(state.pose(kind).translation.y))
    });
    api.add("lift(body: Body) -> number", "Change of height since it was added to the world, m.", |body: BodyRef| {
        look(&body, |state, kind| Ok(state.pose(kind).translation.y - start(state, &body).translation.y))
    });
    api.add("travel(body: Body) -> number", "Distance from where it was added to the world, m.", |body: BodyRef| {
        look(&body, |state, kind| {
            Ok((state.pose(kind).translation.vector - start(state, &body).translation.vector).norm())
        })
    });
    api.add(
        "tilt(body: Body) -> number",
        "Angle between its up axis now and when it was added to the world, in degrees.",
        |body: BodyRef| {
            look(&body, |state, kind| {
                let up = |pose: &Pose| pose.rotation * Vec3::y();
                Ok(up(&state.pose(kind)).angle(&up(&start(state, &body))).to_degrees())
            })
        },
    );
    api.add(
        "turned(body: Body, axis: Vec3) -> number",
        "Rotation about a world axis since it was added to the world, from -180 to 180 degrees.",
        |body: BodyRef, axis: Dynamic| {
            let axis = Unit::try_new(vector(&axis, "axis")?, 1e-9).ok_or_else(|| fault("the axis must not be zero"))?;
            look(&body, |state, kind| {
                let turn = state.pose(kind).rotation * start(state, &body).rotation.inverse();
                // The twist about the axis.
                let angle = 2.0 * f64::atan2(turn.imag().dot(&axis), turn.w);
                Ok(wrapped(angle).to_degrees())
            })
        },
    );
}

fn motions(api: &mut Api) {
    api.add("velocity(body: Body) -> Vec3", "Velocity, m/s.", |body: BodyRef| {
        look(&body, |state, kind| Ok(velocity(state, kind)))
    });
    api.add("speed(body: Body) -> number", "Speed, m/s.", |body: BodyRef| {
        look(&body, |state, kind| Ok(velocity(state, kind).norm()))
    });
    api.add(
        "spin(body: Body) -> Vec3",
        "Angular velocity about the world axes, degrees per second; zero for a soft body.",
        |body: BodyRef| {
            look(&body, |state, id| {
                let bodies = &state.scene.world.bodies;
                let quasi_rigid = bodies.get_as::<QuasiRigidBody>(id).map(|body| body.rigid());
                let rigid = bodies.get_as::<RigidBody>(id).or(quasi_rigid);
                Ok(rigid.map_or_else(Vec3::zeros, |body| body.angular_velocity().map(f64::to_degrees)))
            })
        },
    );
    api.add("mass(body: Body) -> number", "Mass, kg; zero for a fixed body.", |body: BodyRef| {
        look(&body, |state, id| Ok(state.get(id)?.mass().unwrap_or(0.0)))
    });
}

fn contacts(api: &mut Api) {
    api.add("force(body: Body) -> number", "Sum of the normal forces on it, N.", |body: BodyRef| {
        look(&body, |state, kind| {
            let touches = state.touches().into_iter().filter(|touch| touch.a.body == kind || touch.b.body == kind);
            Ok(touches.map(|touch| touch.pressing).sum::<f64>())
        })
    });
    api.add("load(body: Body) -> Vec3", "Total contact force on it, N.", |body: BodyRef| {
        look(&body, |state, kind| {
            let side = |touch: &crate::sim::Touch| if touch.a.body == kind { 1.0 } else { -1.0 };
            let touches = state.touches().into_iter().filter(|touch| touch.a.body == kind || touch.b.body == kind);
            Ok(touches.map(|touch| side(&touch) * touch.force()).sum::<Vec3>())
        })
    });
    api.add(
        "touches(body: Body, other: Body) -> bool",
        "Whether two bodies touch.",
        |body: BodyRef, other: BodyRef| {
            with(|state| {
                let (a, b) = (state.body(&body.0)?, state.body(&other.0)?);
                let ids = |t: &crate::sim::Touch| (t.a.body, t.b.body);
                Ok(state.touches().iter().any(|t| ids(t) == (a, b) || ids(t) == (b, a)))
            })
        },
    );
    api.add("touches(body: Body, hand: Hand) -> bool", "Whether a hand touches it.", |body: BodyRef, hand: HandRef| {
        with(|state| Ok(super::hand::touching(state, state.hand(&hand.0)?, state.body(&body.0)?)))
    });
}

fn placements(api: &mut Api) {
    api.add(
        "place(body: Body, position: Vec3)",
        "Moves it to a position at once, at rest, with the same orientation.",
        |body: BodyRef, position: Dynamic| {
            let place = place(&position, "position")?;
            change(&body, |rigid| {
                let turned = rigid.pose().rotation;
                rigid.set_pose(&Pose::from_parts(place.into(), turned));
                Ok(())
            })
        },
    );
    api.add(
        "place(body: Body, position: Vec3, rotation: Rotation)",
        "Moves it to a pose at once, at rest.",
        |body: BodyRef, position: Dynamic, turned: Dynamic| {
            let pose = Pose::from_parts(place(&position, "position")?.into(), rotation(&turned, "rotation")?);
            change(&body, |rigid| {
                rigid.set_pose(&pose);
                Ok(())
            })
        },
    );
}

fn changes(api: &mut Api) {
    api.add("throw_with(body: Body, velocity: Vec3)", "Sets its velocity, m/s.", |body: BodyRef, velocity: Dynamic| {
        let velocity = arguments::velocity(&velocity, "velocity")?;
        change(&body, |rigid| {
            let spin = rigid.angular_velocity();
            rigid.set_velocity(velocity, spin);
            Ok(())
        })
    });
    api.add(
        "push(body: Body, impulse: Vec3)",
        "Applies an impulse at its centre of mass, N·s.",
        |body: BodyRef, impulse: Dynamic| {
            let impulse = vector(&impulse, "impulse")?;
            change(&body, |rigid| {
                let velocity = bounded_velocity(rigid.linear_velocity() + impulse / rigid.mass(), "velocity after it")?;
                let spin = rigid.angular_velocity();
                rigid.set_velocity(velocity, spin);
                Ok(())
            })
        },
    );
    api.add(
        "set_friction(body: Body, friction: number)",
        "Sets the friction coefficient of its surface.",
        |body: BodyRef, friction: Dynamic| {
            let friction = Friction::of(number_in(&friction, "friction", 0.0, 10.0)?);
            with(|state| {
                let kind = state.body(&body.0)?;
                let own = state.scene.world.materials.set(&format!("surface-of-{}", body.0), friction);
                if let Some(body) = state.scene.world.bodies.get_mut(kind) {
                    body.set_material(own);
                }
                Ok(())
            })
        },
    );
}

fn look<R>(body: &BodyRef, of: impl FnOnce(&State, BodyId) -> Result<R, Fault>) -> Result<R, Fault> {
    with(|state| of(state, state.body(&body.0)?))
}

fn change(body: &BodyRef, act: impl FnOnce(&mut RigidBody) -> Result<(), Fault>) -> Result<(), Fault> {
    with(|state| {
        let id = state.body(&body.0)?;
        let bodies = &mut state.scene.world.bodies;
        if let Some(body) = bodies.get_as_mut::<QuasiRigidBody>(id) {
            return body.change_rigid(act);
        }
        match bodies.get_as_mut::<RigidBody>(id) {
            Some(rigid) => act(rigid),
            None => Err(fault(format!("`{}` is no rigid body; only those can be moved by hand", body.0))),
        }
    })
}

fn start(state: &State, body: &BodyRef) -> Pose {
    state.starts.get(body.0.as_str()).copied().unwrap_or_else(Pose::identity)
}

fn velocity(state: &State, body: BodyId) -> Vec3 {
    state.scene.world.bodies.get(body).map_or_else(Vec3::zeros, |body| body.centre_velocity())
}

fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}
