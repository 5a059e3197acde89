"""A data loader with PyTorch's interface whose workers are threads."""

from headrace import errors
from headrace.images import Image, ImageBatch, ImageCollator
from headrace.loader import (
    AsyncDataset,
    DataLoader,
    Failure,
    MapDataset,
    PyAsyncDataset,
    PyDataloader,
    PyDataset,
    Stats,
    default_collate,
    sample_rng,
)
from headrace.samplers import Permutation
from headrace.sources import FileDataset, HttpDataset

__all__ = [
    "AsyncDataset",
    "DataLoader",
    "Failure",
    "FileDataset",
    "HttpDataset",
    "Image",
    "ImageBatch",
    "ImageCollator",
    "MapDataset",
    "Permutation",
    "PyAsyncDataset",
    "PyDataloader",
    "PyDataset",
    "Stats",
    "default_collate",
    "errors",
    "sample_rng",
]
__version__ = "0.1.0"
