"""Transfers, as the desk knows them."""

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
from exchange_ops.shared.declarations import causes, topics
from exchange_ops.transfers import approvals, endings, guards, machine
from exchange_ops.transfers.models import Transfer, TransferApproval, TransferCall, TransferEvent
from exchange_ops.transfers.mover import MACHINE
from exchange_ops.transfers.room import incidents, restore, waiting
from exchange_ops.transfers.room.checks import transfers as check
from exchange_ops.transfers.room.searches import transfers as search


def _votes() -> Votes:
    return Votes(
        "T",
        TransferApproval,
        "transfer_id",
        dict.fromkeys((*COUNTED, TransferApproval.REVIEW), approvals.PURPOSE)
        | dict.fromkeys(("resolved", "resolution_recorded", TransferApproval.RESOLUTION), endings.RESOLVE_PURPOSE)
        | {"closed": endings.CLOSE_PURPOSE, "issued_anew": endings.REISSUE_PURPOSE},
    )


REPLAY: Final = Replay(MACHINE, votes=_votes)

ROOM: Final = rooms.Room(
    topics={"transfer": topics.row(Transfer), "transfers": topics.whole},
    checks={"transfers": Check(check, order=90, incident=alarms.WORK_STALLED)},
    incidents=(
        Kind(
            alarms.TRANSFER_UNCLEAR,
            "Transfer unclear",
            Severity.CRITICAL,
            (roles.TREASURY,),
            incidents.in_state(machine.INVESTIGATE),
            closable=False,
            ends=causes.BY_TREASURY,
            words=incidents.resolution_votes,
        ),
        Kind(
            alarms.TRANSFER_NOT_SEEN,
            "Transfer not seen",
            Severity.HIGH,
            (roles.TREASURY,),
            incidents.in_state(machine.NOT_SEEN),
            closable=False,
            ends="It ends when treasury has closed the transfer, or asked for it anew, on its page.",
        ),
    ),
    approvals=(
        Approvals(
            model=Transfer,
            page="transfer",
            topic="transfers",
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
    guards={"transfers": guards.GUARDS.statements},
    tables=(
        Table(Transfer, Transfer.table.loose),
        Table(TransferEvent),
        Table(TransferCall),
        Table(TransferApproval),
    ),
    searches=(Search(search, 50),),
    commands=(
        Command("Move between wallets", "transfer-new", "arrow-left-right", rules.may_request, 30, ("move",)),
        Command("Convert", "transfer-new", "refresh-cw", rules.may_request, 40, ("convert",)),
        Command("Transfer to a sub-account", "transfer-new", "users-round", rules.may_request, 50, ("to-subaccount",)),
        Command("Transfer to another user", "transfer-new", "user-round", rules.may_request, 60, ("to-user",)),
    ),
    urls="exchange_ops.transfers.room.urls",
)
