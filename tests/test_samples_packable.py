"""`packable`: a class into a dataclass with bytes, a schema and an equality that knows arrays."""

from __future__ import annotations

import dataclasses
import pickle
from typing import TYPE_CHECKING, Any, ClassVar, Optional

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace import PackableSample, field, packable
from headrace.errors import SampleError, SchemaError

if TYPE_CHECKING:
    from decimal import Decimal


@packable
class Picture:
    image: NDArray[np.uint8]
    label: str
    weight: float = 1.0
    mask: Optional[NDArray[Any]] = None  # noqa: UP045
    tags: list[str] = field(default_factory=list)


@packable(frozen=True)
class Frozen:
    x: int


class Base(PackableSample):
    first: int
    second: str = "b"


class Derived(Base):
    third: NDArray[np.float32] | None = None


def picture() -> Picture:
    return Picture(np.arange(12, dtype=np.uint8).reshape(3, 4), "x")


def test_bytes_give_the_sample_back() -> None:
    sample = picture()
    again = headrace.unpack(Picture, headrace.pack(sample))
    assert again == sample and again is not sample
    assert again.image.flags.writeable and again.image.flags.aligned and again.image.base is None
    assert Picture.from_bytes(sample.packed) == sample
    assert Picture.from_data({"image": sample.image, "label": "x"}) == sample


def test_equality_knows_arrays() -> None:
    one, other = picture(), picture()
    assert one == other
    other.image[0, 0] = 99
    assert one != other
    assert Picture(one.image.astype(np.int64), "x") != one  # type: ignore[arg-type]
    assert one != "x" and one.__eq__("x") is NotImplemented
    with pytest.raises(TypeError):
        hash(one)
    assert hash(Frozen(1)) == hash(Frozen(1))


def test_annotations_are_resolved_inside_a_function() -> None:
    class Inner(PackableSample):
        x: int

    @packable
    class Outer:
        inner: Inner
        more: list[Inner]
        none: Inner | None = None

    sample = Outer(Inner(1), [Inner(2), Inner(3)])
    assert headrace.unpack(Outer, headrace.pack(sample)) == sample


def test_a_class_may_hold_itself() -> None:
    class Tree(PackableSample):
        name: str
        children: list[Tree] = field(default_factory=list)

    tree = Tree("a", [Tree("b", [Tree("c")]), Tree("d")])
    assert Tree.from_bytes(tree.packed) == tree


def test_inheritance_defaults_and_keywords() -> None:
    sample = Derived(1, third=np.ones(2, np.float32))
    assert Derived.from_bytes(sample.packed) == sample
    assert list(Derived.schema().fields) == ["first", "second", "third"]
    assert list(Base.schema().fields) == ["first", "second"]
    assert isinstance(sample, Base) and isinstance(sample, PackableSample)
    assert isinstance(picture(), PackableSample) and issubclass(Picture, PackableSample)
    assert not isinstance(3, PackableSample)

    class Keywords(PackableSample, kw_only=True):
        a: int = 1
        b: str

    assert Keywords.from_bytes(Keywords(b="x").packed) == Keywords(a=1, b="x")


def test_slots_and_dataclasses() -> None:
    @packable(slots=True)
    class Slots:
        packed: int
        x: NDArray[np.int16]

    sample = Slots(3, np.zeros(2, np.int16))
    assert headrace.unpack(Slots, headrace.pack(sample)) == sample and not hasattr(sample, "__dict__")

    @packable
    @dataclasses.dataclass
    class Already:
        x: int
        y: list[int] = dataclasses.field(default_factory=list)

    assert headrace.unpack(Already, headrace.pack(Already(1))) == Already(1)


def test_no_field_name_is_reserved() -> None:
    @packable
    class Names:
        packed: str
        keys: int
        schema: bytes
        as_wds: float
        from_bytes: NDArray[np.int64]
        from_data: bool = True

    sample = Names("p", 1, b"s", 2.0, np.arange(3))
    assert (sample.packed, sample.keys, sample.schema, sample.from_data) == ("p", 1, b"s", True)
    again = headrace.unpack(Names, headrace.pack(sample))
    assert again == sample
    assert list(headrace.schema(Names).fields) == ["packed", "keys", "schema", "as_wds", "from_bytes", "from_data"]

    class Derived(PackableSample):
        packed: str
        schema: int  # type: ignore[assignment]

    other = Derived("p", 2)
    assert headrace.unpack(Derived, headrace.pack(other)) == other and other.packed == "p"


