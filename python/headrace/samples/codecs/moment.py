"""datetime, date and time: ISO 8601 strings, time zone and microseconds included."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any, Self

from headrace.samples.codecs.base import FieldCodec, FromJson, Resolve, mismatch

__all__ = ["MomentCodec"]

TYPES = {"datetime": datetime.datetime, "date": datetime.date, "time": datetime.time}


class MomentCodec(FieldCodec):
    """A point in time, as `isoformat` writes it."""

    kind = "moment"
    wire = frozenset({"str"})

    def __init__(self, type_: Any) -> None:
        self.annotation = self.type = type_

    @classmethod
    def match(cls, annotation: Any, resolve: Resolve) -> MomentCodec | None:
        return cls(annotation) if any(annotation is type_ for type_ in TYPES.values()) else None

    def encode(self, value: Any) -> str:
        # A datetime is a date to isinstance, and would come back as another thing.
        if not isinstance(value, self.type) or isinstance(value, datetime.datetime) != (self.type is datetime.datetime):
            raise mismatch(self.text, value)
        text: str = value.isoformat()
        return text

    def decode(self, plain: Any) -> Any:
        if not isinstance(plain, str):
            if isinstance(plain, self.type):
                return plain
            raise mismatch(f"{self.text} in ISO 8601", plain)
        try:
            return self.type.fromisoformat(plain)
        except ValueError:
            raise mismatch(f"{self.text} in ISO 8601", plain) from None

    @property
    def text(self) -> str:
        return f"a {self.type.__name__}"

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "type": self.type.__name__}

    @classmethod
    def from_json(cls, data: Mapping[str, Any], resolve: FromJson) -> Self:
        return cls(TYPES[data["type"]])
