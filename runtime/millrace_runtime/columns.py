"""The operator's own Catalyst expressions as PySpark columns."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as all of PySpark writes it

from millrace_runtime.errors import MillraceError
from millrace_runtime.formats import Format

#: of the operator
PACKAGE = "org.apache.spark.sql.millrace"
#: the type of a record's headers
HEADERS = "ARRAY<STRUCT<key: STRING, value: BINARY>>"


_REMEMBERED = (
    "org.apache.spark.sql.functions",
    "org.apache.spark.api.java.JavaSparkContext",
    "org.apache.spark.api.python.PythonAccumulatorV2",
    "org.apache.spark.api.python.PythonUtils",
)


class Package:
    """The classes of a Java package, each looked up once.

    For every use of a dotted name, py4j asks Java what each part of it is; for a package, Java then
    searches all jars for a class of that name.
    """

    def __init__(self, name: str, client: Any) -> None:
        self._name = name
        self._client = client

    def __getattr__(self, name: str) -> Any:
        found = JavaClass(f"{self._name}.{name}", self._client)
        setattr(self, name, found)
        return found


def gateway(context: SparkContext | None = None) -> Any:
    """Return the operator's package in the driver's JVM."""
    context = context or SparkContext._active_spark_context
    if context is None:
        raise RuntimeError("there is no active Spark session")
    known = vars(context._jvm)
    if "millrace" not in known:
        client: Any = context._gateway
        known["millrace"] = Package(PACKAGE, client._gateway_client)
    return known["millrace"]


def java_class(java: Any, name: str) -> Any:
    """Return a class of a gateway's JVM, without the lookups of a dotted name: see `Package`."""
    return JavaClass(name, java._gateway_client)


def remember_classes(java: Any) -> None:
    """Spare PySpark the lookup of the classes that it uses for a context and for every column.

    `java`: the gateway of a driver's JVM.
    """
    for name in _REMEMBERED:
        vars(java.jvm)[name.rpartition(".")[2]] = java_class(java, name)


def answer_at_once(java: Any) -> None:
    """Make a driver's JVM send long answers without waiting for acknowledgements: `PromptAnswers`.

    `java`: its gateway.
    """
    java_class(java, f"{PACKAGE}.PromptAnswers").of(java.java_gateway_server)


def _wrap(java_column: Any) -> Column:
    from pyspark.sql.classic.column import Column as ClassicColumn

    wrapped: Column = ClassicColumn(java_column)
    return wrapped


def _java(column: Column) -> Any:
    return column._jc


def attempt(column: Column, node: str, parameter: str, kind: str = "processing") -> Column:
    """Return STRUCT<value, fault>: the column's value, or the fault (JSON) if it raises.

    A fault has `kind`, node, parameter, exception and message. The code that handles the fault adds
    the record.
    """
    return _wrap(gateway().Columns.attempt(_java(column), kind, node, parameter))


# The location of a format: node and parameter.
Place = tuple[str, str]


def decode(column: Column, format: Format, *, at: Place | None = None) -> Column:
    """Return the value of bytes in a format; evaluation fails for bytes that do not fit it.

    Raises MillraceError for a format whose schema is not available.
    """
    with _refusing(at):
        return _wrap(gateway().Columns.decode(_java(column), json.dumps(format)))


def encode(column: Column, format: Format, *, at: Place | None = None) -> Column:
    """Return the bytes of a value in a format; null stays null.

    Raises MillraceError for a format whose schema is not available.
    """
    with _refusing(at):
        return _wrap(gateway().Columns.encode(_java(column), json.dumps(format)))


@contextlib.contextmanager
def _refusing(at: Place | None) -> Iterator[None]:
    """Raise the operator's refusal of a format as an error at its node."""
    try:
        yield
    except Py4JJavaError as error:
        java = error.java_exception
        if not java.getClass().getName().endswith("Expressions$Invalid"):
            raise
        node, parameter = at or (None, None)
        code = "registry" if java.condition() == "REGISTRY" else "format"
        reason, failure = str(java.reason()), java.failure()
        cause = None if failure is None else MillraceError.of_cause(json.loads(failure.json()))
        raise MillraceError(
            code, reason, node=node, parameter=parameter, facts={"reason": reason}, cause=cause
        ) from None


def partition_for(key: Column, partitions: int) -> Column:
    """Return the partition that Kafka's default partitioner (murmur2) assigns to a key's bytes."""
    return _wrap(gateway().Columns.partitionFor(_java(key), partitions))


def running_max(timestamp: Column, topic: Column, partition: Column) -> Column:
    """Return the highest timestamp so far of the record's topic-partition, within a micro-batch."""
    return _wrap(gateway().Columns.runningMax(_java(timestamp), _java(topic), _java(partition)))


def row_number() -> Column:
    """Return row numbers of a micro-batch, in the order of its Spark partitions and their rows."""
    return _wrap(gateway().Columns.rowNumber())


def header_map(headers: Column) -> Column:
    """Return headers as expressions see them: MAP<STRING, BINARY>, the last of equal names."""
    known = F.coalesce(headers, F.array().cast(HEADERS))
    names = F.array_sort(F.array_distinct(F.transform(known, lambda header: header["key"])))

    def last(name: Column) -> Column:
        return F.element_at(F.filter(known, lambda header: header["key"] == name), -1)["value"]

    return F.map_from_arrays(names, F.transform(names, last))
