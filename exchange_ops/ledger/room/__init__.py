"""The exchange's ledger and the balances, as the desk knows them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from django.urls import reverse

from desk import clock, rooms
from desk.incidents.kinds import Cause, Kind, Severity, rows_of
from desk.machines.guards import NOT_PROVEN, Guards, Rule
from desk.restores.waiting import MOST_OUTSIDE, Outside
from desk.rooms import Check
from desk.rows.witnessed import Table
from desk.templatetags.desk import kept_amount
from desk.web.search import Search
from exchange_ops.ledger import chain_differences, settling, walks
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion, RecordChoice, Watermark
from exchange_ops.ledger.room import checks, searches
from exchange_ops.ledger.room.trail import RECORDS, WORDS
from exchange_ops.shared import alarms
from exchange_ops.shared.declarations import causes, reasons, topics
from exchange_ops.shared.models import Account

_COUNT: Final = "shown to people only: status and proof decide about a payment or deposit, not the count"
_BY_TWO: Final = "two people choose which record holds, once"
# What the database itself refuses: changes of earlier versions, removals, and a choice that two people did not make.
_CHOICE, _ASIDE = "exchange_ops_recordchoice", "exchange_ops_ledgeraside"
GUARDS: Final = Guards(
    history=(LedgerVersion, RecordChoice),
    records=(LedgerEntry, LedgerAside),
    own=(
        Rule(
            _CHOICE,
            "second_factor",
            "INSERT",
            "NOT EXISTS (SELECT 1 FROM desk_stepup s WHERE s.id = NEW.confirmation_id AND s.person_id = NEW.person_id "
            "AND s.at = NEW.at AND s.purpose = 'settle-record' AND s.digest = NEW.digest)",
            NOT_PROVEN,
        ),
        Rule(_ASIDE, "not_settled_at_first", "INSERT", "NEW.settled_as <> ''", _BY_TWO),
        Rule(
            _ASIDE,
            "settled_by_two",
            "UPDATE",
            "NEW.settled_as <> OLD.settled_as AND (OLD.settled_as <> '' OR (SELECT COUNT(DISTINCT c.person_id) "
            "FROM exchange_ops_recordchoice c WHERE c.aside_id = NEW.id AND c.holds = NEW.settled_as) < 2)",
            _BY_TWO,
        ),
        Rule(
            _ASIDE,
            "record_stays",
            "UPDATE",
            "NEW.content <> OLD.content OR NEW.fingerprint <> OLD.fingerprint OR NEW.exchange_id <> OLD.exchange_id "
            'OR NEW."index" {n} OLD."index" OR NEW.account_id <> OLD.account_id '
            "OR (OLD.settled_as <> '' AND NEW.cleared_at IS NULL)",
            "a record of the exchange stays as it was read",
        ),
    ),
)
_LEAVES: Final = {
    "created": "reserved",
    "pending": "in progress",
    "success": "completed",
    "failed": "failed",
}


def _elsewhere(now: datetime, only: str) -> Iterator[Cause]:
    """Payouts that no request of this desk explains."""
    for entry in rows_of(LedgerEntry.objects.filter(foreign=True), only):
        how = _LEAVES.get(entry.status.lower(), "reported")
        sentence = (
            f"Withdrawal of {kept_amount(entry.amount, entry.currency)} {how}, not requested in Countersign. "
            "Find out who requested it at the exchange; treasury can freeze the account in the meantime."
        )
        yield Cause(f"ledger:{entry.pk}", sentence, "ledger?origin=foreign", scope=str(entry.account_id))


def _unread(now: datetime, only: str) -> Iterator[Cause]:
    """Records of the ledger that could not be read."""
    for account in Account.objects.order_by("pk"):
        if count := settling.unread(account=account):
            sentence = f"Unreadable ledger records quarantined for {account.name}: {count}. Figures may be incomplete."
            yield Cause(f"account:{account.pk}", sentence, "ledger", scope=str(account.pk))


def _differing(now: datetime, only: str) -> Iterator[Cause]:
    """Pairs of records of one index, of which two people of treasury choose the one that holds."""
    for row in rows_of(settling.waiting(), only):
        sentence = (
            f"No money moved. The stream reported transaction {row.exchange_id} for {row.account.name}, but it is not "
            "in the exchange's ledger. Our figures include it. Two treasurers must decide whether it is valid."
            if settling.is_unlisted(row)
            else f"No money moved. The exchange reported two records with index {row.index} for {row.account.name}, "
            "and our figures use the first one. Two treasurers must choose the valid one."
        )
        yield Cause(f"record:{row.pk}", sentence, "ledger-record", str(row.pk), str(row.account_id))


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
        if read_at is None or read_at <= since or clock.is_future(read_at, clock.now()):
            yield f"the exchange's ledger for {account.name} has not been fully synced since then."


ROOM: Final = rooms.Room(
    trail=(WORDS, RECORDS),
    paths={"aside_id": (LedgerAside, "pk", "account_id")},
    topics={"ledger": topics.row(Account, account="pk"), "balances": topics.row(Account, account="pk")},
    checks={
        "exchange": Check(checks.exchange, order=10, incident=alarms.LEDGER_LATE),
        "stream": Check(checks.stream, order=20, incident=alarms.STREAM_DOWN),
    },
    incidents=(
        Kind(
            alarms.PAYOUT_ELSEWHERE,
            "Unrecognised withdrawal",
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
            by_two=True,
        ),
        Kind(
            alarms.LEDGER_LATE,
            "Ledger out of date",
            Severity.HIGH,
            causes.WORKERS,
            causes.unwell(alarms.LEDGER_LATE),
            grace_period=causes.AFTER_A_START,
        ),
        Kind(
            alarms.RECORDS_DIFFER,
            "Records differ",
            Severity.HIGH,
            causes.DECIDERS,
            _differing,
            closable=False,
            ends="Resolves once two treasurers choose the same record as valid.",
            votes=settling.votes_on,
        ),
        Kind(alarms.RECORDS_ASIDE, "Unreadable records", Severity.MEDIUM, causes.WORKERS, _unread),
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
        Table(RecordChoice),
        Table(Watermark, {"moved_at": reasons.CLOCK}),
    ),
    idle_tables={"exchange_ops.balance": reasons.COPY},
    searches=(Search(searches.lines, 70),),
    outside=_movements,
    not_read_yet=_not_read_yet,
    tasks="exchange_ops.ledger.tasks",
    urls="exchange_ops.ledger.room.urls",
)
