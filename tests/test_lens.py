"""Lenses: made, composed, declared, and found in the network."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace import DictSample, FieldsLens, Lens, LensNetwork, PackableSample, Shape, lens, packable
from headrace.errors import LensError, SampleError


class Source(PackableSample):
    image: NDArray[np.uint8]
    label: str
    count: int = 0


class View(PackableSample):
    features: NDArray[np.float32]
    label: str


class Label(PackableSample):
    label: str


SOURCE = Source(np.arange(4, dtype=np.uint8), "x", 3)


def test_a_function_becomes_a_lens() -> None:
    @packable
    class Inner:
        value: float

    @lens
    def scale(sample: Source) -> Inner:
        """Scaled."""
        return Inner(sample.count / 2)

    @scale.putter
    def put(view: Inner, source: Source) -> Source:
        return Source(source.image, source.label, int(view.value * 2))

    assert scale.source_type is Source and scale.view_type is Inner and scale.__doc__ == "Scaled."
    assert scale.get(SOURCE) == scale(SOURCE) == Inner(1.5)
    assert scale.put(Inner(5.0), SOURCE).count == 10
    assert LensNetwork().find(Source, Inner) is scale and scale.check([SOURCE])


@pytest.mark.parametrize("function", [lambda x: x, lambda: None])
def test_types_must_be_annotated(function: Any) -> None:
    with pytest.raises(LensError, match="annotated with its source and its view"):
        lens(function)


def test_composition() -> None:
    add = Lens(lambda x: x + 1, lambda view, source: view - 1, source_type=int, view_type=int)
    double = Lens(lambda x: 2.0 * x, lambda view, source: int(view / 2), source_type=int, view_type=float)
    for both in (add | double, double @ add):
        assert both.get(3) == 8.0 and both.put(10.0, 3) == 4
        assert both.source_type is int and both.view_type is float and both.check(range(5))
    assert (add | add | add).get(0) == 3
    with pytest.raises(LensError, match="the first gives float, the second takes int"):
        double | add


def test_fields_are_renamed_selected_and_cast() -> None:
    one = Lens.fields({"features": "image", "label": "label"}, source=Source, view=View, cast={"features": "float32"})
    view = one.get(SOURCE)
    assert view == View(np.arange(4, dtype=np.float32), "x")
    view.features[0] = 9
    back = one.put(view, SOURCE)
    assert back == Source(np.array([9, 1, 2, 3], np.uint8), "x", 3) and SOURCE.image[0] == 0
    assert one.source_fields == {"image", "label"}
    told = json.loads(json.dumps(one.to_json()))
    assert told == {
        "kind": "fields",
        "fields": {"features": "image", "label": "label"},
        "cast": {"features": "float32"},
    }
    assert FieldsLens.from_json(told, source=Source, view=View).get(SOURCE) == one.get(SOURCE)


def test_lenses_that_are_data_compose_into_one() -> None:
    one = Lens.fields({"features": "image", "label": "label"}, source=Source, view=View, cast={"features": "float32"})
    both = one | Lens.structural(View, Label)
    assert isinstance(both, FieldsLens) and both.to_json() == {"kind": "fields", "fields": {"label": "label"}}
    assert both.get(SOURCE) == Label("x") and both.put(Label("y"), SOURCE).label == "y"

    class Half(PackableSample):
        features: NDArray[np.float16]

    half = Lens.fields({"features": "features"}, source=View, view=Half, cast={"features": "float16"})
    assert not isinstance(one | half, FieldsLens)
    assert (one | half).get(SOURCE).features.dtype == np.float16


def test_fields_from_a_dict_sample() -> None:
    one = Lens.fields({"label": "text"}, source=DictSample, view=Label)
    sample = DictSample(text="a", other=1)
    assert one.get(sample) == Label("a") and one.put(Label("b"), sample) == DictSample(text="b", other=1)
    assert sample.text == "a"
    with pytest.raises(KeyError, match="no field 'text'"):
        one.get(DictSample(other=1))


def test_one_field_seen_twice_has_no_putter() -> None:
    class Twice(PackableSample):
        a: str
        b: str

    assert not Lens.fields({"a": "label", "b": "label"}, source=Source, view=Twice).has_putter


@pytest.mark.parametrize(
    ("fields", "cast", "message"),
    [
        ({"features": "nothing", "label": "label"}, {}, "Source has no field 'nothing'"),
        ({"what": "image"}, {}, "View has no field 'what'"),
        ({"features": "image", "label": "label"}, {}, "expected an array of float32, found an array of uint8"),
        ({"features": "image", "label": "count"}, {"features": "float32"}, "expected str, found int"),
        ({"label": "label"}, {}, "nothing gives the field 'features'"),
        ({"features": "image", "label": "label"}, {"label": "float32"}, "a cast is for an array field"),
        ({"features": "image", "label": "label"}, {"features": "float64"}, "expected an array of float32"),
    ],
)
def test_fields_that_do_not_fit_are_refused(fields: Any, cast: Any, message: str) -> None:
    with pytest.raises(LensError, match=message):
        Lens.fields(fields, source=Source, view=View, cast=cast)


def test_a_structural_lens_needs_every_field_of_the_view() -> None:
    assert Lens.structural(Source, Label).get(SOURCE) == Label("x")
    with pytest.raises(LensError, match=r"features: not in Source"):
        Lens.structural(Source, View)

    class Wide(PackableSample):
        image: Annotated[NDArray[Any], Shape("N")]
        label: str | None
        count: Any

    with pytest.raises(LensError, match="image: expected an array of any dtype"):
        Lens.structural(Source, Wide)

    class Wider(PackableSample):
        image: NDArray[Any]
        label: str | None

    assert Lens.structural(Source, Wider).get(SOURCE).label == "x"
    with pytest.raises(LensError, match="label: str or None may be None, str may not"):
        Lens.structural(Wider, Label)
    with pytest.raises(LensError, match="int is no packable class"):
        Lens.structural(int, Label)


def test_every_packable_has_a_lens_from_dict_sample() -> None:
    found = LensNetwork().find(DictSample, Source)
    sample = DictSample.from_bytes(SOURCE.packed)
    sample.more = 1
    assert found.get(sample) == SOURCE
    back = found.put(Source(SOURCE.image, "new"), sample)
    assert back.label == "new" and back.more == 1 and sample.label == "x"
    assert found.check([sample])
    with pytest.raises(SampleError, match=r"Source\.label: expected str, found only the fields \['image'\]"):
        found.get(DictSample(image=SOURCE.image))


A, B, C, D = (packable(type(name, (), {"__annotations__": {name.lower(): int}})) for name in "ABCD")


def to(source: Any, view: Any) -> Any:
    made: Any = Lens(lambda sample: view(1), source_type=source, view_type=view)
    made.__name__ = f"{source.__name__}{view.__name__}"
    return made


def test_the_shortest_path_is_found_when_asked() -> None:
    network = LensNetwork.empty()
    for one in (to(A, B), to(B, C), to(C, D), to(B, D), to(D, A)):
        network.register(one)
    with pytest.raises(LensError, match=r"no lens from A to D is registered; .*Lens\(AB: A -> B\).*path=True"):
        network.find(A, D)
    assert network.find(A, D, path=True).__name__ == "AB | BD"
    with pytest.raises(LensError, match="no lens from A to str"):
        network.find(A, str, path=True)
    assert network.find(A, A).get(5) == 5


def test_two_shortest_paths_are_an_error_that_lists_both() -> None:
    network = LensNetwork.empty()
    for one in (to(A, B), to(B, D), to(A, C), to(C, D)):
        network.register(one)
    with pytest.raises(LensError, match=r"two shortest paths lead from A to D: AB \| BD; AC \| CD"):
        network.find(A, D, path=True)
    network.register(to(A, D))
    assert network.find(A, D, path=True).__name__ == "AD"


def test_the_network_is_one() -> None:
    assert LensNetwork() is LensNetwork() and LensNetwork.empty() is not LensNetwork()
    assert headrace.LensNetwork is LensNetwork
