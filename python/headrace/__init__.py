"""A data loader with PyTorch's interface whose workers are threads."""

from headrace import errors
from headrace.images import Image, ImageBatch, ImageCollator
from headrace.lens import FieldsLens, LawReport, Lens, LensNetwork, lens
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
    DictSample,
    EncodedImage,
    Field,
    FieldCodec,
    PackableSample,
    SampleBatch,
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
    "DictSample",
    "EncodedImage",
    "Failure",
    "Field",
    "FieldCodec",
    "FieldsLens",
    "FileDataset",
    "HttpDataset",
    "Image",
    "ImageBatch",
    "ImageCollator",
    "LawReport",
    "Lens",
    "LensNetwork",
    "MapDataset",
    "PackableSample",
    "Permutation",
    "PyAsyncDataset",
    "PyDataloader",
    "PyDataset",
    "SampleBatch",
    "Schema",
    "Shape",
    "Stats",
    "default_collate",
    "errors",
    "field",
    "lens",
    "pack",
    "packable",
    "sample_rng",
    "schema",
    "unpack",
]
__version__ = "0.1.0"
