"""Templates: topologies to start from, each in a JSON file in ``documents/``.

A file has texts in English and Chinese, the document, ``inputs`` (sample records in the form that
simulations take), ``tests``, and ``generators``, one for each topic that the document reads.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from accounts.topics import allows
from millrace_backend.errors import ApiError
from millrace_compiler.graphs.needs import topics_of
from millrace_model.documents import TopologyDocument
from millrace_model.recipes import TemplateGenerator, TemplateTest
from millrace_model.records import InputLine

FOLDER = Path(__file__).with_name("documents")
#: template ids in the order in which the page offers them, simplest first
ORDER = (
    "word-count", "split-by-type", "purchases-per-hour", "page-views", "dead-letters",
    "fraud-by-session", "iot-sliding", "change-data-join", "word-count-processor", "deduplicate",
)  # fmt: skip


@dataclass(frozen=True)
class Template:
    """A topology that runs unchanged, with inputs, tests and generators to try it."""

    id: str
    title: str
    title_zh: str
    description: str
    description_zh: str
    document: TopologyDocument
    #: sample records, as input lines of a simulation
    inputs: list[InputLine]
    tests: list[TemplateTest]
    generators: list[TemplateGenerator]

    @property
    def generated(self) -> list[str]:
        """The topics that its generators write to."""
        return [each["topic"] for each in self.generators]

    def named(self, name: str, prefixes: Sequence[str] = ()) -> Template:
        """Return a copy whose topology has this name and uses topics that the workspace may use.

        Unless all topics are permitted, each gets the first of the prefixes.
        """
        made = deepcopy(self)
        made.document["name"] = name
        topics = [need.topic for need in topics_of(made.document)]
        if all(allows(prefixes, topic) for topic in topics):
            return made
        return _renamed(made, lambda topic: f"{prefixes[0]}{topic}")

    def beside(self, existing: Collection[str]) -> Template:
        """Return a copy none of whose topics exists: all get the first number from 2 that is free.

        The template itself if none of its topics exists.
        """
        names, number = list(self.document["topics"]), 1
        while any(_numbered(name, number) in existing for name in names):
            number += 1
        if number == 1:
            return self
        return _renamed(deepcopy(self), lambda topic: _numbered(topic, number))


def _numbered(topic: str, number: int) -> str:
    return topic if number == 1 else f"{topic}-{number}"


def _renamed(made: Template, rename: Callable[[str], str]) -> Template:
    """Rename all topics of a copy of a template, in place, and return it."""
    document = made.document
    document["topics"] = {rename(topic): each for topic, each in document["topics"].items()}
    settings = document.get("settings", {})
    if "dead_letter_topic" in settings:
        settings["dead_letter_topic"] = rename(settings["dead_letter_topic"])
    for node in document["nodes"]:
        params = node["params"]
        if "topics" in params:
            params["topics"] = [rename(topic) for topic in params["topics"]]
        if "topic" in params:
            params["topic"] = rename(params["topic"])

    inputs = [*made.inputs, *(line for test in made.tests for line in test["inputs"])]
    outputs = (line for test in made.tests for line in test["expected"].get("outputs", []))
    for line in inputs:
        if "topic" in line:
            line["topic"] = rename(line["topic"])
    for output in outputs:
        output["topic"] = rename(output["topic"])
    for generator in made.generators:
        generator["topic"] = rename(generator["topic"])
    return made


@cache
def templates() -> tuple[Template, ...]:
    """Return all templates in the order of ``ORDER``."""
    return tuple(
        Template(id=name, **json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))
        for name in ORDER
    )


def template(name: str) -> Template:
    """Return the template with this id. Raises ApiError for an unknown id."""
    found = next((each for each in templates() if each.id == name), None)
    if found is None:
        names = ", ".join(each.id for each in templates())
        raise ApiError(
            "no_such_template",
            f"There is no template {name!r}.",
            f"There are: {names}.",
            fields={"template": [f"One of {names}."]},
        )
    return found
