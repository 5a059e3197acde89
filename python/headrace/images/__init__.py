"""Pictures, batches of them, and the collator that makes one of the other."""

from headrace._native import Image, ImageBatch
from headrace.images.collator import ImageCollator

__all__ = ["Image", "ImageBatch", "ImageCollator"]
