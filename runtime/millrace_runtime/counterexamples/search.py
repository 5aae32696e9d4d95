"""The search itself: seeds, new inputs and variations of those that reached something new."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from millrace_compiler import Analyzer
from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.graphs.fragments import expand, filled, resolved
from millrace_model.documents import TopologyDocument
from millrace_model.records import OutputLine
from millrace_model.simulations import DifferingInput, SearchResult
from pyspark.sql import SparkSession

from millrace_runtime.counterexamples.constants import Focus
from millrace_runtime.counterexamples.inputs import Inputs, records_of
from millrace_runtime.counterexamples.shrinking import shrink
from millrace_runtime.counterexamples.text import in_one_line
from millrace_runtime.counterexamples.version import Outcome, Version
from millrace_runtime.errors import MillraceError
from millrace_runtime.results.lines import Line

#: seconds to reduce what was found, at most
_SHRINKING = 20.0
#: how many inputs are kept with which nodes, but no results, differ
_MOST_NEAR = 20
#: what has at most so many records is short; for longer ones a shorter one is searched for
_SHORT = 3
#: seconds to search for a shorter input, at most
_SHORTENING = 3.0


@dataclass(frozen=True)
class Found:
    """An input on which the versions differ.

    `inputs`: input lines. `topics`: topics with different records. `old`, `new`: outputs as result
    lines; `old_stopped`, `new_stopped`: the number of the line that stopped the version, or None.
    """

    inputs: list[Line]
    topics: list[str]
    old: list[OutputLine]
    new: list[OutputLine]
    old_stopped: int | None
    new_stopped: int | None

    def to_json(self) -> DifferingInput:
        """Return the input as JSON."""
        return {
            "inputs": self.inputs,
            "topics": self.topics,
            "old": self.old,
            "new": self.new,
            "old_stopped": self.old_stopped,
            "new_stopped": self.new_stopped,
        }


@dataclass
class Searched:
    """The result of a search.

    `found`: None if there is no difference among the inputs. `inputs`: their number. `branches`:
    what the nodes of both versions can do (a record enters it; one leaves it; its predicate is
    false), and how many of these happened, `covered`. `missed`: nodes, by version, that no record
    reached; one within a fragment is `node > inner node`. `only_old`, `only_new`: topics that one
    version alone writes; their records are not compared.
    """

    found: Found | None = None
    inputs: int = 0
    seconds: float = 0.0
    nodes: int = 0
    branches: int = 0
    covered: int = 0
    missed: dict[str, list[str]] = field(default_factory=dict)
    only_old: list[str] = field(default_factory=list)
    only_new: list[str] = field(default_factory=list)

    @property
    def line(self) -> str:
        """The result in one line of Markdown, for a pull request."""
        found = None if self.found is None else self.found.to_json()
        share = 100 * self.covered // max(1, self.branches)
        return in_one_line(found, self.inputs, share, self.missed)

    def to_json(self) -> SearchResult:
        """Return the result as JSON."""
        return {
            "found": None if self.found is None else self.found.to_json(),
            "line": self.line,
            "inputs": self.inputs,
            "seconds": round(self.seconds, 2),
            "nodes": self.nodes,
            "branches": self.branches,
            "covered": self.covered,
            "missed": self.missed,
            "only_old": self.only_old,
            "only_new": self.only_new,
        }


def search(
    spark: SparkSession,
    analyzer: Analyzer,
    old: TopologyDocument,
    new: TopologyDocument,
    *,
    seeds: Iterable[Sequence[Line]] = (),
    seconds: float = 30.0,
    most: int = 20_000,
    seed: int = 0,
    lenient: bool = False,
    stop: Callable[[], bool] = lambda: False,
    progress: Callable[[int], None] = lambda inputs: None,
) -> Searched:
    """Search for the shortest input on which two documents give different results.

    `seeds`: inputs to begin with, such as those of tests. `seconds` and `most` limit the search;
    `stop` ends it earlier; `progress` is called with the number of inputs so far. Topics are
    compared that both versions write, with partition, key, value, timestamp and headers of their
    records in order; JSON by its content. The search is repeatable except for its end by time.

    Raises MillraceError if a document is refused or does not start, if they read no topic by name,
    and for a seed whose values do not fit; `lenient` leaves such seeds out.
    """
    began = time.monotonic()
    with (
        Version(spark, analyzer, resolved(old)) as before,
        Version(spark, analyzer, resolved(new)) as after,
    ):
        for version in (before, after):
            if version.failure is not None:
                raise MillraceError("version_failed", "A node of one version does not start.")
        pair = _Pair(before, after, progress)
        given = [list(records_of(lines)) for lines in seeds]
        found = pair.first_difference(
            [lines for lines in given if not lenient or pair.fits(lines)],
            seed,
            lambda: not stop() and time.monotonic() - began < seconds,
            most,
        )
        result = pair.result
        if found is not None:
            end = time.monotonic() + _SHRINKING
            left = lambda: not stop() and time.monotonic() < end  # noqa: E731
            lines = shrink(found, pair.differ, left)
            if len(lines) > _SHORT:
                end = min(end, time.monotonic() + _SHORTENING)
                lines = pair.shorter(lines, seed, left)
            result.found = pair.shown(lines)
    for name, document in (("old", old), ("new", new)):
        title = expand(filled(document), Diagnostics()).title
        result.missed[name] = [title(node) for node in result.missed[name]]
    result.seconds = time.monotonic() - began
    return result


class _Pair:
    """Two versions that get the same inputs."""

    def __init__(self, old: Version, new: Version, progress: Callable[[int], None]) -> None:
        self._old, self._new = old, new
        self._progress = progress
        mine, other = set(old.sink_topics), set(new.sink_topics)
        self._compared = mine & other
        nodes = [
            {
                node["id"]
                for node in version.document.get("nodes") or ()
                if not str(node.get("kind")).startswith("store.")
            }
            for version in (old, new)
        ]
        self._nodes = nodes
        self._steps: tuple[set[tuple[str, str]], set[tuple[str, str]]] = (set(), set())
        self._kept: list[list[Line]] = []
        self._near: list[list[Line]] = []
        self.result = Searched(
            only_old=sorted(mine - other),
            only_new=sorted(other - mine),
        )

    def first_difference(
        self,
        seeds: Iterable[list[Line]],
        seed: int,
        more: Callable[[], bool],
        most: int,
    ) -> list[Line] | None:
        """Return the first input that gives a difference."""
        inputs = self._inputs(seed)
        chance = random.Random(seed)  # noqa: S311 - a search is to be repeatable
        try:
            for lines in seeds:
                if lines and self._try(lines):
                    return lines
            while more() and self.result.inputs < most:
                what = chance.random()
                if self._near and what < 0.3:
                    lines = inputs.varied(chance.choice(self._near), chance.choice(self._kept))
                elif self._kept and what < 0.55:
                    recent = min(int(chance.expovariate(0.25)), len(self._kept) - 1)
                    lines = inputs.varied(self._kept[-1 - recent], chance.choice(self._kept))
                else:
                    lines = inputs.fresh()
                if lines and self._try(lines):
                    return lines
            return None
        finally:
            self._reached()

    def fits(self, lines: list[Line]) -> bool:
        """Whether the keys and values of an input have the formats of both versions."""
        try:
            self.differ(lines)
        except MillraceError as error:
            if error.code != "input_invalid":
                raise
            return False
        return True

    def _try(self, lines: list[Line]) -> bool:
        """Whether the versions differ.

        Keep an input with which a node does something new, and one with which nodes of the same
        name have other numbers of records in the two versions: their results are next to differ.
        """
        self.result.inputs += 1
        self._progress(self.result.inputs)
        old, new = self._old.run(lines), self._new.run(lines)
        fresh = False
        for known, outcome in zip(self._steps, (old, new), strict=True):
            fresh = fresh or not outcome.steps <= known
            known.update(outcome.steps)
        if fresh or len(self._kept) < 2:
            self._kept.append(lines)
        if any(
            (node, step) in new.counts and new.counts[node, step] != count
            for (node, step), count in old.counts.items()
        ):
            self._near = [*self._near[-_MOST_NEAR + 1 :], lines]
        return self._apart(old, new)

    def shorter(self, lines: list[Line], seed: int, more: Callable[[], bool]) -> list[Line]:
        """Return the shortest of what is found with fewer records, as long as there is `more`."""
        inputs = self._inputs(seed + 1)
        while more() and len(lines) > _SHORT:
            tried = inputs.fresh(len(lines) - 1)
            if self.differ(tried):
                lines = min(shrink(tried, self.differ, more), lines, key=len)
        return lines

    def differ(self, lines: list[Line]) -> bool:
        """Whether the versions give different results."""
        return self._apart(self._old.run(lines), self._new.run(lines))

    def _apart(self, old: Outcome, new: Outcome) -> bool:
        return (old.stopped is None) != (new.stopped is None) or bool(self._topics(old, new))

    def _topics(self, old: Outcome, new: Outcome) -> list[str]:
        written = set(old.topics) | set(new.topics)
        chosen = written - set(self._old.sink_topics) - set(self._new.sink_topics)
        return sorted(
            topic
            for topic in (written & self._compared) | chosen
            if old.topics.get(topic) != new.topics.get(topic)
        )

    def shown(self, lines: list[Line]) -> Found:
        """Return a found input with the outputs of both versions."""
        old, new = self._old.run(lines), self._new.run(lines)
        return Found(
            lines,
            self._topics(old, new),
            self._old.outputs(old),
            self._new.outputs(new),
            old.stopped,
            new.stopped,
        )

    def _inputs(self, seed: int) -> Inputs:
        read = dict.fromkeys([*self._old.source_topics, *self._new.source_topics])
        topics = {}
        for topic in read:
            formats = self._new.formats_of(topic) or self._old.formats_of(topic)
            if formats is None:
                continue
            partitions = max(self._old.partitions(topic), self._new.partitions(topic))
            topics[topic] = (formats, partitions)
        if not topics:
            raise MillraceError("no_topics", "The versions read no topic by name.")
        documents = (self._old.document, self._new.document)
        return Inputs(topics, documents, Focus.of(*documents), seed)

    def _reached(self) -> None:
        """Note what happened, and the nodes that no record reached."""
        self.result.nodes = sum(map(len, self._nodes))
        for version, steps in zip((self._old, self._new), self._steps, strict=True):
            self.result.branches += len(version.branches)
            self.result.covered += len(version.branches & steps)
        for name, nodes, steps in zip(("old", "new"), self._nodes, self._steps, strict=True):
            reached = {node for node, _ in steps}
            self.result.missed[name] = sorted(nodes - reached)
