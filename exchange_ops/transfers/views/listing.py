"""The list of transfers."""

from typing import Any, Final

from desk.lists.declared import Column, List, Rows, Totals, Value
from desk.web.context import Entry
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.transfers import workflow
from exchange_ops.transfers.forms import TransferFilter
from exchange_ops.transfers.models import Transfer


def _rows(request: DeskRequest) -> Rows:
    account = accounts.current(request)
    return Rows(
        workflow.newest().filter(account=account),
        topics="transfers",
        suggested={"currency": _used_currencies(account)},
        context=lambda listing: {"may_request": rules.may_request(request.user)},
    )


def _used_currencies(account: Account | None) -> list[str]:
    codes: Any = Transfer.objects.filter(account=account).order_by("currency").values_list("currency", flat=True)
    return list(codes.distinct())


TRANSFERS: Final = List(
    name="transfers",
    title="Transfers",
    one="transfer",
    many="transfers",
    path="transfers/",
    template="exchange_ops/transfers.html",
    entry=Entry("Transfers", "transfers", "arrow-left-right", "Money", order=80, key="v", may_see=rules.may_see),
    rows=_rows,
    may_see=rules.may_see,
    filters=TransferFilter,
    totals=Totals(by=("currency",), sums={"amount": ""}, units={"amount": "currency"}),
    columns=(
        Column("transfer", "Transfer", Value("reference", reads=("pk",)), css="s-name"),
        Column("state", "State", Value("state", "label", ("state",)), css="s-state"),
        Column("turn", "Waiting for", Value("turn", reads=("state",)), css="s-turn"),
        Column("what", "What", Value("kind", "kind_label", ("kind",)), css="s-to"),
        Value("currency"),
        Column("amount", "Amount", Value("amount"), css="s-amount", order=("currency", "amount"), is_end=True),
        Value("into", "to_currency"),
        Value("other user", "identifier"),
        Value("sub-account", "subaccount_id"),
        Column("who", "Requested by", Value("requested by", "initiator.username"), css="s-who"),
        Column(
            "created",
            "Requested",
            Value("requested at ({zone})", "created_at"),
            css="s-when",
            order=("pk",),
            is_time=True,
        ),
        Column(
            "updated",
            "Changed",
            Value("changed at ({zone})", "updated_at"),
            order=("updated_at",),
            is_shown=False,
            is_time=True,
        ),
        Column("exchange_id", "Exchange ID", Value("exchange id"), is_shown=False, is_mono=True),
        Value("second exchange id", "second_id"),
        Value("replaces", "reissues_id"),
        Column("reason", "Reason", Value("reason"), is_shown=False),
    ),
    page="transfer amount what state turn who created updated reason exchange_id",
)
