"""The exchange's ledger and the balances, as the desk knows them."""

from typing import Final

from desk import rooms
from desk.incidents.kinds import Kind, Severity
from desk.rooms import Check
from desk.rows.witnessed import Table
from desk.web.search import Search
from exchange_ops.ledger import chain_differences, guards
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion, Watermark
from exchange_ops.ledger.room import checks, incidents, restore, searches
from exchange_ops.shared import alarms
from exchange_ops.shared.declarations import causes, reasons, topics
from exchange_ops.shared.models import Account

_COUNT: Final = "for people: what a payment or deposit is, its status and its proof say, and nothing reads the count"

ROOM: Final = rooms.Room(
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
            incidents.elsewhere,
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
            settles=causes.AFTER_A_START,
        ),
        Kind(alarms.RECORDS_ASIDE, "Records not read", Severity.MEDIUM, causes.WORKERS, incidents.unread),
        Kind(
            alarms.STREAM_DOWN,
            "Stream not live",
            Severity.MEDIUM,
            causes.WORKERS,
            causes.unwell(alarms.STREAM_DOWN),
            settles=causes.AFTER_A_START,
        ),
    ),
    guards={"ledger": guards.GUARDS.statements},
    tables=(
        Table(LedgerEntry, {"seen_at": reasons.CLOCK, "confirmations": _COUNT}),
        Table(LedgerVersion),
        Table(LedgerAside, {"seen_at": reasons.CLOCK}),
        Table(Watermark, {"moved_at": reasons.CLOCK}),
    ),
    idle_tables={"exchange_ops.balance": reasons.COPY},
    searches=(Search(searches.lines, 70),),
    outside=restore.movements,
    not_read_yet=restore.not_read_yet,
    urls="exchange_ops.ledger.room.urls",
)
