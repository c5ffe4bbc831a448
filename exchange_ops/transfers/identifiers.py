"""How another user of the exchange is named, and whether a name only looks like one that we know.

Money sent to another user is gone for good, so the typed name has to be plain: an e-mail address or a user name in
visible ASCII. It is also compared with everybody who was ever sent money: approvers are warned of one that differs in a
few characters, or in characters that look alike.
"""

import re
from collections.abc import Iterable

from exchange_ops.shared.models import Account
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer
from exchange_ops.transfers.states import EMAIL, IDENTIFIED_BY, TO_USER, USERNAME

LONGEST_EMAIL, LONGEST_USERNAME = 254, 80
CLOSE = 2  # characters that differ at most between two names that are easily confused
_EMAIL = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)+"
)
_USERNAME = re.compile(r"[A-Za-z0-9._-]{1,80}")
_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "5": "s", "2": "z", "-": "", "_": "", ".": ""})


def problem(*, by: str, identifier: str) -> str:
    """Why this can't be the name of a user, or an empty text."""
    if by not in IDENTIFIED_BY:
        return "Choose e-mail address or username."
    if not identifier:
        return f"Enter the other user's {IDENTIFIED_BY[by]}."
    if not identifier.isascii() or not identifier.isprintable():
        return f"The {IDENTIFIED_BY[by]} contains look-alike characters or accents. Retype it in plain letters."
    if by == EMAIL and not (len(identifier) <= LONGEST_EMAIL and _EMAIL.fullmatch(identifier)):
        return "Enter a valid e-mail address."
    if by == USERNAME and not _USERNAME.fullmatch(identifier):
        return f"Use only letters, digits, dots, hyphens and underscores, up to {LONGEST_USERNAME} characters."
    return ""


def lookalikes(*, account: Account, by: str, identifier: str) -> list[str]:
    """Earlier recipients that this name may be mistaken for; none when it is one of them."""
    recipients = set(_recipients(account, by))
    if identifier in recipients or identifier.lower() in {name.lower() for name in recipients}:
        return []
    return sorted(name for name in recipients if _confusable(name, identifier))


def is_known(*, account: Account, by: str, identifier: str) -> bool:
    """Whether money was sent to exactly this name before."""
    return identifier.lower() in {name.lower() for name in _recipients(account, by)}


def _recipients(account: Account, by: str) -> Iterable[str]:
    paid = Transfer.objects.filter(account=account, kind=TO_USER, by=by, state__in=(states.DONE, states.RESOLVED_MOVED))
    return paid.values_list("identifier", flat=True).distinct()


def _confusable(recipient: str, name: str) -> bool:
    one, other = _skeleton(recipient), _skeleton(name)
    return one == other or _differs_by(one, other, CLOSE)


def _skeleton(name: str) -> str:
    """The name with lookalike characters made equal."""
    return name.lower().translate(_ALIKE).replace("rn", "m").replace("vv", "w")


def _differs_by(one: str, other: str, limit: int) -> bool:
    """Whether at most `most` insertions, removals and replacements turn one into the other."""
    if abs(len(one) - len(other)) > limit:
        return False
    row = list(range(len(other) + 1))
    for number, letter in enumerate(one, 1):
        last, row[0] = row[0], number
        for place, other_letter in enumerate(other, 1):
            last, row[place] = row[place], min(row[place] + 1, row[place - 1] + 1, last + (letter != other_letter))
    return row[-1] <= limit
