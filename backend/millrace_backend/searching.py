"""The parameter ``?search=`` of lists: its limits, and its text and words."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from millrace_backend.errors import ApiError

#: A list compares each word with several columns of each row, so few words are allowed.
MOST_WORDS, MOST_CHARACTERS = 10, 200


def search_parameter(description: str) -> OpenApiParameter:
    """Return the description of the parameter, with its maximum length."""
    text = {"type": "string", "maxLength": MOST_CHARACTERS}
    return OpenApiParameter("search", text, description=description)


SEARCH_PARAMETER = search_parameter(f"Words that must all occur, {MOST_WORDS} at most.")


def searched_text(request: Request) -> str:
    """Return the text that a request searches for. Raises ApiError if it is over a limit."""
    text = request.query_params.get("search", "")
    if len(text) > MOST_CHARACTERS:
        raise _too_long(f"{len(text):,} characters", f"{MOST_CHARACTERS} characters")
    words = len(text.split())
    if words > MOST_WORDS:
        raise _too_long(f"{words} words", f"{MOST_WORDS} words")
    return text


def searched_words(request: Request) -> list[str]:
    """Return the words that a request searches for. Raises ApiError if it is over a limit."""
    return searched_text(request).split()


def _too_long(found: str, limit: str) -> ApiError:
    return ApiError(
        "search_too_long",
        f"The search has {found}; at most {limit} are allowed.",
        "Search for fewer or shorter words.",
        fields={"search": [f"At most {limit}."]},
    )
