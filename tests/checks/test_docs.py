"""``./millrace docs``: the site is complete, stands alone, and a broken link is an error."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from playwright.sync_api import Browser

from checks import docs
from checks.steps import environment
from launcher import places
from launcher.console import Problem

CATALOG = places.REPOSITORY / "compiler" / "millrace_compiler" / "catalog" / "catalog.json"
FAULTS = """\
# Page

[No page](nowhere.md), [no heading](#nothing), [no file](../tests/nowhere.py), `tests/nowhere.py`

```python
# --8<-- "examples/nowhere.py"
```
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The whole site. Its build fails if a link, an anchor or a path leads nowhere."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "launcher.main", "docs", "-o", str(folder)],
        cwd=places.REPOSITORY, env=environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_in_the_site_and_can_be_searched(site: Path) -> None:
    pages = [path.relative_to(places.REPOSITORY / "docs")
             for path in (places.REPOSITORY / "docs").rglob("*.md")]  # fmt: skip
    index = json.loads((site / "search" / "search_index.json").read_text("utf-8"))
    found = {entry["location"] for entry in index["docs"]}
    for page in pages:
        name = str(page.with_suffix(".html")).replace("README.html", "index.html")
        assert (site / name).is_file(), name
        assert name in found


def test_the_site_loads_nothing_from_other_hosts(site: Path) -> None:
    for page in site.rglob("*.html"):
        loaded = re.findall(r"<(?:script|link|img)\b[^>]*(?:src|href)=\"?(https?:[^\s\">]+)",
                            page.read_text("utf-8"))  # fmt: skip
        assert not loaded, page


@pytest.mark.browser
@pytest.mark.parametrize(
    ("words", "page"), [("three failures", "three-failures.html"), ("墓碑", "latest-value.html")]
)
def test_pages_opened_as_files_find_words(
    browser: Browser, site: Path, words: str, page: str
) -> None:
    tab = browser.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto((site / "index.html").as_uri())
    tab.click(".md-search__input")
    tab.keyboard.type(words)
    tab.keyboard.press("End")  # pasted Chinese has no key of its own
    tab.wait_for_selector(
        f".md-search-result__link[href*='{page}']", state="attached", timeout=10_000
    )
    tab.close()
    assert {url.partition(":")[0] for url in asked} <= {"file", "data", "blob"}


def test_llms_txt_has_a_sentence_for_every_page(site: Path) -> None:
    text = (site / "llms.txt").read_text("utf-8")
    lines = [line for line in text.splitlines() if line.startswith("- ")]
    assert len(lines) > 80
    for line in lines:
        assert re.fullmatch(r"- \[[^\]]+\]\([\w./-]+\.html\): .{9,}", line), line
    assert "## Recipes\n" in text
    assert "Rows carry the position" in (site / "llms-full.txt").read_text("utf-8")


def test_a_recipe_has_its_program_its_drawing_and_its_records(site: Path) -> None:
    page = (site / "zh" / "recipes" / "bad-records.html").read_text("utf-8")
    assert "dead_letter_topic" in page
    assert "orders: <code>o2 (other bytes)</code>" in page
    assert 'src="../../recipes/bad-records.svg"' in page
    picture = ET.fromstring((site / "recipes" / "bad-records.svg").read_text("utf-8"))
    texts = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert texts == ["Orders", "orders", "Per piece", "Map values", "To a topic", "prices"]


def test_a_page_that_points_nowhere_is_an_error(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text(FAULTS, encoding="utf-8")
    with pytest.raises(Problem, match=r"^The site has faults"):
        docs.build(tmp_path / "site", docs_dir=str(tmp_path / "docs"), nav=["page.md"])
    of_the_page = [each.message for each in caplog.records if "page.md" in each.message]
    for fault in (
        "link 'nowhere.md'",
        "link '#nothing'",
        "link '../tests/nowhere.py'",
        "the path 'tests/nowhere.py'",
        "includes 'examples/nowhere.py'",
    ):
        assert any(fault in message for message in of_the_page), fault


def test_a_folder_with_other_files_is_refused_and_kept(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(Problem, match="is not empty and has no site"):
        docs.build(tmp_path)
    assert [each.name for each in tmp_path.iterdir()] == ["thesis.txt"]


def test_the_page_of_columns_lists_every_parameter_with_an_expression() -> None:
    text = (places.REPOSITORY / "docs" / "columns.md").read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \| (.*) \|$", text, re.MULTILINE)
    listed = {name: columns for columns, names in rows for name in re.findall(r"`([\w.]+)`", names)}
    sets: dict[str, set[str]] = {}
    for kind in json.loads(CATALOG.read_text("utf-8"))["kinds"]:
        for parameter in kind["parameters"]:
            if parameter["expression"]:
                name = f"{kind['kind']}.{parameter['name']}"
                sets.setdefault(parameter["expression"]["columns"], set()).add(listed[name])
    assert sets["join"] == {"`key`, `left`, `right`, `timestamp`"}
    assert all(len(rows) == 1 for rows in sets.values()), sets
