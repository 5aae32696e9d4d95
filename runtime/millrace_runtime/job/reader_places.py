"""Which files readers of documents may open: those in listed locations, with listed options."""

from __future__ import annotations

import dataclasses
import glob
import os
import posixpath
import re
from collections.abc import Mapping, Sequence

from millrace_model.graphs import GraphNode

from millrace_runtime.errors import MillraceError

#: The variable that lists the locations from which a job may read files: URLs and folders,
#: separated by commas.
ALLOWED = "MILLRACE_READERS"

_FILES = (
    "path", "maxFilesPerTrigger", "maxBytesPerTrigger", "maxFileAge", "maxCachedFiles",
    "latestFirst", "fileNameOnly", "recursiveFileLookup", "pathGlobFilter", "modifiedBefore",
    "modifiedAfter", "ignoreMissingFiles", "ignoreCorruptFiles",
)  # fmt: skip
_TEXTS = (
    "mode", "columnNameOfCorruptRecord", "locale", "timeZone", "dateFormat", "timestampFormat",
    "timestampNTZFormat", "enableDateTimeParsingFallback", "encoding", "charset", "lineSep",
    "multiLine",
)  # fmt: skip
#: the options of each format; none names a schema, a class or another place than `path`
OPTIONS: Mapping[str, Sequence[str]] = {
    "rate": ("rowsPerSecond", "rampUpTime", "numPartitions"),
    "avro": (*_FILES, "mode", "datetimeRebaseMode", "recursiveFieldMaxDepth"),
    "binaryfile": _FILES,
    "csv": (
        *_FILES, *_TEXTS, "sep", "delimiter", "quote", "escape", "charToEscapeQuoteEscaping",
        "comment", "header", "enforceSchema", "ignoreLeadingWhiteSpace",
        "ignoreTrailingWhiteSpace", "nullValue", "emptyValue", "nanValue", "positiveInf",
        "negativeInf", "maxColumns", "maxCharsPerColumn", "unescapedQuoteHandling",
    ),
    "delta": (*_FILES, "ignoreDeletes", "ignoreChanges", "skipChangeCommits"),
    "json": (
        *_FILES, *_TEXTS, "primitivesAsString", "prefersDecimal", "allowComments",
        "allowUnquotedFieldNames", "allowSingleQuotes", "allowNumericLeadingZeros",
        "allowBackslashEscapingAnyCharacter", "allowUnquotedControlChars",
        "allowNonNumericNumbers",
    ),
    "orc": (*_FILES, "mergeSchema"),
    "parquet": (*_FILES, "mergeSchema", "datetimeRebaseMode", "int96RebaseMode"),
    "text": (*_FILES, "wholetext", "lineSep", "encoding"),
    "xml": (
        *_FILES, *_TEXTS, "rowTag", "excludeAttribute", "attributePrefix", "valueTag",
        "ignoreSurroundingSpaces", "ignoreNamespace", "nullValue", "wildcardColName",
    ),
}  # fmt: skip
_PLACE = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/]*))?(/.*)?", re.DOTALL)
#: characters that Hadoop takes for alternatives, escapes and parts of a URI
_SPECIAL = re.compile(r"[{}\[\]\\^%#\x00-\x1f\x7f]")
_WILDCARD = re.compile(r"[*?]")
_FILTER = re.compile(r"[\w.*?-]+")


