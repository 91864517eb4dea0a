// Diffuse and specular light of three directional lights, computed at the vertices; texture and fog at the pixels.
// No branch depends on a uniform: a software driver would compile the shader again for every value.

struct Frame {
    view_projection: mat4x4<f32>,
    // Position of the eye; w: ambient light.
    eye: vec4<f32>,
    // Colour of the fog; w: 1 / (end - start).
    fog: vec4<f32>,
    // x: distance at which the fog starts.
    fog_start: vec4<f32>,
    // Direction towards each light; w: intensity.
    towards: array<vec4<f32>, 3>,
    colour: array<vec4<f32>, 3>,
}

struct Object {
    colour: vec4<f32>,
    // x: specular strength, y: specular exponent.
    gloss: vec4<f32>,
}

@group(0) @binding(0) var<uniform> frame: Frame;
@group(1) @binding(0) var<uniform> object: Object;
@group(2) @binding(0) var image: texture_2d<f32>;
@group(2) @binding(1) var image_sampler: sampler;

struct Varying {
    @builtin(position) clip: vec4<f32>,
    @location(0) diffuse: vec3<f32>,
    @location(1) specular: vec3<f32>,
    @location(2) uv: vec2<f32>,
    @location(3) place: vec3<f32>,
}

@vertex
fn vertex(@location(0) place: vec3<f32>, @location(1) uv: vec2<f32>, @location(2) n: vec3<f32>) -> Varying {
    var out: Varying;
    out.clip = frame.view_projection * vec4<f32>(place, 1.0);
    out.uv = uv;
    out.place = place;
    let view = normalize(frame.eye.xyz - place);
    // Surfaces are seen from both sides.
    let side = select(-1.0, 1.0, dot(n, view) >= 0.0);
    let normal = side * normalize(n);
    var diffuse = vec3<f32>(frame.eye.w);
    var specular = vec3<f32>(0.0);
    for (var i = 0; i < 3; i++) {
        let towards = frame.towards[i].xyz;
        let light = frame.towards[i].w * frame.colour[i].rgb;
        diffuse += max(dot(normal, towards), 0.0) * light * 0.318;
        let half_way = normalize(towards + view);
        specular += pow(max(dot(normal, half_way), 0.0), object.gloss.y) * object.gloss.x * light;
    }
    out.diffuse = diffuse;
    out.specular = specular;
    return out;
}

fn shaded(in: Varying) -> vec4<f32> {
    let base = object.colour * textureSample(image, image_sampler, in.uv);
    let lit = base.rgb * in.diffuse + in.specular;
    let away = distance(in.place, frame.eye.xyz);
    let part = clamp((away - frame.fog_start.x) * frame.fog.w, 0.0, 1.0);
    return vec4<f32>(mix(lit, frame.fog.rgb, part), base.a);
}

@fragment
fn opaque(in: Varying) -> @location(0) vec4<f32> {
    return vec4<f32>(shaded(in).rgb, 1.0);
}

struct Weighted {
    @location(0) sum: vec4<f32>,
    @location(1) revealage: f32,
}

// Weighted blended transparency (McGuire and Bavoil 2013): no order of drawing is needed.
@fragment
fn transparent(in: Varying) -> Weighted {
    let colour = shaded(in);
    let away = distance(in.place, frame.eye.xyz);
    let near = away / 5.0;
    let weight = clamp(10.0 / (1e-5 + near * near), 1e-2, 3e3);
    var out: Weighted;
    out.sum = vec4<f32>(colour.rgb * colour.a, colour.a) * weight;
    out.revealage = colour.a;
    return out;
}
