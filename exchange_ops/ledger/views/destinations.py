"""Where the account's money went: each address with what was paid there, and what is only reserved for it."""

from typing import Final

from desk.lists.declared import Column, List, Rows, Value
from desk.web.context import Entry
from desk.web.requests import DeskRequest
from exchange_ops.ledger import destinations
from exchange_ops.ledger.forms import DestinationFilter
from exchange_ops.ledger.views import scope
from exchange_ops.shared import rules


def _rows(request: DeskRequest) -> Rows:
    lines, mine = scope.lines_in_view(request)
    return Rows(destinations.newest_payouts(lines).select_related("withdrawal", "account"), topics=scope.topics(mine))


DESTINATIONS: Final = List(
    name="addresses",
    title="Destinations",
    one="destination",
    many="destinations",
    path="addresses/",
    template="exchange_ops/destinations.html",
    entry=Entry(
        "Destinations",
        "addresses",
        "landmark",
        "Money",
        order=50,
        key="n",
        may_see=rules.may_see,
        also=("Recipients", "Beneficiaries", "Payees"),
    ),
    rows=_rows,
    may_see=rules.may_see,
    filters=DestinationFilter,
    columns=(
        Value("account", "account.name"),
        Column("currency", "Currency", Value("currency"), css="s-name"),
        Column("address", "Address", Value("address"), css="s-to", is_mono=True),
        Value("payment id"),
        Column("count", "Payments", Value("payments", "paid_count"), css="s-turn", is_end=True, on_phone="Payments"),
        Column("total", "Paid in total", Value("paid in total", "paid_total"), css="s-amount", is_end=True),
        Column("reserved", "Reserved", Value("reserved", "reserved_total"), is_end=True, on_phone="Reserved"),
        Value("reserved payouts", "reserved_count"),
        Column(
            "released", "Released", Value("released or failed payouts", "released_count"), is_end=True, is_shown=False
        ),
        Column("last_amount", "Last amount", Value("last amount", "last_paid_amount"), is_end=True),
        Column(
            "last",
            "Last paid",
            Value("last paid at ({zone})", "last_paid_at"),
            css="s-when",
            order=("pk",),
            is_time=True,
        ),
        Value("last exchange id", "exchange_id"),
        Column("by", "Last payout", Value("last withdrawal", "withdrawal.reference", ("pk",)), css="s-who"),
        Value("last hash", "hash"),
    ),
    page="address currency total count reserved released last_amount last by",
)
