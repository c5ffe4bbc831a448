"""The bundle as a file: its manifest, and whether each member is the one that the manifest names."""

import hashlib
import io
import json
import re
import zipfile
from typing import Any

from exchange_ops.evidence.verifier.report import Report

BUNDLE_FORM = "countersign-evidence-1"
MANIFEST, SEAL = "manifest.json", "manifest.sha256"
MOST_BYTES = 2_000_000_000  # of one member, so that no bundle fills the memory


class NotABundle(Exception):
    """The file can't be read as a bundle; the message is a sentence."""


def read_members(path: str, content: "bytes | None" = None) -> dict[str, bytes]:
    """The members of the file by their names, or of a bundle within it by its `content`. Raises NotABundle."""
    try:
        with zipfile.ZipFile(path if content is None else io.BytesIO(content)) as bundle:
            infos = bundle.infolist()
            if len({info.filename for info in infos}) != len(infos):
                raise NotABundle("Two members of the file have one name.")
            if any(info.file_size > MOST_BYTES for info in infos):
                raise NotABundle("A member of the file is too large.")
            return {info.filename: bundle.read(info) for info in infos}
    except (OSError, zipfile.BadZipFile, ValueError, RuntimeError, EOFError, NotImplementedError) as problem:
        raise NotABundle(f"{path} can't be read: {problem}") from None


def check_members(members: dict[str, bytes], report: Report, form: str = BUNDLE_FORM) -> dict[str, Any]:
    """Compare each member with the manifest, and return the manifest; an empty one if it can't be read."""
    raw = members.get(MANIFEST, b"")
    sealed = members.get(SEAL, b"").decode("ascii", "replace")
    expected = f"{hashlib.sha256(raw).hexdigest()}  {MANIFEST}\n"
    report.check(
        MANIFEST,
        sealed == expected,
        "The manifest has the SHA-256 that manifest.sha256 names.",
        f"{MANIFEST} and {SEAL} do not belong together: one of them was changed.",
    )
    try:
        manifest = json.loads(raw)
        entries = {entry["name"]: entry for entry in manifest["members"]}
    except (ValueError, TypeError, KeyError, RecursionError):
        report.fails(MANIFEST, f"{MANIFEST} can't be read.")
        return {}
    report.check("form", manifest.get("form") == form, f"The bundle has the form {form}.")
    for name in sorted(entries.keys() | (members.keys() - {MANIFEST, SEAL})):
        if name not in members:
            report.fails(name, f"{name} is missing: the manifest names it.")
        elif name not in entries:
            report.fails(name, f"{name} is not in the manifest: it was added.")
        else:
            is_same = hashlib.sha256(members[name]).hexdigest() == entries[name].get("sha256")
            report.check(name, is_same, f"{name} is as the manifest names it.", f"{name} was changed.")
    return manifest if isinstance(manifest, dict) else {}


def read_json(members: dict[str, bytes], name: str, report: Report) -> Any:
    """The content of a member; None, and a failed check, if it can't be read."""
    try:
        return json.loads(members[name])
    except (KeyError, ValueError, RecursionError):
        report.fails(name, f"{name} is missing or can't be read.")
        return None


def lines_of(text: str) -> list[str]:
    """The lines of a file, which a line feed alone ends.

    `str.splitlines` ends a line at seven more characters: a line feed that was changed into one would go unseen.
    """
    *lines, rest = text.split("\n")
    return [*lines, rest] if rest else lines


def canonical_text(value: Any) -> str:
    """The one text of a content that digests are made of: keys sorted, no blanks, ASCII alone."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def plain_words(text: str) -> str:
    """Blanks and line ends count alike, as browsers and forms write them differently."""
    return " ".join(text.split())


def is_hash(text: Any) -> bool:
    """Whether this is a SHA-256 in hexadecimal."""
    return isinstance(text, str) and re.fullmatch(r"[0-9a-f]{64}", text) is not None
