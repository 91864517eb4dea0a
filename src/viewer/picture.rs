use super::ViewerError;

/// Pixels, rows from the top, three bytes each (sRGB).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Red, green and blue of each pixel.
    pub pixels: Vec<u8>,
}

impl Picture {
    /// Downsamples a picture drawn `finer` times too large, rows from the bottom, by averaging squares of pixels.
    pub(super) fn averaged(bottom_up: &[u8], size: (u32, u32), finer: u32) -> Self {
        let (width, finer) = (size.0 as usize, finer as usize);
        let count = (finer * finer) as u32;
        let mut pixels = Vec::with_capacity(3 * width * size.1 as usize);
        for rows in bottom_up.chunks_exact(3 * width * finer * finer).rev() {
            for (x, channel) in (0..width).flat_map(|x| [(x, 0), (x, 1), (x, 2)]) {
                let at = |row: usize, column: usize| u32::from(rows[3 * (row * width * finer + column) + channel]);
                let sum: u32 = (0..finer * finer).map(|k| at(k / finer, x * finer + k % finer)).sum();
                pixels.push(((sum + count / 2) / count) as u8);
            }
        }
        Self { size, pixels }
    }

    /// The colour of a pixel, counted from the upper left corner.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        let row = self.pixels.chunks_exact(3 * self.size.0.max(1) as usize).nth(y as usize)?;
        row.chunks_exact(3).nth(x as usize)?.try_into().ok()
    }

    /// This picture and another of the same height to its right; `None` if the heights differ.
    pub fn beside(&self, other: &Self) -> Option<Self> {
        if self.size.1 != other.size.1 || self.pixels.is_empty() || other.pixels.is_empty() {
            return None;
        }
        let row = |picture: &Self| 3 * picture.size.0 as usize;
        let rows = self.pixels.chunks_exact(row(self)).zip(other.pixels.chunks_exact(row(other)));
        let pixels = rows.flat_map(|(left, right)| [left, right].concat()).collect();
        Some(Self { size: (self.size.0 + other.size.0, self.size.1), pixels })
    }

    /// The bytes of a PNG file.
    pub fn png_bytes(&self) -> Result<Vec<u8>, ViewerError> {
        let written = crate::assets::png_bytes(self.size.0, self.size.1, &self.pixels);
        written.map_err(|error| ViewerError::Failed(format!("the picture could not be written as PNG: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averaging_flips_the_rows_and_halves_the_size() {
        let grey = |values: [u8; 8]| values.into_iter().flat_map(|v| [v; 3]).collect::<Vec<_>>();
        let picture = Picture::averaged(&grey([0, 0, 10, 10, 200, 100, 1, 2]), (1, 2), 2);
        // Rows of two from the bottom: 0 0 and 10 10, above them 200 100 and 1 2.
        assert_eq!(picture.pixel(0, 0), Some([76; 3]));
        assert_eq!(picture.pixel(0, 1), Some([5; 3]));
        assert_eq!(picture.pixel(1, 0), None);
        assert_eq!(picture.pixel(0, 2), None);
    }

    #[test]
    fn pictures_stand_side_by_side() {
        let picture = |width: u32, value: u8| Picture { size: (width, 2), pixels: vec![value; 6 * width as usize] };
        let both = picture(1, 7).beside(&picture(2, 9)).expect("of one height");
        assert_eq!((both.size, both.pixel(0, 1), both.pixel(1, 1)), ((3, 2), Some([7; 3]), Some([9; 3])));
        assert!(both.beside(&Picture { size: (1, 1), pixels: vec![0; 3] }).is_none());
    }

    #[test]
    fn too_few_pixels_are_an_error() {
        let picture = Picture { size: (2, 2), pixels: vec![0; 3] };
        assert!(matches!(picture.png_bytes(), Err(ViewerError::Failed(_))));
        assert!(matches!(Picture { size: (0, 0), pixels: vec![] }.png_bytes(), Err(ViewerError::Failed(_))));
    }
}
