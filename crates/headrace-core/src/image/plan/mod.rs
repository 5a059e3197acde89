//! Chains of operations, compiled once and run many times.
//!
//! A run keeps a `Frame`: a picture and the moves that are still to be made of it. Crops, flips, one resize, the change to
//! floats, normalisation and the layout only change the frame; a single pass makes them all, into a new picture or into
//! the slot of a batch. What cannot wait makes the frame's picture first.
//!
//! | file | holds |
//! |---|---|
//! | `step` | what a chain is made of |
//! | `apply` | what each step does to a frame |
//! | `random` | the steps that draw |
//! | `frame` | the moves that wait |
//! | `emit` | the pass that makes them |
//! | `batch` | many items into one buffer |

mod apply;
mod batch;
mod emit;
mod frame;
mod random;
mod step;

use std::borrow::Cow;
use std::cell::RefCell;

pub use batch::Made;
pub use step::{Node, Resize, Size, Step, Values};

use self::frame::Frame;
use super::decode::{self, DecodeError};
use super::ops::OpError;
use super::ops::resize::Scratch;
use super::picture::Picture;
use crate::draws::Draws;

/// What a chain starts from.
#[derive(Clone, Copy)]
pub enum Input<'a> {
    /// An encoded file, for a chain that begins with `Decode`.
    Bytes(&'a [u8]),
    Picture(&'a Picture),
}

/// Why a chain gave no picture.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    #[error(transparent)]
    Decode(#[from] DecodeError),
    #[error("step {position} of the chain: {error}")]
    Step { position: usize, error: OpError },
    #[error("step 1 of the chain, {step}, takes an image, found encoded bytes: put Decode() first")]
    NeedsDecode { step: &'static str },
    #[error("step 1 of the chain, Decode, takes encoded bytes, found an image")]
    Decoded,
}

/// A chain of steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    nodes: Vec<Node>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Runs `function` with the memory that this thread uses again and again.
fn with_scratch<R>(function: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with(|scratch| match scratch.try_borrow_mut() {
        Ok(mut scratch) => function(&mut scratch),
        // Nobody runs a plan inside a plan; were it so, it would only cost memory.
        Err(_) => function(&mut Scratch::default()),
    })
}

impl Plan {
    /// Numbers the steps, also those inside others: the number names a step's stream of draws.
    pub fn new(steps: Vec<Step>) -> Self {
        let mut next = 0;
        Self {
            nodes: step::number(steps, &mut next),
        }
    }

    /// The picture that the chain makes.
    pub fn run(&self, input: Input<'_>, draws: Draws) -> Result<Picture, PlanError> {
        with_scratch(|scratch| {
            let frame = self.frame(input, draws, scratch)?;
            frame
                .into_picture(scratch)
                .map_err(|error| self.late(error))
        })
    }

    /// An error of the last pass, which belongs to the last step.
    fn late(&self, error: OpError) -> PlanError {
        PlanError::Step {
            position: self.nodes.len(),
            error,
        }
    }

    /// The input with every step taken or waiting.
    fn frame<'a>(
        &'a self,
        input: Input<'a>,
        draws: Draws,
        scratch: &mut Scratch,
    ) -> Result<Frame<'a>, PlanError> {
        let first = self.nodes.first().map(|node| &node.step);
        let (mut frame, done) = match (input, first) {
            (Input::Bytes(bytes), Some(Step::Decode(options))) => {
                (Frame::new(Cow::Owned(decode::decode(bytes, options)?)), 1)
            }
            (Input::Bytes(_), step) => {
                return Err(PlanError::NeedsDecode {
                    step: step.map_or("Compose", Step::name),
                });
            }
            (Input::Picture(_), Some(Step::Decode(_))) => return Err(PlanError::Decoded),
            (Input::Picture(picture), _) => (Frame::new(Cow::Borrowed(picture)), 0),
        };
        for (position, node) in self.nodes.iter().enumerate().skip(done) {
            frame
                .apply(node, draws, scratch)
                .map_err(|error| PlanError::Step {
                    position: position + 1,
                    error,
                })?;
        }
        Ok(frame)
    }

    /// The first of the last steps that are made in one pass; their number where there are none.
    pub fn fused_from(&self) -> usize {
        let mut from = self.nodes.len();
        let mut resized = false;
        let mut flipped = false;
        for (place, node) in self.nodes.iter().enumerate().rev() {
            let waits = match &node.step {
                Step::Resize(_) | Step::RandomResizedCrop { .. } => {
                    let first = !resized;
                    resized = true;
                    first
                }
                // A flip before the resize has to be made before it.
                Step::Flip { .. } | Step::RandomFlip { .. } => {
                    flipped |= resized;
                    !flipped
                }
                step => step.waits(),
            };
            if !waits {
                break;
            }
            from = place;
        }
        from
    }
}
