"""The bill of materials: every locked package as CycloneDX JSON.

``./millrace sbom`` writes that of the whole installation, which is also in the image; the wheel
contains its own.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path

from launcher import commands, packages
from launcher.console import echo
from launcher.packages import Package


def main(arguments: list[str]) -> int:
    """Write the bill of materials of the installation."""
    parser = commands.parser("sbom")
    parser.add_argument("-o", "--output", default="sbom.cdx.json", metavar="FILE")
    options = parser.parse_args(arguments[1:])
    target = Path(options.output)
    listed = packages.locked()
    target.write_text(cyclonedx("millrace", packages.version(), listed), encoding="utf-8")
    echo(f"sbom: {target} lists {len(listed)} packages")
    return 0


def cyclonedx(name: str, version: str, listed: Iterable[Package]) -> str:
    """Return the bill of materials of one application in CycloneDX 1.6, as JSON.

    The same packages yield the same text: it has neither a time nor a random serial number.
    """
    from cyclonedx.model import HashAlgorithm, HashType
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.output.json import JsonV1Dot6
    from packageurl import PackageURL

    bom = Bom()
    root = Component(
        name=name, version=version, type=ComponentType.APPLICATION, bom_ref=f"{name}@{version}"
    )
    bom.metadata.component = root
    for package in listed:
        group, _, artifact = package.name.rpartition(":")
        hashes = [HashType(alg=HashAlgorithm.SHA_256, content=package.sha256)]
        component = Component(
            name=artifact,
            group=group or None,
            version=package.version,
            type=ComponentType.LIBRARY,
            purl=PackageURL.from_string(package.purl),
            bom_ref=package.purl,
            hashes=hashes if package.sha256 else None,
        )
        bom.components.add(component)
        bom.register_dependency(root, [component])
    return _without_chance(JsonV1Dot6(bom).output_as_string(indent=1))


def _without_chance(text: str) -> str:
    content = json.loads(text)
    content.pop("serialNumber", None)
    content["metadata"].pop("timestamp", None)
    return json.dumps(content, indent=1) + "\n"


if __name__ == "__main__":
    sys.exit(main(["sbom", *sys.argv[1:]]))
