"""Topics of a document that its workspace may not use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from accounts.topics import INTERNAL, allows, described
from millrace_model.documents import TopologyDocument
from millrace_model.events import ErrorFields

if TYPE_CHECKING:
    from millrace_compiler.diagnostics.diagnostics import Diagnostic

#: node, parameter, code of the diagnostic, and its facts
Found = tuple[str | None, str, str, dict[str, str]]


def topic_failure(document: TopologyDocument, prefixes: Sequence[str]) -> ErrorFields | None:
    """Return the first refusal as a deployment's failure, or None if all topics are allowed."""
    found = refusals(document, prefixes)
    if not found:
        return None
    first = found[0].to_json()
    return {
        "code": first["code"],
        "node": first["node"],
        "parameter": first["parameter"],
        "message": f"{first['message']} {first['hint']}",
        "record": None,
        "facts": first["facts"],
    }


def refusals(document: TopologyDocument, prefixes: Sequence[str]) -> list[Diagnostic]:
    """Return a diagnostic for each parameter that may name a topic outside of the prefixes."""
    # The compiler is loaded at its first use, as in `topologies.compiling`.
    from millrace_compiler.diagnostics.diagnostics import Diagnostic

    return [
        Diagnostic(code, node, parameter, data=facts)
        for node, parameter, code, facts in _found(document, prefixes)
    ]


def _found(document: TopologyDocument, prefixes: Sequence[str]) -> Iterator[Found]:
    """Yield the findings. Parts with the wrong type are left to the compiler."""
    of_workspace = {"prefixes": described(prefixes)}
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
            code = "topic_pattern_not_allowed" if prefixes else "topic_pattern_internal"
            known = of_workspace if prefixes else {"prefix": INTERNAL}
            yield id_, "topic_pattern", code, {"pattern": pattern, **known}
        if params.get("topic_expression") is not None and prefixes:
            yield id_, "topic_expression", "topic_expression_not_allowed", of_workspace
    settings = document.get("settings")
    if isinstance(settings, Mapping):
        dead = settings.get("dead_letter_topic")
        yield from _refused(None, "dead_letter_topic", dead, prefixes)


def _refused(
    node: str | None, parameter: str, topic: Any, prefixes: Sequence[str]
) -> Iterator[Found]:
    if not isinstance(topic, str) or not topic or allows(prefixes, topic):
        return
    if topic.startswith(INTERNAL):
        yield node, parameter, "topic_internal", {"topic": topic, "prefix": INTERNAL}
    else:
        facts = {"topic": topic, "prefixes": described(prefixes)}
        yield node, parameter, "topic_not_allowed", facts


def _pattern_allowed(pattern: str, prefixes: Sequence[str]) -> bool:
    from millrace_compiler.documents.topic_patterns import NoPattern, topic_pattern

    try:
        found = topic_pattern(pattern)
    except NoPattern:
        return True  # the compiler refuses it, with the reason
    if found.begins_with(INTERNAL):
        return False
    return not prefixes or any(found.begins_with(prefix) for prefix in prefixes)


def _dicts(value: Any) -> list[Mapping[str, object]]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
