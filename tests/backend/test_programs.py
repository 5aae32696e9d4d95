"""Programs through the API: who may import one, and what its errors say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.backend.conftest import Client, People, RecordedSimulator, document

PATH = "/api/workspaces/main/programs"
PROGRAM = {"name": "shop.py", "program": "from millrace_runtime import Topology\n"}


def test_an_operator_gets_the_document_of_a_program(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    client = client_of(people.operator)
    simulator.answer = {"document": document("a")}
    answer: Any = client.post(PATH, {**PROGRAM, "run": "typing"}, format="json")
    assert (answer.status_code, answer.json()["document"]) == (200, document("a"))
    assert client.post(PATH, PROGRAM, format="json").status_code == 200
    asked = {"do": "read_program", "owner": f"person {people.operator.pk}", **PROGRAM}
    assert simulator.asked == [{**asked, "run": "typing"}, {**asked, "run": None}]


def test_the_code_of_people_who_may_not_deploy_does_not_run(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    for person in (people.viewer, people.editor):
        answer: Any = client_of(person).post(PATH, PROGRAM, format="json")
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (403, "role_too_small")
        assert "`./millrace document`" in error["hint"]
    assert simulator.asked == []


def test_an_error_of_the_program_is_passed_on_with_its_line(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    message = "shop.py, line 3: NameError: name 'x' is not defined"
    simulator.answer = {"error": {"code": "program_failed", "node": None, "message": message}}
    answer: Any = client_of(people.operator).post(PATH, PROGRAM, format="json")
    assert answer.status_code == 400
    assert answer.json()["error"]["message"] == message


@pytest.mark.parametrize("name", ["../shop.py", "a/b.py", "shop.txt", ""])
def test_a_name_that_is_no_python_file_is_refused(
    name: str, people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    given = {**PROGRAM, "name": name}
    answer: Any = client_of(people.operator).post(PATH, given, format="json")
    assert (answer.status_code, list(answer.json()["error"]["fields"])) == (400, ["name"])
    assert simulator.asked == []
