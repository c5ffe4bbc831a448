"""The exchange's ledger as the desk has read it: the newest version of every line."""

from collections.abc import Mapping
from typing import Any, Final

from desk.lists.declared import Column, Interface, List, Rows, Value
from desk.lists.listing import Listing
from desk.web.context import Entry
from desk.web.requests import DeskRequest
from exchange_ops.ledger import sources, sync
from exchange_ops.ledger.api_shapes import LedgerEntryOut
from exchange_ops.ledger.forms import LedgerFilter
from exchange_ops.ledger.models import LedgerEntry, Watermark
from exchange_ops.ledger.views import scope
from exchange_ops.shared import rules
from exchange_ops.shared.api.resources import OfAccount


def _rows(request: DeskRequest) -> Rows:
    lines, mine = scope.lines_in_view(request)
    account = mine[0] if len(mine) == 1 else None

    def context(listing: Listing) -> Mapping[str, Any]:
        return {
            "source": sources.of_ledger(account, listing.now),
            "account": account,
            "accounts": mine,
            "mark": Watermark.objects.filter(account=account, name=sync.WATERMARK).first(),
        }

    rows = lines.select_related("withdrawal", "transfer", "account")
    return Rows(rows, topics=scope.topics(mine), order=scope.order(mine), context=context)


LEDGER: Final = List(
    name="ledger",
    title="Ledger",
    one="line",
    many="lines",
    path="ledger/",
    template="exchange_ops/ledger.html",
    parts={"age": "exchange_ops/ledger/_age.html"},
    css="lines",
    entry=Entry(
        "Ledger",
        "ledger",
        "book-open",
        "Money",
        order=90,
        key="l",
        may_see=rules.may_see,
        also=("Statement", "Transactions", "History"),
    ),
    interface=Interface(
        name="ledger",
        sentence="The exchange's ledger as last synced, 50 entries per page, most recently changed first.",
        shape=LedgerEntryOut,
        resource=OfAccount,
        rows=LedgerEntry.objects.all(),
        key="index",
    ),
    rows=_rows,
    may_see=rules.may_see,
    filters=LedgerFilter,
    order=("index",),
    totals=scope.BY_CURRENCY,
    columns=(
        Column("index", "Index", Value("index"), css="l-index", order=("index",), is_end=True, is_mono=True),
        Column("exchange_id", "Exchange ID", Value("exchange id"), is_shown=False, is_mono=True),
        Value("account", "account.name"),
        Column("kind", "Kind", Value("kind", "type"), css="l-kind", order=("type", "updated_at")),
        Value("subkind", "sub_type"),
        Value("direction", "direction", ("type",)),
        Column("status", "Status", Value("status"), css="l-state"),
        Value("currency"),
        Column(
            "amount",
            "Amount",
            Value("amount", "signed_amount", ("type", "amount")),
            css="l-amount",
            order=("currency", "amount"),
            is_end=True,
        ),
        Value("change", "change", ("type", "status", "amount", "fee")),
        Column("fee", "Fee", Value("fee"), css="l-fee", is_end=True, on_phone="Fee"),
        Value("fee currency", "currency"),
        Column("of", "Matched to", css="l-of"),
        Column("to", "Address", Value("address"), css="l-to"),
        Value("payment id"),
        Column("hash", "Hash", Value("hash"), is_shown=False, is_mono=True),
        Column("confirmations", "Confirmations", Value("confirmations"), is_shown=False, is_end=True),
        Value("withdrawal", "withdrawal.reference", ("pk",)),
        Value("transfer", "transfer.reference", ("pk",)),
        Value("made outside Countersign", "foreign"),
        Value("error code"),
        Column("created", "Created", Value("created at ({zone})", "created_at"), is_shown=False, is_time=True),
        Column(
            "changed",
            "Changed",
            Value("changed at ({zone})", "updated_at"),
            css="l-when",
            order=("updated_at",),
            is_time=True,
        ),
    ),
    page="kind status amount fee of to changed index created confirmations hash exchange_id",
)
