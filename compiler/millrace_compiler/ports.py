"""Ports: what an operator declares, and what flows through a port of a typed graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from millrace_compiler.types import (
    BIGINT,
    HEADERS,
    INT,
    STRING,
    TIMESTAMP,
    DataType,
    windowed,
)
from millrace_compiler.windows import Window

Role = Literal["stream", "table", "global_table"]
Columns = tuple[tuple[str, DataType | None], ...]

METADATA: Columns = (
    ("timestamp", TIMESTAMP),
    ("headers", HEADERS),
    ("topic", STRING),
    ("partition", INT),
    ("offset", BIGINT),
)


@dataclass(frozen=True)
class InPort:
    """An input: its name, what fits it, and whether several edges may end there."""

    name: str
    roles: tuple[Role, ...]
    many: bool = False


@dataclass(frozen=True)
class OutPort:
    """An output; ``role`` is ``same`` where it is what comes in."""

    name: str
    role: Role | Literal["same"]


@dataclass(frozen=True)
class Port:
    """What flows out of a port. A type is ``None`` where an error hides it.

    ``key`` is the type that expressions see: for a windowed table the struct of key and window;
    ``inner_key`` is the key alone. ``key_changed``: a shuffle comes before the next grouping.
    ``history``: how far back a versioned table answers, in ms.
    """

    role: Role
    key: DataType | None
    value: DataType | None
    key_changed: bool = False
    window: Window | None = None
    inner_key: DataType | None = None
    history: int | None = None

    @property
    def shown_role(self) -> str:
        """The role as the page names it; windowed tables have one of their own."""
        return "windowed_table" if self.role == "table" and self.window else self.role

    @property
    def plain_key(self) -> DataType | None:
        """The key without its window."""
        return self.inner_key if self.window else self.key

    def record(self) -> Columns:
        """The columns that an expression over one record sees."""
        return (("key", self.key), ("value", self.value), *METADATA)

    def with_value(self, value: DataType | None) -> Port:
        """The same with another type of value."""
        return replace(self, value=value)

    def rekeyed(self, key: DataType | None, value: DataType | None) -> Port:
        """A stream with another key."""
        return Port("stream", key, value, key_changed=True)

    def to_json(self) -> dict[str, object]:
        """As the compile endpoint shows it; an unknown type is ``?``."""
        return {
            "role": self.shown_role,
            "key": self.key.text if self.key else "?",
            "value": self.value.text if self.value else "?",
            "key_changed": self.key_changed,
        }


def table_of(
    key: DataType | None,
    value: DataType | None,
    window: Window | None = None,
) -> Port:
    """A table, windowed if there is a window: then its key becomes key and window."""
    if window is None:
        return Port("table", key, value)
    seen = windowed(key) if key else None
    return Port("table", seen, value, window=window, inner_key=key)
