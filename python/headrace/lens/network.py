"""`LensNetwork`: the lenses that are known, and the ways between types."""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from headrace.errors import LensError
from headrace.lens.fields import dict_lens, structural
from headrace.lens.lens import Lens, name_of
from headrace.samples import DictSample
from headrace.samples.packable import is_packable

__all__ = ["LensNetwork"]


class LensNetwork:
    """The lenses of this process. `LensNetwork()` is always the one that `@lens` registers in.

    There is a lens from `DictSample` to every packable class, unless another is registered in its place.
    """

    shared: ClassVar[LensNetwork | None] = None
    lock: threading.Lock
    lenses: dict[tuple[Any, Any], Lens[Any, Any]]

    def __new__(cls) -> LensNetwork:
        if cls.shared is None:
            cls.shared = cls.empty()
        return cls.shared

    @classmethod
    def empty(cls) -> LensNetwork:
        """A network of its own."""
        made = object.__new__(cls)
        made.lock = threading.Lock()
        made.lenses = {}
        return made

    def register(self, lens: Lens[Any, Any]) -> None:
        """Makes a lens known for its pair of types; the latest counts."""
        with self.lock:
            self.lenses[lens.source_type, lens.view_type] = lens

    def find(self, source: Any, view: Any, *, path: bool = False) -> Lens[Any, Any]:
        """The lens from one type to another: a registered one, else a structural one, else a path when asked.

        Args:
            source, view: the types.
            path: also take the shortest chain of registered lenses.

        Raises:
            LensError: there is none, with what stands in the way, or there are two shortest paths, with both.
        """
        with self.lock:
            known = dict(self.lenses)
        if (source, view) in known:
            registered: Lens[Any, Any] = known[source, view]
            return registered
        if source is view:
            return Lens.identity(source)
        if source is DictSample and is_packable(view):
            return dict_lens(view)
        try:
            return structural(source, view)
        except LensError as error:
            why = str(error)
        if path and (found := shortest(known, source, view)):
            whole: Lens[Any, Any] = found[0]
            for step in found[1:]:
                whole = whole | step
            return whole
        ways = [str(lens) for (begin, _), lens in known.items() if begin is source]
        raise LensError(
            f"no lens from {name_of(source)} to {name_of(view)} is registered; from {name_of(source)} there are "
            f"{ways}; {why}" + ("" if path else "; a chain of lenses is looked for with path=True")
        )


def shortest(known: dict[tuple[Any, Any], Lens[Any, Any]], source: Any, view: Any) -> list[Lens[Any, Any]]:
    """The shortest chain, breadth first; every chain of that length is kept, so that two are seen."""
    paths: dict[Any, list[list[Lens[Any, Any]]]] = {source: [[]]}
    seen = {source}
    while paths and view not in paths:
        following: dict[Any, list[list[Lens[Any, Any]]]] = {}
        for (begin, end), lens in known.items():
            if begin in paths and end not in seen:
                # Two of each are enough to tell that the way is not the only one.
                ways = following.setdefault(end, [])
                ways.extend([*before, lens] for before in paths[begin][: 2 - len(ways)])
        seen |= following.keys()
        paths = following
    found = paths.get(view, [])
    if len(found) > 1:
        listed = "; ".join(" | ".join(step.__name__ for step in way) for way in found)
        raise LensError(
            f"two shortest paths lead from {name_of(source)} to {name_of(view)}: {listed}. Compose the one that you "
            f"mean with `|` and register it"
        )
    return found[0] if found else []