def check_allowed(node: GraphNode, allowed: str | None) -> None:
    """Raise MillraceError for a reader that is not allowed.

    Codes: `reader_forbidden`, `reader_option_forbidden`, and `reader_forbidden_path` for a path
    outside of the locations. `allowed`: URLs and folders, separated by commas; None allows
    everything.
    """
    if allowed is None:
        return
    reader = node["params"]["reader"]
    kind = str(reader["format"]).lower()
    if kind not in OPTIONS:
        raise node_error(
            node, "reader_forbidden",
            f"The reader {reader['format']} is not allowed here: only files in the locations "
            f"listed in {ALLOWED} can be read.",
            facts={"reader": reader["format"], "listed": ALLOWED},
        )  # fmt: skip
    options = {name.lower(): str(value) for name, value in reader["options"].items()}
    _check_options(node, reader["format"], reader["options"], OPTIONS[kind])
    if kind != "rate" and not _is_listed(options.get("path", ""), allowed):
        raise node_error(
            node, "reader_forbidden_path",
            f"{options.get('path')!r} cannot be read here: it is not in a location listed in "
            f"{ALLOWED}. A path is absolute, without “..” and without any of {{ }} [ ] \\ ^ % #.",
            "reader_options",
            facts={"path": options.get("path"), "listed": ALLOWED},
        )  # fmt: skip


def _check_options(
    node: GraphNode, kind: str, given: Mapping[str, object], known: Sequence[str]
) -> None:
    names = {name.lower() for name in known}
    for name, value in given.items():
        filtered = name.lower() == "pathglobfilter"
        if name.lower() not in names or (filtered and not _FILTER.fullmatch(str(value))):
            listed = ", ".join(sorted(known))
            raise node_error(
                node, "reader_option_forbidden",
                f"The option {name} of the reader {kind} is not allowed here. Allowed: {listed}.",
                "reader_options",
                facts={"option": name, "reader": kind, "known": listed},
            )  # fmt: skip


@dataclasses.dataclass(frozen=True)
class _Place:
    scheme: str
    host: str
    path: str

    def contains(self, other: _Place) -> bool:
        inside = other.path == self.path or other.path.startswith(f"{self.path.rstrip('/')}/")
        return (self.scheme, self.host) == (other.scheme, other.host) and inside

    def files(self) -> list[_Place]:
        """The files and folders that it stands for, behind links; itself in a store."""
        if self.scheme != "file":
            return [self]
        found = [self.path]
        if _WILDCARD.search(self.path):
            found = glob.glob(self.path, include_hidden=True)  # noqa: PTH207 - it is absolute
        return [dataclasses.replace(self, path=os.path.realpath(each)) for each in found]


def _is_listed(path: str, allowed: str) -> bool:
    place = _place(path)
    if place is None:
        return False
    listed = [found for each in allowed.split(",") if (found := _place(each.strip()))]
    # What is behind a link must be listed as well, and so must what a wildcard stands for.
    real = [each for one in listed for each in one.files()]
    return any(each.contains(place) for each in listed) and all(
        any(each.contains(file) for each in real) for file in place.files()
    )


def _place(path: str) -> _Place | None:
    """Return a location, file:// by default; None if it could be read in more than one way."""
    parts = _PLACE.fullmatch(path)
    if parts is None or not parts[3] or _SPECIAL.search(path):
        return None
    scheme, host = (parts[1] or "file").lower(), parts[2] or ""
    if ".." in parts[3].split("/") or (scheme == "file" and host):
        return None
    # POSIX keeps two slashes at the beginning.
    return _Place(scheme, host, posixpath.normpath(f"/{parts[3].lstrip('/')}"))


def refuse_function(node: GraphNode) -> None:
    """Refuse a function in Python for timestamps that are needed before the tasks."""
    if node["params"].get("functions"):
        raise node_error(
            node,
            "timestamp_function",
            "Its timestamps decide which of several topics or partitions has the next record, "
            "before a task has the records, so they cannot come from a function that runs in "
            "Python. Use an expression or a function that can be translated; or set the timestamp "
            "in a processor, record.replace(timestamp=...), and repartition its records.",
            "timestamp",
        )


def node_error(
    node: GraphNode,
    code: str,
    message: str,
    parameter: str = "reader",
    *,
    facts: Mapping[str, object] | None = None,
) -> MillraceError:
    """Return an error at a parameter of a node."""
    return MillraceError(code, message, node=str(node["node"]), parameter=parameter, facts=facts)
