"""`EncodedImage`: an image file's bytes, decoded when asked."""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["EncodedImage"]


class EncodedImage:
    """The bytes of a JPEG, PNG, WebP, GIF, TIFF or BMP file.

    Immutable and hashable; equal where the bytes are.

    Example:
        >>> from headrace import EncodedImage
        >>> picture = EncodedImage(b"...")
        >>> bytes(picture)
        b'...'
    """

    __slots__ = ("data",)

    data: bytes

    def __init__(self, data: bytes | bytearray | memoryview) -> None:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError(f"expected the bytes of an image file, found {type(data).__name__}")
        object.__setattr__(self, "data", bytes(data))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an EncodedImage does not change: make another")

    def decode(self) -> Any:
        """The pixels, a `headrace.Image`.

        Raises:
            DecodeError: the bytes are no image that headrace reads.
        """
        image: Any = importlib.import_module("headrace.images").Image
        return image.decode(self.data)

    def __bytes__(self) -> bytes:
        return self.data

    def __len__(self) -> int:
        return len(self.data)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EncodedImage) and self.data == other.data

    def __hash__(self) -> int:
        return hash(self.data)

    def __reduce__(self) -> tuple[Any, ...]:
        return EncodedImage, (self.data,)

    def __repr__(self) -> str:
        return f"EncodedImage({len(self.data)} bytes)"
