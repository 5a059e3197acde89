"""A data loader with PyTorch's interface whose workers are threads."""

from headrace import errors
from headrace.images import Image, ImageBatch, ImageCollator
from headrace.loader import (
    DataLoader,
    Failure,
    MapDataset,
    PyDataloader,
    PyDataset,
    Stats,
    default_collate,
    sample_rng,
)
from headrace.samplers import Permutation

__all__ = [
    "DataLoader",
    "Failure",
    "Image",
    "ImageBatch",
    "ImageCollator",
    "MapDataset",
    "Permutation",
    "PyDataloader",
    "PyDataset",
    "Stats",
    "default_collate",
    "errors",
    "sample_rng",
]
__version__ = "0.1.0"
