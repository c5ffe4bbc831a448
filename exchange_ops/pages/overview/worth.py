"""Blocks about the value of the accounts: over time, by currency, by account, with inflows and outflows."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from exchange_ops.ledger import sources
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.market import valuation
from exchange_ops.pages.overview.view import View
from exchange_ops.policy.freeze_scopes import Movement, covers
from exchange_ops.policy.models import Freeze
from exchange_ops.portfolio import amounts, drawings, history, totals
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

LAST_LINES, SHOWN_SHARES, SHOWN_FLOWS = 8, 7, 6
ZERO: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class Share:
    """One currency, or all others together: the amount, its value and its share of the total (0 to 1)."""

    label: str
    amount: Decimal | None
    value: Decimal | None
    part: Decimal | None


def balances(view: View) -> dict[str, Any]:
    """The present total and its past."""
    page_totals = totals.for_page(view.accounts, quote=view.quote, now=view.now)
    # Past values are stored in the currency of the accounts; a reader's own currency applies to present values only.
    account_quote = view.accounts[0].quote_currency if view.accounts else ""
    worth = page_totals["worth"]
    if view.quote != account_quote:
        worth = totals.for_page(view.accounts, quote=account_quote, now=view.now)["worth"]
    past = history.value_history(accounts=view.accounts, worth=worth, days=view.days, now=view.now)
    has_more = worth is not None and worth.has_more
    beside = [(point.at, point.total) for point in past.line if not point.is_rebuilt] if has_more else []
    picture = drawings.line([(point.at, point.own) for point in past.line], beside=beside)
    source = sources.of_ledger(view.account, view.now)
    return page_totals | {"past": past, "picture": picture, "source": source}


def allocation(view: View) -> dict[str, Any]:
    """By currency, all wallets, sub-accounts and collateral together, the most valuable first."""
    held: dict[str, Decimal] = {}
    for by_currency in amounts.now(view.accounts).values():
        for code, amount in by_currency.items():
            held[code] = held.get(code, ZERO) + amount
    values = valuation.values_of(amounts=held, quote=view.quote, now=view.now) if held else {}
    value_by_code = {code: value.amount for code, value in values.items() if value.amount is not None}
    total = sum(value_by_code.values(), ZERO)
    ranked = sorted(value_by_code, key=lambda code: (-value_by_code[code], code))
    shares = [
        Share(code, held[code], value_by_code[code], _part(value_by_code[code], total))
        for code in ranked[:SHOWN_SHARES]
    ]
    if rest := ranked[SHOWN_SHARES:]:
        value = sum((value_by_code[code] for code in rest), ZERO)
        shares.append(Share(f"{len(rest)} others", None, value, _part(value, total)))
    return {"shares": shares, "quote": view.quote, "unpriced": sorted(set(held) - set(value_by_code))}


def accounts(view: View) -> dict[str, Any]:
    """Each account with its sub-accounts and collateral, its open payouts, and whether it is frozen."""
    if not view.accounts:
        return {"lines_of_accounts": []}
    rows = totals.by_account(view.accounts, quote=view.quote, now=view.now)
    open_rows = Withdrawal.objects.filter(account__in=view.accounts, state__in=states.OPEN_STATES)
    payouts: dict[int, int] = {}
    for number in open_rows.values_list("account", flat=True):
        payouts[number] = payouts.get(number, 0) + 1
    active = list(Freeze.objects.filter(thawed_at=None))
    lines = [
        {
            "worth": row,
            "payouts": payouts.get(row.account.pk, 0) if row.account else 0,
            "is_frozen": row.account is not None and any(covers(each, Movement(row.account.pk)) for each in active),
            "source": sources.of_ledger(row.account, view.now),
        }
        for row in rows
    ]
    return {"lines_of_accounts": lines, "sum_of_accounts": totals.together(rows, quote=view.quote)}


def flows(view: View) -> dict[str, Any]:
    """Inflows from outside and outflows within the range."""
    sums = history.flows(accounts=view.accounts, days=view.days, now=view.now)
    return {"flows": sums, "flow_rows": sums.rows[:SHOWN_FLOWS], "flow_rest": max(len(sums.rows) - SHOWN_FLOWS, 0)}


def lines(view: View) -> dict[str, Any]:
    """The last lines of the ledger."""
    entries = LedgerEntry.objects.filter(account__in=view.accounts).select_related("withdrawal", "account")
    return {"entries": list(entries.order_by("-index" if len(view.accounts) == 1 else "-pk")[:LAST_LINES])}


def _part(value: Decimal, total: Decimal) -> Decimal | None:
    return value / total if total else None
