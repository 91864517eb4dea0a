use rhai::Dynamic;

use super::arguments::number_in;
use super::{Api, BodyRef};
use crate::beam::BeamChain;
use crate::body::BeamBody;
use crate::script::track::{Fault, fault, with};

pub fn register(api: &mut Api) {
    api.subject("Body: beams and threads");
    api.add(
        "node(body: Body, number: number) -> Vec3",
        "Position of a node of a beam, m; the first has the number 0.",
        |body: BodyRef, number: Dynamic| {
            look(&body, |chain| {
                let node = index(&number, "number", chain.nodes())?;
                Ok(chain.positions()[node])
            })
        },
    );
    api.add("nodes(body: Body) -> number", "Number of nodes of a beam.", |body: BodyRef| {
        look(&body, |chain| Ok(chain.nodes() as i64))
    });
    api.add(
        "tension(body: Body, number: number) -> number",
        "Tension between two nodes of a beam, the first of which has this number, N; negative for compression.",
        |body: BodyRef, number: Dynamic| {
            look(&body, |chain| {
                let beam = index(&number, "number", chain.elements().len())?;
                Ok(chain.stress(beam)[0])
            })
        },
    );
}

fn index(value: &Dynamic, name: &str, count: usize) -> Result<usize, Fault> {
    let number = number_in(value, name, 0.0, (count - 1) as f64)?;
    if number.fract() == 0.0 {
        Ok(number as usize)
    } else {
        Err(fault(format!("`{name}`: expected a whole number, found {number}")))
    }
}

fn look<R>(body: &BodyRef, of: impl FnOnce(&BeamChain) -> Result<R, Fault>) -> Result<R, Fault> {
    with(|state| {
        let beam = state.scene.world.bodies.get_as::<BeamBody>(state.body(&body.0)?);
        let none = || fault(format!("`{}` is no beam; this needs a body of the kind `beam`", body.0));
        of(beam.ok_or_else(none)?.chain())
    })
}
