"""The reference of programs is that of the runtime."""

import re

import millrace_runtime
from millrace_runtime import testing

from checks.program_api import FILE, SECTIONS, text


def test_the_committed_reference_is_that_of_the_runtime() -> None:
    assert FILE.read_text("utf-8") == text(), "run ./millrace api"


def test_the_reference_has_every_name_that_programs_import() -> None:
    names = " ".join(SECTIONS.values()).split()
    assert sorted(names) == sorted([*millrace_runtime.__all__, *testing.__all__])


def test_everything_in_the_reference_is_explained() -> None:
    entries = re.split(r"^###+ ", text(), flags=re.MULTILINE)[1:]
    names, bodies = zip(*(each.split("\n", 1) for each in entries), strict=True)
    plain = [re.sub(r"```.*?```", "", each, flags=re.DOTALL).strip() for each in bodies]
    assert [name for name, body in zip(names, plain, strict=True) if not body] == []
    assert {"Topology.stream", "TopologyTestDriver.store", "Response.resume"} <= set(names)
    assert "emit: Literal['every_update', 'window_close'] = 'every_update'" in text()
