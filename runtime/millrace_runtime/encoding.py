"""Values as the bytes of a format, by the operator's own codecs: for records that people write."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from millrace_compiler.diagnostics import Diagnostics
from millrace_compiler.registries import DEFAULT, read_formats
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime import columns
from millrace_runtime.errors import MillraceError
from millrace_runtime.formats import Format


def encode(spark: SparkSession, request: Mapping[str, Any]) -> dict[str, Any]:
    """`{"bytes": [...]}` in Base64, null for null, of the `texts` of a request in its `format`.

    Each text is JSON. The schema of a registry is the latest of the subject; it is asked for no
    more often than `DEFAULT` does. Raises MillraceError with `format_unusable` for a format whose
    schema cannot be had, and `value_unfit` for a value that is not of its type.
    """
    report = Diagnostics()
    (found,) = read_formats({"format": request["format"]}, DEFAULT, report).values()
    for fault in report:
        raise MillraceError("format_unusable", f"{fault.message} {fault.hint}")
    if found.type is None:
        raise MillraceError("format_unusable", f"The format {found.name} needs a schema.")
    typed: Format = {"format": "json", "schema": found.type.schema}
    value = columns.decode(F.col("text").cast("BINARY"), typed)
    try:
        encoded = columns.encode(value, {**found.to_json(), **_registered(request["format"])})
    except MillraceError as error:
        raise MillraceError("format_unusable", f"{error.message}.") from None
    tried = columns.attempt(encoded, "format", "value")
    rows = [(text,) for text in request["texts"]]
    frame = spark.createDataFrame(rows, "text STRING").select(tried.alias("tried"))
    made = frame.select(F.base64("tried.value"), "tried.fault").collect()
    for _, text in made:
        if text is not None:
            fault = json.loads(text)
            if fault["kind"] == "registry":
                raise MillraceError("format_unusable", f"{fault['message']}.")
            raise MillraceError(
                "value_unfit", f"A value does not fit the format {found.name}: {fault['message']}."
            )
    return {"bytes": [each for each, _ in made]}


def _registered(format: Mapping[str, str]) -> dict[str, Any]:
    """Text and number of a schema that only a registry has, so that no value asks for them."""
    if "schema" in format or "registry" not in format:
        return {}
    latest = DEFAULT.latest(format["registry"], format["subject"])
    return {"schema": latest.text, "imported": latest.imported, "id": latest.id}
