"""`field`: what a field says beyond its type."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

__all__ = ["MEMBER", "field"]

MEMBER = "headrace.member"
DESCRIPTION = "headrace.description"


def field(
    *,
    member: str | None = None,
    description: str | None = None,
    default: Any = dataclasses.MISSING,
    default_factory: Callable[[], Any] | Any = dataclasses.MISSING,
    init: bool = True,
    repr: bool = True,
    compare: bool = True,
    hash: bool | None = None,
    kw_only: bool | Any = dataclasses.MISSING,
    metadata: dict[str, Any] | None = None,
) -> Any:
    """A field of a packable class: `dataclasses.field`, and where its value lies in a tar that others wrote.

    Args:
        member: the extension of the member that holds it in a WebDataset tar ("jpg"); the field's name otherwise.
        description: a sentence for the schema.
        default: value where none is given or stored.
        default_factory: makes that value, anew each time.
        init, repr, compare, hash, kw_only, metadata: as for `dataclasses.field`. A field that `__init__` does not take
            (`init=False`) is not stored.

    Example:
        >>> from headrace import EncodedImage, field, packable
        >>> @packable
        ... class Photograph:
        ...     image: EncodedImage = field(member="jpg")
        ...     label: int = field(member="cls", default=-1)
    """
    told = dict(metadata or {})
    if member is not None:
        told[MEMBER] = member
    if description is not None:
        told[DESCRIPTION] = description
    made: Any = dataclasses.field(
        default=default,
        default_factory=default_factory,
        init=init,
        repr=repr,
        compare=compare,
        hash=hash,
        kw_only=kw_only,
        metadata=told,
    )
    return made
