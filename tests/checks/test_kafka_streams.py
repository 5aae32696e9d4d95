"""The table from Kafka Streams has every method of the jar, and no name that is gone."""

from __future__ import annotations

import re

import pytest

from checks import kafka_streams
from launcher import jars
from tests.checks.class_files import ClassFile, public_classes

#: classes that are not in the table, because programs do not call them: patterns of their paths
LEFT_OUT = (
    # superseded by process and processValues, and no longer accepted by KStream
    "kstream/(Value)?Transformer(Supplier)?",
    # what the methods in the table take and return; they have no methods of their own to call
    r"kstream/(EmitStrategy|Materialized|Suppressed|WindowedSerdes)\$.*",
    "kstream/ForeachProcessor", "processor/PunctuationType",
    r"errors/.*\$.*(Result|HandlerResponse|ThreadExceptionResponse|ExceptionOrigin)",
    "processor/(MockProcessorContext|api/MockProcessorContext)[$].*", "GroupProtocol",
    r"Topology\$AutoOffsetReset", "query/(Query|QueryConfig|QueryResult|ResultOrder|FailureReason)",
    r"query/StateQueryRequest\$InStore", r"CloseOptions\$.*",
    r"processor/StandbyUpdateListener\$.*",
    # the parts of serdes, which Serdes and WindowedSerdes make
    r"(kstream/)?\w+(Serializer|Deserializer)", r"Serdes\$.*",
    # exceptions, except the one that has methods
    "errors/(?!StreamsException).*Exception",
    # positions of changelogs, which a checkpoint does not have
    "query/Position(Bound)?",
    # for libraries that wrap processors, stores or the assignment of tasks
    "processor/api/(ProcessorWrapper|Wrapped.*|InternalFixedKeyRecordFactory)",
    "processor/assignment/.*", "processor/(BatchingStateRestoreCallback|StateRestoreCallback"
    "|CommitCallback)",
    r"state/(BuiltInDsl.*|Dsl\w+Params|\w+BytesStore(Supplier)?|StoreSupplier|StateSerdes"
    r"|QueryableStoreType|QueryableStoreTypes\$.*)",
    # kinds of stores whose methods are those of the classes that they extend
    r"state/(Timestamped(KeyValue|Window)Store|SessionStore|Timestamped\w+Store)(WithHeaders)?",
    # settings of a topology as the runtime reads them
    r"TopologyConfig.*", r"StreamsConfig\$InternalConfig",
)  # fmt: skip


@pytest.fixture(scope="module")
def classes() -> dict[str, ClassFile]:
    """Public classes by path; those of `processor/api` in place of the older ones."""
    found: dict[str, ClassFile] = {}
    for jar in jars.ensure("oracle")["oracle"]:
        found |= public_classes(jar, "org/apache/kafka/streams")
        found |= public_classes(jar, "org/apache/kafka/common/serialization")
    return found


@pytest.fixture(scope="module")
def known(classes: dict[str, ClassFile]) -> dict[str, ClassFile]:
    """The same by name."""
    order = sorted(classes, key=lambda path: path.startswith("processor/api/"))
    return {path.rpartition("/")[2]: classes[path] for path in order}


def listed() -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for row in kafka_streams.rows():
        found.setdefault(row.of, []).append(row.member)
    return found


def test_every_public_method_has_a_row_and_every_row_a_method(known: dict[str, ClassFile]) -> None:
    for of, members in listed().items():
        here = known[of].texts("_CONFIG") if of == "StreamsConfig" else known[of].methods
        assert len(members) == len(set(members)), of
        assert set(members) == here, of


def test_every_public_class_is_listed_or_left_out(classes: dict[str, ClassFile]) -> None:
    missing = {path for path in classes if path.rpartition("/")[2] not in listed()}
    used = {pattern: [path for path in missing if re.fullmatch(pattern, path)]
            for pattern in LEFT_OUT}  # fmt: skip
    assert sorted(missing - {path for found in used.values() for path in found}) == []
    assert [pattern for pattern, found in used.items() if not found] == []


def test_every_name_in_the_table_is_there() -> None:
    gone = {name for row in kafka_streams.rows() for name in row.names
            if not kafka_streams.exists(name)}  # fmt: skip
    assert not gone


@pytest.mark.parametrize(
    "name",
    ["Stream.where", "Stream.filter(condition)", "spawn", "page nowhere.md", "command fly",
     "option --fly", "setting wings", "Record.speed"],
)  # fmt: skip
def test_a_name_that_is_gone_is_found(name: str) -> None:
    assert not kafka_streams.exists(name)


def test_every_absence_and_every_other_name_is_told_apart() -> None:
    for row in kafka_streams.rows():
        assert row.names or row.note, row
    table = kafka_streams.table()
    assert "| `filterNot` | same: `Stream.filter_not` |  |" in table
    assert "| `addStateStore` | `Topology.add_store` |  |" in table
    assert "| `lruMap` | not there | because a store" in table
