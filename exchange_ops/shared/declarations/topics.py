"""Who may follow a topic about the exchange account, for the rooms that declare one (`desk.rooms.Room.topics`).

Everybody with a role may read everything at their accounts. A person without a role is refused, and so is a key that
is not a number in a topic of rows. A topic without a key is for the whole desk: somebody who is limited to accounts
learns from its hints only that something changed (`desk.live.fanout`).
"""

from typing import TYPE_CHECKING

from django.db.models import Model

from desk.rooms import MayFollow
from exchange_ops.shared import rules

if TYPE_CHECKING:
    from desk.models import Person

LONGEST_NUMBER = 18  # digits of a row's number, which the database could look up


def row(model: type[Model], *, account: str = "account") -> MayFollow:
    """A topic of rows: everybody with a role at the row's account, which `account` names by its column.

    Everybody with a role may follow a row without an account.
    """

    def may_follow(person: "Person", key: str) -> bool:
        if not _is_number(key) or not rules.may_see(person):
            return False
        if not person.limits:
            return True
        if len(key) >= LONGEST_NUMBER:
            return False
        rows = model._default_manager.filter(pk=int(key))
        return (
            rules.seen_by(person, rows, account=account).exists()
            or rows.filter(**{f"{account}__isnull": True}).exists()
        )

    return may_follow


def desk_row(person: "Person", key: str) -> bool:
    """A topic of rows without an account: everybody with a role."""
    return _is_number(key) and rules.may_see(person)


def symbol(person: "Person", key: str) -> bool:
    """A topic of a public market, whose key is made of its symbol: everybody with a role."""
    return bool(key) and rules.may_see(person)


def desk_wide(person: "Person", key: str) -> bool:
    """A topic without a key: everybody with a role."""
    return not key and rules.may_see(person)


def keys(person: "Person", key: str) -> bool:
    """A topic without a key: everybody who may see the exchange keys."""
    return not key and rules.may_see_keys(person)


def _is_number(key: str) -> bool:
    return key.isascii() and key.isdigit()
