"""Topics of a document that its workspace may not use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from accounts.topics import INTERNAL, allows, described


@dataclass(frozen=True)
class Refusal:
    """A topic that is not allowed, and the parameter that names it."""

    node: str | None
    parameter: str
    message: str
    hint: str

    def as_diagnostic(self) -> dict[str, Any]:
        """The refusal as a diagnostic of the compiler's."""
        return {
            "code": "topic_not_allowed",
            "severity": "error",
            "node": self.node,
            "parameter": self.parameter,
            "path": None,
            "message": self.message,
            "hint": self.hint,
            "blocks": "deploy",
            "position": None,
        }

    def as_failure(self) -> dict[str, Any]:
        """The refusal as the failure of a deployment."""
        return {
            "code": "topic_not_allowed",
            "node": self.node,
            "parameter": self.parameter,
            "message": f"{self.message} {self.hint}",
            "record": None,
        }


def topic_failure(document: Mapping[str, Any], prefixes: Sequence[str]) -> dict[str, Any] | None:
    """The first refusal as the failure of a deployment; None where all topics are allowed."""
    found = refusals(document, prefixes)
    return found[0].as_failure() if found else None


def refusals(document: Mapping[str, Any], prefixes: Sequence[str]) -> list[Refusal]:
    """Everything in the document that names, or may name, a topic outside of the prefixes."""
    hint = (
        f"Topics of this workspace begin with {described(prefixes)}"
        if prefixes
        else f"Topics that begin with {INTERNAL} are Kafka's own."
    )
    return [
        Refusal(node, parameter, message, hint)
        for node, parameter, message in _found(document, prefixes)
    ]


def _found(
    document: Mapping[str, Any], prefixes: Sequence[str]
) -> Iterator[tuple[str | None, str, str]]:
    """Node, parameter and message of each; what is no document is left to the compiler."""
    for node in _dicts(document.get("nodes")):
        id_, params = node.get("id"), node.get("params")
        if not isinstance(id_, str) or not isinstance(params, Mapping):
            continue
        topics = params.get("topics")
        for topic in topics if isinstance(topics, list) else []:
            yield from _refused(id_, "topics", topic, prefixes)
        yield from _refused(id_, "topic", params.get("topic"), prefixes)
        pattern = params.get("topic_pattern")
        if isinstance(pattern, str) and not _pattern_allowed(pattern, prefixes):
            message = f"The pattern “{pattern}” can match topics that are not allowed here."
            yield id_, "topic_pattern", message
        if params.get("topic_expression") is not None and prefixes:
            message = "An expression can give topics that are not allowed here."
            yield id_, "topic_expression", message
    settings = document.get("settings")
    if isinstance(settings, Mapping):
        dead = settings.get("dead_letter_topic")
        yield from _refused(None, "dead_letter_topic", dead, prefixes)


def _refused(
    node: str | None, parameter: str, topic: Any, prefixes: Sequence[str]
) -> Iterator[tuple[str | None, str, str]]:
    if isinstance(topic, str) and topic and not allows(prefixes, topic):
        yield node, parameter, f"The topic “{topic}” is not allowed in this workspace."


def _pattern_allowed(pattern: str, prefixes: Sequence[str]) -> bool:
    # Loads the compiler at its first use, as `topologies.compiling` does.
    from millrace_compiler.topic_patterns import NoPattern, topic_pattern

    try:
        found = topic_pattern(pattern)
    except NoPattern:
        return True  # refused by the compiler, with the reason
    if found.begins_with(INTERNAL):
        return False
    return not prefixes or any(found.begins_with(prefix) for prefix in prefixes)


def _dicts(value: Any) -> list[Mapping[str, Any]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
