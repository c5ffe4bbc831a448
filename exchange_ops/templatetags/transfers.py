"""Display of the states, kinds and events of a transfer: a word, an icon, a tone."""

from typing import Final

from django import template

from desk.machines.display import Display
from exchange_ops.templatetags import exchange_ops
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer

register = template.Library()

_EVENTS = exchange_ops.EVENTS | {
    "submitted": "Checked",
    "send_claimed": "Sent to the exchange",
    "accepted": "Moved by the exchange",
    "refused": "Rejected by the exchange",
    "not_sent": "Not sent",
    "outcome_unknown": "Response lost",
    "found": "Found in the ledger",
    "ambiguous": "Ledger inconclusive",
    "not_found": "Not in the ledger",
    "closed": "Closed by treasury",
    "issued_anew": "Requested again",
    "appeared_late": "Appeared late in the ledger",
    "listed": "Listed in the ledger",
    "not_listed": "Not listed in the ledger",
    "listed_differently": "Differs in the ledger",
    "lapsed": "Expired before sending",
    "seen_before_sending": "In the ledger before it was sent",
}
DISPLAY: Final = Display(states.STATES, _EVENTS).registered(register, "transfer")
_WORDS = {"moved": "Confirmed moved", "not_moved": "Confirmed not moved"}


@register.filter
def transfer_word(verdict: str) -> str:
    """A person's verdict in words."""
    return _WORDS.get(verdict) or exchange_ops.word_label(verdict)


@register.filter
def transfer_target(row: Transfer) -> str:
    """The target of a transfer, in a short text for lists."""
    if row.kind == states.CONVERT:
        return f"into {row.to_currency}"
    if row.kind in states.SUBACCOUNT_KINDS:
        return f"sub-account {row.subaccount_id}"
    return str(row.identifier)
