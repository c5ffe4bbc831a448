"""What somebody types or chooses beside a digest, signed with it: a finding with its verdict and reason, a new key.

The page's digest is of what was there when the page was drawn. Its passkey button sends the fields that the form names
in `data-signs`, and the challenge is made for both together; the decision makes the same of what the form brought. So a
field that is changed after the device was asked fits no signature.
"""

import hashlib
from collections.abc import Iterable, Mapping

from desk.audit import trail

MOST_FIELDS = 8


def whole(digest: str, fields: Mapping[str, str]) -> str:
    """The digest of what was shown and of these fields by name; without any it is `digest` itself.

    Blanks and line ends count alike, because forms and scripts write them differently.
    """
    if not fields:
        return digest
    content = ["countersign-fields-1", digest, [[name, " ".join(fields[name].split())] for name in sorted(fields)]]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def several(values: Iterable[str]) -> str:
    """The values of one field with several, in whichever order they were chosen."""
    return " ".join(sorted(values))
