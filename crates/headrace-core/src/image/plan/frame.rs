//! A picture, and the moves that are still to be made of it.

use std::borrow::Cow;

use super::emit;
use crate::image::ops::resize::{Request, Scratch};
use crate::image::ops::{self, OpError, Rectangle, Tone};
use crate::image::picture::{Color, Dtype, Layout, Picture, Pixels};

/// A resize that waits, and what of its result is wanted.
#[derive(Clone, Copy)]
pub struct Pending {
    pub request: Request,
    pub region: Rectangle,
}

/// The moves wait in this order: the source's window, the resize, the flips, the tones, the layout.
pub struct Frame<'a> {
    pub source: Cow<'a, Picture>,
    pub window: Rectangle,
    pub resize: Option<Pending>,
    pub mirrored: bool,
    pub upside_down: bool,
    pub tones: Vec<&'a Tone>,
    pub layout: Layout,
}

impl<'a> Frame<'a> {
    pub fn new(source: Cow<'a, Picture>) -> Self {
        Self {
            window: Rectangle::whole(source.width, source.height),
            resize: None,
            mirrored: false,
            upside_down: false,
            tones: Vec::new(),
            layout: source.layout,
            source,
        }
    }

    fn region(&self) -> Rectangle {
        self.resize.map_or(self.window, |pending| pending.region)
    }

    pub fn width(&self) -> usize {
        self.region().width
    }

    pub fn height(&self) -> usize {
        self.region().height
    }

    pub fn color(&self) -> Color {
        self.source.color
    }

    pub fn dtype(&self) -> Dtype {
        if self.tones.is_empty() {
            self.source.dtype()
        } else {
            Dtype::F32
        }
    }

    pub fn values(&self) -> usize {
        self.width() * self.height() * self.color().channels()
    }

    /// Nothing waits: the source is the picture.
    fn is_settled(&self) -> bool {
        self.resize.is_none()
            && self.window == Rectangle::whole(self.source.width, self.source.height)
            && !self.mirrored
            && !self.upside_down
            && self.tones.is_empty()
            && self.layout == self.source.layout
    }

    /// Narrows what is shown to a part of it.
    pub fn narrow(&mut self, part: Rectangle) {
        let whole = self.region();
        let part = Rectangle {
            left: if self.mirrored {
                whole.width - part.left - part.width
            } else {
                part.left
            },
            top: if self.upside_down {
                whole.height - part.top - part.height
            } else {
                part.top
            },
            ..part
        };
        match &mut self.resize {
            Some(pending) => pending.region = pending.region.part(part),
            None => self.window = self.window.part(part),
        }
    }

    /// Makes every move that waits.
    pub fn settle(&mut self, scratch: &mut Scratch) -> Result<(), OpError> {
        if !self.is_settled() {
            let picture = self.make(scratch)?;
            *self = Frame::new(Cow::Owned(picture));
        }
        Ok(())
    }

    /// Makes the moves that wait, then an operation on the picture.
    pub fn change(
        &mut self,
        scratch: &mut Scratch,
        operation: impl FnOnce(&Picture) -> Result<Picture, OpError>,
    ) -> Result<(), OpError> {
        self.settle(scratch)?;
        let picture = operation(&self.source)?;
        *self = Frame::new(Cow::Owned(picture));
        Ok(())
    }

    pub fn into_picture(mut self, scratch: &mut Scratch) -> Result<Picture, OpError> {
        self.settle(scratch)?;
        Ok(self.source.into_owned())
    }

    fn make(&self, scratch: &mut Scratch) -> Result<Picture, OpError> {
        let pixels = match (&self.source.pixels, self.source.layout) {
            (Pixels::U8(_), Layout::Hwc) if self.tones.is_empty() => {
                let mut values = vec![0; self.values()];
                emit::bytes(self, scratch, self.layout, &mut values);
                Pixels::U8(values)
            }
            (Pixels::U8(_), Layout::Hwc) => {
                let mut values = vec![0.0; self.values()];
                emit::floats(self, scratch, self.layout, &mut values);
                Pixels::F32(values)
            }
            _ => return self.make_one_by_one(),
        };
        let kept = self.source.transparent.filter(|_| self.tones.is_empty());
        Ok(Picture {
            layout: self.layout,
            transparent: kept,
            ..Picture::hwc(self.width(), self.height(), self.color(), pixels)
        })
    }

    /// Pictures of other kinds: one operation after the other. A resize takes bytes in HWC alone, so none waits here.
    fn make_one_by_one(&self) -> Result<Picture, OpError> {
        let mut picture = Cow::Borrowed(self.source.as_ref());
        let window = self.window;
        if window != Rectangle::whole(picture.width, picture.height) {
            let (top, left) = (window.top as i64, window.left as i64);
            let part = ops::crop(&picture, top, left, window.height, window.width)?;
            picture = Cow::Owned(part);
        }
        if self.mirrored || self.upside_down {
            picture = Cow::Owned(ops::flip(&picture, self.mirrored, self.upside_down)?);
        }
        for tone in &self.tones {
            picture = Cow::Owned(tone.picture(picture.into_owned())?);
        }
        if self.layout != picture.layout {
            picture = Cow::Owned(ops::relayout(&picture, self.layout)?);
        }
        Ok(picture.into_owned())
    }
}
