"""What documents mention: numbers, texts and spans of time that decide what nodes do.

A search draws its values from the constants of both versions, and half of them from those of the
nodes and settings in which the versions differ.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from millrace_compiler.documents.durations import NoDuration, parse_duration
from millrace_model.documents import Params, TopologyDocument

#: Keys are few, so that records meet in joins, aggregations and windows.
KEYS = ("a", "b", "c")
_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?")
_TEXT = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
_DURATION = re.compile(r"\d+'?\s+(?:millisecond|second|minute|hour|day|week)s?\b", re.IGNORECASE)
_LENGTHS = re.compile(r"length|substr|left\(|right\(|\[", re.IGNORECASE)
_LONGEST_TEXT = 200
#: maximum number of durations of one node whose sums are tried
_MOST_DURATIONS = 6

#: A parameter of a node or a setting: where it is, and its value as JSON.
_Leaf = tuple[str, ...]


@dataclass
class Constants:
    """Numbers and texts, each with its neighbours, and `spans` of time in ms.

    A window closes after its size and its grace, so spans are also sums of a node's durations.
    `separators`: texts without letters and digits, between which others are put.
    """

    numbers: list[float] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    separators: list[str] = field(default_factory=list)
    spans: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, parts: Iterable[object]) -> Constants:
        """Collect the constants of parts of documents: of the parameters of one node each."""
        found = cls()
        for part in parts:
            durations: list[int] = []
            found._collect(part, durations)
            found._add_spans(dict.fromkeys(durations))
        found.numbers = list(dict.fromkeys(found.numbers))
        found.texts = list(dict.fromkeys(found.texts))
        found.separators = list(dict.fromkeys(found.separators))
        found.spans = sorted(set(found.spans))
        return found

    def _collect(self, part: Any, durations: list[int]) -> None:
        if isinstance(part, bool) or part is None:
            return
        if isinstance(part, int):
            durations.append(part)
        elif isinstance(part, str):
            self._collect_text(part, durations)
        elif isinstance(part, Mapping):
            for each in part.values():
                self._collect(each, durations)
        elif isinstance(part, Sequence):
            for each in part:
                self._collect(each, durations)

    def _collect_text(self, part: str, durations: list[int]) -> None:
        for found in (part, *_DURATION.findall(part)):
            with contextlib.suppress(NoDuration):
                durations.append(parse_duration(found.replace("'", "")))
        for groups in _TEXT.findall(part):
            self._add_text(max(groups, key=len))
        for digits in _NUMBER.findall(_TEXT.sub("", part)):
            number = float(digits) if "." in digits else int(digits)
            self.numbers += [number - 1, number, number + 1]
            self.texts.append(digits)
            if isinstance(number, int):
                durations.append(number)
                if 0 < number < _LONGEST_TEXT and _LENGTHS.search(part):
                    sizes = (number - 1, number, number + 1)
                    self.texts += [("abcdefghij" * size)[:size] for size in sizes]

    def _add_text(self, text: str) -> None:
        plain = text.strip("%_^$")
        if not any(each.isalnum() for each in text):
            self.separators += [text] if text else []
        elif len(text) <= _LONGEST_TEXT:
            last = plain[-1:]
            near = [plain[:-1] + chr(ord(last) - 1), plain + "a"] if last.isalnum() else []
            self.texts += [text, plain, *near, *plain.split(" ")[:1]]
            self.texts += [each for each in (plain.upper(), plain.lower()) if each != plain]

    def _add_spans(self, durations: Iterable[int]) -> None:
        own = [each for each in durations if each > 0][:_MOST_DURATIONS]
        for count in (1, 2, 3):
            for chosen in itertools.combinations_with_replacement(own, count):
                self.spans += [sum(chosen) + near for near in (-1, 0, 1)]


@dataclass(frozen=True)
class Focus:
    """In what two documents differ: the constants there, and the topics from which it is reached.

    `text`: the differing parts as JSON. All are empty if the documents have the same nodes with
    the same parameters and edges, whatever their names.
    """

    constants: Constants
    topics: frozenset[str]
    text: str

    @classmethod
    def of(cls, old: TopologyDocument, new: TopologyDocument) -> Focus:
        """Compare the nodes, edges, settings and topics of two documents."""
        counted = [Counter(leaf for _, leaf in _leaves(each)) for each in (old, new)]
        apart = (counted[0] - counted[1]) | (counted[1] - counted[0])
        parts: list[object] = []
        topics: set[str] = set()
        for document in (old, new):
            changed = {place for place, leaf in _leaves(document) if leaf in apart}
            nodes = {node["id"]: node for node in document.get("nodes") or ()}
            parts += [nodes[each].get("params") or {} for each in nodes if each in changed]
            parts += [{"settings": document.get("settings")}] if "$settings" in changed else []
            for node in _above(document, changed):
                topics.update(topics_of(nodes[node].get("params") or {}))
            topics.update(each[1:] for each in changed if each.startswith("#"))
        return cls(Constants.of(parts), frozenset(topics), json.dumps([*map(list, apart)]))


def _leaves(document: TopologyDocument) -> Iterator[tuple[str, _Leaf]]:
    """Yield (place, leaf): node ids, `$settings` or `#topic`, and what is there.

    Edges are leaves of both of their nodes, by the kinds at their ends.
    """
    kinds = {node["id"]: str(node.get("kind")) for node in document.get("nodes") or ()}
    for node in document.get("nodes") or ():
        kind = kinds[node["id"]]
        yield node["id"], (kind,)
        for way, value in _values(node.get("params") or {}):
            yield node["id"], (kind, way, value)
    for edge in document.get("edges") or ():
        ends = (edge["source"], edge["target"])
        ports = [str(edge.get(name) or "") for name in ("source_port", "target_port")]
        for end in ends:
            yield end, ("edge", *(kinds.get(each, "") for each in ends), *ports)
    for way, value in _values(document.get("settings") or {}):
        yield "$settings", ("settings", way, value)
    for topic, described in (document.get("topics") or {}).items():
        for way, value in _values(described):
            yield f"#{topic}", ("topic", topic, way, value)


def _values(part: Any, way: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(part, Mapping):
        for name, each in part.items():
            yield from _values(each, f"{way}.{name}")
    elif isinstance(part, list):
        for each in part:
            yield from _values(each, f"{way}[]")
    else:
        yield way, json.dumps(part)


def _above(document: TopologyDocument, nodes: set[str]) -> set[str]:
    """Return the nodes from which some nodes get records, and those themselves."""
    ids = {node["id"] for node in document.get("nodes") or ()}
    found, left = set(), nodes & ids
    while left:
        found |= left
        left = {
            edge["source"] for edge in document.get("edges") or () if edge["target"] in found
        } & ids - found
    return found


def topics_of(params: Params) -> list[str]:
    """Return the topics that the parameters of a source name."""
    topics = params.get("topics")
    named = topics if isinstance(topics, list) else [params.get("topic")]
    return [each for each in named if isinstance(each, str)]
