"""Reads the types of formats from schema registries.

The latest schema of a subject is requested over the registry's HTTP API. Responses, including
failures, are cached for a while, since the page compiles at every keystroke. If
MILLRACE_SCHEMA_REGISTRIES is set, only the registries listed there are contacted (none if it is
empty). Redirects are not followed, and each compilation has a :class:`Budget`. Credentials come
from the variable MILLRACE_REGISTRY_PASSWORDS (`{"https://schemas.example": "user:password"}`) and
are sent only to the addresses listed there; documents must not contain any.
"""

from __future__ import annotations

import base64
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit, urlunsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from millrace_compiler.diagnostics.diagnostics import Diagnostics
from millrace_compiler.graphs.graph import Graph
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.parameters.formats import Format, FormatOf, read_schema
from millrace_compiler.parameters.parameters import Faults

ALLOWED = "MILLRACE_SCHEMA_REGISTRIES"
PASSWORDS = "MILLRACE_REGISTRY_PASSWORDS"
_TIMEOUT = 4.0
#: seconds for which schemas and failures are cached; a new schema version is seen within a minute
_GOOD_FOR, _BAD_FOR = 60.0, 15.0
_CHUNK = 1 << 16


class NoSchema(LookupError):
    """The schema cannot be fetched from the registry.

    ``code`` and ``facts`` are those of its diagnostic, without the registry and the subject.
    """

    def __init__(self, code: str = "", **facts: Any) -> None:
        super().__init__(" ".join((code, *(f"{name}={fact}" for name, fact in facts.items()))))
        self.code, self.facts = code, facts


@dataclass(frozen=True)
class Found:
    """A schema, and the schemas that it refers to, each preceded by its own references.

    ``id``: the schema's id in the registry.
    """

    text: str
    imported: tuple[str, ...] = ()
    id: int | None = None


class Budget:
    """Limits for one compilation's use of registries: total requests, bytes and seconds."""

    def __init__(self, requests: int = 20, size: int = 2_000_000, seconds: float = 10.0) -> None:
        self.requests, self.size = requests, size
        self._until = time.monotonic() + seconds

    def ask(self) -> None:
        """Counts a request. Raises :class:`NoSchema` if the limit is exceeded."""
        self.requests -= 1
        if self.requests < 0:
            raise NoSchema("registry_requests")
        self.read(0)

    def read(self, size: int) -> None:
        """Counts bytes of a response. Raises :class:`NoSchema` if a limit is exceeded."""
        self.size -= size
        if self.size < 0:
            raise NoSchema("registry_size")
        if time.monotonic() > self._until:
            raise NoSchema("registry_slow")


class Schemas(Protocol):
    """A source of schemas."""

    def latest(self, registry: str, subject: str, budget: Budget) -> Found:
        """The latest schema of a subject. Raises :class:`NoSchema`."""
        ...


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirects, since a registry could redirect requests anywhere."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Returns None, so the response is handled as an error."""


_OPENER = build_opener(_NoRedirects)


class HttpSchemas:
    """Asks registries over HTTP."""

    def __init__(self, timeout: float = _TIMEOUT, good_for: float = _GOOD_FOR) -> None:
        self.timeout, self.good_for = timeout, good_for
        self._kept: dict[tuple[str, str], tuple[float, Found | NoSchema]] = {}
        self._lock = threading.Lock()

    def latest(self, registry: str, subject: str, budget: Budget | None = None) -> Found:
        """The latest schema, cached for `good_for` seconds; a failure is cached for less."""
        key, now = (registry, subject), time.monotonic()
        with self._lock:
            until, found = self._kept.get(key, (0.0, NoSchema()))
        if until < now:
            try:
                found = self._ask(registry, subject, budget or Budget())
            except NoSchema as error:
                found = error
            with self._lock:
                if len(self._kept) > 1000:
                    self._kept.clear()
                lasts = _BAD_FOR if isinstance(found, NoSchema) else self.good_for
                self._kept[key] = (time.monotonic() + lasts, found)
        if isinstance(found, NoSchema):
            raise NoSchema(found.code, **found.facts)
        return found

    def _ask(self, registry: str, subject: str, budget: Budget) -> Found:
        if not is_allowed(registry, os.environ.get(ALLOWED)):
            raise NoSchema("registry_not_allowed")
        answer = self._get(registry, subject, "latest", budget)
        imported = dict.fromkeys(self._imported(registry, answer, (subject,), budget))
        return Found(answer["schema"], tuple(imported), answer.get("id"))

    def _imported(
        self, registry: str, answer: Mapping[str, object], above: tuple[str, ...], budget: Budget
    ) -> Iterator[str]:
        references = answer.get("references") or ()
        for each in references if isinstance(references, list) else ():
            subject, version = str(each.get("subject")), str(each.get("version"))
            if subject in above:
                continue
            found = self._get(registry, subject, version, budget)
            yield from self._imported(registry, found, (*above, subject), budget)
            yield found["schema"]

    def _get(self, registry: str, subject: str, version: str, budget: Budget) -> dict[str, Any]:
        budget.ask()
        try:
            request = _request(registry, subject, version)
            with _OPENER.open(request, timeout=self.timeout) as answer:
                parts = []
                while part := answer.read1(_CHUNK):
                    budget.read(len(part))
                    parts.append(part)
                body = json.loads(b"".join(parts))
        except HTTPError as error:
            if error.code // 100 == 3:
                raise NoSchema("registry_redirects", status=error.code) from None
            if error.code == 404 and version == "latest":
                raise NoSchema("registry_subject") from None
            if error.code == 404:
                raise NoSchema("registry_version", referred=subject, version=version) from None
            if error.code in (401, 403):
                raise NoSchema("registry_credentials", status=error.code) from None
            raise NoSchema("registry_status", status=error.code) from None
        except (URLError, OSError) as error:
            reason = str(getattr(error, "reason", error))
            raise NoSchema("registry_unreachable", reason=reason) from None
        except ValueError:
            raise NoSchema("registry_response") from None
        if not isinstance(body, dict) or not isinstance(body.get("schema"), str):
            raise NoSchema("registry_response")
        return body


