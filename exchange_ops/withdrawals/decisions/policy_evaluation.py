"""Evaluating a request by the rules in force: value, quorum, order and the digest that people sign."""

from datetime import datetime, timedelta
from typing import Any

from desk import clock
from exchange_ops.market import valuation
from exchange_ops.market.valuation import Value
from exchange_ops.policy import freezes, quorum
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.models import PolicyVersion
from exchange_ops.policy.quorum import Verdict
from exchange_ops.withdrawals.decisions import day_totals, digest, fee_limits, payout_facts
from exchange_ops.withdrawals.decisions.intent import Intent
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.recipients.history import Payout, Place


def verdict_on(intent: Intent, *, now: datetime) -> tuple[Verdict, dict[str, Any]]:
    """What the rules require, and the columns that record it together with the value that was used.

    Where the recipient of a payout is readable, the tier is that of all payouts to this recipient within a day.
    """
    quote, policy, prices = intent.account.quote_currency, quorum.current(), valuation.Prices(now=now)

    def fresh(value: Value) -> Value:
        return _fresh(value, policy, now)

    value = fresh(prices.value_of(amount=intent.amount, currency=intent.currency, quote=quote))
    day = day_totals.DayTotal(value.amount)
    if intent.payment_id is not None and intent.source == Withdrawal.name:
        day = day_totals.total(
            place=Place(intent.account.pk, intent.currency, intent.address, intent.payment_id),
            value=value,
            number=intent.number,
            prices=prices,
            fresh=fresh,
            before=[Payout(None, one.currency, one.amount) for one in intent.before if one.pays_same(intent)],
        )
    verdict = quorum.judge(
        policy,
        account=intent.account,
        currency=intent.currency,
        quote_value=day.value,
        payout=lambda rules: payout_facts.payout_of(
            intent, rules=rules, value=value.amount, prices=prices, fresh=fresh
        ),
    )
    trace = [line for line in (day.sentence, *verdict.trace, value.reason) if line]
    return verdict, {
        "quote_value": value.amount,
        "quote_currency": quote,
        "quote_at": value.as_of,
        "policy_version": verdict.version,
        "policy_trace": trace,
        "quorum_required": verdict.approvals,
        "group_needs": group_needs.as_json(verdict.needs),
        "mode": verdict.mode,
    }


def evaluate(withdrawal: Withdrawal, *, now: datetime, **changes: Any) -> tuple[Verdict, dict[str, Any]]:
    """The verdict on this row and the columns to move it with, digest included. `changes` belong to the same move."""
    estimate = changes.get("fee_estimate", withdrawal.fee_estimate)
    verdict, columns = verdict_on(Intent.of(withdrawal, fee=estimate), now=now)
    columns |= changes
    columns["fee_limit"] = None if estimate is None else fee_limits.of_request(withdrawal, estimate=estimate, now=now)
    columns["digest"] = signed(withdrawal, **columns)
    return verdict, columns


def rejection(intent: Intent, *, now: datetime) -> str:
    """Why a rule for payouts rejects it now, or an empty text: payouts may have been made elsewhere meanwhile."""
    policy = quorum.current()
    if policy is None or not policy.payout_rules.exists():
        return ""
    verdict, _ = verdict_on(intent, now=now)
    return (verdict.blocked or "") if verdict.by_rule else ""


def signed(withdrawal: Withdrawal, **changes: Any) -> str:
    """The digest that the row has with these changes, after the last freeze."""
    return digest.digest(withdrawal, freeze_number=freezes.latest_number(withdrawal.movement), **changes)


def still_holds(withdrawal: Withdrawal) -> bool:
    """Whether the digest still matches this content after the last freeze, and the rules in force decide on the account
    as those did that it was judged by."""
    if not quorum.is_in_force(number=withdrawal.policy_version, account_id=withdrawal.account_id):
        return False
    return is_signed(withdrawal)


def is_signed(withdrawal: Withdrawal) -> bool:
    """Whether the digest is the desk's own and matches this content after the last freeze, whatever the rules now."""
    number = freezes.latest_number(withdrawal.movement)
    return digest.matches(withdrawal.digest, withdrawal, freeze_number=number)


def is_of_older_form(withdrawal: Withdrawal) -> bool:
    """Whether an earlier version of the desk signed this content: its approvals don't count, and nothing was forged."""
    number = freezes.latest_number(withdrawal.movement)
    return digest.is_of_older_form(withdrawal.digest, withdrawal, freeze_number=number)


def _fresh(value: Value, rules: PolicyVersion | None, now: datetime) -> Value:
    """The value, or an unknown one where its price is older than these rules allow."""
    if rules is None or value.amount is None or value.as_of is None:
        return value
    allowed = timedelta(seconds=rules.value_max_age_s)
    if clock.is_fresh(value.as_of, now, within=allowed):
        return value
    return Value(
        value.currency, as_of=value.as_of, reason=f"The last price is older than {rules.value_max_age_s} seconds."
    )
