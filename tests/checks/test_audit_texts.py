"""The page has a text for every action that the audit log of a workspace records."""

from __future__ import annotations

import ast
import re

from launcher import places

TEXTS = places.REPOSITORY / "frontend" / "src" / "pages" / "auditTexts.ts"
#: functions that write to the audit log, and get the code of the action
WRITERS = {"audit", "_audit", "_changed", "ChangeByPerson"}
#: codes that are put together
COMPOSED = {"test.keep", "test.delete", "deployment.skip_record", "deployment.dead_letter_record"}
#: actions that belong to no workspace, which only the log of the installation has
ELSEWHERE = ("account.", "session.", "token.")


def recorded() -> set[str]:
    """Return the codes of all actions that the backend records."""
    found: set[str] = set()
    for path in (places.REPOSITORY / "backend").rglob("*.py"):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(call, ast.Call):
                continue
            if getattr(call.func, "id", None) not in WRITERS:
                continue
            found |= {
                each.value
                for argument in call.args
                for each in ast.walk(argument)
                if isinstance(each, ast.Constant)
                and isinstance(each.value, str)
                and re.fullmatch(r"[a-z_]+\.[a-z_]+", each.value)
            }
    return found


def test_every_recorded_action_has_a_text_on_the_page() -> None:
    text = TEXTS.read_text("utf-8")
    shown = set(re.findall(r'^  "([a-z_]+\.[a-z_]+)": phrase', text, re.MULTILINE))
    wanted = {code for code in recorded() if not code.startswith(ELSEWHERE)} | COMPOSED
    assert len(wanted) > 50
    assert wanted == shown
