use nalgebra::Unit;
use rhai::Dynamic;

use super::arguments::{self, bounded_velocity, number_in, place, rotation, vector};
use super::{Api, BodyRef, HandRef};
use crate::body::BodyKind;
use crate::contact::Friction;
use crate::math::{Pose, Vec3};
use crate::script::state::State;
use crate::script::track::{Fault, fault, with};

pub fn register(api: &mut Api) {
    api.subject("Body");
    api.add("name(body: Body) -> string", "Its name.", |body: BodyRef| body.0);
    api.add("to_string(body: Body) -> string", "Its name.", |body: BodyRef| body.0);
    api.engine.register_fn("to_debug", |body: BodyRef| body.0);
    api.add("position(body: Body) -> Vec3", "Where it is, m; of a soft body its centre of mass.", |body: BodyRef| {
        look(&body, |state, kind| Ok(state.pose(kind).translation.vector))
    });
    api.add("rotation(body: Body) -> Rotation", "How it is turned.", |body: BodyRef| {
        look(&body, |state, kind| Ok(state.pose(kind).rotation))
    });
    api.add("height(body: Body) -> number", "Height of its position over the origin, m.", |body: BodyRef| {
        look(&body, |state, kind| Ok(state.pose(kind).translation.y))
    });
    api.add(
        "lift(body: Body) -> number",
        "How much higher it is than when it came into the world, m.",
        |body: BodyRef| {
            look(&body, |state, kind| Ok(state.pose(kind).translation.y - start(state, &body).translation.y))
        },
    );
    api.add("travel(body: Body) -> number", "How far it is from where it came into the world, m.", |body: BodyRef| {
        look(&body, |state, kind| {
            Ok((state.pose(kind).translation.vector - start(state, &body).translation.vector).norm())
        })
    });
    api.add(
        "tilt(body: Body) -> number",
        "Angle between its up axis and where that pointed when it came into the world, in degrees.",
        |body: BodyRef| {
            look(&body, |state, kind| {
                let up = |pose: &Pose| pose.rotation * Vec3::y();
                Ok(up(&state.pose(kind)).angle(&up(&start(state, &body))).to_degrees())
            })
        },
    );
    api.add(
        "turned(body: Body, axis: Vec3) -> number",
        "By how much it has turned about an axis of the world since it came into it, from -180 to 180 degrees.",
        |body: BodyRef, axis: Dynamic| {
            let axis = Unit::try_new(vector(&axis, "axis")?, 1e-9).ok_or_else(|| fault("the axis must not be zero"))?;
            look(&body, |state, kind| {
                let turn = state.pose(kind).rotation * start(state, &body).rotation.inverse();
                // The twist about the axis: the part of the rotation that is about it.
                let angle = 2.0 * f64::atan2(turn.imag().dot(&axis), turn.w);
                Ok(wrapped(angle).to_degrees())
            })
        },
    );
    api.add("velocity(body: Body) -> Vec3", "How fast it moves, m/s.", |body: BodyRef| {
        look(&body, |state, kind| Ok(velocity(state, kind)))
    });
    api.add("speed(body: Body) -> number", "How fast it moves, m/s.", |body: BodyRef| {
        look(&body, |state, kind| Ok(velocity(state, kind).norm()))
    });
    api.add(
        "spin(body: Body) -> Vec3",
        "How fast it turns, degrees a second about the axes of the world; zero of a soft body.",
        |body: BodyRef| {
            look(&body, |state, kind| match kind {
                BodyKind::Rigid(i) => Ok(state.scene.world.bodies.rigid[i].angular_velocity().map(f64::to_degrees)),
                _ => Ok(Vec3::zeros()),
            })
        },
    );
    api.add("mass(body: Body) -> number", "Its mass, kg; zero of a fixed one.", |body: BodyRef| {
        look(&body, |state, kind| {
            let bodies = &state.scene.world.bodies;
            Ok(match kind {
                BodyKind::Rigid(i) => bodies.rigid[i].mass(),
                BodyKind::Soft(i) => bodies.soft[i].mass(),
                _ => 0.0,
            })
        })
    });
    api.add("force(body: Body) -> number", "Normal forces that press on it, together, N.", |body: BodyRef| {
        look(&body, |state, kind| {
            let touches = state.touches().into_iter().filter(|touch| touch.a == kind || touch.b == kind);
            Ok(touches.map(|touch| touch.pressing).sum::<f64>())
        })
    });
    api.add("load(body: Body) -> Vec3", "All contact forces on it together, N.", |body: BodyRef| {
        look(&body, |state, kind| {
            let side = |touch: &crate::sim::Touch| if touch.a == kind { 1.0 } else { -1.0 };
            let touches = state.touches().into_iter().filter(|touch| touch.a == kind || touch.b == kind);
            Ok(touches.map(|touch| side(&touch) * touch.force()).sum::<Vec3>())
        })
    });
    api.add(
        "touches(body: Body, other: Body) -> bool",
        "Whether two bodies touch.",
        |body: BodyRef, other: BodyRef| {
            with(|state| {
                let (a, b) = (state.body(&body.0)?, state.body(&other.0)?);
                Ok(state.touches().iter().any(|t| (t.a, t.b) == (a, b) || (t.a, t.b) == (b, a)))
            })
        },
    );
    api.add("touches(body: Body, hand: Hand) -> bool", "Whether a hand touches it.", |body: BodyRef, hand: HandRef| {
        with(|state| Ok(super::hand::touching(state, state.hand(&hand.0)?, state.body(&body.0)?)))
    });
    changes(api);
}

