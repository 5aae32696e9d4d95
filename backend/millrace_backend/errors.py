"""Error responses: ``{"error": {"code", "message", "hint", "fields"?, ...data}}``."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

import structlog
from django.conf import settings
from django.core.exceptions import PermissionDenied, RequestDataTooBig
from django.db import OperationalError
from django.http import Http404, HttpRequest, JsonResponse
from millrace_model.events import CauseFields
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

log = structlog.get_logger(__name__)


class ApiError(exceptions.APIException):
    """An error response with a code, a message, a hint and further data."""

    status_code: int = status.HTTP_400_BAD_REQUEST
    #: seconds after which the request may be sent again
    wait: float | None = None

    def __init__(
        self,
        code: str,
        message: str,
        hint: str = "",
        *,
        fields: Mapping[str, Any] | None = None,
        **data: Any,
    ) -> None:
        super().__init__(message, code)
        self.code = code
        self.message = message
        self.hint = hint
        self.fields = fields
        self.data = data


def cause(
    code: str, message: str, facts: Mapping[str, object] | None = None, **more: Any
) -> CauseFields:
    """Return a cause in the form of the API; further fields of a diagnostic are dropped."""
    named = {name: str(fact) for name, fact in (facts or {}).items()}
    return {"code": code, "facts": named, "message": message, "cause": more.get("cause")}


class Conflict(ApiError):
    """The request conflicts with the current state."""

    status_code = status.HTTP_409_CONFLICT


class Forbidden(ApiError):
    """The account may not do this."""

    status_code = status.HTTP_403_FORBIDDEN


class NotFound(ApiError):
    """The object does not exist, or is not visible to this account."""

    status_code = status.HTTP_404_NOT_FOUND


class TooMany(ApiError):
    """Too many attempts."""

    status_code = status.HTTP_429_TOO_MANY_REQUESTS


class Unavailable(ApiError):
    """A required service does not respond."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE


#: codes and hints for errors of the framework
HINTS: dict[type[Exception], tuple[str, str]] = {
    exceptions.NotAuthenticated: ("not_authenticated", "Sign in, or send an API token."),
    exceptions.AuthenticationFailed: (
        "authentication_failed",
        "Check the token: it may have expired or been revoked.",
    ),
    exceptions.PermissionDenied: ("permission_denied", ""),
    exceptions.NotFound: ("not_found", "It may have been deleted, or belong to someone else."),
    exceptions.MethodNotAllowed: (
        "method_not_allowed",
        "The API description lists the allowed methods.",
    ),
    exceptions.ParseError: ("not_json", "Send one JSON value, encoded in UTF-8."),
    exceptions.UnsupportedMediaType: (
        "unsupported_media_type",
        "Send JSON with Content-Type: application/json.",
    ),
    exceptions.NotAcceptable: ("not_acceptable", "The API responds with JSON."),
    exceptions.Throttled: ("throttled", "Wait, then try again."),
}


def body(
    code: str, message: str, hint: str = "", fields: Mapping[str, object] | None = None, **data: Any
) -> dict[str, Any]:
    """Return the envelope of an error."""
    error: dict[str, Any] = {"code": code, "message": message, "hint": hint}
    if fields is not None:
        error["fields"] = fields
    return {"error": {**error, **data}}


def handle(error: Exception, context: Mapping[str, object]) -> Response | None:
    """Return the response to an exception, as DRF's handler; None leaves it to the server."""
    if isinstance(error, Http404):
        error = exceptions.NotFound("There is nothing at this address for this account.")
    elif isinstance(error, PermissionDenied):
        error = exceptions.PermissionDenied()
    elif isinstance(error, OperationalError):
        log.error("database", error=str(error))
        error = Unavailable(
            "database_unavailable",
            "The database cannot be read or written now. Nothing was saved.",
            "Check that it is running and that its disk is not full, then try again.",
        )
    if not isinstance(error, exceptions.APIException):
        return None
    set_rollback()
    headers = _headers(error)
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = error.auth_header  # type: ignore[attr-defined]
    return Response(content_of(error), status=error.status_code, headers=headers)


def _headers(error: exceptions.APIException) -> dict[str, str]:
    wait: float | None = getattr(error, "wait", None)
    return {} if wait is None else {"Retry-After": str(ceil(wait))}


