"""Who may: predicates over a person and, where it matters, the object. Everything else is denied.

`at` is the account that something belongs to, and whoever acts is asked for it: a role may be held at some accounts
only. Without it the answer is for the account that the request is about, or for any; it opens a page, no more.

The rule that nobody decides on their own request is kept here for the pages, again in the domain, and again as a
constraint and a trigger in the database.
"""

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from desk.people import roles
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person


def may(person: "Person", *names: str, at: Account | int | None) -> bool:
    """Whether the person holds one of the roles at this account; for None see above."""
    if at is None:
        return person.has_role(*names)
    return person.has_role(*names, scope=str(at.pk if isinstance(at, Account) else at))


def seen_by(person: "Person", rows: QuerySet[Any], *, account: str = "account") -> QuerySet[Any]:
    """Of these rows those of the accounts at which the person holds any role."""
    held = person.scopes(*roles.ALL)
    return rows if held is None else rows.filter(**{f"{account}__in": [int(scope) for scope in held]})


def may_see(person: "Person", at: Account | int | None = None) -> bool:
    """Every role may read everything about the account; somebody without a role may not."""
    return may(person, *roles.ALL, at=at)


def may_request(person: "Person", at: Account | int | None = None) -> bool:
    """Operators ask for payouts."""
    return may(person, roles.OPERATOR, at=at)


def may_trade(person: "Person", at: Account | int | None = None) -> bool:
    """Operators place and cancel orders; they don't leave the account, so nobody else has to agree."""
    return may(person, roles.OPERATOR, at=at)


def may_freeze(person: "Person", at: Account | int | None = None) -> bool:
    """Treasury and administrators stop everything, alone."""
    return may(person, roles.TREASURY, roles.ADMIN, at=at)


def may_thaw(person: "Person", at: Account | int | None = None) -> bool:
    """Two people of treasury start it again."""
    return may(person, roles.TREASURY, at=at)


def may_see_keys(person: "Person", at: Account | int | None = None) -> bool:
    """Administrators keep the keys of the exchange accounts; auditors read what became of them."""
    return may(person, roles.ADMIN, roles.AUDITOR, at=at)


def may_keep_keys(person: "Person", at: Account | int | None = None) -> bool:
    """Administrators add, rotate and disable keys."""
    return may(person, roles.ADMIN, at=at)


def may_keep_subaccounts(person: "Person", at: Account | int | None = None) -> bool:
    """Administrators freeze, activate and set sub-accounts."""
    return may(person, roles.ADMIN, at=at)


def may_reread_subaccounts(person: "Person", at: Account | int | None = None) -> bool:
    """Everybody who works with them may have them read again; auditors only look."""
    return may(person, roles.OPERATOR, roles.TREASURY, roles.ADMIN, at=at)


def may_reread_addresses(person: "Person", at: Account | int | None = None) -> bool:
    """Everybody who works with addresses may have them read again; auditors only look."""
    return may(person, roles.OPERATOR, roles.TREASURY, roles.ADMIN, at=at)


def may_send_requests(person: "Person", at: Account | int | None = None) -> bool:
    """Everybody who works with the outside services may ask them from the console; auditors read what was asked."""
    return may(person, roles.OPERATOR, roles.TREASURY, roles.ADMIN, at=at)
