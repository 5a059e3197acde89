"""The loader: what a batch is, who makes it, and how far an epoch has come."""

from headrace.draws import sample_rng
from headrace.loader.collate import default_collate
from headrace.loader.dataloader import DataLoader
from headrace.loader.dataset import AsyncDataset, MapDataset
from headrace.loader.failures import Failure
from headrace.loader.statistics import Stats

PyDataloader = DataLoader
PyDataset = MapDataset
PyAsyncDataset = AsyncDataset

__all__ = [
    "AsyncDataset",
    "DataLoader",
    "Failure",
    "MapDataset",
    "PyAsyncDataset",
    "PyDataloader",
    "PyDataset",
    "Stats",
    "default_collate",
    "sample_rng",
]
