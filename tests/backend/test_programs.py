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
    assert (answer.status_code, answer.json()) == (
        200,
        {"document": document("a"), "problem": None},
    )
    files = {"prices/__init__.py": "", "prices/discount.py": "HALF = 0.5\n"}
    assert client.post(PATH, {**PROGRAM, "files": files}, format="json").status_code == 200
    asked = {"do": "read_program", "owner": f"person {people.operator.pk}", **PROGRAM}
    assert simulator.asked == [
        {**asked, "run": "typing", "files": {}},
        {**asked, "run": None, "files": files},
    ]


def test_the_code_of_people_who_may_not_deploy_does_not_run(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    for person in (people.viewer, people.editor):
        answer: Any = client_of(person).post(PATH, PROGRAM, format="json")
        error = answer.json()["error"]
        assert (answer.status_code, error["code"]) == (403, "role_too_small")
        assert "`./millrace document`" in error["hint"]
    assert simulator.asked == []


@pytest.mark.parametrize(
    ("code", "message", "place"),
    [
        ("program_failed", "shop.py, line 3: NameError: name 'x' is not defined", ("shop.py", 3)),
        ("program_failed", "prices/discount.py, line 12: KeyError", ("prices/discount.py", 12)),
        ("program_ended", "The program's process ended.", (None, None)),
        ("simulation_cancelled", "The reading of the program was canceled.", (None, None)),
    ],
)
def test_the_problem_of_a_program_is_a_result_with_its_place(
    code: str,
    message: str,
    place: tuple[str | None, int | None],
    people: People,
    client_of: Client,
    simulator: RecordedSimulator,
) -> None:
    simulator.answer = {"error": {"code": code, "node": None, "message": message}}
    answer: Any = client_of(people.operator).post(PATH, PROGRAM, format="json")
    file, line = place
    problem = {"code": code, "message": message, "node": None, "file": file, "line": line}
    assert (answer.status_code, answer.json()) == (200, {"document": None, "problem": problem})


def test_a_simulator_that_is_busy_is_an_error(
    people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    simulator.answer = {"error": {"code": "simulator_busy", "message": "All are in use."}}
    assert client_of(people.operator).post(PATH, PROGRAM, format="json").status_code == 429


@pytest.mark.parametrize(
    "path", ["../shop.py", "/shop.py", "a b.py", "shop.txt", "1a.py", "a//b.py"]
)
def test_a_path_that_is_no_module_beside_the_program_is_refused(
    path: str, people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    given = {**PROGRAM, "files": {path: ""}}
    answer: Any = client_of(people.operator).post(PATH, given, format="json")
    assert (answer.status_code, list(answer.json()["error"]["fields"])) == (400, ["files"])
    assert simulator.asked == []


@pytest.mark.parametrize("name", ["../shop.py", "a/b.py", "shop.txt", ""])
def test_a_name_that_is_no_python_file_is_refused(
    name: str, people: People, client_of: Client, simulator: RecordedSimulator
) -> None:
    given = {**PROGRAM, "name": name}
    answer: Any = client_of(people.operator).post(PATH, given, format="json")
    assert (answer.status_code, list(answer.json()["error"]["fields"])) == (400, ["name"])
    assert simulator.asked == []
