"""`EncodedImage`, the bytes of an image file, and `headrace.Image`, pixels written as an array."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from headrace.samples.array_bytes import array_from_bytes, array_to_bytes
from headrace.samples.codecs.base import FieldCodec, Resolve, mismatch
from headrace.samples.encoded_image import EncodedImage

__all__ = ["EncodedImageCodec", "ImageCodec"]


class EncodedImageCodec(FieldCodec):
    """The file's bytes as they are."""

    kind = "encoded_image"
    wire = frozenset({"bin"})
    annotation = EncodedImage

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> EncodedImageCodec | None:
        return cls() if annotation is EncodedImage else None

    def encode(self, value: Any) -> bytes:
        if not isinstance(value, EncodedImage):
            raise mismatch(self.text, value)
        return bytes(value)

    def decode(self, plain: Any) -> EncodedImage:
        if isinstance(plain, EncodedImage):
            return plain
        if not isinstance(plain, bytes):
            raise mismatch(self.text, plain)
        return EncodedImage(plain)

    @property
    def text(self) -> str:
        return "an EncodedImage"

    def local_type(self) -> dict[str, Any]:
        return {"$type": "local#primitive", "primitive": "bytes"}


class ImageCodec(FieldCodec):
    """Pixels: an array of `(height, width, channels)`."""

    kind = "image"
    wire = frozenset({"bin"})

    def __init__(self) -> None:
        self.annotation: Any = importlib.import_module("headrace.images").Image

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> ImageCodec | None:
        # Asked by name, so that a class without images loads no decoder.
        if getattr(annotation, "__name__", "") != "Image" or annotation.__module__.split(".")[0] != "headrace":
            return None
        return cls()

    def encode(self, value: Any) -> bytes:
        if not isinstance(value, self.annotation):
            raise mismatch(self.text, value)
        return array_to_bytes(np.asarray(value))

    def decode(self, plain: Any) -> Any:
        if isinstance(plain, self.annotation):
            return plain
        if not isinstance(plain, bytes):
            raise mismatch(self.text, plain)
        return self.annotation.from_array(array_from_bytes(plain))

    @property
    def text(self) -> str:
        return "an Image"

    def local_type(self) -> dict[str, Any]:
        return {"$type": "local#ndarray", "dtype": "uint8"}
