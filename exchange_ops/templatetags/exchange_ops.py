"""Display of the states of a withdrawal, its calls and the exchange's records: a word, an icon, a tone."""

import json
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from desk import clock
from desk.as_known.moments import Moment
from desk.audit.words import SYSTEM
from desk.invisible import isolated
from desk.machines.display import Display
from desk.machines.table import Turn
from desk.templatetags.desk import cents, chip
from exchange_ops.ledger.forms import LEDGER_KINDS, LEDGER_STATUSES
from exchange_ops.shared import clocks
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

register = template.Library()


@register.simple_tag(takes_context=True)
def of_account(context: dict[str, Any], scope: Any) -> SafeString | str:
    """The account of a row, on a page of several accounts; empty on a page of one."""
    switch = context.get("switch")
    if not switch or switch["chosen"] is not None:
        return ""
    name = switch["names"].get(str(scope or ""))
    return format_html(' <span class="tag account">{}</span>', isolated(name)) if name else ""


@register.simple_tag(takes_context=True)
def account_path(context: dict[str, Any], account: Account) -> str:
    """This page of one account."""
    return f"/accounts/{account.pk}{context['request'].path_info}"


@register.filter
def by_desk_clock(deadline: datetime | None, exchange_now: datetime | None) -> datetime | None:
    """A deadline in the exchange's time as our clock shows it, like every other time on the page."""
    if deadline is None or exchange_now is None:
        return deadline
    return clocks.by_desk_clock(deadline, exchange_now, now=clock.now())


@register.simple_tag
def worth_figure(amount: Decimal | None) -> SafeString:
    """A value in the quote currency, or a dash where there is none."""
    if amount is None:
        return mark_safe('<span class="figure muted">&ndash;</span>')
    return format_html('<span class="figure">{}</span>', cents(amount))


TURNS: Final[dict[str, tuple[str, str]]] = {
    Turn.PERSON: ("People", "hand"),
    Turn.WORKER: (SYSTEM, "cpu"),
    Turn.EXCHANGE: ("The exchange", "landmark"),
    Turn.CHAIN: ("The chain", "link"),
    Turn.NOBODY: ("Nobody", "check"),
}
_OUTCOMES = {
    "prepared": ("quiet", "Sending", "circle-dashed"),
    "sent": ("active", "Sent, no response yet", "loader"),
    "accepted": ("good", "Accepted", "circle-check"),
    "refused": ("bad", "Rejected", "circle-x"),
    "not_sent": ("quiet", "Not sent", "circle-pause"),
    "unknown": ("warn", "Response lost", "circle-question-mark"),
    "found": ("good", "Found in the ledger", "circle-check"),
    "absent": ("quiet", "Not in the ledger", "circle-dashed"),
}
_LEDGER = {
    "created": ("warn", "hourglass"),
    "pending": ("active", "loader"),
    "success": ("good", "circle-check"),
    "failed": ("bad", "circle-x"),
    "overruled": ("quiet", "ban"),
}
_KINDS = {
    "payin": "arrow-down-left",
    "deposit": "arrow-down-left",
    "payout": "arrow-up-right",
    "withdraw": "arrow-up-right",
    "bankToExchange": "arrow-left-right",
    "exchangeToBank": "arrow-left-right",
}
_CALLS = {"hold": "Reserve", "commit": "Pay", "rollback": "Release", "orphan": "Release of a second hold"}
_WORDS = {"approve": "Approved", "reject": "Rejected", "paid": "Confirmed paid", "not_paid": "Confirmed not paid"}
EVENTS: Final = {
    "created": "Requested",
    "submitted": "Checked",
    "checks_failed": "Checks failed",
    "judged_again": "Re-evaluated under a new policy",
    "approval_recorded": "Approved, more approvals needed",
    "quorum_reached": "Fully approved",
    "hold_claimed": "Reservation sent",
    "hold_accepted": "Reserved by the exchange",
    "hold_refused": "Reservation rejected",
    "hold_not_sent": "Reservation not sent",
    "hold_unknown": "Reservation response lost",
    "hold_adopted": "Reservation found in the ledger",
    "hold_not_found": "No reservation in the ledger",
    "hold_ambiguous": "Several possible reservations in the ledger",
    "echo_agrees": "Exchange's record matches",
    "echo_differs": "Exchange's record differs",
    "executed_without_us": "Paid by the exchange without an order",
    "rejected": "Rejected",
    "cancelled": "Cancelled",
    "time_over": "Expired",
    "frozen": "Stopped by a freeze",
    "policy_changed": "Stopped by a new policy",
    "fee_drifted": "Stopped: the fee changed",
    "fee_rose": "Network fee rose: approval needed again",
    "ended_at_exchange": "Ended on the exchange",
    "recalled": "Approval recalled",
    "commit_claimed": "Payment order sent",
    "commit_confirmed": "Payment order accepted",
    "commit_unconfirmed": "Payment order not confirmed yet",
    "commit_stopped": "Too late to resend",
    "commit_not_carried_out": "Payment order not executed",
    "still_unclear": "Still unclear",
    "rollback_claimed": "Release sent",
    "released": "Released",
    "rollback_unconfirmed": "Release not confirmed yet",
    "escalated": "Escalated",
    "paid_anyway": "Paid although it should have been released",
    "hash_seen": "Transaction hash received",
    "exchange_succeeded": "Exchange reports success",
    "exchange_failed": "Exchange reports failure",
    "proven": "Proven on-chain",
    "proof_lost": "Proof lost",
    "proven_again": "Proven on-chain again",
    "resolution_recorded": "First finding recorded",
    "resolved": "Closed by two people",
}
DISPLAY: Final = Display(states.STATES, EVENTS).registered(
    register, state="state", sign="state_sign", label="state_label", event="event_label"
)


