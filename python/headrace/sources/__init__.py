"""Datasets whose items are bytes, fetched without the interpreter."""

from headrace.sources.file import FileDataset
from headrace.sources.http import HttpDataset

__all__ = ["FileDataset", "HttpDataset"]
