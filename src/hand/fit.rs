use super::description::HandDescription;
use super::ranges;
use crate::math::{Range, Vec3};
use crate::tracking::Finger;

/// Measured lengths of a hand, m. What is not measured has the proportions of the hand that it is fitted from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measures {
    /// Wrist crease to the tip of the middle finger.
    pub hand: Option<f64>,
    /// Across the knuckles of index and little finger, skin to skin.
    pub breadth: Option<f64>,
    /// Knuckle to tip of each finger; of the thumb from its base joint.
    pub fingers: [Option<f64>; 5],
    /// Wrist to the centre of the knuckle of the middle finger.
    pub palm: Option<f64>,
    /// Centre of the index finger's knuckle to that of the little finger.
    pub knuckles: Option<f64>,
    /// Joint to joint of each finger; the last one to its tip.
    pub bones: [[Option<f64>; 3]; 5],
}

/// Why measures do not make a hand.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FitFault {
    /// No length was measured.
    #[error("nothing was measured; give at least the length of the hand")]
    Nothing,
    /// A length that no hand has.
    #[error("{what} would be {value:.4} m long; expected {range}")]
    Range {
        /// Which length.
        what: String,
        /// Its value, m.
        value: f64,
        /// What hands have.
        range: Range,
    },
    /// Lengths that contradict each other.
    #[error(
        "the hand is {hand:.3} m long, but its middle finger alone {finger:.3} m; measure from the wrist crease and from the knuckle"
    )]
    Palm {
        /// Length of the hand, m.
        hand: f64,
        /// Length of the finger, m.
        finger: f64,
    },
}

/// A hand with measured lengths.
///
/// All lengths are first scaled by the length of the hand or, without it, by the mean ratio of what was measured. Then bones, the row of
/// knuckles and the palm get the lengths that were measured. Tissue and the thickness of bones follow the first step only.
pub fn fit(base: &HandDescription, measures: &Measures) -> Result<HandDescription, FitFault> {
    let factor = scale(base, measures).ok_or(FitFault::Nothing)?;
    let mut hand = base.scaled(factor);
    for (f, finger) in hand.fingers.iter_mut().enumerate() {
        if let Some(length) = measures.fingers[f] {
            let part = (length - finger.tip) / finger.lengths.iter().sum::<f64>();
            finger.lengths = finger.lengths.map(|bone| part * bone);
        }
        for place in 0..3 {
            if let Some(length) = measures.bones[f][place] {
                finger.lengths[place] = if place == 2 { length - finger.tip } else { length };
            }
        }
        for (place, &value) in finger.lengths.iter().enumerate() {
            let what = || format!("phalanx {} of the {}", place + 1, Finger::ALL[f].name());
            within(value, ranges::LENGTH, what)?;
        }
    }
    spread_knuckles(&mut hand, measures);
    set_palm(&mut hand, measures)?;
    within(hand.hand_length(), ranges::HAND_LENGTH, || "the hand".into())?;
    within(hand.palm_length(), ranges::PALM_LENGTH, || "the palm".into())?;
    Ok(hand)
}

fn within(value: f64, range: Range, what: impl Fn() -> String) -> Result<(), FitFault> {
    if range.contains(value) { Ok(()) } else { Err(FitFault::Range { what: what(), value, range }) }
}

fn knuckles(hand: &HandDescription) -> f64 {
    (hand.fingers[Finger::Index as usize].base - hand.fingers[Finger::Little as usize].base).norm()
}

/// Skin beyond the centres of the outer knuckles, m.
fn beside(hand: &HandDescription) -> f64 {
    let half = |f: Finger| hand.fingers[f as usize].bone_radius[0] + hand.fingers[f as usize].tissue[0].side;
    half(Finger::Index) + half(Finger::Little)
}

fn palm(hand: &HandDescription) -> f64 {
    (hand.fingers[Finger::Middle as usize].base - hand.palm.wrist).norm()
}

