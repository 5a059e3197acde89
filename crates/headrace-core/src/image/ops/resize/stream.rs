//! Rows in, rows out: only the rows and columns that are asked for, over a ring of half-done rows.

use std::ops::Range;

use super::interpolate::{self, Tap};
use super::kernel::{self, Horizontal};
use super::premultiply::{has_alpha, premultiply, unpremultiply};
use super::weights::Weights;
use super::{Filter, Request, nearest};
use crate::image::ops::Rectangle;
use crate::image::picture::Color;

/// Memory that one thread uses again for every picture.
#[derive(Default)]
pub struct Scratch {
    line: Vec<u8>,
    ring: Vec<u8>,
    floats: Vec<f32>,
    recent: Vec<Resampler>,
}

enum Passes {
    /// The two directions; None where that direction stays as it is.
    Weighted {
        horizontal: Option<Horizontal>,
        vertical: Option<Weights>,
    },
    Picked {
        columns: Vec<Option<u32>>,
        rows: Vec<Option<u32>>,
    },
    Floats {
        columns: Vec<Tap>,
        rows: Vec<Tap>,
    },
}

/// A resize of pictures of one size and colour, with its weights.
pub struct Resampler {
    request: Request,
    /// What of the result is made.
    window: Rectangle,
    color: Color,
    passes: Passes,
}

/// How many resamplers a thread keeps: pictures of one size come in runs.
const KEPT: usize = 4;

/// Up to so many rows a sum needs no list on the heap.
const NEAR: usize = 8;

impl Scratch {
    /// The resampler for a request, made now or kept from before; give it back with `keep`.
    pub fn resampler(&mut self, request: Request, window: Rectangle, color: Color) -> Resampler {
        let known = self.recent.iter().position(|kept| {
            kept.request == request && kept.window == window && kept.color == color
        });
        match known {
            Some(place) => self.recent.remove(place),
            None => Resampler::new(request, window, color),
        }
    }

    pub fn keep(&mut self, resampler: Resampler) {
        if self.recent.len() >= KEPT {
            self.recent.remove(0);
        }
        self.recent.push(resampler);
    }
}

impl Resampler {
    /// Prepares the part `window` of the result of `request`.
    pub fn new(request: Request, window: Rectangle, color: Color) -> Self {
        let [left, top, right, bottom] = request.extent;
        let (width, height) = (request.width, request.height);
        let (source_width, source_height) = (request.source_width, request.source_height);
        let columns = window.left..window.left + window.width;
        let rows = window.top..window.top + window.height;
        let passes = if request.filter == Filter::Nearest && request.antialias {
            Passes::Picked {
                columns: nearest::places(source_width, left, right, width, columns),
                rows: nearest::places(source_height, top, bottom, height, rows),
            }
        } else if request.filter == Filter::Nearest {
            Passes::Picked {
                columns: nearest::torch_places(source_width, width, columns),
                rows: nearest::torch_places(source_height, height, rows),
            }
        } else if !request.antialias {
            Passes::Floats {
                columns: interpolate::taps(source_width, width, request.filter, columns),
                rows: interpolate::taps(source_height, height, request.filter, rows),
            }
        } else {
            let filter = request.filter;
            let stays = |source: usize, from: f32, to: f32, size: usize| {
                size == source && from == 0.0 && to == size as f32
            };
            let horizontal = (!stays(source_width, left, right, width)).then(|| {
                let weights = Weights::new(source_width, left, right, width, filter, columns);
                Horizontal::new(weights, color.channels())
            });
            let vertical = (!stays(source_height, top, bottom, height))
                .then(|| Weights::new(source_height, top, bottom, height, filter, rows));
            Passes::Weighted {
                horizontal,
                vertical,
            }
        };
        Self {
            request,
            window,
            color,
            passes,
        }
    }

    /// Makes the window's rows from the top and hands each over with its number.
    ///
    /// `source` holds rows of `stride` bytes; the picture begins with its first byte.
    pub fn run(
        &self,
        source: &[u8],
        stride: usize,
        scratch: &mut Scratch,
        mut sink: impl FnMut(usize, &[u8]),
    ) {
        let length = self.request.source_width * self.color.channels();
        let row = |index: usize| &source[index * stride..index * stride + length];
        match &self.passes {
            Passes::Picked { columns, rows } => self.pick(row, columns, rows, scratch, &mut sink),
            Passes::Floats { columns, rows } => {
                self.interpolate(row, columns, rows, scratch, &mut sink);
            }
            Passes::Weighted {
                horizontal: Some(horizontal),
                vertical: Some(vertical),
            } if self.request.goes_down_first() => {
                self.weigh_down_first(row, horizontal, vertical, scratch, &mut sink);
            }
            Passes::Weighted {
                horizontal,
                vertical,
            } => self.weigh(
                row,
                horizontal.as_ref(),
                vertical.as_ref(),
                scratch,
                &mut sink,
            ),
        }
    }

