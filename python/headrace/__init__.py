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

__all__ = [
    "DataLoader",
    "EncodedImage",
    "Failure",
    "Field",
    "FieldCodec",
    "MapDataset",
    "PackableSample",
    "Permutation",
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
