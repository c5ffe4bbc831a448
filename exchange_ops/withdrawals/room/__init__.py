"""Payouts, as the desk knows them."""

from typing import Final

from desk import rooms
from desk.actions.approvals import Approvals
from desk.incidents.kinds import Kind, Severity
from desk.machines.replay import Replay
from desk.people import roles
from desk.rooms import Check
from desk.rows.witnessed import Table
from desk.web.search import Command, Search
from exchange_ops.policy.vote_replay import COUNTED, Votes
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.declarations import causes, reasons, topics
from exchange_ops.withdrawals import guards
from exchange_ops.withdrawals.decisions import approvals, resolutions
from exchange_ops.withdrawals.models import (
    Approval,
    ExternalCall,
    HoldReleaseVote,
    PayoutProof,
    Withdrawal,
    WithdrawalEvent,
)
from exchange_ops.withdrawals.mover import MACHINE
from exchange_ops.withdrawals.room import checks, incidents, restore, searches, waiting


def _votes() -> Votes:
    return Votes(
        "W",
        Approval,
        "withdrawal_id",
        dict.fromkeys((*COUNTED, Approval.REVIEW, Approval.RELEASE), approvals.PURPOSE)
        | dict.fromkeys(("resolved", "resolution_recorded", Approval.RESOLUTION), resolutions.PURPOSE),
    )


REPLAY: Final = Replay(MACHINE, not_moves=frozenset({"orphan_released", "release_ordered"}), votes=_votes)

ROOM: Final = rooms.Room(
    topics={"withdrawal": topics.row(Withdrawal), "withdrawals": topics.whole},
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
            incidents.disputed,
            closable=False,
            ends=causes.BY_TREASURY,
            words=incidents.resolution_votes,
        ),
        Kind(
            alarms.HOLD_LEFT,
            "Money still reserved",
            Severity.HIGH,
            (roles.TREASURY,),
            incidents.holds,
            closable=False,
            ends="It ends when the exchange's ledger shows the reserved money as released.",
            words=incidents.release_votes,
        ),
        Kind(alarms.PAYOUT_OVERDUE, "Payout not carried out", Severity.HIGH, causes.WORKERS, incidents.overdue),
        Kind(
            alarms.PROOFS_LATE,
            "Payouts not looked for on the chain",
            Severity.MEDIUM,
            causes.WORKERS,
            causes.unwell(alarms.PROOFS_LATE),
            settles=causes.AFTER_A_START,
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
            waiting_for=approvals.waiting_for,
            waiting_for_each=approvals.waiting_for_each,
            seen=waiting.seen,
            ended=waiting.ended,
            news=waiting.news,
        ),
    ),
    open_words=waiting.open_words,
    waiting=(restore.WAITING.source,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"withdrawals": guards.GUARDS.statements},
    tables=(
        Table(Withdrawal, Withdrawal.table.loose),
        Table(WithdrawalEvent),
        Table(ExternalCall),
        Table(Approval),
        Table(HoldReleaseVote),
        Table(
            PayoutProof,
            {"tried_at": reasons.CLOCK, "problem": reasons.SENTENCE, "next_look_at": reasons.TIMER},
        ),
    ),
    searches=(
        Search(searches.new, 31),
        Search(searches.withdrawals, 40),
        Search(searches.destinations, 100),
        Search(searches.transactions, 160),
    ),
    commands=(Command("New withdrawal", "withdrawal-new", "arrow-up-right", rules.may_request, 10),),
    urls="exchange_ops.withdrawals.room.urls",
)