def _password(registry: str) -> str | None:
    """`user:password` for an address, if there is one."""
    try:
        known = json.loads(os.environ.get(PASSWORDS) or "{}")
    except ValueError:
        raise NoSchema("registry_passwords") from None
    for address, pair in known.items() if isinstance(known, dict) else ():
        base = str(address).rstrip("/")
        if registry == base or registry.startswith(base + "/"):
            return str(pair)
    return None


def _request(registry: str, subject: str, version: str) -> Request:
    """A GET for a version of a subject, with the credentials for the address."""
    if _origin(registry) is None:
        raise NoSchema("registry_address")
    parts = urlsplit(registry)
    name = str(parts.hostname)
    host = name if ":" not in name else f"[{name}]"
    place = f"{host}:{parts.port}" if parts.port else host
    path = f"{parts.path.rstrip('/')}/subjects/{quote(subject, safe='')}/versions/{version}"
    headers = {"Accept": "application/vnd.schemaregistry.v1+json"}
    pair = _password(registry)
    if pair is not None:
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    address = urlunsplit((parts.scheme, place, path, "", ""))
    return Request(address, headers=headers)  # noqa: S310


def is_allowed(registry: str, listed: str | None) -> bool:
    """Whether scheme, host and port of an address are in a comma-separated list.

    ``None``: all addresses are allowed.
    """
    if listed is None:
        return True
    asked = _origin(registry)
    return asked is not None and asked in {_origin(each.strip()) for each in listed.split(",")}


def _origin(address: str) -> tuple[str, str, int] | None:
    """Scheme, host and port; None if the address is not an HTTP or HTTPS address."""
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    return parts.scheme, parts.hostname, port or (443 if parts.scheme == "https" else 80)


class Unasked:
    """Refuses all schemas, for documents whose author is not permitted to send requests."""

    def latest(self, registry: str, subject: str, budget: Budget) -> Found:
        """Raises :class:`NoSchema`."""
        raise NoSchema("registry_unasked")


DEFAULT = HttpSchemas()


def resolve_schemas(graph: Graph, schemas: Schemas, report: Diagnostics) -> None:
    """Sets the types of formats of sources and sinks that name only a registry.

    A source needs its type for compilation. A sink's registry may be reachable only from the
    running job: a schema that cannot be fetched now is compared with the data when the job starts.
    """
    budget = Budget()
    for operator in graph.operators.values():
        for part in ("key", "value"):
            format_ = operator.values.get(part)
            if isinstance(format_, Format):
                faults = Faults(report, operator.id, part)
                needed = isinstance(operator, Source)
                operator.values[part] = _typed(format_, schemas, budget, faults, needed=needed)


def read_formats(
    formats: Mapping[str, object], schemas: Schemas, report: Diagnostics
) -> dict[str, Format]:
    """Reads formats in the JSON form of documents; a faulty one has no type."""
    budget, found = Budget(), {}
    for name, raw in formats.items():
        faults = Faults(report, None, name)
        format_ = FormatOf(name, "").parse(raw, faults)
        found[name] = _typed(format_, schemas, budget, faults, needed=True)
    return found


def _typed(
    format_: Format, schemas: Schemas, budget: Budget, faults: Faults, *, needed: bool
) -> Format:
    """The format with its type, from the registry if necessary.

    `needed`: report a fault if the registry does not return the schema.
    """
    properties = dict(format_.properties)
    if format_.type is not None or "schema" in properties:
        return format_
    if not {"registry", "subject"} <= set(properties):
        return format_
    registry, subject = properties["registry"], properties["subject"]
    try:
        found = schemas.latest(registry, subject, budget)
    except NoSchema as error:
        if needed:
            facts = {"registry": registry, "subject": subject, **error.facts}
            faults.add(error.code, path=".subject", **facts)
        return format_
    return read_schema(format_, found.text, faults, found.imported)
