"""A lens's laws are checked on samples, and what does not keep them is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from headrace import Lens, PackableSample
from headrace.errors import LensError


class Source(PackableSample):
    image: NDArray[np.uint8]
    label: str
    count: int


class View(PackableSample):
    features: NDArray[np.float32]
    label: str


sources = st.lists(
    st.builds(
        Source,
        hnp.arrays(np.uint8, hnp.array_shapes(max_dims=2, max_side=4)),
        st.text(max_size=5),
        st.integers(-9, 9),
    ),
    min_size=1,
    max_size=5,
)
renamed: Lens[Source, View] = Lens.fields(
    {"features": "image", "label": "label"}, source=Source, view=View, cast={"features": np.float32}
)


@given(sources)
def test_lenses_of_fields_keep_the_laws(samples: list[Source]) -> None:
    assert renamed.check(samples), str(renamed.check(samples))
    assert Lens.identity(Source).check(samples)
    assert Lens.structural(Source, Source).check(samples)
    assert (Lens.identity(Source) | renamed).check(samples) and (renamed | Lens.identity(View)).check(samples)


samples = [Source(np.full(3, n, np.uint8), str(n), n) for n in range(3)]


@pytest.mark.parametrize(
    ("put", "laws"),
    [
        (lambda view, source: source, {"PutGet"}),
        (lambda view, source: Source(source.image, view, 0), {"GetPut"}),
        (lambda view, source: Source(source.image, view, source.count + 1), {"GetPut", "PutPut"}),
        (lambda view, source: Source(source.image, view, source.count), set()),
    ],
)
def test_each_law_is_told_by_its_name(put: Any, laws: set[str]) -> None:
    lens = Lens(lambda source: source.label, put, source_type=Source, view_type=str)
    report = lens.check(samples)
    assert {violation.law for violation in report.violations} == laws and bool(report) == (not laws)
    if laws:
        first = report.violations[0]
        assert first.sample in samples and first.expected != first.found and first.law in str(report)
    assert report.samples == 3


def test_a_lens_without_a_putter_says_so() -> None:
    lens = Lens(lambda source: source.label, source_type=Source, view_type=str)
    report = lens.check(samples)
    assert not report and not report.violations and "has no putter" in report.note and "has no putter" in str(report)
    with pytest.raises(LensError, match="has no putter: define one with"):
        lens.put("x", samples[0])
    assert not (lens | Lens.identity(str)).has_putter


def test_no_sample_proves_nothing() -> None:
    assert not renamed.check([]) and renamed.check([]).note == "no sample was given"


def test_violations_are_bounded() -> None:
    lens = Lens(lambda source: source.label, lambda view, source: source, source_type=Source, view_type=str)
    many = [Source(np.zeros(1, np.uint8), str(n), n) for n in range(100)]
    report = lens.check(many)
    assert report.count == 100 and len(report.violations) == 20
