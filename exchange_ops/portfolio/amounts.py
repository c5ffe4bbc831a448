"""The amounts of each currency now: in both wallets, in sub-accounts and as margin collateral, kept separate."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

from django.db.models import F

from exchange_ops.ledger.models import Balance
from exchange_ops.margin.models import MarginAccount
from exchange_ops.market.models import Symbol
from exchange_ops.portfolio.models import BANK, MARGIN, SUBACCOUNTS, TRADING
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts.models import SubAccountBalance

ZERO: Final = Decimal(0)
Part = tuple[int, str]  # account, wallet


def now(accounts: Sequence[Account]) -> dict[Part, dict[str, Decimal]]:
    """By account and wallet, from four queries. Collateral is held in the quote currency of its symbol."""
    totals: defaultdict[Part, defaultdict[str, Decimal]] = defaultdict(lambda: defaultdict(lambda: ZERO))
    for row in Balance.objects.filter(account__in=accounts):
        wallet = BANK if row.wallet == Balance.BANK else TRADING
        totals[row.account_id, wallet][row.currency] += row.available + row.reserved
    sub_balances = SubAccountBalance.objects.filter(
        sub_account__account__in=accounts, sub_account__missing_since__isnull=True
    ).annotate(owner=F("sub_account__account_id"))
    for balance in sub_balances:
        totals[balance.owner, SUBACCOUNTS][balance.currency] += balance.available + balance.reserved
    margin_accounts = list(MarginAccount.objects.filter(account__in=accounts, gone_at=None))
    symbols = Symbol.objects.in_bulk({row.symbol for row in margin_accounts})
    for margin_account in margin_accounts:
        symbol = symbols.get(margin_account.symbol)
        # Without a copy of the symbol its currency is unknown: the symbol's code stands in, and has no price.
        totals[margin_account.account_id, MARGIN][symbol.quote_currency if symbol else margin_account.symbol] += (
            margin_account.margin_balance
        )
    return {
        part: {code: amount for code, amount in by_currency.items() if amount} for part, by_currency in totals.items()
    }


def outside_wallets(held: Mapping[Part, Mapping[str, Decimal]]) -> dict[str, dict[str, Decimal]]:
    """By currency, for all accounts together: the amounts in sub-accounts and the margin collateral."""
    totals: defaultdict[str, dict[str, Decimal]] = defaultdict(lambda: {SUBACCOUNTS: ZERO, MARGIN: ZERO})
    for (_, wallet), by_currency in held.items():
        if wallet in {SUBACCOUNTS, MARGIN}:
            for code, amount in by_currency.items():
                totals[code][wallet] += amount
    return dict(totals)
