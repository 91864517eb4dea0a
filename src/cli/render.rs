use std::path::PathBuf;

/// A picture to draw.
#[derive(clap::Args)]
pub struct Arguments {
    /// A hand file or a scene; the built-in average right hand if left out.
    file: Option<PathBuf>,
    /// Time of the scene to draw, s.
    #[arg(long, default_value_t = 0.0)]
    at: f64,
    #[command(flatten)]
    changes: super::scene_arguments::SceneArguments,
    /// Where to write the PNG.
    #[arg(long)]
    out: PathBuf,
    /// Pose of the hand, by name.
    #[arg(long, default_value = "rest")]
    pose: String,
    /// Where to look from.
    #[arg(long, value_enum, default_value_t = From::Back)]
    from: From,
    /// Layers to show.
    #[arg(long, value_enum, value_delimiter = ',', default_value = "skin")]
    show: Vec<Layer>,
    /// Size in pixels.
    #[arg(long, default_value = "1280x960", value_parser = size)]
    size: (u32, u32),
}

/// Where the camera stands.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum From {
    /// Above the back of the hand.
    Back,
    /// Below the palm.
    Palm,
    /// On the thumb's side.
    Side,
    /// Obliquely, from the thumb's side and the front.
    Oblique,
}

/// A layer of the hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Layer {
    /// The visual skin.
    Skin,
    /// The collision skin.
    Collision,
    /// The tetrahedra.
    Tets,
    /// Bones and joints.
    Skeleton,
    /// Forces of contact.
    Forces,
}

fn size(text: &str) -> Result<(u32, u32), String> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    parsed
        .filter(|&(w, h): &(u32, u32)| (16..=8192).contains(&w) && (16..=8192).contains(&h))
        .ok_or_else(|| "expected WIDTHxHEIGHT, each from 16 to 8192, as in 1280x960".into())
}

#[cfg(not(feature = "viewer"))]
pub fn run(_arguments: &Arguments, _talk: super::Talk) -> anyhow::Result<()> {
    anyhow::bail!("pictures need the feature `viewer`, and this program was built without it")
}

#[cfg(feature = "viewer")]
pub use drawing::{run, scene_figure};

#[cfg(feature = "viewer")]
mod drawing {
    use std::sync::Arc;

    use anyhow::bail;

    use super::{Arguments, From, Layer};
    use crate::assets::Scene;
    use crate::body::tessellated;
    use crate::body::{Hand, HandOptions};
    use crate::cli::bench::measure::advance;
    use crate::cli::{Talk, load_model, write_file};
    use crate::hand::HandModel;
    use crate::math::{Pose, Vec3};
    use crate::mesh::SurfaceMesh;
    use crate::sim::{HandSnapshot, Parameters, World};
    use crate::tracking::{Segment, Side};
    use crate::viewer::{Camera, Figure, Lines, Painted, draw};

    const SKIN: [f32; 3] = [0.87, 0.67, 0.55];
    const COLLISION: [f32; 3] = [0.45, 0.62, 0.80];
    const EDGE: [f32; 3] = [0.15, 0.25, 0.35];
    const THING: [f32; 3] = [0.55, 0.60, 0.65];
    const FORCE: [f32; 3] = [0.80, 0.15, 0.10];
    const BONE: [f32; 3] = [0.93, 0.90, 0.80];

    pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
        if let Some(file) = &arguments.file
            && crate::assets::file_kind(file)? == crate::assets::FileKind::Scene
        {
            return write(scene_at(file, arguments)?, arguments, talk);
        }
        let model = Arc::new(load_model(arguments.file.as_ref(), talk)?);
        if model.description.pose(&arguments.pose).is_none() {
            let names: Vec<_> = model.description.poses.iter().map(|p| p.name.as_str()).collect();
            bail!("the hand has no pose `{}`; it has {}", arguments.pose, names.join(", "));
        }
        let mut world = World::new(Parameters::default());
        let options = HandOptions { pose: arguments.pose.clone(), ..Default::default() };
        world.add_hand(Hand::new(model.clone(), &options));
        let snapshot = world.snapshot();
        write(figure(&model, &snapshot.hands[0], &arguments.show, arguments.from), arguments, talk)
    }

    fn write(mut picture: Figure, arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
        picture.size = arguments.size;
        write_file(&arguments.out, &draw(&picture)?.png_bytes()?)?;
        talk.say(format_args!("wrote {}", arguments.out.display()));
        Ok(())
    }

    /// The layers of a hand as a figure.
    pub fn figure(model: &HandModel, hand: &HandSnapshot, layers: &[Layer], from: From) -> Figure {
        let shows = |layer: Layer| layers.contains(&layer);
        let mut meshes = Vec::new();
        let mut lines = Vec::new();
        if shows(Layer::Skin) {
            let triangles = model.visual.mesh.triangles.clone();
            let mut skin = Painted::new(&SurfaceMesh { vertices: hand.visual.clone(), triangles }, SKIN);
            if shows(Layer::Skeleton) || shows(Layer::Tets) {
                // What lies inside must show through.
                skin.opacity = 0.45;
            }
            meshes.push(skin);
        }
        for segment in Segment::all() {
            let mesh = &model.meshes[segment.index()];
            if shows(Layer::Collision) {
                let surface = SurfaceMesh {
                    vertices: hand.skin[segment.index()].clone(),
                    triangles: mesh.skin.triangles.clone(),
                };
                let painted = Painted::new(&surface, COLLISION);
                lines.push(painted.wireframe(EDGE, 1.0));
                meshes.push(painted);
            }
            if shows(Layer::Tets) {
                let nodes = &hand.tissue[segment.index()];
                lines.push(Lines::new(edges(&mesh.tissue.tets).map(|[a, b]| [nodes[a], nodes[b]]), EDGE, 1.0));
            }
        }
        if shows(Layer::Skeleton) {
            lines.push(Lines::new(bones(model, &hand.segments), BONE, 4.0));
        }
        let visible = if meshes.is_empty() {
            let triangles = model.visual.mesh.triangles.clone();
            vec![Painted::new(&SurfaceMesh { vertices: hand.visual.clone(), triangles }, SKIN)]
        } else {
            meshes.clone()
        };
        let thumb = if model.description.side == Side::Right { -1.0 } else { 1.0 };
        let direction = match from {
            From::Back => [0.1 * thumb, 1.0, 0.25],
            From::Palm => [0.1 * thumb, -1.0, 0.25],
            From::Side => [thumb, 0.25, -0.1],
            From::Oblique => [0.8 * thumb, 0.55, -0.75],
        };
        let mut camera = Camera::around(&visible, direction);
        if matches!(from, From::Back | From::Palm) {
            // Fingers up.
            camera.up = [0.0, 0.0, -1.0];
        }
        Figure { lines, ..Figure::new(meshes, camera) }
    }

    fn scene_at(file: &std::path::Path, arguments: &Arguments) -> anyhow::Result<Figure> {
        let mut scene = crate::assets::load_scene(file, &arguments.changes.settings([]))?;
        let steps = (arguments.at / scene.world.parameters.dt).round().max(0.0) as u64;
        advance(&mut scene, steps, |_| {})?;
        Ok(scene_figure(&scene, &arguments.show, arguments.from))
    }

    /// Everything in a scene as a figure.
    pub fn scene_figure(scene: &Scene, layers: &[Layer], from: From) -> Figure {
        let (world, snapshot) = (&scene.world, scene.world.snapshot());
        let (mut meshes, mut lines) = (Vec::new(), Vec::new());
        for (model, hand) in scene.models.iter().zip(&snapshot.hands) {
            let figure = figure(model, hand, layers, from);
            meshes.extend(figure.meshes);
            lines.extend(figure.lines);
        }
        let colour = |name: &str| scene.colours.get(name).map_or(THING, |c| c.map(|x| x as f32));
        let placed = |mesh: SurfaceMesh, pose: &Pose| SurfaceMesh {
            vertices: mesh.vertices.iter().map(|p| pose.translation.vector + pose.rotation * p).collect(),
            ..mesh
        };
        for (body, name) in world.bodies.rigid.iter().zip(&scene.names.rigid) {
            meshes.extend(tessellated(body.shape()).map(|m| Painted::new(&placed(m, &body.pose()), colour(name))));
        }
        for (body, name) in world.bodies.soft.iter().zip(&scene.names.soft) {
            let (mesh, nodes) = body.surface();
            let vertices = nodes.iter().map(|&n| body.positions()[n as usize]).collect();
            let triangles = mesh.triangles.clone();
            meshes.push(Painted::new(&SurfaceMesh { vertices, triangles }, colour(name)));
        }
        // What moves is what is looked at.
        let camera = Camera::around(
            &meshes,
            match from {
                From::Back => [-0.3, 0.5, 1.0],
                From::Palm => [0.3, 0.35, -1.0],
                From::Side => [-1.0, 0.3, 0.0],
                From::Oblique => [-0.8, 0.45, -0.6],
            },
        );
        let mut ground = None;
        for (body, name) in world.bodies.fixed.iter().zip(&scene.names.fixed) {
            match tessellated(body.shape()) {
                Some(mesh) => meshes.push(Painted::new(&placed(mesh, body.pose()), colour(name))),
                None => ground = Some(body.pose().translation.y as f32),
            }
        }
        if layers.contains(&Layer::Forces) {
            // The force on the finger, a centimetre a newton.
            let arrow = |t: crate::sim::Touch| [t.place, t.place + 0.01 * t.force()];
            lines.push(Lines::new(world.touches().map(arrow), FORCE, 4.0));
        }
        Figure { lines, ground, ..Figure::new(meshes, camera) }
    }

    /// The edges of some tetrahedra, each once.
    fn edges(tets: &[[u32; 4]]) -> impl Iterator<Item = [usize; 2]> {
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let ends = |t: &[u32; 4], (i, j): (usize, usize)| (t[i].min(t[j]), t[i].max(t[j]));
        let all: std::collections::BTreeSet<_> = tets.iter().flat_map(|t| pairs.map(|p| ends(t, p))).collect();
        all.into_iter().map(|(a, b)| [a as usize, b as usize])
    }

    /// From joint to joint along every finger, and from the palm to the base of each.
    fn bones(model: &HandModel, poses: &[Pose]) -> Vec<[Vec3; 2]> {
        let mut bones = Vec::new();
        for segment in Segment::phalanges() {
            let Some((finger, place)) = segment.finger() else { continue };
            let pose = &poses[segment.index()];
            let length = model.description.fingers[finger as usize].lengths[place];
            let start = pose.translation.vector;
            bones.push([start, start + pose.rotation * Vec3::new(0.0, 0.0, -length)]);
            if place == 0 {
                bones.push([poses[0].translation.vector, start]);
            }
        }
        bones
    }
}
