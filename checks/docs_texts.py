"""`llms.txt` and `llms-full.txt`: the documentation for language models, https://llmstxt.org."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
#: the first letters of what is no paragraph: headings, lists, tables, pictures, comments, notes
_NO_PARAGRAPH = ("#", "- ", "* ", "|", "!", "<", "    ", "Generated from")


@dataclass(frozen=True)
class Text:
    """A page of the site."""

    section: str
    title: str
    #: of the page in the site
    url: str
    markdown: str

    @property
    def sentence(self) -> str:
        """Its first sentence, without markup; empty if it has no paragraph."""
        for paragraph in _FENCED.sub("", self.markdown).split("\n\n"):
            text = re.sub(r"^\*\*\w+\.\*\* ", "", " ".join(paragraph.split()))
            kind = re.match(r"`[\w.]+` · ", text)
            if text and not kind and not paragraph.lstrip("\n").startswith(_NO_PARAGRAPH):
                plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text).replace("*", "")
                return re.split(r"(?<=[.:?])\s|(?<=[。：])", plain, maxsplit=1)[0].rstrip(":：")
        return ""


def write(folder: Path, name: str, texts: list[Text]) -> None:
    """Write both files; pages stand in their sections, in the order of the nav."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = [f"# {name}"]
    full = []
    section = None
    for each in texts:
        if each.section != section:
            section = each.section
            summary.append(f"\n## {section}\n")
        sentence = f": {each.sentence}" if each.sentence else ""
        summary.append(f"- [{each.title}]({each.url}){sentence}")
        full.append(f"<!-- {each.url} -->\n\n{each.markdown.strip()}\n")
    (folder / "llms.txt").write_text("\n".join(summary) + "\n", encoding="utf-8")
    (folder / "llms-full.txt").write_text("\n".join(full), encoding="utf-8")
