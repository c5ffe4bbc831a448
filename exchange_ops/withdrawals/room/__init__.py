"""Payouts, as the desk knows them."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from django.urls import reverse

from desk import rooms
from desk.actions.approvals import Approvals
from desk.incidents.kinds import Cause, Kind, Severity, rows_of
from desk.machines.replay import Replay
from desk.people import roles
from desk.restores.of_machine import Waits
from desk.rooms import Check
from desk.rows.witnessed import Table
from desk.templatetags.desk import kept_amount
from desk.web.search import Command, Search
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.policy.vote_replay import COUNTED, Votes
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.declarations import causes, reasons, topics
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.batches.models import PayoutBatch, PayoutBatchLine
from exchange_ops.withdrawals.decisions import approvals, open_holds, resolutions
from exchange_ops.withdrawals.evidence.ledger_matching import LEAVING
from exchange_ops.withdrawals.models import (
    Approval,
    ExternalCall,
    HoldReleaseVote,
    PayoutProof,
    Withdrawal,
    WithdrawalEvent,
)
from exchange_ops.withdrawals.room import checks, searches, waiting
from exchange_ops.withdrawals.room import schedules as of_schedules
from exchange_ops.withdrawals.room.trail import SCHEDULE_WORDS, TEMPLATE_WORDS, WORDS
from exchange_ops.withdrawals.schedules import book as schedules
from exchange_ops.withdrawals.schedules.models import PayoutOccurrence, PayoutSchedule, PayoutScheduleEnd
from exchange_ops.withdrawals.steps import settlement
from exchange_ops.withdrawals.templates import book
from exchange_ops.withdrawals.templates.models import PayoutTemplate, PayoutTemplateEnd
from exchange_ops.withdrawals.views import selection

EARLY: Final = timedelta(minutes=2)  # by how much the exchange's clock may be behind


def _votes() -> Votes:
    return Votes(
        "W",
        Approval,
        "withdrawal_id",
        # Factors of earlier versions do not name the stage; what they were given for is not counted any more.
        dict.fromkeys((*COUNTED, Approval.RELEASE), (approvals.PURPOSE, approvals.HELD_PURPOSE))
        | {Approval.REVIEW: approvals.PURPOSE}
        | dict.fromkeys(("resolved", "resolution_recorded", Approval.RESOLUTION), resolutions.PURPOSE),
    )


def _disputed(now: datetime, only: str) -> Iterator[Cause]:
    """Payouts whose evidence disagrees, or that only people can judge."""
    rows = Withdrawal.objects.filter(state__in=(states.DISPUTED, states.INVESTIGATE))
    for row in rows_of(rows, only):
        sentence = f"{row.reference}, {kept_amount(row.amount, row.currency)}: {row.sentence}"
        yield Cause(row.subject, sentence, "withdrawal", str(row.pk), str(row.account_id))


def _holds(now: datetime, only: str) -> Iterator[Cause]:
    """Money that is reserved for closed requests."""
    for row in open_holds.closed_requests():
        if open_holds.is_for_people(row):
            yield Cause(row.subject, open_holds.sentence(row), "withdrawal", str(row.pk), str(row.account_id))


def _overdue(now: datetime, only: str) -> Iterator[Cause]:
    """Payouts that the exchange accepted long ago and has not carried out."""
    for row in settlement.overdue(now=now):
        sentence = settlement.overdue_sentence(row, now=now)
        yield Cause(row.subject, sentence, "withdrawal", str(row.pk), str(row.account_id))


def _resolution_votes(keys: Collection[str]) -> Iterable[tuple[str, int, datetime]]:
    """Findings on a payout that people settle."""
    rows = resolutions.FINDINGS.of_rows(_numbers(keys))
    return [(f"withdrawal:{row[0]}", row[1], row[2]) for row in rows.values_list("withdrawal_id", "person_id", "at")]


def _release_votes(keys: Collection[str]) -> Iterable[tuple[str, int, datetime]]:
    """Orders to release a hold that outlived its request."""
    rows = HoldReleaseVote.objects.filter(withdrawal__in=_numbers(keys))
    return [(f"withdrawal:{row[0]}", row[1], row[2]) for row in rows.values_list("withdrawal_id", "person_id", "at")]


def _numbers(keys: Collection[str]) -> list[int]:
    return [int(key.rpartition(":")[2]) for key in keys]


def _evidence(row: Withdrawal) -> list[str]:
    """Unmatched ledger entries that pay the same to the same address since the request."""
    entries = LedgerEntry.objects.filter(
        account=row.account_id, currency=row.currency, amount=row.amount, withdrawal=None
    )
    matches = entries.filter(type__in=LEAVING, address=row.address, created_at__gte=row.created_at - EARLY)
    return [
        f"Ledger entry {entry.exchange_id}: the same amount to the same address at "
        f"{entry.created_at:%Y-%m-%d %H:%M:%S} UTC, {entry.status}."
        for entry in matches.order_by("index")
    ]


REPLAY: Final = Replay(machine.MACHINE, not_moves=frozenset({"orphan_released", "release_ordered"}), votes=_votes)

# What people judge after a restore: requests without a reservation. Those with one are left out, because their number
# at the exchange says what became of them, and the same number is never paid twice.
WAITING: Final = Waits(
    machine.MACHINE,
    ends={
        states.DRAFT: ("cancelled", states.CANCELLED),
        states.REVIEW: ("rejected", states.CANCELLED),
        states.QUEUED: ("cancelled", states.CANCELLED),
    },
    title=lambda row: f"Pay {kept_amount(row.amount, row.currency)} to {row.address}",
    url=lambda row: reverse("withdrawal", args=[row.pk]),
    asked_by=lambda row: row.initiator_id,
    evidence=_evidence,
    read_with=("account", "initiator"),
)

ROOM: Final = rooms.Room(
    paths={
        "withdrawal_id": (Withdrawal, "pk", "account_id"),
        "batch_id": (PayoutBatch, "pk", "account_id"),
        "template_id": (PayoutTemplate, "pk", "account_id"),
        "schedule_id": (PayoutSchedule, "pk", "account_id"),
    },
    topics={"withdrawal": topics.row(Withdrawal), "withdrawals": topics.desk_wide, schedules.TOPIC: topics.desk_wide},
    checks={
        "payouts": Check(checks.payouts, order=30, incident=alarms.WORK_STALLED),
        "unfinished": Check(checks.unfinished, order=40),
        "holds": Check(checks.holds, order=50),
        "proofs": Check(checks.proofs, order=80, incident=alarms.PROOFS_LATE),
    },
    incidents=(
        Kind(
            alarms.PAYOUT_DISPUTED,
            "Payout disputed",
            Severity.CRITICAL,
            (roles.TREASURY,),
            _disputed,
            closable=False,
            ends=causes.BY_TREASURY,
            votes=_resolution_votes,
        ),
        Kind(
            alarms.HOLD_LEFT,
            "Money still reserved",
            Severity.HIGH,
            (roles.TREASURY,),
            _holds,
            closable=False,
            ends="Resolves once the exchange's ledger shows that the funds were released.",
            votes=_release_votes,
        ),
        of_schedules.NOT_REQUESTED,
        Kind(alarms.PAYOUT_OVERDUE, "Payout not executed", Severity.HIGH, causes.WORKERS, _overdue, by_two=True),
        Kind(
            alarms.PROOFS_LATE,
            "On-chain verification delayed",
            Severity.MEDIUM,
            causes.WORKERS,
            causes.unwell(alarms.PROOFS_LATE),
            grace_period=causes.AFTER_A_START,
        ),
    ),
    approvals=(
        Approvals(
            model=Withdrawal,
            page="withdrawal",
            topic="withdrawals",
            also=("freezes",),
            undecided=waiting.undecided,
            followed=waiting.followed,
            done=waiting.done,
            waiting=approvals.waiting,
            visible_to=waiting.visible_to,
            ended=waiting.ended,
            news=waiting.news,
        ),
    ),
    selectable=(selection.SELECTABLE,),
    open_words=waiting.open_words,
    open_work=of_schedules.open_work,
    waiting=(WAITING.source, of_schedules.WAITING),
    trail=(WORDS, TEMPLATE_WORDS, SCHEDULE_WORDS),
    replays={REPLAY.subject: REPLAY.check},
    guards={
        "withdrawals": machine.GUARDS.statements,
        "payout_templates": book.GUARDS.statements,
        "payout_schedules": schedules.GUARDS.statements,
    },
    tables=(
        Table(Withdrawal, Withdrawal.table.loose),
        Table(WithdrawalEvent),
        Table(ExternalCall),
        Table(Approval),
        Table(HoldReleaseVote),
        Table(PayoutBatch),
        Table(PayoutBatchLine),
        Table(PayoutTemplate),
        Table(PayoutTemplateEnd),
        Table(PayoutSchedule),
        Table(PayoutOccurrence),
        Table(PayoutScheduleEnd),
        Table(
            PayoutProof,
            {"tried_at": reasons.CLOCK, "problem": reasons.SENTENCE, "next_look_at": reasons.TIMER},
        ),
    ),
    searches=(
        Search(searches.new, 31),
        Search(searches.withdrawals, 40),
        Search(searches.batches, 41),
        Search(searches.schedules, 42),
        Search(searches.destinations, 100),
        Search(searches.transactions, 160),
    ),
    commands=(Command("New withdrawal", "withdrawal-new", "arrow-up-right", rules.may_request, 10),),
    tasks="exchange_ops.withdrawals.tasks",
    file_paths=("withdrawals/new/",),
    urls="exchange_ops.withdrawals.room.urls",
)
