"""Each cause that the page shows has a Chinese sentence: of failures, generators, comparisons."""

from __future__ import annotations

import re

from millrace_compiler.diagnostics import SENTENCES
from millrace_runtime.differences import SENTENCES as DIFFERENCES
from millrace_runtime.explaining import KNOWN

from launcher import places
from tests.contracts.test_error_translations import (
    BACKEND,
    RUNTIME,
    codes,
    sentences,
    trees,
    values_in,
)
from tests.contracts.test_error_translations import CHINESE as ERRORS

CHINESE = ERRORS.with_name("causes.ts")
ROOT = places.REPOSITORY
#: kinds of faults of records, which stop a driver (`runtime/scala/Faults.scala`)
FAULTS = {"deserialization", "processing", "production", "registry", "timestamp"}
#: of the commands on documents and programs, of the simulator and the reader of stores, and of the
#: operator for graphs that the compiler does not make: the page gets none of them as a cause
ELSEWHERE = {
    "cut_unknown", "dataframe_sinks", "document_dataframe", "document_function", "kind",
    "program_failed", "program_topology", "program_unreadable", "query_failed", "query_invalid",
    "request_invalid", "session_settings", "session_without_operator", "unknown",
}  # fmt: skip
#: of `millrace_workers.states.watching`, by a constant and not by a literal
FELL_BACK = {"fell_back": {"version", "before", "cause"}}


def of_drivers() -> dict[str, set[str]]:
    """Codes and facts of what a driver reports when it fails."""
    found = codes(trees(sorted(RUNTIME.rglob("*.py"))), "MillraceError")
    refused = r'new Refused\(\s*[^,]+,\s*"\w*",\s*"(\w+)"'
    for path in (ROOT / "runtime" / "scala").rglob("*.scala"):
        for code in re.findall(refused, path.read_text("utf-8")):
            found.setdefault(code, set())
    return {code: facts for code, facts in found.items() if code not in DIFFERENCES}


def of_workers() -> dict[str, set[str]]:
    """Codes and facts of failures and outages that the workers notice."""
    modules = trees(sorted((ROOT / "workers" / "millrace_workers").rglob("*.py")))
    return {**codes(modules, "Away"), **codes(modules, "Failure"), **FELL_BACK}


def others() -> dict[str, set[str]]:
    """Codes and facts of the problems of generators, and of comparisons with Kafka Streams."""
    places_ = [BACKEND / "records" / "writing.py", BACKEND / "topologies" / "verifying.py"]
    asked = [ROOT / "cli" / "answering.py", ROOT / "cli" / "oracle.py"]
    return codes(trees([*places_, *asked]), "MillraceError")


def known() -> dict[str, set[str]]:
    """All causes, with the facts that each always has."""
    found = {code: set[str]() for code in FAULTS}
    for part in (of_drivers(), of_workers(), others()):
        for code, facts in part.items():
            found[code] = found[code] & facts if code in found else facts
    # Where an exception of Spark or Kafka says it, there are no facts: the page shows its message.
    return {each.code: set[str]() for each in KNOWN} | found


def test_each_cause_is_in_chinese_and_names_only_its_facts() -> None:
    table, all_ = sentences(CHINESE), known()
    assert len(all_) > 80
    assert all_.keys() >= ELSEWHERE
    translated = table.keys() | sentences(ERRORS).keys() | SENTENCES.keys()
    assert all_.keys() - ELSEWHERE - translated == set()
    assert table.keys() <= all_.keys() - ELSEWHERE
    for code, sentence in table.items():
        assert values_in(sentence) <= {"message"} | all_[code], code