    fn weigh<'a>(
        &self,
        row: impl Fn(usize) -> &'a [u8],
        horizontal: Option<&Horizontal>,
        vertical: Option<&Weights>,
        scratch: &mut Scratch,
        sink: &mut impl FnMut(usize, &[u8]),
    ) {
        let channels = self.color.channels();
        let alpha = has_alpha(self.color) && !self.request.is_identity();
        let Scratch { line, ring, .. } = scratch;
        let width = self.window.width * channels;
        let first_column = self.window.left * channels;
        let taps = vertical.map_or(1, |weights| weights.taps.max(1));
        // One more row than a sum needs: the result.
        ring.resize((taps + 1) * width, 0);
        let (held, result) = ring.split_at_mut(taps * width);
        let mut across = |index: usize, into: &mut [u8]| {
            let whole = row(index);
            let Some(horizontal) = horizontal else {
                into.copy_from_slice(&whole[first_column..first_column + width]);
                if alpha {
                    premultiply(into, channels);
                }
                return;
            };
            line.resize(horizontal.reach().max(whole.len()), 0);
            line[..whole.len()].copy_from_slice(whole);
            if alpha {
                premultiply(&mut line[..whole.len()], channels);
            }
            horizontal.run(line, into);
        };
        let Some(weights) = vertical else {
            for index in 0..self.window.height {
                across(self.window.top + index, result);
                if alpha {
                    unpremultiply(result, channels);
                }
                sink(index, result);
            }
            return;
        };
        let reach = weights.reach();
        let mut ready = reach.start;
        for index in 0..self.window.height {
            let start = weights.starts[index] as usize;
            let end = start + weights.counts[index] as usize;
            // Starts never fall, and a ring of `taps` rows holds every row from the start on.
            ready = ready.max(start);
            while ready < end {
                let place = ready % taps * width;
                across(ready, &mut held[place..place + width]);
                ready += 1;
            }
            let of = |at: usize| &held[at % taps * width..][..width];
            sum_of(start..end, of, weights.of(index), result);
            if alpha {
                unpremultiply(result, channels);
            }
            sink(index, result);
        }
    }

    fn weigh_down_first<'a>(
        &self,
        row: impl Fn(usize) -> &'a [u8],
        horizontal: &Horizontal,
        vertical: &Weights,
        scratch: &mut Scratch,
        sink: &mut impl FnMut(usize, &[u8]),
    ) {
        let channels = self.color.channels();
        let alpha = has_alpha(self.color);
        let Scratch { line, ring, .. } = scratch;
        let seen = horizontal.weights.reach();
        let (from, to) = (seen.start * channels, seen.end * channels);
        let width = to - from;
        let taps = if alpha { vertical.taps.max(1) } else { 0 };
        let result_width = self.window.width * channels;
        ring.resize(taps * width + result_width, 0);
        let (held, result) = ring.split_at_mut(taps * width);
        line.resize(horizontal.reach().max(to), 0);
        let mut ready = vertical.reach().start;
        for index in 0..self.window.height {
            let start = vertical.starts[index] as usize;
            let end = start + vertical.counts[index] as usize;
            if alpha {
                ready = ready.max(start);
                while ready < end {
                    let place = &mut held[ready % taps * width..][..width];
                    place.copy_from_slice(&row(ready)[from..to]);
                    premultiply(place, channels);
                    ready += 1;
                }
                let of = |at: usize| &held[at % taps * width..][..width];
                sum_of(start..end, of, vertical.of(index), &mut line[from..to]);
            } else {
                let of = |at: usize| &row(at)[from..to];
                sum_of(start..end, of, vertical.of(index), &mut line[from..to]);
            }
            horizontal.run(line, result);
            if alpha {
                unpremultiply(result, channels);
            }
            sink(index, result);
        }
    }

    fn pick<'a>(
        &self,
        row: impl Fn(usize) -> &'a [u8],
        columns: &[Option<u32>],
        rows: &[Option<u32>],
        scratch: &mut Scratch,
        sink: &mut impl FnMut(usize, &[u8]),
    ) {
        let channels = self.color.channels();
        let line = &mut scratch.line;
        line.clear();
        line.resize(columns.len() * channels, 0);
        let mut shown = None;
        for (index, &place) in rows.iter().enumerate() {
            if shown != Some(place) {
                line.fill(0);
                if let Some(place) = place {
                    let whole = row(place as usize);
                    for (pixel, column) in line.chunks_exact_mut(channels).zip(columns) {
                        if let Some(column) = column {
                            let from = *column as usize * channels;
                            pixel.copy_from_slice(&whole[from..from + channels]);
                        }
                    }
                }
                shown = Some(place);
            }
            sink(index, line);
        }
    }

    fn interpolate<'a>(
        &self,
        row: impl Fn(usize) -> &'a [u8],
        columns: &[Tap],
        rows: &[Tap],
        scratch: &mut Scratch,
        sink: &mut impl FnMut(usize, &[u8]),
    ) {
        const HELD: usize = 4;
        let channels = self.color.channels();
        let width = self.window.width * channels;
        let floats = &mut scratch.floats;
        floats.resize(HELD * width, 0.0);
        let mut held: [Option<u32>; HELD] = [None; HELD];
        let mut result = vec![0; width];
        for (index, tap) in rows.iter().enumerate() {
            let wanted = &tap.places[..tap.count];
            for &place in wanted {
                let slot = place as usize % HELD;
                if held[slot] != Some(place) {
                    let into = &mut floats[slot * width..(slot + 1) * width];
                    interpolate::horizontal(row(place as usize), columns, channels, into);
                    held[slot] = Some(place);
                }
            }
            // Neighbouring places, at most four, so no two share a slot.
            let taken: Vec<&[f32]> = wanted
                .iter()
                .map(|&place| &floats[place as usize % HELD * width..][..width])
                .collect();
            interpolate::vertical(&taken, tap, &mut result);
            sink(index, &result);
        }
    }
}

/// The weighted sum of the rows of `range`.
fn sum_of<'a>(
    range: Range<usize>,
    of: impl Fn(usize) -> &'a [u8],
    weights: &[i32],
    result: &mut [u8],
) {
    let count = range.len();
    if count <= NEAR {
        let mut rows: [&[u8]; NEAR] = [&[]; NEAR];
        for (row, at) in rows.iter_mut().zip(range) {
            *row = of(at);
        }
        kernel::vertical(&rows[..count], weights, result);
    } else {
        let rows: Vec<&[u8]> = range.map(of).collect();
        kernel::vertical(&rows, weights, result);
    }
}
