//! Many items into one buffer: each is decoded and moved, and its last pass writes into its slot.

use super::frame::Frame;
use super::{Input, Plan, PlanError, emit, with_scratch};
use crate::draws::Draws;
use crate::image::ops::resize::Scratch;
use crate::image::picture::{Dtype, Layout, Picture, Pixels};
use crate::image::stack::{self, Batch, StackError};
use crate::image::{BatchBuffer, Pool, Slot};

/// What became of the items.
pub struct Made {
    /// The items that worked, in order; None where there are none.
    pub batch: Option<Batch>,
    /// The others: their places among the inputs, and why.
    pub failed: Vec<(usize, PlanError)>,
}

/// What all items of a batch share.
type Kind = (usize, usize, crate::image::Color, Dtype);

impl Plan {
    /// Runs the chain on every input, item `i` with `draws[i]`, and stacks the results in `layout`.
    ///
    /// An item that fails takes no slot. Items of unequal shapes are an error of the batch.
    pub fn run_batch(
        &self,
        inputs: &[Input<'_>],
        draws: &[Draws],
        layout: Layout,
        pool: &Pool,
    ) -> Result<Made, StackError> {
        with_scratch(|scratch| {
            let mut failed = Vec::new();
            let mut begun: Option<(BatchBuffer, Kind)> = None;
            let mut done = 0;
            for (place, (&input, &draws)) in inputs.iter().zip(draws).enumerate() {
                let written = self.frame(input, draws, scratch).and_then(|frame| {
                    let kind = (frame.width(), frame.height(), frame.color(), frame.dtype());
                    let (buffer, first) = match &mut begun {
                        Some(begun) => begun,
                        None => {
                            let Some(buffer) = pool.take(inputs.len(), frame.values(), kind.3)
                            else {
                                let item = frame.values().saturating_mul(kind.3.size_bytes());
                                let size_bytes = inputs.len().saturating_mul(item);
                                return Ok(Err(StackError::Memory { size_bytes }));
                            };
                            begun.insert((buffer, kind))
                        }
                    };
                    if kind != *first {
                        return Ok(Err(StackError::Unequal {
                            index: place,
                            first: describe(*first),
                            other: describe(kind),
                        }));
                    }
                    write(frame, scratch, layout, buffer.slot(done))
                        .map_err(|error| self.late(error))?;
                    Ok(Ok(()))
                });
                match written {
                    Ok(written) => {
                        written?;
                        done += 1;
                    }
                    Err(error) => failed.push((place, error)),
                }
            }
            let batch = begun.filter(|_| done > 0).map(|(buffer, kind)| {
                let (width, height, color, dtype) = kind;
                let [a, b, c] = match layout {
                    Layout::Hwc => [height, width, color.channels()],
                    Layout::Chw => [color.channels(), height, width],
                };
                Batch {
                    shape: [done, a, b, c],
                    color,
                    dtype,
                    layout,
                    buffer: buffer.publish(),
                }
            });
            Ok(Made { batch, failed })
        })
    }

    /// Runs the chain and writes its values into a batch's slot, which must be of the result's type and size.
    ///
    /// Gives the picture's width and height.
    pub fn run_into(
        &self,
        input: Input<'_>,
        draws: Draws,
        layout: Layout,
        slot: Slot<'_>,
    ) -> Result<(usize, usize), PlanError> {
        with_scratch(|scratch| {
            let frame = self.frame(input, draws, scratch)?;
            let extent = (frame.width(), frame.height());
            write(frame, scratch, layout, slot).map_err(|error| self.late(error))?;
            Ok(extent)
        })
    }
}

fn describe((width, height, color, dtype): Kind) -> String {
    format!("{height}x{width} {} {}", color.name(), dtype.name())
}

/// The last pass, into a slot.
fn write(
    mut frame: Frame<'_>,
    scratch: &mut Scratch,
    layout: Layout,
    slot: Slot<'_>,
) -> Result<(), crate::image::ops::OpError> {
    match (slot, &frame.source.pixels, frame.source.layout) {
        (Slot::U8(to), Pixels::U8(_), Layout::Hwc) if frame.tones.is_empty() => {
            emit::bytes(&frame, scratch, layout, to);
        }
        (Slot::F32(to), Pixels::U8(_), Layout::Hwc) if !frame.tones.is_empty() => {
            emit::floats(&frame, scratch, layout, to);
        }
        (slot, ..) => {
            frame.settle(scratch)?;
            let picture: &Picture = &frame.source;
            stack::write(picture, layout, slot);
        }
    }
    Ok(())
}
