"""The pictures of screens: their names, and that prepared answers are those of the API."""

from __future__ import annotations

import json
from typing import Any

import pytest

from checks import screen_answers as given
from checks.screens import SCREENS
from tests.described import validator

PAGES = {"/alerts": "AlertPage", "/alert-rules": "AlertRulePage"}
ONE = {
    "/repository": "RepositoryState",
    "/repository/changes/Orders": "OutsideChangeDetail",
    "/plan": "StatePlan",
}
MANY = {"/repository/changes": "OutsideChange", "/missing-topics": "MissingTopic"}
PREPARED: dict[str, Any] = {**given.ALERTS, **given.REPOSITORY, **given.PLAN, **given.MISSING}


def test_screens_have_names_of_their_own() -> None:
    names = [screen.name for screen in SCREENS]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("end", PREPARED)
def test_a_prepared_answer_is_one_that_the_api_can_give(end: str) -> None:
    answer = json.loads(json.dumps(PREPARED[end]))
    if end in MANY:
        for each in answer:
            validator(MANY[end]).validate(each)
    else:
        validator({**PAGES, **ONE}[end]).validate(answer)
