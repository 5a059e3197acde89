"""Orders in which items are visited."""

from headrace.samplers.permutation import Permutation

__all__ = ["Permutation"]
