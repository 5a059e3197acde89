"""`ImageCollator`: the images of a batch into one buffer, by one native call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headrace._native import BufferPool, Image, ImageBatch

__all__ = ["ImageCollator"]

LAYOUTS = ("NCHW", "NHWC")
DTYPES = ("uint8", "uint16", "float32")


class ImageCollator:
    """Collates `Image` objects into one `ImageBatch`; give it to a loader as `collate_fn`.

    Items are images, or tuples `(image, metadata, ...)`: then the result is `(batch, [metadata of each item], ...)`.
    The copy runs without the interpreter, and one collator may serve any number of threads.

    Args:
        layout: `"NCHW"` or `"NHWC"`, whatever layout the images have.
        dtype: `"uint8"`, `"uint16"` or `"float32"` checks the type of the images; None takes any one of them.
        buffers: how many dropped batches' buffers to keep for the next ones. A buffer comes back only when the batch
            and every view of it are gone; with none free a new one is made, so holding batches costs only memory.

    Raises:
        ValueError: an argument, an image's dtype, unequal shapes, or no items.
        TypeError: an item that is no `Image`.

    Example:
        >>> import numpy as np
        >>> from headrace import Image, ImageCollator
        >>> images = [Image.from_array(np.zeros((4, 6, 3), np.uint8)) for _ in range(2)]
        >>> ImageCollator()(images).shape
        (2, 3, 4, 6)
    """

    def __init__(self, layout: str = "NCHW", dtype: str | None = None, buffers: int = 0) -> None:
        if layout not in LAYOUTS:
            raise ValueError(f"layout must be one of {LAYOUTS}, found {layout!r}")
        if dtype is not None and dtype not in DTYPES:
            raise ValueError(f"dtype must be None or one of {DTYPES}, found {dtype!r}")
        if isinstance(buffers, bool) or not isinstance(buffers, int) or buffers < 0:
            raise ValueError(f"buffers must be an integer of at least 0, found {buffers!r}")
        self.layout = layout
        self.dtype = dtype
        self.buffers = buffers
        self._pool = BufferPool(buffers)

    def __call__(self, items: Sequence[Any]) -> Any:
        if len(items) == 0:
            raise ValueError("a batch needs at least one image, found no items")
        if not isinstance(items[0], tuple):
            return self._stack(items)
        if any(not isinstance(item, tuple) or len(item) != len(items[0]) for item in items):
            raise ValueError("the items of a batch must all be images, or tuples (image, metadata, ...) of one length")
        images, *metadata = zip(*items, strict=True)
        return (self._stack(images), *(list(values) for values in metadata))

    def _stack(self, images: Sequence[Any]) -> ImageBatch:
        for place, image in enumerate(images):
            if not isinstance(image, Image):
                raise TypeError(
                    f"ImageCollator takes Image objects, found {type(image).__name__} as item {place}; "
                    "decode bytes with transforms.Decode(), wrap arrays with Image.from_array"
                )
            if self.dtype is not None and image.dtype != self.dtype:
                raise ValueError(f"expected images of {self.dtype}, found {image.dtype} as item {place}")
        return self._pool.stack(list(images), self.layout)

    def __repr__(self) -> str:
        return f"ImageCollator(layout={self.layout!r}, dtype={self.dtype!r}, buffers={self.buffers})"

    def __getstate__(self) -> dict[str, Any]:
        return {"layout": self.layout, "dtype": self.dtype, "buffers": self.buffers}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]