def test_class_variables_and_computed_fields_are_not_stored() -> None:
    @packable
    class Computed:
        limit: ClassVar[int] = 3
        x: int
        double: int = field(init=False, default=0)

        def __post_init__(self) -> None:
            self.double = 2 * self.x

    assert list(headrace.schema(Computed).fields) == ["x"]
    assert headrace.unpack(Computed, headrace.pack(Computed(4))).double == 8


def test_what_cannot_be_stored_is_refused_with_its_field() -> None:
    with pytest.raises(SchemaError, match=r"Wrong\.value: complex is no type"):

        @packable
        class Wrong:
            value: complex

    with pytest.raises(SchemaError, match="InitVar"):

        @packable
        class Initial:
            value: dataclasses.InitVar[int]

    with pytest.raises(SchemaError, match="'Decimal' is not defined"):

        @packable
        class Checked:
            value: Decimal

    with pytest.raises(SchemaError, match=r"Objects\.value: an array of Python objects"):

        @packable
        class Objects:
            value: NDArray[np.object_]

    with pytest.raises(SchemaError, match=r"Ambiguous\.value: .* cannot be told apart"):

        @packable
        class Ambiguous:
            value: bytes | NDArray[np.uint8]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": 3}, "Picture.label: expected str, found int 3"),
        ({"image": [1, 2]}, r"Picture.image: expected an array of uint8, found list \[1, 2\]: convert it"),
        ({"image": np.zeros(3)}, r"Picture.image: expected an array of uint8, found an array of float64 \(3,\)"),
        ({"weight": True}, "Picture.weight: expected float, found bool True"),
        ({"tags": ["a", 1]}, r"Picture.tags\[1\]: expected str, found int 1"),
        ({"mask": np.array([None])}, "Picture.mask: expected an array of numbers"),
    ],
)
def test_writing_checks_each_value(change: dict[str, Any], message: str) -> None:
    sample = dataclasses.replace(picture(), **change)  # type: ignore[type-var]
    with pytest.raises(SampleError, match=message) as caught:
        headrace.pack(sample)
    assert caught.value.sample_type == "Picture"
    assert caught.value.field is not None and caught.value.field.split("[")[0] in change


def test_reading_takes_defaults_and_ignores_what_it_does_not_know() -> None:
    sample = picture()
    stored = headrace._native.unpack(headrace.pack(sample))
    del stored["weight"], stored["tags"]
    stored["other"] = 1
    assert headrace.unpack(Picture, headrace._native.pack(stored)) == sample
    with pytest.raises(SampleError, match="found \\['other'\\] beside them"):
        headrace.unpack(Picture, headrace._native.pack(stored), validate=True)
    del stored["label"]
    with pytest.raises(SampleError, match=r"Picture\.label: expected str, found only the fields"):
        headrace.unpack(Picture, headrace._native.pack(stored))


def test_reading_checks_values_when_asked() -> None:
    data = headrace._native.pack({"image": headrace._native.unpack(headrace.pack(picture()))["image"], "label": 5})
    assert headrace.unpack(Picture, data).label == 5  # type: ignore[comparison-overlap]
    with pytest.raises(SampleError, match=r"Picture\.label: expected str, found int 5"):
        headrace.unpack(Picture, data, validate=True)
    with pytest.raises(SampleError, match="expected a map of fields, found list"):
        headrace.unpack(Picture, b"\x90")


def test_two_classes_of_one_name_are_two() -> None:
    def make(annotation: Any) -> Any:
        @packable
        class Same:
            value: annotation

        return Same

    one, other = make("int"), make("str")
    assert headrace.schema(one) != headrace.schema(other)
    assert headrace.schema(one) == headrace.schema(make("int"))
    with pytest.raises(SampleError):
        headrace.pack(other(3))


def test_webdataset_s_writer_takes_a_sample() -> None:
    first, second = picture().as_wds, picture().as_wds  # type: ignore[attr-defined]
    assert set(first) == {"__key__", "msgpack"} and first["msgpack"] == headrace.pack(picture())
    assert first["__key__"] != second["__key__"] and "." not in first["__key__"]


def test_samples_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(picture())) == picture()
    assert pickle.loads(pickle.dumps(Derived(1))) == Derived(1)
