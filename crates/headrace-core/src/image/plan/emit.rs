//! The one pass: rows of bytes, cut out or resampled, then mirrored, changed to floats and laid out as they are written.

use super::frame::Frame;
use crate::image::ops::resize::Scratch;
use crate::image::picture::{Layout, Pixels};

/// Writes the frame's bytes, of which no tone waits, to `to` (`frame.values()` of them).
pub fn bytes(frame: &Frame<'_>, scratch: &mut Scratch, layout: Layout, to: &mut [u8]) {
    let length = frame.width() * frame.color().channels();
    if !frame.mirrored && (layout == Layout::Hwc || frame.color().channels() == 1) {
        let last = frame.height().saturating_sub(1);
        return rows(frame, scratch, |row, source| {
            let row = if frame.upside_down { last - row } else { row };
            to[row * length..(row + 1) * length].copy_from_slice(source);
        });
    }
    match frame.color().channels() {
        1 => place::<u8, 1>(frame, scratch, layout, to, &|_, value| value),
        2 => place::<u8, 2>(frame, scratch, layout, to, &|_, value| value),
        3 => place::<u8, 3>(frame, scratch, layout, to, &|_, value| value),
        _ => place::<u8, 4>(frame, scratch, layout, to, &|_, value| value),
    }
}

/// Writes the frame as floats; what its tones make of each of the 256 bytes is worked out once a channel.
pub fn floats(frame: &Frame<'_>, scratch: &mut Scratch, layout: Layout, to: &mut [f32]) {
    let table: [[f32; 256]; 4] = std::array::from_fn(|channel| {
        std::array::from_fn(|value| {
            let channel = channel.min(frame.color().channels() - 1);
            frame.tones.iter().fold(value as f32, |value, tone| {
                tone.apply(value, channel, 255.0)
            })
        })
    });
    let look_up = |channel: usize, value: u8| table[channel & 3][usize::from(value)];
    match frame.color().channels() {
        1 => place::<f32, 1>(frame, scratch, layout, to, &look_up),
        2 => place::<f32, 2>(frame, scratch, layout, to, &look_up),
        3 => place::<f32, 3>(frame, scratch, layout, to, &look_up),
        _ => place::<f32, 4>(frame, scratch, layout, to, &look_up),
    }
}

fn place<T: Copy, const CHANNELS: usize>(
    frame: &Frame<'_>,
    scratch: &mut Scratch,
    layout: Layout,
    to: &mut [T],
    value: &impl Fn(usize, u8) -> T,
) {
    let (width, height) = (frame.width(), frame.height());
    let plane = width * height;
    assert_eq!(to.len(), plane * CHANNELS);
    rows(frame, scratch, |row, source| {
        let row = if frame.upside_down {
            height - 1 - row
        } else {
            row
        };
        match layout {
            Layout::Hwc => {
                let start = row * width * CHANNELS;
                let target = &mut to[start..start + width * CHANNELS];
                let pixels = source.chunks_exact(CHANNELS);
                let places = target.chunks_exact_mut(CHANNELS);
                if frame.mirrored {
                    interleaved::<T, CHANNELS>(pixels.rev(), places, value);
                } else {
                    interleaved::<T, CHANNELS>(pixels, places, value);
                }
            }
            Layout::Chw => {
                let mut rest = &mut to[row * width..];
                let mut lines: [&mut [T]; CHANNELS] =
                    std::array::from_fn(|_| &mut [] as &mut [T]);
                for (channel, line) in lines.iter_mut().enumerate() {
                    let (this, after) =
                        rest.split_at_mut(if channel + 1 < CHANNELS { plane } else { width });
                    *line = &mut this[..width];
                    rest = after;
                }
                let pixels = source.chunks_exact(CHANNELS);
                if frame.mirrored {
                    planar::<T, CHANNELS>(pixels.rev(), lines, width, value);
                } else {
                    planar::<T, CHANNELS>(pixels, lines, width, value);
                }
            }
        }
    });
}

#[inline]
fn interleaved<'a, T: Copy + 'a, const CHANNELS: usize>(
    pixels: impl Iterator<Item = &'a [u8]>,
    places: impl Iterator<Item = &'a mut [T]>,
    value: &impl Fn(usize, u8) -> T,
) {
    for (pixel, place) in pixels.zip(places) {
        for channel in 0..CHANNELS {
            place[channel] = value(channel, pixel[channel]);
        }
    }
}

#[inline]
fn planar<'a, T: Copy, const CHANNELS: usize>(
    pixels: impl Iterator<Item = &'a [u8]>,
    lines: [&mut [T]; CHANNELS],
    width: usize,
    value: &impl Fn(usize, u8) -> T,
) {
    for (column, pixel) in (0..width).zip(pixels) {
        for channel in 0..CHANNELS {
            lines[channel][column] = value(channel, pixel[channel]);
        }
    }
}

/// The rows that are shown, from the top, before any flip.
fn rows(frame: &Frame<'_>, scratch: &mut Scratch, mut sink: impl FnMut(usize, &[u8])) {
    let Pixels::U8(source) = &frame.source.pixels else {
        unreachable!("only frames of bytes are made in one pass")
    };
    let channels = frame.color().channels();
    let stride = frame.source.width * channels;
    let window = frame.window;
    let start = window.top * stride + window.left * channels;
    match frame.resize {
        None => {
            for row in 0..window.height {
                let from = start + row * stride;
                sink(row, &source[from..from + window.width * channels]);
            }
        }
        Some(pending) => {
            let resampler = scratch.resampler(pending.request, pending.region, frame.color());
            resampler.run(&source[start..], stride, scratch, sink);
            scratch.keep(resampler);
        }
    }
}
