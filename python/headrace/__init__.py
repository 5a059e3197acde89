"""A data loader with PyTorch's interface whose workers are threads."""

from headrace import errors
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
from headrace.sources import FileDataset, HttpDataset

__all__ = [
    "DataLoader",
    "Failure",
    "FileDataset",
    "HttpDataset",
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
