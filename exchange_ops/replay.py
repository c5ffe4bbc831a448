"""Rebuilding every withdrawal and transfer from the audit trail alone, and comparing the result with the tables.

Called by `verify_audit --replay`. Each event says what the row was and what it became; a row, an event or a decision
that was changed behind the mover's back shows as a difference.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from exchange_ops.policy.vote_replay import COUNTED, Votes
from exchange_ops.shared import states as shared_states
from exchange_ops.shared.mover import texts
from exchange_ops.transfers import approvals as transfer_approvals
from exchange_ops.transfers import endings
from exchange_ops.transfers import machine as transfer_states
from exchange_ops.transfers.models import Transfer, TransferApproval, TransferEvent
from exchange_ops.withdrawals import machine as states
from exchange_ops.withdrawals.decisions import approvals, resolutions
from exchange_ops.withdrawals.models import Approval, Withdrawal, WithdrawalEvent

if TYPE_CHECKING:
    from desk.models import AuditEvent


@dataclass(frozen=True, slots=True)
class Machine:
    """What is replayed: rows and events of one machine, its moves, and the columns and actions that are no moves.

    `loose` columns are touched between moves, so the last event need not know their newest value.
    """

    subject: str
    mark: str
    rows: type[Any]
    events: type[Any]
    moves: tuple[shared_states.Transition, ...]
    loose: frozenset[str] = frozenset()
    not_moves: frozenset[str] = frozenset()
    votes: Callable[[], Votes] | None = None

    def check(self, events: Iterator["AuditEvent"]) -> Iterator[str]:
        """A sentence for everything in which trail, events and rows differ."""
        rebuilt: dict[int, dict[str, Any]] = {}
        moves: dict[tuple[int, int], int] = {}
        votes = self.votes() if self.votes else None
        for event in events:
            name, number = event.action.removeprefix(f"{self.subject}."), int(event.subject.split(":", 1)[1])
            if name in self.not_moves:
                continue
            known, after = rebuilt.setdefault(number, {}), event.after
            yield from self._odd_step(event, number, name, known)
            if votes is not None:
                yield from votes.note(event, name, number, after)
            known |= after
            moves[number, int(after["version"])] = event.seq
        yield from self._compare_rows(rebuilt)
        yield from self._compare_events(moves)
        if votes is not None:
            yield from votes.compare()

    def _odd_step(self, event: "AuditEvent", number: int, name: str, known: dict[str, Any]) -> Iterator[str]:
        seq, before, after = event.seq, event.before, event.after
        source, target, which = known.get("state", ""), after.get("state"), f"{self.mark}-{number}"
        if (source, name, target) not in {(t.source, t.event, t.target) for t in self.moves}:
            yield f"Event {seq}: {which} went from {source or 'nothing'} to {target} by {name}: there is no such move."
        if known and (before.get("version"), before.get("state")) != (known.get("version"), known.get("state")):
            yield f"Event {seq}: {which} does not follow on the event before it."
        if after.get("version") != known.get("version", 0) + 1:
            yield f"Event {seq}: {which} jumps to version {after.get('version')}."

    def _compare_rows(self, rebuilt: dict[int, dict[str, Any]]) -> Iterator[str]:
        seen = set()
        for row in self.rows.objects.order_by("pk").iterator(chunk_size=500):
            seen.add(row.pk)
            expected = rebuilt.get(row.pk)
            if expected is None:
                yield f"{row.reference} is in the table and not in the trail."
                continue
            names = [name for name in expected if name not in self.loose]
            actual = texts({name: getattr(row, name) for name in names})
            yield from (
                f"{row.reference}: {name} is {actual[name]!r} in the table and {expected[name]!r} by the trail."
                for name in names
                if actual[name] != expected[name]
            )
        for number in sorted(rebuilt.keys() - seen):
            yield f"{self.mark}-{number} is in the trail and not in the table."

    def _compare_events(self, moves: dict[tuple[int, int], int]) -> Iterator[str]:
        rows = self.events.objects.values_list(f"{self.subject}_id", "version", "audit_number").order_by("pk")
        found = {(number, version): seq for number, version, seq in rows.iterator(chunk_size=1000)}
        for number, version in sorted(found.keys() | moves.keys()):
            if found.get((number, version)) != moves.get((number, version)):
                yield f"{self.mark}-{number}, version {version}: its event and the trail do not belong together."


WITHDRAWALS = Machine(
    "withdrawal",
    "W",
    Withdrawal,
    WithdrawalEvent,
    states.TRANSITIONS,
    loose=frozenset({"evidence", "exchange_status", "exchange_index", "confirmations", "last_problem"}),
    not_moves=frozenset({"orphan_released", "release_ordered"}),
    votes=lambda: Votes(
        "W",
        Approval,
        "withdrawal_id",
        dict.fromkeys((*COUNTED, Approval.REVIEW, Approval.RELEASE), approvals.PURPOSE)
        | dict.fromkeys(("resolved", "resolution_recorded", Approval.RESOLUTION), resolutions.PURPOSE),
    ),
)
TRANSFERS = Machine(
    "transfer",
    "T",
    Transfer,
    TransferEvent,
    transfer_states.TRANSITIONS,
    loose=frozenset({"evidence", "last_problem"}),
    votes=lambda: Votes(
        "T",
        TransferApproval,
        "transfer_id",
        dict.fromkeys((*COUNTED, TransferApproval.REVIEW), transfer_approvals.PURPOSE)
        | dict.fromkeys(("resolved", "resolution_recorded", TransferApproval.RESOLUTION), endings.RESOLVE_PURPOSE)
        | {"closed": endings.CLOSE_PURPOSE, "issued_anew": endings.REISSUE_PURPOSE},
    ),
)
