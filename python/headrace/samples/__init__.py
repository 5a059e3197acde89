"""Samples: a class, its schema, and the bytes of its instances."""

from headrace.samples.batch import SampleBatch
from headrace.samples.codecs import FieldCodec, register_codec
from headrace.samples.declare import field
from headrace.samples.dict_sample import DictSample
from headrace.samples.encoded_image import EncodedImage
from headrace.samples.packable import PackableSample, pack, packable, schema, unpack
from headrace.samples.schema import Field, Schema
from headrace.samples.shape import Shape

__all__ = [
    "DictSample",
    "EncodedImage",
    "Field",
    "FieldCodec",
    "PackableSample",
    "SampleBatch",
    "Schema",
    "Shape",
    "field",
    "pack",
    "packable",
    "register_codec",
    "schema",
    "unpack",
]
