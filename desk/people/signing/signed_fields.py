"""What somebody types or chooses beside a digest, signed with it: a finding with its verdict and reason, a new key.

The page's digest is of what was there when the page was drawn. Its passkey button sends the fields that the form names
in `data-signs`, and the challenge is made for both together; the decision makes the same of what the form brought. So a
field that is changed after the device was asked fits no signature.
"""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final

from desk.audit import trail

MOST_FIELDS = 8
# The fields for a person's own words: a decision has one of them.
COMMENT: Final = "comment"
REASON: Final = "reason"
_OWN_WORDS: Final = ({COMMENT}, {REASON})


def bind(digest: str, fields: Mapping[str, str]) -> str:
    """The digest that is signed: of the content with this digest and of these fields by name.

    Without any field it is `digest` itself. Blanks and line ends count alike, because forms and scripts write them
    differently.
    """
    if not fields:
        return digest
    content = ["countersign-fields-1", digest, [[name, " ".join(fields[name].split())] for name in sorted(fields)]]
    return hashlib.sha256(trail.canonical(content).encode()).hexdigest()


def countable(digest: str, fields: Mapping[str, str]) -> set[str]:
    """Every digest under which a stored vote counts for this content and these fields.

    Versions before 0.8.0 signed `digest` alone. Such a vote counts where all that its signature left out is the
    person's own reason: what was decided on is signed. Where it left out a choice, nothing proves which one the person
    made; the vote does not count, and the person can give it again. No new vote is accepted under the earlier form.
    """
    return {bind(digest, fields)} | ({digest} if fields.keys() in _OWN_WORDS else set())


def as_text(values: Iterable[str]) -> str:
    """The values of one field with several, in whichever order they were chosen."""
    return " ".join(sorted(values))
