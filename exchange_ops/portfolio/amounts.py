"""What there is of each currency now: in both wallets, in the sub-accounts and as margin collateral, each apart."""

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
    found: defaultdict[Part, defaultdict[str, Decimal]] = defaultdict(lambda: defaultdict(lambda: ZERO))
    for row in Balance.objects.filter(account__in=accounts):
        wallet = BANK if row.wallet == Balance.BANK else TRADING
        found[row.account_id, wallet][row.currency] += row.available + row.reserved
    below = SubAccountBalance.objects.filter(
        sub_account__account__in=accounts, sub_account__missing_since__isnull=True
    ).annotate(owner=F("sub_account__account_id"))
    for balance in below:
        found[balance.owner, SUBACCOUNTS][balance.currency] += balance.available + balance.reserved
    held = list(MarginAccount.objects.filter(account__in=accounts, gone_at=None))
    symbols = Symbol.objects.in_bulk({row.symbol for row in held})
    for tied in held:
        symbol = symbols.get(tied.symbol)
        # A symbol of which we have no copy names its currency to nobody: it is said to have no price.
        found[tied.account_id, MARGIN][symbol.quote_currency if symbol else tied.symbol] += tied.margin_balance
    return {part: {code: amount for code, amount in of.items() if amount} for part, of in found.items()}


def besides(held: Mapping[Part, Mapping[str, Decimal]]) -> dict[str, dict[str, Decimal]]:
    """Of all accounts together, by currency: what of `now` is in sub-accounts, and what is margin collateral."""
    found: defaultdict[str, dict[str, Decimal]] = defaultdict(lambda: {SUBACCOUNTS: ZERO, MARGIN: ZERO})
    for (_, wallet), of in held.items():
        if wallet in {SUBACCOUNTS, MARGIN}:
            for code, amount in of.items():
                found[code][wallet] += amount
    return dict(found)
