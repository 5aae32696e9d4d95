"""The topics that a document needs on the cluster to which it is deployed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from millrace_model.documents import TopologyDocument

from millrace_compiler.declarations.operator import registry


@dataclass(frozen=True)
class Need:
    """A topic, and the node and parameter that need it."""

    topic: str
    partitions: int
    node: str | None
    parameter: str
    #: whether the document declares the number of partitions
    assumed: bool


def topics_of(document: TopologyDocument) -> list[Need]:
    """Every topic that the document names: read, written, or for dead letters."""
    assumed = document.get("topics") or {}
    found: dict[str, Need] = {}

    def need(topic: object, node: str | None, parameter: str) -> None:
        if isinstance(topic, str) and topic not in found:
            partitions = (assumed.get(topic) or {}).get("partitions")
            found[topic] = Need(topic, partitions or 1, node, parameter, partitions is not None)

    for node in document.get("nodes", []):
        params = node.get("params") or {}
        if params.get("reader") is not None:
            continue  # A reader's records do not come from the broker.
        operator = registry().get(node["kind"])
        for parameter in operator.topic_parameters if operator else ():
            named = params.get(parameter)
            for topic in named if isinstance(named, list) else [named]:
                need(topic, node["id"], parameter)
    need((document.get("settings") or {}).get("dead_letter_topic"), None, "dead_letter_topic")
    return list(found.values())


def with_partitions(document: TopologyDocument, partitions: Mapping[str, int]) -> TopologyDocument:
    """The document with the cluster's numbers of partitions, which override its own."""
    topics = dict(document.get("topics") or {})
    for name, count in sorted(partitions.items()):
        topics[name] = {**topics.get(name, {}), "partitions": count}
    found = document.copy()
    found["topics"] = topics
    return found
