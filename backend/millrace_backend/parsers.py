"""Parses JSON bodies, and rejects what could not be stored or sent back."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

#: a NUL character as JSON writes it, but not an escaped backslash before "u0000"
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")


class StrictJSONParser(JSONParser):
    """Parses JSON in UTF-8 of limited size and depth, without surrogates or NUL characters."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the parsed value. Raises ParseError with the reason."""
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        raw = stream.read(limit + 1)
        if len(raw) > limit:
            raise ParseError(f"The body is larger than {limit // 1024 // 1024} MB.")
        try:
            value = json.loads(raw.decode("utf-8"), parse_constant=_no_constant)
            again = json.dumps(value, ensure_ascii=False)
            again.encode("utf-8")
        except RecursionError:
            raise ParseError("The JSON is nested too deeply.") from None
        except UnicodeEncodeError:
            raise ParseError("The text contains an unpaired surrogate.") from None
        except ValueError as error:
            raise ParseError(f"JSON parse error - {error}") from None
        # The regular expression is slow, so a plain search comes first.
        if "\\u0000" in again and _NUL.search(again):
            raise ParseError("The text contains a NUL character.")
        return value


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON value")
