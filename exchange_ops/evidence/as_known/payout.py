"""A payout as the desk knew it at a moment, from the rows that nothing changes: events, votes, versions, calls.

It is what the page of the payout showed then. `later` lists what the desk learnt afterwards.
"""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from desk.actions import attachments, threads
from desk.actions.models import Attachment, Comment
from desk.as_known.moments import Moment, ThenAndLater
from desk.as_known.rows import row_at
from desk.incidents import as_known as incidents
from desk.incidents.as_known import IncidentHistory
from exchange_ops.evidence.as_known import transactions
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
from exchange_ops.policy import freezes, quorum
from exchange_ops.policy.models import Freeze, PolicyVersion
from exchange_ops.withdrawals import endings, states
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import (
    Approval,
    ExternalCall,
    HoldReleaseVote,
    PayoutProof,
    Withdrawal,
    WithdrawalEvent,
)

if TYPE_CHECKING:
    from desk.models import Person

_LOOKED_UP: Final = (ExternalCall.FOUND, ExternalCall.ABSENT)
_LOOK_UPS: Final = ("hold_adopted", "hold_not_found")  # the moves that write those outcomes


@dataclass(frozen=True, slots=True)
class KnownPayout:
    """The payout at a moment. `row` is an unsaved copy with the values that it had then.

    `reviewed` and `released` are the people who had provably approved the content that it had, before the hold and with
    it. `calls` are those that were prepared, with their outcomes then; `every_call` and `covering` (the freezes
    that ever covered it) are as they are now. `policy` are the rules in force then, for whatever payout. `proof` is the
    last on-chain check, which may be a later one.
    """

    moment: Moment
    row: Withdrawal
    events: ThenAndLater[WithdrawalEvent]
    reviewed: frozenset[int]
    released: frozenset[int]
    words: ThenAndLater[Approval]
    orders: ThenAndLater[HoldReleaseVote]
    calls: list[ExternalCall]
    every_call: list[ExternalCall]
    entries: list[LedgerEntry]
    versions: ThenAndLater[LedgerVersion]
    covering: list[Freeze]
    comments: ThenAndLater[Comment]
    files: ThenAndLater[Attachment]
    incidents: list[IncidentHistory]
    policy: PolicyVersion | None
    proof: PayoutProof | None

    @property
    def freezes(self) -> list[Freeze]:
        """The freezes that stopped it at the moment."""
        knew = self.moment.knew
        return [each for each in self.covering if knew(each.frozen_at) and not knew(each.thawed_at)]

    @property
    def knows_the_chain(self) -> bool:
        """Whether what the desk says of the chain is what it said then: no check that it has is later."""
        return self.proof is None or not self.row.hash or self.moment.knew(self.proof.tried_at)

    @property
    def open_incidents(self) -> list[IncidentHistory]:
        """The incidents about it that were not resolved yet."""
        return [each for each in self.incidents if each.was_open]

    def gaps(self) -> Iterator[str]:
        """What was on the page then and is in no row, in sentences."""
        if self.row.is_open:
            yield "Messages about attempts that changed nothing else, such as “the exchange did not respond”."
        if self.entries:
            yield "The exchange's count of confirmations, beyond the one in the record as it was first read."
        if not self.knows_the_chain:
            yield "The result of the on-chain check. The desk stores the last check only, and that was later."
        if self.words.then:
            yield "Whether each approver held the role at this moment. Role changes are in the audit trail."


@dataclass(frozen=True, slots=True)
class NotRequested:
    """The moment is before the request: there was no payout."""

    moment: Moment
    requested_at: datetime


def of(row: Withdrawal, moment: Moment, *, reader: "Person") -> KnownPayout | NotRequested:
    """The payout at a moment, with the incidents that the reader may see. A fixed number of queries."""
    moves = row.events.select_related("actor").order_by("version")
    events = moment.split_series(moves, stored_at=lambda event: event.at)
    if not events.then:
        return NotRequested(moment, row.created_at)
    votes = row.approvals.select_related("person", "confirmation").order_by("at", "pk")
    orders = row.release_votes.select_related("person", "confirmation").order_by("at", "pk")
    versions = transactions.split(LedgerVersion.objects.filter(entry__withdrawal=row).select_related("entry"), moment)
    entries, calls = transactions.entries(versions.then), list(row.calls.order_by("pk"))
    past = _row(row, events.then, entries)
    return KnownPayout(
        moment=moment,
        row=past,
        events=events,
        reviewed=approvals.proven_people(past, Approval.REVIEW, until=moment.at),
        released=approvals.proven_people(past, Approval.RELEASE, until=moment.at),
        words=moment.split(votes, stored_at=lambda vote: vote.at),
        orders=moment.split(orders, stored_at=lambda vote: vote.at),
        calls=[_call(call, moment, events.then) for call in calls if moment.knew(call.prepared_at)],
        every_call=calls,
        entries=entries,
        versions=versions,
        covering=freezes.of_movement(row.movement),
        comments=moment.split(threads.comments(row.subject), stored_at=lambda comment: comment.at),
        files=moment.split(attachments.of(row.subject), stored_at=lambda file: file.at),
        incidents=incidents.of_page("withdrawal", str(row.pk), moment, reader=reader),
        policy=quorum.in_force_at(moment.at),
        proof=PayoutProof.objects.filter(withdrawal=row).first(),
    )


def _row(row: Withdrawal, events: list[WithdrawalEvent], entries: list[LedgerEntry]) -> Withdrawal:
    past = row_at(row, (event.changes for event in events))
    past.updated_at = events[-1].at
    if not past.hash and past.state in (states.SETTLED, states.VERIFIED) and entries:
        # The exchange may name the transaction after it reported success; that is copied to the row without an event.
        past.hash = entries[0].hash
    ending = next((event for event in reversed(events) if event.event in endings.EVENTS), None)
    past.__dict__["ended_by"] = ending.event if ending else ""
    past.__dict__["ended_by_person"] = ending.actor_id if ending else None
    return past


def _call(call: ExternalCall, moment: Moment, events: list[WithdrawalEvent]) -> ExternalCall:
    """The call with what was known of it. A lookup in the ledger writes its outcome without a time of its own: that is
    the time of the move that followed."""
    past = copy.copy(call)
    if call.outcome in _LOOKED_UP:
        if any(event.event in _LOOK_UPS and event.at >= call.prepared_at for event in events):
            return past
        past.outcome = ExternalCall.UNKNOWN
    if not moment.knew(call.answered_at):
        past.answered_at, past.http_status, past.error_code, past.detail = None, None, None, ""
        past.outcome = ExternalCall.SENT
        if not moment.knew(call.sent_at):
            past.sent_at, past.outcome = None, ExternalCall.PREPARED
    return past
