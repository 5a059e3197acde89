//! The steps that draw. Each draws from its own stream, so that none depends on what another drew.

use super::frame::Frame;
use super::step::{Node, Range, Resize, Size, Step, Values};
use crate::draws::{Draws, Stream};
use crate::image::ops::resize::Scratch;
use crate::image::ops::{self, Margins, OpError, Rectangle};
use crate::image::picture::Dtype;

/// How often a rectangle is drawn before there is a substitute for it.
const ATTEMPTS: usize = 10;

impl<'a> Frame<'a> {
    pub fn draw(
        &mut self,
        node: &'a Node,
        draws: Draws,
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        let mut stream = draws.stream(node.number);
        match &node.step {
            Step::RandomCrop {
                height,
                width,
                margins,
                pad_if_needed,
                border,
                fill,
            } => {
                let op = node.step.name();
                if let Some(margins) = margins {
                    self.pad(*margins, *border, fill, scratch)?;
                }
                if *pad_if_needed {
                    let missing = |size: usize, extent: usize| size.saturating_sub(extent);
                    let columns = missing(*width, self.width());
                    let rows = missing(*height, self.height());
                    // Torchvision pads both sides by what is missing.
                    let margins = Margins {
                        left: columns,
                        right: columns,
                        top: rows,
                        bottom: rows,
                    };
                    self.pad(margins, *border, fill, scratch)?;
                }
                if self.height() < *height || self.width() < *width {
                    return Err(OpError::Size {
                        op,
                        reason: format!(
                            "a part of {height} x {width} pixels does not fit in an image of {} x {}; \
                             give pad_if_needed=True",
                            self.height(),
                            self.width()
                        ),
                    });
                }
                let top = stream.below((self.height() - height + 1) as u64) as i64;
                let left = stream.below((self.width() - width + 1) as u64) as i64;
                self.crop(op, top, left, *height, *width, scratch)
            }
            Step::RandomResizedCrop {
                height,
                width,
                scale,
                ratio,
                filter,
                antialias,
            } => {
                let op = node.step.name();
                let part = part_of(self.width(), self.height(), *scale, *ratio, &mut stream);
                let (top, left) = (part.top as i64, part.left as i64);
                self.crop(op, top, left, part.height, part.width, scratch)?;
                let resize = Resize {
                    size: Size::Exact {
                        height: *height,
                        width: *width,
                    },
                    filter: *filter,
                    antialias: *antialias,
                    extent: None,
                };
                self.resize(op, &resize, scratch)
            }
            &Step::RandomFlip { horizontal, p } => {
                if stream.unit() < p {
                    self.flip(node.step.name(), horizontal)
                } else {
                    Ok(())
                }
            }
            Step::ColorJitter {
                brightness,
                contrast,
                saturation,
                hue,
            } => {
                let ranges = [brightness, contrast, saturation, hue];
                let mut order = [0, 1, 2, 3];
                for last in (1..order.len()).rev() {
                    order.swap(last, stream.below(last as u64 + 1) as usize);
                }
                for which in order {
                    if let Some((from, to)) = *ranges[which] {
                        let factor = stream.uniform(from, to) as f32;
                        self.change(scratch, |picture| match which {
                            0 => ops::adjust_brightness(picture, factor),
                            1 => ops::adjust_contrast(picture, factor),
                            2 => ops::adjust_saturation(picture, factor),
                            _ => ops::adjust_hue(picture, factor),
                        })?;
                    }
                }
                Ok(())
            }
            &Step::GaussianBlur {
                width,
                height,
                sigma,
            } => {
                let sigma = stream.uniform(sigma.0, sigma.1) as f32;
                self.change(scratch, |picture| {
                    ops::gaussian_blur(picture, (width, height), (sigma, sigma))
                })
            }
            Step::RandomErasing {
                p,
                scale,
                ratio,
                values,
            } => self.erase(*p, *scale, *ratio, values, &mut stream, scratch),
            Step::Apply { p, .. } => {
                if stream.unit() >= *p {
                    return Ok(());
                }
                self.all(node.inner.first(), draws, scratch)
            }
            Step::Choice { weights, .. } => {
                let sum: f64 = weights.iter().sum();
                let mut rest = stream.unit() * sum;
                let chosen = weights.iter().position(|weight| {
                    rest -= weight;
                    rest < 0.0
                });
                let last = weights.iter().rposition(|&weight| weight > 0.0);
                let chosen = chosen.or(last).and_then(|chosen| node.inner.get(chosen));
                self.all(chosen, draws, scratch)
            }
            _ => unreachable!("`apply` takes the steps that do not draw"),
        }
    }

