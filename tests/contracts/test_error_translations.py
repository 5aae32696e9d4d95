"""Each refusal that the page can show has a Chinese sentence."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from millrace_runtime.simulator import simulator

from launcher import places

CHINESE = places.REPOSITORY / "frontend" / "src" / "ui" / "zh" / "errors.ts"
BACKEND = places.REPOSITORY / "backend"
RUNTIME = places.REPOSITORY / "runtime" / "millrace_runtime"
#: modules that answer the backend's requests to the simulator and the store reader
ANSWERING = (
    "processor/breakpoints", "simulator/encoding", "simulator/expectations", "job/explaining",
    "results/cuts", "results/input_lines", "results/lines", "simulator/process",
    "simulator/simulation", "stores/reading",
    "checkpoint/storage", "stores/reader", "stores/task_states", "simulator/unbatched", "program",
    "dsl/topology",
)  # fmt: skip
#: the compiler's refusals of a part of a topology, which the simulator passes on
PARTS = places.REPOSITORY / "compiler/millrace_compiler/compilation/running_part.py"
#: and those of doubles, which come with their node
DOUBLES = PARTS.with_name("doubles.py")
#: refusals whose English sentence follows the Chinese one
QUOTED = {
    "condition_failed", "condition_invalid", "document_dataframe", "document_function",
    "document_import", "has_checkpoint", "input_invalid", "not_json", "option_invalid",
    "program_failed", "program_topology", "program_unreadable", "state_unreadable",
}  # fmt: skip
#: arguments of a call that are not values of a sentence
_NO_VALUES = {"fields", "facts", "node", "parameter", "record", "hint"}

#: a code and the names of the values available to its sentence, at one place in the source
Site = tuple[str, set[str]]
#: for programs only: the page does not send such requests
PROGRAMS = {
    "authentication_failed", "cut_unknown", "method_not_allowed", "not_acceptable", "query_invalid",
    "session_needed", "unknown_ordering", "unsupported_media_type",
}  # fmt: skip
#: problems of generators and comparisons, translated in `causes.ts`
CAUSES = {
    "generator_with_deployment",
    "kafka_full",
    "not_written",
    "streams_missing",
    "streams_not_started",
}


def trees(paths: list[Path]) -> list[ast.Module]:
    return [ast.parse(path.read_text("utf-8")) for path in paths]


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def errors_in(modules: list[ast.Module], base: str) -> set[str]:
    """Return the class and the classes derived from it."""
    found = {base}
    for tree in modules * 2:
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(name_of(b) in found for b in node.bases):
                found.add(node.name)
    return found


def literals(node: ast.AST, local: Local | None = None) -> Iterator[str]:
    """Yield the codes that an expression can evaluate to."""
    if isinstance(node, ast.IfExp):
        yield from literals(node.body, local)
        yield from literals(node.orelse, local)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.Name):
        for value in (local or {}).get(node.id, ()):
            yield from literals(value)


def is_code_with_sentences(texts: Sequence[object]) -> bool:
    code, *sentences = map(str, texts)
    return bool(re.fullmatch(r"[a-z_]+", code)) and all(
        each == "" or re.match(r"[A-Z].*\.$", each, re.DOTALL) for each in sentences
    )


#: values assigned to the variables of a function or module
Local = dict[str, list[ast.expr]]


def variables(tree: ast.AST) -> Local:
    found: Local = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    found.setdefault(target.id, []).append(node.value)
    return found


def calls(tree: ast.Module) -> Iterator[tuple[ast.Call, Local]]:
    """Yield all calls, each with the variables of the enclosing function."""
    inner: dict[ast.Call, Local] = {}
    own: list[ast.stmt] = [each for each in tree.body if isinstance(each, ast.Assign)]
    outside = variables(ast.Module(own, []))
    for scope in ast.walk(tree):  # outer functions come first
        if isinstance(scope, ast.Module | ast.FunctionDef):
            local = outside if scope is tree else outside | variables(scope)
            for node in ast.walk(scope):
                if isinstance(node, ast.Call):
                    inner[node] = local
    yield from inner.items()


def named_by_calls(tree: ast.Module, place_of: dict[str, int]) -> Iterator[tuple[str, set[str]]]:
    """Yield each code that is an argument of a call, with the names of the call's data.

    A code that cannot be determined in a call of a class is `?` with its expression.
    """
    for call, local in calls(tree):
        name = name_of(call.func)
        place = place_of.get(name)
        if place is None or len(call.args) <= place:
            continue
        data = {each.arg for each in call.keywords if each.arg} - _NO_VALUES
        facts = [each.value for each in call.keywords if each.arg == "facts"]
        for value in (*call.args[place + 1 :], *facts):
            data |= members(value, local).keys()
        found = list(literals(call.args[place], local))
        if not found and name[:1].isupper():
            found.append(f"? {ast.unparse(call.args[place])}")
        yield from ((code, data) for code in found)


def members(node: ast.expr, local: Local | None = None) -> dict[str, ast.expr]:
    """Return the values of a dictionary by name."""
    if isinstance(node, ast.Name):
        known = (local or {}).get(node.id, ())
        return {name: value for each in known for name, value in members(each).items()}
    pairs = zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ()
    return {name: value for key, value in pairs if key is not None for name in literals(key)}


def named_by_data(tree: ast.Module) -> Iterator[tuple[str, set[str]]]:
    """Yield codes and facts of `{"code": …, "facts": …}`, and codes in tuples with sentences."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            found = members(node)
            if "code" in found:
                facts = set(members(found["facts"])) if "facts" in found else set()
                yield from ((code, facts) for code in literals(found["code"]))
        elif isinstance(node, ast.Tuple) and len(node.elts) in (2, 3):
            texts = [each.value for each in node.elts if isinstance(each, ast.Constant)]
            if len(texts) == len(node.elts) and is_code_with_sentences(texts):
                yield str(texts[0]), values_in(" ".join(map(str, texts[1:])))


