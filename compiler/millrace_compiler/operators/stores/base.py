"""What the store nodes have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from millrace_compiler.lowering import Handle, NodeLowering
from millrace_compiler.operator import Inference, Scope, Store, no_questions
from millrace_compiler.parameters import Flag, Name, optional
from millrace_compiler.parts import KeyValues, TypeOf

_TYPE_HELP = (
    "Needed for processors; an operator that materializes into the store knows it by itself."
)


class StoreNode(Store):
    """A named store."""

    #: Parameters that only a processor's own store must have.
    for_processors: ClassVar[tuple[str, ...]] = ("key_type", "value_type")

    name = Name(
        "Name", "The name by which code and queries know the store; unique in the document."
    )
    key_type = TypeOf("Key type", f"Spark type of the keys. {_TYPE_HELP}", required=False)
    value_type = TypeOf("Value type", f"Spark type of the values. {_TYPE_HELP}", required=False)
    persistent = Flag(
        "Persistent", "Keep it on disk in Kafka Streams; in Spark every store is.", default=True
    )
    logging = Flag("Changelog", "Keep a changelog; shown in the plan.", default=True)
    logging_config = optional(
        KeyValues("Changelog settings", "Settings of the changelog topic.", required=False)
    )
    caching = Flag(
        "Caching", "Asked for in Kafka Streams; here every update is passed on.", default=False
    )

    def infer(self, scope: Scope) -> Inference:
        return no_questions({})

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {}
