"""The page of public applications is that of the programs in the tests."""

from __future__ import annotations

import pytest

from tests.testing import applications as written

JAVA = """package a;

import b.C;

/** A topology
    of two lines. */
public class App {
    private final Logger logger = LoggerFactory.getLogger(App.class);

    public Topology build(String topic) { // it has braces: {}
        builder.stream(topic)
            .peek((key, value) ->
                logger.info("{} {}", key, value))
            .to("out");
        logger.info(
            "built");
        return builder.build();
    }

    public void rebuild(String topic) {
        build(topic);
    }
}
"""


def test_the_page_has_the_lines_of_the_programs() -> None:
    found = written.page()
    assert written.PAGE.read_text("utf-8") == found, "python -m tests.testing.applications"
    assert len(written.applications()) >= 47


@pytest.mark.parametrize(("method", "lines"), [("", 11), ("build", 5), ("rebuild", 3)])
def test_imports_comments_and_logging_are_not_counted(method: str, lines: int) -> None:
    assert written.count(JAVA, method) == lines
