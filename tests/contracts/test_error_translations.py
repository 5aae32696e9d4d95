"""Each refusal that the page can show has a Chinese sentence."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from millrace_runtime.simulator import Readers, Simulators

from launcher import places

CHINESE = places.REPOSITORY / "frontend" / "src" / "ui" / "zh" / "errors.ts"
BACKEND = places.REPOSITORY / "backend"
RUNTIME = places.REPOSITORY / "runtime" / "millrace_runtime"
#: what answers the backend's questions to the simulator and to the process that reads stores
ANSWERING = (
    "breakpoints", "encoding", "expectations", "explaining", "input_lines", "simulating",
    "simulation", "state_reading", "storage", "store_reader", "task_states", "unbatched",
)  # fmt: skip
#: values that each sentence can name, beside the data of the refusal
ALWAYS = {"found", "message"}
#: for programs only: the page does not send such requests
PROGRAMS = {
    "authentication_failed", "cut_unknown", "method_not_allowed", "not_acceptable", "query_invalid",
    "session_needed", "unknown_ordering", "unsupported_media_type",
}  # fmt: skip
#: of the problems of generators and of comparisons: in `causes.ts`
CAUSES = {"kafka_full", "not_written", "streams_missing", "streams_not_started"}


def trees(paths: list[Path]) -> list[ast.Module]:
    return [ast.parse(path.read_text("utf-8")) for path in paths]


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def errors_in(modules: list[ast.Module], base: str) -> set[str]:
    """The class and those that derive from it."""
    found = {base}
    for tree in modules * 2:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(name_of(b) in found for b in node.bases):
                found.add(node.name)
    return found


def literals(node: ast.AST) -> Iterator[str]:
    """The codes that an expression can be."""
    if isinstance(node, ast.IfExp):
        yield from literals(node.body)
        yield from literals(node.orelse)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value


def is_code_with_sentences(texts: Sequence[object]) -> bool:
    code, *sentences = map(str, texts)
    return bool(re.fullmatch(r"[a-z_]+", code)) and all(
        each == "" or re.match(r"[A-Z].*\.$", each, re.DOTALL) for each in sentences
    )


def named_by_calls(tree: ast.Module, place_of: dict[str, int]) -> Iterator[tuple[str, set[str]]]:
    """Codes and the names of their data, of calls whose argument at a place is a code."""
    for call in ast.walk(tree):
        place = place_of.get(name_of(call.func)) if isinstance(call, ast.Call) else None
        if isinstance(call, ast.Call) and place is not None and len(call.args) > place:
            data = {each.arg for each in call.keywords if each.arg} - {"fields"}
            for each in call.keywords:
                if each.arg == "facts" and isinstance(each.value, ast.Dict):
                    data |= members(each.value).keys()
            yield from ((code, data) for code in literals(call.args[place]))


def members(node: ast.expr) -> dict[str, ast.expr]:
    """The values of a dictionary by their names."""
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    return {name: value for key, value in pairs if key is not None for name in literals(key)}


def named_by_data(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Codes and facts in `{"code": …, "facts": …}`, and codes in tuples with their sentences."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            found = members(node)
            if "code" in found:
                facts = set(members(found["facts"])) if "facts" in found else set()
                yield from ((code, facts) for code in literals(found["code"]))
        elif isinstance(node, ast.Tuple) and len(node.elts) in (2, 3):
            texts = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            if len(texts) == len(node.elts) and is_code_with_sentences(texts):
                yield str(texts[0]), set()


def codes(modules: list[ast.Module], base: str) -> dict[str, set[str]]:
    """Codes with the names of the data that every refusal with this code has."""
    place_of = dict.fromkeys((*errors_in(modules, base), "__init__"), 0)
    for tree in modules:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                names = [each.arg for each in node.args.args if each.arg not in ("self", "cls")]
                if "code" in names:
                    place_of[node.name] = names.index("code")
    found: dict[str, set[str]] = {}
    for tree in modules:
        for code, named in (*named_by_calls(tree, place_of), *named_by_data(tree)):
            if re.fullmatch(r"[a-z_]+", code):
                found[code] = found[code] & named if code in found else named
    return found


def answered() -> dict[str, set[str]]:
    """All codes of the backend, those of the simulator that it passes on among them."""
    found = codes(trees(sorted(BACKEND.rglob("*.py"))), "ApiError")
    asked = codes(trees([RUNTIME / f"{name}.py" for name in ANSWERING]), "MillraceError")
    limits = [each[0] for pool in (Simulators, Readers) for each in pool.messages.values()]
    for code in (*asked, *limits):
        found[code] = set()
    return found


def sentences(path: Path) -> dict[str, str]:
    """A table of Chinese sentences by their codes."""
    literal = r'"(?:[^"\\]|\\.)*"'
    found = re.findall(rf"^  (\w+):\s+({literal}),$", path.read_text("utf-8"), re.MULTILINE)
    return {code: json.loads(sentence) for code, sentence in found}


def values_in(sentence: str) -> set[str]:
    """The names of the values that a sentence needs."""
    return set(re.findall(r"\{(\w+)\}", sentence))


def test_each_refusal_is_in_chinese_and_names_only_what_comes_with_it() -> None:
    found, known = sentences(CHINESE), answered()
    assert len(known) > 110
    assert found.keys() == known.keys() - PROGRAMS - CAUSES
    assert known.keys() >= PROGRAMS | CAUSES
    for code, sentence in found.items():
        assert values_in(sentence) <= ALWAYS | known[code], code
