"""`manage.py sbom`: what a desk is made of, as a CycloneDX 1.6 document in JSON, from the lock alone.

The same lock gives the same document to the byte: its serial number is made from the lock, and it carries no time.
"""

import argparse
import hashlib
import json
import re
import sys
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from project.bootstrap import ROOT

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==(\S+)(?: ; (.+?))? \\$")
_HASH = re.compile(r"^    --hash=sha256:([0-9a-f]{64})")


class CannotRead(Exception):
    """A line of a lock that names no pinned version."""


def document(lock: str, *, name: str, version: str) -> dict[str, Any]:
    """The document for the text of a lock: one component for each package, with the digests of all its files."""
    components = list(_components(lock))
    digest = hashlib.sha256(lock.encode()).hexdigest()
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest)}",
        "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": name, "name": name, "version": version}},
        "components": components,
        "dependencies": [{"ref": name, "dependsOn": [each["bom-ref"] for each in components]}],
    }


def _components(lock: str) -> Iterator[dict[str, Any]]:
    component: dict[str, Any] = {}
    for line in lock.splitlines():
        if pinned := _PINNED.match(line):
            if component:
                yield component
            component = _component(*pinned.groups())
        elif hashed := _HASH.match(line):
            component["properties"].append({"name": "countersign:file:sha256", "value": hashed[1]})
        elif line and not line.startswith(("#", " ")):
            raise CannotRead(f"The lock file has {line!r}, which does not pin a version.")
    if component:
        yield component


def _component(name: str, version: str, marker: str | None) -> dict[str, Any]:
    purl = f"pkg:pypi/{re.sub('[-_.]+', '-', name).lower()}@{version}"
    properties = [{"name": "countersign:installed-where", "value": marker}] if marker else []
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "scope": "optional" if marker else "required",
        "properties": properties,
    }


def main(arguments: Sequence[str]) -> int:
    """Print the document; 0 when the lock could be read."""
    parser = argparse.ArgumentParser(
        prog="manage.py sbom", description="Print the desk's bill of materials as CycloneDX."
    )
    parser.add_argument("--lock", default="requirements.txt", help="the lock file next to manage.py")
    options = parser.parse_args(arguments)
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    text = (ROOT / options.lock).read_text()
    bill = document(text, name="countersign", version=version[1] if version else "")
    sys.stdout.write(json.dumps(bill, indent=2) + "\n")
    return 0
