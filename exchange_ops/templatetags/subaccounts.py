"""Display of sub-accounts and the actions on them: a word, an icon, a tone."""

from typing import Final

from django import template
from django.utils.safestring import SafeString

from desk.machines.display import Display
from desk.templatetags.desk import chip
from exchange_ops.subaccounts import account_status, states
from exchange_ops.subaccounts.models import SubAccount

register = template.Library()

_STANDING_SIGNS = {
    account_status.OPEN: "circle-check",
    account_status.NEW: "circle-dashed",
    account_status.FROZEN: "snowflake",
    account_status.DISABLED: "ban",
    account_status.CLOSED: "circle-question-mark",
    account_status.UNCLEAR: "triangle-alert",
    account_status.GONE: "circle-x",
}
_EVENTS = {
    "created": "Requested",
    "claimed": "Sent to the exchange",
    "accepted": "Accepted by the exchange",
    "refused": "Rejected by the exchange",
    "not_sent": "Not sent",
    "lost": "No clear response",
    "seen": "Confirmed by the exchange",
    "seen_unchanged": "Not done on the exchange",
    "taken_back": "Withdrawn",
}
DISPLAY: Final = Display(states.STATES, _EVENTS).registered(register, "action")


@register.simple_tag
def status_chip(sub: SubAccount) -> SafeString:
    """The observed status as a chip."""
    status = account_status.status_of(sub)
    return chip(status.tone, status.label, sign=_STANDING_SIGNS[status.name])


@register.simple_tag
def wish(sub: SubAccount) -> SafeString:
    """The requested status as a chip; empty when nothing was requested."""
    label = account_status.requested_status(sub)
    if not label:
        return SafeString("")
    return chip("quiet", label, sign="snowflake" if sub.wanted == states.AS_FROZEN else "circle-check")
