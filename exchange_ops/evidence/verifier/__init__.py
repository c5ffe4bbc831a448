"""The verifier of evidence bundles: parts that need Python's standard library alone, joined into one file."""

import re
from pathlib import Path
from typing import Final

NAME: Final = "verify_evidence.py"
_PARTS: Final = (
    "report",
    "curve",
    "members",
    "passkeys",
    "addresses",
    "blocks",
    "trail",
    "request",
    "votes",
    "payment",
    "files",
    "payout",
    "period",
    "command",
)
# Imports of one part by another: in the joined file all names are there already.
_BETWEEN_PARTS: Final = re.compile(
    r"^from exchange_ops\.evidence\.verifier\.\w+ import (?:\([^)]*\)|[^\n(]*)\n", re.MULTILINE
)


def source() -> str:
    """The verifier as one Python file, that runs without the desk."""
    folder = Path(__file__).parent
    return "\n\n".join(_BETWEEN_PARTS.sub("", (folder / f"{part}.py").read_text()) for part in _PARTS)
