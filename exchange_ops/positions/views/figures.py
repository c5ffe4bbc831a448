"""What a margin action would come to, beside its form: what is there, what will be, what is wrong, and the estimate."""

from collections.abc import Collection
from typing import Any

from desk import clock
from desk.models import Person
from exchange_ops.margin import danger
from exchange_ops.market import interest
from exchange_ops.market.models import Ticker
from exchange_ops.orders.ticket import confirmations
from exchange_ops.positions import estimates, machine, oversteps, request_checks, words
from exchange_ops.positions.models import MarginAction
from exchange_ops.positions.request_checks import MarginCopies, Wish
from exchange_ops.shared.models import Account


def of(
    account: Account, person: Person, code: str, wish: Wish | None, *, confirmed: Collection[str] = ()
) -> dict[str, Any]:
    """Everything that can be said; `effect` is empty where something is wrong or nothing whole was typed yet.

    The order book is read closely while somebody stands here. `confirmed` are the tokens that were ticked.
    """
    now, there = clock.now(), request_checks.read_copies(account=account, code=code)
    context: dict[str, Any] = {"now": now, "there": there, "effect": "", "problems": [], "wish": wish}
    if there.symbol is None:
        return context
    quote = there.symbol.quote_currency
    context["balance"] = request_checks.available(account=account, currency=quote)
    if there.held is not None:
        context["least"] = request_checks.least_collateral(there.held, there.position)
    if there.position is not None:
        interest.ask(symbol=there.symbol, period=interest.DEFAULT_PERIOD, now=now)
        ticker = Ticker.objects.filter(pk=code).first()
        context["exposure"] = danger.exposure(position=there.position, ticker=ticker)
    if wish is None:
        return context
    row = request_checks.draft(initiator=person, account=account, wish=wish, there=there)
    problems, overstep_list = request_checks.judge(row=row, wish=wish, there=there, now=now)
    ticks = [] if problems else confirmations.ticks(overstep_list, confirmed)
    risk = oversteps.change(row=row, symbol=there.symbol, held=there.held, position=there.position)
    return context | {"oversteps": ticks, "risk": risk} | _summary(row, there, problems, context)


def _summary(
    row: MarginAction, there: MarginCopies, problems: dict[str, str], context: dict[str, Any]
) -> dict[str, Any]:
    summary: dict[str, Any] = {"problems": list(problems.values())}
    if row.kind in machine.CLOSING and there.position is not None and there.symbol is not None and row.quantity:
        summary["estimate"] = estimates.current(
            position=there.position, symbol=there.symbol, quantity=row.quantity, price=row.price
        )
        summary["warnings"] = summary["estimate"].warnings(now=context["now"])
        summary["remaining"] = abs(there.position.quantity) - row.quantity
    before = None if there.held is None else there.held.margin_balance
    if row.amount is not None:
        summary["change"] = row.amount - (before or 0)
    if not problems:
        summary["effect"] = words.sentence_of(row, there.symbol, before=before)
    return summary
