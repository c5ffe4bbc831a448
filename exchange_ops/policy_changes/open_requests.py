"""The open requests that new rules affect, and waking them once those rules are in force.

Every approval is bound to what the rules say about its account (`ruleset.judging`). Where that changes, every approval
that was not acted on is void: reserved money without a decision is released, and requests that reserved nothing yet
need new approvals. Requests of other accounts stay as they are.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.urls import get_script_prefix, reverse

from desk import outbox
from desk.machines.table import NONE
from exchange_ops.policy import quorum, ruleset
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.ruleset import Rules
from exchange_ops.shared.models import Account
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
    now = ruleset.rules_of(quorum.current())
    accounts = Account.objects.values_list("pk", flat=True)
    judged_anew = {pk for pk in accounts if ruleset.judging(now, pk) != ruleset.judging(rules, pk)}
    return [*_payouts(rules, judged_anew), *_transfers(rules, judged_anew)][:MOST]


def wake(*, now: datetime) -> None:
    """Have every open request judged again by the rules in force now."""
    payouts = Withdrawal.objects.filter(state__in=(*_UNRESERVED, withdrawal_states.HELD), decision=NONE)
    for number in payouts.values_list("pk", flat=True):
        outbox.wake(machine.ADVANCE_TASK, number)
    payouts.update(next_action_at=now)
    Transfer.objects.filter(state__in=_TRANSFER_STATES).update(next_action_at=now)


def _payouts(rules: Rules, accounts: set[int]) -> Iterator[TouchedRequest]:
    states = (*_UNRESERVED, withdrawal_states.HELD)
    open_ones = Withdrawal.objects.filter(state__in=states, decision=NONE, account__in=accounts)
    for row in open_ones.select_related("account").order_by("pk")[:MOST]:
        if row.state == withdrawal_states.HELD:
            sentence = "the funds will be released; the payout can be requested again"
        else:
            sentence = f"approvals will start again: {_need(rules, row)}"
        yield TouchedRequest(row.reference, _url("withdrawal", row), sentence, row.account.name)


def _transfers(rules: Rules, accounts: set[int]) -> Iterator[TouchedRequest]:
    open_ones = Transfer.objects.filter(state__in=_TRANSFER_STATES, account__in=accounts)
    for row in open_ones.select_related("account").order_by("pk")[:MOST]:
        if row.leaves:
            sentence = f"approvals will start again: {_need(rules, row)}"
            yield TouchedRequest(row.reference, _url("transfer", row), sentence, row.account.name)


def _url(name: str, row: Withdrawal | Transfer) -> str:
    """The address of its page, without the prefix of the account that the reader's page is under."""
    return "/" + reverse(name, args=[row.pk]).removeprefix(get_script_prefix())


def _need(rules: Rules, row: Withdrawal | Transfer) -> str:
    value = row.quote_value if row.account.quote_currency == rules.currency else None
    tier = ruleset.tier_of(rules, value, row.account_id)
    if tier is None:
        return "no payout allowed"
    need = group_needs.approvals_in_words(tier.approvals, tier.needs)
    return f"{need} or more required" if rules.payouts else f"{need} required"
