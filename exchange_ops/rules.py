"""Who may: predicates over a person and, where it matters, the object. Everything else is denied.

The rule that nobody decides on their own request is kept here for the pages, again in the domain, and again as a
constraint and a trigger in the database.
"""

from typing import TYPE_CHECKING

from desk import roles
from exchange_ops.models import Transfer, Withdrawal, states

if TYPE_CHECKING:
    from desk.models import Person


def may_see(person: "Person") -> bool:
    """Every role may read everything about the account; somebody without a role may not."""
    return person.has_role(*roles.ALL)


def may_request(person: "Person") -> bool:
    """Operators ask for payouts."""
    return person.has_role(roles.OPERATOR)


def may_decide(person: "Person", withdrawal: Withdrawal) -> bool:
    """Treasury approves and rejects, never what they asked for themselves."""
    return person.has_role(roles.TREASURY) and person.pk != withdrawal.initiator_id


def may_cancel(person: "Person", withdrawal: Withdrawal) -> bool:
    """Whoever asked can take it back; treasury can do so too before the exchange was asked."""
    if person.pk == withdrawal.initiator_id:
        return person.has_role(roles.OPERATOR, roles.TREASURY)
    return person.has_role(roles.TREASURY) and withdrawal.state in {"draft", "queued"}


def may_recall(person: "Person", withdrawal: Withdrawal) -> bool:
    """Treasury can call back an approval as long as the exchange was told nothing."""
    return person.has_role(roles.TREASURY) and withdrawal.state == "committing" and withdrawal.put_count == 0


def may_trade(person: "Person") -> bool:
    """Operators place and cancel orders; they don't leave the account, so nobody else has to agree."""
    return person.has_role(roles.OPERATOR)


def may_freeze(person: "Person") -> bool:
    """Treasury and administrators stop everything, alone."""
    return person.has_role(roles.TREASURY, roles.ADMIN)


def may_thaw(person: "Person") -> bool:
    """Two people of treasury start it again."""
    return person.has_role(roles.TREASURY)


def may_resolve(person: "Person", withdrawal: Withdrawal) -> bool:
    """Two people of treasury close an unclear case, never the one who asked for it."""
    return may_decide(person, withdrawal) and withdrawal.state in {"investigate", "disputed"}


def may_release_hold(person: "Person", withdrawal: Withdrawal) -> bool:
    """Two people of treasury have a hold of a closed request released, never the one who asked for the payment."""
    return may_decide(person, withdrawal) and withdrawal.state in states.CLOSED_STATES


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


def is_decidable(withdrawal: Withdrawal) -> bool:
    """Whether the row waits for approvals at all."""
    if withdrawal.decision != states.NONE:
        return False
    return withdrawal.state == "review" or (withdrawal.state == "held" and withdrawal.echo_ok is True)


def may_cancel_transfer(person: "Person", transfer: Transfer) -> bool:
    """Whoever asked can take it back until it is sent; treasury can too, once nobody has to approve it."""
    if person.pk == transfer.initiator_id:
        return person.has_role(roles.OPERATOR, roles.TREASURY)
    return person.has_role(roles.TREASURY) and transfer.state == "approved"


def may_decide_transfer(person: "Person", transfer: Transfer) -> bool:
    """Treasury approves, rejects and closes, never what they asked for themselves."""
    return person.has_role(roles.TREASURY) and person.pk != transfer.initiator_id


def may_close_transfer(person: "Person", transfer: Transfer) -> bool:
    """Treasury decides what was not seen: closes it or asks for it anew, never their own."""
    return may_decide_transfer(person, transfer) and transfer.state == "not_seen"


def may_resolve_transfer(person: "Person", transfer: Transfer) -> bool:
    """Two people of treasury close an unclear transfer, never the one who asked for it."""
    return may_decide_transfer(person, transfer) and transfer.state == "investigate"
