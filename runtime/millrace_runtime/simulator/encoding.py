"""Encoding of values that people enter into the bytes of a format, by the operator's codecs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.inference.registries import DEFAULT, read_formats
from millrace_model.records import EncodedBytes, EncodeRequest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime import columns
from millrace_runtime.errors import MillraceError
from millrace_runtime.formats import Format


def encode(spark: SparkSession, request: EncodeRequest) -> EncodedBytes:
    """Encode the `texts` of a request in its `format`: `{"bytes": [...]}` in Base64 or null.

    Each text is JSON. The schema of a registry is the latest of the subject, cached by `DEFAULT`.
    Raises MillraceError `format_unusable` for a format whose schema is not available, and
    `value_unfit` for a value that is not of its type.
    """
    report = Diagnostics()
    (found,) = read_formats({"format": request["format"]}, DEFAULT, report).values()
    for fault in report:
        raise _unusable(f"{fault.message} {fault.hint}", fault.code, fault.data)
    if found.type is None:
        facts = {"format": found.name}
        message = f"The format {found.name} needs a schema."
        raise _unusable(message, "format_schema_or_registry", facts)
    typed: Format = {"format": "json", "schema": found.type.schema}
    value = columns.decode(F.col("text").cast("BINARY"), typed)
    try:
        encoded = columns.encode(
            value, cast(Format, {**found.to_json(), **_registered(request["format"])})
        )
    except MillraceError as error:
        raise MillraceError("format_unusable", f"{error.message}.", cause=error) from None
    tried = columns.attempt(encoded, "format", "value")
    rows = [(text,) for text in request["texts"]]
    frame = spark.createDataFrame(rows, "text STRING").select(tried.alias("tried"))
    made = frame.select(F.base64("tried.value"), "tried.fault").collect()
    for _, text in made:
        if text is not None:
            fault = json.loads(text)
            cause = MillraceError.of_cause(fault.get("cause"))
            if fault["kind"] == "registry":
                raise MillraceError("format_unusable", f"{fault['message']}.", cause=cause)
            raise MillraceError(
                "value_unfit",
                f"A value does not fit the format {found.name}: {fault['message']}.",
                facts={"format": found.name, "reason": fault["message"]},
                cause=cause,
            )
    return {"bytes": [each for each, _ in made]}


def _unusable(message: str, cause: str, facts: Mapping[str, object]) -> MillraceError:
    why = MillraceError(cause, message, facts=facts)
    return MillraceError("format_unusable", message, cause=why)


def _registered(format: Format) -> dict[str, object]:
    """Return text and id of a registry's schema, so that it is not requested for each value."""
    if "schema" in format or "registry" not in format:
        return {}
    latest = DEFAULT.latest(format["registry"], format["subject"])
    return {"schema": latest.text, "imported": latest.imported, "id": latest.id}
