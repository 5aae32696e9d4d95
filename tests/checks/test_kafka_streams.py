"""The table from Kafka Streams has every method of the jar, and no name that is gone."""

from __future__ import annotations

import pytest

from checks import kafka_streams
from launcher import jars
from tests.checks.class_files import ClassFile, public_classes

#: packages of which every class is in the table
WHOLE = ("kstream/", "processor/api/")
#: classes that are not in it, because programs do not call them
LEFT_OUT = {
    # superseded by process and processValues, and no longer accepted by KStream
    "Transformer", "TransformerSupplier", "ValueTransformer", "ValueTransformerSupplier",
    "ValueTransformerWithKey", "ValueTransformerWithKeySupplier",
    # what the factories in the table return
    "EmitStrategy$StrategyType", "Materialized$StoreType", "Suppressed$EagerBufferConfig",
    "Suppressed$StrictBufferConfig", "Windows", "ForeachProcessor",
    "WindowedSerdes$TimeWindowedSerde", "WindowedSerdes$SessionWindowedSerde",
    "TimeWindowedSerializer", "TimeWindowedDeserializer",
    "SessionWindowedSerializer", "SessionWindowedDeserializer",
    # for libraries that wrap all processors
    "ProcessorWrapper", "WrappedProcessorSupplier", "WrappedFixedKeyProcessorSupplier",
    "InternalFixedKeyRecordFactory", "MockProcessorContext$CapturedForward",
    "MockProcessorContext$CapturedPunctuator",
}  # fmt: skip


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


def test_every_class_of_the_dsl_and_of_the_processor_api_is_listed(
    classes: dict[str, ClassFile],
) -> None:
    whole = {path.rpartition("/")[2] for path in classes if path.startswith(WHOLE)}
    assert len(whole) > 70
    assert whole - set(listed()) == LEFT_OUT


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
