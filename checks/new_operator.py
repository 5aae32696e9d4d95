"""``./millrace new-operator FAMILY/NAME``: create a new kind and its test as templates."""

from __future__ import annotations

import re
from pathlib import Path

from launcher import commands, places
from launcher.console import Problem, echo

OPERATORS = places.REPOSITORY / "compiler" / "millrace_compiler" / "operators"
TESTS = places.REPOSITORY / "tests" / "compiler" / "operators"
DECLARATION = '''\
"""``{kind}``: one line on what it is for."""

from __future__ import annotations

from collections.abc import Mapping

from millrace_compiler.declarations.lowering import NodeLowering
from millrace_compiler.declarations.operator import Inference, Operator, Scope
from millrace_compiler.declarations.ports import InPort, OutPort
from millrace_compiler.declarations.steps import Handle
from millrace_compiler.parameters.parameters import Expression
from millrace_compiler.parameters.summaries import Sentence


class {name}(Operator):
    """One sentence on what it does to a record."""

    kind = "{kind}"
    title = "{title}"
    icon = "box"
    help = "What a user must know, with the Kafka Streams rule that it follows."
    guarantee = "What holds for every record, and in which order."
    synonyms = ("what", "a newcomer", "would search for")
    in_ports = (InPort("in", ("stream",)),)
    out_ports = (OutPort("out", "stream"),)

    value = Expression("Value", "The new value.")

    def infer(self, scope: Scope) -> Inference:
        port = scope.one()
        (type_,) = yield [scope.ask("value", self.value, port.record())]
        return {{"out": port.with_value(type_) if type_ else port}}

    def lower(self, to: NodeLowering) -> Mapping[str, Handle]:
        return {{"out": to.step("{kind}", to.input(), value=self.value)}}

    def summary(self) -> Sentence:
        return Sentence("does something with {{value}}", value=self.value)
'''
TEST = '''\
"""What ``{kind}`` is and what it refuses."""

from millrace_compiler.declarations.operator import registry


def test_{kind}_is_in_the_palette_with_everything_a_newcomer_reads() -> None:
    found = registry()["{kind}"]
    assert found.family == "{family}"
    assert found.help
    assert found.synonyms
'''


def main(arguments: list[str]) -> int:
    """Write both files, without overwriting existing ones."""
    parser = commands.parser("new-operator")
    parser.add_argument("name", metavar="FAMILY/NAME", help="for instance stateless/sample")
    written = create(parser.parse_args(arguments[1:]).name)
    for path in written:
        echo(f"wrote {path.relative_to(places.REPOSITORY)}")
    echo("next: docs/contributing/add-an-operator.md, from its second step on")
    return 0


def create(name: str, operators: Path = OPERATORS, tests: Path = TESTS) -> list[Path]:
    """Write the declaration and its test. Raises Problem for an invalid family or name."""
    family, _, kind = name.partition("/")
    families = sorted(path.parent.name for path in operators.glob("*/__init__.py"))
    if family not in families:
        raise Problem(f"There is no family {family!r}. There are: {', '.join(families)}.")
    if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", kind):
        raise Problem(
            f"{kind!r} is not a valid kind. Use lower-case letters and _, for example flat_map."
        )
    declaration = operators / family / f"{kind}.py"
    test = tests / f"test_{kind}.py"
    for path in (declaration, test):
        if path.exists():
            raise Problem(f"{path} already exists. Choose another name.")
    words = kind.split("_")
    fill = {
        "kind": kind,
        "family": family,
        "name": "".join(word.capitalize() for word in words),
        "title": " ".join(words).capitalize(),
    }
    test.parent.mkdir(parents=True, exist_ok=True)
    declaration.write_text(DECLARATION.format(**fill), encoding="utf-8")
    test.write_text(TEST.format(**fill), encoding="utf-8")
    return [declaration, test]
