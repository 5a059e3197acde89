"""A data loader with PyTorch's interface whose workers are threads."""

from headrace import errors
from headrace.lens import FieldsLens, LawReport, Lens, LensNetwork, lens
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

__all__ = [
    "DataLoader",
    "DictSample",
    "EncodedImage",
    "Failure",
    "Field",
    "FieldCodec",
    "FieldsLens",
    "LawReport",
    "Lens",
    "LensNetwork",
    "MapDataset",
    "PackableSample",
    "Permutation",
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