    fn all(
        &mut self,
        nodes: Option<&'a Vec<Node>>,
        draws: Draws,
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        nodes
            .into_iter()
            .flatten()
            .try_for_each(|node| self.apply(node, draws, scratch))
    }

    fn erase(
        &mut self,
        p: f64,
        scale: Range,
        ratio: Range,
        values: &Values,
        stream: &mut Stream,
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        const OP: &str = "RandomErasing";
        let channels = self.color().channels();
        ops::expect_layout_hwc(OP, self.layout)?;
        let fill = match values {
            Values::Fill(fill) => Some(fill.channels(OP, self.dtype(), channels)?),
            Values::Normal if self.dtype() == Dtype::F32 => None,
            Values::Normal => {
                return Err(OpError::Dtype {
                    op: OP,
                    expected: "float32",
                    found: self.dtype(),
                    advice: "value=\"random\" draws floats; put ToFloat() before it",
                });
            }
        };
        if stream.unit() >= p {
            return Ok(());
        }
        let (width, height) = (self.width(), self.height());
        let area = (width * height) as f64;
        for _ in 0..ATTEMPTS {
            let (wide, high) = sides(area, scale, ratio, stream);
            // Torchvision's ratio is height to width here.
            let (part_height, part_width) = (wide, high);
            if part_height >= height || part_width >= width {
                continue;
            }
            let part = Rectangle {
                top: stream.below((height - part_height + 1) as u64) as usize,
                left: stream.below((width - part_width + 1) as u64) as usize,
                height: part_height,
                width: part_width,
            };
            self.settle(scratch)?;
            let picture = self.source.to_mut();
            match &fill {
                Some(fill) => {
                    let fill: Vec<f32> = fill.iter().map(|&value| value as f32).collect();
                    ops::erase(picture, part, || fill.clone());
                }
                None => ops::erase(picture, part, || {
                    (0..channels).map(|_| stream.normal() as f32).collect()
                }),
            }
            return Ok(());
        }
        Ok(())
    }
}

/// Sides of a rectangle whose area is a share of `area` and whose ratio is drawn evenly in its logarithm.
fn sides(area: f64, scale: Range, ratio: Range, stream: &mut Stream) -> (usize, usize) {
    let target = area * stream.uniform(scale.0, scale.1);
    let ratio = stream.uniform(ratio.0.ln(), ratio.1.ln()).exp();
    (
        (target * ratio).sqrt().round_ties_even() as usize,
        (target / ratio).sqrt().round_ties_even() as usize,
    )
}

/// Torchvision's `RandomResizedCrop.get_params`: ten attempts, then the central part of the nearest ratio.
fn part_of(
    width: usize,
    height: usize,
    scale: Range,
    ratio: Range,
    stream: &mut Stream,
) -> Rectangle {
    let area = (width * height) as f64;
    for _ in 0..ATTEMPTS {
        let (part_width, part_height) = sides(area, scale, ratio, stream);
        if (1..=width).contains(&part_width) && (1..=height).contains(&part_height) {
            return Rectangle {
                top: stream.below((height - part_height + 1) as u64) as usize,
                left: stream.below((width - part_width + 1) as u64) as usize,
                height: part_height,
                width: part_width,
            };
        }
    }
    let own = width as f64 / height as f64;
    let side = |length: f64, most: usize| (length.round_ties_even() as usize).clamp(1, most.max(1));
    let (part_width, part_height) = if own < ratio.0 {
        (width, side(width as f64 / ratio.0, height))
    } else if own > ratio.1 {
        (side(height as f64 * ratio.1, width), height)
    } else {
        (width, height)
    };
    Rectangle {
        top: (height - part_height) / 2,
        left: (width - part_width) / 2,
        height: part_height,
        width: part_width,
    }
}
