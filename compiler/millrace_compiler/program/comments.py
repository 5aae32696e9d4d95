"""Converts comments of a program to labels and descriptions of nodes, and back.

The comment directly above a call belongs to its node. The first line is the label, unless it ends
like a sentence; the rest is the description, in which an empty line begins a new line.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

_SENTENCE = (".", "!", "?", ":", "…", "。")


def read_comment(lines: Sequence[str]) -> tuple[str | None, str | None]:
    """Label and description from the lines of a comment, which begin with ``#``."""
    texts = [line.strip().removeprefix("#").strip() for line in lines]
    label = None
    if texts and texts[0] and not texts[0].endswith(_SENTENCE):
        label, texts = texts[0], texts[1:]
    paragraphs: list[list[str]] = [[]]
    for text in texts:
        if text:
            paragraphs[-1].append(text)
        else:
            paragraphs.append([])
    description = "\n".join(" ".join(words) for words in paragraphs).strip("\n")
    return label, description or None


def write_comment(label: str | None, description: str | None, width: int) -> list[str] | None:
    """The lines of a comment, at most ``width`` long; ``None`` if they could not be read back."""
    lines = [f"# {label}"] if label else []
    for index, paragraph in enumerate(description.split("\n") if description else []):
        if index:
            lines.append("#")
        lines += [f"# {line}" for line in textwrap.wrap(paragraph, width - 2)]
    fits = all(len(line) <= width and line.isprintable() for line in lines)
    read = read_comment(lines) if fits else (None, None)
    return lines if fits and read == (label or None, description or None) else None
