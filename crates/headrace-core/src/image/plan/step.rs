//! What a chain is made of.

use crate::image::decode::DecodeOptions;
use crate::image::ops::resize::{Extent, Filter};
use crate::image::ops::{Affine, Anchor, Border, Fill, Margins, OpError, Rotate, Target, Tone};
use crate::image::picture::Layout;

/// A step and its number among all of the chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub step: Step,
    pub number: u64,
    /// The numbered steps inside this one, for `Apply` and `Choice`.
    pub inner: Vec<Vec<Node>>,
}

/// The size that `Resize` makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    Exact {
        height: usize,
        width: usize,
    },
    /// The shorter side, and what the longer one may be at most.
    Short {
        short: usize,
        longest: Option<usize>,
    },
    /// The longer side.
    Long {
        long: usize,
    },
}

impl Size {
    /// Width and height for a picture of `width` by `height`; never zero.
    pub fn of(self, width: usize, height: usize) -> Result<(usize, usize), OpError> {
        let (short, long) = (width.min(height), width.max(height));
        if short == 0 {
            return Err(OpError::Size {
                op: "Resize",
                reason: "the image has no pixels".into(),
            });
        }
        let share =
            |size: usize| (size as u128 * long as u128 / short as u128).min(1 << 40) as usize;
        let (new_short, new_long) = match self {
            Size::Exact { height, width } => return Ok((width, height)),
            Size::Short {
                short: size,
                longest,
            } => match longest {
                Some(longest) if share(size) > longest => (
                    (longest as u128 * size as u128 / share(size) as u128) as usize,
                    longest,
                ),
                _ => (size, share(size)),
            },
            Size::Long { long: size } => {
                ((size as u128 * short as u128 / long as u128) as usize, size)
            }
        };
        let (new_short, new_long) = (new_short.max(1), new_long.max(1));
        Ok(if width <= height {
            (new_short, new_long)
        } else {
            (new_long, new_short)
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resize {
    pub size: Size,
    pub filter: Filter,
    pub antialias: bool,
    /// What of the picture is shown, None for all of it.
    pub extent: Option<Extent>,
}

/// What `RandomErasing` writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    Fill(Fill),
    /// The standard normal distribution, for float pictures.
    Normal,
}

/// Lower and upper end of what is drawn.
pub type Range = (f64, f64);

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Decode(DecodeOptions),
    Convert(Target),
    Crop {
        top: i64,
        left: i64,
        height: usize,
        width: usize,
    },
    CenterCrop {
        height: usize,
        width: usize,
    },
    Pad {
        margins: Margins,
        border: Border,
        fill: Fill,
    },
    PadTo {
        width: usize,
        height: usize,
        fill: Fill,
        anchor: Anchor,
    },
    Resize(Resize),
    Flip {
        horizontal: bool,
    },
    Rotate90 {
        quarters: u8,
    },
    Tone(Tone),
    Layout(Layout),
    Affine(Affine),
    Rotate(Rotate),
    RandomCrop {
        height: usize,
        width: usize,
        margins: Option<Margins>,
        pad_if_needed: bool,
        border: Border,
        fill: Fill,
    },
    RandomResizedCrop {
        height: usize,
        width: usize,
        scale: Range,
        ratio: Range,
        filter: Filter,
        antialias: bool,
    },
    RandomFlip {
        horizontal: bool,
        p: f64,
    },
    ColorJitter {
        brightness: Option<Range>,
        contrast: Option<Range>,
        saturation: Option<Range>,
        hue: Option<Range>,
    },
    GaussianBlur {
        width: usize,
        height: usize,
        sigma: Range,
    },
    RandomErasing {
        p: f64,
        scale: Range,
        ratio: Range,
        values: Values,
    },
    Apply {
        p: f64,
        steps: Vec<Step>,
    },
    /// One of the chains, with the probability of its weight.
    Choice {
        weights: Vec<f64>,
        options: Vec<Vec<Step>>,
    },
}

impl Step {
    /// The name that users know the step by.
    pub fn name(&self) -> &'static str {
        match self {
            Step::Decode(_) => "Decode",
            Step::Convert(Target::Rgb) => "ToRgb",
            Step::Convert(Target::Rgba) => "ToRgba",
            Step::Convert(Target::Gray) => "ToGray",
            Step::Crop { .. } => "Crop",
            Step::CenterCrop { .. } => "CenterCrop",
            Step::Pad { .. } => "Pad",
            Step::PadTo { .. } => "PadTo",
            Step::Resize(_) => "Resize",
            Step::Flip { horizontal: true } => "HFlip",
            Step::Flip { horizontal: false } => "VFlip",
            Step::Rotate90 { .. } => "Rotate90",
            Step::Tone(Tone::Float { .. }) => "ToFloat",
            Step::Tone(Tone::Normalize { .. }) => "Normalize",
            Step::Layout(Layout::Chw) => "ToChw",
            Step::Layout(Layout::Hwc) => "ToHwc",
            Step::Affine(_) => "Affine",
            Step::Rotate(_) => "Rotate",
            Step::RandomCrop { .. } => "RandomCrop",
            Step::RandomResizedCrop { .. } => "RandomResizedCrop",
            Step::RandomFlip {
                horizontal: true, ..
            } => "RandomHorizontalFlip",
            Step::RandomFlip {
                horizontal: false, ..
            } => "RandomVerticalFlip",
            Step::ColorJitter { .. } => "ColorJitter",
            Step::GaussianBlur { .. } => "GaussianBlur",
            Step::RandomErasing { .. } => "RandomErasing",
            Step::Apply { .. } => "RandomApply",
            Step::Choice { .. } => "RandomChoice",
        }
    }

    /// Whether the step can wait for the last pass (a resize and a flip only where the steps after it let them).
    pub fn waits(&self) -> bool {
        match self {
            Step::Crop { .. }
            | Step::CenterCrop { .. }
            | Step::Resize(_)
            | Step::Flip { .. }
            | Step::Tone(_)
            | Step::Layout(_)
            | Step::RandomResizedCrop { .. }
            | Step::RandomFlip { .. } => true,
            Step::RandomCrop {
                margins,
                pad_if_needed,
                ..
            } => margins.is_none() && !pad_if_needed,
            _ => false,
        }
    }
}

/// Numbers steps depth first, in the order in which they stand.
pub fn number(steps: Vec<Step>, next: &mut u64) -> Vec<Node> {
    steps
        .into_iter()
        .map(|step| {
            let number = *next;
            *next += 1;
            let inner = match &step {
                Step::Apply { steps, .. } => vec![self::number(steps.clone(), next)],
                Step::Choice { options, .. } => options
                    .iter()
                    .map(|steps| self::number(steps.clone(), next))
                    .collect(),
                _ => Vec::new(),
            };
            Node {
                step,
                number,
                inner,
            }
        })
        .collect()
}