fn changes(api: &mut Api) {
    api.add(
        "place(body: Body, position: Vec3)",
        "Puts it somewhere at once, at rest and turned as it is.",
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
        "Puts it somewhere at once, at rest.",
        |body: BodyRef, position: Dynamic, turned: Dynamic| {
            let pose = Pose::from_parts(place(&position, "position")?.into(), rotation(&turned, "rotation")?);
            change(&body, |rigid| {
                rigid.set_pose(&pose);
                Ok(())
            })
        },
    );
    api.add(
        "throw_with(body: Body, velocity: Vec3)",
        "Gives it a velocity, m/s.",
        |body: BodyRef, velocity: Dynamic| {
            let velocity = arguments::velocity(&velocity, "velocity")?;
            change(&body, |rigid| {
                let spin = rigid.angular_velocity();
                rigid.set_velocity(velocity, spin);
                Ok(())
            })
        },
    );
    api.add(
        "push(body: Body, impulse: Vec3)",
        "Pushes it at its centre of mass, N·s.",
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
        "Gives it a surface of its own with a coefficient of friction.",
        |body: BodyRef, friction: Dynamic| {
            let friction = Friction::of(number_in(&friction, "friction", 0.0, 10.0)?);
            with(|state| {
                let kind = state.body(&body.0)?;
                let own = state.scene.world.materials.set(&format!("surface-of-{}", body.0), friction);
                let bodies = &mut state.scene.world.bodies;
                match kind {
                    BodyKind::Rigid(i) => bodies.rigid[i].material = own,
                    BodyKind::Soft(i) => bodies.soft[i].material = own,
                    BodyKind::Fixed(i) => bodies.fixed[i].material = own,
                    BodyKind::Skeleton(_) | BodyKind::Tissue(..) => {}
                }
                Ok(())
            })
        },
    );
}

fn look<R>(body: &BodyRef, of: impl FnOnce(&State, BodyKind) -> Result<R, Fault>) -> Result<R, Fault> {
    with(|state| of(state, state.body(&body.0)?))
}

fn change(body: &BodyRef, act: impl FnOnce(&mut crate::body::RigidBody) -> Result<(), Fault>) -> Result<(), Fault> {
    with(|state| match state.body(&body.0)? {
        BodyKind::Rigid(i) => act(&mut state.scene.world.bodies.rigid[i]),
        _ => Err(fault(format!("`{}` is no rigid body; only those can be moved by hand", body.0))),
    })
}

fn start(state: &State, body: &BodyRef) -> Pose {
    state.starts.get(body.0.as_str()).copied().unwrap_or_else(Pose::identity)
}

fn velocity(state: &State, kind: BodyKind) -> Vec3 {
    let bodies = &state.scene.world.bodies;
    match kind {
        BodyKind::Rigid(i) => *bodies.rigid[i].linear_velocity(),
        BodyKind::Soft(i) => bodies.soft[i].momentum().0 / bodies.soft[i].mass(),
        _ => Vec3::zeros(),
    }
}

fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}
