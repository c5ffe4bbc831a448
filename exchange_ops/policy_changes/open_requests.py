"""What open requests other rules would touch, and waking them once the rules are other ones.

Every approval is of exactly one version of the rules, so with another one none that is not acted on counts any more:
money that is reserved without a decision is released, and what was not reserved yet is approved anew. That is so on
every account, whichever one's tiers were changed: the number of the rules is part of what each approval signed. What it
takes anew is by the tiers that judge its account.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.urls import get_script_prefix, reverse

from desk import outbox
from desk.machines.table import NONE
from exchange_ops.policy import ruleset
from exchange_ops.policy.ruleset import Rules
from exchange_ops.transfers import states as transfer_states
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals import machine
from exchange_ops.withdrawals import states as withdrawal_states
from exchange_ops.withdrawals.models import Withdrawal

MOST = 100
_JUDGED = (withdrawal_states.REVIEW, withdrawal_states.QUEUED)
_APPROVED_ONES = (transfer_states.REVIEW, transfer_states.APPROVED)


@dataclass(frozen=True, slots=True)
class Touched:
    """One open request, the name of its account, and what becomes of it."""

    reference: str
    url: str
    sentence: str
    account: str


def touched(rules: Rules) -> list[Touched]:
    """The open requests that these rules would touch, the oldest first, at most `MOST`."""
    return [*_payouts(rules), *_transfers(rules)][:MOST]


def wake(*, now: datetime) -> None:
    """Have every open request judged by the rules that are in force now."""
    payouts = Withdrawal.objects.filter(state__in=(*_JUDGED, withdrawal_states.HELD), decision=NONE)
    for number in payouts.values_list("pk", flat=True):
        outbox.wake(machine.ADVANCE_TASK, number)
    payouts.update(next_action_at=now)
    Transfer.objects.filter(state__in=_APPROVED_ONES).update(next_action_at=now)


def _payouts(rules: Rules) -> Iterator[Touched]:
    open_ones = Withdrawal.objects.filter(state__in=(*_JUDGED, withdrawal_states.HELD), decision=NONE)
    for row in open_ones.select_related("account").order_by("pk")[:MOST]:
        if row.state == withdrawal_states.HELD:
            sentence = "its money is released, and it can be asked for again"
        else:
            sentence = f"approvals so far count no more: {_need(rules, row)}"
        yield Touched(row.reference, _url("withdrawal", row), sentence, row.account.name)


def _transfers(rules: Rules) -> Iterator[Touched]:
    open_ones = Transfer.objects.filter(state__in=_APPROVED_ONES).select_related("account").order_by("pk")
    for row in open_ones[:MOST]:
        if row.leaves:
            sentence = f"approvals so far count no more: {_need(rules, row)}"
            yield Touched(row.reference, _url("transfer", row), sentence, row.account.name)


def _url(name: str, row: Withdrawal | Transfer) -> str:
    """Its page, whichever account the page that names it is read at."""
    return "/" + reverse(name, args=[row.pk]).removeprefix(get_script_prefix())


def _need(rules: Rules, row: Withdrawal | Transfer) -> str:
    value = row.quote_value if row.account.quote_currency == rules.currency else None
    tier = ruleset.tier_of(rules, value, row.account_id)
    if tier is None:
        return "it is not paid"
    return "it takes one approval" if tier.approvals == 1 else f"it takes {tier.approvals} approvals"
