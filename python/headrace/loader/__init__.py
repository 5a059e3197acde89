"""The loader: what a batch is, who makes it, and how far an epoch has come."""

from headrace.draws import sample_rng
from headrace.loader.collate import default_collate
from headrace.loader.dataloader import DataLoader
from headrace.loader.dataset import MapDataset
from headrace.loader.failures import Failure
from headrace.loader.statistics import Stats

PyDataloader = DataLoader
PyDataset = MapDataset

__all__ = ["DataLoader", "Failure", "MapDataset", "PyDataloader", "PyDataset", "Stats", "default_collate", "sample_rng"]
