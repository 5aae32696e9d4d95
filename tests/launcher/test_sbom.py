from __future__ import annotations

import json
from importlib import resources
from pathlib import Path

import jsonschema
from referencing import Registry, Resource

from launcher import packages, sbom


def test_the_bill_of_materials_lists_every_locked_package(tmp_path: Path) -> None:
    target = tmp_path / "sbom.cdx.json"
    assert sbom.main(["sbom", "-o", str(target)]) == 0
    bill = json.loads(target.read_text())
    assert {each["purl"] for each in bill["components"]} == {
        each.purl for each in packages.locked()
    }
    jars = [each for each in bill["components"] if each["purl"].startswith("pkg:maven")]
    assert jars
    assert all(len(each["hashes"][0]["content"]) == 64 for each in jars)
    first = target.read_bytes()
    sbom.main(["sbom", "-o", str(target)])
    assert target.read_bytes() == first


def test_the_bill_of_materials_fits_the_schema_of_cyclonedx() -> None:
    schemas = resources.files("cyclonedx.schema") / "_res"
    contents = {
        name: json.loads((schemas / f"{name}.SNAPSHOT.schema.json").read_text())
        for name in ("bom-1.6", "spdx", "jsf-0.82")
    }
    registry = Registry().with_resources(
        (
            f"http://cyclonedx.org/schema/{name}.SNAPSHOT.schema.json",
            Resource.from_contents(content),
        )
        for name, content in contents.items()
    )
    bill = json.loads(sbom.cyclonedx("millrace", "1", packages.locked()))
    jsonschema.Draft7Validator(contents["bom-1.6"], registry=registry).validate(bill)