fn scale(base: &HandDescription, measures: &Measures) -> Option<f64> {
    if let Some(length) = measures.hand {
        return Some(length / base.hand_length());
    }
    let mut ratios = Vec::new();
    let mut compare = |measured: Option<f64>, own: f64| ratios.extend(measured.map(|length| length / own));
    compare(measures.palm, palm(base));
    compare(measures.knuckles, knuckles(base));
    compare(measures.breadth, knuckles(base) + beside(base));
    for (f, finger) in base.fingers.iter().enumerate() {
        compare(measures.fingers[f], finger.lengths.iter().sum::<f64>() + finger.tip);
        for place in 0..3 {
            compare(measures.bones[f][place], finger.lengths[place] + if place == 2 { finger.tip } else { 0.0 });
        }
    }
    (!ratios.is_empty()).then(|| ratios.iter().sum::<f64>() / ratios.len() as f64)
}

/// Knuckles and palm keep their form, wider or narrower.
fn spread_knuckles(hand: &mut HandDescription, measures: &Measures) {
    let wanted = measures.knuckles.or(measures.breadth.map(|breadth| breadth - beside(hand)));
    let Some(wanted) = wanted else { return };
    let (little, index) = (&hand.fingers[Finger::Little as usize].base, &hand.fingers[Finger::Index as usize].base);
    let way = little - index;
    let other = Vec3::new(0.0, way.y, way.z).norm();
    let factor = ((wanted * wanted - other * other).max(0.0).sqrt() / way.x.abs()).clamp(0.5, 2.0);
    hand.fingers.iter_mut().for_each(|finger| finger.base.x *= factor);
    hand.palm.breadth = hand.palm.breadth.map(|breadth| factor * breadth);
}

/// Moves the wrist.
fn set_palm(hand: &mut HandDescription, measures: &Measures) -> Result<(), FitFault> {
    let middle = &hand.fingers[Finger::Middle as usize];
    let finger = middle.lengths.iter().sum::<f64>() + middle.tip;
    let wanted = measures.palm.or(measures.hand.map(|length| length - finger));
    let Some(wanted) = wanted else { return Ok(()) };
    let way = hand.palm.wrist - middle.base;
    let across = Vec3::new(way.x, way.y, 0.0).norm();
    if wanted <= across {
        return Err(FitFault::Palm { hand: wanted + finger, finger });
    }
    hand.palm.wrist.z = middle.base.z + (wanted * wanted - across * across).sqrt();
    Ok(())
}

impl HandDescription {
    /// The text of a hand file with the lengths of this hand, over the file of another one.
    pub fn lengths_file(&self, base: &str, name: &str) -> String {
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let numbers = |xs: &[f64]| {
            let text: Vec<String> = xs.iter().map(|x| format!("{x:.6}")).collect();
            format!("[{}]", text.join(", "))
        };
        let palm = &self.palm;
        let mut text = format!(
            "# Lengths fitted by `fingerpad hand fit`; everything else is that of the base.\nbase = \"{}\"\nname = \"{}\"\n\
             hand_length = {:.6}\n\n[palm]\nwrist = {}\nbreadth = {}\nthickness = {:.6}\n\
             tissue = {{ palmar = {:.6}, dorsal = {:.6}, side = {:.6} }}\n",
            quoted(base),
            quoted(name),
            self.hand_length(),
            numbers(palm.wrist.as_slice()),
            numbers(&palm.breadth),
            palm.thickness,
            palm.tissue.palmar,
            palm.tissue.dorsal,
            palm.tissue.side,
        );
        for (of, finger) in self.fingers.iter().zip(Finger::ALL) {
            let tissue = |side: fn(&super::TissueThickness) -> f64| numbers(&of.tissue.map(|t| side(&t)));
            text += &format!(
                "\n[{}]\nbase = {}\nlengths = {}\nbone_radius = {}\ntissue = {{ palmar = {}, dorsal = {}, side = {} }}\n\
                 tip = {:.6}\npad = {:.6}\n",
                finger.name(),
                numbers(of.base.as_slice()),
                numbers(&of.lengths),
                numbers(&of.bone_radius),
                tissue(|t| t.palmar),
                tissue(|t| t.dorsal),
                tissue(|t| t.side),
                of.tip,
                of.pad,
            );
        }
        text
    }
}
