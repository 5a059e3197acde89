"""Every type that a field may have: written as plain values, read back, refused when wrong."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, NamedTuple, NewType, NotRequired, Optional, TypedDict, Union

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import headrace
from headrace import EncodedImage, FieldCodec, PackableSample, Schema, Shape, _native
from headrace.errors import SampleError, SchemaError
from headrace.samples import codecs
from headrace.samples.equality import same


class Color(enum.Enum):
    RED = "red"
    GREEN = (0, 255, 0)


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Box(PackableSample):
    corner: tuple[float, float]
    label: str = "none"


class Options(TypedDict):
    name: str
    size: NotRequired[int]


Width = NewType("Width", int)
ZONE = datetime.timezone(datetime.timedelta(hours=2))
NOW = datetime.datetime(2026, 1, 2, 3, 4, 5, 678, ZONE)

# annotation, value, what is on the wire
CASES: list[tuple[Any, Any, Any]] = [
    (str, "é", "é"),
    (int, 2**64 - 1, 2**64 - 1),
    (int, np.int32(-5), -5),
    (float, 0.5, 0.5),
    (float, 3, 3.0),
    (float, np.float32(0.5), 0.5),
    (bool, np.bool_(True), True),
    (bytes, b"\x00", b"\x00"),
    (bytes, bytearray(b"ab"), b"ab"),
    (Width, 3, 3),
    (Any, {"a": [1, None, "x", b"y", {"b": 2.5}]}, {"a": [1, None, "x", b"y", {"b": 2.5}]}),
    (dict, {"a": 1}, {"a": 1}),
    (list, [1, "a"], [1, "a"]),
    (datetime.datetime, NOW, "2026-01-02T03:04:05.000678+02:00"),
    (datetime.date, NOW.date(), "2026-01-02"),
    (datetime.time, datetime.time(1, 2), "01:02:00"),
    (Color, Color.RED, "red"),
    (Color, Color.GREEN, "GREEN"),
    (Level, Level.HIGH, 2),
    (Literal["a", 1, True, None], 1, 1),
    (Literal["a", 1, True, None], True, True),
    (Literal["a", 1, True, None], None, None),
    (list[int], [1, 2], [1, 2]),
    (Sequence[str], ["a"], ["a"]),
    (tuple[int, ...], (1, 2), [1, 2]),
    (tuple[int, str], (1, "a"), [1, "a"]),
    (set[str], {"b", "a"}, ["a", "b"]),
    (frozenset[int], frozenset({300, 2}), [2, 300]),
    (dict[str, list[bool]], {"a": [True]}, {"a": [True]}),
    (dict[int, str], {-1: "a"}, {"-1": "a"}),
    (Mapping[Level, int], {Level.LOW: 1}, {"1": 1}),
    (dict[datetime.date, int], {NOW.date(): 1}, {"2026-01-02": 1}),
    (str | None, None, None),
    (Optional[int], 3, 3),  # noqa: UP045
    (Union[int, str, None], "a", "a"),  # noqa: UP007
    (float | int, 3, 3),
    (float | int, 3.0, 3.0),
    (list[Color | None], [Color.RED, None], ["red", None]),
    (Box, Box((1.0, 2.0)), {"corner": [1.0, 2.0], "label": "none"}),
    (list[Box], [Box((0.0, 0.0), "x")], [{"corner": [0.0, 0.0], "label": "x"}]),
    (Options, {"name": "a"}, {"name": "a"}),
    (Options, {"name": "a", "size": 3}, {"name": "a", "size": 3}),
    (EncodedImage, EncodedImage(b"\xff\xd8"), b"\xff\xd8"),
    (Annotated[int, "a note"], 3, 3),
]


@pytest.mark.parametrize(("annotation", "value", "wire"), CASES, ids=[f"{a!s:.30}-{v!s:.20}" for a, v, _ in CASES])
def test_values_are_plain_on_the_wire_and_come_back(annotation: Any, value: Any, wire: Any) -> None:
    codec = codecs.codec_of(annotation)
    written = codec.encode(value)
    assert written == wire and type(written) is type(wire)
    stored = _native.unpack(_native.pack(written))
    again = codec.decode(stored)
    assert same(again, value)
    codec.check(again)
    # What is in memory already stays as it is.
    assert same(codec.decode(again), again)


@pytest.mark.parametrize("annotation", [case[0] for case in CASES])
def test_types_come_back_from_json(annotation: Any) -> None:
    codec = codecs.codec_of(annotation)
    again = codecs.codec_from_json(codec.to_json())
    assert again == codec and again.wire == codec.wire
    rebuilt = codecs.codec_of(again.annotation)
    assert rebuilt.to_json() == codec.to_json()


@pytest.mark.parametrize(
    ("annotation", "value", "message"),
    [
        (str, b"a", "expected str, found bytes of 1 bytes"),
        (int, 1.0, "expected int, found float 1.0"),
        (int, True, "expected int, found bool True"),
        (bool, 1, "expected bool, found int 1"),
        (float, "1", "expected float, found str '1'"),
        (datetime.date, NOW, "expected a date, found datetime"),
        (datetime.datetime, NOW.date(), "expected a datetime, found date"),
        (Color, "red", "expected a member of Color, found str 'red'"),
        (Literal[1], True, "expected one of 1, found bool True"),
        (Literal["a"], ["a"], "expected one of 'a', found list"),
        (list[int], (1,), "expected a list of int, found tuple"),
        (tuple[int, str], (1,), r"expected a tuple of \(int, str\)"),
        (dict[str, int], {1: 2}, "expected str, found int 1"),
        (str | int, 1.5, "expected str or int, found float 1.5"),
        (Any, {1: 2}, "a dict with strings for keys"),
        (Any, [np.zeros(2)], "give it a field with a type of its own"),
        (Box, {"corner": (1.0, 2.0)}, "expected a Box, found dict"),
        (Options, {"size": 1}, "expected str, found nothing"),
        (Options, {"name": "a", "other": 1}, "are none of its keys"),
        (EncodedImage, b"a", "expected an EncodedImage, found bytes"),
    ],
)
def test_wrong_values_are_refused(annotation: Any, value: Any, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        codecs.codec_of(annotation).encode(value)


@pytest.mark.parametrize(
    ("annotation", "stored", "message"),
    [
        (datetime.datetime, "yesterday", "expected a datetime in ISO 8601"),
        (Color, "blue", "expected a member of Color"),
        (Color, ["red"], "expected a member of Color"),
        (tuple[int, str], [1], "expected a tuple of"),
        (dict[int, str], {"x": "a"}, "expected an integer as text"),
        (NDArray[np.float32], "a", "expected an array of float32"),
        (Box, [1], "expected a Box, found list"),
        (datetime.date | int, 1.5, "expected a date or int"),
        (EncodedImage, "x", "expected an EncodedImage"),
    ],
)
def test_wrong_stored_values_are_refused(annotation: Any, stored: Any, message: str) -> None:
    with pytest.raises(SampleError, match=message):
        codecs.codec_of(annotation).decode(stored)


class Place(NamedTuple):
    x: int


@pytest.mark.parametrize(
    "annotation",
    [complex, object(), set[bytes | NDArray[np.uint8]], dict[float, int], str | datetime.date, Box | Options, type],
)
def test_types_that_cannot_be_stored_are_refused(annotation: Any) -> None:
    with pytest.raises(SchemaError):
        codecs.codec_of(annotation)


ARRAYS: list[tuple[Any, Any, bool]] = [
    (NDArray[Any], np.zeros(3, ">i2"), True),
    (NDArray, np.zeros(3), True),
    (np.ndarray, np.zeros(3), True),
    (NDArray[np.float32], np.zeros(3, ">f4"), True),
    (NDArray[np.float32], np.zeros(3), False),
    (NDArray[np.floating[Any]], np.zeros(3, np.float16), True),
    (NDArray[np.floating[Any]], np.zeros(3, int), False),
    (NDArray[np.integer], np.zeros(3, np.uint8), True),
    (NDArray[np.bool_], np.zeros(3, bool), True),
    (NDArray[np.str_], np.array(["a"]), True),
    (NDArray[np.datetime64], np.array(["2026-01-02"], "M8[D]"), True),
    (np.ndarray[tuple[int, int], np.dtype[np.uint8]], np.zeros((2, 2), np.uint8), True),
    (np.ndarray[tuple[int, int], np.dtype[np.uint8]], np.zeros(2, np.uint8), False),
    (np.ndarray[Any, np.dtype[np.uint8]], np.zeros(2, np.uint8), True),
    (Annotated[NDArray[np.uint8], Shape("H", "W", 3)], np.zeros((4, 5, 3), np.uint8), True),
    (Annotated[NDArray[np.uint8], Shape("H", "W", 3)], np.zeros((4, 5, 1), np.uint8), False),
    (Annotated[NDArray[np.uint8], Shape("H", "W", 3)], np.zeros((5, 3), np.uint8), False),
    (Annotated[NDArray[Any], Shape("N", "N")], np.zeros((3, 3)), True),
    (Annotated[NDArray[Any], Shape("N", "N")], np.zeros((3, 4)), False),
    (Annotated[NDArray[Any], Shape()], np.array(1.0), True),
    (NDArray[Any], [1], False),
    (NDArray[Any], np.float32(1), False),
]


@pytest.mark.parametrize(("annotation", "value", "fits"), ARRAYS, ids=map(str, range(len(ARRAYS))))
def test_arrays_are_held_to_dtype_and_shape(annotation: Any, value: Any, fits: bool) -> None:
    codec = codecs.codec_of(annotation)
    assert codecs.codec_from_json(codec.to_json()) == codec
    assert codecs.codec_of(codec.annotation) == codec
    if fits:
        assert same(codec.decode(codec.encode(value)), value)
    else:
        with pytest.raises(SampleError, match="expected an array of"):
            codec.encode(value)


def test_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    codec = codecs.codec_of(NDArray[ml_dtypes.bfloat16])
    value = np.arange(3).astype(ml_dtypes.bfloat16)
    assert same(codec.decode(codec.encode(value)), value)
    assert codecs.codec_from_json(codec.to_json()) == codec
    # By its size alone, as NumPy itself would write it.
    raw = b"\x03<V2\x01" + (3).to_bytes(8, "little") + value.tobytes()
    assert same(codec.decode(raw), value)


def test_type_aliases() -> None:
    namespace: dict[str, Any] = {}
    try:
        exec("type Pixels[T] = list[T]\ntype Plain = int | None", namespace)
    except SyntaxError:
        pytest.skip("Python 3.12 has `type`")
    assert codecs.codec_of(namespace["Pixels"][int]) == codecs.codec_of(list[int])
    assert codecs.codec_of(namespace["Plain"]) == codecs.codec_of(int | None)


class Celsius:
    def __init__(self, degrees: float) -> None:
        self.degrees = degrees


class CelsiusCodec(FieldCodec):
    kind = "celsius"
    wire = frozenset({"float"})
    annotation = Celsius
    text = "degrees"

    @classmethod
    def match(cls, annotation: Any, resolve: Any) -> FieldCodec | None:
        return cls() if annotation is Celsius else None

    def encode(self, value: Any) -> Any:
        if not isinstance(value, Celsius):
            raise codecs.mismatch(self.text, value)
        return value.degrees

    def decode(self, plain: Any) -> Any:
        return Celsius(plain)


def test_another_package_brings_a_codec(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib import metadata

    from headrace.samples.codecs import registry

    class Point:
        name = "celsius"

        def load(self) -> Any:
            return CelsiusCodec

    monkeypatch.setattr(registry, "CODECS", list(registry.CODECS))
    monkeypatch.setattr(registry, "loaded", False)
    monkeypatch.setattr(metadata, "entry_points", lambda group: [Point()] if group == "headrace.field_codecs" else [])

    class Weather(PackableSample):
        outside: Celsius
        all: list[Celsius | None]

    weather = Weather.from_bytes(Weather(Celsius(1.5), [None, Celsius(2.0)]).packed)
    assert weather.outside.degrees == 1.5 and weather.all[0] is None
    assert Schema.from_json(Weather.schema().to_json()) == Weather.schema()


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=9,
)


@given(
    st.lists(st.dates()),
    st.sets(st.text(max_size=5)),
    st.dictionaries(st.integers(), st.floats(allow_nan=False)),
    plain,
)
def test_collections_come_back(dates: Any, words: Any, numbers: Any, anything: Any) -> None:
    class Many(PackableSample):
        dates: list[datetime.date]
        words: set[str]
        numbers: dict[int, float]
        anything: Any

    sample = Many(dates, words, numbers, anything)
    assert headrace.unpack(Many, headrace.pack(sample), validate=True) == sample