@register.simple_tag
def withdrawal_state(row: Withdrawal) -> SafeString:
    """A withdrawal as a chip: its ending, or its state."""
    end = row.end
    return chip(row.tone, end.label, sign=end.sign) if end else DISPLAY.state(row.state)


@register.simple_tag
def turn(name: str) -> SafeString:
    """Whose turn it is."""
    label, sign = TURNS[name]
    return chip("quiet", label, sign=sign)


@register.simple_tag
def outcome(name: str) -> SafeString:
    """The outcome of a call."""
    tone, label, sign = _OUTCOMES[name]
    return chip(tone, label, sign=sign)


def outcome_label(name: str) -> str:
    """The outcome of a call in words alone."""
    return _OUTCOMES[name][1]


@register.simple_tag
def ledger_status(name: str) -> SafeString:
    """The exchange's status; an unknown one is shown as it is, with a warning tone."""
    tone, sign = _LEDGER.get(name, ("warn", "circle-question-mark"))
    return chip(tone, LEDGER_STATUSES.get(name, name), sign=sign)


@register.simple_tag
def ledger_kind(name: str) -> SafeString:
    """The kind of a ledger entry with the direction of the money."""
    return chip("quiet", LEDGER_KINDS.get(name, name), sign=_KINDS.get(name, "circle-dot"))


@register.filter
def call_label(kind: str) -> str:
    """The label of a call to the exchange."""
    return _CALLS.get(kind, kind)


@register.filter
def word_label(verdict: str) -> str:
    """A person's vote in words."""
    return _WORDS.get(verdict, verdict)


@register.filter
def evidence(value: Any) -> str:
    """A piece of evidence as text; lists and mappings as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


@register.filter
def known_at(when: datetime) -> str:
    """The query of a page that shows what was known once something of this time was stored."""
    return Moment(when).query


@register.filter
def known_before(when: datetime) -> str:
    """The query of a page that shows what was known just before something of this time was stored."""
    return Moment.just_before(when).query
