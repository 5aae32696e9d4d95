"""`differ`: the shortest input on which two versions give different results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

from millrace_compiler import Compilation, Refused
from millrace_compiler.diagnostics.diagnostics import Diagnostic
from millrace_model.documents import TopologyDocument
from millrace_runtime.counterexamples.search import Found, Searched, search
from millrace_runtime.counterexamples.text import input_text, record_text

from cli.documents import of_document, read_document, read_lines, show_diagnostics
from cli.simulating import Warm
from cli.topology_tests import find_tests


def differ_command(arguments: argparse.Namespace) -> int:
    """Search and print what is found. Exit code 0: no difference; 1: one; 2: refused or invalid."""
    old, new = (
        read_document(path, arguments.environment, fragments=True)
        for path in (arguments.old, arguments.new)
    )
    seeds = [test["inputs"] for test in find_tests(arguments.new, arguments.tests)] if (
        arguments.tests
    ) else []  # fmt: skip
    if arguments.inputs:
        seeds.append(read_lines(arguments.inputs))
    warm = Warm()
    try:
        refused = [
            of_document(each.to_json(), path)
            for path, document in ((arguments.old, old), (arguments.new, new))
            for each in _errors(warm, document)
        ]
        if refused:
            show_diagnostics(refused, as_json=arguments.json)
            return 2
        searched = search(
            warm.spark, warm.analyzer, old, new, seeds=seeds,
            seconds=arguments.seconds, seed=arguments.seed,
        )  # fmt: skip
    finally:
        warm.close()
    if arguments.write and searched.found:
        lines = (f"{json.dumps(each, ensure_ascii=False)}\n" for each in searched.found.inputs)
        Path(arguments.write).write_text("".join(lines), encoding="utf-8")
    if arguments.json:
        print(json.dumps(searched.to_json(), ensure_ascii=False))
    elif arguments.line:
        print(searched.line)
    else:
        print("\n".join(text_of(searched)))
    return 1 if searched.found else 0


def _errors(warm: Warm, document: TopologyDocument) -> Iterable[Diagnostic]:
    try:
        compilation: Compilation = warm.compile(document)
    except Refused as refused:
        return refused.diagnostics
    return [] if compilation.ok else compilation.diagnostics


def text_of(searched: Searched) -> list[str]:
    """Return the result of a search as lines of text."""
    lines = []
    for name, topics in (("old", searched.only_old), ("new", searched.only_new)):
        if topics:
            lines.append(f"Only the {name} version writes {', '.join(topics)}: not compared.")
    tried = f"{searched.inputs:,} inputs in {searched.seconds:.1f} s"
    if searched.found is not None:
        lines += _found(searched.found, tried)
    else:
        lines.append(f"No difference in {tried}.")
    missed = sum(map(len, searched.missed.values()))
    reached = f"{searched.nodes - missed} of {searched.nodes} nodes of both versions got records"
    lines.append(f"{reached}; {searched.covered} of {searched.branches} branches are covered.")
    for name, nodes in searched.missed.items():
        if nodes:
            lines.append(f"No record reached, in the {name} version: {', '.join(nodes)}.")
    return lines


def _found(found: Found, tried: str) -> list[str]:
    count = len(found.inputs)
    records = "1 record" if count == 1 else f"{count} records"
    lines = [f"The versions differ after {records} (found in {tried}):", ""]
    lines += [f"  {number:>2}  {input_text(each)}" for number, each in enumerate(found.inputs, 1)]
    for topic in found.topics:
        lines += ["", f"  {topic}"]
        for name, outputs in (("old", found.old), ("new", found.new)):
            own = [each for each in outputs if each["topic"] == topic]
            lines += [f"    {name}  after {each['after']:>2}  {record_text(each)}" for each in own]
            if not own:
                lines.append(f"    {name}  nothing")
    for name, stopped in (("old", found.old_stopped), ("new", found.new_stopped)):
        if stopped is not None:
            lines += ["", f"  Record {stopped} stops the {name} version."]
    return [*lines, ""]
