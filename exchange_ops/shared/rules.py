"""Who may: predicates over a person and, where it matters, the object. Everything else is denied.

The rule that nobody decides on their own request is kept here for the pages, again in the domain, and again as a
constraint and a trigger in the database.
"""

from typing import TYPE_CHECKING

from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person


def may_see(person: "Person") -> bool:
    """Every role may read everything about the account; somebody without a role may not."""
    return person.has_role(*roles.ALL)


def may_request(person: "Person") -> bool:
    """Operators ask for payouts."""
    return person.has_role(roles.OPERATOR)


def may_trade(person: "Person") -> bool:
    """Operators place and cancel orders; they don't leave the account, so nobody else has to agree."""
    return person.has_role(roles.OPERATOR)


def may_freeze(person: "Person") -> bool:
    """Treasury and administrators stop everything, alone."""
    return person.has_role(roles.TREASURY, roles.ADMIN)


def may_thaw(person: "Person") -> bool:
    """Two people of treasury start it again."""
    return person.has_role(roles.TREASURY)


def may_see_keys(person: "Person") -> bool:
    """Administrators keep the keys of the exchange accounts; auditors read what became of them."""
    return person.has_role(roles.ADMIN, roles.AUDITOR)


def may_keep_keys(person: "Person") -> bool:
    """Administrators add, rotate and disable keys."""
    return person.has_role(roles.ADMIN)


def may_keep_subaccounts(person: "Person") -> bool:
    """Administrators freeze, activate and set sub-accounts."""
    return person.has_role(roles.ADMIN)


def may_reread_subaccounts(person: "Person") -> bool:
    """Everybody who works with them may have them read again; auditors only look."""
    return person.has_role(roles.OPERATOR, roles.TREASURY, roles.ADMIN)


def may_reread_addresses(person: "Person") -> bool:
    """Everybody who works with addresses may have them read again; auditors only look."""
    return person.has_role(roles.OPERATOR, roles.TREASURY, roles.ADMIN)


def may_send_requests(person: "Person") -> bool:
    """Everybody who works with the outside services may ask them from the console; auditors read what was asked."""
    return person.has_role(roles.OPERATOR, roles.TREASURY, roles.ADMIN)
