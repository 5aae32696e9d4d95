"""Documents compiled in a process that ends after one command."""

from __future__ import annotations

import json
import subprocess
import sys

from tests.compiler.isolated.test_isolated import ENDLESS, GOOD
from tests.compiler.kit import OneTypeAnalyzer, compiled, document, sink, stream
from tests.served import serving_analyzer

#: a process of its own, because the limit of memory stays
SCRIPT = """
import json, sys, psutil
from millrace_compiler.isolated import Limits
from millrace_compiler.isolated.here import CompilerHere
documents, analyzer = json.load(sys.stdin)
compiler = CompilerHere()
answers = [
    compiler.compile(each, analyzer, limits=Limits(seconds=seconds)) for each, seconds in documents
]
json.dump([answers, len(psutil.Process().children())], sys.stdout)
"""


def test_one_process_compiles_within_the_limits_of_a_compiler_process() -> None:
    large = document(
        [stream(value={"format": "protobuf", "schema": "aa bb " * 10_000_000}), sink()],
        ["in > out"],
    )
    documents = [(GOOD, 30), (ENDLESS, 1), (large, 60), (GOOD, 30)]
    with serving_analyzer(OneTypeAnalyzer()) as analyzer:
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            input=json.dumps([documents, analyzer]),
            stdout=subprocess.PIPE, text=True, check=True,
        )  # fmt: skip
    answers, children = json.loads(ran.stdout)
    good, endless, too_large, again = answers
    assert good == again == json.loads(json.dumps(compiled(GOOD).to_json()))
    assert [each["code"] for each in endless["diagnostics"]] == ["compile_time"]
    assert [each["code"] for each in too_large["diagnostics"]] == ["compile_memory"]
    assert children == 0
