//! The description of a chain, `[(name, parameters)]`, as the core's steps. Python has checked the values; what is
//! checked here is that the two languages agree.

use headrace_core::image::decode::{DecodeOptions, Orientation, Truncated};
use headrace_core::image::ops::resize::{Extent, Filter};
use headrace_core::image::ops::{
    Affine, Anchor, Border, Fill, Margins, Rotate, Sampling, Target, Tone,
};
use headrace_core::image::plan::{Resize, Size, Step, Values};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

type Described<'py> = (String, Bound<'py, PyAny>);
type Pair = (f64, f64);

pub fn read(steps: Vec<Described<'_>>) -> PyResult<Vec<Step>> {
    steps
        .into_iter()
        .map(|(name, parameters)| step(&name, &parameters))
        .collect()
}

fn step(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Step> {
    Ok(match name {
        "decode" => Step::Decode(decode(given)?),
        "convert" => Step::Convert(target(&given.extract::<(String,)>()?.0)?),
        "crop" => {
            let (top, left, height, width) = given.extract()?;
            Step::Crop {
                top,
                left,
                height,
                width,
            }
        }
        "center_crop" => {
            let (height, width) = given.extract()?;
            Step::CenterCrop { height, width }
        }
        "pad" => {
            let (sides, fill, mode): ([usize; 4], Vec<f64>, String) = given.extract()?;
            Step::Pad {
                margins: margins(sides),
                border: border(&mode)?,
                fill: Fill(fill),
            }
        }
        "pad_to" => {
            let (width, height, fill, place): (_, _, Vec<f64>, String) = given.extract()?;
            Step::PadTo {
                width,
                height,
                fill: Fill(fill),
                anchor: match place.as_str() {
                    "top_left" => Anchor::TopLeft,
                    "center" => Anchor::Center,
                    other => return Err(unknown("anchor", other)),
                },
            }
        }
        "resize" => Step::Resize(resize(given)?),
        "flip" => {
            let (horizontal,) = given.extract()?;
            Step::Flip { horizontal }
        }
        "rotate90" => {
            let (quarters,) = given.extract()?;
            Step::Rotate90 { quarters }
        }
        "to_float" => {
            let (scale,) = given.extract()?;
            Step::Tone(Tone::Float { scale })
        }
        "normalize" => {
            let (mean, std) = given.extract()?;
            Step::Tone(Tone::Normalize { mean, std })
        }
        "layout" => {
            let (name,): (String,) = given.extract()?;
            let layout = super::super::object::layout(&name);
            Step::Layout(layout.ok_or_else(|| unknown("layout", &name))?)
        }
        "affine" => {
            let (angle, translate, scale, shear, center, interpolation, fill): (
                _,
                _,
                _,
                _,
                _,
                String,
                Vec<f64>,
            ) = given.extract()?;
            Step::Affine(Affine {
                angle,
                translate,
                scale,
                shear,
                center,
                sampling: sampling(&interpolation, fill)?,
            })
        }
        "rotate" => {
            let (angle, expand, center, interpolation, fill): (_, _, _, String, Vec<f64>) =
                given.extract()?;
            Step::Rotate(Rotate {
                angle,
                expand,
                center,
                sampling: sampling(&interpolation, fill)?,
            })
        }
        _ => random(name, given)?,
    })
}

fn random(name: &str, given: &Bound<'_, PyAny>) -> PyResult<Step> {
    Ok(match name {
        "random_crop" => {
            let (height, width, sides, pad_if_needed, fill, mode): (
                _,
                _,
                Option<[usize; 4]>,
                _,
                Vec<f64>,
                String,
            ) = given.extract()?;
            Step::RandomCrop {
                height,
                width,
                margins: sides.map(margins),
                pad_if_needed,
                border: border(&mode)?,
                fill: Fill(fill),
            }
        }
        "random_resized_crop" => {
            let (height, width, scale, ratio, interpolation, antialias): (_, _, _, _, String, _) =
                given.extract()?;
            Step::RandomResizedCrop {
                height,
                width,
                scale,
                ratio,
                filter: filter(&interpolation)?,
                antialias,
            }
        }
        "random_flip" => {
            let (horizontal, p) = given.extract()?;
            Step::RandomFlip { horizontal, p }
        }
        "color_jitter" => {
            let (brightness, contrast, saturation, hue) = given.extract()?;
            Step::ColorJitter {
                brightness,
                contrast,
                saturation,
                hue,
            }
        }
        "gaussian_blur" => {
            let (width, height, sigma) = given.extract()?;
            Step::GaussianBlur {
                width,
                height,
                sigma,
            }
        }
        "random_erasing" => {
            let (p, scale, ratio, fill): (f64, Pair, Pair, Option<Vec<f64>>) = given.extract()?;
            Step::RandomErasing {
                p,
                scale,
                ratio,
                values: fill.map_or(Values::Normal, |fill| Values::Fill(Fill(fill))),
            }
        }
        "apply" => {
            let (p, steps) = given.extract()?;
            Step::Apply {
                p,
                steps: read(steps)?,
            }
        }
        "choice" => {
            let (weights, options): (_, Vec<Vec<Described<'_>>>) = given.extract()?;
            Step::Choice {
                weights,
                options: options.into_iter().map(read).collect::<PyResult<_>>()?,
            }
        }
        other => return Err(unknown("step", other)),
    })
}

fn decode(given: &Bound<'_, PyAny>) -> PyResult<DecodeOptions> {
    let (max_width, max_height, max_alloc, depth, orientation, truncated, frame, scale_to): (
        _,
        _,
        _,
        _,
        String,
        String,
        _,
        _,
    ) = given.extract()?;
    Ok(DecodeOptions {
        max_width,
        max_height,
        max_alloc,
        depth,
        orientation: match orientation.as_str() {
            "pillow" => Orientation::Pillow,
            "exif" => Orientation::Exif,
            "ignore" => Orientation::Ignore,
            other => return Err(unknown("orientation", other)),
        },
        truncated: match truncated.as_str() {
            "error" => Truncated::Error,
            "pad" => Truncated::Pad,
            other => return Err(unknown("truncated", other)),
        },
        frame,
        scale_to,
    })
}

#[allow(clippy::type_complexity)]
fn resize(given: &Bound<'_, PyAny>) -> PyResult<Resize> {
    let (exact, short, longest, interpolation, antialias, extent): (
        Option<(usize, usize)>,
        Option<usize>,
        Option<usize>,
        String,
        bool,
        Option<Extent>,
    ) = given.extract()?;
    let size = match (exact, short, longest) {
        (Some((height, width)), ..) => Size::Exact { height, width },
        (None, Some(short), longest) => Size::Short { short, longest },
        (None, None, Some(long)) => Size::Long { long },
        (None, None, None) => return Err(unknown("size", "None")),
    };
    Ok(Resize {
        size,
        filter: filter(&interpolation)?,
        antialias,
        extent,
    })
}

fn margins([left, top, right, bottom]: [usize; 4]) -> Margins {
    Margins {
        left,
        top,
        right,
        bottom,
    }
}

fn sampling(interpolation: &str, fill: Vec<f64>) -> PyResult<Sampling> {
    Ok(Sampling {
        filter: filter(interpolation)?,
        fill: Fill(fill),
    })
}

fn target(mode: &str) -> PyResult<Target> {
    match mode {
        "RGB" => Ok(Target::Rgb),
        "RGBA" => Ok(Target::Rgba),
        "L" => Ok(Target::Gray),
        other => Err(unknown("mode", other)),
    }
}

fn border(mode: &str) -> PyResult<Border> {
    match mode {
        "constant" => Ok(Border::Constant),
        "edge" => Ok(Border::Edge),
        "reflect" => Ok(Border::Reflect),
        "symmetric" => Ok(Border::Symmetric),
        other => Err(unknown("padding_mode", other)),
    }
}

fn filter(name: &str) -> PyResult<Filter> {
    match name {
        "nearest" => Ok(Filter::Nearest),
        "box" => Ok(Filter::Box),
        "bilinear" => Ok(Filter::Bilinear),
        "hamming" => Ok(Filter::Hamming),
        "bicubic" => Ok(Filter::Bicubic),
        "lanczos" => Ok(Filter::Lanczos),
        other => Err(unknown("interpolation", other)),
    }
}

fn unknown(what: &str, found: &str) -> PyErr {
    PyValueError::new_err(format!("the native module knows no {what} {found:?}"))
}
