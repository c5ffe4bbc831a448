"""The highest network fee that the approvals of a payout cover, and whether the balance reaches that far."""

from datetime import datetime
from decimal import Decimal

from exchange_ops.market import valuation
from exchange_ops.market.models import Currency
from exchange_ops.policy import quorum, ruleset
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.models import Withdrawal


def of_request(row: Withdrawal, *, estimate: Decimal, now: datetime) -> Decimal:
    """The highest fee of this request, in its currency, for this estimate; never below the estimate itself."""
    return highest(
        account=row.account,
        currency=row.currency,
        amount=row.amount,
        include_fee=row.include_fee,
        estimate=estimate,
        now=now,
    )


def highest(
    *, account: Account, currency: str, amount: Decimal, include_fee: bool, estimate: Decimal, now: datetime
) -> Decimal:
    """The estimate with the margin of the rules in force.

    Where the fee is taken out of the amount, what is left for the recipient is at least the exchange's minimum.
    """
    rules = ruleset.rules_of(quorum.current())
    price = None
    if rules.currency == account.quote_currency:
        price = valuation.value_of(amount=Decimal(1), currency=currency, quote=rules.currency, now=now).rate
    limit = rules.fee_margin.highest(estimate, price=price)
    if include_fee:
        described = Currency.objects.filter(pk=currency).first()
        minimum = (described.payout_minimal_amount if described else None) or Decimal(0)
        limit = min(limit, amount - minimum)
    return max(limit, estimate)
