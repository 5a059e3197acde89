"""`Schema`: what it says, its equality, and its JSON."""

from __future__ import annotations

import datetime
import json
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

import headrace
from headrace import EncodedImage, PackableSample, Schema, Shape, field
from headrace.errors import SchemaError
from headrace.samples.schema import MISSING


class Inner(PackableSample):
    x: int


class Item(PackableSample):
    """What a test is made of."""

    image: Annotated[NDArray[np.uint8], Shape("H", "W", 3)] = field(member="png", description="the picture")
    label: str
    when: datetime.datetime
    kind: Literal["a", "b"] = "a"
    mask: NDArray[np.float32] | None = None
    tags: list[str] = field(default_factory=lambda: ["x"])
    more: dict[int, Inner] = field(default_factory=dict)
    picture: EncodedImage | None = None


def test_fields_say_what_they_are() -> None:
    schema = Item.schema()
    image, mask = schema.fields["image"], schema.fields["mask"]
    assert schema.name == "Item" and schema.description == "What a test is made of."
    assert (image.kind, image.dtype, image.shape, image.member) == ("ndarray", np.uint8, ("H", "W", 3), "png")
    assert image.default is MISSING and not image.optional and image.description == "the picture"
    assert (mask.kind, mask.dtype, mask.optional, mask.default) == ("ndarray", np.float32, True, None)
    assert schema.fields["label"].type is str and schema.fields["when"].type is datetime.datetime
    assert schema.fields["tags"].make_default() == ["x"]
    with pytest.raises(TypeError):
        schema.fields["other"] = image  # type: ignore[index]


def test_json_gives_the_schema_back() -> None:
    schema = Item.schema()
    told = json.loads(json.dumps(schema.to_json(created_at="2026-01-02T00:00:00+00:00")))
    again = Schema.from_json(told)
    assert again == schema and again.description == schema.description and again.version == "1.0.0"
    assert again.fields["tags"].make_default() == ["x"] and again.fields["kind"].default == "a"
    assert again.fields["image"].member == "png" and told["createdAt"].startswith("2026")


def test_a_schema_makes_a_class() -> None:
    made = Schema.from_json(Item.schema().to_json()).to_type()
    assert headrace.schema(made) == Item.schema() and issubclass(made, PackableSample)
    item = Item(np.zeros((2, 2, 3), np.uint8), "a", datetime.datetime(2026, 1, 2), more={1: Inner(2)})
    again = headrace.unpack(made, item.packed, validate=True)
    assert again.label == "a" and again.when == item.when and again.more[1].x == 2
    assert headrace.pack(again) == item.packed


def test_what_other_readers_of_the_form_see() -> None:
    fields = {told["name"]: told for told in Item.schema().to_json()["fields"]}
    types = {name: {k: v for k, v in told["fieldType"].items() if k != "headrace"} for name, told in fields.items()}
    assert types["image"] == {"$type": "local#ndarray", "dtype": "uint8", "shape": [None, None, 3]}
    assert types["mask"] == {"$type": "local#ndarray", "dtype": "float32"} and fields["mask"]["optional"]
    assert types["label"] == types["when"] == {"$type": "local#primitive", "primitive": "str"}
    assert types["tags"] == {"$type": "local#array", "items": {"$type": "local#primitive", "primitive": "str"}}
    assert types["picture"] == {"$type": "local#primitive", "primitive": "bytes"}


def test_schemas_of_other_writers_are_read_and_their_dtype_is_not_believed() -> None:
    schema = Schema.from_json(
        {
            "name": "X",
            "version": "1.2.3",
            "fields": [
                {"name": "a", "fieldType": {"$type": "local#ndarray", "dtype": "float32"}, "optional": False},
                {"name": "b", "fieldType": {"$type": "science.alt.dataset.schemaType#primitive", "primitive": "int"}},
                {"name": "c", "fieldType": {"$type": "local#array", "items": {"$type": "local#primitive",
                 "primitive": "str"}}, "optional": True},
                {"name": "d", "fieldType": {"$type": "local#dataframe"}},
            ],
            "$ref": "atdata://local/schema/X@1.2.3",
        }
    )  # fmt: skip
    assert schema.version == "1.2.3" and schema.fields["a"].kind == "ndarray" and schema.fields["a"].dtype is None
    assert schema.fields["b"].type is int and schema.fields["c"].optional and schema.fields["d"].type is bytes
    made = schema.to_type()
    assert headrace.unpack(made, headrace.pack(made(np.zeros(2), 1, None, b""))).b == 1


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"name": "X"},
        {"name": "X", "fields": [{"name": "a"}]},
        {"name": "X", "fields": [{"name": "a", "fieldType": {"$type": "local#what"}}]},
        {"name": "X", "fields": [{"name": "a", "fieldType": {"$type": "local#primitive", "primitive": "os"}}]},
        {"name": "X", "fields": [{"name": "a", "fieldType": {"headrace": {"type": {"kind": "what"}}}}]},
    ],
)
def test_records_that_are_none_are_refused(record: Any) -> None:
    with pytest.raises(SchemaError):
        Schema.from_json(record)


@pytest.mark.parametrize("name", ["a b", "class", "", "a;import os", "__import__('os')"])
def test_a_name_that_is_no_identifier_makes_no_class(name: str) -> None:
    told = {
        "name": "X",
        "fields": [{"name": name or "x", "fieldType": Inner.schema().to_json()["fields"][0]["fieldType"]}],
    }
    if name:
        with pytest.raises(SchemaError, match="cannot name a class or a field"):
            Schema.from_json(told).to_type()
    told["name"] = name
    with pytest.raises(SchemaError, match="cannot name a class or a field"):
        Schema.from_json({**told, "fields": []}).to_type()


def test_equality_is_of_name_and_fields() -> None:
    def make(**fields: Any) -> Schema:
        return headrace.schema(headrace.packable(type("Same", (), {"__annotations__": fields})))

    assert make(a=int) == make(a=int) and hash(make(a=int)) == hash(make(a=int))
    assert make(a=int) != make(a=str) and make(a=int, b=int) != make(b=int, a=int)
    assert make(a=int) != make(a=int | None) and make(a=NDArray[np.uint8]) != make(a=NDArray[np.int8])
    assert make(a=int) != 3
