//! A part of a picture.

/// Rows `top..top + height` and columns `left..left + width`, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    pub top: usize,
    pub left: usize,
    pub height: usize,
    pub width: usize,
}

impl Rectangle {
    /// The whole of a picture.
    pub fn whole(width: usize, height: usize) -> Self {
        Self {
            top: 0,
            left: 0,
            height,
            width,
        }
    }

    /// The part `inner` of this part.
    pub fn part(self, inner: Rectangle) -> Self {
        Self {
            top: self.top + inner.top,
            left: self.left + inner.left,
            ..inner
        }
    }

    /// The rectangle where it lies inside a picture, None where it goes beyond a border.
    pub fn inside(
        top: i64,
        left: i64,
        height: usize,
        width: usize,
        picture_width: usize,
        picture_height: usize,
    ) -> Option<Self> {
        let rectangle = Self {
            top: usize::try_from(top).ok()?,
            left: usize::try_from(left).ok()?,
            height,
            width,
        };
        let fits = rectangle.top.checked_add(height)? <= picture_height
            && rectangle.left.checked_add(width)? <= picture_width;
        fits.then_some(rectangle)
    }
}
