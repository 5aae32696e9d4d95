"""The base class of store nodes, with their common parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Scope, Store, no_questions
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.parameters.parameters import Flag, Name, optional
from millrace_compiler.parameters.parts import KeyValues, TypeOf

_TYPE_HELP = "Required for processors; inferred for other operators."


class StoreNode(Store):
    """A named store."""

    #: Parameters that are required if a processor uses the store.
    for_processors: ClassVar[tuple[str, ...]] = ("key_type", "value_type")

    name = Name("Name", "Name of the store in code and queries; unique in the topology.")
    key_type = TypeOf("Key type", f"Spark SQL type of the keys. {_TYPE_HELP}", required=False)
    value_type = TypeOf("Value type", f"Spark SQL type of the values. {_TYPE_HELP}", required=False)
    persistent = Flag(
        "Persistent",
        ("Kafka Streams keeps the store on disk. In Spark, all stores are kept on disk."),
        default=True,
    )
    logging = Flag(
        "Changelog",
        ("Whether Kafka Streams keeps a changelog topic; shown in the plan."),
        default=True,
    )
    logging_config = optional(KeyValues("Changelog settings", "Settings of the changelog topic."))
    caching = Flag(
        "Caching", "Record caching in Kafka Streams. Millrace forwards every update.", default=False
    )

    headers = Flag(
        "Headers",
        "For processors: rows have a timestamp and headers beside the value, as "
        "ValueTimestampHeaders; those of a session store have headers, as AggregationWithHeaders.",
        default=False,
    )

    def infer(self, scope: Scope) -> Inference:
        return no_questions({})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {}
