"""Names are one line of text, wherever a person can set one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .test_rights import BODIES, OPERATIONS, ROOT, World, world  # noqa: F401  (a fixture)

DESCRIPTION = json.loads((ROOT / "backend" / "openapi.json").read_text(encoding="utf-8"))
NAMES = {"name", "display_name", "username"}
#: requests with a name that must be that of an existing object, or one that is never stored
CONFIRMATIONS = {"shadow_end", "session_begin", "deployment_start", "deployment_redeploy"}
NAMED = [
    (operation, name)
    for operation, body in BODIES.items()
    for name in sorted(NAMES & body.keys())
    if operation not in CONFIRMATIONS
]


@pytest.mark.parametrize(("operation", "name"), NAMED)
def test_a_name_with_a_control_character_is_refused(
    operation: str,
    name: str,
    world: World,  # noqa: F811
) -> None:
    client: Any = world.client("installation" if operation.startswith("installation") else "admin")
    method, path = OPERATIONS[operation]
    for broken in ("a\rb", "a\nb", "a\x1bb", "a\x85b", "a\u2028b"):
        answer = getattr(client, method)(
            path.format(**world.ids), {**BODIES[operation], name: broken}
        )
        assert answer.status_code == 400, repr(broken)
        assert name in answer.json()["error"]["fields"]


def test_every_request_with_a_name_is_among_these() -> None:
    named = {operation for operation, _ in NAMED} | CONFIRMATIONS
    assert {operation for operation in OPERATIONS if NAMES & _fields(operation)} - named == set()


def _fields(operation: str) -> set[str]:
    """Return the fields of a request's body."""
    method, path = OPERATIONS[operation]
    body = DESCRIPTION["paths"][path][method].get("requestBody")
    if body is None:
        return set()
    schema = body["content"]["application/json"]["schema"]
    found = DESCRIPTION["components"]["schemas"][schema["$ref"].rsplit("/", 1)[-1]]
    return set(found.get("properties", {}))
