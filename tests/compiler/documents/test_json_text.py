"""The text of committed JSON files."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from millrace_compiler.documents.json_text import WIDTH, text_of

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=20,
)


@given(VALUES)
def test_the_text_has_the_same_content_in_the_same_order(value: object) -> None:
    assert json.dumps(json.loads(text_of(value))) == json.dumps(value)


@pytest.mark.parametrize("sort_keys", [True, False])
def test_each_element_of_a_list_is_one_line(sort_keys: bool) -> None:
    node = {"id": "count", "kind": "count", "params": {"store": "x" * WIDTH}}
    text = text_of({"short": {"a": [1, 2]}, "nodes": [node, node]}, sort_keys=sort_keys)
    line = json.dumps(node)
    nodes = f' "nodes": [\n  {line},\n  {line}\n ]'
    short = ' "short": {"a": [1, 2]}'
    parts = [nodes, short] if sort_keys else [short, nodes]
    assert text == "{\n" + ",\n".join(parts) + "\n}\n"
