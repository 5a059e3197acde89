"""Which part of the global order belongs to this rank."""

from __future__ import annotations

import os
from dataclasses import dataclass

__all__ = ["Shard", "resolve_shard"]

LAUNCHERS = (
    ("RANK", "WORLD_SIZE"),  # torchrun
    ("SLURM_PROCID", "SLURM_NTASKS"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
)


@dataclass(frozen=True)
class Shard:
    """Rank `rank` of `world` takes every `world`-th place of the global order, from `rank` on."""

    rank: int = 0
    world: int = 1
    pad: bool = True

    def count(self, remaining: int) -> int:
        """Places of each rank among `remaining`: rounded up (pad) or down (drop), the same for all."""
        return -(-remaining // self.world) if self.pad else remaining // self.world


def resolve_shard(shard: object, even: str) -> Shard:
    """Reads `shard=` and `even=`.

    Raises:
        ValueError: a rank outside the world, launcher variables that are no numbers, another `even`.
        TypeError: something that is neither a pair nor "env".
    """
    if even not in ("pad", "drop"):
        raise ValueError(f"even must be 'pad' or 'drop', not {even!r}")
    if shard is None:
        return Shard(pad=even == "pad")
    if isinstance(shard, str):
        if shard != "env":
            raise ValueError(f"shard must be (rank, world_size) or 'env', not {shard!r}")
        shard = _from_environment()
    if not isinstance(shard, (tuple, list)) or len(shard) != 2:
        raise TypeError(f"shard must be (rank, world_size) or 'env', not {shard!r}")
    rank, world = shard
    if isinstance(rank, bool) or not isinstance(rank, int) or isinstance(world, bool) or not isinstance(world, int):
        raise TypeError(f"shard must hold two ints, not {shard!r}")
    if world < 1 or not 0 <= rank < world:
        raise ValueError(f"shard must have 0 <= rank < world_size, not rank {rank} of {world}")
    return Shard(rank, world, even == "pad")


def _from_environment() -> tuple[int, int]:
    for rank, world in LAUNCHERS:
        if rank in os.environ and world in os.environ:
            try:
                return int(os.environ[rank]), int(os.environ[world])
            except ValueError:
                raise ValueError(
                    f"shard='env': {rank}={os.environ[rank]!r}, {world}={os.environ[world]!r} are no numbers"
                ) from None
    return 0, 1
