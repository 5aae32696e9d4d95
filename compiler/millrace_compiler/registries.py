"""Types of formats whose schema is in a schema registry.

Asked are the latest schemas of subjects, over the registry's HTTP interface. Answers, also bad
ones, are kept for a while, so that compiling at every keystroke asks once.
"""

from __future__ import annotations

import base64
import json
import os
import threading
import time
from dataclasses import replace
from typing import Protocol
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit, urlunsplit
from urllib.request import Request, urlopen

from millrace_compiler.diagnostics import Report
from millrace_compiler.formats import Format, read_schema
from millrace_compiler.graph import Graph
from millrace_compiler.operators.sources.base import Source
from millrace_compiler.parameters import Faults

ALLOWED = "MILLRACE_SCHEMA_REGISTRIES"
_TIMEOUT = 4.0
_GOOD_FOR, _BAD_FOR = 300.0, 15.0
_LARGEST = 1_000_000


class NoSchema(LookupError):
    """The registry does not tell the schema; the message says why."""


class Schemas(Protocol):
    """Where schemas are looked up."""

    def latest(self, registry: str, subject: str) -> str:
        """The text of the latest schema of a subject. Raises :class:`NoSchema`."""
        ...


class HttpSchemas:
    """Asks registries over HTTP.

    Where ``MILLRACE_SCHEMA_REGISTRIES`` is set, only addresses that begin with one of its
    comma-separated entries are asked.
    """

    def __init__(self, timeout: float = _TIMEOUT) -> None:
        self.timeout = timeout
        self._kept: dict[tuple[str, str], tuple[float, str | NoSchema]] = {}
        self._lock = threading.Lock()

    def latest(self, registry: str, subject: str) -> str:
        """The latest schema, kept for some minutes; a refusal is kept for some seconds."""
        key, now = (registry, subject), time.monotonic()
        with self._lock:
            until, found = self._kept.get(key, (0.0, NoSchema()))
        if until < now:
            try:
                found = self._ask(registry, subject)
            except NoSchema as error:
                found = error
            with self._lock:
                if len(self._kept) > 1000:
                    self._kept.clear()
                lasts = _BAD_FOR if isinstance(found, NoSchema) else _GOOD_FOR
                self._kept[key] = (time.monotonic() + lasts, found)
        if isinstance(found, NoSchema):
            raise NoSchema(str(found))
        return found

    def _ask(self, registry: str, subject: str) -> str:
        allowed = [each.strip() for each in os.environ.get(ALLOWED, "").split(",") if each.strip()]
        if allowed and not any(registry.startswith(each) for each in allowed):
            raise NoSchema(f"{registry} is not among the registries that may be asked")
        try:
            request = _request(registry, subject)
            with urlopen(request, timeout=self.timeout) as answer:  # noqa: S310
                body = json.loads(answer.read(_LARGEST))
        except HTTPError as error:
            if error.code == 404:
                raise NoSchema("it does not know this subject") from None
            raise NoSchema(f"it answers with status {error.code}") from None
        except (URLError, OSError) as error:
            raise NoSchema(f"it cannot be reached ({getattr(error, 'reason', error)})") from None
        except ValueError as error:
            raise NoSchema(f"it cannot be asked ({error})") from None
        schema = body.get("schema") if isinstance(body, dict) else None
        if not isinstance(schema, str):
            raise NoSchema("its answer has no schema")
        return schema


def _request(registry: str, subject: str) -> Request:
    """A GET for the latest version of a subject; a name and password in the address are sent."""
    parts = urlsplit(registry)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise NoSchema(f"{registry} is no http or https address")
    host = parts.hostname if ":" not in parts.hostname else f"[{parts.hostname}]"
    place = f"{host}:{parts.port}" if parts.port else host
    path = f"{parts.path.rstrip('/')}/subjects/{quote(subject, safe='')}/versions/latest"
    headers = {"Accept": "application/vnd.schemaregistry.v1+json"}
    if parts.username:
        pair = f"{parts.username}:{parts.password or ''}".encode()
        headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
    address = urlunsplit((parts.scheme, place, path, "", ""))
    return Request(address, headers=headers)  # noqa: S310


DEFAULT = HttpSchemas()


def resolve_schemas(graph: Graph, schemas: Schemas, report: Report) -> None:
    """Gives the formats of sources that name only a registry their types."""
    for operator in graph.operators.values():
        if not isinstance(operator, Source):
            continue
        for part in ("key", "value"):
            format_ = operator.values[part]
            if not isinstance(format_, Format) or format_.type is not None:
                continue
            properties = dict(format_.properties)
            if "schema" in properties or not {"registry", "subject"} <= set(properties):
                continue
            faults = Faults(report, operator.id, part)
            try:
                schema = schemas.latest(properties["registry"], properties["subject"])
            except NoSchema as error:
                reason = str(error)
                faults.add(
                    "registry", path=".subject", subject=properties["subject"], reason=reason
                )
                continue
            type_ = read_schema(format_.name, schema, faults)
            operator.values[part] = replace(format_, type=type_)
