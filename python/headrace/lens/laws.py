"""The laws of a lens, on samples.

    GetPut   put(get(s), s) == s                what was not changed stays
    PutGet   get(put(v, s)) == v                what was put is there
    PutPut   put(w, put(v, s)) == put(w, s)     the last put alone counts

Source: Foster et al., "Combinators for bidirectional tree transformations", TOPLAS 29(3), 2007.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headrace.samples.equality import same

if TYPE_CHECKING:
    from headrace.lens.lens import Lens

__all__ = ["LawReport", "Violation", "check"]

LISTED = 20


@dataclass(frozen=True)
class Violation:
    """A law that does not hold: its name, the sample it was tried on, what it promises and what came."""

    law: str
    sample: Any
    expected: Any
    found: Any


@dataclass
class LawReport:
    """What `Lens.check` found. True where every law held on at least one sample.

    Attributes:
        samples: how many were tried.
        violations: the first 20.
        count: how many there were.
        note: why the laws could not be tried, empty where they were.
    """

    samples: int = 0
    violations: list[Violation] = field(default_factory=list)
    count: int = 0
    note: str = ""

    def __bool__(self) -> bool:
        return self.samples > 0 and not self.count and not self.note

    def compare(self, law: str, sample: Any, expected: Any, found: Any) -> None:
        if not same(expected, found):
            self.count += 1
            if len(self.violations) < LISTED:
                self.violations.append(Violation(law, sample, expected, found))

    def __str__(self) -> str:
        if self.note:
            return self.note
        if not self.count:
            return f"GetPut, PutGet and PutPut hold on {self.samples} samples"
        first = self.violations[0]
        return (
            f"{self.count} violations on {self.samples} samples; the first, of {first.law}: "
            f"expected {first.expected!r}, found {first.found!r}"
        )


def check(lens: Lens[Any, Any], samples: Iterable[Any]) -> LawReport:
    """Tries the laws on each sample, with the views of the two after it as the views to put."""
    report = LawReport()
    sources = list(samples)
    if not lens.has_putter:
        report.note = f"{lens} has no putter: there is nothing to hold it to"
        return report
    if not sources:
        report.note = "no sample was given"
    for place, source in enumerate(sources):
        report.samples += 1
        one = lens.get(sources[(place + 1) % len(sources)])
        two = lens.get(sources[(place + 2) % len(sources)])
        report.compare("GetPut", source, source, lens.put(lens.get(source), source))
        put = lens.put(one, source)
        report.compare("PutGet", source, one, lens.get(put))
        report.compare("PutPut", source, lens.put(two, source), lens.put(two, put))
    return report
