"""Ports: the declarations of operators, and the types of the ports of a typed graph."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from millrace_model.plans import PortJson

from millrace_compiler.parameters.windows import Window
from millrace_compiler.types.types import (
    BIGINT,
    HEADERS,
    INT,
    STRING,
    TIMESTAMP,
    DataType,
    windowed,
)

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
    """An input: its name, the roles that it accepts, and whether it accepts several edges."""

    name: str
    roles: tuple[Role, ...]
    many: bool = False


@dataclass(frozen=True)
class OutPort:
    """An output; ``role`` is ``same`` if it is the role of the input."""

    name: str
    role: Role | Literal["same"]


@dataclass(frozen=True)
class Port:
    """Role and types of an output port. A type is ``None`` if an error hides it.

    ``key`` is the type in expressions: for a windowed table, the struct of key and window;
    ``inner_key`` is the key alone. ``key_changed``: the next grouping or join repartitions the
    stream. ``history``: the history retention of a versioned table, in ms. ``versions_of``: the
    node of the versioned table as which Kafka Streams treats the records: the table itself, or one
    from which they come without a node in between that decides otherwise.
    """

    role: Role
    key: DataType | None
    value: DataType | None
    key_changed: bool = False
    window: Window | None = None
    inner_key: DataType | None = None
    history: int | None = None
    versions_of: str | None = None

    @property
    def shown_role(self) -> str:
        """The role that the page shows, which distinguishes windowed tables."""
        return "windowed_table" if self.role == "table" and self.window else self.role

    @property
    def plain_key(self) -> DataType | None:
        """The key without its window."""
        return self.inner_key if self.window else self.key

    def record(self) -> Columns:
        """The columns of an expression over one record."""
        return (("key", self.key), ("value", self.value), *METADATA)

    def with_value(self, value: DataType | None) -> Port:
        """The same port with another value type."""
        return replace(self, value=value)

    def rekeyed(self, key: DataType | None, value: DataType | None) -> Port:
        """A stream with another key and value type."""
        return Port("stream", key, value, key_changed=True)

    def to_json(self) -> PortJson:
        """The port as in the response of the compile endpoint; an unknown type is ``?``."""
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
    """A table; with a window, its key is the struct of key and window."""
    if window is None:
        return Port("table", key, value)
    seen = windowed(key) if key else None
    return Port("table", seen, value, window=window, inner_key=key)
