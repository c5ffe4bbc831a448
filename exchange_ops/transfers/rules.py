"""Who may do what to a transfer: predicates over a person and the row. Everything else is denied."""

from typing import TYPE_CHECKING

from desk.people import roles
from exchange_ops.shared.rules import may, may_request
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer

if TYPE_CHECKING:
    from desk.models import Person


def may_cancel_transfer(person: "Person", transfer: Transfer) -> bool:
    """The requester can take it back until it is sent; treasury can too, once nobody has to approve it."""
    if person.pk == transfer.initiator_id:
        return may(person, roles.OPERATOR, roles.TREASURY, at=transfer.account_id)
    return may(person, roles.TREASURY, at=transfer.account_id) and transfer.state == states.APPROVED


def may_repeat(person: "Person", transfer: Transfer) -> bool:
    """Whether this person may request the same once more: it ended unsent or refused, and they may request there.

    What replaces an older transfer is sent only after a look for that one, so it is not repeated without it.
    """
    is_over = transfer.state in states.REPEATABLE and transfer.reissues_id is None
    return is_over and may_request(person, transfer.account_id)


def may_decide_transfer(person: "Person", transfer: Transfer) -> bool:
    """Treasury approves, rejects and closes, but never what they requested themselves."""
    return may(person, roles.TREASURY, at=transfer.account_id) and person.pk != transfer.initiator_id


def may_close_transfer(person: "Person", transfer: Transfer) -> bool:
    """Treasury closes or re-issues what was not seen, but never their own request."""
    return may_decide_transfer(person, transfer) and transfer.state == states.NOT_SEEN


def may_resolve_transfer(person: "Person", transfer: Transfer) -> bool:
    """Two people of treasury close an unclear transfer, never the requester."""
    return may_decide_transfer(person, transfer) and transfer.state == states.INVESTIGATE
