"""Topic patterns: regular expressions that are matched in linear time.

A pattern comes from a document, so it must not be able to block the process that matches it. RE2
has no backreferences and no lookaround. The running job matches topics with Java, so syntax that
RE2 and Java interpret differently is refused as well.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: memory in bytes that RE2 may use for one pattern, and maximum length of a pattern
_MEMORY, _LONGEST = 1 << 20, 1000
_GROUPS = {
    "(?=": "lookahead “(?=”",
    "(?!": "lookahead “(?!”",
    "(?<=": "lookbehind “(?<=”",
    "(?<!": "lookbehind “(?<!”",
    "(?>": "an atomic group “(?>”",
    "(?P": "“(?P”, which Java does not support",
}
#: Java's named classes, restricted to the characters of topic names
_CLASSES = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "Alpha": "A-Za-z",
    "Digit": "0-9",
    "Alnum": "A-Za-z0-9",
    "Punct": "._-",
    "Graph": "A-Za-z0-9._-",
    "Print": "A-Za-z0-9._-",
    "ASCII": "A-Za-z0-9._-",
    "XDigit": "0-9A-Fa-f",
    "IsAlphabetic": "A-Za-z",
    "IsLetter": "A-Za-z",
    "IsDigit": "0-9",
    "IsLowercase": "a-z",
    "IsUppercase": "A-Z",
    "IsPunctuation": "._-",
    "javaLowerCase": "a-z",
    "javaUpperCase": "A-Z",
}
_TOKEN = re.compile(
    r"\\Q.*?(?:\\E|\Z)|\\[pP]\{(?P<named>\w+)\}|\\u(?P<code>[0-9A-Fa-f]{4})|\\(?P<escape>.)"
    r"|(?P<group>\(\?(?:<[=!]|[=!>P]))|(?P<twice>(?:[*+?]|\{\d+(?:,\d*)?\})\+)"
    r"|\{\d+(?:,\d*)?\}|&&|.",
    re.DOTALL,
)


class NoPattern(ValueError):
    """The text is not a supported pattern; the message contains the reason."""


class TopicPattern:
    """A compiled pattern for full topic names. Raises :class:`NoPattern` if it is not supported."""

    def __init__(self, text: str) -> None:
        if len(text) > _LONGEST:
            raise NoPattern(f"it has {len(text)} characters, more than {_LONGEST}")
        # Imported here so that programs without patterns run without the package.
        import re2

        options = re2.Options()
        options.max_mem, options.log_errors = _MEMORY, False
        options.never_capture = True
        try:
            self._compiled = re2.compile(_for_re2(text), options)
            self._whole = re2.compile(rf"\A(?:{_for_re2(text)})", options)
        except re2.error as error:
            reason = error.args[0] if error.args else "it cannot be read"
            raise NoPattern(
                reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
            ) from None

    def matches(self, topic: str) -> bool:
        """Whether the pattern matches the full name of the topic."""
        return self._compiled.fullmatch(topic) is not None

    def begins_with(self, prefix: str) -> bool:
        """Whether all matching names begin with this prefix; False if RE2 cannot decide."""
        import re2

        try:
            low, high = self._whole.possiblematchrange(len(prefix.encode()) + 1)
        except re2.error:
            return False
        start = prefix.encode()
        return bool(low.startswith(start) and high.startswith(start))


@lru_cache(maxsize=256)
def topic_pattern(text: str) -> TopicPattern:
    """The compiled pattern, cached. Raises :class:`NoPattern`."""
    return TopicPattern(text)


def _for_re2(text: str) -> str:
    """Translates a pattern from Java to RE2. Raises :class:`NoPattern` for other syntax."""
    parts: list[str] = []
    inside, first = False, -1
    for found in _TOKEN.finditer(text):
        part = found[0]
        if found["named"] in _CLASSES:
            part = _named_class(found["named"], negated=part[1] == "P", inside=inside)
        elif found["code"]:
            part = rf"\x{{{found['code']}}}"
        elif inside:
            if part.startswith("[") or part == "&&":
                raise NoPattern(f"it has “{part}” within a character class")
            # A “]” at the start is a character of the class.
            inside = part != "]" or found.start() == first
        else:
            _refuse(found)
            inside = part == "["
            first = found.end() + (text[found.end() : found.end() + 1] == "^")
        parts.append(part)
    return "".join(parts)


def _refuse(found: re.Match[str]) -> None:
    """Raises :class:`NoPattern` for syntax outside of classes that RE2 does not support."""
    part = found[0]
    if found["escape"] and found["escape"] in "123456789k":
        raise NoPattern(f"it has a backreference “{part}”")
    if found["group"]:
        raise NoPattern(f"it has {_GROUPS[part]}")
    if found["twice"]:
        raise NoPattern(f"it has a possessive quantifier “{part}”")
    if part == "{":
        raise NoPattern("a “{” does not start a quantifier; write “\\{” for the character")


def _named_class(name: str, *, negated: bool, inside: bool) -> str:
    characters = _CLASSES[name]
    if not inside:
        return f"[{'^' if negated else ''}{characters}]"
    if negated:
        raise NoPattern(f"it has “\\P{{{name}}}” within a character class")
    return characters
