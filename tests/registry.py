"""A schema registry for tests: Confluent's REST protocol over real HTTP, in memory.

It answers the requests of the clients of Java, Python and this project: registering, looking up,
reading by id or version, compatibility, with the registry's own error bodies. Like the real one, it
stores a Protobuf schema as text, also accepts a serialized descriptor, and returns either form.
"""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

CONTENT = "application/vnd.schemaregistry.v1+json"
_VERSION = re.compile(r"/subjects/([^/]+)/versions/(latest|-?\d+)")
_SUBJECT = re.compile(r"/subjects/([^/]+)(/versions)?")
_COMPATIBLE = re.compile(r"/compatibility/subjects/([^/]+)/versions/(latest|\d+)")


class RegistryError(Exception):
    """An error response: HTTP status, the registry's own error code and its message."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message


@dataclass
class Kept:
    """A registered schema with its id."""

    number: int
    kind: str
    text: str
    references: list[dict[str, Any]]
    serialized: str | None = None

    def body(self, *, serialized: bool) -> dict[str, Any]:
        """The registry's JSON for this schema; `schemaType` is omitted for Avro, the default."""
        text = self.serialized if serialized and self.serialized else self.text
        found: dict[str, Any] = {"schema": text}
        if self.kind != "AVRO":
            found["schemaType"] = self.kind
        if self.references:
            found["references"] = self.references
        return found


@dataclass
class Registry(ThreadingHTTPServer):
    """The server: its `url`, the requests it was `asked`, and settings that make it misbehave.

    `asked`: method, path and Authorization of each request. `user`: the required "name:password".
    `failing`: the status returned for paths that begin with `failing_at`. `odd_answer`: the body of
    every success.
    """

    user: str | None = None
    failing: int | None = None
    failing_at: str = "/"
    asked: list[tuple[str, str, str | None]] = field(default_factory=list)
    schemas: dict[int, Kept] = field(default_factory=dict)
    subjects: dict[str, list[int]] = field(default_factory=dict)
    odd_answer: Any = None

    def __post_init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.lock = threading.Lock()

    __hash__ = object.__hash__

    @property
    def url(self) -> str:
        """The base address."""
        return f"http://127.0.0.1:{self.server_port}"

    def paths(self) -> list[str]:
        """Method and path of each request, without the query."""
        return [f"{method} {urlsplit(path).path}" for method, path, _ in self.asked]

    def register(
        self,
        subject: str,
        schema: str,
        kind: str = "AVRO",
        references: list[dict[str, Any]] | None = None,
    ) -> int:
        """Return the id of a schema, new or not; raise RegistryError for an invalid one."""
        text, serialized = _read(schema, kind)
        versions = self.subjects.get(subject, [])
        known = self._same(text, kind, references or [])
        if known is not None and known in versions:
            return known
        if versions and kind == "AVRO":
            _backward(json.loads(text), json.loads(self.schemas[versions[-1]].text), subject)
        if known is None:
            known = len(self.schemas) + 1
            self.schemas[known] = Kept(known, kind, text, references or [], serialized)
        self.subjects.setdefault(subject, []).append(known)
        return known

    def _same(self, text: str, kind: str, references: list[dict[str, Any]]) -> int | None:
        for each in self.schemas.values():
            if (each.kind, each.text, each.references) == (kind, text, references):
                return each.number
        return None

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Any:
        """Return the body of a successful response; raises RegistryError."""
        serialized = query.get("format") == ["serialized"]
        if method == "GET" and path == "/subjects":
            return sorted(self.subjects)
        if method == "GET" and path == "/config":
            return {"compatibilityLevel": "BACKWARD"}
        if method == "GET" and path == "/schemas/types":
            return ["JSON", "PROTOBUF", "AVRO"]
        if method == "GET" and (found := re.fullmatch(r"/schemas/ids/(\d+)", path)):
            kept = self.schemas.get(int(found[1]))
            if kept is None:
                raise RegistryError(404, 40403, f"Schema {found[1]} not found")
            return kept.body(serialized=serialized)
        if method == "GET" and (found := _VERSION.fullmatch(path)):
            return self._version(unquote(found[1]), found[2], serialized)
        if method == "POST" and (found := _COMPATIBLE.fullmatch(path)):
            return self._compatible(unquote(found[1]), body)
        if found := _SUBJECT.fullmatch(path):
            return self._subject(method, unquote(found[1]), bool(found[2]), body)
        raise RegistryError(404, 404, "HTTP 404 Not Found")

    def _version(self, subject: str, version: str, serialized: bool) -> dict[str, Any]:
        versions = self.subjects.get(subject)
        if versions is None:
            raise RegistryError(404, 40401, f"Subject '{subject}' not found.")
        place = len(versions) if version in ("latest", "-1") else int(version)
        if not 1 <= place <= len(versions):
            raise RegistryError(404, 40402, f"Version {version} not found.")
        kept = self.schemas[versions[place - 1]]
        reported = {"subject": subject, "version": place, "id": kept.number}
        return {**reported, **kept.body(serialized=serialized)}

    def _subject(self, method: str, subject: str, versions: bool, body: Any) -> Any:
        if method == "POST":
            kind, references = body.get("schemaType", "AVRO"), body.get("references") or []
            if versions:
                return {"id": self.register(subject, body["schema"], kind, references)}
            if subject not in self.subjects:
                raise RegistryError(404, 40401, f"Subject '{subject}' not found.")
            known = self._same(_read(body["schema"], kind)[0], kind, references)
            if known is None or known not in self.subjects[subject]:
                raise RegistryError(404, 40403, "Schema not found")
            return self._version(subject, str(self.subjects[subject].index(known) + 1), False)
        if subject not in self.subjects:
            raise RegistryError(404, 40401, f"Subject '{subject}' not found.")
        if method == "DELETE":
            return list(range(1, len(self.subjects.pop(subject)) + 1))
        return list(range(1, len(self.subjects[subject]) + 1))

    def _compatible(self, subject: str, body: Any) -> dict[str, bool]:
        before = self._version(subject, "latest", False)
        try:
            _backward(json.loads(body["schema"]), json.loads(before["schema"]), subject)
        except RegistryError:
            return {"is_compatible": False}
        return {"is_compatible": True}


