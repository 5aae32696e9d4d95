"""Input lines and output lines, and the records and rows that tasks exchange with them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Required, TypedDict

from millrace_model.documents import Format


class InputLine(TypedDict, total=False):
    """A line of input: a record, an advance of the wall clock in ms, or a restart.

    Null means the same as a missing field.
    """

    topic: str
    key: Any
    value: Any
    #: bytes in base64, instead of a value
    key_bytes: str | None
    value_bytes: str | None
    timestamp: int
    partition: int
    offset: int
    headers: dict[str, str | None]
    advance_wall_clock: int
    restart: Any


class LetterFailure(TypedDict):
    """The error of a record that became a dead letter, and the number of the input line."""

    after: int
    message: str


class OutputLine(TypedDict, total=False):
    """An output, or what a test expects of one.

    ``after`` is the number of the input line that caused it, if it is known.
    """

    after: int
    topic: Required[str]
    key: Any
    value: Any
    timestamp: int
    headers: dict[str, str | None]
    #: if it is not 0, of what a search shows
    partition: int


class LineParts(TypedDict):
    """The parts of a record of an input line; bytes are in base64."""

    partition: int
    timestamp: int
    key: str | None
    value: str | None
    headers: list[tuple[str, str | None]]


class LoggedLine(TypedDict):
    """A line that a node printed, as the operator has it."""

    level: str
    node: str | None
    message: str
    merge: int


class StoreEntry(TypedDict, total=False):
    """A row of a store; the key of a window store contains its window."""

    key: Any
    value: Any
    timestamp: int | None


class OperatorRecord(TypedDict):
    """A record for a simulated task; bytes are in base64, ``merge`` is its place among all."""

    topic: str
    partition: int
    offset: int
    timestamp: int
    merge: int
    key: str | None
    value: str | None
    headers: list[tuple[str, str | None]]


class OperatorRow(TypedDict):
    """A row that a simulated task wrote for the sink ``dest``, or a message if that is negative.

    ``key`` and ``value`` are values, the others bytes in base64.
    """

    dest: int
    merge: int
    topic: str | None
    partition: int | None
    timestamp: int
    key: Any
    value: Any
    key_bytes: str | None
    value_bytes: str | None
    partition_key: str | None
    headers: list[tuple[str, str | None]]
    #: of a record that stopped the job, as JSON
    fault: str


class LogLine(TypedDict):
    """A line that a node printed."""

    after: Annotated[int, "Number of the input line that was being processed; 0 if there was none."]
    level: str
    node: str | None
    message: str


class EncodeRequest(TypedDict):
    """A request to encode values, each as JSON, in a format."""

    do: Literal["encode"]
    format: Format
    texts: list[str]


class EncodedBytes(TypedDict):
    """Encoded values in Base64, or null."""

    bytes: list[str | None]
