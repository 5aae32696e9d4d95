"""The files of a topology in a repository: its document, its program and its tests."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from millrace_backend.errors import ApiError, Unavailable
from millrace_model.documents import TopologyDocument

from topologies import compiling
from topologies.exporting import test_files
from topologies.git.mirror import Entry, Mirror
from topologies.models import TopologyTest, Version

DOCUMENT = "topology.json"
PROGRAM = "job.py"
TESTS = "tests/"
#: files of a repository that are larger are not read
LARGEST = 8 * 1024 * 1024
_LONGEST_NAME = 80

#: hashes of files by path within the topology's folder
Files = dict[str, str]


def folder_name(name: str, taken: Iterable[str]) -> str:
    """Return a name of a folder for a topology, which no other one has in any case of letters."""
    safe = re.sub(r"\.+", ".", re.sub(r"[^\w.-]+", "-", name))[:_LONGEST_NAME].strip("-._")
    safe = safe.removesuffix(".lock") or "topology"
    used = {each.lower() for each in taken}
    number, found = 1, safe
    while found.lower() in used:
        number += 1
        found = f"{safe}-{number}"
    return found


def document_text(document: TopologyDocument) -> bytes:
    """Return a document as it is written to a repository."""
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    return text.encode("utf-8", "surrogatepass")


def written(version: Version, tests: Iterable[TopologyTest]) -> dict[str, bytes]:
    """Return the files of a version by path. A version with errors has no program.

    Raises Unavailable if the analyzer does not respond.
    """
    files = {DOCUMENT: document_text(version.document)}
    program = _program_of(version)
    if program is not None:
        files[PROGRAM] = program.encode()
    for name, text in test_files(tests).items():
        files[TESTS + name] = text.encode("utf-8", "surrogatepass")
    return files


def _program_of(version: Version) -> str | None:
    workspace = version.topology.workspace
    answer = compiling.pool().compile(
        version.document,
        compiling.analyzer(),
        owner=f"workspace {workspace.pk}",
        registries=True,
        partitions=compiling.partitions_for(workspace),
        limits=compiling.EXPORT,
    )
    down = next((e for e in answer["diagnostics"] if e["code"] == "analyzer"), None)
    if down is not None:
        raise Unavailable("analyzer_unreachable", down["message"], "It is tried again.")
    code = answer["code"]
    files = code["files"] if code else []
    return next((each["text"] for each in files if each["path"] == PROGRAM), None)


def found(mirror: Mirror, tree: str | None) -> Files:
    """Return the topology's files in a tree: links, folders and other files are left out."""
    entries = mirror.entries(tree)
    files = {
        name: entries[name].hash for name in (DOCUMENT, PROGRAM) if _is_file(entries.get(name))
    }
    for name, entry in mirror.entries(mirror.below(tree, TESTS)).items():
        if name.endswith(".json") and _is_file(entry):
            files[TESTS + name] = entry.hash
    return files


def stored(mirror: Mirror, tree: str | None, known: Files, files: Mapping[str, bytes]) -> str:
    """Store files in place of those that are known, beside all others; return the new tree."""
    entries = mirror.entries(tree)
    tests = mirror.entries(mirror.below(tree, TESTS))
    for path in known:
        (tests if path.startswith(TESTS) else entries).pop(path.removeprefix(TESTS), None)
    for path, content in files.items():
        entry = Entry("100644", "blob", mirror.write(content))
        (tests if path.startswith(TESTS) else entries)[path.removeprefix(TESTS)] = entry
    folder = TESTS.rstrip("/")
    entries.pop(folder, None)
    if tests:
        entries[folder] = Entry("040000", "tree", mirror.tree(tests))
    return mirror.tree(entries)


def document_in(mirror: Mirror, files: Files) -> TopologyDocument:
    """Read the document of a folder. Raises ApiError if it is none."""
    from topologies.api.fields import complaint_about

    value = _read_json(mirror, files.get(DOCUMENT, ""), DOCUMENT)
    complaint = complaint_about(value)
    if complaint:
        raise ApiError(
            "git_unreadable", f"{DOCUMENT} is no topology: {complaint}", complaint=complaint
        )
    document: TopologyDocument = value  # type: ignore[assignment]  # complaint_about checks it
    for node in document["nodes"]:
        node.setdefault("params", {})
    document.setdefault("name", "")
    return document


def test_in(mirror: Mirror, files: Files, path: str) -> object:
    """Read a test of a folder. Raises ApiError if it is no JSON."""
    return _read_json(mirror, files[path], path)


def _read_json(mirror: Mirror, blob: str, name: str) -> object:
    content = mirror.read(blob, LARGEST) if blob else b""
    if content is None:
        complaint = f"It is larger than {LARGEST // 1024 // 1024} MB."
        raise ApiError("git_unreadable", f"{name} cannot be read: {complaint}", complaint=complaint)
    try:
        return json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        complaint = f"It is not JSON ({str(error)[:100]})."
        raise ApiError(
            "git_unreadable", f"{name} cannot be read: {complaint}", complaint=complaint
        ) from None


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is no value of JSON")


def _is_file(entry: Entry | None) -> bool:
    return entry is not None and entry.kind == "blob" and entry.mode.startswith("100")
