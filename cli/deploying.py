"""`deploy` over the API of a server: what the wheel has in place of the launcher's command.

The server's address is `--server` or MILLRACE_SERVER, an API token of the account MILLRACE_TOKEN.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypedDict

from millrace_compiler import load_document
from millrace_compiler.state.plan_text import (
    DecisionError,
    decisions,
    plan_text,
    require_decided,
    require_known,
)
from millrace_runtime.errors import MillraceError

from cli.documents import read_text
from cli.programs import is_program, programs

#: a plan waits for the analyzer, which may have to start
SECONDS = 120.0
#: no draft has this revision, so that saving a version keeps the draft of its author
_NO_DRAFT = "-"


class _Error(TypedDict, total=False):
    """An error of the API."""

    message: str
    hint: str
    #: of the document
    node: str | None


class _Refused(Exception):
    """The server answers with an error."""

    def __init__(self, error: _Error) -> None:
        self.error = error
        super().__init__(f"{error.get('message', '')} {error.get('hint', '')}".strip())


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Ends with the answer of the server itself: another one would get the token."""

    def redirect_request(self, *_: object) -> None:
        """Return no request to follow."""


_opener = urllib.request.build_opener(_NoRedirects)


class _Server:
    """The API of a server, with a token."""

    def __init__(self, address: str, token: str) -> None:
        self.address, self._token = address.rstrip("/"), token

    def ask(self, path: str, sent: object = None) -> Any:
        """GET, or POST what is sent. Raises _Refused, or MillraceError if it does not respond."""
        request = urllib.request.Request(  # noqa: S310 - http or https, see `_server`
            f"{self.address}/api/{path}",
            data=None if sent is None else json.dumps(sent).encode(),
            headers={"Authorization": f"Token {self._token}", "Content-Type": "application/json"},
        )
        try:
            with _opener.open(request, timeout=SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                raise _Refused(_error_in(error)) from None
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", None) or error
            raise MillraceError(
                "server_unreachable",
                f"The server {self.address} does not respond as Millrace does: {reason}.",
            ) from None


def _error_in(answer: urllib.error.HTTPError) -> _Error:
    try:
        found: _Error = json.load(answer)["error"]
    except (ValueError, KeyError, TypeError):
        return {"message": f"The server answers {answer.code} {answer.reason}."}
    return found


def deploy_command(arguments: argparse.Namespace) -> int:
    """Show the plan; without --plan, deploy as well. Exit code 1 if the server refuses it."""
    server = _server(arguments)
    document = None if arguments.document is None else _document(arguments.document)
    try:
        decided = decisions(arguments.reset, arguments.drop, arguments.convert)
        row = server.ask(f"deployments/{arguments.deployment}")
        versions = f"topologies/{row['topology']}/versions"
        newest = server.ask(versions)["results"][0]["number"]
        what = {"version": arguments.to or newest} if document is None else {"document": document}
        plan = server.ask(f"deployments/{arguments.deployment}/plan", what)
        require_known(plan, decided)
        lines = plan_text(plan, row["topology_name"], row["settings"].get("environment"))
        print(json.dumps(plan, indent=2) if arguments.json else "\n".join(lines))
        require_decided(plan, decided)
        if arguments.plan:
            return 0
        if plan["version"] > newest:
            message = f"From {Path(arguments.document).name}"
            saved = {"document": document, "message": message, "base_version": newest}
            server.ask(versions, {**saved, "draft_revision": _NO_DRAFT})
        chosen = {"version": plan["version"], "stores": decided}
        server.ask(f"deployments/{arguments.deployment}/redeploy", chosen)
    except DecisionError as error:
        print(error, file=sys.stderr)
        return 1
    except _Refused as error:
        print(f"{_place(arguments.document, error.error)}{error}", file=sys.stderr)
        return 1
    told = f"Version {plan['version']} is being deployed on {server.address}."
    print(told, "The page shows the steps.", file=sys.stderr)
    return 0


def _server(arguments: argparse.Namespace) -> _Server:
    address = arguments.server or os.environ.get("MILLRACE_SERVER")
    if not address:
        raise MillraceError(
            "option_missing", "Pass the server's address: --server URL, or MILLRACE_SERVER."
        )
    if not address.startswith(("http://", "https://")):
        raise MillraceError("option_invalid", f"{address} is not an address such as https://….")
    token = os.environ.get("MILLRACE_TOKEN")
    if not token:
        raise MillraceError(
            "option_missing",
            "Set MILLRACE_TOKEN to an API token, which the settings on the page create.",
        )
    return _Server(address, token)


def _document(path: str) -> object:
    return programs.read(path) if is_program(path) else load_document(read_text(path))


def _place(path: str | None, error: _Error) -> str:
    """Return the file and line of the error's node, if it is one of a program."""
    place = programs.place(path, error.get("node"))
    return f"{place}: " if place else ""