class _Handler(BaseHTTPRequestHandler):
    server: Registry
    protocol_version = "HTTP/1.1"

    def _do(self) -> None:
        registry = self.server
        length = int(self.headers.get("Content-Length") or 0)
        sent = self.rfile.read(length)
        sign = self.headers.get("Authorization")
        registry.asked.append((self.command, self.path, sign))
        parts = urlsplit(self.path)
        try:
            if registry.failing is not None and parts.path.startswith(registry.failing_at):
                raise RegistryError(registry.failing, 50001, "Error in the backend data store")
            if registry.user is not None:
                wanted = f"Basic {base64.b64encode(registry.user.encode()).decode()}"
                if sign != wanted:
                    raise RegistryError(401, 401, "Unauthorized")
            body = json.loads(sent) if sent else {}
            with registry.lock:
                found = registry.answer(self.command, parts.path, parse_qs(parts.query), body)
            if registry.odd_answer is not None:
                found = registry.odd_answer
            self._say(200, found)
        except RegistryError as error:
            self._say(error.status, {"error_code": error.code, "message": error.message})

    do_GET = do_POST = do_PUT = do_DELETE = _do  # noqa: N815 - the names that the base class calls

    def _say(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", CONTENT)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""


@contextmanager
def running() -> Iterator[Registry]:
    """A registry that answers until the end of the block."""
    registry = Registry()
    thread = threading.Thread(target=registry.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        registry.shutdown()
        registry.server_close()
        thread.join()


@contextmanager
def redirecting(target: str) -> Iterator[str]:
    """The address of a server that redirects every request to `target`."""

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(302)
            self.send_header("Location", target)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def _read(schema: str, kind: str) -> tuple[str, str | None]:
    """Return the text to store, and for Protobuf the descriptor if one was sent."""
    if kind == "AVRO":
        try:
            return json.dumps(json.loads(schema), separators=(",", ":")), None
        except ValueError:
            raise RegistryError(422, 42201, "Either the input schema is invalid") from None
    if kind == "PROTOBUF" and "message" not in schema:
        try:
            return _proto_text(FileDescriptorProto.FromString(base64.b64decode(schema))), schema
        except ValueError:
            raise RegistryError(422, 42201, "Either the input schema is invalid") from None
    return schema, None


def _backward(new: Any, old: Any, subject: str) -> None:
    """Check BACKWARD compatibility of Avro records: `new` can read data written with `old`."""
    if not (isinstance(new, dict) and isinstance(old, dict)):
        return
    before = {each["name"]: each for each in old.get("fields", [])}
    for each in new.get("fields", []):
        same = before.get(each["name"])
        if same is None and "default" not in each:
            reason = f"READER_FIELD_MISSING_DEFAULT_VALUE: {each['name']}"
        elif same is not None and not _reads(each["type"], same["type"]):
            reason = f"TYPE_MISMATCH: {each['name']}"
        else:
            continue
        raise RegistryError(
            409,
            409,
            "Schema being registered is incompatible with an earlier schema for subject "
            f'"{subject}", details: [{{{reason}}}]',
        )


_WIDENS = {"int": {"long", "float", "double"}, "long": {"float", "double"}, "float": {"double"}}


def _reads(new: Any, old: Any) -> bool:
    """Whether a primitive type of the new schema reads one of the old; others are not checked."""
    if not (isinstance(new, str) and isinstance(old, str)):
        return True
    return new == old or new in _WIDENS.get(old, ())


_TYPES = {
    number: name.removeprefix("TYPE_").lower() for name, number in FieldDescriptorProto.Type.items()
}


def _proto_text(file: FileDescriptorProto) -> str:
    """Return the .proto text that the registry makes of a descriptor."""
    lines = [f'syntax = "{file.syntax or "proto2"}";']
    if file.package:
        lines.append(f"package {file.package};")
    lines += [f'import "{name}";' for name in file.dependency]
    for enum in file.enum_type:
        lines += _enum_text(enum, "")
    for message in file.message_type:
        lines += _message_text(message, "", file.syntax == "proto3")
    return "\n".join(lines) + "\n"


def _enum_text(enum: Any, indent: str) -> list[str]:
    values = [f"{indent}  {value.name} = {value.number};" for value in enum.value]
    return [f"{indent}enum {enum.name} {{", *values, f"{indent}}}"]


def _message_text(message: Any, indent: str, proto3: bool) -> list[str]:
    inner = indent + "  "
    lines = [f"{indent}message {message.name} {{"]
    entries = {each.name: each for each in message.nested_type if each.options.map_entry}
    one_of: dict[int, list[str]] = {}
    for each in message.field:
        kind = each.type_name or _TYPES[each.type]
        entry = entries.get(each.type_name.split(".")[-1]) if each.type_name else None
        label = ""
        if entry is not None:
            sides = [part.type_name or _TYPES[part.type] for part in entry.field]
            kind = f"map<{sides[0]}, {sides[1]}>"
        elif each.label == FieldDescriptorProto.LABEL_REPEATED:
            label = "repeated "
        elif each.proto3_optional or not proto3:
            label = "optional "
        text = f"{label}{kind} {each.name} = {each.number};"
        if each.HasField("oneof_index") and not each.proto3_optional:
            one_of.setdefault(each.oneof_index, []).append(f"{inner}  {text}")
        else:
            lines.append(f"{inner}{text}")
    for index, fields in one_of.items():
        lines += [f"{inner}oneof {message.oneof_decl[index].name} {{", *fields, f"{inner}}}"]
    for nested in message.nested_type:
        if not nested.options.map_entry:
            lines += _message_text(nested, inner, proto3)
    for enum in message.enum_type:
        lines += _enum_text(enum, inner)
    return [*lines, f"{indent}}}"]
