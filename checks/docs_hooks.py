"""Hooks of mkdocs for the documentation's site.

Pages are read as a code host shows them: `README.md` is the first page, links lead to files of the
repository, which become part of the site, and paths in code must exist. Every fault is a warning,
and so an error of the build.
"""

from __future__ import annotations

import logging
import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from jinja2 import Environment
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from checks import docs_texts, kafka_streams, recipes
from checks.docs_texts import Text
from launcher import places

log = logging.getLogger("mkdocs.millrace")
#: pages from outside of docs/, by their path in the repository
PAGES = {"README.md": "index.md", "CHANGELOG.md": "changes.md"}
_LINK = re.compile(r"(\]\()([^)#\s`:]+)(#[^)\s]*)?(\))")
_FENCED = re.compile(r"^(```.*?^```$)", re.MULTILINE | re.DOTALL)
_INCLUDE = re.compile(r'^(?:# )?--8<-- "(.+)"$', re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
#: top-level folders whose paths in the text are checked
_FOLDERS = (
    "backend bench checks cli compiler docs examples frontend launcher oracle runtime tests workers"
)
_PATH = re.compile(rf"(?:{'|'.join(_FOLDERS.split())})/[\w./-]*[\w/]")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Replace folders in the nav by their pages."""
    config.nav = [_expanded(each) for each in config.nav or []]
    return config


def _expanded(item: Any) -> Any:
    if isinstance(item, dict):
        return {name: _expanded(inner) for name, inner in item.items()}
    if isinstance(item, list):
        return [_expanded(each) for each in item]
    return _pages_of(item) if item.endswith("/") else item


def _pages_of(folder: str) -> list[str]:
    """README.md of a folder of docs/, and the pages that it links to, in the same order."""
    text = (places.REPOSITORY / "docs" / folder / "README.md").read_text(encoding="utf-8")
    linked = re.findall(r"\]\(([\w.-]+\.md)\)", text)
    return [f"{folder}README.md", *(folder + name for name in dict.fromkeys(linked))]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages from outside of docs/, and the files of the repository that pages link to."""
    for name, svg in recipes.drawings():
        files.append(File.generated(config, f"recipes/{name}.svg", content=svg))
    for path, src_uri in PAGES.items():
        text = (places.REPOSITORY / path).read_text(encoding="utf-8")
        files.append(File.generated(config, src_uri, content=text))
    for page in list(files.documentation_pages()):
        text = _FENCED.sub("", page.content_string)
        for _, target, _, _ in _LINK.findall(text):
            path = _in_repository(page.src_uri, target)
            if _source(path) and files.get_file_from_path(f"source/{path}") is None:
                found = places.REPOSITORY / path
                file = File.generated(config, f"source/{path}", abs_src_path=str(found))
                file.inclusion = InclusionLevel.NOT_IN_NAV
                files.append(file)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Check paths in code, and point links to where their targets are in the site."""
    included = _INCLUDE.sub(lambda found: _included(found.group(1), page), markdown)
    parts = _FENCED.split(included)
    for number in range(0, len(parts), 2):
        _check_paths(parts[number], page.file.src_uri)
        parts[number] = _LINK.sub(_moved(page.file.src_uri), parts[number])
    # A word after the language, such as `python test`, is for the project's own tests.
    return re.sub(r"^```(\w+) \w+$", r"```\1", "".join(parts), flags=re.MULTILINE)


def _included(path: str, page: Page) -> str:
    """A file of the repository as a page shows it: a table of data, otherwise its text.

    `examples/recipes/NAME/drawing.svg` stands for the drawing of the program beside it.
    """
    file = places.REPOSITORY / path
    if file.name == "drawing.svg" and file.with_name("job.py").is_file():
        picture = f"recipes/{file.parent.name}.svg"
        return f"![]({posixpath.relpath(picture, posixpath.dirname(page.file.src_uri))})"
    if not file.is_file():
        log.warning("Page %r includes %r, which is not in the repository.", page.file.src_uri, path)
        return ""
    if file == kafka_streams.FILE:
        return kafka_streams.table()
    if file.is_relative_to(recipes.FOLDER) and file.suffix == ".json":
        return recipes.table(file)
    return file.read_text(encoding="utf-8").strip()


def _moved(src_uri: str) -> Callable[[re.Match[str]], str]:
    def moved(link: re.Match[str]) -> str:
        start, target, anchor, end = link.groups()
        path = _in_repository(src_uri, target)
        if path.startswith("docs/"):
            place = path.removeprefix("docs/")
        elif path in PAGES:
            place = PAGES[path]
        elif _source(path):
            place = f"source/{path}"
        else:
            return link.group()
        here = posixpath.dirname(src_uri) or "."
        return f"{start}{posixpath.relpath(place, here)}{anchor or ''}{end}"

    return moved


def _in_repository(src_uri: str, target: str) -> str:
    """The path of a link's target in the repository."""
    outside = {place: path for path, place in PAGES.items()}
    page = PurePosixPath(outside.get(src_uri, f"docs/{src_uri}"))
    return posixpath.normpath(str(page.parent / target))


def _source(path: str) -> bool:
    """Whether it is a file of the repository outside of docs/ that is not a page."""
    inside = not path.startswith(("docs/", "../", "/")) and path not in PAGES
    return inside and (places.REPOSITORY / path).is_file()


def _check_paths(text: str, src_uri: str) -> None:
    for code in _CODE.findall(text):
        # Capitals stand for a name: `examples/KIND.json`.
        named = _PATH.fullmatch(code) and not re.search(r"/[A-Z]+\b(?!\.md)", code)
        if named and not (places.REPOSITORY / code).exists():
            log.warning("Page %r names the path %r, which is not in the repository.", src_uri, code)


def on_env(env: Environment, config: MkDocsConfig, files: Files) -> Environment:
    """Write llms.txt and llms-full.txt from the pages, in the order of the nav."""
    pages = [each.page for each in files.documentation_pages() if each.page is not None]
    order = {each: place for place, each in enumerate(_listed(config.nav))}
    pages = sorted(
        (each for each in pages if each.file.src_uri in order),
        key=lambda each: order[each.file.src_uri],
    )
    texts = [
        Text(
            # From the innermost to the outermost; a page at the top of the nav has none.
            section=str([config.site_name, *(each.title for each in page.ancestors)][-1]),
            title=str(page.title),
            url=page.url or "index.html",
            markdown=page.markdown or "",
        )
        for page in pages
    ]
    docs_texts.write(Path(config.site_dir), config.site_name, texts)
    return env


def _listed(nav: Any) -> Iterator[str]:
    if isinstance(nav, str):
        yield nav
    else:
        for each in nav.values() if isinstance(nav, dict) else nav:
            yield from _listed(each)