def refused(error: exceptions.APIException) -> JsonResponse:
    """Return the response to a request that is refused before it reaches Django."""
    return JsonResponse(
        content_of(error),
        status=error.status_code,
        headers={**_headers(error), "Cache-Control": "no-store"},
    )


def too_busy(*, own: bool) -> ApiError:
    """Return the error of a request for which there is no thread, nor room to wait for one.

    ``own``: it is the requests of the same person that take up the room.
    """
    error = (
        TooMany(
            "requests_of_one",
            "Too many of your requests are being processed at this moment.",
            "Send fewer at the same time, and this one again in a few seconds.",
        )
        if own
        else Unavailable(
            "requests_of_all",
            "The server is processing too many requests at this moment.",
            "Send this one again in a few seconds.",
        )
    )
    error.wait = 2.0
    return error


def content_of(error: exceptions.APIException) -> dict[str, object]:
    """Return the envelope for an exception."""
    if isinstance(error, ApiError):
        return body(error.code, error.message, error.hint, error.fields, **error.data)
    if isinstance(error, exceptions.ValidationError):
        fields = error.detail if isinstance(error.detail, dict) else {"non_field": error.detail}
        first = first_message(fields)
        return body(
            "invalid",
            f"The request is not valid: {first}",
            "Correct the fields listed.",
            fields,
            found=first,
        )
    # DRF raises a plain PermissionDenied for CSRF failures, which only its text identifies.
    if str(error.detail).startswith("CSRF Failed"):
        return body(*CSRF_FAILED)
    code, hint = HINTS.get(type(error), (str(error.default_code), ""))
    return body(code, str(error.detail), hint)


def first_message(detail: Any, path: str = "") -> str:
    """The first message of nested errors, with the path of its field."""
    if isinstance(detail, Mapping):
        for name, inner in detail.items():
            if inner:
                return first_message(inner, f"{path}.{name}" if path else str(name))
    if isinstance(detail, list | tuple):
        for inner in detail:
            if inner:
                return first_message(inner, path)
    shown = "" if path in {"", "non_field", "non_field_errors"} else f"{path}: "
    return f"{shown}{detail}"


def respond(status_code: int, code: str, message: str, hint: str = "", **data: Any) -> JsonResponse:
    """Return the envelope as a response outside of DRF."""
    return JsonResponse(body(code, message, hint, **data), status=status_code)


def locked_out(
    request: HttpRequest, credentials: Mapping[str, object] | None = None, *_: Any, **__: Any
) -> JsonResponse:
    """Response after too many failed sign-ins."""
    return respond(429, *LOCKED)


LOCKED = (
    "locked_out",
    "Too many failed sign-ins for this name from this address.",
    "Wait ten minutes, or ask an admin for a one-time sign-in link.",
)


def csrf_failure(request: HttpRequest, reason: str = "") -> JsonResponse:
    """Response to a request without a valid CSRF token."""
    return respond(403, *CSRF_FAILED)


CSRF_FAILED = (
    "csrf_failed",
    "The request does not contain the session's CSRF token.",
    "Send the cookie csrftoken's value in the header X-CSRFToken, or use an API token.",
)


def not_found(request: HttpRequest, *_: Any, **__: Any) -> JsonResponse:
    """Response for a path that the API does not have."""
    return respond(
        404,
        "not_found",
        f"There is no {request.path} in this API.",
        "GET /api/schema lists every address.",
    )


def server_error(request: HttpRequest) -> JsonResponse:
    """Response to an unexpected exception; the log has the cause."""
    return respond(
        500,
        "server_error",
        "The server failed to process the request.",
        "The backend's log contains the cause, under the id of this request.",
        request_id=getattr(request, "request_id", None),
    )


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:
    """Response to a request that Django rejects before it reaches a view."""
    if isinstance(exception, RequestDataTooBig):
        return JsonResponse(too_large(), status=413)
    return respond(400, "bad_request", "The request is malformed.", str(exception)[:200])


def too_large() -> dict[str, object]:
    """Return the envelope for a body that is too large."""
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE // 1024 // 1024
    return body("too_large", f"The body is larger than {limit} MB.", "Send less.")
