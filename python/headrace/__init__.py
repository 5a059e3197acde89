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
from headrace.samples import (
    EncodedImage,
    Field,
    FieldCodec,
    PackableSample,
    Schema,
    Shape,
    field,
    pack,
    packable,
    schema,
    unpack,
)
from headrace.sources import FileDataset, HttpDataset

__all__ = [
    "AsyncDataset",
    "DataLoader",
    "EncodedImage",
    "Failure",
    "Field",
    "FieldCodec",
    "FileDataset",
    "HttpDataset",
    "Image",
    "ImageBatch",
    "ImageCollator",
    "MapDataset",
    "PackableSample",
    "Permutation",
    "PyAsyncDataset",
    "PyDataloader",
    "PyDataset",
    "Schema",
    "Shape",
    "Stats",
    "default_collate",
    "errors",
    "field",
    "pack",
    "packable",
    "sample_rng",
    "schema",
    "unpack",
]
__version__ = "0.1.0"
