"""The open requests that new rules affect, and waking them once those rules are in force.

Every approval is bound to one version of the rules, so a new version voids every approval that was not acted on:
reserved money without a decision is released, and requests that reserved nothing yet need new approvals. That holds on
every account, whichever tiers were changed, because each approval signed the number of the rules. How many approvals a
request needs now depends on the tiers for its account.
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
_UNRESERVED = (withdrawal_states.REVIEW, withdrawal_states.QUEUED)
_TRANSFER_STATES = (transfer_states.REVIEW, transfer_states.APPROVED)


@dataclass(frozen=True, slots=True)
class TouchedRequest:
    """One open request that new rules affect, the name of its account, and what happens to it."""

    reference: str
    url: str
    sentence: str
    account: str


def requests_touched_by(rules: Rules) -> list[TouchedRequest]:
    """The open requests that these rules would affect, the oldest first, at most `MOST`."""
    return [*_payouts(rules), *_transfers(rules)][:MOST]


def wake(*, now: datetime) -> None:
    """Have every open request judged again by the rules in force now."""
    payouts = Withdrawal.objects.filter(state__in=(*_UNRESERVED, withdrawal_states.HELD), decision=NONE)
    for number in payouts.values_list("pk", flat=True):
        outbox.wake(machine.ADVANCE_TASK, number)
    payouts.update(next_action_at=now)
    Transfer.objects.filter(state__in=_TRANSFER_STATES).update(next_action_at=now)


def _payouts(rules: Rules) -> Iterator[TouchedRequest]:
    open_ones = Withdrawal.objects.filter(state__in=(*_UNRESERVED, withdrawal_states.HELD), decision=NONE)
    for row in open_ones.select_related("account").order_by("pk")[:MOST]:
        if row.state == withdrawal_states.HELD:
            sentence = "its money is released, and it can be asked for again"
        else:
            sentence = f"approvals so far count no more: {_need(rules, row)}"
        yield TouchedRequest(row.reference, _url("withdrawal", row), sentence, row.account.name)


def _transfers(rules: Rules) -> Iterator[TouchedRequest]:
    open_ones = Transfer.objects.filter(state__in=_TRANSFER_STATES).select_related("account").order_by("pk")
    for row in open_ones[:MOST]:
        if row.leaves:
            sentence = f"approvals so far count no more: {_need(rules, row)}"
            yield TouchedRequest(row.reference, _url("transfer", row), sentence, row.account.name)


def _url(name: str, row: Withdrawal | Transfer) -> str:
    """The address of its page, without the prefix of the account that the reader's page is under."""
    return "/" + reverse(name, args=[row.pk]).removeprefix(get_script_prefix())


def _need(rules: Rules, row: Withdrawal | Transfer) -> str:
    value = row.quote_value if row.account.quote_currency == rules.currency else None
    tier = ruleset.tier_of(rules, value, row.account_id)
    if tier is None:
        return "it is not paid"
    return "it takes one approval" if tier.approvals == 1 else f"it takes {tier.approvals} approvals"
