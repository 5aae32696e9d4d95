"""Each cause that the page shows has a Chinese sentence.

Causes are those of failures and outages, deployment steps, generators, records that cannot be
written or read, and comparisons with Kafka Streams.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from deployments.choices import ColdReason
from millrace_compiler.diagnostics.messages import SENTENCES
from millrace_runtime.job.explaining import KNOWN
from millrace_runtime.results.differences import SENTENCES as DIFFERENCES

from launcher import places
from tests.contracts.test_error_translations import (
    BACKEND,
    RUNTIME,
    Site,
    named_by_calls,
    named_by_data,
    sentences,
    sites,
    trees,
    untold,
    unused,
    values_in,
)
from tests.contracts.test_error_translations import CHINESE as ERRORS
from tests.contracts.test_error_translations import QUOTED as QUOTED_ERRORS

CHINESE = ERRORS.with_name("causes.ts")
ROOT = places.REPOSITORY
#: faults of records that stop a driver (`runtime/scala/Faults.scala`); without a cause, their
#: message is that of Spark, Java or the user's code
FAULTS = {"deserialization", "processing", "production", "registry", "timestamp"}
#: codes of the commands on documents and programs, of the simulator and the store reader, and of
#: the operator for graphs that the compiler never makes: none reaches the page as a cause
ELSEWHERE = {
    "bytes_unread", "cut_unknown", "dataframe_sinks", "document_dataframe", "document_function",
    "document_import", "kind", "program_failed", "program_function", "program_topology",
    "program_unreadable",
    "query_invalid", "request_invalid", "session_settings", "session_without_operator", "unknown",
}  # fmt: skip
#: expressions whose codes are collected where they originate
PASSED_ON = {
    "cause", "code", "error.code", "errors[0].code", "f'cold_{cold.code}'", "fault", "first.code",
    "first['code']", "known.code", "self.fault", "step.get('code', '')", "str(found.get('code'))",
    "why['code']",
}  # fmt: skip


def of_drivers() -> Iterator[Site]:
    """Yield the causes that a failing driver reports."""
    others = [RUNTIME / "plain" / "simulation.py", RUNTIME / "simulator" / "programs.py"]
    modules = trees(
        [
            path
            for path in sorted(RUNTIME.rglob("*.py"))
            if path not in others and path.parent.name not in ("counterexamples", "testing")
        ]  # their errors are raised in tests and commands only
    )
    for code, facts in sites(modules, "MillraceError"):
        if code not in DIFFERENCES:
            yield code, facts
    # Causes that come from exceptions of Spark or Kafka have no facts.
    yield from ((each.code, set()) for each in KNOWN)
    for fault in FAULTS:
        yield fault, {"message"}
        yield fault, {"cause"}


#: patterns with which the operator names a cause, and the facts that are added at that place
_WHY = {
    r"\bWhy\(": set[str](),
    r"\bfailure\(\s*base,": {"registry"},
    r"\bmisfit\(": {"field"},
}


def of_operator() -> Iterator[Site]:
    """Yield the causes for which the operator has its own sentences."""
    for path in sorted((ROOT / "runtime" / "scala").rglob("*.scala")):
        text = path.read_text("utf-8")
        for start, added in _WHY.items():
            for found in re.finditer(start + r'\s*"(\w+)"', text):
                body = _call(text, text.index("(", found.start()))
                yield found[1], {*re.findall(r'"(\w+)" ->', body), *added}


def _call(text: str, start: int) -> str:
    """Return the text between a parenthesis and its match; strings inside must be balanced."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[start:at]
    raise AssertionError(text[start:])


def of_workers() -> Iterator[Site]:
    """Yield the failures, outages and steps that the workers record."""
    workers = ROOT / "workers" / "millrace_workers"
    modules = trees([path for path in sorted(workers.rglob("*.py")) if path.stem != "doubles"])
    modules += trees([BACKEND / "deployments" / f"{name}.py" for name in ("reconciling", "watch")])
    found = [*sites(modules, "Failure"), *sites(modules, "Cause")]
    for kind in ("cold", "standby"):
        found += [(f"{kind}_{each.value}", {"needed", "free"}) for each in ColdReason]
    return iter(found)


def others() -> Iterator[Site]:
    """Problems of generators and values, and of comparisons with Kafka Streams."""
    values = trees([*(BACKEND / "records").glob("*.py")])
    yield from sites(values, "Undecodable")
    modules = values + trees([BACKEND / "topologies" / "verifying.py"])
    modules += trees([ROOT / "cli" / "answering.py", ROOT / "cli" / "oracle.py"])
    for tree in modules:
        yield from named_by_calls(tree, {"cause": 0, "MillraceError": 0})
        yield from named_by_data(tree)


def known() -> list[Site]:
    """Return all causes, each with the facts from the place where it is raised."""
    return [*of_drivers(), *of_operator(), *of_workers(), *others()]


def test_each_cause_is_in_chinese_and_names_only_its_facts() -> None:
    table, all_ = sentences(CHINESE), known()
    unread = {code.removeprefix("? ") for code, _ in all_ if code.startswith("?")}
    assert unread == PASSED_ON
    all_ = [each for each in all_ if not each[0].startswith("?")]
    codes = {code for code, _ in all_}
    assert len(codes) > 150
    assert codes >= ELSEWHERE
    told = {code: [*texts] for code, texts in table.items()}
    for code, texts in sentences(ERRORS).items():
        told.setdefault(code, []).extend(texts)
    for code, prose in SENTENCES.items():
        told.setdefault(code, []).append(prose.message)
    mine = [
        (code, facts | ({"message"} if code in QUOTED_ERRORS else set()))
        for code, facts in all_
        if code not in ELSEWHERE
    ]
    assert untold(told, mine) == []
    assert table.keys() <= codes - ELSEWHERE
    assert unused(table, mine) == []
    quoting = {code for code, texts in table.items() if "message" in values_in(" ".join(texts))}
    assert quoting == FAULTS
