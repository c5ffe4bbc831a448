"""Who may do what: predicates over a person and, where it matters, the account. Everything else is denied.

`at` is the account that something belongs to. Every act passes it, because a person may hold a role at some accounts
only. Without it the answer is for the account of the request, or for any account: enough to open a page, no more.

The domain and the database (a constraint and a trigger) enforce again that nobody decides on their own request.
"""

from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet

from desk.people import roles
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person


def may(person: "Person", *names: str, at: Account | int | None) -> bool:
    """Whether the person holds one of the roles at this account; for None see the module."""
    if at is None:
        return person.has_role(*names)
    return person.has_role(*names, scope=str(at.pk if isinstance(at, Account) else at))


def seen_by(person: "Person", rows: QuerySet[Any], *, account: str = "account") -> QuerySet[Any]:
    """The rows whose account the person holds any role at."""
    held = person.scopes(*roles.ALL)
    return rows if held is None else rows.filter(**{f"{account}__in": [int(scope) for scope in held]})


def may_see(person: "Person", at: Account | int | None = None) -> bool:
    """Every role may read everything about the account; somebody without a role may not."""
    return may(person, *roles.ALL, at=at)


def may_request(person: "Person", at: Account | int | None = None) -> bool:
    """Operators request payouts."""
    return may(person, roles.OPERATOR, at=at)


def may_trade(person: "Person", at: Account | int | None = None) -> bool:
    """Operators place and cancel orders; nothing leaves the account, so nobody else has to agree."""
    return may(person, roles.OPERATOR, at=at)


def may_freeze(person: "Person", at: Account | int | None = None) -> bool:
    """One person of treasury or an administrator can freeze an account alone."""
    return may(person, roles.TREASURY, roles.ADMIN, at=at)


def may_thaw(person: "Person", at: Account | int | None = None) -> bool:
    """Two people of treasury end a freeze."""
    return may(person, roles.TREASURY, at=at)


def may_order_freeze(person: "Person", scope: str = "") -> bool:
    """Whether the person can freeze an account, or (`scope` empty) what holds at every account."""
    return person.has_role(roles.TREASURY, roles.ADMIN, scope=scope)


def may_lift_freeze(person: "Person", scope: str = "") -> bool:
    """Whether the person can be one of the two who lift a freeze of this scope."""
    return person.has_role(roles.TREASURY, scope=scope)


def may_settle_records(person: "Person", at: Account | int | None = None) -> bool:
    """Two people of treasury choose between two records of the exchange."""
    return may(person, roles.TREASURY, at=at)


def may_see_keys(person: "Person", at: Account | int | None = None) -> bool:
    """Administrators manage the keys of the exchange accounts; auditors read their history."""
    return may(person, roles.ADMIN, roles.AUDITOR, at=at)


def may_keep_keys(person: "Person", at: Account | int | None = None) -> bool:
    """Administrators add, rotate and disable keys."""
    return may(person, roles.ADMIN, at=at)


def may_keep_subaccounts(person: "Person", at: Account | int | None = None) -> bool:
    """Administrators freeze and activate sub-accounts and change their settings."""
    return may(person, roles.ADMIN, at=at)


def may_reread_subaccounts(person: "Person", at: Account | int | None = None) -> bool:
    """Everybody but auditors may have sub-accounts read again."""
    return may(person, roles.OPERATOR, roles.TREASURY, roles.ADMIN, at=at)


def may_reread_addresses(person: "Person", at: Account | int | None = None) -> bool:
    """Everybody but auditors may have addresses read again."""
    return may(person, roles.OPERATOR, roles.TREASURY, roles.ADMIN, at=at)


def may_send_requests(person: "Person", at: Account | int | None = None) -> bool:
    """Everybody but auditors may send requests from the console; auditors read them."""
    return may(person, roles.OPERATOR, roles.TREASURY, roles.ADMIN, at=at)
