"""Readers of Spark as sources of streams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from millrace_runtime.keywords import checked


@dataclass(frozen=True)
class Reader:
    """A streaming reader of Spark. Created by `reader`."""

    format: str
    options: Mapping[str, str] = field(default_factory=dict)
    schema: str | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, object]:
        """The parameters of the source in a document."""
        return {
            "reader": self.format,
            "reader_options": dict(self.options) or None,
            "reader_schema": self.schema,
            "reader_columns": dict(self.columns) or None,
        }


@checked
def reader(
    format: str,
    *,
    options: Mapping[str, str | int | bool] | None = None,
    schema: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Reader:
    """Return a streaming reader of a format: `parquet`, `json`, `csv`, `text`, `delta`, `rate` …

    `options`: options of Spark's reader, such as `path` and `maxFilesPerTrigger`. `schema`: the
    columns as DDL; required for files. `columns`: Spark SQL expressions over the columns for `key`,
    `value`, `timestamp` and, if needed, `headers`, `topic`, `partition` and `offset` (default: the
    columns of these names).
    """
    given = {name: _text(value) for name, value in (options or {}).items()}
    return Reader(format, given, schema, dict(columns or {}))


def _text(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
