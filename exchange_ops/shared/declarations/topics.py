"""Who may follow a topic about the exchange account, for the rooms that declare one (`desk.rooms.Room.topics`).

Everybody with a role may read everything at their accounts; a person without one, and a key that is not a number where
a row is meant, is refused. A topic without a key is one for the whole desk: somebody who is limited to accounts gets no
more of its hints than that something changed (`desk.live.fanout`).
"""

from typing import TYPE_CHECKING

from django.db.models import Model

from desk.rooms import MayFollow
from exchange_ops.shared import rules

if TYPE_CHECKING:
    from desk.models import Person

LONGEST_NUMBER = 18  # digits of a row's number, which the database could look up


def row(model: type[Model], *, account: str = "account") -> MayFollow:
    """Everybody with a role at the account of the row that the key numbers; `account` is its column.

    A row that is of no account may be followed by everybody with a role.
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
    """A numbered row that is of no account: everybody with a role."""
    return _is_number(key) and rules.may_see(person)


def symbol(person: "Person", key: str) -> bool:
    """A public market, by a key made of the name of its symbol: everybody with a role."""
    return bool(key) and rules.may_see(person)


def desk_wide(person: "Person", key: str) -> bool:
    """A topic without a key: everybody with a role."""
    return not key and rules.may_see(person)


def keys(person: "Person", key: str) -> bool:
    """A topic without a key, for those who may see the exchange keys."""
    return not key and rules.may_see_keys(person)


def _is_number(key: str) -> bool:
    return key.isascii() and key.isdigit()
