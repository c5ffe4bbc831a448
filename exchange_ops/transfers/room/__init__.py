"""Transfers, as the desk knows them."""

from collections.abc import Callable, Collection, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q
from django.urls import reverse

from desk import clock, rooms
from desk.actions.approvals import Approvals
from desk.incidents.kinds import Cause, Kind, Severity, rows_of
from desk.machines.replay import Replay
from desk.people import roles
from desk.restores.of_machine import Waits
from desk.rooms import Check, Health
from desk.rows.witnessed import Table
from desk.templatetags.desk import kept_amount
from desk.web.search import SHORTEST_PIECE, Command, Hit, Scope, Search, newest, plain
from exchange_ops.policy.vote_replay import COUNTED, Votes
from exchange_ops.shared import alarms, rules
from exchange_ops.shared.declarations import ages, causes, topics
from exchange_ops.transfers import approvals, endings, ledger_matching, machine, states, workflow
from exchange_ops.transfers.forms import transfers_named
from exchange_ops.transfers.models import Transfer, TransferApproval, TransferCall, TransferEvent
from exchange_ops.transfers.room import waiting
from exchange_ops.transfers.room.trail import WORDS
from exchange_ops.transfers.views import selection

UNKNOWN_FOR: Final = timedelta(minutes=3)


def _votes() -> Votes:
    return Votes(
        "T",
        TransferApproval,
        "transfer_id",
        dict.fromkeys((*COUNTED, TransferApproval.REVIEW), approvals.PURPOSE)
        | dict.fromkeys(("resolved", "resolution_recorded", TransferApproval.RESOLUTION), endings.RESOLVE_PURPOSE)
        | {"closed": endings.CLOSE_PURPOSE, "issued_anew": endings.REISSUE_PURPOSE},
    )


def _check() -> Health:
    """How long the oldest transfer that is due has been waiting for a worker, and which of them wait for people."""
    now = clock.now()
    due = workflow.due(now=now).order_by("next_action_at").values_list("next_action_at", flat=True).first()
    age = ages.age(due, now) or timedelta(0)
    sentence = "No transfer is overdue."
    if due is not None:
        sentence = f"Transfers are delayed: the oldest has been due for {ages.spoken(age)}."
    rows = Transfer.objects.filter(state__in=(states.INVESTIGATE, states.NOT_SEEN)).order_by("pk")
    references = [row.reference for row in rows[: ages.MOST_NAMED]]
    people = f" {', '.join(references)}: the ledger differs from the request; treasury must review."
    return Health(ok=age <= ages.DUE_AGE, sentence=sentence + (people if references else ""), age_s=age.total_seconds())


def _in_state(state: str) -> Callable[[datetime, str], Iterator[Cause]]:
    """Every transfer in this state."""

    def in_state(now: datetime, only: str) -> Iterator[Cause]:
        for row in rows_of(Transfer.objects.filter(state=state), only):
            sentence = f"{row.reference}, {kept_amount(row.amount, row.currency)}: {row.sentence}"
            yield Cause(row.subject, sentence, "transfer", str(row.pk), str(row.account_id))

    return in_state


