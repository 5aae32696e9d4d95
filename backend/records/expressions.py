"""Spark SQL expressions that select records, evaluated by the operator in the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from accounts.models import User
from millrace_backend.errors import ApiError
from millrace_model.documents import DocumentNode, Format

from records.choices import RecordFormat
from records.codecs import Decoded, decode
from records.decoding import Reader, Refused, outputs_of, reading
from records.reading import Raw

#: maximum number of records for which an expression is evaluated at once
MOST_ASKED = 1_000
#: a guessed format has no type, so formats of text are read as STRING
_TEXTS = frozenset({RecordFormat.AUTO, RecordFormat.STRING, RecordFormat.JSON})


@dataclass(frozen=True)
class Where:
    """An expression over `key`, `value`, `timestamp`, `headers`, `topic`, `partition`, `offset`.

    Key and value have the types of the reader's formats. Without a reader, they have those of the
    chosen formats, where text and JSON are STRING.
    """

    person: User
    topic: str
    expression: str
    reader: Reader | None
    key_format: str
    value_format: str

    def accepted(self, records: Sequence[Raw]) -> list[tuple[Raw, Decoded, Decoded]]:
        """Return the records for which the expression is true, decoded.

        It counts as false for records that are not valid in the formats, and where it raises an
        error. Raises ApiError with the code `invalid_expression` and the reason, Unavailable while
        the simulator is starting.
        """
        filtering: DocumentNode = {
            "id": "where",
            "kind": "filter",
            "params": {"predicate": self.expression},
        }
        reader = self.reader
        formats: dict[str, Format] = {
            "key": _format(self.key_format),
            "value": _format(self.value_format),
            **({} if reader is None else reader.stated),
        }
        document = reading(formats["key"], formats["value"], self.topic, filtering)
        try:
            outputs = outputs_of(self.person, document, records, self.topic)
        except Refused as refused:
            if refused.diagnostic.get("node") != "where":
                raise
            raise ApiError(
                "invalid_expression",
                refused.diagnostic["message"],
                refused.diagnostic.get("hint") or "",
                fields={"where": [refused.diagnostic["message"]]},
                cause=refused.data["cause"],
            ) from None
        found = [(record, outputs.get(n)) for n, record in enumerate(records, 1)]
        return [
            (record, *self._parts(record, output)) for record, output in found if output is not None
        ]

    def _parts(self, record: Raw, output: object) -> tuple[Decoded, Decoded]:
        if self.reader is not None:
            return self.reader.parts(record, output)  # type: ignore[arg-type] # of the simulator
        return decode(record.key, self.key_format), decode(record.value, self.value_format)


def _format(name: str) -> Format:
    return {"format": "string" if name in _TEXTS else name}