def sites(modules: list[ast.Module], base: str) -> Iterator[Site]:
    """Yield the sites at calls of a class, its subclasses, or functions with a `code` parameter."""
    place_of = dict.fromkeys((*errors_in(modules, base), "__init__"), 0)
    for tree in modules:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name != "__init__":
                names = [each.arg for each in node.args.args if each.arg not in ("self", "cls")]
                if "code" in names:
                    place_of[node.name] = names.index("code")
    for tree in modules:
        for code, named in (*named_by_calls(tree, place_of), *named_by_data(tree)):
            if code.startswith("?") or re.fullmatch(r"[a-z_]+", code):
                yield code, named


def answered() -> list[Site]:
    """Return the refusals of the backend, including those of the simulator that it passes on."""
    found = [*sites(trees(sorted(BACKEND.rglob("*.py"))), "ApiError")]
    found += sites(trees([RUNTIME / f"{name}.py" for name in ANSWERING]), "MillraceError")
    found += sites(trees([PARTS]), "NoPart")
    found += [(code, names | {"node"}) for code, names in sites(trees([DOUBLES]), "NoDouble")]
    kinds = (simulator.SIMULATING, simulator.READING, simulator.PROGRAMS)
    found += [(each[0], set()) for kind in kinds for each in kind.messages.values()]
    return [each for each in found if not each[0].startswith("?")]


def sentences(path: Path) -> dict[str, list[str]]:
    """Read a table of Chinese sentences by code, with the alternatives for each."""
    literal = r'"(?:[^"\\]|\\.)*"'
    pattern = rf"^  (\w+):\s+(\[\s*{literal}(?:,\s*{literal})*,?\s*\]|{literal}),$"
    return {
        code: [json.loads(each) for each in re.findall(literal, texts)]
        for code, texts in re.findall(pattern, path.read_text("utf-8"), re.MULTILINE)
    }


def untold(found: Mapping[str, Sequence[str]], known: Iterable[Site]) -> list[Site]:
    """Return the sites for which no sentence can be filled with the available values."""
    return [
        (code, data)
        for code, data in known
        if not any(values_in(each) <= data for each in found.get(code, ()))
    ]


def unused(found: Mapping[str, Sequence[str]], known: Iterable[Site]) -> list[str]:
    """Return the sentences with a value that no site provides."""
    given: dict[str, set[str]] = {}
    for code, data in known:
        given.setdefault(code, set()).update(data)
    return [
        each
        for code, texts in found.items()
        for each in texts
        if not values_in(each) <= given.get(code, set())
    ]


def values_in(sentence: str) -> set[str]:
    """Return the names of the values in a sentence."""
    return set(re.findall(r"\{(\w+)\}", sentence))


def test_each_refusal_is_in_chinese_and_names_only_what_comes_with_it() -> None:
    known = [
        (code, data | {"found"} | ({"message"} if code in QUOTED else set()))
        for code, data in answered()
    ]
    found, codes = sentences(CHINESE), {code for code, _ in known}
    assert len(codes) > 110
    assert found.keys() == codes - PROGRAMS - CAUSES
    assert codes >= PROGRAMS | CAUSES | QUOTED
    assert untold(found, [each for each in known if each[0] in found]) == []
    assert unused(found, known) == []