def _unknown(now: datetime, only: str) -> Iterator[Cause]:
    """Every transfer whose outcome has been unknown for minutes: usually the ledger shows it within seconds."""
    rows = Transfer.objects.filter(clock.older("updated_at", now - UNKNOWN_FOR, now=now), state=states.UNKNOWN)
    for row in rows_of(rows, only):
        amount = kept_amount(row.amount, row.currency)
        minutes = int((ages.age(row.updated_at, now) or UNKNOWN_FOR).total_seconds() // 60)
        sentence = (
            f"{row.reference}, {amount}: outcome unknown for {minutes // 5 * 5 or minutes} min. "
            "The money may have moved: the exchange's response was lost, and its ledger doesn't show the transfer "
            "yet. Do not repeat it."
        )
        yield Cause(row.subject, sentence, "transfer", str(row.pk), str(row.account_id))


def _resolution_votes(keys: Collection[str]) -> Iterable[tuple[str, int, datetime]]:
    """Findings on a transfer that people settle."""
    numbers = [int(key.rpartition(":")[2]) for key in keys]
    rows = endings.FINDINGS.of_rows(numbers)
    return [(f"transfer:{row[0]}", row[1], row[2]) for row in rows.values_list("transfer_id", "person_id", "at")]


def _evidence(row: Transfer) -> list[str]:
    """Unmatched ledger entries since the request that look like the transfer."""
    return [
        f"Ledger entry {entry.exchange_id}: {entry.type} of the same amount at "
        f"{entry.created_at:%Y-%m-%d %H:%M:%S} UTC, {entry.status}."
        for entry in ledger_matching.lookalike_entries(row)
    ]


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    """By reference or id, or by a part of the reason."""
    pieces = Q(reason__icontains=text) if len(text) >= SHORTEST_PIECE else Q()
    for row in newest(Transfer, transfers_named(text), pieces, scope):
        words = f"{plain(row.amount)} {row.currency}, {row.kind_label}"
        yield Hit("Transfers", row.reference, words, reverse("transfer", args=[row.pk]), "arrow-left-right")


REPLAY: Final = Replay(machine.MACHINE, votes=_votes)

# What waits to be sent, for people to judge after a restore.
WAITING: Final = Waits(
    machine.MACHINE,
    ends={
        states.REVIEW: ("cancelled", states.CANCELLED),
        states.APPROVED: ("cancelled", states.CANCELLED),
    },
    title=lambda row: f"{states.KINDS[row.kind]}: {kept_amount(row.amount, row.currency)} {row.identifier}".rstrip(),
    url=lambda row: reverse("transfer", args=[row.pk]),
    asked_by=lambda row: row.initiator_id,
    evidence=_evidence,
    columns=lambda act: {"decided_by": act.person, "decided_at": act.now},
    read_with=("account", "initiator"),
)

ROOM: Final = rooms.Room(
    paths={"transfer_id": (Transfer, "pk", "account_id")},
    topics={"transfer": topics.row(Transfer), "transfers": topics.desk_wide},
    checks={"transfers": Check(_check, order=90, incident=alarms.WORK_STALLED)},
    incidents=(
        Kind(
            alarms.TRANSFER_UNCLEAR,
            "Transfer outcome unclear",
            Severity.CRITICAL,
            (roles.TREASURY,),
            _in_state(states.INVESTIGATE),
            closable=False,
            ends=causes.BY_TREASURY,
            votes=_resolution_votes,
        ),
        Kind(alarms.TRANSFER_UNKNOWN, "Transfer outcome unknown", Severity.HIGH, causes.TRADERS, _unknown, by_two=True),
        Kind(
            alarms.TRANSFER_NOT_SEEN,
            "Transfer not seen",
            Severity.HIGH,
            (roles.TREASURY,),
            _in_state(states.NOT_SEEN),
            closable=False,
            ends="Resolves once treasury closes the transfer or requests it again.",
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
            waiting=approvals.waiting,
            visible_to=waiting.visible_to,
            ended=waiting.ended,
            news=waiting.news,
        ),
    ),
    selectable=(selection.SELECTABLE,),
    open_words=waiting.open_words,
    waiting=(WAITING.source,),
    trail=(WORDS,),
    replays={REPLAY.subject: REPLAY.check},
    guards={"transfers": machine.GUARDS.statements},
    tables=(
        Table(Transfer, Transfer.table.loose),
        Table(TransferEvent),
        Table(TransferCall),
        Table(TransferApproval),
    ),
    searches=(Search(_search, 50),),
    commands=(
        Command(
            "Transfer between bank and trading", "transfer-new", "arrow-left-right", rules.may_request, 30, ("move",)
        ),
        Command("Convert", "transfer-new", "refresh-cw", rules.may_request, 40, ("convert",)),
        Command("Transfer to a sub-account", "transfer-new", "users-round", rules.may_request, 50, ("to-subaccount",)),
        Command("Transfer to another user", "transfer-new", "user-round", rules.may_request, 60, ("to-user",)),
    ),
    tasks="exchange_ops.transfers.tasks",
    urls="exchange_ops.transfers.room.urls",
)
