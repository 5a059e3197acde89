//! Pictures of one shape into one batch, with the layout that is asked for.

use super::buffer::{Pool, SharedBuffer, Slot};
use super::picture::{Color, Dtype, Layout, Picture, Pixels};

/// A finished batch: `shape` is NHWC or NCHW as `layout` says.
pub struct Batch {
    pub shape: [usize; 4],
    pub color: Color,
    pub dtype: Dtype,
    pub layout: Layout,
    pub buffer: SharedBuffer,
}

impl Batch {
    /// A copy of item `index` as a picture. Panics beyond the last.
    pub fn picture(&self, index: usize) -> Picture {
        let [count, a, b, c] = self.shape;
        assert!(index < count);
        let (height, width) = match self.layout {
            Layout::Hwc => (a, b),
            Layout::Chw => (b, c),
        };
        let item = a * b * c * self.dtype.size_bytes();
        let bytes = self.buffer.copy(index * item, item);
        let pixels = match self.dtype {
            Dtype::U8 => Pixels::U8(bytes),
            Dtype::U16 => Pixels::U16(
                bytes
                    .chunks_exact(2)
                    .map(|pair| u16::from_ne_bytes([pair[0], pair[1]]))
                    .collect(),
            ),
            Dtype::F32 => Pixels::F32(
                bytes
                    .chunks_exact(4)
                    .map(|four| f32::from_ne_bytes([four[0], four[1], four[2], four[3]]))
                    .collect(),
            ),
        };
        Picture {
            layout: self.layout,
            ..Picture::hwc(width, height, self.color, pixels)
        }
    }
}

/// Why pictures do not make a batch.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum StackError {
    #[error("a batch needs at least one image, found none")]
    Empty,
    #[error(
        "the images of a batch must have one shape, colour and dtype: item 0 is {first}, item {index} is {other}; \
         pad, crop or resize them to one size and convert them to one colour (ToRgb) before they are collated"
    )]
    Unequal {
        index: usize,
        first: String,
        other: String,
    },
    #[error("no memory for a batch of {size_bytes} bytes")]
    Memory { size_bytes: usize },
}

fn describe(picture: &Picture) -> String {
    format!(
        "{}x{} {} {}",
        picture.height,
        picture.width,
        picture.color.name(),
        picture.dtype().name()
    )
}

/// Copies `pictures` into one batch in `layout`, whatever layout each has.
pub fn stack(pictures: &[&Picture], layout: Layout, pool: &Pool) -> Result<Batch, StackError> {
    let first = *pictures.first().ok_or(StackError::Empty)?;
    let kind = |picture: &Picture| {
        (
            picture.width,
            picture.height,
            picture.color,
            picture.dtype(),
        )
    };
    if let Some(index) = pictures.iter().position(|other| kind(other) != kind(first)) {
        return Err(StackError::Unequal {
            index,
            first: describe(first),
            other: describe(pictures[index]),
        });
    }
    let item = first.pixels.len();
    let no_memory = || StackError::Memory {
        size_bytes: pictures.len().saturating_mul(first.size_bytes()),
    };
    let mut buffer = pool
        .take(pictures.len(), item, first.dtype())
        .ok_or_else(no_memory)?;
    for (slot, picture) in buffer.slots().zip(pictures) {
        write(picture, layout, slot);
    }
    let channels = first.color.channels();
    let [a, b, c] = match layout {
        Layout::Hwc => [first.height, first.width, channels],
        Layout::Chw => [channels, first.height, first.width],
    };
    Ok(Batch {
        shape: [pictures.len(), a, b, c],
        color: first.color,
        dtype: first.dtype(),
        layout,
        buffer: buffer.publish(),
    })
}

/// Copies one picture into a slot of its type and size.
pub(super) fn write(picture: &Picture, layout: Layout, slot: Slot<'_>) {
    match (&picture.pixels, slot) {
        (Pixels::U8(from), Slot::U8(to)) => copy(from, to, picture, layout),
        (Pixels::U16(from), Slot::U16(to)) => copy(from, to, picture, layout),
        (Pixels::F32(from), Slot::F32(to)) => copy(from, to, picture, layout),
        _ => unreachable!("the buffer was made for the first picture's type, and all have it"),
    }
}

fn copy<T: Copy>(from: &[T], to: &mut [T], picture: &Picture, layout: Layout) {
    let channels = picture.color.channels();
    let plane = picture.width * picture.height;
    match (picture.layout, layout) {
        _ if channels == 1 => to.copy_from_slice(from),
        (Layout::Hwc, Layout::Hwc) | (Layout::Chw, Layout::Chw) => to.copy_from_slice(from),
        (Layout::Hwc, Layout::Chw) => match channels {
            3 => {
                let (red, rest) = to.split_at_mut(plane);
                let (green, blue) = rest.split_at_mut(plane);
                for (((pixel, r), g), b) in from.chunks_exact(3).zip(red).zip(green).zip(blue) {
                    (*r, *g, *b) = (pixel[0], pixel[1], pixel[2]);
                }
            }
            _ => {
                for (channel, target) in to.chunks_exact_mut(plane).enumerate() {
                    for (pixel, value) in from.chunks_exact(channels).zip(target) {
                        *value = pixel[channel];
                    }
                }
            }
        },
        (Layout::Chw, Layout::Hwc) => {
            for (channel, source) in from.chunks_exact(plane).enumerate() {
                for (pixel, value) in to.chunks_exact_mut(channels).zip(source) {
                    pixel[channel] = *value;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_are_converted_both_ways() {
        for color in [Color::L, Color::La, Color::Rgb, Color::Cmyk] {
            let values: Vec<u8> = (0..2 * 5 * color.channels() as u8).collect();
            let picture = Picture::hwc(5, 2, color, Pixels::U8(values));
            let pool = Pool::new(0);
            let planes = stack(&[&picture, &picture], Layout::Chw, &pool).unwrap();
            let turned = planes.picture(1);
            let back = stack(&[&turned], Layout::Hwc, &pool).unwrap().picture(0);
            assert_eq!(back, picture);
        }
    }

    #[test]
    fn unequal_pictures_are_refused() {
        let small = Picture::hwc(1, 1, Color::L, Pixels::U8(vec![0]));
        let float = Picture::hwc(1, 1, Color::L, Pixels::F32(vec![0.0]));
        let pool = Pool::new(0);
        assert!(matches!(
            stack(&[&small, &float], Layout::Hwc, &pool),
            Err(StackError::Unequal { index: 1, .. })
        ));
        assert!(matches!(
            stack(&[], Layout::Hwc, &pool),
            Err(StackError::Empty)
        ));
    }
}
