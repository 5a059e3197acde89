//! What each step does to a frame.

use super::frame::{Frame, Pending};
use super::step::{Node, Resize, Step};
use crate::draws::Draws;
use crate::image::ops::resize::{Request, Scratch};
use crate::image::ops::{self, Border, Fill, Margins, OpError, Rectangle, Target, Tone};
use crate::image::picture::Layout;

impl<'a> Frame<'a> {
    /// Takes one step, now or by making it wait.
    pub fn apply(
        &mut self,
        node: &'a Node,
        draws: Draws,
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        match &node.step {
            Step::Decode(_) => Err(OpError::Size {
                op: "Decode",
                reason: "only the first step of a chain decodes".into(),
            }),
            Step::Convert(target) => self.convert(*target, scratch),
            &Step::Crop {
                top,
                left,
                height,
                width,
            } => self.crop("Crop", top, left, height, width, scratch),
            &Step::CenterCrop { height, width } => {
                let top = ops::center_offsets(self.height(), height);
                let left = ops::center_offsets(self.width(), width);
                self.crop("CenterCrop", top, left, height, width, scratch)
            }
            Step::Pad {
                margins,
                border,
                fill,
            } => self.pad(*margins, *border, fill, scratch),
            Step::PadTo {
                width,
                height,
                fill,
                anchor,
            } => {
                let extent = (self.width(), self.height());
                let margins = ops::pad_to_margins(extent, (*width, *height), *anchor);
                self.pad(margins, Border::Constant, fill, scratch)
            }
            Step::Resize(resize) => self.resize("Resize", resize, scratch),
            &Step::Flip { horizontal } => {
                self.flip(if horizontal { "HFlip" } else { "VFlip" }, horizontal)
            }
            &Step::Rotate90 { quarters } => {
                self.change(scratch, |picture| ops::rotate90(picture, quarters))
            }
            Step::Tone(tone) => self.tone(tone),
            Step::Layout(layout) => self.relayout(*layout, scratch),
            Step::Affine(map) => self.change(scratch, |picture| ops::affine(picture, map)),
            Step::Rotate(turn) => self.change(scratch, |picture| ops::rotate(picture, turn)),
            _ => self.draw(node, draws, scratch),
        }
    }

    fn expect_hwc(&self, op: &'static str) -> Result<(), OpError> {
        ops::expect_layout_hwc(op, self.layout)
    }

    fn expect_bytes(&self, op: &'static str) -> Result<(), OpError> {
        self.expect_hwc(op)?;
        ops::expect_u8(op, self.dtype())
    }

    fn convert(&mut self, target: Target, scratch: &mut Scratch) -> Result<(), OpError> {
        self.expect_bytes(target.op())?;
        if self.color() == target.color() {
            return Ok(());
        }
        self.change(scratch, |picture| ops::convert(picture, target))
    }

    pub fn crop(
        &mut self,
        op: &'static str,
        top: i64,
        left: i64,
        height: usize,
        width: usize,
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        self.expect_hwc(op)?;
        let extent = (self.width(), self.height());
        match Rectangle::inside(top, left, height, width, extent.0, extent.1) {
            Some(part) => {
                self.narrow(part);
                Ok(())
            }
            None => self.change(scratch, |picture| {
                ops::crop(picture, top, left, height, width)
            }),
        }
    }

    pub fn pad(
        &mut self,
        margins: Margins,
        border: Border,
        fill: &Fill,
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        self.expect_hwc("Pad")?;
        if margins == Margins::default() {
            // The fill is checked all the same: an error must not depend on the size of the picture.
            return fill
                .channels("Pad", self.dtype(), self.color().channels())
                .map(drop);
        }
        self.change(scratch, |picture| ops::pad(picture, margins, border, fill))
    }

    pub fn resize(
        &mut self,
        op: &'static str,
        resize: &Resize,
        scratch: &mut Scratch,
    ) -> Result<(), OpError> {
        self.expect_bytes(op)?;
        let source = (self.width(), self.height());
        let (width, height) = resize.size.of(source.0, source.1)?;
        ops::room(op, width, height, self.color().channels())?;
        let mut request = Request::whole(source, (width, height), resize.filter, resize.antialias);
        if let Some(extent) = resize.extent {
            let [left, top, right, bottom] = extent;
            let inside = 0.0 <= left
                && left < right
                && right <= source.0 as f32
                && 0.0 <= top
                && top < bottom
                && bottom <= source.1 as f32;
            if !inside {
                return Err(OpError::Size {
                    op,
                    reason: format!(
                        "box {extent:?} does not lie in an image of {} x {} pixels",
                        source.0, source.1
                    ),
                });
            }
            request.extent = extent;
        }
        if request.is_identity() {
            return Ok(());
        }
        if self.resize.is_some() || self.mirrored || self.upside_down {
            self.settle(scratch)?;
        }
        self.resize = Some(Pending {
            request,
            region: Rectangle::whole(width, height),
        });
        Ok(())
    }

    pub fn flip(&mut self, op: &'static str, horizontal: bool) -> Result<(), OpError> {
        self.expect_hwc(op)?;
        if horizontal {
            self.mirrored = !self.mirrored;
        } else {
            self.upside_down = !self.upside_down;
        }
        Ok(())
    }

    fn tone(&mut self, tone: &'a Tone) -> Result<(), OpError> {
        tone.check(self.dtype(), self.color().channels())?;
        self.tones.push(tone);
        Ok(())
    }

    fn relayout(&mut self, layout: Layout, scratch: &mut Scratch) -> Result<(), OpError> {
        if self.layout == layout {
            return Err(ops::has_layout(layout));
        }
        if self.source.layout == Layout::Chw {
            return self.change(scratch, |picture| ops::relayout(picture, layout));
        }
        self.layout = layout;
        Ok(())
    }
}
