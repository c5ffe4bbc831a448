"""Deposit addresses, and questions about destinations, as the desk knows them."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db.models import Q
from django.urls import reverse

from chaindata.shared import addresses
from desk import rooms
from desk.machines.replay import Replay
from desk.rows.retention import Retention
from desk.rows.witnessed import Table
from desk.web.search import MOST_OF_A_KIND, SHORTEST_PIECE, Hit, Scope, Search, shortened
from exchange_ops.addresses import machine
from exchange_ops.addresses.models import (
    AddressCheck,
    AddressRequest,
    AddressRequestEvent,
    DepositAddress,
    FeeEstimate,
)
from exchange_ops.addresses.trail_words import WORDS
from exchange_ops.market.room import searches
from exchange_ops.shared.declarations import reasons, topics
from exchange_ops.shared.models import Account


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    if len(text) < SHORTEST_PIECE:
        return
    like = Q(address__icontains=text) | Q(address__in=addresses.every_form(text)) | Q(payment_id=text)
    for row in DepositAddress.objects.filter(like, account__in=scope.accounts).order_by("-pk")[:MOST_OF_A_KIND]:
        words = f"{row.currency} deposits"
        url = reverse("deposit", args=[row.currency])
        yield Hit("Deposit addresses", shortened(row.address), words, url, "qr-code")


def _deposit(text: str, scope: Scope) -> Iterator[Hit]:
    """ "deposit btc": straight to where it is done."""
    for row in searches.currencies_after(text, "deposit", "receive"):
        yield Hit("Actions", f"Deposit {row.code}", row.full_name, reverse("deposit", args=[row.code]), "qr-code")


def _answers_last() -> timedelta:
    return timedelta(days=settings.ANSWERS_KEPT_DAYS)


REPLAY: Final = Replay(machine.MACHINE)

ROOM: Final = rooms.Room(
    topics={
        "addresscheck": topics.row(AddressCheck),
        "addresses": topics.row(Account, account="pk"),
        "feeestimate": topics.row(FeeEstimate),
    },
    trail=(WORDS,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"addresses": machine.GUARDS.statements},
    tables=(
        Table(
            DepositAddress,
            {"seen_at": reasons.CLOCK, "place": "its position in the exchange's list of the last ten"},
        ),
        Table(AddressRequest, AddressRequest.table.loose),
        Table(AddressRequestEvent),
    ),
    idle_tables=dict.fromkeys(
        [f"exchange_ops.{name}" for name in ("addressbook", "addresscheck", "feeestimate")], reasons.QUESTION
    ),
    retention=(
        Retention(AddressCheck, "requested_at", _answers_last),
        Retention(FeeEstimate, "requested_at", _answers_last),
    ),
    searches=(Search(_deposit, 30), Search(_search, 110)),
    tasks="exchange_ops.addresses.tasks",
    urls="exchange_ops.addresses.urls",
)
