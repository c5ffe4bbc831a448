"""What came in: the payins of the exchange's ledger, with how far each is confirmed."""

from typing import Final

from desk.lists.declared import Column, List, Rows, Value
from desk.web.context import Entry
from desk.web.requests import DeskRequest
from exchange_ops.ledger.forms import DepositFilter
from exchange_ops.ledger.views import scope
from exchange_ops.shared import rules


def _rows(request: DeskRequest) -> Rows:
    lines, mine = scope.lines_in_view(request)
    rows = lines.filter(type="payin").select_related("account")
    return Rows(rows, topics=scope.topics(mine), order=scope.order(mine))


DEPOSITS: Final = List(
    name="deposits",
    title="Deposits",
    one="deposit",
    many="deposits",
    path="deposits/",
    template="exchange_ops/deposits.html",
    entry=Entry(
        "Deposits",
        "deposits",
        "arrow-down-left",
        "Money",
        order=40,
        key="d",
        may_see=rules.may_see,
        also=("Receive", "Payins"),
    ),
    rows=_rows,
    may_see=rules.may_see,
    filters=DepositFilter,
    order=("updated_at",),
    is_unique=False,
    totals=scope.BY_CURRENCY,
    columns=(
        Column("exchange_id", "Exchange ID", Value("exchange id"), is_shown=False, is_mono=True),
        Value("account", "account.name"),
        Column("status", "Status", Value("status"), css="s-name"),
        Value("currency"),
        Column("amount", "Amount", Value("amount"), css="s-amount", order=("currency", "amount"), is_end=True),
        Column("address", "To our address", Value("address"), css="s-to", is_mono=True),
        Column("payment_id", "Payment ID", Value("payment id"), is_shown=False, is_mono=True),
        Column("hash", "Transaction", Value("hash"), css="s-state", is_mono=True),
        Column(
            "confirmations",
            "Confirmations",
            Value("confirmations"),
            css="s-turn",
            is_end=True,
            on_phone="Confirmations",
        ),
        Column(
            "made",
            "First seen by the exchange",
            Value("created at ({zone})", "created_at"),
            is_shown=False,
            is_time=True,
        ),
        Column(
            "changed",
            "Changed",
            Value("changed at ({zone})", "updated_at"),
            css="s-when",
            order=("updated_at",),
            is_time=True,
        ),
    ),
    page="amount status confirmations address hash changed made payment_id exchange_id",
)
