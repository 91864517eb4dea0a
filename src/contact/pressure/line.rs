//! The unknowns of the pressure problem.

use std::ops::Range;

use crate::math::Vec3;

/// What an unknown is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The pressure of a contact.
    Press,
    /// The pull of an attachment along a direction.
    Pull,
    /// The friction of an aggregate: along a tangent, or about the normal.
    Rub { rub: usize, axis: usize },
}

/// One unknown force.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub kind: Kind,
    pub contact: usize,
    pub direction: Vec3,
    /// Gap after the free motion, and what a newton does to it, m and m/N.
    pub gap: f64,
    pub diagonal: f64,
    pub compliance: f64,
    /// Makes a gap a length: that of spin is an angle.
    pub lever: f64,
    pub force: f64,
    /// Its parts.
    pub parts_start: usize,
    pub parts_end: usize,
}

impl Line {
    /// Nothing known yet.
    pub fn at(kind: Kind, contact: usize, direction: Vec3) -> Self {
        Self {
            kind,
            contact,
            direction,
            gap: 0.0,
            diagonal: 0.0,
            compliance: 0.0,
            lever: 1.0,
            force: 0.0,
            parts_start: 0,
            parts_end: 0,
        }
    }

    /// Its parts.
    pub fn parts(&self) -> Range<usize> {
        self.parts_start..self.parts_end
    }
}

/// The friction of an aggregate of the last step.
#[derive(Clone, Debug)]
pub struct Rub {
    /// Its contacts.
    pub members: Range<usize>,
    /// The first of its lines.
    pub line: usize,
    pub mu: f64,
    /// Mean distance from the centre: lever of the torque, m.
    pub reach: f64,
}

/// A contact of an aggregate of the last step.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub contact: usize,
    /// The line of its pressure.
    pub line: usize,
    /// Directions of the two tangents and of the spin.
    pub rows: [Vec3; 3],
}

/// The axis about the normal.
pub const SPIN: usize = 2;

impl Rub {
    /// The most force along the tangents beside the torque that there is, and the other way round: both lie in an ellipsoid.
    pub fn most_force(&self, lines: &[Line], members: &[Member]) -> f64 {
        let most = self.mu * self.pressing(lines, members);
        let torque = lines.get(self.line + SPIN).filter(|line| matches!(line.kind, Kind::Rub { axis: SPIN, .. }));
        most * rest(torque.map_or(0.0, |line| line.force), most * self.reach)
    }

    pub fn most_torque(&self, lines: &[Line], members: &[Member]) -> f64 {
        let most = self.mu * self.pressing(lines, members);
        let [t, s] = [0, 1].map(|axis| lines[self.line + axis].force);
        most * self.reach * rest(f64::hypot(t, s), most)
    }

    fn pressing(&self, lines: &[Line], members: &[Member]) -> f64 {
        members[self.members.clone()].iter().map(|m| lines[m.line].force).sum()
    }
}

/// What is left of one half axis of an ellipse beside a part of the other.
fn rest(used: f64, most: f64) -> f64 {
    if used == 0.0 { 1.0 } else { (1.0 - (used / most).powi(2)).max(0.0).sqrt() }
}
