"""The list of withdrawals."""

from typing import Any, Final

from desk import clock
from desk.lists.declared import Column, List, Rows, Totals, Value
from desk.web.context import Entry
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.withdrawals import queries
from exchange_ops.withdrawals.forms import WithdrawalFilter
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.recipients import briefing


def _rows(request: DeskRequest) -> Rows:
    account, may_request = accounts.current(request), rules.may_request(request.user)
    return Rows(
        queries.with_ends(Withdrawal.objects.filter(account=account).select_related("initiator", "account")),
        topics="withdrawals",
        suggested={"currency": _used_currencies(account)},
        may_act=may_request,
        context=lambda listing: {
            "exchange_now": accounts.exchange_now(account, listing.now),
            "may_request": may_request,
        },
    )


def _used_currencies(account: Account | None) -> list[str]:
    codes = Withdrawal.objects.filter(account=account).order_by("currency").values_list("currency", flat=True)
    return list(codes.distinct())


def _prepare(rows: list[Any]) -> None:
    """Those that somebody can still stop get the briefing on their recipient."""
    stoppable = [row for row in rows if row.is_cancellable]
    recipients = briefing.of_rows(stoppable, now=clock.now())
    for row in rows:
        row.recipient = recipients.get(row.pk)


WITHDRAWALS: Final = List(
    name="withdrawals",
    title="Withdrawals",
    one="withdrawal",
    many="withdrawals",
    path="withdrawals/",
    template="exchange_ops/withdrawals.html",
    css="withdrawals",
    entry=Entry(
        "Withdrawals",
        "withdrawals",
        "arrow-up-right",
        "Money",
        order=30,
        key="w",
        may_see=rules.may_see,
        also=("Payouts", "Payments", "Send"),
    ),
    rows=_rows,
    prepare=_prepare,
    may_see=rules.may_see,
    filters=WithdrawalFilter,
    totals=Totals(by=("currency",), sums={"amount": ""}, units={"amount": "currency"}),
    columns=(
        Column("withdrawal", "Withdrawal", Value("reference", reads=("pk",)), css="s-name"),
        Column(
            "state",
            "State",
            Value("state", "label", ("state", "ended_by", "ended_by_person", "initiator_id")),
            css="s-state",
        ),
        Column("turn", "Waiting for", Value("turn", reads=("state",)), css="s-turn"),
        Value("currency"),
        Column("amount", "Amount", Value("amount"), css="s-amount", order=("currency", "amount"), is_end=True),
        Column("fee", "Network fee", Value("fee", "known_fee", ("fee", "fee_estimate")), is_shown=False, is_end=True),
        Value("fee currency", "currency"),
        Value("fee deducted from amount", "include_fee"),
        Column("to", "To", Value("address"), css="s-to", is_mono=True),
        Value("payment id"),
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
        Column("hash", "Hash", Value("hash"), is_shown=False, is_mono=True),
        Column("reason", "Reason", Value("reason"), is_shown=False),
    ),
    page="withdrawal amount to state turn who created updated fee reason hash exchange_id",
)
