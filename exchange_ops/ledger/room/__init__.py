"""The exchange's ledger and the balances, as the desk knows them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.urls import reverse

from desk import rooms
from desk.incidents.kinds import Cause, Kind, Severity, rows_of
from desk.machines.guards import Guards
from desk.restores.waiting import MOST_OUTSIDE, Outside
from desk.rooms import Check
from desk.rows.witnessed import Table
from desk.templatetags.desk import kept_amount
from desk.web.search import Search
from exchange_ops.ledger import chain_differences, quarantine, walks
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion, Watermark
from exchange_ops.ledger.room import checks, searches
from exchange_ops.ledger.room.trail import WORDS
from exchange_ops.shared import alarms
from exchange_ops.shared.declarations import causes, reasons, topics
from exchange_ops.shared.models import Account

_COUNT: Final = "for people: what a payment or deposit is, its status and its proof say, and nothing reads the count"
# What the database itself refuses: changes of earlier versions, and the removal of entries.
GUARDS: Final = Guards(history=(LedgerVersion,), records=(LedgerEntry,))
_LEAVES: Final = {
    "created": "is reserved to leave the account",
    "pending": "is on its way out of the account",
    "success": "left the account",
    "failed": "was to leave the account, and failed",
}


def _elsewhere(now: datetime, only: str) -> Iterator[Cause]:
    """Payouts that no request of this desk explains."""
    for entry in rows_of(LedgerEntry.objects.filter(foreign=True), only):
        how = _LEAVES.get(entry.status.lower(), "may have left the account")
        sentence = (
            f"{kept_amount(entry.amount, entry.currency)} {how}, and nobody here asked for it. Find out who ordered it "
            "at the exchange; treasury can freeze the account meanwhile."
        )
        yield Cause(f"ledger:{entry.pk}", sentence, "ledger?origin=foreign", scope=str(entry.account_id))


def _unread(now: datetime, only: str) -> Iterator[Cause]:
    """Records of the ledger that could not be read."""
    for account in Account.objects.order_by("pk"):
        if count := quarantine.waiting(account=account):
            sentence = (
                f"{count} records of the exchange's ledger of {account.name} could not be read and are kept aside: "
                "figures may miss what they say."
            )
            yield Cause(f"account:{account.pk}", sentence, "ledger", scope=str(account.pk))


def _movements(since: datetime) -> Iterator[Outside]:
    """Movements since a moment that no request of this desk explains, the newest first."""
    entries = LedgerEntry.objects.filter(created_at__gte=since, withdrawal=None, transfer=None)
    for entry in entries.select_related("account").order_by("-created_at", "-pk")[:MOST_OUTSIDE]:
        sentence = (
            f"{entry.created_at:%Y-%m-%d %H:%M:%S} UTC: {entry.type} of {kept_amount(entry.amount, entry.currency)}, "
            f"{entry.status}, {entry.account.name}"
        )
        yield Outside(sentence, reverse("ledger"))


def _not_read_yet(since: datetime) -> Iterator[str]:
    """Sentences about accounts whose ledger has not been read to its end since a moment."""
    for account in Account.objects.order_by("pk"):
        read_at = walks.read_at(account=account)
        if read_at is None or read_at <= since:
            yield f"the exchange's ledger of {account.name} has not been read to its end since then."


ROOM: Final = rooms.Room(
    trail=(WORDS,),
    topics={"ledger": topics.row(Account, account="pk"), "balances": topics.row(Account, account="pk")},
    checks={
        "exchange": Check(checks.exchange, order=10, incident=alarms.LEDGER_LATE),
        "stream": Check(checks.stream, order=20, incident=alarms.STREAM_DOWN),
    },
    incidents=(
        Kind(
            alarms.PAYOUT_ELSEWHERE,
            "Payment made elsewhere",
            Severity.CRITICAL,
            causes.DECIDERS,
            _elsewhere,
            by_two=True,
        ),
        Kind(
            alarms.DEPOSIT_DIFFERS,
            "Deposit differs from the chain",
            Severity.HIGH,
            causes.WORKERS,
            chain_differences.causes,
        ),
        Kind(
            alarms.LEDGER_LATE,
            "Ledger out of date",
            Severity.HIGH,
            causes.WORKERS,
            causes.unwell(alarms.LEDGER_LATE),
            grace_period=causes.AFTER_A_START,
        ),
        Kind(alarms.RECORDS_ASIDE, "Records not read", Severity.MEDIUM, causes.WORKERS, _unread),
        Kind(
            alarms.STREAM_DOWN,
            "Stream not live",
            Severity.MEDIUM,
            causes.WORKERS,
            causes.unwell(alarms.STREAM_DOWN),
            grace_period=causes.AFTER_A_START,
        ),
    ),
    guards={"ledger": GUARDS.statements},
    tables=(
        Table(LedgerEntry, {"seen_at": reasons.CLOCK, "confirmations": _COUNT}),
        Table(LedgerVersion),
        Table(LedgerAside, {"seen_at": reasons.CLOCK}),
        Table(Watermark, {"moved_at": reasons.CLOCK}),
    ),
    idle_tables={"exchange_ops.balance": reasons.COPY},
    searches=(Search(searches.lines, 70),),
    outside=_movements,
    not_read_yet=_not_read_yet,
    tasks="exchange_ops.ledger.tasks",
    urls="exchange_ops.ledger.room.urls",
)
