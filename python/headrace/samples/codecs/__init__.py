"""One codec a file: how the values of a type are written and read."""

from headrace.samples.codecs.base import FieldCodec, FromJson, Resolve, mismatch
from headrace.samples.codecs.registry import codec_from_json, codec_of, register_codec

__all__ = ["FieldCodec", "FromJson", "Resolve", "codec_from_json", "codec_of", "mismatch", "register_codec"]
