"""Variable names of the generated job, from labels."""

from __future__ import annotations

import builtins
import keyword
import re

_LONGEST = 40
_ACRONYM = re.compile(r"[^a-z0-9]+")


class Names:
    """Assigns names that are unique in the job and are neither built-ins nor keywords."""

    def __init__(self, taken: set[str]) -> None:
        self.taken = taken
        self.words = set(dir(builtins)) | set(keyword.kwlist) | set(keyword.softkwlist)

    def take(self, *preferred: str) -> str:
        """Returns the name of :meth:`free` and reserves it."""
        name = self.free(*preferred)
        self.taken.add(name)
        return name

    def free(self, *preferred: str) -> str:
        """A name derived from the first usable preference; numbered if it is taken."""
        base = next((name for text in preferred if (name := identifier(text))), "step")
        name, serial = base, 1
        if name in self.words:
            name = f"{base}_"
        while name in self.taken or name in self.words:
            serial += 1
            name = f"{base}_{serial}"
        return name


def identifier(text: str) -> str:
    """``Count per word`` → ``count_per_word``; empty if the text cannot become a name."""
    if not text.isascii():
        return ""
    name = _ACRONYM.sub("_", text.lower()).strip("_")
    if len(name) > _LONGEST:
        name = name[:_LONGEST].rpartition("_")[0] or name[:_LONGEST]
    if not name:
        return ""
    return name if name[0].isalpha() else f"step_{name}"
