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
    """`{"bytes": [...]}` in Base64, null for null, of the `values` of a request in its `format`.

    The schema of a registry is the latest of the subject. Raises MillraceError with the diagnostic
    of the format, and `value_unfit` for a value that is not of its type.
    """
    report = Diagnostics()
    (found,) = read_formats({"format": request["format"]}, DEFAULT, report).values()
    for fault in report:
        raise MillraceError(fault.code, f"{fault.message} {fault.hint}")
    if found.type is None:
        raise MillraceError("format", f"The format {found.name} needs a schema.")
    texts = [(None if each is None else json.dumps(each),) for each in request["values"]]
    typed: Format = {"format": "json", "schema": found.type.schema}
    value = columns.decode(F.col("text").cast("BINARY"), typed)
    tried = columns.attempt(columns.encode(value, found.to_json()), "format", "value")
    frame = spark.createDataFrame(texts, "text STRING").select(tried.alias("tried"))
    rows = frame.select(F.base64("tried.value"), "tried.fault").collect()
    for _, fault in rows:
        if fault is not None:
            reason = json.loads(fault)["message"]
            raise MillraceError(
                "value_unfit", f"A value does not fit the format {found.name}: {reason}."
            )
    return {"bytes": [encoded for encoded, _ in rows]}
